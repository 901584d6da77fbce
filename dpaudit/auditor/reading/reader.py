"""Outputs of any type as a form, numbers with places, and the names of what could not be read."""

from __future__ import annotations

import io
import numbers
import os
import sys
from collections import ChainMap, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from functools import lru_cache
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.binary import MOST_NUMBERS, array_in, bits, decoded, halves_in, windows
from dpaudit.auditor.reading.formats import unpacked
from dpaudit.auditor.reading.frames import parts_of
from dpaudit.auditor.reading.json_texts import Numeral, json_document
from dpaudit.auditor.reading.keeping import MOST_DRAWN, Drawn, Written, names_file
from dpaudit.auditor.reading.leaves import LARGEST, Label, Leaves, Path
from dpaudit.auditor.reading.objects import call_parts, error_parts, object_parts, shown_name, state_of
from dpaudit.auditor.reading.scalars import (
    EXACT,
    dtype_name,
    number_name,
    visit_gap,
    visit_number,
    visit_numpy_time,
    visit_payload,
    visit_time,
)
from dpaudit.auditor.reading.texts import visit_numeral, visit_text

NEGATIVE_ZEROS: Final = " with negative zeros"
_MAX_DEPTH: Final = 16
_MOST_ORDERED: Final = 32
_BREAKS: Final = str.maketrans("", "", "\n\t\r")
_PLAIN: Final = {float, int, bool, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, deque}
_PLAIN_KEYS: Final = (
    str,
    bytes,
    int,
    float,
    bool,
    tuple,
    type(None),
    np.generic,
    Decimal,
    Fraction,
    date,
    time,
    timedelta,
    UUID,
    PurePath,
)
_ARRAYS: Final = ("torch", "jax", "jaxlib", "tensorflow", "cupy", "numpy")
_WITHOUT_MORE: Final = ("builtins", "numpy", "numpy.ma", "fractions", "decimal", "collections", "_io")
_ADDRESS: Final = " at 0x"


