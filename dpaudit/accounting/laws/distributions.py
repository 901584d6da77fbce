"""Distributions of losses: normal, of Laplace noise, of bounded range, listed; under sampling schemes, and mixtures of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpaudit.accounting.laws.gaussian import twice_upper_tail
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.laws.mixed_distribution import MixedLosses
from dpaudit.accounting.laws.mixed_normals import MixedNormals
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.model.coordinates import common_unit
from dpaudit.accounting.model.distribution import (
    Distributed,
    Distribution,
    Nodes,
    NoGap,
    OnlyDiffuse,
    OnlyPoints,
    Point,
    Points,
    Sides,
)
from dpaudit.accounting.model.law import Finite, GaussianShaped, Law
from dpaudit.accounting.model.search import log_of
from dpaudit.accounting.model.transform import Reals
from dpaudit.exact import ball

LOWEST: Final = 14.0  # Standard deviations below 0 at which plans begin to look at N(0, 1) and N(mu, 1)
HIGHEST: Final = 80.0  # Standard deviations above mu at which they stop
FINENESS: Final = 0.2  # Standard deviations between two nodes
MOST_NODES: Final = 1 << 13  # Most nodes of a normal loss; one of very large mu is looked at more coarsely
MOST_MIDPOINTS: Final = 256  # Nodes of a bounded loss, about
NEAREST: Final = 1e-13  # The last of them, relative to its end


@dataclass(frozen=True)
class Normal(OnlyDiffuse):
    """The loss of N(mu, 1) against N(0, 1): normal with mean and variance mu^2/2 and mu^2 under P, -mu^2/2 under Q."""

    mu_squared: Fraction

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        scale, half = ball(2 * self.mu_squared).sqrt(), ball(self.mu_squared / 8).sqrt()
        found = []
        for loss in losses:
            place = loss / scale
            p_above, p_below = _normal(place - half)
            q_above, q_below = _normal(place + half)
            found.append(Sides(p_below, p_above, q_below, q_above))
        return found

    def nodes(self) -> Nodes:
        """The trapezoidal rule, from below both normal laws to far above them."""
        mu = math.sqrt(self.mu_squared)
        places = np.arange(-LOWEST, mu + HIGHEST, max(FINENESS, (mu + LOWEST + HIGHEST) / MOST_NODES))
        width = math.log((places[1] - places[0]) / math.sqrt(2 * math.pi))
        return Nodes(mu * (places - mu / 2), width - (places - mu) ** 2 / 2, width - places**2 / 2)

    def ends(self) -> tuple[bool, bool]:
        return False, False


def _normal(place: arb) -> tuple[arb, arb]:
    """Upper and lower tail of the normal law at place * sqrt(2); the smaller one is computed, the larger one is the rest."""
    if place > 0:
        tail = twice_upper_tail(place) / 2
        return tail, 1 - tail
    tail = twice_upper_tail(-place) / 2
    return 1 - tail, tail


@dataclass(frozen=True)
class DoubleExponential(NoGap):
    """The loss of Laplace noise: points at both ends of [-epsilon, epsilon], a density e^((loss - epsilon)/2)/4 between."""

    epsilon: Fraction

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Integrals of the density under P, and of its mirror image under Q."""
        end, half = ball(self.epsilon), (ball(-self.epsilon) / 2).exp() / 2
        found = []
        for loss in losses:
            place = loss.max(-end).min(end)
            up, down = (place - end) / 2, (place + end) / 2
            found.append(
                Sides(half * half * 2 * down.expm1(), -up.expm1() / 2, -(-down).expm1() / 2, half * half * 2 * (-up).expm1())
            )
        return found

    def points(self, tail: int) -> Points:  # noqa: ARG002 - there is no tail
        """The outputs beyond both centres."""
        end = ball(self.epsilon)
        small, half = (-end).exp() / 2, arb(1) / 2
        return Points(((-end, small, half), (end, half, small)), arb(0), arb(0))

    def nodes(self) -> Nodes:
        losses, width = _midpoints(self.epsilon)
        return Nodes(losses, width + (losses - float(self.epsilon)) / 2, width - (losses + float(self.epsilon)) / 2)

    def ends(self) -> tuple[bool, bool]:
        return True, True


