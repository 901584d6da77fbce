"""The discrete Laplace (two-sided geometric) mechanism's loss: finitely many values, closed form for one release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, fmpq

from dpaudit.accounting.laws.thresholds import THRESHOLD_SOURCE, best_threshold
from dpaudit.accounting.model.law import Atom, Atoms
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, shown

MOST_ATOMS: Final = 4096
"""Beyond this many loss values a law is composed through bounds instead of value by value."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """P(x) proportional to e^(-|x - sensitivity|/scale) on the integers against Q(x) proportional to e^(-|x|/scale)."""

    scale: Fraction
    sensitivity: int

    @property
    def pure_epsilon(self) -> Fraction:
        """Greatest loss in nats."""
        return self.sensitivity / self.scale

    def describe(self) -> str:
        """Name and parameters."""
        return f"discrete_laplace(scale={shown(self.scale)}, sensitivity={self.sensitivity})"

    def reversed(self) -> DiscreteLaplace:
        """The law itself: reflection exchanges the two sides."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """The pure epsilon, met by every output at or beyond the larger centre."""
        return LossValue(self.pure_epsilon)

    def infinity_mass(self) -> Fraction:
        """Zero: both sides have full support."""
        return Fraction(0)

    def _step(self, exponent: Fraction | int = 1) -> arb:
        """e^(-exponent/scale) at the current precision."""
        return ball(-exponent / self.scale).exp()

    def log_moment(self, order: Fraction) -> arb:
        """Both ends, and the geometric sum over the outputs strictly between the centres."""
        gap = self.sensitivity
        ends = self._step(-order * gap) + self._step((1 + order) * gap)
        between = arb(0)
        if gap > 1:  # sum over x = 1 .. gap - 1 of q^(gap - x) q^(order (gap - 2x)), written from its largest term down
            ratio = 1 + 2 * order
            geometric = (1 - self._step(ratio * (gap - 1))) / (1 - self._step(ratio))
            between = (1 - self._step()) * self._step(1 - order * (gap - 2)) * geometric
        return ((ends + between) / (1 + self._step())).log()

    def profile(self, epsilon: arb) -> arb:
        """P(x >= t) - e^epsilon Q(x >= t) at the threshold t where the loss passes epsilon."""
        middle = (epsilon * ball(self.scale) + self.sensitivity) / 2  # the loss (2x - sensitivity)/scale exceeds epsilon beyond it
        beyond = best_threshold(middle, lambda start: self._tail(start - self.sensitivity) - epsilon.exp() * self._tail(start))
        return beyond.max(-epsilon.expm1()).nonnegative_part()  # the second is the event of all outputs

    def _tail(self, start: int) -> arb:
        """Probability that the noise is at least `start`."""
        if start > 0:
            return self._step(start) / (1 + self._step())
        return 1 - self._step(1 - start) / (1 + self._step())

    def profile_source(self) -> str:
        """Where the closed form is from."""
        return THRESHOLD_SOURCE

    def atoms(self, tail: int) -> Atoms | None:  # noqa: ARG002 - there is no tail
        """The sensitivity + 1 loss values, None when they are more than `MOST_ATOMS`."""
        if self.sensitivity >= MOST_ATOMS:
            return None
        gap, step = self.sensitivity, self._step()
        end, middle = 1 / (1 + step), (1 - step) / (1 + step)
        powers = [arb(1)]
        for _ in range(gap):
            powers.append(powers[-1] * step)
        between = [Atom(self._loss(x), middle * powers[gap - x], middle * powers[x]) for x in range(1, gap)]
        lowest, highest = Atom(self._loss(0), end * powers[gap], end), Atom(self._loss(gap), end, end * powers[gap])
        return Atoms((lowest, *between, highest), fmpq(0))

    def _loss(self, output: int) -> LossValue:
        """The loss of an output between the centres."""
        return LossValue((2 * output - self.sensitivity) / self.scale)
