"""Plain objects, functions and errors as named parts: dictionaries, slots, cells of closures, and what copying would keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any, Final

from dpaudit.auditor.reading.leaves import Label
from dpaudit.errors import DpauditError, class_name

_HEAP: Final = 1 << 9
"""The flag of types that are made while the program runs."""

_WORD: Final = object.__basicsize__ // 2
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}")
_PROTOCOL: Final = 4
_MOST_CAUSES: Final = 8

Parts = list[tuple[str, Any]]


def shown_name(kind: type) -> str:
    """The name of a type for a report: built-in types have fixed names, others may have been made at run time from data."""
    return class_name(kind) if kind.__flags__ & _HEAP else kind.__name__


def state_of(output: Any) -> Parts:
    """Attributes of an object, in its dictionary and in the slots of its classes."""
    items = list(getattr(output, "__dict__", {}).items())
    for kind in type(output).__mro__:
        for name, member in vars(kind).items():
            # Members with two underscores are the interpreter's: some are addresses, different in every process.
            own = not name.startswith("__") or name.startswith("__pydantic")
            if isinstance(member, MemberDescriptorType) and own and hasattr(output, name):
                items.append((name, getattr(output, name)))
    return items


def object_parts(output: Any) -> tuple[Parts, bool]:
    """The parts of a plain object, and whether they are all that it holds."""
    items = [(field.name, getattr(output, field.name)) for field in fields(output)] if is_dataclass(output) else []
    known = {field for field, _ in items}
    items += [(key, value) for key, value in state_of(output) if key not in known]
    items.sort(key=lambda item: item[0])
    if _is_open(type(output)):
        return items, True
    reduced = _reduced(output)
    return items + (reduced or []), reduced is not None


def _is_open(kind: type) -> bool:
    """True if dictionary and slots are all that objects of a type hold, as their size shows; copying relies on the same."""
    slots = [member for base in kind.__mro__ for member in vars(base).values() if isinstance(member, MemberDescriptorType)]
    hidden = sum(_WORD for offset in (kind.__dictoffset__, kind.__weakrefoffset__) if offset > 0)
    return kind.__itemsize__ == 0 and kind.__basicsize__ <= object.__basicsize__ + hidden + _WORD * len(slots)


def _reduced(output: Any) -> Parts | None:
    """What copying an object with a hidden state would keep of it; None where it cannot be copied."""
    try:
        found = output.__reduce_ex__(_PROTOCOL)
    except Exception:  # noqa: BLE001 - whatever an object that cannot be copied raises
        return None
    if isinstance(found, str):
        return [("the name", Label(found))]
    _, arguments, state, items, pairs = (*found, None, None, None)[:5]
    parts = [("the arguments", arguments), ("the state", state), ("the items", items), ("the pairs", pairs)]
    return [(name, list(part) if isinstance(part, Iterator) else part) for name, part in parts if part is not None]


def call_parts(output: Any) -> tuple[str, Parts] | None:
    """The form and the parts of a function of Python's own: its code, and what it would use besides its arguments."""
    if isinstance(output, partial):
        return "partial", [("the function", output.func), ("the arguments", output.args), ("the keywords", output.keywords)]
    if isinstance(output, MethodType):
        return "method", [("the function", output.__func__), ("the object", output.__self__)]
    if not isinstance(output, FunctionType):
        return None
    return "function", [
        ("the name", Label(output.__qualname__)),
        ("the code", Label(output.__code__.co_code.hex())),
        ("the constants", [one for one in output.__code__.co_consts if isinstance(one, (int, float, complex, str, bytes, tuple))]),
        ("the defaults", (output.__defaults__, output.__kwdefaults__)),
        ("the cells", [_cell(cell) for cell in output.__closure__ or ()]),
        ("the attributes", output.__dict__),
    ]


def _cell(cell: Any) -> Any:
    """What a cell of a closure holds, None while that is not set."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def error_parts(error: BaseException, depth: int = 0) -> Parts:
    """The arguments of an error, its attributes, its text where that says more, without addresses, and those of what caused it."""
    if isinstance(error, DpauditError):
        return [("the text", Label(error))]  # one of a few, which its code names
    arguments = [_without_address(argument) for argument in error.args]
    try:
        text = _without_address(str(error))
    except Exception:  # noqa: BLE001 - whatever the text of an error raises
        text = ""
    parts: Parts = [("the arguments", arguments)]
    if text not in ("", *arguments):
        parts.append(("the text", text))
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        # As parts at once, since an error that is kept keeps all that its functions held.
        parts.append(("the cause", Label(type(cause).__qualname__)))
        parts += [("the cause's parts", dict(error_parts(cause, depth + 1)))] if depth < _MOST_CAUSES else []
    return [*parts, *sorted(state_of(error), key=lambda item: item[0])]


def _without_address(argument: Any) -> Any:
    """A text without addresses, and everything else as it is."""
    return _ADDRESS.sub("0x", argument) if isinstance(argument, str) else argument
