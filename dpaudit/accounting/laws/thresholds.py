"""Profiles of laws on the integers whose loss increases with the output: the best event is a threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flint import arb

THRESHOLD_SOURCE: Final = (
    "loss increasing in the output: delta(e) = P(x >= t) - exp(e) Q(x >= t) at the threshold where it passes e"
)
"""Why a threshold is the best event."""


def best_threshold(boundary: arb, gain: Callable[[int], arb]) -> arb:
    """Ball around the maximum of `gain` over integer thresholds, reached at the first integer beyond `boundary`.

    Where the ball `boundary` does not decide between two neighbouring integers, the gain is the same at both up to what the
    ball leaves open, and the larger one is the maximum. A boundary that is not known to within one integer decides nothing.
    """
    low, high = boundary.lower().floor().unique_fmpz(), boundary.upper().floor().unique_fmpz()
    if low is None or high is None or high - low > 1:
        return arb(0).union(arb(1))
    first = gain(int(low) + 1)
    return first if low == high else first.max(gain(int(high) + 1))
