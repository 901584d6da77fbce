"""Tables, series, sparse matrices and masked arrays of other libraries, known by module and name, never imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

_DENSE: Final = 4096
"""Cells of a sparse matrix that are all read, zeros too; of larger ones only what is stored."""

Parts: TypeAlias = list[tuple[str, Any]]
"""Contents of an object, by the name of each part."""


def parts_of(output: Any) -> tuple[str, Parts] | None:
    """The form of an object of pandas or scipy.sparse and all that it holds, by the name of each part; None for others."""
    for kind in type(output).__mro__:
        if known := _PARTS.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}"):
            return known(output)
    return None


def _frame(frame: Any) -> tuple[str, Parts]:
    """The parts of a table: names of columns, labels of rows, types in the form, and values by position of the column."""
    types = ",".join(map(str, frame.dtypes.tolist()))
    columns = [(f"the column {place}", _values(frame.iloc[:, place])) for place in range(frame.shape[1])]
    labels: Parts = [("the columns", frame.columns), ("the labels", frame.index)]
    return f"DataFrame {types}", [*labels, *columns, *_attributes(frame)]


def _values(series: Any) -> Any:
    """The values of a column: an array where they are numbers, else a list."""
    values = series.to_numpy()
    return values if values.dtype.kind in "fiub" else series.tolist()


def _attributes(output: Any) -> Iterator[tuple[str, Any]]:
    """Attributes that a user attached to a table."""
    if output.attrs:
        yield "the attributes", output.attrs
    if getattr(output, "flags", None) is not None and not output.flags.allows_duplicate_labels:
        yield "the flags", True


def _series(series: Any) -> tuple[str, Parts]:
    """The parts of a series."""
    labels: Parts = [("the name", series.name), ("the labels", series.index), ("the values", _values(series))]
    return f"Series {series.dtype}", [*labels, *_attributes(series)]


def _sparse(matrix: Any) -> tuple[str, Parts] | None:
    """The parts of a sparse matrix: all its numbers where they are few, and what is stored of it."""
    if not type(matrix).__module__.startswith("scipy.sparse"):
        return None  # a derived type may hold more, and is read as any object
    form = f"{type(matrix).__name__} {matrix.dtype} {'x'.join(map(str, matrix.shape))}"
    stored = matrix.tocoo()
    parts: Parts = [("the stored", int(stored.nnz))]
    if math.prod(matrix.shape) <= _DENSE:
        return form, [*parts, ("the values", matrix.toarray())]
    places = ((f"the places {axis}", places) for axis, places in enumerate(stored.coords))
    return form, [*parts, *places, ("the values", stored.data)]


_PARTS: Final[dict[str, Callable[[Any], tuple[str, Parts] | None]]] = {
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "pandas.MultiIndex": lambda index: (type(index).__name__, [("the names", list(index.names)), ("the values", index.tolist())]),
    "pandas.Index": lambda index: (
        f"{type(index).__name__} {index.dtype}",
        [("the name", index.name), ("the values", _values(index))],
    ),
    "pandas.NAType": lambda nothing: (type(nothing).__name__, []),
    "pandas.NaTType": lambda nothing: (type(nothing).__name__, []),
    "scipy.sparray": _sparse,
    "scipy.spmatrix": _sparse,
}
"""Readers of objects of other libraries, by library and name of a type, its own or one it is derived from."""
