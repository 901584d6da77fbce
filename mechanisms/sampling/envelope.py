"""The envelope of a law on the integers: stacks of equal cells under which its weights lie, certified by balls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from flint import arb

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, working_precision
from mechanisms.sampling.estimates import Estimate
from mechanisms.sampling.exactnum import LARGEST_EXPONENT, only_integer, shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHT_BITS: Final = 60
"""Ends of weights are kept as whole multiples of 2**-WEIGHT_BITS, rounded outward."""

HEIGHT_BITS: Final = 52
"""The height of a cell is a whole multiple of 2**-HEIGHT_BITS below 2, so that it is a float64 exactly."""

_TO_WEIGHT: Final = WEIGHT_BITS - HEIGHT_BITS


class EvenLaw(Protocol):
    """A law on the integers as the sampler needs it: even, not increasing away from 0, known up to its normaliser."""

    def __hash__(self) -> int:
        """Laws are values: equal ones share their table."""
        ...

    @property
    def width_squared(self) -> Fraction:
        """Square of the scale that the blocks are measured by."""
        ...

    @property
    def cut(self) -> Fraction:
        """How many scales from 0 the blocks reach."""
        ...

    def weight(self, k: int) -> arb:
        """Ball around P(k) / P(0), at the current working precision."""
        ...

    def decay(self, start: int) -> Fraction:
        """A rate r such that weight(start + j) <= weight(start) exp(-r j) for every j >= 0."""
        ...

    def estimate(self, shift: int, reach: int) -> Estimate:
        """Float formula for weights with blocks of 2**shift integers, valid up to `reach` blocks from 0."""
        ...


@dataclass(frozen=True)
class Tuning:
    """Sizes of the sampler, without influence on the law; small ones make rare paths common, for tests and enumeration.

    Args:
      cell_bits: number of bits that choose a cell, from 2 to 16.
      shift: blocks hold 2**shift integers; None makes the scale 32 to 64 blocks.
      cut: how many scales from 0 the blocks reach; None leaves the choice to the law.
      prefix: digits of the acceptance uniform that are compared before balls are used, from 1 to 64.
      step: digits added each time a comparison stays open, at least 1.
      slack: extra distance from the threshold, in cells, within which comparisons go to balls, from 0 to 1.
    Raises:
      InvalidArgument: a size out of its range (DPA103).
    Source: docs/exact_sampling.md, enumeration.
    Example:
      >>> Tuning(cell_bits=6, prefix=1, step=1).cell_bits
      6
    """

    cell_bits: int = 16
    shift: int | None = None
    cut: Fraction | None = None
    prefix: int = 64
    step: int = 64
    slack: float = 0.0

    def __post_init__(self) -> None:
        """Refuse sizes that the tables cannot hold."""
        for name, lower, upper in (("cell_bits", 2, 16), ("prefix", 1, 64), ("step", 1, 2**16), ("slack", 0, 1)):
            if not lower <= getattr(self, name) <= upper:
                raise InvalidArgument("DPA103", f"{name} must be from {lower} to {upper}, got {getattr(self, name)}.")


SHIPPED: Final = Tuning()
"""The sizes that laws sample with."""


@dataclass(frozen=True, eq=False)
class EnvelopeTable:
    """Cells of a law's envelope: those wholly under the weights, those partly under, both tails' cells, empty cells.

    Args:
      law: the law.
      tuning: the sizes it was built with.
      shift: a block holds 2**shift integers.
      columns: number of blocks on each side of 0 (with shift 0, block 0 is counted on both).
      height: height of a cell, relative to weight(0); a float64 exactly.
      full: number of cells wholly under the weights.
      occupied: number of cells that belong to blocks.
      tail_cells: number of cells of each tail; cells from occupied + 2 * tail_cells on are empty.
      decay: rate of the tails' geometric envelope, per integer.
      block: block of each cell, 0 beyond `occupied`.
      level: number of cells beneath each partly covered one.
      accept_below: with shift 0, first digits below this are under the weight; one entry per partly covered cell.
      reject_above: with shift 0, first digits above this are not under the weight.
      estimate: with a positive shift, the float formula that replaces these thresholds.
    Source: docs/exact_sampling.md, cells.
    Example:
      >>> from mechanisms.laws import DiscreteLaplace
      >>> table = envelope_table(DiscreteLaplace(10))
      >>> table.full <= table.occupied <= 2**16 - 2 * table.tail_cells
      True
    """

    law: EvenLaw
    tuning: Tuning
    shift: int
    columns: int
    height: Fraction
    full: int
    occupied: int
    tail_cells: int
    decay: Fraction
    block: NDArray[np.int64]
    level: NDArray[np.int64]
    accept_below: NDArray[np.uint64]
    reject_above: NDArray[np.uint64]
    estimate: Estimate

    @property
    def start(self) -> int:
        """First integer of the positive tail."""
        return self.columns << self.shift

    @property
    def negative_start(self) -> int:
        """Size of the first integer of the negative tail: long blocks end at -start, single integers at 1 - start."""
        return self.start + 1 if self.shift else self.start

    @cached_property
    def float_height(self) -> float:
        """The height as a float64, exactly."""
        return float(self.height)

    @cached_property
    def tail_area(self) -> Fraction:
        """Weight that the cells of one tail can hold."""
        return self.tail_cells * self.height * (1 << self.shift)

    @property
    def acceptance(self) -> float:
        """Roughly the share of trials that give a draw."""
        return (self.full + self.occupied) / (2 << self.tuning.cell_bits)

    def tail_envelope(self, steps: int) -> arb:
        """Ball around the envelope's weight at `start` + `steps` and beyond, at the current working precision."""
        rate = ball(self.decay)
        return _geometric_tail(self.law.weight(self.start), rate) * (-rate * steps).exp()


