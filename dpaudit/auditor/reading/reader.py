"""Outputs of any kind read as a form, numbers with places, and the names of what could not be looked into."""

from __future__ import annotations

import io
import numbers
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from itertools import islice
from types import MemberDescriptorType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.frames import Parts, parts_of
from dpaudit.auditor.reading.leaves import LARGEST, Leaves, Path
from dpaudit.auditor.reading.scalars import EXACT, dtype_name, number_name, visit_number, visit_numpy_time, visit_time
from dpaudit.auditor.reading.texts import json_value, visit_bytes, visit_text
from dpaudit.errors import class_name

_MAX_DEPTH: Final = 16
_MOST_DRAWN: Final = 10_000
_PLAIN: Final = {float, int, bool, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, deque}
_PLAIN_KEYS: Final = (str, bytes, int, float, bool, tuple, type(None), np.generic, Decimal, Fraction, date, time, timedelta)
_ARRAYS: Final = ("torch", "jax", "jaxlib", "tensorflow", "cupy", "numpy")
_WITHOUT_MORE: Final = ("builtins", "numpy", "numpy.ma", "fractions", "decimal", "collections", "_io")
_ADDRESS: Final = " at 0x"
_HEAP: Final = 1 << 9
"""The flag of types that are made while the program runs."""

_WORD: Final = object.__basicsize__ // 2


@dataclass(frozen=True)
class Failure:
    """The output of a run that gave none; an exception's own text may hold data and is not kept.

    `kind` says what happened; `shown` says it without the name of a class made at run time, which may be data.
    """

    kind: str
    shown: str = field(default="gave no output", compare=False)


@dataclass(frozen=True)
class Drawn:
    """What an iterator gave out, drawn once so that it can be read more than once; `whole` unless it went on."""

    kind: str
    items: tuple[Any, ...]
    whole: bool
    shown: str = "iterator"


@dataclass(frozen=True)
class Reading:
    """One output as read: its form as text, and its leaves."""

    kind: str
    leaves: Leaves

    @property
    def paths(self) -> tuple[Path, ...]:
        """Places of the numbers."""
        return tuple(self.leaves.paths)


def keep_output(output: Any) -> Any:
    """The output itself; of an iterator, what it gives out now."""
    if type(output) in _PLAIN or not isinstance(output, Iterator) or isinstance(output, io.IOBase):
        return output
    items = tuple(islice(output, _MOST_DRAWN))
    return Drawn(type(output).__name__, items, next(output, output) is output, _shown(type(output)))


def parse_output(output: Any) -> Reading:
    """The form of an output as text, and the numbers inside it with their places."""
    leaves = Leaves()
    try:
        return Reading(_visit(output, (), leaves), leaves)
    except Exception:  # noqa: BLE001 - an object that cannot be looked into is an output too
        leaves = Leaves()
        leaves.leave_out(_shown(type(output)))
        return Reading(f"unreadable {type(output).__name__}", leaves)


def _visit(output: Any, path: Path, leaves: Leaves) -> str:  # noqa: PLR0911 - one line for each kind of output
    """Append the leaves of `output` and return its form as text."""
    kind = type(output)
    name = number_name(kind)
    # To numpy a duration is an integer.
    if name is not None or (isinstance(output, (numbers.Real, Decimal)) and kind is not np.timedelta64):
        return visit_number(output, name or kind.__name__, path, leaves) + _more(output, path, leaves)
    if output is None or isinstance(output, Failure):
        return "None" if output is None else output.kind
    if not leaves.has_room("output"):
        return "..."
    if isinstance(output, str):
        return _visit_str(output, path, leaves) + _more(output, path, leaves)
    if isinstance(output, (bytes, bytearray, memoryview)):
        visit_bytes(bytes(output), path, leaves, _shown(kind))
        return kind.__name__ + _more(output, path, leaves)
    if isinstance(output, (date, time, timedelta)):
        return visit_time(output, path, leaves)
    if isinstance(output, (np.datetime64, np.timedelta64)):
        return visit_numpy_time(output, path, leaves)
    if id(output) in leaves.inside:
        return "itself"
    if len(leaves.inside) >= _MAX_DEPTH:
        leaves.leave_out(f"what lies more than {_MAX_DEPTH} levels deep")
        return "..."
    leaves.inside.append(id(output))
    form = _visit_inside(output, path, leaves)
    leaves.inside.pop()
    return form


