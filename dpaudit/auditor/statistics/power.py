"""Power of the final test: the least violation that one event of given mass reveals with given probability."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dpaudit.auditor.statistics.binning import Floats
from dpaudit.auditor.statistics.bounds import MASS_SHARE, ClaimPoint
from dpaudit.exact import in_range, integer
from dpaudit.targets import MOST_RUNS

_STRATA: Final = 400
"""Numbers of hits that stand for all likely ones, in strata of equal probability where there are more."""

_BISECTIONS: Final = 50
_HALVINGS: Final = 8
"""Enough for two digits of a probability."""

_LARGEST_EPSILON: Final = 40.0
_UNLIKELY: Final = 1e-12


def detectable_epsilon(*, mass: float, runs: int, point: ClaimPoint, alpha: float, probability: float = 0.9) -> float | None:
    """Least true epsilon that the final one-binomial test refutes with the given probability.

    The alternative keeps the event's total mass m and puts the pair exactly on epsilon' at the tested delta: the label of a hit
    is 1 with probability (e^epsilon' + delta/(2m)) / (1 + e^epsilon'). Hits are binomial in the runs, labels in the hits.
    """
    in_range(mass, "mass", lower=0, upper=1, lower_open=True)
    in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True)
    in_range(probability, "probability", lower=0, upper=1, lower_open=True, upper_open=True)
    hits, weights = _hits(mass, integer(runs, "runs", lower=1, upper=MOST_RUNS))
    critical = _critical_labels(hits, runs, point, alpha)
    drain = float(point.delta) / (2 * mass)

    def power(epsilon: float) -> float:
        theta = (1 + drain * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
        return float(weights @ _at_least(critical, hits, min(theta, 1.0)))

    low, high = float(point.epsilon), max(_LARGEST_EPSILON, float(point.epsilon) + _LARGEST_EPSILON)
    if drain > 1 or power(high) < probability:
        return None
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle) < probability else (low, middle)
    return high


def detectable_share(*, runs: int, point: ClaimPoint, alpha: float, probability: float = 0.9) -> float | None:
    """Least probability of an event on one dataset, impossible on the other, that the test refutes with the given probability."""
    from scipy.special import betaincinv

    if point.delta == 0:
        needed = max(1, math.ceil(math.log(alpha) / -math.log1p(math.exp(-float(point.epsilon)))))
        return float(min(1.0, 2 * betaincinv(needed, runs - needed + 1, probability))) if needed <= runs / 2 else None
    low, high = math.log(max(float(point.delta) / 2, 1 / runs)), math.log(0.5)
    if not _finds(math.exp(high), runs, point, alpha, probability):
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _finds(math.exp(middle), runs, point, alpha, probability) else (middle, high)
    return 2 * math.exp(high)


def _finds(mass: float, runs: int, point: ClaimPoint, alpha: float, probability: float) -> bool:
    """True if an event of this mass whose hits are all of one label refutes with the given probability."""
    hits, weights = _hits(mass, runs)
    return bool(weights[_critical_labels(hits, runs, point, alpha) <= hits].sum() >= probability)


def _hits(mass: float, runs: int) -> tuple[Floats, Floats]:
    """Numbers of hits that represent their binomial law, with weights: all likely ones, or the middles of strata."""
    trials = np.float64(runs)
    low, high = _critical_count(trials, mass, np.array([1 - _UNLIKELY, _UNLIKELY])) - 1
    if high - low < _STRATA:
        hits = np.arange(low, high + 1)
        return hits, _at_least(hits, trials, mass) - _at_least(hits + 1, trials, mass)
    return _critical_count(trials, mass, 1 - (np.arange(_STRATA) + 0.5) / _STRATA) - 1, np.full(_STRATA, 1 / _STRATA)


def _critical_labels(hits: Floats, runs: int, point: ClaimPoint, alpha: float) -> Floats:
    """Least number of labels 1 that refutes, for each number of hits; one more than the hits where none does."""
    from scipy.special import betaincinv

    sigma = 1 / (1 + math.exp(-float(point.epsilon)))
    if point.delta == 0:
        return _critical_count(hits, sigma, alpha)
    share = float(MASS_SHARE)
    least = betaincinv(np.maximum(hits, 1), runs - np.maximum(hits, 1) + 1, share * alpha)
    limit = sigma + (1 - sigma) * float(point.delta) / (2 * least)
    return np.where((hits > 0) & (limit < 1), _critical_count(hits, np.minimum(limit, 1.0), (1 - share) * alpha), hits + 1)


def _critical_count(trials: Floats | np.float64, probability: Floats | float, level: Floats | float) -> Floats:
    """Least k for which P[Bin(trials, probability) >= k] is at most `level` (below 1), by bisection; at most trials + 1."""
    low, high, probability, level = np.broadcast_arrays(-0.0 * trials, trials + 1.0, probability, level)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        small = _at_least(middle, trials, probability) <= level
        low, high = np.where(small, low, middle), np.where(small, middle, high)
    return high


def _at_least(successes: Floats, trials: Floats | np.float64, probability: Floats | float) -> Floats:
    """P[Bin(trials, probability) >= successes], without scipy.stats, whose import takes longer than many an audit."""
    from scipy.special import betainc

    some = np.clip(successes, 1, np.maximum(trials, 1))
    tail = betainc(some, np.maximum(trials, 1) - some + 1, probability)
    return np.where(successes < 1, 1.0, np.where(successes > trials, 0.0, tail))
