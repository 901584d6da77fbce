"""Where to compute: tilt, lattice, cells and window from floats; a poor plan costs width or time, never soundness."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.accounting.numeric.cells import Raster
from dpaudit.accounting.numeric.distributions import Distribution
from dpaudit.accounting.numeric.transform import SMALLEST, Reals
from dpaudit.exact import ball_endpoints, working_precision

WIDTH: Final = 1e-3
"""Relative width of delta that a plan aims at."""

LARGEST_TRANSFORM: Final = 1 << 21
"""Longest transform that is tried."""

SMALL_TRANSFORM: Final = 1 << 14
"""Lattices of up to this length are taken whole."""

MOST_CELLS: Final = 16_000
"""Most cells of all laws together."""

SHARPNESS: Final = 1 << 20
"""Tilts and logarithms of scales are multiples of 1 over this."""

ROUNDED_DOWN: Final = 1.0
"""Cells are powers of two wide, so that they may be a little wider where they are rounded down."""

RAISED: Final = math.log(1e-8)
"""Logarithm of the share that the mass moved up to the first end of all uses of a law may have."""

LARGEST_PLACE: Final = 1e15
"""Losses beyond this are left to other engines."""

FINEST_TILT: Final = 2.0**-12
"""Smallest tilt."""

STEEPEST_TILT: Final = 2.0**40
"""Largest tilt; a question beyond is about a loss at its greatest values and not for this engine."""


@dataclass(frozen=True)
class Sketch:
    """A loss as floats: places that follow it, the logarithm of the P mass near each, and where its diffuse part ends."""

    places: Reals
    logs: Reals
    bounded: tuple[bool, bool]
    anchors: tuple[Fraction, ...]
    diffuse: bool
    gap: Fraction | None

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last place."""
        return float(self.places[0]), float(self.places[-1])

    def cumulant(self, tilts: Reals) -> Reals:
        """Logarithms of E[e^(tilt loss)]."""
        terms = self.logs + tilts[:, None] * self.places
        peak: Reals = terms.max(axis=1)
        sums: Reals = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))
        return sums

    def tilted(self, tilt: float) -> Reals:
        """Masses under the tilt, adding up to 1."""
        terms = self.logs + tilt * self.places
        weights = np.exp(terms - terms.max())
        shares: Reals = weights / weights.sum()
        return shares

    def moments(self, tilt: float) -> tuple[float, float]:
        """Mean and variance under the tilt."""
        weights = self.tilted(tilt)
        mean = float(weights @ self.places)
        return mean, float(weights @ (self.places - mean) ** 2)


def sketched(law: Distribution, tail: int) -> Sketch | None:
    """A law as floats, None when it has no finite loss or values beyond floats."""
    with working_precision(128):
        points = law.points(tail)
        known = [(loss, p_mass) for loss, p_mass, _ in points.finite if p_mass > 0]
        anchors = [ball_endpoints(loss)[0] for loss, _ in known]
        listed, weights = [float(loss) for loss, _ in known], [float(p_mass.log()) for _, p_mass in known]
    nodes = law.nodes()
    places, logs = np.concatenate((nodes.losses, listed)), np.concatenate((nodes.log_p, weights))
    if not places.size or not (np.abs(places) < LARGEST_PLACE).all():
        return None
    order = np.argsort(places)
    found = tuple(sorted(anchor for anchor in anchors if isinstance(anchor, Fraction)))
    gap = found[1] - found[0] if len(found) == 2 else law.gap()
    return Sketch(places[order], logs[order], law.ends(), found, nodes.losses.size > 0, gap)


@dataclass(frozen=True)
class Plan:
    """Tilt and step of the lattice, one raster and scale for each law, and the window.

    The window begins at index `first` and has `size` places; `chernoff` are the further tilts that bound the mass below and above
    it, and the plan is good for epsilons between the two of `near`.
    """

    tilt: Fraction
    step: Fraction
    rasters: tuple[Raster, ...]
    log_scales: tuple[Fraction, ...]
    first: int
    size: int
    chernoff: tuple[Fraction, Fraction]
    near: tuple[Fraction, Fraction]


def tilt_for_epsilon(sketches: Sequence[tuple[Sketch, int]], epsilon: float) -> float | None:
    """The saddle point: composed mean under the tilt, less 1/tilt and 1/(1 + tilt), equals epsilon."""
    return _solved(lambda tilt: _excess(sketches, tilt) - epsilon)


def tilt_for_delta(sketches: Sequence[tuple[Sketch, int]], log_delta: float) -> float | None:
    """The tilt whose saddle point estimate of log delta is the one asked for."""
    return _solved(lambda tilt: log_delta - saddle_point(sketches, tilt)[1])