@dataclass(frozen=True)
class WorstOfRange(OnlyDiffuse):
    """The pair whose profile is (e^(r/2) - e^(e/2))^2/(e^r - 1), the largest among mechanisms of bounded range r."""

    # P(loss > e) is the profile less its derivative, and Q(loss > e) is the derivative times -e^-e: both are products of
    # exponentials, and all the mass lies in [-r, r].
    width: Fraction

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """With A = e^(r/2), B = e^(l/2): P(loss > l) = A (A - B)/(A^2 - 1) and Q(loss > l) = (A - B)/(B (A^2 - 1))."""
        width = ball(self.width)
        rise, whole = (width / 2).exp(), width.expm1()
        found = []
        for loss in losses:
            place = loss.max(-width).min(width)
            back = (-place / 2).exp()
            above, below = ((width - place) / 2).expm1() / (back * whole), ((width + place) / 2).expm1() / (rise * whole)
            found.append(Sides(rise * below, rise * above, rise * rise * back * below, back * above))
        return found

    def nodes(self) -> Nodes:
        losses, width = _midpoints(self.width)
        scale = width + math.log(2) - math.log(-math.expm1(-float(self.width)))
        return Nodes(losses, scale + (losses - float(self.width)) / 2, scale - (losses + float(self.width)) / 2)

    def ends(self) -> tuple[bool, bool]:
        return True, True


@dataclass(frozen=True)
class Listed(OnlyPoints):
    """A law that lists its values."""

    law: Finite

    def points(self, tail: int) -> Points:
        """The values; what Q has and they have not is its alone. Of more than can be listed, nothing is known."""
        found = self.law.atoms(tail)
        if found is None:
            return Points((), arb(0).union(arb(1)), arb(0).union(arb(1)))
        finite = tuple((atom.loss.ball(), arb(atom.p_mass), arb(atom.q_mass)) for atom in found.atoms)
        return Points(finite, arb(found.infinity), (1 - sum((point[2] for point in finite), arb(0))).nonnegative_part())

    def gap(self) -> Fraction | None:
        """The common unit of losses that are rational numbers of nats."""
        found = self.law.atoms(128)
        if found is None or not all(atom.loss.is_rational for atom in found.atoms):
            return None
        first = min(atom.loss.nats for atom in found.atoms)
        return common_unit(atom.loss.nats - first for atom in found.atoms) or None


