"""Public columns of a table: a range or a list of categories for each, and the bin of every cell, by that cell alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer, kind_of, rational
from learners.rows.ingest import checked_features
from learners.rows.labels import checked_classes
from learners.rows.ranges import Ranges, read_ranges
from learners.rows.schema import as_numbers, is_number_type, read_or, type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WRITE: Final = (
    "Write a pair (low, high) for numbers and a list for categories, such as columns={'age': (17, 90), 'sex': ['f', 'm']}; "
    "one pair alone stands for all columns."
)


@dataclass(frozen=True)
class Text:
    """A column of text, whose words are counted in a public number of buckets by a fixed hash.

    Args:
      buckets: their number, 2 to 2^20.
    Example:
      >>> Text(64)
      Text(buckets=64)
    """

    buckets: int

    def __post_init__(self) -> None:
        """Check the number."""
        integer(self.buckets, "buckets", lower=2, upper=2**20)


@dataclass(frozen=True)
class Column:
    """What is public about a column: its range, its categories in order, or how many buckets its words fall in."""

    name: Any  # in a mapping; else the position
    ends: tuple[Fraction, Fraction] | None
    categories: tuple[Any, ...] = ()
    buckets: int = 0

    @property
    def ranges(self) -> Ranges:
        """The range of numbers, as scaling reads it."""
        return read_ranges([self.ends], 1)

    def scale(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers from -1 to 1, cell by cell; NaN where a cell is no number."""
        return self.ranges.scale(as_numbers(cells)[:, np.newaxis])[:, 0]

    def places(self, cells: NDArray[Any]) -> NDArray[np.int64]:
        """The position of every cell among the categories, compared as Python compares values; their number for all others."""
        place, other = {value: position for position, value in enumerate(self.categories)}, len(self.categories)
        found = (place.get(read_or(None, _looked_up, cell), other) for cell in cells.tolist())
        return np.fromiter(found, dtype=np.int64, count=len(cells))

    def bins(self, cells: NDArray[Any], count: int) -> NDArray[np.int64]:
        """The bin of every cell: one of `count` equal parts of the range or a category, and one more for what is neither."""
        if self.ends is None:
            return self.places(cells)
        scaled = self.scale(cells)
        missing = np.isnan(scaled)
        parts = np.clip(np.floor((np.where(missing, 0.0, scaled) + 1) * (count / 2)), 0, count - 1).astype(np.int64)
        return np.where(missing, count, parts)

    def size(self, count: int) -> int:
        """Number of bins, that of missing cells included."""
        return (len(self.categories) if self.ends is None else count) + 1

    @property
    def fact(self) -> list[str]:
        """The column as a record states it."""
        ends = self.categories if self.ends is None else self.ends
        return [str(self.name), *([f"{self.buckets} buckets"] if self.buckets else map(str, ends))]


def describe_columns(given: Any, count: int) -> tuple[Column, ...]:
    """The public columns in the order in which they are described; one pair stands for as many as there are."""
    if isinstance(given, Mapping):
        return tuple(_column(name, spec) for name, spec in given.items())
    if _is_pair(given):
        given = [given] * count
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InvalidArgument("DPA105", f"columns must be a mapping, a sequence or a pair, got {kind_of(given)}. {_WRITE}")
    if len(given) != count:
        raise InvalidArgument("DPA103", f"columns must describe {count} columns, got {len(given)}. {_WRITE}")
    return tuple(_column(place, spec) for place, spec in enumerate(given))


def read_columns(given: Any, table: Any) -> tuple[Column, ...]:
    """The public columns of a table, all of which are described, and no other."""
    names, count = _names(table), _width(table)
    if getattr(getattr(table, "dtype", None), "kind", "") == "c":
        raise InvalidArgument("DPA105", "cells must be real numbers. Complex data not supported: give their parts as columns.")
    if isinstance(given, Mapping) and (names is None or set(given) != set(names)):
        if names is None:
            raise InvalidArgument("DPA105", f"columns gives names, but X is an array without names. Give a sequence. {_WRITE}")
        lacking, more = [name for name in names if name not in given], [name for name in given if name not in names]
        raise InvalidArgument(
            "DPA105", f"columns must describe each column of X; not described: {lacking}, not in X: {more}. {_WRITE}"
        )
    described = describe_columns(given, count)
    return described if isinstance(given, Mapping) or names is None else tuple(map(_renamed, described, names))


def _renamed(column: Column, name: Any) -> Column:
    """The column under the name that a table gives it."""
    return replace(column, name=name)


def read_cells(table: Any, columns: Sequence[Column]) -> list[NDArray[Any]]:
    """The cells of each column; refused for a declared type that holds no numbers where there is a range."""
    names = _names(table)
    if names is not None:
        return [_series(table[column.name], column) for column in columns]
    if any(isinstance(value, str) for column in columns for value in (*column.categories, *["text"] * column.buckets)):
        read: Any = np.empty((len(table), len(columns)), dtype=object)
        read[:] = table
    else:
        read = checked_features(table, may_be_empty=True)
    return [read[:, place] if isinstance(read, np.ndarray) else read[:, [place]].toarray()[:, 0] for place in range(len(columns))]


def _series(series: Any, column: Column) -> NDArray[Any]:
    """The cells of a column of a table."""
    if column.ends is None:
        return np.asarray(series.to_numpy(), dtype=object)
    if not is_number_type(series.dtype):
        kind = type_name(series.dtype)
        raise InvalidArgument(
            "DPA105", f"column {column.name!r} has a range, but its type is {kind}. List its categories. {_WRITE}"
        )
    try:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):  # nullable numbers, whose missing cells are no floats
        return np.asarray(series.to_numpy(), dtype=object)


def _column(name: Any, spec: Any) -> Column:
    """A column as it was described."""
    if isinstance(spec, Text):
        return Column(name, None, buckets=spec.buckets)
    if _is_pair(spec):
        read_ranges([spec], 1)  # refuses what is no range
        return Column(name, (rational(spec[0], "an end of a range"), rational(spec[1], "an end of a range")))
    if isinstance(spec, (str, bytes)) or not isinstance(spec, (Sequence, np.ndarray)):
        raise InvalidArgument("DPA105", f"column {name!r} must be a pair or a list of categories, got {kind_of(spec)}. {_WRITE}")
    return Column(name, None, tuple(checked_classes(spec).tolist()))


def _is_pair(spec: Any) -> bool:
    """True for a tuple of two ends; a list holds categories, also if there are two."""
    return isinstance(spec, tuple) and len(spec) == 2 and not any(isinstance(end, (tuple, list)) for end in spec)


def _names(table: Any) -> list[Any] | None:
    """The names of the columns; None for arrays."""
    names = getattr(table, "columns", None)
    return None if names is None or isinstance(table, type) else list(names)


def _width(table: Any) -> int:
    """Number of columns."""
    shape = getattr(table, "shape", None)
    if shape is None:
        shape = np.asarray(table, dtype=object).shape
    if len(shape) != 2:
        raise InvalidArgument(
            "DPA105",
            f"X must be a table of shape (records, columns), got {len(shape)} dimensions. "
            "Reshape your data: X.reshape(1, -1) is one record.",
        )
    if shape[1] == 0:
        raise InvalidArgument("DPA109", "0 feature(s) (shape=(, 0)) while a minimum of 1 is required. Give X at least one column.")
    return int(shape[1])


def _looked_up(cell: Any) -> Hashable:
    """The cell itself, once it is known that a look-up does not raise."""
    hash(cell)
    return None if isinstance(cell, Real) and not math.isfinite(cell) else cell
