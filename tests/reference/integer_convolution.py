"""A second opinion on a composition: exact convolution of integers, rounded down, with everything that was lost counted.

Masses become multiples of 2^-80, rounded down after every product, so that each result is at or below the true mass, and the
total that is missing is known exactly. Nothing about transforms, windows or wrapping enters. It is slow: a referee for tests.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from itertools import accumulate
from typing import Final

from flint import arb, fmpz_poly

from dpaudit.accounting.engines.evaluation import Evaluated
from dpaudit.accounting.engines.lattice import Lattice
from dpaudit.exact import ball, ball_endpoints, working_precision

BITS: Final = 80
"""Masses are multiples of 2^-BITS."""

TRIMMED: Final = 1 << 16
"""Ends of a composition that weigh less than this many units together are cut off; that is counted as lost."""


def finite_part(evaluated: Evaluated, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """What finite losses contribute to delta: a bound for the lower law from below and one for the upper law from above."""
    ends = []
    for upper in (False, True):
        whole, total, start = [1 << BITS], Fraction(1), 0
        for lattice in evaluated.lattices:
            masses, weight, first = _power(lattice, upper=upper)
            whole, start = _trimmed(_convolved(whole, masses), start + first)
            total *= weight
        ends.append(_weighted(evaluated, whole, start, epsilon, total if upper else None))
    return ends[0], ends[1]


def _power(lattice: Lattice, *, upper: bool) -> tuple[list[int], Fraction, int]:
    """Masses of all uses of a law at or below the true ones, the true total at or below a rational, and the first index."""
    first = int(lattice.index[0])
    base = [0] * (int(lattice.index[-1]) - first + 1)
    total = Fraction(0)
    for index, mass in zip(lattice.index.tolist(), (lattice.upper if upper else lattice.lower).tolist(), strict=True):
        exact = Fraction(mass)
        base[index - first] = int(exact * (1 << BITS))
        total += exact
    base, first = _trimmed(base, first)
    whole, start = base, first
    for digit in f"{lattice.count:b}"[1:]:
        whole, start = _trimmed(_convolved(whole, whole), 2 * start)
        if digit == "1":
            whole, start = _trimmed(_convolved(whole, base), start + first)
    with working_precision(256):
        return whole, Fraction(ball_endpoints(ball(total) ** lattice.count)[1]), start


def _convolved(left: list[int], right: list[int]) -> list[int]:
    """Exact product, rounded down to multiples of the unit."""
    return [int(value) >> BITS for value in (fmpz_poly(left) * fmpz_poly(right)).coeffs()]


def _trimmed(masses: list[int], first: int) -> tuple[list[int], int]:
    """The masses without light ends, and the index of the first one left."""
    low = bisect_left(list(accumulate(masses)), TRIMMED)
    high = len(masses) - bisect_left(list(accumulate(reversed(masses))), TRIMMED)
    return masses[low:high], first + low


def _weighted(evaluated: Evaluated, masses: list[int], start: int, epsilon: Fraction, total: Fraction | None) -> Fraction:
    """The weighted sum from below; with a total, from above, everything that is missing counted at the largest weight."""
    plan = evaluated.plan
    base = sum((lattice.count * lattice.log_scale for lattice in evaluated.lattices), Fraction(0)) - plan.tilt * epsilon
    offset = sum((lattice.count * lattice.raster.offset for lattice in evaluated.lattices), Fraction(0))
    with working_precision(128):
        step, tilt, gap = ball(plan.step), ball(plan.tilt), ball(offset - epsilon)
        value = arb(0)
        for index, mass in enumerate(masses, start=start):
            beyond = gap + step * index
            if mass and beyond > 0:
                value -= arb(mass) * (-tilt * beyond).exp() * (-beyond).expm1()
        value /= 1 << BITS
        if total is not None:
            value += ball(total - Fraction(sum(masses), 1 << BITS)) / (1 + tilt)
        least, most = ball_endpoints(value * ball(base).exp())
    return Fraction(least if total is None else most)