def saddle_point(sketches: Sequence[tuple[Sketch, int]], tilt: float) -> tuple[float, float]:
    """Epsilon at which a tilt is best, and the estimate of log delta there."""
    epsilon, spread, cumulant = _excess(sketches, tilt), 1 / tilt**2 + 1 / (1 + tilt) ** 2, 0.0
    for sketch, count in sketches:
        spread += count * sketch.moments(tilt)[1]
        cumulant += count * float(sketch.cumulant(np.array([tilt]))[0])
    return epsilon, cumulant - tilt * epsilon - math.log(tilt * (1 + tilt)) - math.log(2 * math.pi * spread) / 2


def _excess(sketches: Sequence[tuple[Sketch, int]], tilt: float) -> float:
    """Composed mean under the tilt, less 1/tilt and 1/(1 + tilt)."""
    return sum(count * sketch.moments(tilt)[0] for sketch, count in sketches) - 1 / tilt - 1 / (1 + tilt)


def _solved(rising: Callable[[float], float]) -> float | None:
    """Root of a function that rises with the tilt, on a logarithmic scale; None when it is not within the range."""
    low, high = math.log(FINEST_TILT), math.log(STEEPEST_TILT)
    if rising(math.exp(low)) >= 0:
        return math.exp(low)
    if rising(math.exp(high)) < 0:
        return None
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(math.exp(middle)) >= 0 else (middle, high)
    return math.exp(high)


def planned(parts: Sequence[tuple[Sketch, int]], near: float, width: float = WIDTH) -> Plan | None:
    """A plan around the saddle point of a tilt; None when nothing affordable comes near the width."""
    tilt = Fraction(max(round(near * SHARPNESS), 1), SHARPNESS)
    theta = float(tilt)
    epsilon, log_delta = saddle_point(parts, theta)
    steps = _steps(parts, theta, width)
    if not all(SMALLEST < wanted < 1 / SMALLEST for wanted in steps) or not math.isfinite(log_delta):
        return None
    step = _common_step(parts, steps)
    rasters, log_scales, cells = [], [], 0
    for (sketch, count), wanted in zip(parts, steps, strict=True):
        multiple = 1 << max(0, math.floor(math.log2(wanted / step)))
        raster = _raster(sketch, count, step, multiple, theta, log_delta + math.log(1e-4 * width))
        if raster is None or (cells := cells + len(raster.ends)) > MOST_CELLS:
            return None
        rasters.append(raster)
        log_scales.append(Fraction(round(float(sketch.cumulant(np.array([theta]))[0]) * SHARPNESS), SHARPNESS))
    counts = [count for _, count in parts]
    support = tuple(
        float(sum(count * raster.place(raster.ends[end]) for count, raster in zip(counts, rasters, strict=True))) for end in (0, -1)
    )
    first_place, length, chernoff = _window(parts, theta, epsilon, log_delta + math.log(1e-3 * width), support)
    offset = sum((count * raster.offset for count, raster in zip(counts, rasters, strict=True)), Fraction(0))
    if not (all(map(math.isfinite, (*support, first_place))) and 0 < length < math.inf):
        return None
    if (support[1] - support[0]) / float(step) < SMALL_TRANSFORM:  # cheap enough to leave nothing outside
        first_place, length = support[0], support[1] - support[0]
    size = 1 << max(10, math.ceil(math.log2(length / float(step) + 4)))
    if size > LARGEST_TRANSFORM:
        return None
    first = math.floor((Fraction(first_place) - offset) / step) - 1
    deviation = math.sqrt(sum(count * sketch.moments(theta)[1] for sketch, count in parts) + 1 / theta**2)
    ends = (Fraction(epsilon - 3 * deviation), Fraction(epsilon + 3 * deviation))
    return Plan(tilt, step, tuple(rasters), tuple(log_scales), first, size, chernoff, ends)


def _steps(parts: Sequence[tuple[Sketch, int]], theta: float, width: float) -> list[float]:
    """The step each law may have: error count * step^2 and cost range/step, the errors together within the width."""
    ranges = []
    for sketch, _ in parts:
        deviation = math.sqrt(sketch.moments(theta)[1])
        span = sketch.ends[1] - sketch.ends[0]
        ranges.append(max(min(12 * deviation, span), 1e-6 * span, 1e-300))
    budget = 12 * width / (3.2 * theta * (1 + theta))
    whole = sum(count * (span / count) ** (2 / 3) for span, (_, count) in zip(ranges, parts, strict=True))
    return [
        min(math.sqrt(budget / whole) * (span / count) ** (1 / 3), span / 8) for span, (_, count) in zip(ranges, parts, strict=True)
    ]


def _common_step(parts: Sequence[tuple[Sketch, int]], steps: Sequence[float]) -> Fraction:
    """The lattice step: the gap of the law used most, divided until it is small enough, or a short dyadic number."""
    least = min(steps)
    gaps = [(count, sketch.gap) for sketch, count in parts if sketch.gap]
    if gaps:
        gap = max(gaps)[1] or Fraction(1)
        return gap / max(1, math.ceil(float(gap) / least))
    exponent = math.floor(math.log2(least)) - 4
    return math.floor(least / 2.0**exponent) * Fraction(2) ** exponent


