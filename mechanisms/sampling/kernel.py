"""The envelope sampler: exact draws from an `EnvelopeTable`, in batches or one at a time."""

from __future__ import annotations

from math import isqrt
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.exact import ball, working_precision
from mechanisms.sampling.envelope import EnvelopeTable
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.limits import LARGEST, too_large
from mechanisms.sampling.random import BitSource

CHUNK: Final = 2**17
"""Trials of one batch: few enough for the cache of a processor, and enough to outweigh the cost of calling numpy."""


def draw(table: EnvelopeTable, source: BitSource, n: int, *, wide: bool = False, chunk: int = CHUNK) -> NDArray[Any]:
    """Independent exact draws."""
    result = np.empty(n, dtype=object if wide else np.int64)
    filled = 0
    while filled < n:
        # The number of trials depends on counts only, never on what was drawn, as the corollary asks.
        wanted = n - filled
        trials = min(chunk, int(wanted / table.acceptance) + isqrt(wanted) + 8)
        if trials <= wanted:
            filled += many_trials(table, source, result[filled : filled + trials])
        else:
            spare = np.empty(trials, dtype=result.dtype)
            taken = min(many_trials(table, source, spare), wanted)
            result[filled : filled + taken] = spare[:taken]
            filled += taken
    return result


def draw_one(table: EnvelopeTable, source: BitSource) -> int:
    """One exact draw of any size, by the same trials as `draw`."""
    while True:
        drawn = one_trial(table, source)
        if drawn is not None:
            return drawn


def one_trial(table: EnvelopeTable, source: BitSource) -> int | None:
    """One trial: an integer, or None where it is rejected.

    The digits that decide a partly covered cell are drawn and compared whether the cell needs it or not, so that the work done says
    little about the result.
    """
    tuning, shift, left = table.tuning, table.shift, table.left
    prefix = tuning.prefix
    word = source.bits(tuning.cell_bits + shift + prefix)
    cell, digits = word >> (shift + prefix), word & ((1 << prefix) - 1)
    if cell < table.occupied:
        partial = cell - table.full
        whole = partial < 0
        level, height, doublings = table.partial_cells[0 if whole else partial]
        neighbour = digits >> left >> (table.spread - doublings)
        digits &= (1 << left) - 1
        k = (table.block.item(cell) + (not whole) * neighbour << shift) + (word >> prefix & ((1 << shift) - 1))
        under = _decide_one(table, 0 if whole else partial, level, height, k, digits)
        if under is None and not whole:
            uniform = LazyUniform.begun(source, digits, left, tuning.step)
            under = _is_under(table, uniform, k, partial)
        return k if under or whole else None
    if cell < table.occupied + 2 * table.tail_cells:
        uniform = LazyUniform.begun(source, digits, prefix, tuning.step)
        return _tail(table, uniform, negative=cell >= table.occupied + table.tail_cells)
    return None


def _decide_one(table: EnvelopeTable, partial: int, level: int, height: float, k: int, digits: int) -> bool | None:
    """True if a point is certainly under the weight of k, False if certainly not, None if it is too near to say."""
    if not table.shift:
        return True if digits < table.accept_below.item(partial) else False if digits > table.reject_above.item(partial) else None
    weight = table.estimate.of_one(abs(k) / (1 << table.shift))
    bottom = (level + digits * table.unit) * height
    slack = table.slack * max(weight, height) + table.tuning.slack * height
    return True if bottom + table.unit * height < weight - slack else False if bottom > weight + slack else None


def many_trials(table: EnvelopeTable, source: BitSource, out: NDArray[Any]) -> int:
    """As many trials as `out` has places; gives how many were accepted, and puts their integers first in `out`."""
    cell = source.uniform(table.tuning.cell_bits, len(out))
    _place(table, source, cell, out)
    slow = np.flatnonzero(cell >= table.full)
    cells = cell[slow].astype(np.int64)
    accepted = np.zeros(len(slow), dtype=bool)
    inside = np.flatnonzero(cells < table.occupied)
    accepted[inside] = _are_under(table, source, cells[inside] - table.full, out, slow[inside])
    tails = table.occupied + 2 * table.tail_cells
    for position in np.flatnonzero((cells >= table.occupied) & (cells < tails)).tolist():
        uniform = LazyUniform(source, table.tuning.prefix, table.tuning.step)
        drawn = _tail(table, uniform, negative=bool(cells[position] >= table.occupied + table.tail_cells))
        if drawn is not None:
            accepted[position] = True
            out[slow[position]] = drawn if out.dtype == object else _fitting(drawn)
    return _close(out, slow[~accepted])


