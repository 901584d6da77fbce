"""Searches: where a certified function falls to a target, where a convex one is least, which threshold is best."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpaudit.exact import Endpoint

RELATIVE_WIDTH: Final = Fraction(1, 1 << 34)  # The search stops when the bracket is this narrow relative to its upper end
CLOSE: Final = Fraction(1, 1 << 12)  # The same from which on it may stop where the function is near the target
SMALLEST_POINT: Final = Fraction(1, 1 << 256)  # The search does not look below this point: the lower end is then 0
MOST_STEPS: Final = 8  # Steps from a guess before the whole range is searched
LONGEST_STEP: Final = 2.0**30  # Factor by which one of them may be longer than the one before
OVERSHOT: Final = 2.0**-6  # How far they go beyond where the function is expected to cross, relative to their length
CURVED: Final = 4  # About the error of a secant of relative length 1, relative to the distance of its root from its nearer end
Guess: TypeAlias = tuple[Fraction, float]  # Where a search begins, and about the slope of the logarithm there, 0 if it is not known
LARGEST_POINT: Final = Fraction(1 << 1024)  # The search does not look above this point: the upper end is then infinite


def crossing(
    value: Callable[[Fraction], Endpoint],
    target: Fraction,
    most: Endpoint,
    near: Guess | None = None,
    *,
    slack: tuple[float, float] = (0.0, 0.0),
) -> tuple[Endpoint, Endpoint]:
    """A point where the function exceeds `target` (0 if there is none) and a point where it does not."""
    # `most` is a point from which on the function is known not to exceed the target, infinity when there is none; `near` is a
    # guess. Every point is decided by evaluating the function; floats only choose where to look next. The search also ends where
    # the logarithm of the function at the lower or upper point is within the first or second `slack` of that of the target, if the
    # points are close, too: where the function hardly falls, that alone says little.
    found_near = None if near is None else _around(value, target, near, most)
    if found_near is None and value(Fraction(0)) <= target:
        return Fraction(0), Fraction(0)
    low, high = found_near or (Fraction(0), most if isinstance(most, Fraction) else Fraction(1))
    while found_near is None and isinstance(most, float) and value(high) > target:
        low, high = high, high * high * 2
        if high > LARGEST_POINT:
            return low, math.inf
    excess_low, excess_high = _log_ratio(value(low), target), _log_ratio(value(high), target)
    slow = 0
    while high - low > high * RELATIVE_WIDTH and high > SMALLEST_POINT:
        if high - low < high * CLOSE and (excess_low <= slack[0] != 0 or 0 < -excess_high <= slack[1]):
            break
        middle = None if slow % 3 == 2 else _secant(low, high, excess_low, excess_high)
        middle = _bisection(low, high, slow) if middle is None else middle
        before, found = high - low, value(middle)
        if found > target:
            low, excess_low = middle, _log_ratio(found, target)
        else:
            high, excess_high = middle, _log_ratio(found, target)
        slow = 0 if 4 * (high - low) < before else slow + 1
    return low, high


def _around(
    value: Callable[[Fraction], Endpoint], target: Fraction, guess: Guess, most: Endpoint
) -> tuple[Fraction, Fraction] | None:
    """Points beside a guess between which the function crosses the target, None where a few steps find none."""
    near, slope = guess
    if not 0 < near < most:
        return None
    start, step = near, near * RELATIVE_WIDTH / 4
    above, excess = value(near) > target, _log_ratio(value(near), target)
    if slope < 0 and math.isfinite(excess):
        step = min(step + Fraction(abs(excess / slope) * (1 + OVERSHOT)), near / 2)
    for _ in range(MOST_STEPS):
        end = start + step if above else start - step
        if end <= 0 or end >= most:
            return None
        found = value(end)
        if (found > target) != above:
            return (start, end) if above else (end, start)
        # As far as the two last points say that it is, and a little beyond.
        left = _log_ratio(found, target)
        factor = abs(left / (excess - left)) if excess != left and math.isfinite(excess - left) else LONGEST_STEP
        start, excess = end, left
        step = min(step * Fraction(min(factor, LONGEST_STEP) + OVERSHOT) + near * RELATIVE_WIDTH / 4, near)
    return None


def golden_section(value: Callable[[float], float], low: float, high: float, steps: int) -> tuple[float, float, float]:
    """Where a quasi-convex function is least: both ends of what so many steps leave over, and the better point inside."""
    # Each step shrinks the range by 0.618. Floats only steer by it: a poor place costs tightness, never soundness.
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(steps):
        if at_right >= at_left:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = value(right)
    return low, high, left if at_left <= at_right else right


def _bisection(low: Fraction, high: Fraction, slow: int) -> Fraction:
    """The middle, on a logarithmic scale while the ends are far apart."""
    if low == 0:
        return _short(high / (1 << min(1 + slow * slow, 128)), low, high)
    if high < 16 * low:
        return _short((low + high) / 2, low, high)
    shift = max(0, 128 - (low * high).numerator.bit_length() + (low * high).denominator.bit_length())
    return _short(Fraction(math.isqrt(int(low * high * (1 << 2 * shift))), 1 << shift), low, high)


def _secant(low: Fraction, high: Fraction, excess_low: float, excess_high: float) -> Fraction | None:
    """The root of the secant, moved across by about its error so that the bracket closes from both sides; None without one."""
    if not (math.isfinite(excess_low) and math.isfinite(excess_high)) or excess_low <= excess_high:
        return None
    root = low + Fraction(excess_low / (excess_low - excess_high)) * (high - low)
    nudge, near = RELATIVE_WIDTH * high / 3, min(root - low, high - root)
    beyond = nudge + near * min((high - low) / high * CURVED, Fraction(1, 4))
    root += beyond if root - low < high - root else -beyond
    return _short(min(max(root, low + nudge), high - nudge), low, high)


def _short(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """A dyadic with few digits near `value`, strictly between the two ends."""
    width = high - low
    places = max(0, 24 - width.numerator.bit_length() + width.denominator.bit_length())
    rounded = Fraction(round(value * (1 << places)), 1 << places)
    return rounded if low < rounded < high else value


def _log_ratio(value: Endpoint, target: Fraction) -> float:
    """log(value/target) as a float, -inf for 0; it only steers the search."""
    if isinstance(value, float) or value <= 0 or target <= 0:
        return -math.inf
    return log_of(value / target)


def log_of(value: Fraction) -> float:
    """Logarithm of a positive rational of any size, as a float that only steers a search."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** shift) + shift * math.log(2)


# Why a threshold is the best event.
THRESHOLD_SOURCE: Final = (
    "loss increasing in the output: delta(e) = P(x >= t) - exp(e) Q(x >= t) at the threshold where it passes e"
)


def best_threshold(boundary: arb, gain: Callable[[int], arb]) -> arb:
    """Ball around the maximum of `gain` over integer thresholds, reached at the first integer beyond `boundary`."""
    # Where the ball `boundary` does not decide between two neighbouring integers, the gain is the same at both up to what the ball
    # leaves open, and the larger one is the maximum. A boundary that is not known to within one integer decides nothing.
    low, high = boundary.lower().floor().unique_fmpz(), boundary.upper().floor().unique_fmpz()
    if low is None or high is None or high - low > 1:
        return arb(0).union(arb(1))
    first = gain(int(low) + 1)
    return first if low == high else first.max(gain(int(high) + 1))