def _visit_str(text: str, path: Path, leaves: Leaves) -> str:
    """Append a text, as its value where it is JSON."""
    name = type(text).__name__
    found = json_value(text, path, leaves)
    if found is None:
        visit_text(text, path, leaves, _shown(type(text)))
        return name
    return f"{name} of JSON {_visit(found[0], (*path, 'the JSON'), leaves)}"


def _visit_inside(output: Any, path: Path, leaves: Leaves) -> str:
    """Append the leaves of an object that holds others."""
    for kinds, visit in _VISITS:
        if isinstance(output, kinds):
            return visit(output, path, leaves) + _more(output, path, leaves)
    known = parts_of(output)
    if known is not None:
        return _visit_pairs(*known, path, leaves)
    if not hasattr(output, "__array__"):
        return _visit_object(output, path, leaves)
    name = type(output).__name__
    if type(output).__module__.partition(".")[0] not in _ARRAYS:
        leaves.leave_out(f"{_shown(type(output))} but for its numbers")
    return f"{name} {_visit(np.asarray(output), path, leaves)}"


def _visit_complex(number: Any, path: Path, leaves: Leaves) -> str:
    """Append a complex number as two."""
    return _visit_items((float(number.real), float(number.imag)), "tuple", path, leaves)


def _visit_masked(array: np.ma.MaskedArray[Any, Any], path: Path, leaves: Leaves) -> str:
    """Append the numbers of a masked array, also those that it hides, and which those are."""
    parts: Parts = [("the mask", np.ma.getmaskarray(array)), ("the values", np.ma.getdata(array))]
    return _visit_pairs("masked", parts, path, leaves)


def _visit_record(record: np.void, path: Path, leaves: Leaves) -> str:
    """Append one entry of a structured array by its fields."""
    if record.dtype.names is None:
        return _visit(record.tobytes(), path, leaves)
    return _visit_pairs("record", [(name, record[name]) for name in record.dtype.names], path, leaves)


def _visit_drawn(drawn: Drawn, path: Path, leaves: Leaves) -> str:
    """Append what an iterator gave out."""
    if not drawn.whole:
        leaves.leave_out(f"what a {drawn.shown} gives out after {_MOST_DRAWN:,} items")
    return _visit_items(drawn.items, drawn.kind, path, leaves)


def _visit_range(numbers: range, path: Path, leaves: Leaves) -> str:
    """Append the ends of a range and its step."""
    return _visit_items((numbers.start, numbers.stop, numbers.step), "range", path, leaves)


def _visit_enum(member: Enum, path: Path, leaves: Leaves) -> str:
    """Append the name of a member, or the value of one that combines several."""
    return f"{type(member).__name__}({_visit(member.value if isinstance(member, Flag) else member.name, path, leaves)})"


def _visit_sequence(items: Any, path: Path, leaves: Leaves) -> str:
    """Append the items of a list or of another sequence."""
    return _visit_items(items, type(items).__name__, path, leaves)


def _visit_path(place: os.PathLike[Any], path: Path, leaves: Leaves) -> str:
    """Append the text of a path."""
    return f"{type(place).__name__}({_visit(os.fspath(place), path, leaves)})"


def _visit_stream(stream: io.BytesIO | io.StringIO, path: Path, leaves: Leaves) -> str:
    """Append all that a stream in memory holds."""
    return f"{type(stream).__name__}({_visit(stream.getvalue(), path, leaves)})"