def _place(table: EnvelopeTable, source: BitSource, cell: NDArray[np.unsignedinteger], out: NDArray[Any]) -> None:
    """Write the first integer of each cell's block and `shift` random bits, added."""
    if out.dtype == object:
        out[:] = table.block.take(cell)
        out <<= table.shift
        out += np.array([source.bits(table.shift) for _ in range(len(cell))], dtype=object)
        return
    # No cell lies beyond the table; "clip" only spares numpy a copy.
    np.take(table.first, cell, out=out, mode="clip")
    if table.shift:
        out += source.uniform(table.shift, len(cell)).astype(np.int64, copy=False)


def _close(out: NDArray[Any], rejected: NDArray[np.intp]) -> int:
    """Move the last accepted integers to the rejected places before them, and give how many there are.

    What goes where depends on the pattern of acceptance alone, as the corollary asks.
    """
    count = len(out) - len(rejected)
    holes = rejected[: np.searchsorted(rejected, count)]
    movable = np.ones(len(rejected), dtype=bool)
    movable[rejected[len(holes) :] - count] = False
    out[holes] = out[count:][movable]
    return count


def _are_under(
    table: EnvelopeTable, source: BitSource, partial: NDArray[np.int64], out: NDArray[Any], places: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """True where the point of a partly covered cell lies under the weight of its integer, which is completed in `out`."""
    digits = source.uniform(table.tuning.prefix, len(partial)).astype(np.uint64, copy=False)
    left, value = table.left, out[places]
    if table.spread:
        neighbour = (digits >> left >> (table.spread - table.doublings[partial])).astype(value.dtype)
        value += neighbour << table.shift
        out[places] = value
        digits &= (1 << left) - 1
    if table.shift:
        under, near = _decide_many(table, partial, value, digits)
    else:
        under = digits < table.accept_below[partial]
        near = ~under & (digits <= table.reject_above[partial])
    for position in np.flatnonzero(near).tolist():
        uniform = LazyUniform.begun(source, int(digits[position]), left, table.tuning.step)
        under[position] = _is_under(table, uniform, int(value[position]), int(partial[position]))
    return under


def _decide_many(
    table: EnvelopeTable, partial: NDArray[np.int64], value: NDArray[Any], digits: NDArray[np.uint64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True for points certainly under the weight of their integer, and true for those too near to say."""
    height = table.heights[partial]
    if value.dtype == object:
        blocks = np.array([abs(k) / (1 << table.shift) for k in value], dtype=np.float64)
    else:
        blocks = np.abs(value).astype(np.float64) * 2.0**-table.shift
    weight = table.estimate.of(blocks)
    bottom = (table.level[partial] + digits * table.unit) * height
    slack = table.slack * np.maximum(weight, height) + table.tuning.slack * height
    under = bottom + table.unit * height < weight - slack
    return under, ~under & (bottom <= weight + slack)


def _is_under(table: EnvelopeTable, uniform: LazyUniform, k: int, partial: int) -> bool:
    """True if the point `uniform` within a partly covered cell lies under the weight of k, decided by balls."""
    height, level = table.height / (1 << table.doublings.item(partial)), table.level.item(partial)
    return uniform.less(lambda _: table.law.weight(k) / ball(height) - level)


def _tail(table: EnvelopeTable, uniform: LazyUniform, *, negative: bool) -> int | None:
    """A draw beyond the blocks, or None for a rejected trial; one uniform number, revealed as far as needed, decides everything.

    Times the tail's area, it lies between the envelope's weights beyond start + j + 1 and beyond start + j for one j. It is
    accepted in the lower part of that interval, which is as long as the weight of start + j.
    """
    if uniform.value > table.tail_above:
        return None
    area = table.tail_area
    if not uniform.less(lambda _: table.tail_envelope(0) / ball(area)):
        return None
    steps = _steps(table, uniform)
    if not uniform.less(lambda _: (table.tail_envelope(steps + 1) + table.law.weight(table.start + steps)) / ball(area)):
        return None
    size = table.start + steps
    if not negative:
        return size
    return -size if size >= table.negative_start else None


def _steps(table: EnvelopeTable, uniform: LazyUniform) -> int:
    """The j whose interval of the tail's envelope holds the uniform number, revealed until there is only one."""
    while True:
        with working_precision(uniform.precision):
            known = arb((2 * uniform.value + 1, -uniform.bits - 1), (1, -uniform.bits - 1))
            ratio = table.tail_envelope(0) / (known * ball(table.tail_area))
            steps = (ratio.log() / ball(table.decay)).floor().unique_fmpz() if ratio >= 1 else None
        if steps is not None:
            return int(steps)
        uniform.reveal()


def _fitting(drawn: int) -> int:
    """The draw, refused when it does not fit the result array."""
    if abs(drawn) >= LARGEST:
        raise too_large()
    return drawn
