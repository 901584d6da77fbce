"""Laws from below: a release of whose outputs only finitely many groups are distinguished."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final, Protocol

from flint import arb, ctx

from dpaudit.accounting.laws.sampled import profile_of
from dpaudit.accounting.model.distribution import Distribution, Points, Scattered
from dpaudit.accounting.model.law import Law, LossValue
from dpaudit.exact import ball, ball_endpoints, working_precision

ROUGH_TAIL: Final = 64  # Bits of the tail at which ends and moments are computed
LONG_TAIL: Final = 1200  # Bits of the tail at which profiles are
BITS: Final = 160  # Working precision of profiles; more of it would not make them any higher


class Groups(Hashable, Protocol):
    """Outputs in groups: joining outputs is a post-processing, so a mechanism that has the pair loses at least this."""

    def describe(self) -> str:
        """The name of the groups that are distinguished."""

    def points(self, tail: int) -> Points:
        """Losses of the groups with their P and Q masses."""


@dataclass(frozen=True)
class Seen:
    """The pair of some groups, P and Q exchanged if `turned`; its profile is at least that of `beside`, another law below."""

    # It only serves below other laws.
    groups: Groups
    beside: Law | None = None
    turned: bool = False

    def describe(self) -> str:
        return self.groups.describe()

    def reversed(self) -> Seen:
        return Seen(self.groups, None if self.beside is None else self.beside.reversed(), not self.turned)

    def greatest_loss(self) -> LossValue | None:
        """The last of the losses, or that of the other law if it is greater, rounded down; None where that is unbounded."""
        other = LossValue() if self.beside is None else self.beside.greatest_loss()
        if other is None:
            return None
        with working_precision(128):
            low = max(ball_endpoints(loss)[0] for loss, _, _ in self.points(ROUGH_TAIL).finite)
        return LossValue(Fraction(max(low, other.ends()[0])))

    def infinity_mass(self) -> Fraction:
        """That of the groups, rounded down."""
        with working_precision(128):
            return Fraction(max(ball_endpoints(self.points(ROUGH_TAIL).p_infinity)[0], 0))

    def log_moment(self, order: Fraction) -> arb:
        return sum((p_mass * (ball(order) * loss).exp() for loss, p_mass, _ in self.points(ROUGH_TAIL).finite), arb(0)).log()

    def profile(self, epsilon: arb) -> arb:
        """That of the groups or of the other law, whichever is certainly higher: only lower ends count."""
        # The maximum of a tiny ball and a wide one would be a ball that reaches below 0.
        found, beside = _sums(self).delta(epsilon), None if self.beside is None else profile_of(self.beside)
        other = found if beside is None else beside(epsilon)
        return other if other.lower() > found.lower() else found

    def profile_source(self) -> str:
        return f"outputs that are not told apart (post-processing): {self.describe()}"

    def points(self, tail: int) -> Points:
        found = _points(self.groups, tail, int(ctx.prec))
        return found.turned() if self.turned else found

    def distribution(self) -> Distribution:
        return Scattered(self)


@dataclass(frozen=True)
class Cumulated:
    """P and Q mass from each point on, and the losses in increasing order."""

    losses: tuple[float, ...]
    p_masses: tuple[arb, ...]
    q_masses: tuple[arb, ...]

    def delta(self, epsilon: arb) -> arb:
        """P - e^epsilon Q of all losses above epsilon; up to whether a point that is next to epsilon is one of them."""
        place = bisect_right(self.losses, float(epsilon))
        return (self.p_masses[place] - epsilon.exp() * self.q_masses[place]).nonnegative_part()

    def most(self, epsilon: arb) -> arb:
        """The same with what such a point can add: points are further apart than twice 2^-40."""
        place = bisect_right(self.losses, float(epsilon))
        near = self.p_masses[place - 1] - self.p_masses[place] if place else arb(0)
        return self.delta(epsilon) + near * arb(2) ** -40


def cumulate(points: Points) -> Cumulated:
    """The sums of points, the infinite loss last."""
    ordered = sorted(points.finite, key=lambda point: float(point[0]))
    p_masses, q_masses = (
        tuple(accumulate((point[side] for point in reversed(ordered)), initial=start))[::-1]
        for side, start in ((1, points.p_infinity), (2, arb(0)))
    )
    return Cumulated(tuple(float(loss) for loss, _, _ in ordered), p_masses, q_masses)


@lru_cache(maxsize=16)
def _points(groups: Groups, tail: int, bits: int) -> Points:
    """The points of groups, at a precision."""
    with working_precision(bits):
        return groups.points(tail)


@lru_cache(maxsize=8)
def _sums(law: Seen) -> Cumulated:
    """The sums of a law."""
    with working_precision(BITS):
        return cumulate(law.points(LONG_TAIL))
