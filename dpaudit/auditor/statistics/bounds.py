"""Bounds from the counts of one event: an exact binomial over random labels, enclosed in ball arithmetic, corrected for delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball, ball_endpoints, float_outward, in_range, integer, non_negative, rational, working_precision
from dpaudit.results import Counts

if TYPE_CHECKING:
    from flint import arb

MASS_SHARE: Final = Fraction(1, 10)
"""Share of alpha that pays for the lower bound on the event's mass when delta > 0; the rest pays for the labels."""

_FEW_BITS: Final = 96
"""Enough to compare most tails with a level, in a third of the time that `_BITS` take."""

_BITS: Final = 160
"""Precision of every bound; where it does not decide a comparison, the bound that claims less is taken."""

_SMALLEST_LEVEL: Final = 1e-300
_BISECTIONS: Final = 60
_SLACKS: Final = (1e-9, 1e-6, 1e-3, 0.1)
"""Excesses over the level that floats find, tried one after another: each is certified, so the first that refutes is valid."""

_LARGEST_EXPONENT: Final = 700.0
"""Largest epsilon whose exponential is a float."""

_SURE: Final = 50.0
"""Nats of Chernoff's bound, e**-50, below which 1 less the p-value is lost in the rounding of 1."""

_MOST_SUMMED: Final = 2**20
_TERMS_BETWEEN_LOOKS: Final = 8
"""A tail is summed up to so many trials; whether the rest is negligible is asked every few terms, since it costs as much as one."""


@dataclass(frozen=True)
class ClaimPoint:
    """The point of a claimed profile that is under test: epsilon in nats, at least 0, and delta in [0, 1), both exact."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        """Store both parts exactly."""
        object.__setattr__(self, "epsilon", non_negative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", in_range(self.delta, "delta", lower=0, upper=1, upper_open=True))


def clopper_pearson_lower(successes: int, trials: int, alpha: Exact) -> Fraction:
    """Compute a lower confidence bound on a probability from independent trials (Clopper and Pearson 1934)."""
    level = _level(alpha)
    trials = integer(trials, "trials", lower=0)
    successes = integer(successes, "successes", lower=0, upper=trials)
    if successes == 0:
        return Fraction(0)
    from scipy.special import betaincinv

    guess = float(betaincinv(successes, trials - successes + 1, float(level)))
    gap = 2.0**-49
    while True:
        candidate = Fraction(guess * (1 - gap)) if math.isfinite(guess) and gap < 1 else Fraction(0)
        if candidate == 0 or _tail_is_at_most(successes, trials, candidate, level):
            return candidate
        gap *= 4


def clopper_pearson_upper(successes: int, trials: int, alpha: Exact) -> Fraction:
    """Compute an upper confidence bound on a probability from independent trials (Clopper and Pearson 1934)."""
    trials = integer(trials, "trials", lower=0)
    successes = integer(successes, "successes", lower=0, upper=trials)
    return 1 - clopper_pearson_lower(trials - successes, trials, alpha)


def epsilon_lower_bound(counts: Counts, *, delta: Exact, alpha: Exact) -> Fraction | None:
    """Compute a lower confidence bound on epsilon from the counts of one event that was fixed before the runs."""
    _check(counts)
    failure = in_range(delta, "delta", lower=0, upper=1, upper_open=True)
    level = _level(alpha)
    if failure == 0:
        theta, spared = clopper_pearson_lower(counts.ones, counts.ones + counts.zeros, level), Fraction(0)
    else:
        mass, theta = _mass_and_share(counts, level)
        spared = failure / (2 * mass) if mass else Fraction(1)
    if theta <= spared:
        return None
    with working_precision(_BITS):
        bound = ball((theta - spared) / (1 - theta)).log()
        return Fraction(float_outward(ball_endpoints(bound)[0], up=False))


def mu_lower_bound(counts: Counts, alpha: Exact) -> Fraction | None:
    """Compute a lower confidence bound on mu of Gaussian privacy from the counts of one event that was fixed before the runs.

    Source: Dong, Roth, Su 2022: mu is at least the distance of the normal quantiles of an event on the two datasets.
    """
    _check(counts)
    from flint import arb

    level = _level(alpha) / 2
    own = min(Fraction(1), 2 * clopper_pearson_lower(counts.ones, counts.runs, level))
    other = 2 * clopper_pearson_upper(counts.zeros, counts.runs, level)
    if not 0 < other < own < 1:
        return None
    with working_precision(_BITS):
        first, second = (ball(2 * share - 1).erfinv() for share in (own, other))
        return Fraction(float_outward(ball_endpoints(arb(2).sqrt() * (first - second))[0], up=False))


def p_value(counts: Counts, *, point: ClaimPoint) -> float:
    """Compute a p-value of "P(S) <= e^epsilon Q(S) + delta" from the counts of one event that was fixed before the runs.

    For delta = 0 it is the exact binomial tail of the labels among the hits. For delta > 0 it is a level at which
    `epsilon_lower_bound` exceeds the claimed epsilon; these tests are nested, so that this is a p-value.
    """
    _check(counts)
    if counts.ones == 0 or _says_nothing(counts, point):
        return 1.0
    if point.delta == 0:
        with working_precision(_BITS):
            odds = ball(point.epsilon).exp()
            tail = upper_tail(counts.ones, counts.ones + counts.zeros, odds / (1 + odds))
            return min(1.0, float_outward(ball_endpoints(tail)[1], up=True))
    near = _least_level(lambda level: _refutes_in_floats(counts, point, level))  # floats only find where to start
    for level in (near * (1 + slack) for slack in _SLACKS):
        if level >= 1:
            return 1.0
        if _refutes(counts, point, level):
            return level
    return _least_level(lambda level: _refutes(counts, point, level))


def profile_lower_bounds(counts: Counts, epsilons: Sequence[Exact], alpha: Exact) -> list[float]:
    """Compute lower bounds on delta(epsilon) from one event, valid for all epsilons at once."""
    _check(counts)
    places = [rational(epsilon, "epsilon") for epsilon in epsilons]
    mass, theta = _mass_and_share(counts, _level(alpha))
    with working_precision(_BITS):
        deltas = [ball(2 * mass) * (ball(theta) - ball(place).exp() * ball(1 - theta)) for place in places]
        return [min(1.0, max(0.0, float_outward(ball_endpoints(delta)[0], up=False))) for delta in deltas]


def _mass_and_share(counts: Counts, level: Fraction) -> tuple[Fraction, Fraction]:
    """Lower bounds on the probability of the event and on the share of label 1 in it, which hold together at a level."""
    hits = counts.ones + counts.zeros
    mass = clopper_pearson_lower(hits, counts.runs, level * MASS_SHARE)
    return mass, clopper_pearson_lower(counts.ones, hits, level * (1 - MASS_SHARE))


def _says_nothing(counts: Counts, point: ClaimPoint) -> bool:
    """True if labels 1 are so rare among the hits that Chernoff's bound puts the p-value within a rounding of 1."""
    # A shortcut past a sum that is slow where the claim is far from the counts; 1 is a p-value whatever is found here.
    hits, epsilon = counts.ones + counts.zeros, float(min(point.epsilon, Fraction(_LARGEST_EXPONENT)))
    seen = counts.ones / hits
    if seen >= 1 / (1 + math.exp(-epsilon)):
        return False
    entropy = -seen * math.log(seen) - (1 - seen) * math.log1p(-seen)
    return hits * ((1 - seen) * epsilon + math.log1p(math.exp(-epsilon)) - entropy) > _SURE


