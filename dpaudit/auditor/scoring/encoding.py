"""Columns of a pilot as small bin numbers, cut from values alone: exact values that repeat, and the numbers in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.scoring.table import Codes, mix_codes
from dpaudit.auditor.statistics.binning import MOST_VALUES, Floats, assign_bins, cut_points, fine_cuts

Small: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

MOST_PATTERNS: Final = 4096
"""Patterns of exact values that a score keeps: more have too few rows each."""

_ROWS_TO_CUT: Final = 2**16
_ROWS_TO_COUNT: Final = 2**17
_MOST_ATOMS: Final = 8
_ATOM: Final = 1 / 500
_FEWEST_REPEATS: Final = 4
_RUNS_FOR_FINE: Final = 2**16
_COARSE, _FINE = 8, 16


@dataclass(frozen=True)
class Column:
    """A column: its position, group, cut points, bins by row, and which bins hold numbers instead of one exact value."""

    source: int
    group: int
    cuts: Floats
    bins: Small
    numeric: Mask

    @property
    def size(self) -> int:
        """Number of bins."""
        return len(self.cuts) + 1

    @property
    def symbols(self) -> Codes:
        """Contribution of each bin to a pattern; bins of numbers all add the same."""
        return np.where(self.numeric, 0, np.arange(1, self.size + 1)).astype(np.uint64)


def encode_columns(features: Floats, groups: Sequence[int] | None) -> list[Column]:
    """Bin the columns that vary: by value where there are few, else in equal shares and by value where one repeats often."""
    found = []
    varying = [column for column in range(features.shape[1]) if _varies(features[:, column])]
    for column in varying:
        values = features[:, column]
        cuts, numeric = _cuts(values, single=len(varying) == 1)
        if cuts.size:
            bins = assign_bins(values, cuts).astype(np.uint8)
            found.append(Column(column, groups[column] if groups else 0, cuts, bins, numeric))
    return found


def patterns_of(columns: Sequence[Column], rows: int) -> Codes | None:
    """Code the exact values of each row; None where no two columns have any, or patterns are too many to be counted."""
    if len(columns) < 2 or all(column.numeric.all() for column in columns):
        return None
    codes = _codes(columns, slice(0, _ROWS_TO_COUNT))
    if np.unique(codes).size > MOST_PATTERNS:
        return None
    return codes if rows <= _ROWS_TO_COUNT else _codes(columns, slice(None))


def _codes(columns: Sequence[Column], rows: slice) -> Codes:
    """Pattern codes of some rows."""
    codes = np.zeros(len(columns[0].bins[rows]), dtype=np.uint64)
    for column in columns:
        codes = mix_codes(codes, column.symbols.take(column.bins[rows]))
    return codes


def _varies(values: Floats) -> bool:
    """True if a column has two different finite values."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() < finite.max())


def _cuts(values: Floats, *, single: bool) -> tuple[Floats, Mask]:
    """Cut points and which bins between them hold numbers."""
    sample = values[:_ROWS_TO_CUT]
    finite = sample[np.isfinite(sample)]
    distinct, counts = np.unique(finite, return_counts=True)
    if distinct.size <= min(MOST_VALUES, finite.size // 4):
        # Later rows may hold values that are not among the first ones; they fall into the bin below.
        return distinct[1:], np.zeros(distinct.size, dtype=bool)
    if single:
        cuts = fine_cuts(values, cut_points(values))
        return cuts, np.ones(cuts.size + 1, dtype=bool)
    often = np.flatnonzero(counts >= max(_FEWEST_REPEATS, _ATOM * finite.size))
    atoms = distinct[often[np.argsort(-counts[often], kind="stable")[:_MOST_ATOMS]]]
    numbers = finite[~np.isin(finite, atoms)]
    shares = _FINE if len(values) >= _RUNS_FOR_FINE else _COARSE
    quantiles = np.quantile(numbers, np.arange(1, shares) / shares, method="higher") if numbers.size else numbers
    cuts = np.unique(np.concatenate([quantiles, atoms, np.nextafter(atoms, np.inf)]))
    cuts = cuts[cuts > distinct[0]]
    starts = np.concatenate([distinct[:1], cuts])
    return np.asarray(cuts), ~np.isin(starts, atoms)
