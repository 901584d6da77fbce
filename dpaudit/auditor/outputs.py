"""Outputs of any kind, read as numbers with places and a form (type, length, keys)."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

LARGEST: Final = 1e290
"""Finite numbers are cut to this size, so that sums and differences of them stay finite."""

_MAX_DEPTH: Final = 6
_NUMBER_NAMES: Final = {"f": "float", "i": "int", "u": "int", "b": "bool"}

Matrix: TypeAlias = NDArray[np.float64]
Outputs: TypeAlias = Sequence[Any] | NDArray[Any]
Path: TypeAlias = tuple[int | str, ...]
"""Where a number stands inside an output: indices and keys from the outside in, empty for a plain number."""


@dataclass(frozen=True)
class Failure:
    """The output of a run that gave none; an exception's own text may hold data and is not kept.

    `kind` says what happened; `shown` says it without the name of a class made at run time, which may be data.
    """

    kind: str
    shown: str = field(default="gave no output", compare=False)


def stable_code(text: str | bytes) -> int:
    """A number below 2**32 that stands for `text` in every process and on every machine."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(hashlib.blake2b(data, digest_size=4).digest(), "big")


@dataclass(frozen=True)
class Group:
    """Outputs of one form: their rows, the paths of their numbers, and the numbers, one row an output."""

    rows: slice | NDArray[np.intp]
    kind: str
    paths: tuple[Path, ...]
    values: Matrix


def groups(outputs: Outputs) -> Iterator[Group]:
    """The outputs by form; numbers and equal-sized rows of numbers go through numpy as a whole."""
    uniform = _uniform(outputs) if len(outputs) else None
    if uniform is None:
        yield from _slow_groups(outputs, np.arange(len(outputs)))
        return
    if np.isfinite(uniform.values).all():
        yield uniform
        return
    finite = np.isfinite(uniform.values).all(axis=1)
    rows = np.flatnonzero(finite)
    yield Group(rows, uniform.kind, uniform.paths, uniform.values[rows])
    yield from _slow_groups(outputs, np.flatnonzero(~finite))


def _slow_groups(outputs: Outputs, rows: NDArray[np.intp]) -> Iterator[Group]:
    """The outputs at `rows` by form, each visited on its own."""
    found: dict[str, tuple[tuple[Path, ...], list[int], list[list[float]]]] = {}
    for row in rows.tolist():
        kind, leaves = read(outputs[row])
        if kind not in found:
            found[kind] = (tuple(path for path, _ in leaves), [], [])
        _, members, values = found[kind]
        members.append(row)
        values.append([value for _, value in leaves])
    for kind, (paths, members, values) in found.items():
        yield Group(np.array(members), kind, paths, np.array(values, dtype=np.float64).reshape(len(members), len(paths)))


def _uniform(outputs: Outputs) -> Group | None:
    """All outputs as one group where they are numbers, or rows of numbers, of one type and size; None otherwise."""
    if isinstance(outputs, np.ndarray):
        return _from_array(outputs)
    types = set(map(type, outputs))
    if len(types) != 1:
        return None
    kind = types.pop()
    if kind is np.ndarray:
        if len({(output.shape, output.dtype) for output in outputs}) == 1:
            return _from_array(np.stack(list(outputs)))
        return None
    if kind in (list, tuple):
        return _from_rows(outputs, kind.__name__)
    name = _number_name(kind)
    if name is None:
        return None
    try:
        values = _bounded(np.array(outputs, dtype=np.float64))
    except OverflowError:
        return None
    return Group(slice(None), name, ((),), values[:, None])


def _from_array(array: NDArray[Any]) -> Group | None:
    """The group of the rows of a numeric array; None for other arrays."""
    name = _NUMBER_NAMES.get(array.dtype.kind)
    if name is None:
        return None
    if array.ndim == 1:
        return Group(slice(None), name, ((),), _bounded(array)[:, None])
    kind = _array_kind(name, array.shape[1:])
    values = _bounded(array.reshape(len(array), -1))
    return Group(slice(None), kind, _array_paths(array.shape[1:]), values)


def _from_rows(outputs: Sequence[Any], container: str) -> Group | None:
    """The group of lists or tuples of equal length that hold numbers of one type; None otherwise."""
    lengths = set(map(len, outputs))
    types = set(map(type, chain.from_iterable(outputs)))
    if len(lengths) != 1 or len(types) != 1:
        return None
    name, length = _number_name(types.pop()), lengths.pop()
    if name is None:
        return None
    try:
        values = _bounded(np.array(outputs, dtype=np.float64))
    except OverflowError:
        return None
    return Group(slice(None), f"{container}({','.join([name] * length)})", tuple((i,) for i in range(length)), values)


