"""Tables, series and indices of pandas, sparse matrices and distributions of scipy, known by module and name, never imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from dpaudit.auditor.reading.leaves import Label
from dpaudit.auditor.reading.tables import PARTS

_DENSE: Final = 4096
"""Cells of a sparse matrix that are all read, zeros too; of larger ones only what is stored."""

Parts: TypeAlias = list[tuple[str, Any]]
"""Contents of an object, by the name of each part."""


def parts_of(output: Any) -> tuple[str, Parts] | None:
    """The form of an object of another library and all that it holds, by the name of each part; None for unknown ones."""
    for kind in type(output).__mro__:
        if known := _PARTS.get(f"{kind.__module__.partition('.')[0]}.{kind.__name__}"):
            return known(output)
    return None


def _frame(frame: Any) -> tuple[str, Parts]:
    """The parts of a table: names of columns, labels of rows, types, and values by position of the column."""
    types = [str(kind) for kind in frame.dtypes.tolist()]
    columns = [part for place in range(frame.shape[1]) for part in _column(f"the column {place}", frame.iloc[:, place])]
    labels: Parts = [("the types", Label(",".join(types))), ("the columns", frame.columns), ("the labels", frame.index)]
    return f"DataFrame {','.join(types)}", [*labels, *columns, *_attributes(frame)]


def _column(name: str, series: Any) -> Iterator[tuple[str, Any]]:
    """The values of a column or an index: an array where they are numbers, else a list; with its levels where it has any."""
    values = series.to_numpy()
    yield name, values if values.dtype.kind in "fiub" else series.tolist()
    levels = getattr(series.dtype, "categories", None)
    if levels is not None:
        yield f"{name} has levels", levels
        yield f"{name} has order", bool(series.dtype.ordered)


def _attributes(output: Any) -> Iterator[tuple[str, Any]]:
    """Attributes that a user attached to a table."""
    if output.attrs:
        yield "the attributes", output.attrs
    if getattr(output, "flags", None) is not None and not output.flags.allows_duplicate_labels:
        yield "the flags", True


def _series(series: Any) -> tuple[str, Parts]:
    """The parts of a series."""
    labels: Parts = [("the type", Label(str(series.dtype))), *_name(series), ("the labels", series.index)]
    return f"Series {series.dtype}", [*labels, *_column("the values", series), *_attributes(series)]


def _name(labelled: Any) -> Parts:
    """The name of a series or an index, where it has one."""
    return [] if labelled.name is None else [("the name", labelled.name)]


def _index(index: Any) -> tuple[str, Parts]:
    """The parts of an index; of a regular one its ends and its step only."""
    name = f"{type(index).__name__} {index.dtype}"
    if type(index).__name__ == "RangeIndex":
        return name, [*_name(index), ("the range", range(index.start, index.stop, index.step))]
    step = getattr(index, "freq", None)
    return name, [*_name(index), *([("the step", Label(str(step)))] if step is not None else []), *_column("the values", index)]


def _many_levels(index: Any) -> tuple[str, Parts]:
    """The parts of an index of several levels."""
    return type(index).__name__, [
        ("the names", list(index.names)),
        ("the values", index.tolist()),
        ("the levels", list(index.levels)),
    ]


def _extension(array: Any) -> tuple[str, Parts]:
    """The parts of an array of a type of pandas' own."""
    return f"{type(array).__name__} {array.dtype}", list(_column("the values", array))


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


def _distribution(frozen: Any) -> tuple[str, Parts] | None:
    """The parts of a distribution of scipy with its parameters."""
    kind = frozen.dist
    if not type(kind).__module__.startswith("scipy.stats") or hasattr(kind, "_histogram"):
        return None  # one that was made may hold data
    return f"{type(frozen).__name__} {kind.name}", [("the arguments", frozen.args), ("the keywords", frozen.kwds)]


_PARTS: Final[dict[str, Callable[[Any], tuple[str, Parts] | None]]] = {
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "pandas.MultiIndex": _many_levels,
    "pandas.Index": _index,
    "pandas.ExtensionArray": _extension,
    "pandas.NAType": lambda nothing: (type(nothing).__name__, [("the gap", 1)]),
    "pandas.Period": lambda period: (f"Period {period.freqstr}", [("the count", period.ordinal)]),
    "scipy.rv_frozen": _distribution,
    "scipy.sparray": _sparse,
    "scipy.spmatrix": _sparse,
    **PARTS,
}
"""Readers of objects of other libraries, by library and name of a type, its own or one it is derived from."""
