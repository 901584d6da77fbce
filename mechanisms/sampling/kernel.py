"""The envelope sampler: exact draws from an `EnvelopeTable`, in batches or one at a time."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from flint import arb

from dpaudit.errors import Unsupported
from dpaudit.exact import ball, working_precision
from mechanisms.sampling.envelope import EnvelopeTable
from mechanisms.sampling.estimates import FLOAT_SLACK
from mechanisms.sampling.exactnum import LazyUniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.sampling.random import BitSource

CHUNK: Final = 2**16
"""Trials of one batch: few enough for the processor's cache."""

LARGEST: Final = 2**62
"""Draws of this size and beyond are given as Python integers only."""


def draw(table: EnvelopeTable, source: BitSource, n: int, *, wide: bool = False, chunk: int = CHUNK) -> NDArray[Any]:
    """Independent exact draws.

    Args:
      table: the law's envelope; unless `wide` its blocks must lie below 2**62.
      source: where the random bits come from.
      n: how many draws, at least 0.
      wide: whether to give Python integers of any size.
      chunk: how many trials are made at once, at least 1; no influence on the law.
    Returns:
      Array of shape (n,): int64, or Python integers if `wide`.
    Raises:
      Unsupported: a draw is 2**62 or larger and `wide` is False (DPA108).
    Source: docs/exact_sampling.md, exactness theorem and its corollary.
    Example:
      >>> from mechanisms.sampling.envelope import envelope_table
      >>> from mechanisms.laws import DiscreteGaussian
      >>> from mechanisms.sampling.random import default_source
      >>> draw(envelope_table(DiscreteGaussian(sigma=2)), default_source(), 3).shape
      (3,)
    """
    result = np.empty(n, dtype=object if wide else np.int64)
    filled = 0
    while filled < n:
        # The number of trials depends on counts only, never on what was drawn, as the corollary asks.
        wanted = n - filled
        accepted = many_trials(table, source, min(chunk, int(wanted / table.acceptance) + isqrt(wanted) + 8), wide=wide)
        taken = min(len(accepted), wanted)
        result[filled : filled + taken] = accepted[:taken]
        filled += taken
    return result


def draw_one(table: EnvelopeTable, source: BitSource) -> int:
    """One exact draw of any size, by the same trials as `draw`.

    Args:
      table: the law's envelope.
      source: where the random bits come from.
    Returns:
      A Python int.
    Raises:
      Unsupported: a comparison did not end (DPA202).
    Source: docs/exact_sampling.md, exactness theorem.
    Example:
      >>> from mechanisms.sampling.envelope import envelope_table
      >>> from mechanisms.laws import DiscreteGaussian
      >>> from mechanisms.sampling.random import default_source
      >>> type(draw_one(envelope_table(DiscreteGaussian(sigma=2)), default_source()))
      <class 'int'>
    """
    while True:
        drawn = one_trial(table, source)
        if drawn is not None:
            return drawn


def one_trial(table: EnvelopeTable, source: BitSource) -> int | None:
    """One trial: an integer, or None where it is rejected.

    The first digits of the acceptance uniform are drawn and compared whether the cell needs it or not, so that the work done says
    little about the result.
    """
    prefix, shift = table.tuning.prefix, table.shift
    word = source.bits(table.tuning.cell_bits + shift + prefix)
    cell, digits = word >> (shift + prefix), word & ((1 << prefix) - 1)
    if cell < table.occupied:
        k = (table.block.item(cell) << shift) + (word >> prefix & ((1 << shift) - 1))
        partial = max(cell - table.full, 0)
        under = _decide_one(table, partial, k, digits)
        if under is None and cell >= table.full:
            uniform = LazyUniform.begun(source, digits, prefix, table.tuning.step)
            under = _is_under(table, uniform, k, table.level.item(partial))
        return k if under or cell < table.full else None
    if cell < table.occupied + 2 * table.tail_cells:
        uniform = LazyUniform.begun(source, digits, prefix, table.tuning.step)
        return _tail(table, uniform, negative=cell >= table.occupied + table.tail_cells)
    return None


def _decide_one(table: EnvelopeTable, partial: int, k: int, digits: int) -> bool | None:
    """Whether a point is certainly under the weight of k, certainly not, or (None) too near to say."""
    if not table.shift:
        return True if digits < table.accept_below.item(partial) else False if digits > table.reject_above.item(partial) else None
    height, unit = table.float_height, 2.0**-table.tuning.prefix
    weight = table.estimate.of_one(abs(k) / (1 << table.shift))
    bottom = (table.level.item(partial) + digits * unit) * height
    slack = (FLOAT_SLACK + table.estimate.slack) * max(weight, height) + table.tuning.slack * height
    return True if bottom + unit * height < weight - slack else False if bottom > weight + slack else None