def _visit_error(error: BaseException, path: Path, leaves: Leaves) -> str:
    """Append the arguments of an exception that was returned."""
    return _visit_pairs(type(error).__name__, [("the arguments", error.args)], path, leaves)


def _visit_class(kind: type, path: Path, leaves: Leaves) -> str:  # noqa: ARG001 - called like the others
    """The name of a class that was returned."""
    return f"class {kind.__module__}.{kind.__qualname__}"


def _visit_items(items: Any, name: str, path: Path, leaves: Leaves) -> str:
    """Append items in their order."""
    forms = [_visit(item, (*path, index), leaves) for index, item in enumerate(items)]
    leaves.mixed = leaves.mixed or len(set(forms)) > 1
    return f"{name}({','.join(forms)})"


def _visit_pairs(name: str, pairs: Any, path: Path, leaves: Leaves) -> str:
    """Append what stands under names that the reading or a type gives."""
    inner = ",".join([f"{key}:{_visit(value, (*path, key), leaves)}" for key, value in pairs])
    return f"{name}({inner})"


def _visit_array(array: NDArray[Any], path: Path, leaves: Leaves) -> str:
    """Append the numbers of an array; its form is type, shape and the places of what is not finite."""
    name = dtype_name(array.dtype)
    if array.ndim == 0:
        return _visit(array[()], path, leaves)
    if name is None:
        # Texts and objects as Python's own; of dates, records and longer numbers Python's types would lose something.
        return (
            _visit(array.tolist(), path, leaves)
            if array.dtype.kind in "OUS"
            else _visit_items(array, str(array.dtype), path, leaves)
        )
    flat = clip_numbers(array.reshape(-1))
    extreme = np.flatnonzero(~(np.abs(array.reshape(-1).astype(np.float64)) <= limit_of(array.dtype)))
    finite = np.isfinite(flat)
    places = [(*path, *place) for place in array_paths(array.shape)]
    leaves.paths.extend(places)
    leaves.values.extend(np.where(finite, flat, 0.0).tolist())
    for place in extreme.tolist():
        if finite[place]:
            rest = Leaves()
            visit_number(array.reshape(-1)[place].item(), name, places[place], rest)
            for position, value in zip(rest.paths[1:], rest.values[1:], strict=True):
                leaves.add(position, value, "more")
    kind = array_kind(name, array.shape)
    return kind if finite.all() else f"{kind} with " + ",".join(f"{flat[i]}@{i}" for i in np.flatnonzero(~finite).tolist())


def _visit_keyed(output: Any, path: Path, leaves: Leaves) -> str:
    """Append the numbers of mappings and sets, in the order of their keys' text."""
    name = type(output).__name__
    if isinstance(output, Mapping):
        items = [(_key_text(key, leaves), value) for key, value in output.items()]
    elif output and all(isinstance(element, float) for element in output):
        return _visit_items(sorted(output), name, path, leaves)
    else:
        items = [(_key_text(element, leaves), 1) for element in output]
    order = sorted(range(len(items)), key=lambda place: items[place][0])
    if isinstance(output, Mapping) and order != list(range(len(items))):
        leaves.order.append(",".join(map(str, order)))
    return _visit_pairs(name, [items[place] for place in order], path, leaves)


_VISITS: Final[tuple[tuple[Any, Callable[[Any, Path, Leaves], str]], ...]] = (
    ((list, tuple), _visit_sequence),
    ((complex, np.complexfloating), _visit_complex),
    (np.ma.MaskedArray, _visit_masked),
    (np.ndarray, _visit_array),
    (np.void, _visit_record),
    (Drawn, _visit_drawn),
    (range, _visit_range),
    (Enum, _visit_enum),
    ((Mapping, AbstractSet), _visit_keyed),
    ((Sequence, deque, ValuesView), _visit_sequence),
    (os.PathLike, _visit_path),
    ((io.BytesIO, io.StringIO), _visit_stream),
    (BaseException, _visit_error),
    (type, _visit_class),
)
"""How to visit what holds others, by its type; the first that fits."""