def _least_level(refutes: Callable[[float], bool]) -> float:
    """Find about the least level at which a test refutes, always one at which it does; 1 where there is none."""
    low, high = math.log(_SMALLEST_LEVEL), 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(math.exp(middle)) else (middle, high)
    return math.exp(high) if high < 0 else 1.0


def _refutes_in_floats(counts: Counts, point: ClaimPoint, level: float) -> bool:
    """Decide as `_refutes` does, but with rounding: only to find a level to start from."""
    from scipy.special import betainc, betaincinv

    hits, share, odds = counts.ones + counts.zeros, float(MASS_SHARE), math.exp(min(float(point.epsilon), _LARGEST_EXPONENT))
    mass = float(betaincinv(hits, counts.runs - hits + 1, level * share))
    if not mass > point.delta / 2:
        return False
    limit = (odds + float(point.delta) / (2 * mass)) / (1 + odds)
    return bool(betainc(counts.ones, counts.zeros + 1, min(limit, 1.0)) <= level * (1 - share))


def _refutes(counts: Counts, point: ClaimPoint, level: float) -> bool:
    """True if the mass-corrected test of a level refutes the point, certified."""
    exact = Fraction(level)
    hits = counts.ones + counts.zeros
    mass = clopper_pearson_lower(hits, counts.runs, exact * MASS_SHARE)
    if mass <= point.delta / 2:
        return False
    with working_precision(_BITS):
        odds = ball(point.epsilon).exp()
        limit = (odds + ball(point.delta / (2 * mass))) / (1 + odds)
        return bool(limit < 1 and upper_tail(counts.ones, hits, limit) <= ball(exact * (1 - MASS_SHARE)))


def _tail_is_at_most(successes: int, trials: int, probability: Fraction, level: Fraction) -> bool:
    """True if P[Bin(trials, probability) >= successes] <= level, certified."""
    for bits in (_FEW_BITS, _BITS):
        with working_precision(bits):
            tail, limit = upper_tail(successes, trials, ball(probability)), ball(level)
            if tail <= limit or tail > limit:
                return bool(tail <= limit)
    return False


def _level(alpha: Exact) -> Fraction:
    """`alpha` as an exact error probability strictly between 0 and 1."""
    return in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True)


def _check(counts: Counts) -> None:
    """Refuse counts that no runs can have."""
    if min(counts.ones, counts.zeros) < 0 or counts.ones + counts.zeros > counts.runs:
        raise InvalidArgument(
            "DPA103", f"hits must be between 0 and the runs, got {counts.ones} and {counts.zeros} of {counts.runs} runs."
        )


def upper_tail(successes: int, trials: int, probability: arb) -> arb:
    """Enclose P[Bin(trials, probability) >= successes] at the working precision.

    The side on which the terms fall is summed until a geometric series bounds the rest, after about the square root of the trials.
    """
    # Where that is slow, the regularised incomplete beta function gives the same.
    if trials > _MOST_SUMMED:
        return probability.beta_lower(successes, trials - successes + 1, 1)
    failure = 1 - probability
    if probability * (trials - successes) < (successes + 1) * failure:
        return _falling_tail(successes, trials, probability, failure)
    return 1 - _falling_tail(trials - successes + 1, trials, failure, probability)


def _falling_tail(successes: int, trials: int, probability: arb, failure: arb) -> arb:
    """Sum the tail where each of its terms is smaller than the one before."""
    from flint import arb, ctx

    odds, negligible = probability / failure, arb(2) ** -ctx.prec
    total = term = arb(1)
    for place in range(successes, trials):
        term = term * odds * (trials - place) / (place + 1)
        total += term
        if place % _TERMS_BETWEEN_LOOKS == 0 and term < negligible:
            ratio = odds * (trials - place - 1) / (place + 2)
            total = total.union(total + term * ratio / (1 - ratio))
            break
    return arb.bin_uiui(trials, successes) * probability**successes * failure ** (trials - successes) * total
