"""Events read as those of Gaussian noise, which breaks an approximate claim only at outputs far rarer than most that are tested.

It keeps claims from being called consistent; no refutation rests on it.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.claims import RDP, ZCDP, ApproxDP, Guarantee
from dpaudit.exact import rational
from dpaudit.results import Counts

_DOUBT: Final = 2.0
"""Standard errors by which the distance of an event has to exceed what the claim allows."""

_SMALL_DELTA: Final = 1 / 100

_BISECTIONS: Final = 50
_LARGEST_MU: Final = 50.0


def shown_distance(counts: Counts) -> float:
    """Return the mu that the counts of an event that was fixed before show, less some standard errors; at least 0."""
    mu, error = distance_of(counts)
    return max(0.0, mu - _DOUBT * error)


def distance_of(counts: Counts) -> tuple[float, float]:
    """Return the mu at which Gaussian noise gives an event its counts, and its standard error; 0 where it holds all runs."""
    from scipy.special import ndtri

    total = counts.runs / 2 + 1
    own, other = ((hits + 0.5) / total for hits in (counts.ones, counts.zeros))
    if max(own, other) >= 1:
        return 0.0, 0.0
    ends = ndtri([own, other])
    slopes = np.exp(-0.5 * ends**2) / math.sqrt(2 * math.pi)
    error = math.sqrt(sum(share * (1 - share) / total / slope**2 for share, slope in zip((own, other), slopes, strict=True)))
    return float(ends[0] - ends[1]), error


def claimed_distance(guarantee: Guarantee, point: ClaimPoint) -> float | None:
    """Return the largest mu of Gaussian noise that meets a claim; None for one that such noise breaks at common outputs, or always.

    Source: Bun and Steinke 2016, Lemma 2.5, for zCDP and Renyi divergences.
    """
    match guarantee:
        case ApproxDP() if 0 < point.delta < _SMALL_DELTA:
            return allowed_distance(point)
        case ZCDP(rho=rho):
            return math.sqrt(2 * float(rational(rho)))
        case RDP(orders=orders):
            return min(math.sqrt(2 * float(bound) / float(order)) for order, bound in orders)
    return None


def allowed_distance(point: ClaimPoint) -> float:
    """Return the largest mu of Gaussian noise that meets an approximate claim.

    Source: Balle and Wang 2018, Theorem 8.
    """
    from scipy.special import log_ndtr, ndtr

    epsilon, delta = float(point.epsilon), float(point.delta)
    low, high = 0.0, _LARGEST_MU
    for _ in range(_BISECTIONS):
        mu = (low + high) / 2
        least = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
        low, high = (mu, high) if least <= delta else (low, mu)
    return low