@dataclass(frozen=True)
class Failure:
    """The output of a run that gave none.

    `kind` says what happened; `shown` says it without the name of a class made at run time, which may be data; `parts` are those of
    an exception, which are read and never shown, since they may hold data.
    """

    kind: str
    shown: str = field(default="gave no output", compare=False)
    parts: tuple[tuple[str, Any], ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class Reading:
    """One output as read: its form as text, and its leaves."""

    kind: str
    leaves: Leaves

    @property
    def paths(self) -> tuple[Path, ...]:
        """Places of the numbers."""
        return tuple(self.leaves.paths)


_WHOLE: Final = (Enum, Drawn, Written, Failure, os.PathLike, type, date, time, timedelta, np.datetime64, np.timedelta64)
"""Types that are read whole, also where an object is of a type derived from them."""


def parse_output(output: Any) -> Reading:
    """Read the form of an output as text, and the numbers inside it with their places."""
    leaves = Leaves()
    try:
        kind = _visit(output, (), leaves)
        return Reading(f"{kind}{NEGATIVE_ZEROS}" if leaves.negative_zeros else kind, leaves)
    except Exception:  # noqa: BLE001 - an object that cannot be looked into is an output too
        leaves = Leaves()
        leaves.leave_out(shown_name(type(output)))
        return Reading(f"unreadable {type(output).__name__}", leaves)


def _visit(output: Any, path: Path, leaves: Leaves) -> str:
    """Append the leaves of `output` and return its form as text."""
    kind = type(output)
    name = number_name(kind)
    # First, since most outputs are numbers. To numpy a duration is an integer.
    if name is not None or (isinstance(output, (numbers.Real, Decimal)) and kind is not np.timedelta64):
        return visit_number(output, name or kind.__name__, path, leaves) + _visit_more(output, path, leaves)
    if output is None:
        visit_gap(None, path, leaves)
        return "None"
    if not leaves.has_room("output"):
        return "..."
    for kinds, visit in _CONTENTS:
        if isinstance(output, kinds):
            return visit(output, path, leaves) + _visit_more(output, path, leaves)
    if id(output) in leaves.inside:
        return "itself"
    if len(leaves.inside) >= _MAX_DEPTH:
        leaves.leave_out(f"what lies more than {_MAX_DEPTH} levels deep")
        return "..."
    leaves.inside.append(id(output))
    form = _visit_inside(output, path, leaves)
    leaves.inside.pop()
    return form


def _visit_inside(output: Any, path: Path, leaves: Leaves) -> str:
    """Append the leaves of an object that holds others."""
    for kinds, visit in _CONTAINERS:
        if isinstance(output, kinds):
            return visit(output, path, leaves) + _visit_more(output, path, leaves)
    if (known := parts_of(output)) is not None:
        return _visit_pairs(*known, path, leaves)
    if not hasattr(output, "__array__"):
        return _visit_object(output, path, leaves)
    form = f"{type(output).__name__} {_visit(np.asarray(output), path, leaves)}"
    return form if type(output).__module__.partition(".")[0] in _ARRAYS else f"{form} {_visit_object(output, path, leaves)}"


def _visit_failure(failure: Failure, path: Path, leaves: Leaves) -> str:
    """Append what an exception held."""
    return _visit_pairs(failure.kind, failure.parts, path, leaves) if failure.parts else failure.kind


def _visit_label(text: Label, path: Path, leaves: Leaves) -> str:
    """Append a text as a whole."""
    leaves.add_code(path, text, "str")
    return "label"


def _visit_numeral(text: Numeral, path: Path, leaves: Leaves) -> str:
    """Append a number of a text."""
    visit_numeral(text, path, leaves)
    return "int" if text.lstrip("-").isdigit() else "float"


def _visit_str(text: str, path: Path, leaves: Leaves) -> str:
    """Append a text, as its value where it is JSON, as its bytes where it stands for some."""
    name = type(text).__name__
    document = json_document(text)
    if document is not None:
        if isinstance(document.layout, str):
            leaves.add((*path, "the length"), float(len(text)), "layout")
            leaves.add_code((*path, "the layout"), document.layout, shown_name(type(text)))
        else:
            leaves.add(path, document.layout)
        return f"{name} of JSON {_visit(document.value, (*path, 'the JSON'), leaves)}"
    found = decoded(text)
    if found is not None:
        return f"{name} in {found[0]} of {_visit(found[1], (*path, 'the bytes'), leaves)}"
    visit_text(text, path, leaves, shown_name(type(text)))
    return name


def _visit_bytes(held: bytes | bytearray | memoryview, path: Path, leaves: Leaves) -> str:
    """Append bytes, wherever they are held: as what they are packed from, as text, or as numbers."""
    data, name = bytes(held), type(held).__name__
    if len(leaves.inside) < _MAX_DEPTH and (found := unpacked(data)) is not None:
        leaves.inside.append(id(found))
        form = _visit_pairs(f"{name} of {found[0]}", found[1], path, leaves)
        leaves.inside.pop()
        return form
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.translate(_BREAKS).isprintable():
        return f"{name} of {_visit_str(text, path, leaves)}"
    return f"{name}{_visit_raw(data, path, leaves, shown_name(type(held)))}"


def _visit_raw(data: bytes, path: Path, leaves: Leaves, name: str) -> str:
    """Append bytes that are no text: their length and the numbers that they hold; of a few also fields at any place, and bits."""
    leaves.apart.append(len(leaves.values))
    leaves.add((*path, "the length"), float(len(data)))
    array = array_in(data)
    if len(array) > MOST_NUMBERS:
        leaves.add_code(path, data, name, "bytes")
        return ""
    form = f" of {array.dtype}"
    leaves.detail.append(f"{form}{len(array)}")
    _visit_array(array, (*path, "the halves" if array.dtype.name == "float32" else "the numbers"), leaves)
    if (halves := halves_in(array)) is not None:
        leaves.detail.append("halves")
        _visit_array(halves, (*path, "the halves"), leaves)
    if array.dtype == np.uint8:
        for part, values in (("the fields", windows(data)), ("the bits", bits(data))):
            for place, value in enumerate(values):
                leaves.add((*path, part, place), value)
    return form


def _visit_record(record: np.void, path: Path, leaves: Leaves) -> str:
    """Append one entry of a structured array by its fields."""
    if record.dtype.names is None:
        return _visit(record.tobytes(), path, leaves)
    return _visit_pairs("record", [(name, record[name]) for name in record.dtype.names], path, leaves)


def _visit_drawn(drawn: Drawn, path: Path, leaves: Leaves) -> str:
    """Append what an iterator gave out."""
    if not drawn.whole:
        leaves.leave_out(f"what a {drawn.shown} gives out after {MOST_DRAWN:,} items")
    return _visit_items(drawn.items, drawn.kind, path, leaves)


def _visit_place(place: Any, path: Path, leaves: Leaves) -> str:
    """Append a place in the file system; what a file there held when the run was over is read only of an output that is one."""
    if names_file(place):
        leaves.leave_out("a file that a path inside an output names")
    return _visit_one(place, os.fspath(place), path, leaves)


def _visit_class(kind: type, path: Path, leaves: Leaves) -> str:
    """Append the values that a class holds, if it is the output or was made for it; of others the name says it all."""
    name = f"class {kind.__module__}.{kind.__qualname__}"
    known: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        known = getattr(known, part, None)
    if path and known is kind:
        return name
    held = [(key, getattr(value, "fget", getattr(value, "__func__", value))) for key, value in vars(kind).items()]
    held = [
        (key, value)
        for key, value in held
        if isinstance(value, FunctionType) or not (key.startswith("__") or hasattr(value, "__get__"))
    ]
    return _visit_pairs(name, sorted(held, key=lambda item: item[0]), path, leaves) if held else name


def _visit_one(output: Any, content: Any, path: Path, leaves: Leaves) -> str:
    """Append the one value that an object holds."""
    return f"{type(output).__name__}({_visit(content, path, leaves)})"


def _visit_stream(stream: io.BytesIO | io.StringIO, path: Path, leaves: Leaves) -> str:
    """Append what a stream in memory holds, and up to where it was read or written."""
    form = _visit_one(stream, stream.getvalue(), path, leaves)
    leaves.apart.append(len(leaves.values))
    leaves.add((*path, "the place"), float(stream.tell()), "place")
    return form


def _visit_items(items: Any, name: str, path: Path, leaves: Leaves) -> str:
    """Append items in their order."""
    forms = [_visit(item, (*path, index), leaves) for index, item in enumerate(items)]
    leaves.mixed = leaves.mixed or len(set(forms)) > 1
    return f"{name}({','.join(forms)})"


def _visit_pairs(name: str, pairs: Any, path: Path, leaves: Leaves) -> str:
    """Append values by names that the reading or a type gives."""
    inner = ",".join([f"{key}:{_visit(value, (*path, key), leaves)}" for key, value in pairs])
    return f"{name}({inner})"


def _visit_array(array: NDArray[Any], path: Path, leaves: Leaves) -> str:
    """Append the numbers of an array; its form is type, shape and the places of what is not finite."""
    name = dtype_name(array.dtype)
    if array.ndim == 0:
        return _visit(array[()], path, leaves)
    if name is None:
        # Texts and objects as Python's own; of dates, records and longer numbers Python's types would lose something.
        if array.dtype.kind in "OUS":
            return f"{array.dtype.str} {_visit(array.tolist(), path, leaves)}"
        return _visit_items(array, str(array.dtype), path, leaves)
    flat = clip_numbers(array.reshape(-1))
    extreme = np.flatnonzero(~(np.abs(array.reshape(-1).astype(np.float64)) <= limit_of(name)))
    finite = np.isfinite(flat)
    leaves.negative_zeros = leaves.negative_zeros or has_negative_zero(flat)
    places = [(*path, *place) for place in array_paths(array.shape)]
    leaves.paths.extend(places)
    leaves.values.extend(np.where(finite, flat, 0.0).tolist())
    for place in extreme.tolist():
        if finite[place]:
            rest = Leaves()
            visit_number(array.reshape(-1)[place].item(), name, places[place], rest)
            for position, value in zip(rest.paths[1:], rest.values[1:], strict=True):
                leaves.add(position, value, "more")
    for place in np.flatnonzero(~finite).tolist():
        visit_gap(float(flat[place]), places[place], leaves)
        visit_payload(flat[place], places[place], leaves)
    kind = f"{array_kind(name, array.shape)}{array_marks(array)}"
    return kind if finite.all() else f"{kind} with " + ",".join(f"{flat[i]}@{i}" for i in np.flatnonzero(~finite).tolist())


def _visit_keyed(output: Any, path: Path, leaves: Leaves) -> str:
    """Append the numbers of mappings and sets, in the order of their keys' text."""
    name = type(output).__name__
    if isinstance(output, defaultdict):
        name += f" of {_visit(output.default_factory, (*path, 'the default'), leaves)}"
    if isinstance(output, Mapping):
        items = [(_key_text(key, leaves), value) for key, value in output.items()]
    elif output and all(isinstance(element, float) for element in output):
        return _visit_items(sorted(output), name, path, leaves)
    else:
        items = [(_key_text(element, leaves), 1) for element in output]
    order = sorted(range(len(items)), key=lambda place: items[place][0])
    if isinstance(output, Mapping) and order != list(range(len(items))):
        _visit_order(order, path, leaves)
    return _visit_pairs(name, [items[place] for place in order], path, leaves)


def _visit_order(order: list[int], path: Path, leaves: Leaves) -> None:
    """Append an order of keys other than the sorted one: as a whole, and of a few keys the place of each."""
    leaves.apart.append(len(leaves.values))
    leaves.add_code((*path, "the order"), ",".join(map(str, order)), "orders of keys", f"order {len(order)}")
    if len(order) > _MOST_ORDERED:
        return
    # The places determine the order, so that it need not repeat.
    del leaves.codes[len(leaves.values) - 1]
    leaves.apart += range(len(leaves.values), len(leaves.values) + len(order))
    for number, place in enumerate(order):
        leaves.add((*path, "the order", number), float(place))


_Visit: TypeAlias = Callable[[Any, Path, Leaves], str]

_CONTENTS: Final[tuple[tuple[Any, _Visit], ...]] = (
    (Numeral, _visit_numeral),
    (Label, _visit_label),
    (str, _visit_str),
    ((bytes, bytearray, memoryview), _visit_bytes),
    ((date, time, timedelta), visit_time),
    ((np.datetime64, np.timedelta64), visit_numpy_time),
    # By its name, since what it holds is no part of an output.
    (ModuleType, lambda module, path, leaves: _visit_label(Label(module.__name__), path, leaves)),
)
"""Readers of what holds no other values, by type."""

_CONTAINERS: Final[tuple[tuple[Any, _Visit], ...]] = (
    (deque, lambda items, path, leaves: _visit_items(items, f"deque of {items.maxlen}", path, leaves)),
    ((list, tuple), lambda items, path, leaves: _visit_items(items, type(items).__name__, path, leaves)),
    ((complex, np.complexfloating), lambda z, path, leaves: _visit_items((float(z.real), float(z.imag)), "tuple", path, leaves)),
    # The numbers of a masked array, also those that it hides, and which those are.
    (
        np.ma.MaskedArray,
        lambda array, path, leaves: _visit_pairs(
            "masked",
            [
                ("the hidden", int(np.ma.getmaskarray(array).sum())),
                ("the mask", np.ma.getmaskarray(array)),
                ("the values", np.ma.getdata(array)),
            ],
            path,
            leaves,
        ),
    ),
    (np.ndarray, _visit_array),
    (np.void, _visit_record),
    (Drawn, _visit_drawn),
    (range, lambda ends, path, leaves: _visit_items((ends.start, ends.stop, ends.step), "range", path, leaves)),
    # A flag may combine several members, which have no name together.
    (Enum, lambda one, path, leaves: _visit_one(one, one.value if isinstance(one, Flag) else one.name, path, leaves)),
    # What a later mapping hides is held too.
    (ChainMap, lambda maps, path, leaves: _visit_one(maps, maps.maps, path, leaves)),
    ((Mapping, AbstractSet), _visit_keyed),
    ((Sequence, ValuesView), lambda items, path, leaves: _visit_items(items, type(items).__name__, path, leaves)),
    (Written, lambda one, path, leaves: _visit_pairs("file", one.parts, path, leaves)),
    (os.PathLike, _visit_place),
    ((io.BytesIO, io.StringIO), _visit_stream),
    (BaseException, lambda error, path, leaves: _visit_pairs(type(error).__name__, error_parts(error), path, leaves)),
    (Failure, _visit_failure),
    (type, _visit_class),
)
"""Readers of what holds other values, by type; the first that fits. Types of other libraries are in `frames`, by name."""


def _visit_object(output: Any, path: Path, leaves: Leaves) -> str:
    """Append what a plain object holds; objects with a state that Python does not show are named and left out."""
    if (known := call_parts(output)) is not None:
        return _visit_pairs(*known, path, leaves)
    name = type(output).__name__
    items, whole = object_parts(output)
    if not whole:
        leaves.leave_out(shown_name(type(output)))
    if not items and not hasattr(output, "__dict__"):
        return name
    return _visit_pairs(name, items, path, leaves)


def _visit_more(output: Any, path: Path, leaves: Leaves) -> str:
    """Append what an object of a type derived from Python's own holds besides; its form, empty where there is nothing."""
    kind = type(output)
    if kind in _PLAIN or kind.__module__ in _WITHOUT_MORE or isinstance(output, _WHOLE):
        return ""
    items = state_of(output)
    return _visit_pairs(" and ", sorted(items, key=lambda item: item[0]), path, leaves) if items else ""


def _key_text(key: Any, leaves: Leaves) -> str:
    """A key as text; objects whose text would hold their address are named by type, and what they hold is not looked into."""
    if isinstance(key, frozenset):
        return f"frozenset({','.join(sorted(_key_text(one, leaves) for one in key))})"
    if is_dataclass(key) and not isinstance(key, type):
        return f"{type(key).__name__}({','.join(_key_text(value, leaves) for _, value in state_of(key))})"
    text = repr(key) if isinstance(key, _PLAIN_KEYS) else f"{type(key).__name__}.{key.name}" if isinstance(key, Enum) else _ADDRESS
    if _ADDRESS in text:
        leaves.leave_out(f"{shown_name(type(key))} as a key")
        return type(key).__name__
    return text


def clip_numbers(array: NDArray[Any]) -> NDArray[np.float64]:
    """The array as float64 with finite numbers cut to +-1e290, so that sums and differences of them are finite."""
    values: NDArray[np.float64] = np.asarray(array, dtype=np.float64)
    # NaN fails the comparison, so that it hides no large number beside it.
    if values.size == 0 or (values.min() >= -LARGEST and values.max() <= LARGEST):
        return values
    return np.where(np.isfinite(values), np.clip(values, -LARGEST, LARGEST), values)


def has_negative_zero(array: NDArray[np.float64]) -> bool:
    """True if a zero among numbers has a sign, which no comparison shows."""
    return bool((np.signbit(array) & (array == 0)).any())


def limit_of(name: str) -> float:
    """Size up to which numbers of this name are held by their float; larger ones have leaves besides."""
    return LARGEST if name.startswith("float") else float(EXACT - 1)


def array_kind(name: str, shape: tuple[int, ...]) -> str:
    """The form of a numeric array whose numbers are all finite."""
    return f"array({name},{'x'.join(map(str, shape))})"


def array_marks(array: NDArray[Any]) -> str:
    """What is seen of an array besides its numbers: the order of its axes and of its bytes, and whether it is locked."""
    flags = array.flags
    marks = " by columns" if flags.f_contiguous and not flags.c_contiguous else ""
    marks += "" if array.dtype.isnative else " of other bytes"
    return marks if flags.writeable else f"{marks} locked"


@lru_cache(maxsize=8)
def array_paths(shape: tuple[int, ...]) -> tuple[Path, ...]:
    """Indices of the entries of an array, in C order."""
    return tuple(tuple(map(int, index)) for index in np.ndindex(*shape))
