"""Laws of randomized-response shape, with losses +epsilon, -epsilon, 0 and perhaps infinity; and of bounded range."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.model.law import Atom, Atoms, FiniteLosses, Law, LossValue, Symmetric
from dpaudit.exact import ball, fmpq_of, shown


@dataclass(frozen=True)
class Response(Symmetric):  # exchanging the first two outputs exchanges the sides
    """Three outputs with P weights e^epsilon : 1 : null and Q weights 1 : e^epsilon : null, and a revealing one."""

    # The null weight is `others`, plus e^between unless `between` is None; the revealing output has P mass `infinity`. `categories`
    # is the number of answers of a randomized response, 0 for the worst of a class of mechanisms.
    epsilon: Fraction
    name: str
    others: Fraction = Fraction(0)
    between: Fraction | None = None
    infinity: Fraction = Fraction(0)
    categories: int = 0

    def describe(self) -> str:
        return self.name

    def greatest_loss(self) -> LossValue | None:
        return LossValue(self.epsilon)

    def infinity_mass(self) -> Fraction:
        return self.infinity

    def _weights(self) -> tuple[arb, arb]:
        """The weights e^epsilon and null, at the current precision."""
        null = ball(self.others) + (0 if self.between is None else ball(self.between).exp())
        return ball(self.epsilon).exp(), null.nonnegative_part()

    def log_moment(self, order: Fraction) -> arb:
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


@dataclass(frozen=True)
class BoundedRange(Symmetric, FiniteLosses):  # exchanging P and Q maps t to epsilon - t
    """All pairs whose losses lie in some interval of length `epsilon`; the worst have their losses at its two ends."""

    # With losses t and t - epsilon the total masses fix P(t) = (e^epsilon - e^t)/(e^epsilon - 1), 0 <= t <= epsilon. Each profile
    # value and each moment is the maximum over t, which some mechanism of the class attains.
    epsilon: Fraction

    def describe(self) -> str:
        return f"bounded_range(epsilon={shown(self.epsilon)})"

    def greatest_loss(self) -> LossValue | None:
        """The epsilon, approached as t goes to it."""
        return LossValue(self.epsilon)

    def log_moment(self, order: Fraction) -> arb:
        """Maximum over u = e^t of (u^order (E - E^-order) - u^(order + 1) (1 - E^-order))/(E - 1), E = e^epsilon."""
        rise, fall = ball(self.epsilon).exp(), ball(-order * self.epsilon).exp()
        best = ball(order) * (rise - fall) / (ball(order + 1) * (1 - fall))
        return ball(order) * best.log() + ((rise - fall) / (ball(order + 1) * (rise - 1))).log()

    def profile(self, epsilon: arb) -> arb:
        """(e^(range/2) - e^(epsilon/2))^2/(e^range - 1), from the worst t = (range + epsilon)/2."""
        width = ball(self.epsilon)
        if epsilon <= -width:
            return -epsilon.expm1()
        gap = (epsilon / 2).exp() * (((width - epsilon) / 2).expm1()).nonnegative_part()
        inside = gap * gap / width.expm1()
        return inside if epsilon >= -width else inside.union(-epsilon.expm1())

    def profile_source(self) -> str:
        return "Dong, Durfee, Rogers 2020, section 3: delta(e) = (exp(r/2) - exp(e/2))^2/(exp(r) - 1), worst mechanism of range r"

    def below(self) -> Law:
        """The symmetric member of the class: randomized response with half the range."""
        return pure_response(self.epsilon / 2)
