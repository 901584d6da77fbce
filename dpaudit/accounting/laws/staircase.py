"""The staircase mechanism's loss on one integer: plus epsilon, minus epsilon or nothing, with masses in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from dpaudit.accounting.model.law import Atom, Atoms
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, shown


@dataclass(frozen=True)
class Staircase:
    """Staircase noise around `sensitivity` against the same noise around 0.

    The noise has equal weights for sizes below `width`, and weights smaller by e^-epsilon every `step` integers further out.
    """

    epsilon: Fraction
    step: int
    width: int
    sensitivity: int

    def describe(self) -> str:
        """Name and parameters."""
        scale = f"epsilon={shown(self.epsilon)}, step={self.step}, width={self.width}"
        return f"staircase({scale}, sensitivity={self.sensitivity})"

    def reversed(self) -> Staircase:
        """The law itself: reflection exchanges the two sides."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """The epsilon."""
        return LossValue(self.epsilon)

    def infinity_mass(self) -> Fraction:
        """Zero: both sides have full support."""
        return Fraction(0)

    def likely(self) -> arb:
        """Ball around P[loss = epsilon]: the total variation distance over 1 - e^-epsilon.

        That distance is the probability of the `sensitivity` integers around 0, of which all lie on the top step, or as many as
        it has and the rest on the second.
        """
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
        """Direct sum over the three losses."""
        likely, unlikely, null = self._masses()
        rise, fall = ball(order * self.epsilon).exp(), ball(-order * self.epsilon).exp()
        return (likely * rise + unlikely * fall + null).log()

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - there is no tail
        """The three losses."""
        likely, unlikely, null = self._masses()
        ends = (Atom(LossValue(self.epsilon), likely, unlikely), Atom(LossValue(-self.epsilon), unlikely, likely))
        return Atoms((*ends, Atom(LossValue(), null, null)), fmpq(0))
