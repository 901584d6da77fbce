"""The envelope of a law on the integers: stacks of equal cells under which its weights lie, certified by balls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, isqrt
from typing import Final, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, working_precision
from mechanisms.sampling.estimates import FLOAT_SLACK, Estimate
from mechanisms.sampling.exactnum import LARGEST_EXPONENT, only_integer, shift_ball
from mechanisms.sampling.limits import freeze, require_sizes

WEIGHT_BITS: Final = 60
"""Ends of weights are kept as whole multiples of 2**-WEIGHT_BITS, rounded outward."""

HEIGHT_BITS: Final = 52
"""The height of a cell is a whole multiple of 2**-HEIGHT_BITS below 2, so that it is a float64 exactly."""

SPREAD: Final = 6
"""Far from 0 one cell serves up to 2**SPREAD neighbouring blocks, where tables choose for themselves."""

_TO_WEIGHT: Final = WEIGHT_BITS - HEIGHT_BITS
_BLOCK_BITS: Final = 6


class EvenLaw(Protocol):
    """A law on the integers as the sampler needs it: even, not increasing away from 0, known up to its normaliser."""

    def __hash__(self) -> int:
        """Laws are values: equal ones share their table."""

    @property
    def width_squared(self) -> Fraction:
        """Square of the scale that the blocks are measured by."""

    @property
    def cut(self) -> Fraction:
        """The reach of the blocks, in scales from 0."""

    def weight(self, k: int) -> arb:
        """Ball around P(k) / P(0), at the current working precision."""

    def decay(self, start: int) -> Fraction:
        """A rate r such that weight(start + j) <= weight(start) exp(-r j) for every j >= 0."""

    def estimate(self, shift: int, reach: int) -> Estimate:
        """Float formula for weights with blocks of 2**shift integers, valid up to `reach` blocks from 0."""


@dataclass(frozen=True)
class Tuning:
    """Sizes of the sampler, without influence on the law; small ones make rare paths common, for tests and enumeration.

    Args:
      cell_bits: number of bits that choose a cell, from 2 to 16.
      shift: blocks hold 2**shift integers; None takes 0 for scales below 64, else makes the scale 32 to 128 blocks.
      cut: how many scales from 0 the blocks reach; None leaves the choice to the law.
      prefix: digits that decide about a partly covered cell before balls are used, from 1 to 64.
      spread: how many of them may choose among neighbouring long blocks that share a cell, fewer than `prefix`; None takes `SPREAD`
        where the prefix is long enough.
      step: digits added each time a comparison stays open, at least 1.
      slack: extra distance from the threshold, in cells, within which comparisons go to balls, from 0 to 1.
    """

    cell_bits: int = 16
    shift: int | None = None
    cut: Fraction | None = None
    prefix: int = 64
    spread: int | None = None
    step: int = 64
    slack: float = 0.0

    def __post_init__(self) -> None:
        require_sizes(self, cell_bits=(2, 16), prefix=(1, 64), step=(1, 2**16), slack=(0, 1))
        if self.spread is not None and not 0 <= self.spread < self.prefix:
            raise InvalidArgument("DPA103", f"spread must be from 0 to {self.prefix - 1}, below the prefix, got {self.spread}.")


SHIPPED: Final = Tuning()
"""The sizes that laws sample with."""


@dataclass(frozen=True, eq=False)
class EnvelopeTable:
    """Cells of a law's envelope: those wholly under the weights, those partly under, both tails' cells, empty cells.

    Args:
      law: the law.
      tuning: the sizes it was built with.
      shift: a block holds 2**shift integers, or a multiple of that far from 0.
      spread: a block holds 2**(shift + spread) integers at most; 0 with shift 0.
      columns: length of a side, in blocks of 2**shift integers (with shift 0, block 0 is counted on both sides).
      height: height of a cell over 2**shift integers, relative to weight(0); cells over more are lower and of the same area.
      full: number of cells wholly under the weights.
      occupied: number of cells that belong to blocks.
      tail_cells: number of cells of each tail; cells from occupied + 2 * tail_cells on are empty.
      tail_above: first digits above this lie beyond a tail's envelope.
      decay: rate of the tails' geometric envelope, per integer.
      block: lower end of each cell's block, in blocks of 2**shift integers; 0 beyond `occupied`.
      doublings: the block of each partly covered cell holds 2**(shift + doublings) integers, that of any other 2**shift.
      heights: height of each partly covered cell, height / 2**doublings, a float64 exactly.
      level: number of cells beneath each partly covered one.
      accept_below: with shift 0, first digits below this are under the weight; one entry per partly covered cell.
      reject_above: with shift 0, first digits above this are not under the weight.
      estimate: with a positive shift, the float formula that replaces these thresholds.
    """

    law: EvenLaw
    tuning: Tuning
    shift: int
    spread: int
    columns: int
    height: Fraction
    full: int
    occupied: int
    tail_cells: int
    tail_above: int
    decay: Fraction
    block: NDArray[np.int64]
    doublings: NDArray[np.uint8]
    heights: NDArray[np.float64]
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
    def first(self) -> NDArray[np.int64]:
        """First integer of each cell's block, for tables below 2**62."""
        return freeze(self.block << self.shift)

    @cached_property
    def partial_cells(self) -> list[tuple[int, float, int]]:
        """Level, height and doublings of each partly covered cell, as Python numbers for draws made one at a time."""
        return list(zip(self.level.tolist(), self.heights.tolist(), self.doublings.tolist(), strict=True))

    @cached_property
    def left(self) -> int:
        """The number of digits of a partly covered cell that are compared: those that do not choose a block."""
        return self.tuning.prefix - self.spread

    @cached_property
    def unit(self) -> float:
        """Worth of the last of these digits, in cells."""
        return 2.0**-self.left

    @cached_property
    def slack(self) -> float:
        """Bound on all errors of a float comparison, relative to the larger of weight and cell."""
        return FLOAT_SLACK + self.estimate.slack

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
    """The envelope of a law, built from certified ends of its weights and kept for further use."""
    shift = _shift(law) if tuning.shift is None else tuning.shift
    spread = 0 if not shift else min(SPREAD, tuning.prefix - 1) if tuning.spread is None else tuning.spread
    reach = law.cut if tuning.cut is None else tuning.cut
    blocks = isqrt(int(reach**2 * law.width_squared / 4**shift)) + 1
    if blocks > 2 ** (tuning.cell_bits + spread):
        raise _too_few(tuning, blocks)
    with working_precision(WEIGHT_BITS + 20 if shift else max(WEIGHT_BITS, tuning.prefix) + 40):
        starts, weights = _columns(law, shift, spread, blocks, tuning)
        columns = starts[-1]
        decay, estimate = law.decay(columns << shift), law.estimate(shift, columns) if shift else Estimate(rate=0.0, power=1)
        _, tail = _ends(_geometric_tail(law.weight(columns << shift), ball(decay)), WEIGHT_BITS)
    spare = _end_bits(tuning) - WEIGHT_BITS
    tops = np.array([-(-upper >> spare) for _, upper in weights[:-1]], dtype=np.int64)
    bottoms = np.array([lower >> spare for lower, _ in (weights[1:] if shift else weights[:-1])], dtype=np.int64)
    if estimate.rate * float(columns) ** estimate.power > LARGEST_EXPONENT:
        raise InvalidArgument("DPA103", f"{columns} blocks on each side reach too far for float64. Cut nearer to 0.")
    doublings = np.array([(stop - start).bit_length() - 1 for start, stop in pairwise(starts)], dtype=np.int64)
    sides = np.array([2 if shift else 1] + [2] * (len(tops) - 1))

    def tail_cells(height: int) -> int:
        return max(1, -(-tail // (height << _TO_WEIGHT + shift)))

    def total(height: int) -> int:
        return int((_covering(tops << doublings, height) * sides).sum()) + 2 * tail_cells(height)

    height = _smallest(lambda height: total(height) <= 2**tuning.cell_bits)
    if height is None:
        raise _too_few(tuning, columns)
    owned = _covering(tops << doublings, height)
    # Cells of a doubled block count as partly covered, always: its place within the block is among their digits.
    under = np.where(doublings > 0, 0, bottoms // (height << _TO_WEIGHT))
    exact_height = Fraction(height, 2**HEIGHT_BITS)
    column, block = _order(starts, shift)
    partial = (owned - under)[column]
    offset = np.arange(partial.sum()) - np.repeat(np.cumsum(partial) - partial, partial)
    level = np.repeat(under[column], partial) + offset
    doubled = np.repeat(doublings[column], partial)
    below, above = ([], []) if shift else _thresholds(weights, tuning, height, np.repeat(column, partial), level)
    cells = np.concatenate([np.repeat(block, under[column]), np.repeat(block, partial)])
    return EnvelopeTable(
        law=law,
        tuning=tuning,
        shift=shift,
        spread=spread,
        columns=columns,
        height=exact_height,
        full=int(under[column].sum()),
        occupied=len(cells),
        tail_cells=tail_cells(height),
        tail_above=(tail << tuning.prefix) // (tail_cells(height) * height << _TO_WEIGHT + shift),
        decay=decay,
        block=freeze(np.concatenate([cells, np.zeros(2**tuning.cell_bits - len(cells), dtype=np.int64)])),
        doublings=freeze(doubled.astype(np.uint8)),
        heights=freeze(np.ldexp(float(exact_height), -doubled)),
        level=freeze(level),
        accept_below=freeze(np.array(below, dtype=np.uint64)),
        reject_above=freeze(np.array(above, dtype=np.uint64)),
        estimate=estimate,
    )


def _shift(law: EvenLaw) -> int:
    """The number of bits that choose an integer within a block: none for laws so narrow that every integer has its own cells."""
    size = floor_log2(law.width_squared) // 2
    return 0 if size < _BLOCK_BITS else max(1, size - _BLOCK_BITS)


def _end_bits(tuning: Tuning) -> int:
    """Ends of weights are kept as whole multiples of 2 to minus this: enough for cells and, divided by a height, for digits."""
    return WEIGHT_BITS + tuning.prefix + 16


def _columns(law: EvenLaw, shift: int, spread: int, blocks: int, tuning: Tuning) -> tuple[list[int], list[tuple[int, int]]]:
    """Ends of one side's blocks from 0 outward, in units of 2**shift integers, and both ends of the weights of these places.

    A block is doubled while a cell of the same area would still cover it, judged by what the blocks before it weigh.
    """
    starts, weights, sum_, bits = [0], [_ends(law.weight(0), _end_bits(tuning))], 0, _end_bits(tuning)
    while starts[-1] < blocks:
        top = weights[-1][1]
        fitting = (2 * sum_ >> tuning.cell_bits) // top
        doubled = min(spread, max(fitting.bit_length() - 1, 0))
        sum_ += top << doubled
        starts.append(starts[-1] + (1 << doubled))
        weights.append(_ends(law.weight(starts[-1] << shift), bits))
    return starts, weights


def _too_few(tuning: Tuning, columns: int) -> InvalidArgument:
    """The refusal of sizes that leave a block without a cell."""
    return InvalidArgument("DPA103", f"2**{tuning.cell_bits} cells are too few for {columns} blocks a side. Use more.")


def floor_log2(value: Fraction) -> int:
    """Largest integer e with 2**e <= value, for a positive value."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def _ends(value: arb, bits: int) -> tuple[int, int]:
    """Integers certainly not above and not below value * 2**bits, as near as the ball allows."""
    scaled = shift_ball(value, bits)
    return only_integer(scaled.lower().floor()), only_integer(scaled.upper().ceil())


def _covering(tops: NDArray[np.int64], height: int) -> NDArray[np.int64]:
    """The number of cells of height * 2**-HEIGHT_BITS that cover each weight."""
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


def _order(starts: Sequence[int], shift: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Column (number of the block on its side) and lower end of every block; only blocks of one integer share block 0."""
    ends = np.array(starts, dtype=np.int64)
    column = np.arange(len(ends) - 1)
    left = column if shift else column[1:]
    return np.concatenate([column, left]), np.concatenate([ends[:-1], -ends[1:] if shift else -ends[1:-1]])


def _thresholds(
    weights: Sequence[tuple[int, int]], tuning: Tuning, height: int, columns: NDArray[np.int64], levels: NDArray[np.int64]
) -> tuple[list[int], list[int]]:
    """For blocks of one integer: below and above which first digits a partly covered cell accepts and rejects for certain."""
    largest, slack = 2**tuning.prefix - 1, ceil(Fraction(tuning.slack) * 2**tuning.prefix)
    # A weight in units of the last digit: times 2**prefix, over the height.
    power, divisor = tuning.prefix + HEIGHT_BITS, height << _end_bits(tuning)
    digits = [((lower << power) // divisor - slack, -(-(upper << power) // divisor) + slack - 1) for lower, upper in weights]
    below, above = [], []
    for column, level in zip(columns.tolist(), levels.tolist(), strict=True):
        beneath = level << tuning.prefix
        below.append(min(max(digits[column][0] - beneath, 0), largest))
        above.append(min(max(digits[column][1] - beneath, 0), largest))
    return below, above
