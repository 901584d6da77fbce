"""Tables of pandas, polars and Arrow as rows, and tables of the same type from other rows; no library is imported for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Row: TypeAlias = dict[Any, Any]


@dataclass(frozen=True)
class Library:
    """What a library does with its tables: list columns and rows, take rows by place, make a table of rows like one, join two."""

    columns: Callable[[Any], Iterable[tuple[Any, Any]]]
    rows: Callable[[Any], list[Row]]
    take: Callable[[Any, list[int]], Any]
    make: Callable[[Any, list[Row]], Any]
    join: Callable[[Any, Any], Any]


def library_of(data: object) -> Library | None:
    """The library of a table, known by module and name; None for what is no table."""
    for kind in type(data).__mro__:
        if known := _LIBRARIES.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}"):
            return known
    return None


def is_table(data: object) -> bool:
    """True if `data` is a table of a known library."""
    return library_of(data) is not None


def rows_of(data: Any) -> list[Row]:
    """The rows of a table as dictionaries by column; anything else as it is."""
    library = library_of(data)
    return data if library is None else library.rows(data)


def columns_of(data: Any) -> list[tuple[Any, str]]:
    """Names and types of the columns of a table, in order."""
    library = library_of(data)
    return [] if library is None else [(name, str(kind)) for name, kind in library.columns(data)]


def table_like(data: Any, own: Sequence[Row], rows: Sequence[Row]) -> Any:
    """A table like `data` of other rows; those that are the very objects in `own`, its rows, are taken from it as they stand.

    So a value that a library holds in a type of its own is not read and written again, and leaving out a row of many is fast.
    """
    library = library_of(data)
    assert library is not None, "made of a table"  # noqa: S101
    known = _places_in(own)
    new = [row for row in rows if id(row) not in known]
    added = {id(row): len(own) + number for number, row in enumerate(new)}
    joined = library.join(data, library.make(data, new)) if new else data
    return library.take(joined, [added[id(row)] if id(row) in added else known[id(row)] for row in rows])


_latest: list[tuple[Sequence[Row], dict[int, int]]] = []
"""The rows whose places were asked for last, and these: a search makes hundreds of tables of the same hundred thousand rows."""


def _places_in(own: Sequence[Row]) -> dict[int, int]:
    """Return the place of each row by its identity."""
    if not _latest or _latest[0][0] is not own or len(_latest[0][1]) != len(own):
        _latest[:] = [(own, {id(row): place for place, row in enumerate(own)})]
    return _latest[0][1]


_WITHOUT_GAPS: Final = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))
"""Columns of pandas that hold no missing number."""


def _pandas_take(data: Any, places: list[int]) -> Any:
    """Take rows; labels that only count them are counted again, as in a file that never held the others."""
    taken = data.iloc[places]
    return taken.reset_index(drop=True) if type(data.index).__name__ == "RangeIndex" else taken


def _pandas_make(data: Any, rows: list[Row]) -> Any:
    """Make a table with the same columns and types; labels that do not count are those of the first rows again."""
    columns = {name: [row[name] if _can_hold(kind, row[name]) else None for row in rows] for name, kind in data.dtypes.items()}
    # A missing number makes floats of a column of integers, as where a file is read.
    kinds = {
        name: "float64" if kind.name in _WITHOUT_GAPS and None in columns[name] else kind for name, kind in data.dtypes.items()
    }
    made = type(data)(columns, columns=data.columns).astype(kinds)
    if type(data.index).__name__ != "RangeIndex" and len(data):
        made.index = data.index[[place % len(data) for place in range(len(rows))]]
    return made


def _can_hold(kind: Any, value: Any) -> bool:
    """True if a column of a type can hold a value: one of categories holds no other."""
    return not hasattr(kind, "categories") or value in kind.categories


def _pandas_join(data: Any, other: Any) -> Any:
    """Join two tables; an empty one is left out, since its columns may hold no type."""
    whole = type(data.index).__name__ == "RangeIndex"
    return sys.modules["pandas"].concat([data, other], ignore_index=whole) if len(data) else other


def _polars_take(data: Any, places: list[int]) -> Any:
    """Take rows."""
    return data[places] if places else data.clear()


_LIBRARIES: Final = {
    "pandas.DataFrame": Library(
        lambda data: data.dtypes.items(), lambda data: data.to_dict("records"), _pandas_take, _pandas_make, _pandas_join
    ),
    "polars.DataFrame": Library(
        lambda data: data.schema.items(),
        lambda data: data.to_dicts(),
        _polars_take,
        lambda data, rows: type(data)(rows, schema=data.schema),
        lambda data, other: data.vstack(other),
    ),
    "pyarrow.Table": Library(
        lambda data: zip(data.schema.names, data.schema.types, strict=True),
        lambda data: data.to_pylist(),
        lambda data, places: data.take(places) if places else data.slice(0, 0),
        lambda data, rows: type(data).from_pylist(rows, schema=data.schema),
        lambda data, other: sys.modules["pyarrow"].concat_tables([data, other]).combine_chunks(),
    ),
}
"""By module and name of the type."""
