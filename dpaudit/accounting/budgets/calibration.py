"""Calibration: the noise parameter that just meets a budget, certified from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.accounting.model.search import log_of
from dpaudit.accounting.privacy_loss import PrivacyLoss
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Enclosure, Exact, in_range, instance_of, positive, shown

MOST_TRIALS: Final = 200
MOST_GUESSES: Final = 40  # Parameters that are tried in floats before anything is certified
GUESSED: Final = 1e-9  # Relative accuracy of the guess
CORRECTIONS: Final = 4  # Pairs of certificates after which the search is one by certified ends alone


@dataclass(frozen=True)
class Calibration:
    """A parameter that meets a budget and one, close to it, that is not known to.

    Args:
      parameter: meets the budget by the certified upper end.
      beyond: the parameter on the other side, at the relative distance that was asked for or where the range ends.
      reached: delta (for a budget with delta = 0, epsilon) at `parameter`.
      missed: the same at `beyond`.
      tight: True if `beyond` certainly breaks the budget, by its lower end; otherwise the accounting leaves it open.
    Source: docs/budgets.md.
    Example:
      >>> from dpaudit.accounting import laplace
      >>> found = calibrate(lambda scale: laplace(scale=scale), epsilon="1/2", delta=0, low=1, high=10)
      >>> round(float(found.parameter), 5), found.tight
      (2.0, True)
    """

    parameter: Fraction
    beyond: Fraction
    reached: Enclosure
    missed: Enclosure
    tight: bool


def calibrate(
    make: Callable[[Fraction], PrivacyLoss],
    *,
    epsilon: Exact,
    delta: Exact,
    low: Exact = "1e-3",
    high: Exact = "1e6",
    increasing: bool = False,
    precision: Exact = "1e-6",
) -> Calibration:
    """Find the least noise (or, if the loss increases with the parameter, the largest parameter) that meets a budget.

    Args:
      make: the privacy loss at a parameter, monotone in it; the parameter is an exact positive Fraction.
      epsilon: budget in nats, exact, at least 0.
      delta: budget, exact, in [0, 1), dimensionless.
      low: one end of the range searched, exact, from 1e-300 to 1e300, in the units of the parameter; 1e-3 unless given.
      high: the other end, above `low`; 1e6 unless given.
      increasing: whether the loss grows with the parameter (a sampling rate, a sensitivity) instead of falling (a noise scale).
      precision: relative distance of the two parameters of the answer, exact, from 1e-12 to 1/2.
    Returns:
      A `Calibration`: its parameter satisfies the budget by the upper end of the accounting.
    Raises:
      InvalidArgument: a number is none (DPA101, DPA102), out of range (DPA103) or not positive (DPA104), or `make` gives no
        privacy loss (DPA105).
      Unsupported: no parameter of the range meets the budget, or every one does, so that the range must be moved (DPA202).
    Source: docs/budgets.md.
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> found = calibrate(lambda sigma: 100 * gaussian(sigma=sigma), epsilon=1, delta="1e-6")
      >>> round(float(found.parameter), 3), found.tight
      (42.247, True)
    """
    most = in_range(epsilon, "epsilon", lower=0, upper=2**64)
    budget = _Budget(most, in_range(delta, "delta", lower=0, upper=1, upper_open=True))
    near, far = (in_range(positive(end, name), name, lower="1e-300", upper="1e300") for end, name in ((low, "low"), (high, "high")))
    if not callable(make):
        raise InvalidArgument("DPA105", f"make must be a function from a parameter to a loss, got a {type(make).__name__}.")
    if near >= far:
        raise InvalidArgument("DPA103", f"low must be below high, got low={shown(near)} and high={shown(far)}. Exchange them.")
    instance_of(increasing, bool, "increasing")
    apart = in_range(precision, "precision", lower="1e-12", upper="1/2")
    good, bad = (near, far) if increasing else (far, near)
    guess = _guess(budget, make, good, bad)  # `make` is called between the two only, ends included
    if guess is not None:
        found = _certified(budget, make, guess, apart, good, bad)
        if found is not None:
            return found
    if not budget.is_met(make, good):
        if budget.is_met(make, bad):
            remedy = "falls, so leave increasing out" if increasing else "grows, so pass increasing=True"
            raise Unsupported("DPA202", f"the budget is met at {shown(bad)} and not at {shown(good)}: the loss {remedy}.")
        raise Unsupported("DPA202", f"the budget is not met even at {shown(good)}. Widen the range or the budget.")
    if budget.is_met(make, bad):
        raise Unsupported("DPA202", f"the budget is met all over the range, even at {shown(bad)}. Widen the range.")
    end = bad
    good, bad = _close_in(budget, make, good, bad, apart / 4)
    return _pair(budget, make, good, apart, end)


def _pair(budget: _Budget, make: Callable[[Fraction], PrivacyLoss], good: Fraction, apart: Fraction, end: Fraction) -> Calibration:
    """A parameter, the one beyond it in the direction of the end of the range, and what both reach."""
    beyond = min(good * (1 + apart), end) if good < end else max(good * (1 - apart), end)
    reached, missed = budget.number(make, good), budget.number(make, beyond)
    return Calibration(good, beyond, reached, missed, tight=missed.lower > budget.limit)


def _certified(
    budget: _Budget, make: Callable[[Fraction], PrivacyLoss], guess: Fraction, apart: Fraction, good_end: Fraction, end: Fraction
) -> Calibration | None:
    """The answer next to a guess, moved as far as its own numbers say it is off; None where it is not certain on both sides."""
    back = 1 if good_end > end else -1
    good = _rounded(guess * (1 + back * apart / 8), apart)
    for _ in range(CORRECTIONS):
        if not min(good_end, end) <= good <= max(good_end, end) or good == end:
            return None
        found = _pair(budget, make, good, apart, end)
        if found.reached.upper <= budget.limit and found.tight:
            return found
        above, below = _log(found.reached.upper, budget.limit), _log(found.missed.lower, budget.limit)
        if not (math.isfinite(above) and math.isfinite(below)) or below <= above:
            return None
        moved = above / (below - above) + 1 / 8  # in units of `apart`: delta is a power of the parameter over so short a way
        good = _rounded(good * (1 + back * Fraction(moved) * apart), apart)
    return None


def _guess(budget: _Budget, make: Callable[[Fraction], PrivacyLoss], good: Fraction, bad: Fraction) -> Fraction | None:
    """Where floats say that the budget is just met, strictly between the two; None where they say nothing."""
    from dpaudit.accounting.engines.estimates import estimated_log_delta

    if not budget.delta:
        return None
    target = log_of(budget.delta)

    def excess(logarithm: float) -> float:
        """log(delta/target) at a parameter, infinite where floats do not hold it."""
        loss = budget.loss(make, min(max(Fraction(math.exp(logarithm)), min(good, bad)), max(good, bad)))
        found = estimated_log_delta(loss.composition, budget.epsilon)
        return math.inf if found is None else found - target

    low, high = math.log(good), math.log(bad)
    at_low, at_high = excess(low), excess(high)
    if not at_low <= 0 < at_high:
        return None
    # The Illinois rule: an end that stays twice in a row counts half. Far away log(delta) is huge, so its size is compressed.
    kept, weight = "", 1.0  # the end that stayed, and how much the high one counts beside the low one
    for trial in range(MOST_GUESSES):
        if abs(high - low) <= GUESSED:
            break
        share = _share(math.asinh(at_low), weight * math.asinh(at_high)) if trial > 1 else 0.5
        middle = low + min(max(share, 1e-3), 1 - 1e-3) * (high - low)
        found = excess(middle)
        if abs(found) <= GUESSED:
            return Fraction(math.exp(middle))
        if found <= 0:
            low, at_low, weight, kept = middle, found, weight / 2 if kept == "high" else 1.0, "high"
        else:
            high, at_high, weight, kept = middle, found, weight * 2 if kept == "low" else 1.0, "low"
    return Fraction(math.exp(low)) if math.isfinite(at_high) else None


def _rounded(value: Fraction, apart: Fraction) -> Fraction:
    """A parameter with few digits, moved by much less than `apart`."""
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - 12 - math.ceil(-math.log2(apart)))
    return round(value / unit) * unit


@dataclass(frozen=True)
class _Budget:
    """A target to meet: delta at epsilon, or epsilon itself where delta is 0."""

    epsilon: Fraction
    delta: Fraction

    @property
    def limit(self) -> Fraction:
        """The largest allowed value of `number`."""
        return self.delta or self.epsilon

    def loss(self, make: Callable[[Fraction], PrivacyLoss], parameter: Fraction) -> PrivacyLoss:
        """The loss at a parameter; DPA105 for anything else."""
        loss = make(parameter)
        if not isinstance(loss, PrivacyLoss):
            raise InvalidArgument("DPA105", f"make must give a loss of dpaudit.accounting, got a {type(loss).__name__}.")
        return loss

    def number(self, make: Callable[[Fraction], PrivacyLoss], parameter: Fraction) -> Enclosure:
        """The certified number at a parameter."""
        loss = self.loss(make, parameter)
        return loss.delta(epsilon=self.epsilon) if self.delta else loss.epsilon(delta=0)

    def is_met(self, make: Callable[[Fraction], PrivacyLoss], parameter: Fraction) -> bool:
        """True if a parameter certainly meets the budget."""
        return bool(self.number(make, parameter).upper <= self.limit)


def _close_in(
    budget: _Budget, make: Callable[[Fraction], PrivacyLoss], good: Fraction, bad: Fraction, apart: Fraction
) -> tuple[Fraction, Fraction]:
    """A parameter that meets the budget and one, at most `apart` away relatively, that does not by its upper end."""
    # Every decision is that of the certified upper end; floats choose only where to look next: on a logarithmic scale, between the
    # middle and the root of the secant of log(number).
    excess = {end: _log(budget.number(make, end).upper, budget.limit) for end in (good, bad)}
    for trial in range(MOST_TRIALS):
        if abs(good - bad) <= apart * min(good, bad):
            break
        share = _share(excess[good], excess[bad]) if trial % 3 else 0.5
        middle = _between(good, bad, share, apart)
        upper = budget.number(make, middle).upper
        excess[middle] = _log(upper, budget.limit)
        good, bad = (middle, bad) if upper <= budget.limit else (good, middle)
    return good, bad


def _share(good: float, bad: float) -> float:
    """Return how far the secant's root lies from the good end towards the bad one, from 0 to 1."""
    if not (math.isfinite(good) and math.isfinite(bad)) or bad <= good:
        return 0.5
    return -good / (bad - good)


def _between(good: Fraction, bad: Fraction, share: float, apart: Fraction) -> Fraction:
    """A parameter strictly between the two, with few digits, at the share of their logarithmic distance, nudged off the ends."""
    span = math.log(bad / good)
    nudge = min(0.5, float(apart) / (3 * abs(span)))
    share = min(max(share + (nudge if share < 0.5 else -nudge), nudge), 1 - nudge)
    middle = good * Fraction(math.exp(span * share))
    least = min(abs(bad - good), middle)
    unit = Fraction(2) ** (least.numerator.bit_length() - least.denominator.bit_length() - 20)
    rounded = round(middle / unit) * unit
    return rounded if min(good, bad) < rounded < max(good, bad) else (good + bad) / 2


def _log(value: Fraction | float, limit: Fraction) -> float:
    """log(value / limit) to steer by; infinite where that is no finite number."""
    if isinstance(value, float) or value <= 0 or limit == 0:
        return math.inf if value else -math.inf
    return log_of(value / limit)
