"""Privacy losses written as events of the dp-accounting library, for its accountants to count the same thing."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.concentrated import Concentrated
from dpaudit.accounting.laws.discrete_laplace import DiscreteLaplace
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.laws.pairs import ExplicitPair
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.accounting.model.law import Law
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import shown
from dpaudit.interop.libraries import library


def to_dp_accounting(loss: PrivacyLoss, *, nearest: bool = False) -> Any:
    """The dp-accounting event of a privacy loss.

    Args:
      loss: built with the laws of dpaudit.accounting. Events hold floats, so that its parameters have to be floats too: state them
        so (`sigma=1.1`, which is read as the binary value it is), and not as decimal texts.
      nearest: True takes the nearest floats for all others, for a comparison that need not be exact.
    Returns:
      A `DpEvent`. `from_dp_accounting` gives the same loss back where sensitivities are 1; others are divided out of the noise. The
      adjacency is not part of an event; give it to the accountant.
    Raises:
      InvalidArgument: not a privacy loss (DPA105).
      Unsupported: dp-accounting is not installed (DPA205), or a law or a number that no event has (DPA202).
    Source: docs/adapters.md, "dp-accounting".
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> from dpaudit.errors import Unsupported
      >>> try:
      ...     said = str(to_dp_accounting(3 * gaussian(sigma=2)))
      ... except Unsupported as error:
      ...     said = error.code  # where the library is not installed
      >>> said in ("SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=2.0), count=3)", "DPA205")
      True
    """
    if not isinstance(loss, PrivacyLoss):
        raise InvalidArgument("DPA105", f"a privacy loss of dpaudit.accounting is expected, got a {type(loss).__name__}.")
    events = library("dp_accounting.dp_event")
    number = float if nearest else _float
    found = [(_event(events, law, number), count) for law, count in loss.parts]
    written = [event if count == 1 else events.SelfComposedDpEvent(event, count) for event, count in found]
    if len(written) == 1:
        return written[0]
    return events.ComposedDpEvent(written) if written else events.NoOpDpEvent()


def _event(events: ModuleType, law: Law, number: Callable[[Fraction], float]) -> Any:
    """Return the event of one law."""
    match law:
        case Gaussian(mu=mu) if mu:
            return events.GaussianDpEvent(number(1 / mu))
        case Laplace(scale=scale, sensitivity=sensitivity):
            return events.LaplaceDpEvent(number(scale / sensitivity))
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return events.DiscreteLaplaceDpEvent(number(1 / scale), sensitivity)
        case Concentrated(rho=rho):
            return events.ZCDpEvent(number(rho))
        case Sampled(law=inner, rate=rate, removing=True):
            return events.PoissonSampledDpEvent(number(rate), _event(events, inner, number))
        case Between(upper=Swapped(law=inner, rate=rate)):
            return events.SampledWithoutReplacementDpEvent(rate.denominator, rate.numerator, _event(events, inner, number))
        case ExplicitPair(common=((other, true), *rest, (true_too, other_too))) if (true, other) == (true_too, other_too) and other:
            buckets = 2 + sum(mass for mass, _ in rest) / other
            if buckets.denominator == 1 and true + (buckets - 1) * other == 1:
                return events.RandomizedResponseDpEvent(number(buckets * other), int(buckets))
    raise Unsupported("DPA202", f"dp-accounting has no event for {law.describe()}.")


def _float(value: Fraction) -> float:
    """Return a number as the float that it equals."""
    if value >= 2**1000 or Fraction(float(value)) != value:
        raise Unsupported("DPA202", f"{shown(value)} is not a float64, and events hold floats. State the loss with a float.")
    return float(value)
