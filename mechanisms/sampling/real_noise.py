"""Real noise added to floats and rounded once: float additions with a proved bound, exact comparisons where it cannot decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import float_outward
from mechanisms.sampling.cells import Cells
from mechanisms.sampling.envelope import SHIPPED, EnvelopeTable, Tuning, envelope_table, floor_log2
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.float_format import FLOAT64, FloatFormat
from mechanisms.sampling.kernel import draw, draw_one
from mechanisms.sampling.limits import require_sizes
from mechanisms.sampling.random import BitSource

CHUNK: Final = 2**16
"""Sums of one batch: few enough for the processor's cache."""

LARGEST_EXPONENT: Final = 900
"""Scales from 2**-900 to 2**900 are accepted: then no sum of a finite float and noise overflows."""


@dataclass(frozen=True)
class RealTuning:
    """Sizes of the kernel, without influence on the law; small ones make rare paths common, for tests and enumeration.

    Args:
      fineness: cells are so wide that the scale is 2**(fineness - 1) to 2**fineness of them, from 1 to 46.
      prefix: binary digits of the place inside the cell that are drawn at first, from 1 to 51.
      step: digits added each time a comparison stays open, at least 1.
      envelope: sizes of the cells' own sampler.
    """

    fineness: int = 46
    prefix: int = 32
    step: int = 64
    envelope: Tuning = SHIPPED

    def __post_init__(self) -> None:
        require_sizes(self, fineness=(1, 46), prefix=(1, 51), step=(1, 2**16))


SHIPPED_REAL: Final = RealTuning()
"""The sizes that mechanisms release with."""


@dataclass(frozen=True, eq=False)
class RealNoise:
    """A continuous law, ready to be added: noise is 2**exponent (k + T) with a random integer k and T in [-1/2, 1/2].

    Args:
      cells: the law in units of cells.
      table: the sampler of k.
      exponent: binary logarithm of a cell's width in output units.
      form: the format that sums are rounded to.
      tuning: sizes.
    """

    cells: Cells
    table: EnvelopeTable
    exponent: int
    form: FloatFormat
    tuning: RealTuning

    @cached_property
    def doubt(self) -> float:
        """Bound, in output units, on the distance of the true noise from its float estimate for all k within the blocks."""
        digits = Fraction(1, 2 << self.tuning.prefix)
        bend = min(self.cells.steepness(self.table.start + 1), Fraction(1))
        return float_outward((digits + bend) * (1 + Fraction(1, 2**50)) * Fraction(2) ** self.exponent, up=True)

    @cached_property
    def unit(self) -> float:
        """Width of a cell, a power of two and so a float64 exactly."""
        return float(Fraction(2) ** self.exponent)

    @cached_property
    def digit(self) -> float:
        """Width of the part of a cell that the first digits single out."""
        return float(Fraction(2) ** (self.exponent - self.tuning.prefix))

    @cached_property
    def offset(self) -> float:
        """Middle of the first such part, from the middle of the cell."""
        return self.digit / 2 - self.unit / 2


@lru_cache(maxsize=32)
def real_noise(
    family: Callable[[Fraction], Cells], scale: Fraction, tuning: RealTuning = SHIPPED_REAL, form: FloatFormat = FLOAT64
) -> RealNoise:
    """The noise of a family of laws at a scale, kept for further use."""
    limit = Fraction(2) ** LARGEST_EXPONENT
    if not 1 / limit <= scale <= limit:
        raise InvalidArgument("DPA103", "the scale of the noise must be from 2**-900 to 2**900. Measure in other units.")
    exponent = floor_log2(scale) + 1 - tuning.fineness
    cells = family(scale / Fraction(2) ** exponent)
    table = envelope_table(cells, tuning.envelope)
    if table.start > 2**53:
        raise InvalidArgument("DPA103", "cells are too fine for their places to be floats. Take a smaller fineness.")
    return RealNoise(cells, table, exponent, form, tuning)


def noisy_sums(noise: RealNoise, values: NDArray[np.float64], source: BitSource, *, chunk: int = CHUNK) -> NDArray[np.float64]:
    """Each value plus noise of its own, rounded once."""
    result = np.empty(len(values), dtype=np.float64)
    for start in range(0, len(values), chunk):
        piece = values[start : start + chunk]
        result[start : start + chunk] = sums_at(noise, piece, draw(noise.table, source, len(piece)), source)
    return result


def noisy_sum(noise: RealNoise, value: float, source: BitSource) -> float:
    """One value plus noise, rounded once, by the same steps as `noisy_sums`."""
    return sum_at(noise, value, draw_one(noise.table, source), source)


def sums_at(noise: RealNoise, values: NDArray[np.float64], steps: NDArray[np.int64], source: BitSource) -> NDArray[np.float64]:
    """Each value plus the noise whose cell is given, rounded once; the places inside the cells are drawn here."""
    digits = source.uniform(noise.tuning.prefix, len(steps))
    large = steps.astype(np.float64) * noise.unit
    total, rest = _two_sum(values, large)
    rest += digits * noise.digit + noise.offset
    margin = np.abs(rest) * 2.0**-51 + noise.doubt
    result = noise.form.sum_many(total, rest + margin)
    doubtful = result != noise.form.sum_many(total, rest - margin)
    reach = noise.table.start
    if len(steps) and (steps.max() >= reach or steps.min() <= -reach):
        doubtful |= np.abs(steps) >= reach
    for position in np.flatnonzero(doubtful).tolist():
        uniform = LazyUniform.begun(source, int(digits[position]), noise.tuning.prefix, noise.tuning.step)
        result[position] = round_exactly(noise, float(values[position]), int(steps[position]), uniform)
    return result


def sum_at(noise: RealNoise, value: float, step: int, source: BitSource) -> float:
    """A value plus the noise whose cell is given, rounded once; the place inside the cell is drawn here."""
    digits = source.bits(noise.tuning.prefix)
    if abs(step) < noise.table.start:
        large = step * noise.unit
        total = value + large
        back = total - value
        rest = (value - (total - back)) + (large - back)
        rest += digits * noise.digit + noise.offset
        margin = abs(rest) * 2.0**-51 + noise.doubt
        result = noise.form.sum_one(total, rest + margin)
        if result == noise.form.sum_one(total, rest - margin):
            return result
    return round_exactly(noise, value, step, LazyUniform.begun(source, digits, noise.tuning.prefix, noise.tuning.step))


def round_exactly(noise: RealNoise, value: float, step: int, uniform: LazyUniform) -> float:
    """The rounded sum by exact arithmetic: bisection over the floats that the cell can give, each question asked of `uniform`."""
    form, unit, exact = noise.form, Fraction(2) ** noise.exponent, Fraction(value)
    low, high = (form.rank(exact + unit * (step + end)) for end in (Fraction(-1, 2), Fraction(1, 2)))
    while low < high:
        middle = (low + high) // 2
        place = (form.middle(middle) - exact) / unit - step
        if uniform.less(partial(_below, noise.cells, step, place)):
            high = middle
        else:
            low = middle + 1
    return float(form.number(low))


def _below(cells: Cells, step: int, place: Fraction, _: int) -> arb:
    """Ball around the chance to lie below a place of a cell, as a lazy comparison asks for it."""
    return cells.below(step, place)


def _two_sum(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The rounded sum of two arrays and what rounding left over, exactly (Knuth's TwoSum)."""
    total = first + second
    back = total - first
    return total, (first - (total - back)) + (second - back)