def _raster(sketch: Sketch, count: int, step: Fraction, multiple: int, theta: float, log_ignored: float) -> Raster | None:
    """Cells of `multiple` steps where the tilted mass is, wider ones in its tails, narrow ones around every point.

    None where they would be too many.
    """
    weights = sketch.tilted(theta)
    offset = _offset(sketch, weights, step)
    anchored = {math.floor((anchor - offset) / step) for anchor in sketch.anchors}
    ends = {*anchored, *(index + 1 for index in anchored)}
    if not sketch.diffuse:
        return Raster(step, offset, tuple(sorted(ends)))
    size, origin = float(step), float(offset)
    right = np.cumsum(weights[::-1])[::-1]
    tail = np.logaddexp.accumulate(sketch.logs[::-1])[::-1] + math.log(count)
    low = sketch.ends[0]
    if not sketch.bounded[0]:
        raised = np.logaddexp.accumulate(sketch.logs) + theta * sketch.places - float(sketch.cumulant(np.array([theta]))[0])
        low = sketch.places[max(int(np.searchsorted(raised, RAISED - math.log(count))) - 1, 0)]
    high = sketch.ends[1]
    if not sketch.bounded[1]:
        negligible = np.flatnonzero((tail < log_ignored) & (right < 1e-9 / count))
        high = sketch.places[negligible[0]] if len(negligible) else high
    first = multiple * math.floor((low - origin) / size / multiple - 1)
    last = math.ceil((high - origin) / size) + 1
    places, allowed = sketch.places.tolist(), (multiple * _reaches(sketch.places, weights)).tolist()
    widest = 0.25 / (1 + theta) / size
    index = first
    while index < last:
        if len(ends) > MOST_CELLS:
            return None
        ends.add(index)
        reach = multiple
        before = max(bisect_left(places, origin + index * size) - 1, 0)
        while index % (2 * reach) == 0 and 2 * reach <= widest:
            beyond = bisect_left(places, origin + (index + 2 * reach) * size) + 1
            if min(allowed[before:beyond]) < 2 * reach:
                break
            reach *= 2
        index += reach
    ends.add(index)
    return Raster(step, offset, tuple(sorted(ends)))


def _reaches(places: Reals, weights: Reals) -> Reals:
    """How many times wider than even cells the best ones are near each place: as density^(-1/3), for the same error in all."""
    density = np.maximum(weights / np.maximum(np.gradient(places), SMALLEST), SMALLEST)
    even = (weights * density ** (-2 / 3)).sum() ** -1.5
    reaches: Reals = np.cbrt(ROUNDED_DOWN * even / density)
    return reaches


def _offset(sketch: Sketch, weights: Reals, step: Fraction) -> Fraction:
    """A hair below the point with the greatest tilted mass, so that it lies on the lattice in effect and on no edge; else 0."""
    if not sketch.anchors:
        return Fraction(0)
    heaviest = float(sketch.places[int(np.argmax(weights))])
    nearest = min(sketch.anchors, key=lambda anchor: abs(float(anchor) - heaviest))
    sharpness = Fraction(2) ** math.ceil(44 - math.log2(step))
    return Fraction(math.floor(nearest * sharpness) - 1) / sharpness


def _window(
    parts: Sequence[tuple[Sketch, int]], theta: float, epsilon: float, log_ignored: float, support: Sequence[float]
) -> tuple[float, float, tuple[Fraction, Fraction]]:
    """Where the window begins, how long it is, and the further tilts that bound the mass below and above it."""
    deviation = math.sqrt(sum(count * sketch.moments(theta)[1] for sketch, count in parts)) or 1.0
    longest = max(sketch.ends[1] - sketch.ends[0] for sketch, _ in parts) or 1.0
    further = np.geomspace(min(0.12 / deviation, 100 / longest), min(48 / deviation, 400 / longest), 40)
    origin = np.array([theta])
    base = sum(count * float(sketch.cumulant(origin)[0]) for sketch, count in parts)
    up = sum((count * sketch.cumulant(theta + further) for sketch, count in parts), np.zeros(40)) - base
    down = sum((count * sketch.cumulant(theta - further) for sketch, count in parts), np.zeros(40)) - base
    share = log_ignored - base + theta * epsilon - _log_peak(theta)
    above, below = (up - share) / further, (share - down) / further
    first, most = max(float(below.max()), support[0]), min(float(above.min()), support[1])
    last = max(min(most, epsilon + (3 - share) / theta), epsilon + math.log1p(1 / theta))
    chosen = (Fraction(float(further[int(below.argmax())])), Fraction(float(further[int(above.argmin())])))
    return first, 1.01 * max(last - first, most - epsilon), chosen


def _log_peak(theta: float) -> float:
    """Logarithm of the largest weight, (t/(1 + t))^t/(1 + t)."""
    return -theta * math.log1p(1 / theta) - math.log1p(theta)
