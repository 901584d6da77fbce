"""Score of feature rows by look-up: one table for each column, and one for the pattern of exact values in a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.statistics.binning import Floats, assign_bins

Codes: TypeAlias = NDArray[np.uint64]

_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(29)


@dataclass(frozen=True)
class ScoreTable:
    """A score of feature rows: for each listed column the cut points of its bins and the score of each bin.

    A row's pattern is which exact value is in which column, numbers in between being alike; the score of a known pattern is added.

    Args:
      columns: positions of the columns used.
      cuts: increasing cut points, one tuple for each column.
      values: scores of the bins, one more than there are cuts, one tuple for each column.
      offset: constant added to every score.
      symbols: what each bin adds to the pattern, one tuple for each column; none where patterns do not count.
      patterns, pattern_values: increasing codes of the known patterns, and their scores.
    """

    columns: tuple[int, ...]
    cuts: tuple[tuple[float, ...], ...]
    values: tuple[tuple[float, ...], ...]
    offset: float
    symbols: tuple[tuple[int, ...], ...] = ()
    patterns: tuple[int, ...] = ()
    pattern_values: tuple[float, ...] = ()

    def scores(self, features: Floats) -> Floats:
        """Score each row: an estimate of its log-odds for label 1."""
        total = np.full(len(features), self.offset)
        codes = np.zeros(len(features), dtype=np.uint64)
        for column, (cuts, values, symbols) in zip(self.columns, self._arrays, strict=True):
            bins = assign_bins(features[:, column], cuts)
            total += values.take(bins)
            if symbols.size:
                codes = mix_codes(codes, symbols.take(bins))
        if self.symbols:
            total += look_up_values(codes, *self._pattern_arrays)
        return total

    @cached_property
    def _arrays(self) -> tuple[tuple[Floats, Floats, Codes], ...]:
        """Cut points, scores and symbols of each column, made once for the thousands of chunks that are scored."""
        symbols = self.symbols or ((),) * len(self.columns)
        return tuple(
            (np.array(cuts), np.array(values), np.array(words, dtype=np.uint64))
            for cuts, values, words in zip(self.cuts, self.values, symbols, strict=True)
        )

    @cached_property
    def _pattern_arrays(self) -> tuple[Codes, Floats]:
        """Known patterns and their scores."""
        return np.array(self.patterns, dtype=np.uint64), np.array(self.pattern_values)


def mix_codes(codes: Codes, words: Codes) -> Codes:
    """Mix one more word into the code of each row; different rows have different codes but for rare accidents."""
    codes = (codes ^ words) * _MULTIPLIER
    codes ^= codes >> _SHIFT
    return codes


def look_up_values(codes: Codes, known: Codes, values: Floats) -> Floats:
    """Look up the value of each code, 0 for those that are not among the increasing `known` ones."""
    place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return np.where(known[place] == codes, values[place], 0.0)
