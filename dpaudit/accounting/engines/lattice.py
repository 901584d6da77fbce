"""One law on the lattice: tilted masses of its upper and lower law, and certified bounds on their tails."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from flint import arb

from dpaudit.accounting.engines.cells import SLACK, Raster, cells_of
from dpaudit.accounting.engines.fusion import lower_law
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.accounting.model.transform import SMALLEST, UNIT, Reals
from dpaudit.exact import ball, float_outward, working_precision

CELL_BITS: Final = 76  # Working precision for the masses of cells, besides what cancels in narrow ones
MASS_BITS: Final = 112  # Working precision for everything else
# Relative loss of delta from below for each use of a law whose points are spread, in units of tilt (1 + tilt) width^2.
SPREAD_PRICE: Final = 0.8
Indices: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]  # An array of lattice indices


@dataclass(frozen=True)
class Lattice:
    """Masses times e^(tilt loss - log_scale) at offset + index * step, used `count` times."""

    # Points of the lower law are spread over cells at most `spread` wide, 0 where none is.
    count: int
    raster: Raster
    index: Indices
    upper: Reals
    lower: Reals
    log_scale: Fraction
    upper_infinity: arb
    lower_infinity: arb
    spread: Fraction = Fraction(0)

    def folded(self, size: int) -> tuple[Reals, Reals]:
        """Upper and lower masses added up modulo `size`."""
        both = []
        slack = SLACK * (1 + int(self.index[-1] - self.index[0]) // size)  # covers as many additions to one sum
        for masses, room in ((self.upper, 1 + slack), (self.lower, 1 - slack)):
            whole = np.zeros(size)
            np.add.at(whole, self.index % size, masses)
            both.append(whole * room)
        return both[0], both[1]


def lattice_of(law: Distribution, count: int, raster: Raster, *, tilt: Fraction, log_scale: Fraction, tail: int) -> Lattice | None:
    """The masses of one law, scaled so that the upper ones add up to about 1; None where the law does not fit the raster."""
    narrow = math.log2(max((raster.ends[-1] - raster.ends[0]), 1)) + max(0.0, -math.log2(raster.step))
    with working_precision(CELL_BITS + math.ceil(narrow)):
        cells = cells_of(law, raster, tilt, log_scale, tail)
    if cells is None or not (np.isfinite(cells.upper).all() and np.isfinite(cells.halves.deficit).all()):
        return None
    lower, width = lower_law(cells, float(tilt * (1 + tilt) * raster.step**2) * SPREAD_PRICE)
    whole = float(cells.upper.sum())
    if not (0 < whole < math.inf and np.isfinite(lower).all()):
        return None
    change = Fraction(round(math.log(whole) * 2**40), 2**40)
    with working_precision(MASS_BITS):
        factor = float((-ball(change)).exp())
    index = np.array(raster.ends, dtype=np.int64)
    upper, lower = cells.upper * (factor * (1 + SLACK)), lower * (factor * (1 - SLACK))
    scale = log_scale + change
    return Lattice(count, raster, index, upper, lower, scale, cells.upper_infinity, cells.lower_infinity, width * raster.step)


def powers(step: Fraction, count: int) -> Callable[[Indices], Reals]:
    """e^(step * i) for 0 <= i < count, each within 4 units of rounding: the product of two numbers from balls."""
    width = 1 << max(1, (count.bit_length() + 1) // 2)
    with working_precision(MASS_BITS):
        factor = ball(step).exp()
        fine, coarse = _geometric(factor, width), _geometric(factor**width, -(-count // width) + 1)

    def at(index: Indices) -> Reals:
        found: Reals = coarse[index // width] * fine[index % width]
        return found

    return at


def _geometric(factor: arb, count: int) -> Reals:
    """The first powers of a factor from 0 on."""
    found, power = [], arb(1)
    for _ in range(count):
        found.append(float(power))
        power *= factor
    return np.array(found)


def log_moments(lattices: Sequence[Lattice], further: Fraction) -> tuple[arb, arb]:
    """At or above the sums over the laws of count * log of the sum of masses times e^(further * loss): upper and lower masses."""
    totals = [arb(0), arb(0)]
    for lattice in lattices:
        step, first = lattice.raster.step, int(lattice.index[0])
        middle = (int(lattice.index[-1]) - first) // 2
        with working_precision(MASS_BITS):
            start = float((-ball(further * step) * middle).exp())
            shift = ball(further * (lattice.raster.offset + (first + middle) * step))
        weights = powers(further * step, int(lattice.index[-1]) - first + 1)(lattice.index - first) * start if further else 1.0
        for side, masses in enumerate((lattice.upper, lattice.lower)):
            # Weights that are lost to underflow have been below the smallest double before they were multiplied by `start`.
            whole = float((masses * weights).sum()) * (1 + (masses.size + 16) * float(UNIT) * 2) + SMALLEST * (1 + start)
            with working_precision(MASS_BITS):
                logarithm = arb(whole).log() if 0 < whole < math.inf else arb.pos_inf()
                totals[side] += lattice.count * (logarithm + shift)
    return totals[0], totals[1]


def at_most(value: arb) -> float:
    """A float at or above everything in a ball, infinite where the ball says nothing."""
    if not value.is_finite():
        return math.inf
    return math.nextafter(float(value.upper()), math.inf)


def unit_sum(count: int) -> float:
    """Largest relative error of a sum of `count` products of three factors that are off by 4 units each."""
    return float_outward((count + 16) * UNIT * Fraction(65, 64), up=True)
