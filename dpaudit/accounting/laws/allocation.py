"""Random allocation: the loss of a record that takes part in one of several steps, chosen uniformly and kept secret."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from flint import arb, arb_poly, fmpq

from dpaudit.accounting.coordinates import common_unit
from dpaudit.accounting.law import Atom, Atoms, Bracketed, Finite, Law
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.values import LossValue, total
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, fmpq_of, shown, working_precision

if TYPE_CHECKING:
    from dpaudit.accounting.numeric.distributions import Distribution, Points

LENGTH: Final = 1 << 14
"""Most places of the sum of the likelihood ratios of all steps."""

TAIL_BITS: Final = 44
"""Likelihood ratios beyond a tail of this many bits count as revealing the record."""

SHIFT: Final = Fraction(1, 32)
"""Room, in steps of the grid, between a place of the lower law and the mean ratio of the outputs that it stands for."""

LARGEST_RATIO: Final = 40
"""Logarithm of the largest likelihood ratio that is followed."""

LIGHTEST: Final = arb(2) ** -100
"""Places with less P and Q mass than this count as revealing the record, or as nothing, depending on the side."""

BITS: Final = 160
"""Working precision of a table."""

GROUND = "the likelihood ratio of one step among several is the mean of theirs (docs/sampling_schemes.md, random allocation)"

Masses: TypeAlias = list[arb]
"""Q masses of the places 0, step, 2 step, ... of a likelihood ratio."""


@dataclass(frozen=True)
class Allocated:
    """One of `steps` steps under `law`, the others under its second half, against the second half in all; or the reverse.

    `removing`: `law` is (with, without) and the pair (mean over i of without x ... x with at i x ... x without, without^steps).
    Else `law` is (without, with) and the pair is (without^steps, that mean). `above` says on which side of the pair this law is:
    its likelihood ratios are those of one step on an arithmetic grid, spread to both neighbours above and fused below.
    """

    law: Law
    steps: int
    removing: bool
    above: bool

    def describe(self) -> str:
        """The law and the number of steps."""
        return f"{self.law.describe()} in one of {self.steps} steps, rounded {'up' if self.above else 'down'}"

    def reversed(self) -> Allocated:
        """The other direction."""
        return Allocated(self.law.reversed(), self.steps, not self.removing, self.above)

    def greatest_loss(self) -> LossValue | None:
        """The last of the values."""
        return self._atoms().atoms[-1].loss if self._atoms().atoms else LossValue()

    def infinity_mass(self) -> Fraction:
        """The P mass that no value has, rounded up above the pair; below it that of the law."""
        if not self.above:
            return self.law.infinity_mass() if self.removing else Fraction(0)
        return min(Fraction(1), Fraction(ball_endpoints(arb(self._atoms().infinity))[1]))

    def log_moment(self, order: Fraction) -> arb | None:
        """At most that of the law itself, since the ratio is a mean of ratios; None where an infinite loss would turn finite."""
        return self.law.log_moment(order) if self.removing or not self.law.infinity_mass() else None

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - the tail was cut with the table
        """One atom for each place of the mean ratio."""
        return self._atoms()

    def points(self, tail: int) -> Points:  # noqa: ARG002 - as above
        """The atoms as balls; what Q has beside them is its alone."""
        from dpaudit.accounting.numeric.distributions import Points

        found = self._atoms()
        finite = tuple((atom.loss.ball(), arb(atom.p_mass), arb(atom.q_mass)) for atom in found.atoms)
        return Points(finite, arb(found.infinity), (1 - sum((point[2] for point in finite), arb(0))).nonnegative_part())

    def distribution(self) -> Distribution:
        """That of the atoms."""
        from dpaudit.accounting.numeric.mixtures import Scattered

        return Scattered(self)

    def _atoms(self) -> Atoms:
        """The atoms, from the table in which a record is removed."""
        if not self.removing:
            return _exchanged(self.law.reversed(), self.steps, 0 if self.above else 1)
        return _tabulated(self.law, self.steps, 0 if self.above else -1)


def allocated(law: Law, steps: int) -> Law:
    """A release in one of several steps, between two finite laws; DPA202 for laws whose distribution is not known."""
    above, below = law.bracket() if isinstance(law, Bracketed) else (law, law)
    for known in (above, below):
        if known is not None:
            _known(known)
    name = f"{law.describe()}.sampled(RandomAllocation(steps={steps}))"
    lower = None if below is None else Allocated(below, steps, removing=True, above=False)
    return Between(name, Allocated(above, steps, removing=True, above=True), lower, GROUND)


@lru_cache(maxsize=16)
def _exchanged(law: Law, steps: int, side: int) -> Atoms:
    """The atoms of the other direction; above the pair, what the first of the two has beside them is infinite."""
    atoms = _tabulated(law, steps, side).atoms
    turned = (Atom(total([(atom.loss, -1)]), atom.q_mass, atom.p_mass) for atom in reversed(atoms))
    with working_precision(BITS):
        left = (1 - sum((arb(atom.q_mass) for atom in atoms), arb(0))).nonnegative_part()
    return Atoms(tuple(turned), fmpq(0) if side else left)


@lru_cache(maxsize=16)
def _tabulated(law: Law, steps: int, side: int) -> Atoms:
    """The mean ratio of all steps on the grid: spread (side 0), or fused and rounded down (-1) or up (1)."""
    with working_precision(BITS):
        distribution, step, shift = _known(law), _exact_step(law, steps), Fraction(0)
        if step:
            single = _listed(law, step)
        else:
            reach = _reach(distribution)
            step, shift = _step(law, steps, reach), side * SHIFT
            last = math.ceil(math.exp(reach) / step)
            single = _fused(distribution, step, last, side) if side else _spread(distribution, step, last)
        atoms, start, unit = [], ball(steps * shift), ball(step / steps)
        for index, weight in enumerate(_power(arb_poly(single), steps)):
            mass, odds = weight.nonnegative_part(), unit * (start + index)
            if odds > 0 and not (mass < LIGHTEST and odds * mass < LIGHTEST):
                atoms.append(Atom(LossValue.of_ratio((index + steps * shift) * step / steps), odds * mass, mass))
        left = (1 - sum((arb(atom.p_mass) for atom in atoms), arb(0))).nonnegative_part()
        return Atoms(tuple(atoms), fmpq_of(law.infinity_mass()) if side else left)


def _known(law: Law) -> Distribution:
    """The distribution of a law that was found to have one."""
    from dpaudit.accounting.numeric.distributions import distribution_of

    found = distribution_of(law)
    if found is None:
        raise Unsupported("DPA202", f"{law.describe()} has no distribution that is known, so it cannot be allocated.")
    return found


def _exact_step(law: Law, steps: int) -> Fraction | None:
    """A step that carries all ratios of a law with rational masses, None when there are too many places."""
    atoms = law.atoms(TAIL_BITS) if isinstance(law, Finite) else None
    if atoms is None or not all(isinstance(atom.p_mass, fmpq) and isinstance(atom.q_mass, fmpq) for atom in atoms.atoms):
        return None
    ratios = [_ratio(atom) for atom in atoms.atoms]
    unit = common_unit(ratios)
    return unit if unit and steps * max(ratios) / unit <= LENGTH else None


def _ratio(atom: Atom) -> Fraction:
    """P over Q mass of an atom with rational masses."""
    quotient = fmpq(atom.p_mass) / fmpq(atom.q_mass)
    return Fraction(int(quotient.p), int(quotient.q))


def _listed(law: Law, step: Fraction) -> Masses:
    """Q masses by multiples of a step that carries all ratios; what only Q has is at 0."""
    atoms = law.atoms(TAIL_BITS).atoms if isinstance(law, Finite) and law.atoms(TAIL_BITS) else ()
    places = {int(_ratio(atom) / step): arb(atom.q_mass) for atom in atoms}
    masses = [places.get(index, arb(0)) for index in range(max(places) + 1)]
    masses[0] = (1 - sum(masses, arb(0))).nonnegative_part()
    return masses


def _reach(law: Distribution) -> float:
    """Logarithm of a ratio beyond which hardly any P mass lies."""
    points = law.points(TAIL_BITS).finite
    place = 0.25
    while place < LARGEST_RATIO:
        beyond = law.sides([arb(place)])[0].p_above + sum((mass for loss, mass, _ in points if not loss < place), arb(0))
        if float(beyond) < 2.0**-TAIL_BITS:
            break
        place += 0.25
    return place


def _step(law: Law, steps: int, reach: float) -> Fraction:
    """The step with which the sums of ratios that matter have `LENGTH` places; it only decides how tight the laws are."""
    moment = law.log_moment(Fraction(1))
    variance = math.expm1(min(float(moment), 2 * reach)) if moment is not None else math.exp(reach)
    largest = math.exp(reach)
    length = min(steps * largest, 1.25 * largest + steps + 8 * math.sqrt(max(steps * variance, 0.0)))
    return Fraction(math.ceil(length * 2**20), LENGTH << 20)


def _spread(law: Distribution, step: Fraction, last: int) -> Masses:
    """Q masses when the outputs between two places of the ratio go to these two, keeping P and Q; beyond the last to 0."""
    width, masses = ball(step), [arb(0)] * (last + 1)
    points, ends = law.points(TAIL_BITS), [(width * index).log() for index in range(1, last + 1)]
    sides = law.sides(ends)
    cells = {index: cell for index, cell in enumerate(_between(sides))}

    def place(first: int, span: int, p_mass: arb, q_mass: arb) -> None:
        """Spread over places first and first + span."""
        low, high = width * first, width * (first + span)
        masses[first] += ((high * q_mass - p_mass) / (width * span)).nonnegative_part()
        masses[first + span] += ((p_mass - low * q_mass) / (width * span)).nonnegative_part()

    for index, (p_mass, q_mass) in cells.items():
        place(index, 1, p_mass, q_mass)
    for loss, p_mass, q_mass in points.finite:
        near = loss.exp() / width
        first, final = (int(end.floor().mid().unique_fmpz()) for end in (near.lower(), near.upper()))
        if final < last:
            place(first, final + 1 - first, p_mass, q_mass)
    masses[0] += (1 - sum(masses, arb(0))).nonnegative_part()
    return masses


def _between(sides: list) -> list[tuple[arb, arb]]:
    """P and Q mass below the first place and between neighbouring ones."""
    found = [(sides[0].p_below, sides[0].q_below)]
    for left, right in zip(sides, sides[1:], strict=False):
        p_mass = right.p_below - left.p_below if right.p_below < left.p_above else left.p_above - right.p_above
        q_mass = right.q_below - left.q_below if right.q_below < left.q_above else left.q_above - right.q_above
        found.append((p_mass, q_mass))
    return found


def _fused(law: Distribution, step: Fraction, last: int, side: int) -> Masses:
    """Q masses when outputs around a place go there, or to the next one where their mean ratio is too far on the wrong side."""
    width, masses = ball(step), [arb(0)] * (last + 2)
    points, middles = law.points(TAIL_BITS), [(width * (2 * index + 1) / 2).log() for index in range(last)]
    for index, (p_mass, q_mass) in enumerate(_between(law.sides(middles))):
        bound = ball((index + side * SHIFT) * step) * q_mass
        holds = p_mass <= bound if side == 1 else p_mass >= bound
        masses[index if holds else index + side] += q_mass.nonnegative_part()
    for loss, _, q_mass in points.finite:
        near = loss.exp() / width - ball(side * SHIFT)
        end = near.upper().ceil() if side == 1 else near.lower().floor()
        index = int(end.mid().unique_fmpz())
        if side == -1 or index <= last:
            masses[max(0, min(index, last))] += q_mass
    masses[0] += points.q_only
    return masses


def _power(poly: arb_poly, times: int) -> Masses:
    """Coefficients of a power, cut to the places that are followed."""
    result = arb_poly([1])
    for digit in f"{times:b}":
        result = (result * result).truncate(LENGTH + 1)
        result = (result * poly).truncate(LENGTH + 1) if digit == "1" else result
    return [result[index] for index in range(result.length())]
