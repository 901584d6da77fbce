"""The forms in which functions take data: records, rows, one column, a table or a frame; each made from records or an array."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, Final

from dpaudit.blame import meant
from dpaudit.errors import TargetFailure
from dpaudit.plain.signature import column_for
from dpaudit.plain.usage import Usage

_FRAME_WORDS: Final = {
    "groupby", "loc", "iloc", "iterrows", "itertuples", "query", "dropna", "fillna", "merge", "columns", "assign", "to_dict",
    "apply", "empty", "value_counts", "drop", "isin", "describe", "index",
}  # fmt: skip
_POLARS_WORDS: Final = {"select", "filter", "with_columns", "group_by", "lazy", "height", "iter_rows", "get_column", "is_empty"}
_ARRAY_WORDS: Final = {
    "mean", "sum", "std", "var", "shape", "astype", "min", "max", "size", "T", "dot", "reshape", "ndim", "dtype", "clip", "cumsum",
    "argmax", "argmin", "tolist", "flatten", "ravel", "any", "all",
}  # fmt: skip

WORDS: Final = {
    "records": "a list of dictionaries, one for each record",
    "rows": "a list of tuples, one for each record",
    "list": "the column {} as a list",
    "array": "the column {} as a numpy array",
    "series": "the column {} as a pandas Series",
    "table": "a numpy array with the columns {}",
    "frame": "a pandas DataFrame",
    "polars": "a polars DataFrame",
    "split": "the columns {}, each as an argument",
    "as it is": "the data as they are",
}
"""What a report says of each form."""


@dataclass(frozen=True)
class Form:
    """Data in the form that a function takes: the dataset whose neighbours are made, and what makes arguments of it."""

    kind: str
    columns: tuple[str, ...]
    data: Any = field(repr=False)
    give: Callable[[Any], tuple[Any, ...]] = field(repr=False)

    @property
    def words(self) -> str:
        """Name the form."""
        return WORDS[self.kind].format(", ".join(self.columns))


class Row(tuple[Any, ...]):
    """A record as a tuple whose items have the names of the columns; copied and written down with these names."""

    __slots__ = ()
    names: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        """Return the item of a column."""
        if name in self.names:
            return self[self.names.index(name)]
        raise AttributeError(f"there is no column {name!r}", name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Say how the row is made again."""
        return make_row, (self.names, tuple(self))


@lru_cache(maxsize=64)
def _row_class(names: tuple[str, ...]) -> type[Row]:
    """Return the class of rows with these names."""
    return type("Row", (Row,), {"names": names, "__slots__": ()})


def make_row(names: tuple[str, ...], values: Sequence[Any]) -> Row:
    """Make a row."""
    return _row_class(names)(values)


@dataclass(frozen=True)
class Table:
    """The data as they were read, with the names of their columns; an array of one dimension has one column without a name."""

    source: Any = field(repr=False)
    names: tuple[str, ...]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        if isinstance(self.source, (list, tuple)):
            if self.source and not isinstance(self.source[0], Mapping):
                return list(self.source)
            return [record.get(name) for record in self.source]
        if self.source.ndim == 1:
            values: list[Any] = self.source.tolist()
            return values
        return list(self.source[:, self.names.index(name)].tolist())

    def is_numeric(self, name: str) -> bool:
        """True if all values of a column are numbers or missing."""
        return all(value is None or isinstance(value, (int, float)) for value in self.column(name))

    def head(self, size: int) -> Table:
        """Return the first records."""
        return Table(self.source[:size], self.names)


def table_of(source: Any) -> Table:
    """Return records or an array as a table."""
    if isinstance(source, (list, tuple)):
        mappings = bool(source) and all(isinstance(record, Mapping) for record in source)
        return Table(source, tuple(dict.fromkeys(str(key) for record in source for key in record)) if mappings else ("value",))
    if source.dtype.names:
        names = tuple(source.dtype.names)
        return Table([dict(zip(names, row, strict=True)) for row in source.tolist()], names)
    return Table(source, ("value",) if source.ndim == 1 else tuple(f"c{place}" for place in range(source.shape[1])))


