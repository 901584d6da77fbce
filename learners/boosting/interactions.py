"""Interactions: two columns read together as one of coarse bins, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from learners.rows.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS: Final = 8
"""A range has so many parts in an interaction: each pair of bins needs records of its own."""

_MOST: Final = 4096


def read_pairs(given: Any, columns: Sequence[Column]) -> tuple[tuple[int, int], ...]:
    """The positions of the columns of each public pair, which must be two that are described."""
    if given is None:
        return ()
    places = {column.name: place for place, column in enumerate(columns)}
    write = "Write pairs of names of columns, such as interactions=[('age', 'hours')]."
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InvalidArgument("DPA105", f"interactions must be a sequence of pairs. {write}")
    found = []
    for pair in given:
        if isinstance(pair, (str, bytes)) or not isinstance(pair, Sequence) or len(pair) != 2 or not set(pair) <= set(places):
            raise InvalidArgument("DPA105", f"an interaction must name two columns that are described. {write}")
        first, second = (places[name] for name in pair)
        if first == second or _count(columns[first]) * _count(columns[second]) > _MOST:
            raise InvalidArgument("DPA103", f"an interaction must be of two columns, and of at most {_MOST} pairs of bins. {write}")
        found.append((first, second))
    return tuple(found)


def join_columns(columns: Sequence[Column], pairs: Sequence[tuple[int, int]]) -> tuple[Column, ...]:
    """What is public about each pair: its bins as categories, the last of them for two cells that are missing or unlisted."""
    joined = []
    for first, second in pairs:
        bins = list(product(_labels(columns[first]), _labels(columns[second])))
        joined.append(Column((columns[first].name, columns[second].name), None, tuple(bins[:-1])))
    return tuple(joined)


def join_codes(
    codes: NDArray[np.int64], columns: Sequence[Column], pairs: Sequence[tuple[int, int]], bins: int
) -> NDArray[np.int64]:
    """The bins of the columns, and after them those of the pairs."""
    coarse = [_coarsen(codes[:, place], column, bins) for place, column in enumerate(columns)]
    more = [coarse[first] * _count(columns[second]) + coarse[second] for first, second in pairs]
    return np.column_stack([codes, *more])


def _count(column: Column) -> int:
    """Number of coarse bins, that of missing cells included."""
    return column.size(PARTS)


def _coarsen(codes: NDArray[np.int64], column: Column, bins: int) -> NDArray[np.int64]:
    """Coarse bins from fine ones; that of missing cells stays the last."""
    return codes if column.ends is None else np.where(codes == bins, PARTS, codes * PARTS // bins)


def _labels(column: Column) -> list[Any]:
    """What the coarse bins hold: categories, or both ends of a part of the range; None for missing or unlisted cells."""
    if column.ends is None:
        return [*column.categories, None]
    ends = np.linspace(float(column.ends[0]), float(column.ends[1]), PARTS + 1).tolist()
    return [*pairwise(ends), None]
