"""Where to compute: tilt, lattice, cells and window from floats; a poor plan costs width or time, never soundness."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from dpaudit.accounting.engines.cells import Raster
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.accounting.model.transform import SMALLEST, Reals
from dpaudit.exact import ball_endpoints, working_precision

WIDTH: Final = 1e-3  # Relative width of delta that a plan aims at
NARROWEST: Final = 1e-7  # Width at which plans are not refined any further
LARGEST_TRANSFORM: Final = 1 << 21  # Longest transform that is tried
SMALL_TRANSFORM: Final = 1 << 14  # Lattices of up to this length are taken whole
MOST_CELLS: Final = 20_000  # Most cells of all laws together
SHARPNESS: Final = 1 << 20  # Tilts and logarithms of scales are multiples of 1 over this
POINTED: Final = 4  # How much more a law with points off the lattice costs than a diffuse one with the same cells
WASTED: Final = 8  # How much of the width one change of the width of cells may cost: 1 over this
RAISED: Final = math.log(1e-8)  # Logarithm of the share that the mass moved up to the first end of all uses of a law may have
LARGEST_PLACE: Final = 1e15  # Losses beyond this are left to other engines


class Tilted(NamedTuple):
    """Masses at the places of a sketch under a tilt, adding up to 1, their mean and variance, and log E[e^(tilt loss)]."""

    weights: Reals
    mean: float
    variance: float
    cumulant: float


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
        return float(self.places[0]), float(self.places[-1])

    def cumulant(self, tilts: Reals) -> Reals:
        """Logarithms of E[e^(tilt loss)]."""
        terms = self.logs + tilts[:, None] * self.places
        peak: Reals = terms.max(axis=1)
        sums: Reals = peak + np.log(np.exp(terms - peak[:, None]).sum(axis=1))
        return sums

    def tilted(self, tilt: float) -> Tilted:
        """The law under a tilt."""
        terms = self.logs + tilt * self.places
        peak = float(terms.max())
        weights = np.exp(terms - peak)
        whole = float(weights.sum())
        weights /= whole
        mean = float((weights * self.places).sum())  # no BLAS, whose threads would cost more than they save
        return Tilted(weights, mean, float((weights * (self.places - mean) ** 2).sum()), peak + math.log(whole))


def float_sketch(law: Distribution, tail: int) -> Sketch | None:
    """A law as floats, None when it has no finite loss or values beyond floats."""
    with working_precision(128):
        points = law.points(tail)
        known = [(loss, p_mass) for loss, p_mass, _ in points.finite if p_mass > 0]
        anchors = [ball_endpoints(loss)[0] for loss, _ in known]
        listed, weights = [float(loss) for loss, _ in known], [float(p_mass.log()) for _, p_mass in known]
    try:
        nodes = law.nodes()
    except (OverflowError, ValueError):  # a width beyond floats, or one that is 0 as a float
        return None
    places, logs = np.concatenate((nodes.losses, listed)), np.concatenate((nodes.log_p, weights))
    if not places.size or not (np.abs(places) < LARGEST_PLACE).all():
        return None
    order = np.argsort(places)
    found = tuple(sorted(anchor for anchor in anchors if isinstance(anchor, Fraction)))
    gap = found[1] - found[0] if len(found) == 2 else law.gap()
    return Sketch(places[order], logs[order], law.ends(), found, nodes.losses.size > 0, gap)


@dataclass(frozen=True)
class Plan:
    """Tilt and step of the lattice, one raster and scale for each law, and the window."""

    # The window begins at index `first` and has `size` places; `chernoff` are the further tilts that bound the mass below and above
    # it, and the plan is good for epsilons between the two of `near`.
    tilt: Fraction
    step: Fraction
    rasters: tuple[Raster, ...]
    log_scales: tuple[Fraction, ...]
    first: int
    size: int
    chernoff: tuple[Fraction, Fraction]
    near: tuple[Fraction, Fraction]


def saddle_point(parts: Sequence[tuple[Sketch, int]], tilt: float) -> tuple[float, float, float]:
    """Epsilon at which a tilt is best, the estimate of log delta there, and the variance of the composed loss under the tilt."""
    epsilon, variance, cumulant = -1 / tilt - 1 / (1 + tilt), 0.0, 0.0
    for sketch, count in parts:
        law = sketch.tilted(tilt)
        epsilon, variance, cumulant = epsilon + count * law.mean, variance + count * law.variance, cumulant + count * law.cumulant
    spread = variance + 1 / tilt**2 + 1 / (1 + tilt) ** 2
    return epsilon, cumulant - tilt * epsilon - math.log(tilt * (1 + tilt)) - math.log(2 * math.pi * spread) / 2, variance


def choose_plan(parts: Sequence[tuple[Sketch, int]], near: float, width: float = WIDTH) -> Plan | None:
    """A plan around the saddle point of a tilt; None when nothing affordable comes near the width."""
    tilt = Fraction(max(round(near * SHARPNESS), 1), SHARPNESS)
    theta = float(tilt)
    epsilon, log_delta, variance = saddle_point(parts, theta)
    laws = [sketch.tilted(theta) for sketch, _ in parts]
    steps = _steps(parts, laws, theta, width)
    if not all(SMALLEST < wanted < 1 / SMALLEST for wanted in steps) or not math.isfinite(log_delta):
        return None
    step = _common_step(parts, min(steps))
    rasters, cells = [], 0
    for (sketch, count), law, wanted in zip(parts, laws, steps, strict=True):
        multiple = 1 << max(0, math.floor(math.log2(wanted / step)))
        raster = _raster(sketch, law, count, step, multiple, theta, width, log_delta + math.log(1e-4 * width))
        if raster is None or (cells := cells + len(raster.ends)) > MOST_CELLS:
            return None
        rasters.append(raster)
    counts = [count for _, count in parts]
    support = [
        float(sum(count * raster.place(raster.ends[end]) for count, raster in zip(counts, rasters, strict=True))) for end in (0, -1)
    ]
    longest = max(float((raster.ends[-1] - raster.ends[0]) * step) for raster in rasters)
    offset = sum((count * raster.offset for count, raster in zip(counts, rasters, strict=True)), Fraction(0))
    window = _window(parts, theta, epsilon, math.sqrt(variance), log_delta + math.log(1e-3 * width), support, longest)
    if not (all(map(math.isfinite, (*support, window[0]))) and 0 < window[1] < math.inf):
        return None
    if (support[1] - support[0]) / float(step) < SMALL_TRANSFORM:  # cheap enough to leave nothing outside
        window = support[0], support[1] - support[0], window[2]
    size = 1 << max(10, math.ceil(math.log2(window[1] / float(step) + 4)))
    if size > LARGEST_TRANSFORM:
        return None
    listed = not any(sketch.diffuse for sketch, _ in parts)
    if listed and size * len(parts) <= 4 * SMALL_TRANSFORM and width > NARROWEST:  # finer steps need no more cells
        return choose_plan(parts, near, width / 16)
    first = math.floor((Fraction(window[0]) - offset) / step) - 1
    deviation = math.sqrt(variance + 1 / theta**2)
    log_scales = tuple(Fraction(round(law.cumulant * SHARPNESS), SHARPNESS) for law in laws)
    ends = (Fraction(epsilon - 3 * deviation), Fraction(epsilon + 3 * deviation))
    return Plan(tilt, step, tuple(rasters), log_scales, first, size, window[2], ends)


def _steps(parts: Sequence[tuple[Sketch, int]], laws: Sequence[Tilted], theta: float, width: float) -> list[float]:
    """The step each law may have: error count * step^2 and cost range/step, the errors together within the width."""
    ranges, uses, carried = [], [], _carried(parts)
    for (sketch, count), law in zip(parts, laws, strict=True):
        span = sketch.ends[1] - sketch.ends[0]
        ranges.append(max(min(12 * math.sqrt(law.variance), span), 1e-6 * span, 1e-300))
        uses.append(count * (POINTED if sketch.anchors and sketch is not carried else 1))
    budget = 12 * width / (3.2 * theta * (1 + theta))
    whole = sum(use * (span / use) ** (2 / 3) for span, use in zip(ranges, uses, strict=True))
    return [min(math.sqrt(budget / whole) * (span / use) ** (1 / 3), span / 8) for span, use in zip(ranges, uses, strict=True)]


def _carried(parts: Sequence[tuple[Sketch, int]]) -> Sketch | None:
    """The law used most among those whose points lie on a lattice: its gap is a multiple of the common step."""
    gapped = [(count, index) for index, (sketch, count) in enumerate(parts) if sketch.gap]
    return parts[max(gapped)[1]][0] if gapped else None


def _common_step(parts: Sequence[tuple[Sketch, int]], least: float) -> Fraction:
    """The lattice step: a gap, divided until it is small enough, or a short dyadic number."""
    carried = _carried(parts)
    if carried is not None and carried.gap:
        return carried.gap / max(1, math.ceil(float(carried.gap) / least))
    exponent = math.floor(math.log2(least)) - 4
    return math.floor(least / 2.0**exponent) * Fraction(2) ** exponent


def _raster(
    sketch: Sketch, law: Tilted, count: int, step: Fraction, multiple: int, theta: float, width: float, log_ignored: float
) -> Raster | None:
    """Cells of `multiple` steps where the tilted mass is, wider ones in its tails, narrow ones around every point."""
    # Whatever has next to no tilted mass is left below the first place. None where the cells would be too many.
    offset = _offset(sketch, law.weights, step)
    raised = np.logaddexp.accumulate(sketch.logs) + theta * sketch.places - law.cumulant
    low = float(sketch.places[max(int(np.searchsorted(raised, RAISED - math.log(count))) - 1, 0)])
    low -= max(float(step) / 2, 1e-9 * abs(low))
    anchored = _indices(sketch.anchors, offset, step, low)
    ends = {*anchored, *(index + 1 for index in anchored)}
    if not sketch.diffuse:
        return Raster(step, offset, tuple(sorted(ends))) if ends else None
    size, origin, high = float(step), float(offset), sketch.ends[1]
    if not sketch.bounded[1]:
        right = np.cumsum(law.weights[::-1])[::-1]
        tail = np.logaddexp.accumulate(sketch.logs[::-1])[::-1] + math.log(count)
        negligible = np.flatnonzero((tail < log_ignored) & (right < 1e-9 / count))
        high = sketch.places[negligible[0]] if len(negligible) else high
    index = multiple * math.floor((low - origin) / size / multiple - 1)
    last = math.ceil((high - origin) / size) + 1
    dear = WASTED * count * (1 + theta) / width
    reaches = _reaches(sketch.places, law.weights, multiple * size, dear) / size
    places, allowed = sketch.places.tolist(), reaches.tolist()
    widest = 0.25 * max(1.0, math.sqrt(width / WIDTH) / 3) / (1 + theta) / size  # rough lattices may be rougher in their tails
    inside = np.diff(np.clip(sketch.places, origin + index * size, origin + last * size)) / size
    if (inside / np.maximum(np.minimum(np.maximum(reaches[1:], reaches[:-1]), widest), multiple)).sum() > MOST_CELLS:
        return None
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


def _indices(anchors: Sequence[Fraction], offset: Fraction, step: Fraction, low: float) -> set[int]:
    """The index below each anchor from `low` on, in integers: there may be thousands of anchors, and fractions are slow."""
    start, below, rise, run = offset.numerator, offset.denominator, step.denominator, step.numerator
    parts = (anchor.as_integer_ratio() for anchor in anchors)
    return {(up * below - start * down) * rise // (down * below * run) for up, down in parts if up / down >= low}


def _reaches(places: Reals, weights: Reals, finest: float, dear: float) -> Reals:
    """Return how wide cells may be near each place: as density^(-1/3), for the same error in all, from the finest on."""
    # Where widths change, fusion wastes part of the excess of one cell: `dear` times density times width^2 stays below 1 there.
    density = np.maximum(weights / np.maximum(np.gradient(places), SMALLEST), SMALLEST)
    even = (weights * density ** (-2 / 3)).sum() ** -1.5
    reaches: Reals = np.minimum(finest * np.cbrt(even / density), np.sqrt(1 / (dear * density)))
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
    parts: Sequence[tuple[Sketch, int]],
    theta: float,
    epsilon: float,
    deviation: float,
    log_ignored: float,
    support: Sequence[float],
    longest: float,
) -> tuple[float, float, tuple[Fraction, Fraction]]:
    """Where the window begins, how long it is, and the further tilts that bound the mass below and above it."""
    spread = deviation or 1.0
    further = np.geomspace(min(0.12 / spread, 100 / longest), min(48 / spread, 1000 / longest), 40)
    base, up, down = (
        sum((count * sketch.cumulant(theta + turn * further) for sketch, count in parts), np.zeros(40)) for turn in (0, 1, -1)
    )
    peak = -theta * math.log1p(1 / theta) - math.log1p(theta)  # logarithm of the largest weight, (t/(1 + t))^t/(1 + t)
    share = log_ignored - base + theta * epsilon - peak
    above, below = (up - base - share) / further, (share - down + base) / further
    first, most = max(float(below.max()), support[0]), min(float(above.min()), support[1])
    last = max(min(most, epsilon + float(3 - share[0]) / theta), epsilon + math.log1p(1 / theta))
    chosen = (Fraction(float(further[int(below.argmax())])), Fraction(float(further[int(above.argmin())])))
    return first, 1.01 * max(last - first, most - epsilon), chosen
