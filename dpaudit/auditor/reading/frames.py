"""Tables, series, sparse matrices and masked arrays of other libraries, known by module and name, never imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

_DENSE: Final = 4096

Parts: TypeAlias = list[tuple[str, Any]]
"""What an object holds, by the name of each part."""


def parts_of(output: Any) -> tuple[str, Parts] | None:
    """The form of an object of pandas or scipy.sparse and all that it holds, by the name of each part; None for others."""
    names = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(output).__mro__}
    if "pandas.DataFrame" in names:
        return _frame(output)
    if "pandas.Series" in names:
        return f"Series {output.dtype}", [
            ("the name", output.name),
            ("the labels", output.index),
            ("the values", _values(output)),
            *_attributes(output),
        ]
    if "pandas.MultiIndex" in names:
        return f"{type(output).__name__}", [("the names", list(output.names)), ("the values", output.tolist())]
    if "pandas.Index" in names:
        return f"{type(output).__name__} {output.dtype}", [("the name", output.name), ("the values", _values(output))]
    if type(output).__module__.startswith("pandas.") and type(output).__name__ in ("NAType", "NaTType"):
        return type(output).__name__, []
    if type(output).__module__.startswith("scipy.sparse") and hasattr(output, "tocoo"):
        return _sparse(output)
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
    """What a user attached to a table."""
    if output.attrs:
        yield "the attributes", output.attrs
    if getattr(output, "flags", None) is not None and not output.flags.allows_duplicate_labels:
        yield "the flags", True


def _sparse(matrix: Any) -> tuple[str, Parts]:
    """The parts of a sparse matrix: all its numbers where they are few, and what is stored of it."""
    form = f"{type(matrix).__name__} {matrix.dtype} {'x'.join(map(str, matrix.shape))}"
    stored = matrix.tocoo()
    parts: Parts = [("the stored", int(stored.nnz))]
    cells = 1
    for size in matrix.shape:
        cells *= size
    if cells <= _DENSE:
        return form, [*parts, ("the values", matrix.toarray())]
    return form, [
        *parts,
        *((f"the places {axis}", places) for axis, places in enumerate(stored.coords)),
        ("the values", stored.data),
    ]
