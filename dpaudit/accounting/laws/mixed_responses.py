"""Groups of records in samples for pure promises: the pair that is worst for a trade-off function of several steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from dpaudit.accounting.laws.normal_sums import Weights
from dpaudit.accounting.model.distribution import Distribution, Point, Points, Scattered
from dpaudit.accounting.model.law import FiniteLosses, LossValue
from dpaudit.exact import ball, ball_endpoints, working_precision

SOURCE = (
    "with one law as reference, i steps of a pure promise have the density e^(i eps) up to 1/(1 + e^(i eps)) and e^(-i eps) beyond "
    "(docs/sampling_schemes.md, groups)"
)


@dataclass(frozen=True)
class MixedResponses(FiniteLosses):
    """i steps of pure `epsilon` with the weights of `up` against j steps the other way with those of `down`, on [0, 1]."""

    epsilon: Fraction
    up: Weights
    down: Weights
    name: str = field(compare=False)

    def describe(self) -> str:
        return self.name

    def reversed(self) -> MixedResponses:
        """The interval turned around."""
        return MixedResponses(self.epsilon, self.down, self.up, self.name)

    def greatest_loss(self) -> LossValue | None:
        with working_precision(128):
            low, high = ball_endpoints(self.points(0).finite[0][0])
        most = max(Fraction(high), Fraction(0))
        return LossValue(most, slack=most - max(Fraction(low), Fraction(0)))

    def log_moment(self, order: Fraction) -> arb:
        return sum((p_mass * (ball(order) * loss).exp() for loss, p_mass, _ in self.points(0).finite), arb(0)).log()

    def profile(self, epsilon: arb) -> arb:
        growth = epsilon.exp()
        return sum(((p_mass - growth * q_mass).nonnegative_part() for _, p_mass, q_mass in self.points(0).finite), arb(0))

    def profile_source(self) -> str:
        return SOURCE

    def points(self, tail: int) -> Points:  # noqa: ARG002 - there is no tail
        """One output for every piece of the interval on which both densities are constant, from the greatest loss down."""
        kinks = [1 / (1 + self._growth(steps)) for steps, _ in self.up if steps][::-1]
        edges = [arb(0), *kinks, *(1 / (1 + self._growth(-steps)) for steps, _ in self.down if steps), arb(1)]
        finite: list[Point] = []
        for piece in range(len(edges) - 1):
            width = edges[piece + 1] - edges[piece]
            passed = len(kinks) - min(piece, len(kinks))  # kinks of P that are still ahead: those of so many least steps
            ups = [weight * self._growth(-steps if index >= passed else steps) for index, (steps, weight) in _moving(self.up)]
            beyond = max(piece - len(kinks), 0)
            downs = [weight * self._growth(steps if index < beyond else -steps) for index, (steps, weight) in _moving(self.down)]
            p_density, q_density = (
                sum(terms, ball(side[0][1]) if not side[0][0] else arb(0)) for terms, side in ((ups, self.up), (downs, self.down))
            )
            finite.append(((p_density / q_density).log(), p_density * width, q_density * width))
        return Points(tuple(finite), arb(0), arb(0))

    def distribution(self) -> Distribution:
        return Scattered(self)

    def _growth(self, steps: Fraction) -> arb:
        """The factor e^(steps epsilon)."""
        return ball(steps * self.epsilon).exp()


def _moving(side: Weights) -> list[tuple[int, tuple[Fraction, arb]]]:
    """The numbers of steps above 0 in increasing order, with their weights."""
    return list(enumerate((steps, ball(weight)) for steps, weight in side if steps))