def _visit_object(output: Any, path: Path, leaves: Leaves) -> str:
    """Append what a plain object holds; objects with a state that Python does not show are named and left out."""
    name = type(output).__name__
    if is_dataclass(output):
        items = [(field.name, getattr(output, field.name)) for field in fields(output)]
        items += [(key, value) for key, value in _state(output) if key not in {field for field, _ in items}]
    else:
        items = _state(output)
    if not _is_open(type(output)):
        leaves.leave_out(_shown(type(output)))
    return (
        _visit_pairs(name, sorted(items, key=lambda item: item[0]), path, leaves) if items or hasattr(output, "__dict__") else name
    )


def _more(output: Any, path: Path, leaves: Leaves) -> str:
    """Append what an object of a type derived from Python's own holds besides; its form, empty where there is nothing."""
    kind = type(output)
    if kind in _PLAIN or kind.__module__ in _WITHOUT_MORE or isinstance(output, (Enum, Drawn, os.PathLike, type)):
        return ""
    items = _state(output)
    return _visit_pairs(" and ", sorted(items, key=lambda item: item[0]), path, leaves) if items else ""


def _shown(kind: type) -> str:
    """The name of a type for a report: built-in types have fixed names, others may have been made at run time from data."""
    return class_name(kind) if kind.__flags__ & _HEAP else kind.__name__


def _state(output: Any) -> list[tuple[str, Any]]:
    """Attributes of an object, in its dictionary and in the slots of its classes."""
    items = list(getattr(output, "__dict__", {}).items())
    for kind in type(output).__mro__:
        for name, member in vars(kind).items():
            # Members with two underscores are the interpreter's: some are addresses, different in every process.
            if isinstance(member, MemberDescriptorType) and not name.startswith("__") and hasattr(output, name):
                items.append((name, getattr(output, name)))
    return items


def _is_open(kind: type) -> bool:
    """Whether dictionary and slots are all that objects of a type hold, as their size shows: copying relies on the same."""
    slots = [member for base in kind.__mro__ for member in vars(base).values() if isinstance(member, MemberDescriptorType)]
    hidden = sum(_WORD for offset in (kind.__dictoffset__, kind.__weakrefoffset__) if offset > 0)
    return kind.__itemsize__ == 0 and kind.__basicsize__ <= object.__basicsize__ + hidden + _WORD * len(slots)


def _key_text(key: Any, leaves: Leaves) -> str:
    """A key as text; objects whose text would hold their address are named by type, and what they hold is not looked into."""
    text = repr(key) if isinstance(key, _PLAIN_KEYS) else f"{type(key).__name__}.{key.name}" if isinstance(key, Enum) else _ADDRESS
    if _ADDRESS in text:
        leaves.leave_out(f"{_shown(type(key))} as a key")
        return type(key).__name__
    return text


def clip_numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """The array as float64 with finite numbers cut to +-1e290, so that sums and differences of them are finite."""
    values: NDArray[np.float64] = np.asarray(array, dtype=np.float64)
    # NaN fails the comparison, so that it hides no large number beside it.
    if values.size == 0 or (values.min() >= -LARGEST and values.max() <= LARGEST):
        return values
    return np.where(np.isfinite(values), np.clip(values, -LARGEST, LARGEST), values)


def limit_of(dtype: np.dtype[Any]) -> float:
    """Up to which size a number of a numeric type is held by its float; larger ones have leaves besides."""
    return LARGEST if dtype.kind == "f" else float(EXACT - 1)


def array_kind(name: str, shape: tuple[int, ...]) -> str:
    """The form of a numeric array whose numbers are all finite."""
    return f"array({name},{'x'.join(map(str, shape))})"


def array_paths(shape: tuple[int, ...]) -> tuple[Path, ...]:
    """Indices of the entries of an array, in C order."""
    return tuple(tuple(map(int, index)) for index in np.ndindex(*shape))
