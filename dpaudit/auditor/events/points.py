"""Choice of the point (epsilon, delta) of a claimed profile that is tested: the claim's own, or the one easiest to refute."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.claims import ApproxDP, Claim, PureDP
from dpaudit.exact import outward, rational

LEVELS: Final = (0.8, 0.5, 0.3, 0.15, 0.06, 0.02)
"""Points of a curve that are candidates: where delta has fallen to these shares of its value at epsilon 0."""

FIRST_LEVEL: Final = 1
"""Position of the line that is tested until the pilot has ended."""

_DIGITS: Final = 6
_HALVINGS: Final = 24
_CLEARLY: Final = 1.0
"""Standard deviations by which another line has to be easier than the first one, since the pilot estimates both."""


def lines_of(claim: Claim) -> tuple[ClaimPoint, ...]:
    """Points that the claim implies, each of which may be tested in its place.

    Source: Balle, Barthe, Gaboardi 2018: a guarantee is its profile delta(epsilon).
    """
    stated = stated_point(claim)
    if stated is not None:
        return (stated,)
    delta = claimed_delta(claim)
    whole = delta(Fraction(0))
    if whole == 0:
        return (ClaimPoint(Fraction(0), Fraction(0)),)
    epsilons = dict.fromkeys(_where(delta, whole * rational(level)) for level in LEVELS)
    return tuple(ClaimPoint(epsilon, delta(epsilon)) for epsilon in epsilons if delta(epsilon) < 1)


def stated_point(claim: Claim) -> ClaimPoint | None:
    """Return the one point of a pure or approximate claim; None for a curve."""
    match claim.guarantee:
        case PureDP(epsilon=epsilon):
            return ClaimPoint(rational(epsilon), Fraction(0))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ClaimPoint(rational(epsilon), rational(delta))
    return None


def claimed_delta(claim: Claim) -> Callable[[Fraction], Fraction]:
    """Return the function from epsilon to the delta that a claim allows, rounded up to a few digits; at most 1."""
    from dpaudit.accounting import loss_of_claim

    loss = loss_of_claim(claim)

    def delta(epsilon: Fraction) -> Fraction:
        upper = loss.delta(epsilon=epsilon).upper
        return Fraction(1) if upper >= 1 else Fraction(outward(upper, digits=_DIGITS, up=True))

    return delta


def first_line(lines: tuple[ClaimPoint, ...]) -> ClaimPoint:
    """Return the point that is tested before anything is known of the outputs."""
    return lines[min(FIRST_LEVEL, len(lines) - 1)]


def excess(ranked: RankedEvent, point: ClaimPoint, runs: int) -> float:
    """Predict by how many standard deviations fresh runs exceed the point on an event."""
    # The statistic of one run is 2 (1[label, hit] - e^epsilon 1[other label, hit]); its mean is at most delta under the claim.
    odds = math.exp(float(point.epsilon))
    mean = 2 * ranked.mass * (ranked.theta - odds * (1 - ranked.theta))
    square = 4 * ranked.mass * (ranked.theta + odds * odds * (1 - ranked.theta))
    return (mean - float(point.delta)) * math.sqrt(runs / max(square - mean * mean, 1e-300))


def easiest_line(lines: tuple[ClaimPoint, ...], rank: Callable[[ClaimPoint], tuple[RankedEvent, ...]], runs: int) -> ClaimPoint:
    """Choose the line to test in the final runs: the first one unless another is clearly easier to refute."""

    def margin(line: ClaimPoint) -> float:
        events = rank(line)
        return excess(events[0], line, runs) if events else -math.inf

    first = first_line(lines)
    return max(lines, key=lambda line: (margin(line) + (_CLEARLY if line == first else 0.0), line == first))


def _where(delta: Callable[[Fraction], Fraction], level: Fraction) -> Fraction:
    """Find an epsilon of few digits at which the profile has fallen to about `level`."""
    low, high = Fraction(0), Fraction(1, 1024)
    while delta(high) > level and high < 2**10:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > level else (low, middle)
        if high - low < high / 512:
            break
    return Fraction(outward(high, digits=3, up=True))
