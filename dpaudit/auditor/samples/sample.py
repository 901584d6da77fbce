"""One sample: outputs of a release, a row each, from an array or from the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.outputs import Outputs
from dpaudit.errors import InvalidArgument

_NUMBER: Final = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|nan|inf(inity)?)", re.IGNORECASE)
_LARGEST_EXACT: Final = 2**53


@dataclass(frozen=True)
class Sample:
    """Outputs of one release on one dataset; `form` names the columns of a table, or says what the rows of an array are."""

    outputs: Outputs
    form: tuple[str, ...] = ()
    name: str = ""

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.outputs)


def columns_of(table: Any) -> dict[str, list[Any]] | None:
    """Return the columns of a table of pandas, polars or Arrow as lists; None for anything else."""
    # By their methods, so that none of these libraries is imported or needed.
    match type(table).__module__.partition(".")[0], type(table).__name__:
        case "pandas", "DataFrame":
            return {f"{name} {kind}": table.iloc[:, place].tolist() for place, (name, kind) in enumerate(table.dtypes.items())}
        case "polars", "DataFrame":
            return {f"{name} {kind}": table[name].to_list() for name, kind in table.schema.items()}
        case "pyarrow", "Table":
            return {f"{one.name} {one.type}": table.column(place).to_pylist() for place, one in enumerate(table.schema)}
    return None


def of_array(array: NDArray[Any], name: str) -> Sample:
    """Return the entries of an array along its first axis as outputs."""
    if array.ndim == 0:
        raise InvalidArgument("DPA105", f"{name} holds a single value. Give an array with one entry for each output.")
    if array.dtype.names is not None:
        return of_columns({f"{one} {array.dtype[one]}": array[one].tolist() for one in array.dtype.names}, name)
    form = (f"{array.dtype.kind}{array.dtype.itemsize}" if array.dtype.kind not in "US" else "text", *map(str, array.shape[1:]))
    if array.dtype.kind not in "biufc":
        return Sample(array.tolist(), form, name)
    return Sample(array.astype(array.dtype.newbyteorder("="), copy=False), form, name)


def of_columns(columns: Mapping[str, Sequence[Any]], name: str) -> Sample:
    """Return the rows of a table as tuples, of a single column as its cells."""
    lengths = set(map(len, columns.values()))
    if len(lengths) > 1:
        raise InvalidArgument("DPA105", f"the columns of {name} differ in length. Give one entry for each output in all of them.")
    cells = [[_cell(cell) for cell in column] for column in columns.values()]
    if not cells:
        return Sample([], name=name)
    rows = cells[0] if len(cells) == 1 else list(zip(*cells, strict=True))
    return Sample(rows, tuple(columns), name)


def cell_of(text: str, point: str = ".") -> Any:
    """Return a cell of a text table: None where it is blank, a number where it reads as one, else the text."""
    # Each cell for itself: a type inferred from a whole column would depend on the rows that decide.
    bare = text.strip().replace(point, ".")
    if not bare:
        return None
    if not _NUMBER.fullmatch(bare):
        return text
    return int(bare) if bare.lstrip("+-").isdecimal() and len(bare) < 4000 else float(bare)


def _cell(cell: Any) -> Any:
    """Return numbers of any size as floats where these hold them, so that an export of "3" for 3.0 makes no difference."""
    whole = isinstance(cell, (int, np.integer)) and not isinstance(cell, bool)
    return float(cell) if whole and abs(int(cell)) <= _LARGEST_EXACT else cell


def without_counters(samples: tuple[Sample, Sample]) -> tuple[tuple[Sample, Sample], tuple[int, ...]]:
    """Drop the columns that only number the rows of both tables, as exports do; return their places too."""
    if not all(isinstance(sample.outputs, list) and len(sample.form) > 1 and len(sample) > 1 for sample in samples):
        return samples, ()
    width = len(samples[0].form)
    dropped = [place for place in range(width) if all(map(_counts_rows, (_column(sample, place) for sample in samples)))]
    kept = [place for place in range(width) if place not in dropped]
    if not dropped or not kept:
        return samples, ()

    def shorter(sample: Sample) -> Sample:
        rows = [row[kept[0]] if len(kept) == 1 else tuple(row[place] for place in kept) for row in sample.outputs]
        return replace(sample, outputs=rows, form=tuple(sample.form[place] for place in kept))

    return (shorter(samples[0]), shorter(samples[1])), tuple(dropped)


def _column(sample: Sample, place: int) -> Iterator[Any]:
    """Yield the cells of one column."""
    return (row[place] for row in sample.outputs)


def _counts_rows(cells: Iterator[Any]) -> bool:
    """True if numbers go up by one from row to row, which no outputs do by chance."""
    return all(isinstance(one, float) and isinstance(other, float) and other == one + 1 for one, other in pairwise(cells))


def require_alike(first: Sample, second: Sample) -> None:
    """Refuse samples whose columns, types or shapes differ: what tells them apart then is how they were written."""
    if not len(first) or not len(second):
        raise InvalidArgument("DPA109", f"{(second if len(first) else first).name} holds no outputs. Give a row for each run.")
    if len(first.form) != len(second.form):
        raise InvalidArgument(
            "DPA105", f"the rows of {first.name} and {second.name} have {len(first.form)} and {len(second.form)} parts. {_SAVE}"
        )
    for place, (one, other) in enumerate(zip(first.form, second.form, strict=True), start=1):
        if one != other:
            raise InvalidArgument(
                "DPA105", f"part {place} of the rows of {first.name} and {second.name} has another name, type or size. {_SAVE}"
            )


_SAVE: Final = "Save both by the same program, with the same header, columns and types."