def many_trials(table: EnvelopeTable, source: BitSource, trials: int, *, wide: bool = False) -> NDArray[Any]:
    """The integers that `trials` trials give, in the order of the trials, without the rejected ones."""
    cell = source.uniform(table.tuning.cell_bits, trials)
    value = _places(table, source, cell, wide=wide)
    slow = np.flatnonzero(cell >= table.full)
    cells = cell[slow].astype(np.int64)
    accepted = np.zeros(len(slow), dtype=bool)
    inside = np.flatnonzero(cells < table.occupied)
    accepted[inside] = _are_under(table, source, cells[inside] - table.full, value[slow[inside]])
    tails = table.occupied + 2 * table.tail_cells
    for position in np.flatnonzero((cells >= table.occupied) & (cells < tails)).tolist():
        uniform = LazyUniform(source, table.tuning.prefix, table.tuning.step)
        drawn = _tail(table, uniform, negative=bool(cells[position] >= table.occupied + table.tail_cells))
        if drawn is not None:
            accepted[position] = True
            value[slow[position]] = drawn if wide else _fitting(drawn)
    keep = np.ones(trials, dtype=bool)
    keep[slow] = accepted
    results: NDArray[Any] = value[keep]
    return results


def _places(table: EnvelopeTable, source: BitSource, cell: NDArray[np.unsignedinteger], *, wide: bool) -> NDArray[Any]:
    """An integer in the block of each cell: the block's first one and `shift` random bits."""
    block: NDArray[Any] = table.block.take(cell)
    if wide:
        block = block.astype(object) << table.shift
        block += np.array([source.bits(table.shift) for _ in range(len(cell))], dtype=object)
    elif table.shift:
        block <<= table.shift
        block += source.uniform(table.shift, len(cell)).astype(np.int64, copy=False)
    return block


def _are_under(table: EnvelopeTable, source: BitSource, partial: NDArray[np.int64], value: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether the point drawn in each partly covered cell lies under the weight of its integer."""
    digits = source.uniform(table.tuning.prefix, len(partial)).astype(np.uint64, copy=False)
    if table.shift:
        under, near = _decide_many(table, partial, value, digits)
    else:
        under = digits < table.accept_below[partial]
        near = ~under & (digits <= table.reject_above[partial])
    for position in np.flatnonzero(near).tolist():
        uniform = LazyUniform.begun(source, int(digits[position]), table.tuning.prefix, table.tuning.step)
        under[position] = _is_under(table, uniform, int(value[position]), int(table.level[partial[position]]))
    return under


def _decide_many(
    table: EnvelopeTable, partial: NDArray[np.int64], value: NDArray[Any], digits: NDArray[np.uint64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points are certainly under the weight of their integer, and which are too near to say."""
    height, unit = table.float_height, 2.0**-table.tuning.prefix
    if value.dtype == object:
        blocks = np.array([abs(k) / (1 << table.shift) for k in value], dtype=np.float64)
    else:
        blocks = np.abs(value).astype(np.float64) * 2.0**-table.shift
    weight = table.estimate.of(blocks)
    bottom = (table.level[partial] + digits * unit) * height
    slack = (FLOAT_SLACK + table.estimate.slack) * np.maximum(weight, height) + table.tuning.slack * height
    under = bottom + unit * height < weight - slack
    return under, ~under & (bottom <= weight + slack)


def _is_under(table: EnvelopeTable, uniform: LazyUniform, k: int, level: int) -> bool:
    """Whether the point `level` + `uniform` cells high lies under the weight of k, decided by balls."""
    return uniform.less(lambda _: table.law.weight(k) / ball(table.height) - level)


def _tail(table: EnvelopeTable, uniform: LazyUniform, *, negative: bool) -> int | None:
    """A draw beyond the blocks, or None for a rejected trial; one uniform number, revealed as far as needed, decides everything.

    Times the tail's area, it lies between the envelope's weights beyond start + j + 1 and beyond start + j for one j. It is
    accepted in the lower part of that interval, which is as long as the weight of start + j.
    """
    area = ball(table.tail_area)
    if not uniform.less(lambda _: table.tail_envelope(0) / area):
        return None
    steps = _steps(table, uniform)
    if not uniform.less(lambda _: (table.tail_envelope(steps + 1) + table.law.weight(table.start + steps)) / area):
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
        raise Unsupported("DPA108", "a draw is 2**62 or larger. Ask for wide=True to get Python integers.")
    return drawn
