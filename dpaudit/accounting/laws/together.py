"""Several releases as one law: what a sample that all of them share is drawn for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb, fmpq

from dpaudit.accounting.laws.between import Between, end_of, law_below
from dpaudit.accounting.laws.gaussian import SquaredGaussian
from dpaudit.accounting.laws.laplace import Laplace, is_short, summed_profile
from dpaudit.accounting.laws.normal_laplace import NormalAndLaplace
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.laws.sampled import profile_of
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.coordinates import Coordinates, Place
from dpaudit.accounting.model.distribution import Distribution, Nodes, NoGap, Point, Points, Sides
from dpaudit.accounting.model.law import Atom, Atoms, Bracketed, Finite, GaussianShaped, Law, LossValue, sum_of_losses
from dpaudit.errors import Unsupported

Parts: TypeAlias = tuple[tuple[Law, int], ...]
MOST_VALUES: Final = 1 << 11  # Most values of the finite laws together
TAIL: Final = 1200  # Bits of the tail at which laws with endlessly many values are cut
SOURCE: Final = "mean of the profile of one release over the loss values of the others (docs/prices.md)"


@dataclass(frozen=True)
class Joined:
    """The product of laws that list their values."""

    parts: Parts

    def describe(self) -> str:
        return described(self.parts)

    def reversed(self) -> Joined:
        return Joined(tuple((law.reversed(), count) for law, count in self.parts))

    def greatest_loss(self) -> LossValue | None:
        return _greatest(self.parts)

    def infinity_mass(self) -> Fraction:
        return _infinite(self.parts)

    def log_moment(self, order: Fraction) -> arb | None:
        return _moment(self.parts, order)

    def atoms(self, tail: int) -> Atoms | None:
        """The values added up, equal ones joined; None where they are too many."""
        whole = Atoms((Atom(LossValue(), fmpq(1), fmpq(1)),), fmpq(0))
        for law, count in self.parts:
            one = law.atoms(tail) if isinstance(law, Finite) else None
            for _ in range(count):
                joined = None if one is None else _product(whole, one)
                if joined is None:
                    return None
                whole = joined
        return whole


@dataclass(frozen=True)
class Together:
    """The product of finite laws and of one with a closed profile: a normal one, any other, or several of Laplace noise."""

    finite: Joined
    smooth: Parts

    def describe(self) -> str:
        return described((*self.smooth, *self.finite.parts))

    def reversed(self) -> Together:
        return Together(self.finite.reversed(), tuple((law.reversed(), count) for law, count in self.smooth))

    def greatest_loss(self) -> LossValue | None:
        return _greatest((*self.finite.parts, *self.smooth))

    def infinity_mass(self) -> Fraction:
        return _infinite((*self.finite.parts, *self.smooth))

    def log_moment(self, order: Fraction) -> arb | None:
        return _moment((*self.finite.parts, *self.smooth), order)

    def profile(self, epsilon: arb) -> arb:
        """P mass of each value times the profile beyond it, and the values that are infinite."""
        found = self.finite.atoms(TAIL)
        if found is None:
            return arb(0).union(arb(1))
        return sum((atom.p_mass * self._smooth_profile(epsilon - atom.loss.ball()) for atom in found.atoms), arb(found.infinity))

    def profile_source(self) -> str:
        return SOURCE

    def distribution(self) -> Distribution | None:
        """That of the smooth law moved to each value; None where several releases make up the smooth law, or it has none."""
        from dpaudit.accounting.laws.distributions import distribution_of

        if len(self.smooth) != 1 or self.smooth[0][1] != 1:
            return None
        base = distribution_of(self.smooth[0][0])
        return None if base is None else Moved(self, base)

    def _smooth_profile(self, epsilon: arb) -> arb:
        """The profile of the smooth law."""
        law, count = self.smooth[0]
        if len(self.smooth) == count == 1:
            profile = profile_of(law)
            return arb(0).union(arb(1)) if profile is None else profile(epsilon)
        return summed_profile([(law, count) for law, count in self.smooth if isinstance(law, Laplace)], epsilon)


@dataclass(frozen=True)
class Moved(NoGap):
    """A distribution moved to each of the values of finite laws."""

    law: Together
    base: Distribution

    def _values(self) -> list[tuple[arb, arb, arb]]:
        """Loss and masses of each value."""
        found = self.law.finite.atoms(TAIL)
        return [] if found is None else [(atom.loss.ball(), arb(atom.p_mass), arb(atom.q_mass)) for atom in found.atoms]

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        totals = [[arb(0)] * 4 for _ in losses]
        for value, p_mass, q_mass in self._values():
            for total, sides in zip(totals, self.base.sides([loss - value for loss in losses]), strict=True):
                weights = (p_mass, p_mass, q_mass, q_mass)
                total[:] = [known + weight * mass for known, weight, mass in zip(total, weights, sides, strict=True)]
        return [Sides(*total) for total in totals]

    def points(self, tail: int) -> Points:
        """Points of both moved onto each other; what one side alone gives."""
        base, finite = self.base.points(tail), list[Point]()
        for value, p_mass, q_mass in self._values():
            finite += [(value + loss, p_mass * p, q_mass * q) for loss, p, q in base.finite]
        sides = self.base.sides([arb(0)])[0]
        p_rest = sides.p_below + sides.p_above + sum((point[1] for point in base.finite), arb(0))
        q_rest = sides.q_below + sides.q_above + sum((point[2] for point in base.finite), arb(0))
        p_seen, q_seen = (sum((value[side] for value in self._values()), arb(0)) for side in (1, 2))
        return Points(tuple(finite), (1 - p_seen * p_rest).nonnegative_part(), (1 - q_seen * q_rest).nonnegative_part())

    def nodes(self) -> Nodes:
        import numpy as np

        base, rows = self.base.nodes(), []
        for value, p_mass, q_mass in self._values():
            moved = float(value), float(p_mass.log()), float(q_mass.log())
            rows.append(np.array([nodes + shift for nodes, shift in zip(base, moved, strict=True)]))
        whole = np.concatenate(rows, axis=1)
        return Nodes(*whole[:, np.argsort(whole[0])])

    def ends(self) -> tuple[bool, bool]:
        return self.base.ends()


def put_together(loss: Composition) -> Composition:
    """All releases as one, whose law is above and perhaps below; DPA202 where no closed form is known for them."""
    if sum(count for _, count in loss.parts) <= 1:
        return loss
    above = [(end_of(law, 0), count) for law, count in loss.parts]
    upper = _together([(law, count) for law, count in above if law is not None])
    if not any(isinstance(law, (Bracketed, BoundedRange)) for law, _ in loss.parts):
        return Composition(((upper, 1),), loss.adjacency)
    known = [(below, count) for law, count in loss.parts if (below := law_below(law)) is not None]
    lower = _together(known) if known else None
    name = f"together({loss.describe()})"
    return Composition(((Between(name, upper, lower, "the product of the laws above and that of those below"), 1),), loss.adjacency)


def _together(parts: Sequence[tuple[Law, int]]) -> Law:
    """The product of laws."""
    square = sum((count * law.mu_squared for law, count in parts if isinstance(law, GaussianShaped)), Fraction(0))
    name = described([(law, count) for law, count in parts if isinstance(law, GaussianShaped)])
    finite = [(law, count) for law, count in parts if isinstance(law, Finite) and not isinstance(law, GaussianShaped)]
    smooth = [(law, count) for law, count in parts if not isinstance(law, (Finite, GaussianShaped))]
    if square:
        normal = SquaredGaussian(square, name)
        alone = smooth[0] if len(smooth) == 1 else None
        if alone is not None and isinstance(alone[0], Laplace) and alone[1] == 1:
            smooth = [(NormalAndLaplace(normal, alone[0]), 1)]
        else:
            smooth.append((normal, 1))
    if not finite and len(smooth) == 1 and smooth[0][1] == 1:
        return smooth[0][0]
    if not smooth:
        return Joined(tuple(finite))
    law = Together(Joined(tuple(finite)), tuple(smooth))
    laplace = [(part, count) for part, count in smooth if isinstance(part, Laplace)]
    closed = len(smooth) == 1 and smooth[0][1] == 1 and profile_of(smooth[0][0]) is not None
    found = law.finite.atoms(TAIL)
    if found is None or not (closed or (len(laplace) == len(smooth) and is_short(laplace, len(found.atoms)))):
        names = ", ".join(part.describe() for part, _ in parts)
        raise Unsupported(
            "DPA202", f"no closed form is known for one sample that {names} share. Sample each release on its own, or state bounds."
        )
    return law


def described(parts: Sequence[tuple[Law, int]]) -> str:
    """The names of releases on one sample."""
    terms = [law.describe() if count == 1 else f"{count} * {law.describe()}" for law, count in parts]
    return terms[0] if len(terms) == 1 and parts[0][1] == 1 else f"together({', '.join(terms)})"


def _greatest(parts: Parts) -> LossValue | None:
    """Sum of the greatest losses, None where one is unbounded."""
    known = [(value, count) for law, count in parts if (value := law.greatest_loss()) is not None]
    return sum_of_losses(known) if len(known) == len(parts) else None


def _infinite(parts: Parts) -> Fraction:
    """Probability that one of the losses is infinite."""
    safe = Fraction(1)
    for law, count in parts:
        safe *= (1 - law.infinity_mass()) ** count
    return 1 - safe


def _moment(parts: Parts, order: Fraction) -> arb | None:
    """Sum of the logarithms of the moments, None where one is not known."""
    known = [moment * count for law, count in parts if (moment := law.log_moment(order)) is not None]
    return sum(known, arb(0)) if len(known) == len(parts) else None


def _product(one: Atoms, other: Atoms) -> Atoms | None:
    """Sums of the values of two laws; None where they are too many."""
    places = Coordinates.of(atom.loss for law in (one, other) for atom in law.atoms)
    if places is None or len(one.atoms) * len(other.atoms) > MOST_VALUES**2:
        return None
    found: dict[Place, Atom] = {}
    for first in one.atoms:
        for second in other.atoms:
            loss = sum_of_losses([(first.loss, 1), (second.loss, 1)])
            key = places.place(loss)
            known = found.get(key, Atom(loss, fmpq(0), fmpq(0)))
            masses = known.p_mass + first.p_mass * second.p_mass, known.q_mass + first.q_mass * second.q_mass
            found[key] = Atom(known.loss, *masses)
    if len(found) > MOST_VALUES:
        return None
    return Atoms(tuple(found.values()), one.infinity + other.infinity - one.infinity * other.infinity)