def kinds_for(annotation: str, usage: Usage, name: str, columns: Sequence[str]) -> list[str]:
    """Return the forms that a parameter may take, likeliest first; one alone where an annotation says it."""
    if found := _annotated(annotation, usage):
        return [found]
    default = ["records", "list", "rows", "array", "frame", "polars", "table"]
    named = ["frame"] if name.lower() in {"df", "frame", "dataframe"} else []
    return list(dict.fromkeys([*named, *_used(usage), *(["list"] if column_for(name, columns) else []), *default]))


def _annotated(annotation: str, usage: Usage) -> str:
    """Return the form that an annotation names; "" where it names none."""
    if "DataFrame" in annotation:
        return "polars" if "polars" in annotation or annotation.startswith("pl.") else "frame"
    if "Series" in annotation:
        return "series"
    if re.search(r"NDArray|ndarray|ArrayLike", annotation):
        return "table" if usage.sliced or usage.attributes & {"shape", "T", "dot"} else "array"
    inner = re.fullmatch(r"[\w.]*(?:list|List|Sequence|Iterable|Collection|tuple|Tuple)\[(.*)\]", annotation)
    if inner is None:
        return ""
    item = inner[1]
    if re.match(r"[\w.]*(dict|Dict|Mapping|Record)", item):
        return "records"
    if re.match(r"[\w.]*(tuple|Tuple|list|List|Sequence)", item):
        return "rows"
    return "list" if re.match(r"(int|float|str|bool|Number|numbers\.\w+)\b", item) else ""


def _used(usage: Usage) -> list[str]:
    """Return the forms that the use of a parameter suggests."""
    whole = usage.attributes
    found: list[str] = []
    if usage.keys or whole & _FRAME_WORDS - {"index"}:
        found += ["frame", "polars"] if not whole & _POLARS_WORDS else ["polars", "frame"]
    elif whole & _POLARS_WORDS:
        found += ["polars"]
    if usage.item_keys:
        found += ["records"]
    if usage.item_attributes or usage.indexed:
        found += ["rows"]
    if usage.sliced or whole & {"T", "shape", "dot", "ndim"}:
        found += ["table"]
    if usage.arithmetic or whole & _ARRAY_WORDS:
        found += ["array", "series"]
    if usage.valued or usage.passed & {
        "sum",
        "mean",
        "median",
        "quantile",
        "percentile",
        "clip",
        "histogram",
        "bincount",
        "Counter",
    }:
        found += ["list"]
    return found


def form_of(kind: str, table: Table, parameters: Sequence[str], wanted: Sequence[str]) -> Form:
    """Make the data in a form; TargetFailure (DPA404) where columns are not clear or a library is missing."""
    _check_columns(wanted, table)
    if kind == "records":
        return _records(table)
    if kind == "rows":
        names = tuple(wanted) or table.names
        columns = [table.column(name) for name in names]
        return Form(kind, names, [make_row(names, values) for values in zip(*columns, strict=True)], _alone)
    if kind in ("list", "array", "series"):
        return _column(kind, table, parameters[0], wanted)
    if kind == "table":
        return _numbers(table, wanted)
    if kind in ("frame", "polars"):
        return Form(kind, table.names, _frame(kind, table, wanted), _alone)
    return _split(table, parameters, wanted)


def _alone(data: Any) -> tuple[Any, ...]:
    """Give the data as one argument."""
    return (data,)


def _check_columns(wanted: Sequence[str], table: Table) -> None:
    """Refuse columns that the data do not have."""
    for name in wanted:
        if name not in table.names:
            raise TargetFailure(
                "DPA404", f"the data have no column {name!r}{meant(name, table.names)}. They have {', '.join(table.names)}."
            )


def _records(table: Table) -> Form:
    """Return the data as dictionaries."""
    if isinstance(table.source, (list, tuple)) and table.source and isinstance(table.source[0], Mapping):
        return Form("records", table.names, list(table.source), _alone)
    if not isinstance(table.source, (list, tuple)) and table.source.ndim > 1:
        columns = [table.column(name) for name in table.names]
        return Form(
            "records", table.names, [dict(zip(table.names, row, strict=True)) for row in zip(*columns, strict=True)], _alone
        )
    raise TargetFailure("DPA404", "the data have one column without a name, of which no records are made.")