@dataclass(frozen=True)
class Thinned(NoGap):
    """A loss under Poisson sampling at `rate` in (0, 1): of P against Q, or of Q against P where `removing` is false."""

    # Removing: ((1 - rate) Q + rate P, Q), so the loss l becomes log(1 - rate + rate e^l). Adding, for a base (P, Q) of the dataset
    # without the record against the one with it: (P, (1 - rate) P + rate Q), -log(1 - rate + rate e^-l).
    base: Distribution
    rate: Fraction
    removing: bool

    def _mapped(self, loss: arb) -> arb:
        """The loss after sampling."""
        sign = 1 if self.removing else -1
        return sign * (ball(self.rate) * (sign * loss).expm1()).log1p()

    def _mixed(self, p_mass: arb, q_mass: arb) -> tuple[arb, arb]:
        """P and Q mass after sampling."""
        mixture = ball(1 - self.rate) * (q_mass if self.removing else p_mass) + ball(self.rate) * (
            p_mass if self.removing else q_mass
        )
        return (mixture, q_mass) if self.removing else (p_mass, mixture)

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """The base's sides at the loss that is mapped here; beyond the edge -+log(1 - rate) there is nothing."""
        sign, rate = (1 if self.removing else -1), ball(self.rate)
        middle, nothing = self.base.sides([arb(0)])[0], arb(0)
        p_whole, q_whole = middle.p_below + middle.p_above, middle.q_below + middle.q_above
        edge = Sides(nothing, p_whole, nothing, q_whole) if self.removing else Sides(p_whole, nothing, q_whole, nothing)
        odds = [1 + (sign * loss).expm1() / rate for loss in losses]
        inside = [(index, odd) for index, odd in enumerate(odds) if odd > 0]
        found = [edge] * len(odds)
        for (index, _), sides in zip(inside, self.base.sides([sign * odd.log() for _, odd in inside]), strict=True):
            found[index] = sides
        for index, odd in enumerate(odds):
            if not (odd > 0 or odd <= 0):  # what the ball leaves open lies between the edge and its far end
                near = self.base.sides([sign * odd.upper().log()])[0]
                found[index] = Sides(*(one.union(other) for one, other in zip(near, edge, strict=True)))
        stay = 1 - rate
        if self.removing:
            return [Sides(stay * c + rate * a, stay * d + rate * b, c, d) for a, b, c, d in found]
        return [Sides(a, b, stay * a + rate * c, stay * b + rate * d) for a, b, c, d in found]

    def points(self, tail: int) -> Points:
        """The base's points mapped; mass on one side only meets the other side at the edge of the loss."""
        base = self.base.points(tail)
        rate, edge = ball(self.rate), (-ball(self.rate)).log1p()
        mapped = tuple((self._mapped(loss), *self._mixed(p_mass, q_mass)) for loss, p_mass, q_mass in base.finite)
        if self.removing:
            only = () if base.q_only.is_zero() else ((edge, (1 - rate) * base.q_only, base.q_only),)
            return Points((*only, *mapped), rate * base.p_infinity, arb(0))
        only = () if base.p_infinity.is_zero() else ((-edge, base.p_infinity, (1 - rate) * base.p_infinity),)
        return Points((*mapped, *only), arb(0), rate * base.q_only)

    def nodes(self) -> Nodes:
        losses, log_p, log_q = self.base.nodes()
        sign, rate = (1 if self.removing else -1), float(self.rate)
        small = np.minimum(sign * losses, 600.0)
        mapped = sign * np.where(sign * losses > 600, sign * losses + math.log(rate), np.log1p(rate * np.expm1(small)))
        seen, unseen = (log_p, log_q) if self.removing else (log_q, log_p)
        mixture = np.logaddexp(log_of(self.rate) + seen, log_of(1 - self.rate) + unseen)
        return Nodes(mapped, mixture, log_q) if self.removing else Nodes(mapped, log_p, mixture)

    def ends(self) -> tuple[bool, bool]:
        return self.base.ends()


def distribution_of(law: Law) -> Distribution | None:
    """The distribution functions of a law, None where they are not known."""
    match law:
        case Distributed():
            return law.distribution()
        case Laplace():
            return DoubleExponential(law.pure_epsilon)
        case BoundedRange():
            return WorstOfRange(law.epsilon)
        case Sampled():
            base = distribution_of(law.law)
            return None if base is None else Thinned(base, law.rate, removing=law.removing)
        case MixedNormals():
            return MixedLosses(law)
        case GaussianShaped() if law.mu_squared:
            return Normal(law.mu_squared)
        case Finite():
            return Listed(law)
        case _:
            return None


