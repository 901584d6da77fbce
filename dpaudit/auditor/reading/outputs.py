"""Outputs by form: numbers and equal-sized rows of numbers all at once, everything else one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.keeping import keep_output
from dpaudit.auditor.reading.leaves import LARGEST, Path, stable_code
from dpaudit.auditor.reading.reader import (
    Failure,
    Reading,
    array_kind,
    array_marks,
    array_paths,
    has_negative_zero,
    limit_of,
    parse_output,
)
from dpaudit.auditor.reading.scalars import dtype_name, number_name
from dpaudit.auditor.reading.shapes import shape_of

__all__ = ["LARGEST", "Failure", "Group", "Matrix", "Outputs", "Path", "groups", "keep_output", "parse_output", "stable_code"]

REORDERED: Final = "dictionaries whose keys come in more than one order"

Matrix: TypeAlias = NDArray[np.float64]
Outputs: TypeAlias = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class Group:
    """Outputs of one form: their rows, the paths of their numbers, and the numbers, one row an output.

    `codes` are the columns that stand for a content as a whole, and which; `unread` names what was not looked into; `mixed` is
    whether items of a list differ in form; `reordered` counts outputs whose keys come in another order than mostly; `apart` are
    columns that do not enter sums; `shape` is the form in words that hold no value.
    """

    rows: slice | NDArray[np.intp]
    kind: str
    paths: tuple[Path, ...]
    values: Matrix
    codes: tuple[tuple[int, str], ...] = ()
    unread: tuple[str, ...] = ()
    mixed: bool = False
    reordered: int = 0
    apart: tuple[int, ...] = ()
    shape: str = "an output"

    @property
    def summed(self) -> Matrix:
        """Numbers that sum and largest are taken of."""
        if not self.apart:
            return self.values
        kept = sorted({*range(self.values.shape[1])}.difference(self.apart))
        # In rows, since a sum of columns adds in another order where there is one row only.
        return np.ascontiguousarray(self.values[:, kept])


def groups(outputs: Outputs) -> Iterator[Group]:
    """Group outputs by form; numbers and equal-sized rows of numbers go through numpy all at once."""
    uniform = _uniform(outputs) if len(outputs) else None
    if uniform is None:
        yield from _slow_groups(outputs, np.arange(len(outputs)))
        return
    group, limit = uniform
    # NaN fails the comparison too, and is read one by one.
    held = np.abs(group.values) <= limit
    if held.all() and not has_negative_zero(group.values):
        yield group
        return
    plain = held.all(axis=1) & ~(np.signbit(group.values) & (group.values == 0)).any(axis=1)
    rows = np.flatnonzero(plain)
    yield Group(rows, group.kind, group.paths, group.values[rows])
    yield from _slow_groups(outputs, np.flatnonzero(~plain))


def _slow_groups(outputs: Outputs, rows: NDArray[np.intp]) -> Iterator[Group]:
    """Group the outputs at `rows` by form, each read on its own."""
    found: dict[tuple[str, ...], tuple[Reading, list[int], list[list[float]], Counter[str]]] = {}
    for row in rows.tolist():
        reading = parse_output(outputs[row])
        leaves = reading.leaves
        key = (reading.kind, str(len(leaves.paths)), *leaves.detail, "", *leaves.unread)
        if key not in found:
            found[key] = (reading, [], [], Counter())
        _, members, values, orders = found[key]
        members.append(row)
        values.append(leaves.values)
        orders[";".join(leaves.order)] += 1
    for reading, members, values, orders in found.values():
        leaves, paths = reading.leaves, reading.paths
        yield Group(
            rows=np.array(members),
            kind=reading.kind,
            paths=paths,
            values=np.array(values, dtype=np.float64).reshape(len(members), len(paths)),
            codes=tuple(leaves.codes.items()),
            unread=tuple(leaves.unread),
            mixed=leaves.mixed,
            reordered=orders.total() - max(orders.values()),
            apart=tuple(leaves.apart),
            shape=shape_of(outputs[members[0]]),
        )


def _uniform(outputs: Outputs) -> tuple[Group, float] | None:
    """All outputs as one group where they are numbers, or rows of numbers, of one type and size; None otherwise.

    With the group comes the size up to which its numbers are all that there is to read.
    """
    if isinstance(outputs, np.ndarray):
        return _from_array(outputs)
    types = set(map(type, outputs))
    if len(types) != 1:
        return None
    kind: type = types.pop()
    if kind is np.ndarray:
        alike = {(output.shape, output.dtype, array_marks(output)) for output in outputs}
        return _from_array(np.stack(list(outputs)), *(marks for *_, marks in alike)) if len(alike) == 1 else None
    paths: tuple[Path, ...] = ((),)
    if in_rows := kind in (list, tuple):
        lengths, types = set(map(len, outputs)), set(map(type, chain.from_iterable(outputs)))
        if len(lengths) != 1 or len(types) != 1:
            return None
        paths = tuple((place,) for place in range(lengths.pop()))
    name = _plain_name(types.pop() if in_rows else kind)
    if name is None:
        return None
    try:
        values = np.array(outputs, dtype=np.float64).reshape(len(outputs), len(paths))
    except OverflowError:
        return None
    form = f"{kind.__name__}({','.join([name] * len(paths))})" if in_rows else name
    return Group(slice(None), form, paths, values), limit_of(name)


def _from_array(array: NDArray[Any], marks: str = "") -> tuple[Group, float] | None:
    """The group of the rows of a numeric array; None for other arrays."""
    name = dtype_name(array.dtype)
    if name is None:
        return None
    form, paths = (
        (name, ((),)) if array.ndim == 1 else (f"{array_kind(name, array.shape[1:])}{marks}", array_paths(array.shape[1:]))
    )
    return Group(slice(None), form, paths, array.reshape(len(array), -1).astype(np.float64, copy=False)), limit_of(name)


def _plain_name(kind: type) -> str | None:
    """Name the numbers of a type of Python or numpy; None for derived types, whose objects may hold more."""
    return number_name(kind) if kind in (float, int, bool) or issubclass(kind, np.generic) else None
