"""Laws of randomized-response shape: the losses are +epsilon, -epsilon, 0 and perhaps infinity; pure and approximate DP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.law import Atom, Atoms
from dpaudit.accounting.loss import PrivacyLoss, single
from dpaudit.accounting.values import LossValue
from dpaudit.claims import Adjacency
from dpaudit.exact import Exact, ball, fmpq_of, in_range, integer, non_negative, positive, shown


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


def randomized_response(epsilon: Exact, *, categories: int = 2, adjacency: Adjacency | str = "replace_one") -> PrivacyLoss:
    """Privacy loss of k-ary randomized response, which keeps a category with weight e^epsilon against 1 for each other.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      categories: number of categories, at least 2.
      adjacency: the neighbouring relation under which a person's category may change.
    Returns:
      A loss that is exact, also after composition.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102, DPA105), not positive (DPA104) or out of range (DPA103).
    Source: Warner 1965; Kairouz, Bonawitz, Ramage 2016 for k categories.
    Example:
      >>> print(randomized_response(1, categories=4).epsilon(delta=0))
      1
    """
    exact, count = positive(epsilon, "epsilon"), integer(categories, "categories", lower=2)
    return single(answered(exact, count), adjacency)


def answered(epsilon: Fraction, categories: int) -> Response:
    """The law of a randomized response: two answers tell, the others do not."""
    name = f"randomized_response(epsilon={shown(epsilon)}, categories={categories})"
    return Response(epsilon, name, others=Fraction(categories - 2), categories=categories)


def pure_response(epsilon: Fraction) -> Response:
    """The worst pair of a pure promise: binary randomized response."""
    return Response(epsilon, f"pure_dp(epsilon={shown(epsilon)})")


def pure_dp(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss that pure epsilon-DP allows.

    Args:
      epsilon: privacy parameter in nats, exact, at least 0.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      The loss of binary randomized response, which every epsilon-DP mechanism stays below; exact after composition.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or negative (DPA103).
    Source: Kairouz, Oh, Viswanath 2015, Theorem 3.2.
    Example:
      >>> print((10 * pure_dp("1/10")).epsilon(delta="1e-3"))
      [0.753573, 0.753574]
    """
    return single(pure_response(non_negative(epsilon, "epsilon")), adjacency)


def approx_dp(epsilon: Exact, *, delta: Exact, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss that (epsilon, delta)-DP allows.

    Args:
      epsilon: privacy parameter in nats, exact, at least 0.
      delta: failure probability, exact, in [0, 1), dimensionless.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      The loss of randomized response that reveals everything with probability delta; exact after composition.
    Raises:
      InvalidArgument: a parameter is not a finite number (DPA101, DPA102) or out of range (DPA103).
    Source: Kairouz, Oh, Viswanath 2015, Theorem 3.2.
    Example:
      >>> print(approx_dp(1, delta="1e-6").epsilon(delta="1e-6"))
      1
    """
    exact, failure = non_negative(epsilon, "epsilon"), in_range(delta, "delta", lower=0, upper=1, upper_open=True)
    return single(Response(exact, f"approx_dp(epsilon={shown(exact)}, delta={shown(failure)})", infinity=failure), adjacency)
