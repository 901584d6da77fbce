"""Events: sets of outputs, as predicates on feature rows that can be pickled, compared and described."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.scoring.table import ScoreTable, mix_codes
from dpaudit.auditor.statistics.binning import Floats, assign_bins

Hits: TypeAlias = NDArray[np.bool_]

_SHOWN: Final = 8


@dataclass(frozen=True)
class Threshold:
    """Outputs whose feature in `column` is at most (or, without `at_most`, at least) `limit`."""

    column: int
    limit: float
    at_most: bool

    @property
    def columns(self) -> tuple[int, ...]:
        """Positions of the features that decide."""
        return (self.column,)

    def hits(self, features: Floats) -> Hits:
        """Tell which rows are inside; NaN never is."""
        values = features[:, self.column]
        return values <= self.limit if self.at_most else values >= self.limit

    def describe(self, names: tuple[str, ...]) -> str:
        """Describe the event with the names of columns."""
        return f"{names[self.column]} {'<=' if self.at_most else '>='} {_number(self.limit)}"


@dataclass(frozen=True)
class Atoms:
    """Outputs whose features in `columns` are exactly one of the rows of `values`."""

    columns: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]

    def hits(self, features: Floats) -> Hits:
        """Tell which rows are inside."""
        wanted, codes = self._codes, row_codes(features[:, list(self.columns)])
        if wanted.size == 1:
            return np.asarray(codes == wanted[0])
        return np.asarray(wanted[np.minimum(np.searchsorted(wanted, codes), wanted.size - 1)] == codes)

    @cached_property
    def _codes(self) -> NDArray[np.uint64]:
        """Codes of the rows, increasing, made once for the thousands of chunks that are counted."""
        return np.unique(row_codes(np.array(self.values, dtype=np.float64).reshape(-1, len(self.columns))))

    def describe(self, names: tuple[str, ...]) -> str:
        """Describe the event with the names of columns; long lists are cut."""
        single = len(self.columns) == 1
        subject = names[self.columns[0]] if single else f"({', '.join(names[column] for column in self.columns)})"
        shown = [_number(row[0]) if single else f"({', '.join(_number(value) for value in row)})" for row in self.values[:_SHOWN]]
        if len(self.values) == 1:
            return f"{subject} = {shown[0]}"
        more = f", and {len(self.values) - _SHOWN} more" if len(self.values) > _SHOWN else ""
        return f"{subject} in {{{', '.join(shown)}{more}}}"


@dataclass(frozen=True)
class ScoreThreshold:
    """Outputs whose score by `table` is at most (or, without `at_most`, at least) `limit`."""

    table: ScoreTable
    limit: float
    at_most: bool

    @property
    def columns(self) -> tuple[int, ...]:
        """Positions of the features that decide."""
        return self.table.columns

    def hits(self, features: Floats) -> Hits:
        """Tell which rows are inside."""
        if self._is_of_one:
            lowest, turns = self._turns
            return np.asarray((assign_bins(features[:, self.table.columns[0]], turns) % 2 == 1) != lowest)
        return self.of_scores(self.table.scores(features))

    def of_scores(self, scores: Floats) -> Hits:
        """Tell which scores are inside."""
        return scores <= self.limit if self.at_most else scores >= self.limit

    def describe(self, names: tuple[str, ...]) -> str:
        """Describe the event, as ranges where the score has one column; long lists are cut."""
        if len(self.table.columns) == 1:
            return _ranges(names[self.table.columns[0]], self.table.cuts[0], self._inside())
        shown = [names[column] for column in self.table.columns[:_SHOWN]]
        more = f", and {len(self.table.columns) - _SHOWN} more" if len(self.table.columns) > _SHOWN else ""
        return f"score of ({', '.join(shown)}{more}) {'<=' if self.at_most else '>='} {_number(self.limit)}"

    @property
    def _is_of_one(self) -> bool:
        """True if the score has a single column: then the event is a union of ranges, which are quicker to find than bins."""
        return len(self.table.columns) == 1 and not self.table.symbols

    @cached_property
    def _turns(self) -> tuple[bool, Floats]:
        """True if the lowest bin of a single column is inside, and the cuts at which that changes."""
        inside = self._inside()
        turns = [cut for cut, below, above in zip(self.table.cuts[0], inside, inside[1:], strict=False) if below != above]
        return inside[0], np.array(turns)

    def _inside(self) -> list[bool]:
        """Tell for each bin of a single column whether its outputs are in the event."""
        scores = [self.table.offset + value for value in self.table.values[0]]
        return [score <= self.limit if self.at_most else score >= self.limit for score in scores]


Event: TypeAlias = Threshold | Atoms | ScoreThreshold
"""A set of outputs, chosen on runs other than those it is counted on."""


def hits_of(events: Sequence[Event], features: Floats) -> Iterator[Hits]:
    """Yield for each event which rows are inside; a score of several columns that events share is computed once."""
    scores: dict[int, Floats] = {}
    for event in events:
        if isinstance(event, ScoreThreshold) and len(event.columns) > 1:
            place = id(event.table)
            if place not in scores:
                scores[place] = event.table.scores(features)
            yield event.of_scores(scores[place])
        else:
            yield event.hits(features)


def _ranges(name: str, cuts: tuple[float, ...], inside: list[bool]) -> str:
    """Join the bins inside an event to the fewest ranges of a value; bin i goes from cut i - 1, itself inside, to below cut i."""
    ends = [None, *cuts, None]
    starts = [bin_ for bin_, taken in enumerate(inside) if taken and (bin_ == 0 or not inside[bin_ - 1])]
    stops = [bin_ + 1 for bin_, taken in enumerate(inside) if taken and (bin_ + 1 == len(inside) or not inside[bin_ + 1])]
    shown = [_range(name, ends[start], ends[stop]) for start, stop in zip(starts, stops, strict=True)]
    return " or ".join([*shown[:_SHOWN], f"{len(shown) - _SHOWN} more ranges"] if len(shown) > _SHOWN else shown) or "nothing"


def _range(name: str, low: float | None, high: float | None) -> str:
    """One range of a value."""
    if low is None:
        return f"any {name}" if high is None else f"{name} < {_number(high)}"
    return f"{name} >= {_number(low)}" if high is None else f"{_number(low)} <= {name} < {_number(high)}"


def row_codes(rows: Floats) -> NDArray[np.uint64]:
    """Code each row in 64 bits; equal rows have equal codes (0.0 and -0.0 count as equal), others almost never."""
    bits = (np.ascontiguousarray(rows) + 0.0).view(np.uint64)
    codes = np.zeros(len(rows), dtype=np.uint64)
    for column in range(bits.shape[1]):
        codes = mix_codes(codes, bits[:, column])
    return codes


def _number(value: float) -> str:
    """Write a feature value: integers without a point, others in full so that the event can be repeated."""
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 1e15 else repr(float(value))