def _geometric_tail(weight: arb, rate: arb) -> arb:
    """Ball around weight / (1 - exp(-rate)), which bounds all that lies at and beyond a place of that weight and decay."""
    return weight / -(-rate).expm1()


@lru_cache(maxsize=32)
def envelope_table(law: EvenLaw, tuning: Tuning = SHIPPED) -> EnvelopeTable:
    """The envelope of a law, built from certified ends of its weights and kept for further use.

    Args:
      law: an even law whose weights do not increase away from 0.
      tuning: sizes; the default is the one that ships.
    Returns:
      An immutable table; its sizes influence speed only, never the law that is drawn.
    Raises:
      InvalidArgument: the sizes leave too few cells for the law, or reach too far for float64 (DPA103).
    Source: docs/exact_sampling.md, cells.
    Example:
      >>> from mechanisms.laws import DiscreteLaplace
      >>> envelope_table(DiscreteLaplace(10)).start
      301
    """
    shift = max(0, floor_log2(law.width_squared) // 2 - 5) if tuning.shift is None else tuning.shift
    reach = law.cut if tuning.cut is None else tuning.cut
    columns = isqrt(int(reach**2 * law.width_squared / 4**shift)) + 1
    decay = law.decay(columns << shift)
    estimate = law.estimate(shift, columns) if shift else Estimate(rate=0.0, power=1)
    if 2 * columns > 2**tuning.cell_bits or estimate.rate * float(columns) ** estimate.power > LARGEST_EXPONENT:
        raise InvalidArgument("DPA103", f"{columns} blocks on each side do not fit 2**{tuning.cell_bits} cells. Cut nearer to 0.")
    with working_precision(WEIGHT_BITS + 20 if shift else max(WEIGHT_BITS, tuning.prefix) + 40):
        weights = [law.weight(block << shift) for block in range(columns + 1)]
        tail = _rounded_up(_geometric_tail(weights[-1], ball(decay)), WEIGHT_BITS)
    tops = np.array([_rounded_up(weight, WEIGHT_BITS) for weight in weights], dtype=np.int64)[:-1]
    bottoms = np.array([_rounded_down(weight, WEIGHT_BITS) for weight in weights], dtype=np.int64)[1 if shift else 0 :][:columns]
    sides = np.array([2 if shift else 1] + [2] * (columns - 1))

    def tail_cells(height: int) -> int:
        return max(1, -(-tail // (height << _TO_WEIGHT + shift)))

    def total(height: int) -> int:
        return int((_covering(tops, height) * sides).sum()) + 2 * tail_cells(height)

    height = _smallest(lambda height: total(height) <= 2**tuning.cell_bits)
    if height is None:
        raise InvalidArgument("DPA103", f"2**{tuning.cell_bits} cells are too few for {columns} blocks a side. Use more.")
    owned, under = _covering(tops, height), bottoms // (height << _TO_WEIGHT)
    exact_height = Fraction(height, 2**HEIGHT_BITS)
    column, block = _order(columns, shift)
    partial = (owned - under)[column]
    offset = np.arange(partial.sum()) - np.repeat(np.cumsum(partial) - partial, partial)
    level = np.repeat(under[column], partial) + offset
    below, above = ([], []) if shift else _thresholds(weights, tuning, exact_height, np.repeat(column, partial), level)
    cells = np.concatenate([np.repeat(block, under[column]), np.repeat(block, partial)])
    return EnvelopeTable(
        law=law,
        tuning=tuning,
        shift=shift,
        columns=columns,
        height=exact_height,
        full=int(under[column].sum()),
        occupied=len(cells),
        tail_cells=tail_cells(height),
        decay=decay,
        block=_frozen(np.concatenate([cells, np.zeros(2**tuning.cell_bits - len(cells), dtype=np.int64)])),
        level=_frozen(level),
        accept_below=_frozen(np.array(below, dtype=np.uint64)),
        reject_above=_frozen(np.array(above, dtype=np.uint64)),
        estimate=estimate,
    )


def floor_log2(value: Fraction) -> int:
    """Largest integer e with 2**e <= value, for a positive value."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def _rounded_down(value: arb, bits: int) -> int:
    """Largest integer certainly not above value * 2**bits."""
    return only_integer(shifted(value, bits).lower().floor())


def _rounded_up(value: arb, bits: int) -> int:
    """Smallest integer certainly not below value * 2**bits."""
    return only_integer(shifted(value, bits).upper().ceil())


def _covering(tops: NDArray[np.int64], height: int) -> NDArray[np.int64]:
    """How many cells of height * 2**-HEIGHT_BITS cover each weight."""
    covering: NDArray[np.int64] = -(-tops // (height << _TO_WEIGHT))
    return covering


def _smallest(fits: Callable[[int], bool]) -> int | None:
    """Smallest height, in multiples of 2**-HEIGHT_BITS and below 2, for which the cells suffice; a higher one needs fewer."""
    low, high = 1 << (HEIGHT_BITS - 16), (2 << HEIGHT_BITS) - 1
    if not fits(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return low


def _order(columns: int, shift: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Column (distance from 0 in blocks) and signed block of every block; only blocks of one integer share block 0."""
    right = np.arange(columns)
    left = right if shift else right[1:]
    return np.concatenate([right, left]), np.concatenate([right, -left - 1 if shift else -left])


def _thresholds(
    weights: Sequence[arb], tuning: Tuning, height: Fraction, columns: NDArray[np.int64], levels: NDArray[np.int64]
) -> tuple[list[int], list[int]]:
    """For blocks of one integer: below and above which first digits a partly covered cell accepts and rejects for certain."""
    largest = 2**tuning.prefix - 1
    found: dict[tuple[int, int], tuple[int, int]] = {}
    keys = list(zip(columns.tolist(), levels.tolist(), strict=True))
    with working_precision(tuning.prefix + 40):
        for column, level in keys:
            if (column, level) not in found:
                filled = weights[column] / ball(height) - level
                below = _rounded_down(filled - tuning.slack, tuning.prefix)
                above = _rounded_up(filled + tuning.slack, tuning.prefix) - 1
                found[column, level] = min(max(below, 0), largest), min(max(above, 0), largest)
    return [found[key][0] for key in keys], [found[key][1] for key in keys]


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, made read-only."""
    array.setflags(write=False)
    return array
