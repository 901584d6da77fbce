"""Laws of randomized-response shape: the losses are +epsilon, -epsilon, 0 and perhaps infinity; pure and approximate DP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.model.law import Atom, Atoms
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, fmpq_of, shown


@dataclass(frozen=True)
class Response:
    """Three outputs with P weights e^epsilon : 1 : null and Q weights 1 : e^epsilon : null, and a revealing one.

    The null weight is `others`, plus e^between unless `between` is None; the revealing output has P mass `infinity`.
    `categories` is the number of answers of a randomized response, 0 for the worst of a class of mechanisms.
    """

    epsilon: Fraction
    name: str
    others: Fraction = Fraction(0)
    between: Fraction | None = None
    infinity: Fraction = Fraction(0)
    categories: int = 0

    def describe(self) -> str:
        """Name and parameters."""
        return self.name

    def reversed(self) -> Response:
        """The law itself: exchanging the first two outputs exchanges the sides."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """The epsilon."""
        return LossValue(self.epsilon)

    def infinity_mass(self) -> Fraction:
        """Mass of the revealing output."""
        return self.infinity

    def _weights(self) -> tuple[arb, arb]:
        """The weights e^epsilon and null, at the current precision."""
        null = ball(self.others) + (0 if self.between is None else ball(self.between).exp())
        return ball(self.epsilon).exp(), null.nonnegative_part()

    def log_moment(self, order: Fraction) -> arb:
        """Direct sum over the three finite losses."""
        likely, null = self._weights()
        rise, fall = ball(order * self.epsilon).exp(), ball(-order * self.epsilon).exp()
        return ((likely * rise + fall + null) / (likely + 1 + null) * ball(1 - self.infinity)).log()

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - there is no tail
        """The three finite losses; one when epsilon is 0."""
        if self.epsilon == 0:
            everything = fmpq_of(1 - self.infinity)
            return Atoms((Atom(LossValue(), everything, everything),), fmpq_of(self.infinity))
        likely, null = self._weights()
        unit = ball(1 - self.infinity) / (likely + 1 + null)
        ends = (Atom(LossValue(self.epsilon), likely * unit, unit), Atom(LossValue(-self.epsilon), unit, likely * unit))
        if self.others == 0 and self.between is None:
            return Atoms(ends, fmpq_of(self.infinity))
        return Atoms((*ends, Atom(LossValue(), null * unit, null * unit)), fmpq_of(self.infinity))


def randomized_response_law(epsilon: Fraction, categories: int) -> Response:
    """The law of a randomized response: two answers are informative, the others are not."""
    name = f"randomized_response(epsilon={shown(epsilon)}, categories={categories})"
    return Response(epsilon, name, others=Fraction(categories - 2), categories=categories)


def approximate_response(epsilon: Fraction, delta: Fraction) -> Response:
    """Return the worst law of (epsilon, delta)-differential privacy."""
    return Response(epsilon, f"approx_dp(epsilon={shown(epsilon)}, delta={shown(delta)})", infinity=delta)


def pure_response(epsilon: Fraction) -> Response:
    """The worst pair of a pure promise: binary randomized response."""
    return Response(epsilon, f"pure_dp(epsilon={shown(epsilon)})")