def _number_name(kind: type) -> str | None:
    """What a numeric type is called, numpy's and Python's alike; None for every other type."""
    if issubclass(kind, (bool, np.bool_)):
        return "bool"
    if issubclass(kind, (float, np.floating)):
        return "float"
    if issubclass(kind, (int, np.integer)):
        return "int"
    return None


def read(output: Any) -> tuple[str, list[tuple[Path, float]]]:
    """The form of an output as text, and the numbers inside it with their places."""
    leaves: list[tuple[Path, float]] = []
    try:
        return _visit(output, (), leaves), leaves
    except Exception:  # noqa: BLE001 - an object that cannot be looked into is an output too
        return f"unreadable {type(output).__name__}", []


def _visit(output: Any, path: Path, leaves: list[tuple[Path, float]]) -> str:
    """Append the numbers inside `output` to `leaves` and return its form as text."""
    name = _number_name(type(output))
    if name is not None or isinstance(output, (numbers.Real, Decimal)):
        return _visit_number(output, name or type(output).__name__, path, leaves)
    if isinstance(output, (str, bytes)):
        leaves.append((path, float(stable_code(output))))
        return type(output).__name__
    if output is None or isinstance(output, Failure):
        return "None" if output is None else output.kind
    if len(path) >= _MAX_DEPTH:
        return "..."
    if isinstance(output, np.ndarray):
        return _visit_array(output, path, leaves)
    if isinstance(output, complex):
        output = (output.real, output.imag)
    if isinstance(output, (list, tuple)):
        inner = ",".join([_visit(item, (*path, index), leaves) for index, item in enumerate(output)])
        return f"{type(output).__name__}({inner})"
    if hasattr(output, "__array__"):
        return f"{type(output).__name__} {_visit_array(np.asarray(output), path, leaves)}"
    return _visit_keyed(output, path, leaves)


def _visit_number(number: Any, name: str, path: Path, leaves: list[tuple[Path, float]]) -> str:
    """Append one number; NaN and infinities are forms of their own with value 0."""
    try:
        value = float(number)
    except OverflowError:
        value = LARGEST if number > 0 else -LARGEST
    if math.isfinite(value):
        leaves.append((path, min(max(value, -LARGEST), LARGEST)))
        return name
    leaves.append((path, 0.0))
    return f"{name} {value}"


def _visit_array(array: NDArray[Any], path: Path, leaves: list[tuple[Path, float]]) -> str:
    """Append the numbers of an array; its form is dtype family, shape and the places of what is not finite."""
    name = _NUMBER_NAMES.get(array.dtype.kind)
    if array.ndim == 0 or name is None:
        return _visit(array.tolist(), path, leaves)
    flat = _bounded(array.reshape(-1))
    finite = np.isfinite(flat)
    places = _array_paths(array.shape)
    leaves.extend(zip([(*path, *place) for place in places], np.where(finite, flat, 0.0).tolist(), strict=True))
    kind = _array_kind(name, array.shape)
    return kind if finite.all() else f"{kind} with " + ",".join(f"{flat[i]}@{i}" for i in np.flatnonzero(~finite).tolist())


def _visit_keyed(output: Any, path: Path, leaves: list[tuple[Path, float]]) -> str:
    """Append the numbers of mappings, sets and plain objects, in the order of their keys' text."""
    name = type(output).__name__
    if isinstance(output, Mapping):
        items = [(_key_text(key), value) for key, value in output.items()]
    elif isinstance(output, AbstractSet):
        items = [(_key_text(element), 1) for element in output]
    elif is_dataclass(output):
        items = [(field.name, getattr(output, field.name)) for field in fields(output)]
    elif hasattr(output, "__dict__"):
        items = list(vars(output).items())
    else:
        return name
    items.sort(key=lambda item: item[0])
    inner = ",".join([f"{key}:{_visit(value, (*path, key), leaves)}" for key, value in items])
    return f"{name}({inner})"


def _key_text(key: Any) -> str:
    """A key as text; objects whose text would hold their address are named by type."""
    return repr(key) if isinstance(key, (str, bytes, int, float, bool, tuple, type(None), np.generic)) else type(key).__name__


def _bounded(array: NDArray[Any]) -> Matrix:
    """The array as float64 with finite numbers cut to +-1e290, so that sums and differences of them are finite."""
    values: Matrix = np.asarray(array, dtype=np.float64)
    # NaN fails the comparison, so that it hides no large number beside it.
    if values.size == 0 or (values.min() >= -LARGEST and values.max() <= LARGEST):
        return values
    return np.where(np.isfinite(values), np.clip(values, -LARGEST, LARGEST), values)


def _array_kind(name: str, shape: tuple[int, ...]) -> str:
    """The form of a numeric array whose numbers are all finite."""
    return f"array({name},{'x'.join(map(str, shape))})"


def _array_paths(shape: tuple[int, ...]) -> tuple[Path, ...]:
    """Indices of the entries of an array, in C order."""
    return tuple(tuple(map(int, index)) for index in np.ndindex(*shape))