def _midpoints(end: Fraction) -> tuple[Reals, Reals]:
    """Places over [-end, end], ever closer towards its ends, and the logarithms of a quarter of the intervals around them."""
    near = np.geomspace(NEAREST, 1 / 32, MOST_MIDPOINTS // 2)
    edges = np.concatenate(([-1.0], near - 1, np.linspace(-1, 1, MOST_MIDPOINTS // 4)[4:-4], 1 - near[::-1], [1.0]))
    return float(end) * (edges[1:] + edges[:-1]) / 2, np.log(float(end) * np.diff(edges) / 4)


@dataclass(frozen=True)
class Halved(NoGap):
    """Above 0 the loss when a record is removed from a Poisson sample of `base`, below 0 that when one is added, the rest at 0."""

    # `base` must be the same in both directions; then so is this.
    base: Distribution
    rate: Fraction

    def _directions(self) -> tuple[Thinned, Thinned]:
        """Removal and addition."""
        return Thinned(self.base, self.rate, removing=True), Thinned(self.base, self.rate, removing=False)

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Those of the direction that the sign chooses, on the far side of 0 with all that lies between."""
        removed, added = self._directions()
        rises, falls = removed.sides([arb(0)])[0], added.sides([arb(0)])[0]
        positive = removed.sides([loss.nonnegative_part() for loss in losses])
        negative = added.sides([-((-loss).nonnegative_part()) for loss in losses])
        nothing, found = Sides(*[arb(0)] * 4), []
        for loss, high, low in zip(losses, positive, negative, strict=True):
            over = nothing if loss <= 0 else _less(rises, high)  # between 0 and the place; exactly nothing on its other side
            under = nothing if loss >= 0 else _less(falls, low)
            found.append(
                Sides(
                    low.p_below + over.p_above,
                    high.p_above + under.p_below,
                    low.q_below + over.q_above,
                    high.q_above + under.q_below,
                )
            )
        return found

    def points(self, tail: int) -> Points:
        """The points of either direction on its side of 0; what is left of the masses is at 0."""
        removed, added = self._directions()
        rises, falls = removed.points(tail), added.points(tail)
        if not all(loss > 0 or loss < 0 or loss.is_zero() for side in (rises, falls) for loss, _, _ in side.finite):
            return Points((), arb(0).union(arb(1)), arb(0).union(arb(1)))
        above = [point for point in rises.finite if point[0] > 0]
        below = [point for point in falls.finite if point[0] < 0]
        high, low = removed.sides([arb(0)])[0], added.sides([arb(0)])[0]
        p_rest = 1 - high.p_above - low.p_below - rises.p_infinity - sum((point[1] for point in above + below), arb(0))
        q_rest = 1 - high.q_above - low.q_below - falls.q_only - sum((point[2] for point in above + below), arb(0))
        rest = p_rest.intersection(q_rest).nonnegative_part()
        return Points((*below, (arb(0), rest, rest), *above), rises.p_infinity, falls.q_only)

    def nodes(self) -> Nodes:
        """Those of each direction on its side."""
        high, low = (direction.nodes() for direction in self._directions())
        over, under = high.losses > 0, low.losses < 0
        return Nodes(*(np.concatenate((one[under], other[over])) for one, other in zip(low, high, strict=True)))

    def ends(self) -> tuple[bool, bool]:
        return self.base.ends()


def _less(sides: Sides, others: Sides) -> Sides:
    """Differences of masses."""
    return Sides(*(mass - other for mass, other in zip(sides, others, strict=True)))


@dataclass(frozen=True)
class Blend(NoGap):
    """One of several losses, chosen by public chance; with probability `beyond` everything is revealed."""

    components: tuple[tuple[Distribution, Fraction], ...]
    beyond: Fraction

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        totals = [[arb(0)] * 4 for _ in losses]
        for base, weight in self.components:
            share = ball(weight)
            for total, sides in zip(totals, base.sides(losses), strict=True):
                total[:] = [known + share * mass for known, mass in zip(total, sides, strict=True)]
        return [Sides(*total) for total in totals]

    def points(self, tail: int) -> Points:
        """Weighted points of all components."""
        finite: list[Point] = []
        infinity = q_only = ball(self.beyond)
        for base, weight in self.components:
            share, points = ball(weight), base.points(tail)
            finite += [(loss, share * p_mass, share * q_mass) for loss, p_mass, q_mass in points.finite]
            infinity, q_only = infinity + share * points.p_infinity, q_only + share * points.q_only
        return Points(tuple(finite), infinity, q_only)

    def nodes(self) -> Nodes:
        parts = [(base.nodes(), np.log(float(weight))) for base, weight in self.components]
        losses = np.concatenate([nodes.losses for nodes, _ in parts])
        order = np.argsort(losses)
        log_p, log_q = (np.concatenate([nodes[side] + weight for nodes, weight in parts])[order] for side in (1, 2))
        return Nodes(losses[order], log_p, log_q)

    def ends(self) -> tuple[bool, bool]:
        """True if all components end."""
        ends = [base.ends() for base, _ in self.components]
        return all(first for first, _ in ends), all(last for _, last in ends)