def _column(kind: str, table: Table, parameter: str, wanted: Sequence[str]) -> Form:
    """Return one column: the one that is asked for, that the parameter is named after, or the only one that it can be."""
    numeric = [name for name in table.names if table.is_numeric(name)]
    found = (
        list(wanted)
        or [one for one in [column_for(parameter, table.names)] if one]
        or (list(table.names) if len(table.names) == 1 else numeric if len(numeric) == 1 else [])
    )
    if len(found) != 1:
        raise TargetFailure(
            "DPA404",
            f"the argument {parameter} takes the values of one column, and the data have {', '.join(table.names)}. "
            f"Write --columns {(numeric or list(table.names))[0]}.",
        )
    values = table.column(found[0])
    if kind == "list":
        return Form(kind, tuple(found), values, _alone)
    data = _array(values)
    return Form(kind, tuple(found), data, partial(_series, found[0]) if kind == "series" else _alone)


def _array(values: list[Any]) -> Any:
    """Return values as an array, missing numbers as NaN."""
    import numpy as np

    if any(value is None for value in values) and all(value is None or isinstance(value, (int, float)) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values)


def _series(name: str, data: Any) -> tuple[Any, ...]:
    """Give an array as a pandas Series."""
    import pandas as pd

    return (pd.Series(data, name=name),)


def _numbers(table: Table, wanted: Sequence[str]) -> Form:
    """Return the numeric columns side by side."""
    import numpy as np

    names = tuple(wanted) or tuple(name for name in table.names if table.is_numeric(name))
    if not names:
        raise TargetFailure("DPA404", "the data have no column of numbers, of which an array could be made.")
    if not isinstance(table.source, (list, tuple)) and names == table.names and table.source.ndim > 1:
        return Form("table", names, table.source, _alone)
    return Form("table", names, np.column_stack([_array(table.column(name)) for name in names]), _alone)


def _frame(kind: str, table: Table, wanted: Sequence[str]) -> Any:
    """Return the data as a DataFrame."""
    library = "pandas" if kind == "frame" else "polars"
    if find_spec(library) is None:
        raise TargetFailure("DPA404", f"a DataFrame needs {library}, which is not installed. Run: pip install {library}.")
    columns = {name: table.column(name) for name in (tuple(wanted) or table.names)}
    if kind == "frame":
        import pandas as pd

        return pd.DataFrame(columns)
    import polars as pl

    return pl.DataFrame(columns)


def _split(table: Table, parameters: Sequence[str], wanted: Sequence[str]) -> Form:
    """Return the columns that several parameters take, each by its name, else features and labels."""
    import numpy as np

    matched = [column_for(name, table.names) for name in parameters]
    if len(wanted) == len(parameters):
        names = list(wanted)
    elif all(matched):
        names = [name for name in matched if name is not None]
    else:
        return _features(table, wanted, matched[-1])
    if all(table.is_numeric(name) for name in names):
        whole = np.column_stack([_array(table.column(name)) for name in names])
        return Form("split", tuple(names), whole, _by_column)
    rows = list(zip(*(table.column(name) for name in names), strict=True))
    return Form("split", tuple(names), rows, partial(_by_place, len(names)))


def _features(table: Table, wanted: Sequence[str], label: str | None) -> Form:
    """Return features and, as the last column, the labels."""
    numbers = _numbers(table, wanted)
    usual = [name for name in numbers.columns if name.lower() in {"y", "label", "target", "class", "outcome"}]
    last = label if label in numbers.columns else (usual or numbers.columns[-1:])[0]
    order = [*(place for place, name in enumerate(numbers.columns) if name != last), numbers.columns.index(last)]
    if len(order) < 2:
        raise TargetFailure("DPA404", "features and labels need two columns of numbers at least.")
    return Form("split", tuple(numbers.columns[place] for place in order), numbers.data[:, order], _features_and_labels)


def _by_column(data: Any) -> tuple[Any, ...]:
    """Give the columns of an array, each as an array."""
    return tuple(data[:, place].copy() for place in range(data.shape[1]))


def _by_place(width: int, data: Sequence[Any]) -> tuple[Any, ...]:
    """Give the columns of rows, each as a list."""
    return tuple([row[place] for row in data] for place in range(width))


def _features_and_labels(data: Any) -> tuple[Any, ...]:
    """Give all columns but the last, and the last."""
    return data[:, :-1].copy(), data[:, -1].copy()
