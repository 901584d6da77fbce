"""Integer noise with exponential tails: discrete (two-sided geometric) Laplace noise and staircase noise, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, fmpq

from dpaudit.accounting.model.law import Atom, Atoms, FiniteLosses, LossValue, Symmetric
from dpaudit.accounting.model.search import THRESHOLD_SOURCE, best_threshold
from dpaudit.exact import ball, shown

MOST_ATOMS: Final = 4096  # Beyond this many loss values a law is composed through bounds instead of value by value


@dataclass(frozen=True)
class DiscreteLaplace(Symmetric, FiniteLosses):  # reflection exchanges the two sides
    """P(x) proportional to e^(-|x - sensitivity|/scale) on the integers against Q(x) proportional to e^(-|x|/scale)."""

    scale: Fraction
    sensitivity: int

    @property
    def pure_epsilon(self) -> Fraction:
        """Greatest loss in nats."""
        return self.sensitivity / self.scale

    def describe(self) -> str:
        return f"discrete_laplace(scale={shown(self.scale)}, sensitivity={self.sensitivity})"

    def greatest_loss(self) -> LossValue | None:
        """The pure epsilon, met by every output at or beyond the larger centre."""
        return LossValue(self.pure_epsilon)

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


@dataclass(frozen=True)
class Staircase(Symmetric, FiniteLosses):  # reflection exchanges the two sides
    """Staircase noise around `sensitivity` against the same noise around 0."""

    # The noise has equal weights for sizes below `width`, and weights smaller by e^-epsilon every `step` integers further out.
    epsilon: Fraction
    step: int
    width: int
    sensitivity: int

    def describe(self) -> str:
        scale = f"epsilon={shown(self.epsilon)}, step={self.step}, width={self.width}"
        return f"staircase({scale}, sensitivity={self.sensitivity})"

    def greatest_loss(self) -> LossValue | None:
        return LossValue(self.epsilon)

    def likely(self) -> arb:
        """Ball around P[loss = epsilon]: the total variation distance over 1 - e^-epsilon."""
        # That distance is the probability of the `sensitivity` integers around 0, of which all lie on the top step, or as many as
        # it has and the rest on the second.
        fall, drop = ball(-self.epsilon).exp(), -ball(-self.epsilon).expm1()
        top = 2 * self.width - 1
        upper = self.sensitivity if self.sensitivity // 2 < self.width else top
        return (upper + (self.sensitivity - upper) * fall) / (top * drop + 2 * self.step * fall)

    def _masses(self) -> tuple[arb, arb, arb]:
        """P masses of the losses epsilon, -epsilon and 0."""
        likely = self.likely()
        unlikely = likely * ball(-self.epsilon).exp()
        return likely, unlikely, (1 - likely - unlikely).nonnegative_part()

    def log_moment(self, order: Fraction) -> arb:
        likely, unlikely, null = self._masses()
        rise, fall = ball(order * self.epsilon).exp(), ball(-order * self.epsilon).exp()
        return (likely * rise + unlikely * fall + null).log()

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - there is no tail
        likely, unlikely, null = self._masses()
        ends = (Atom(LossValue(self.epsilon), likely, unlikely), Atom(LossValue(-self.epsilon), unlikely, likely))
        return Atoms((*ends, Atom(LossValue(), null, null)), fmpq(0))
