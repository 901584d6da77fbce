"""Texts by `format`, `%` and `join`, and JSON: functions of the values that they show, as texts with values in them are."""

from __future__ import annotations

import ast
import re
import string
from typing import Any, Final

from dpaudit.verifier.frontend import OutsideSubset
from dpaudit.verifier.ordinary import outcomes, texts
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Dictionary,
    Instance,
    Items,
    Nothing,
    Opaque,
    Record,
    Ref,
    Scalar,
    Sequence,
    Tuple,
    Value,
)

_PERCENT: Final = re.compile(r"%(?:(\.\d{1,2})?([dfeEgG])|([sr%]))")
_PLAIN: Final = frozenset({"int", "float", "bool", "str", "np.float"})
"""The types of scalars that JSON holds; floats of numpy are floats of Python."""
_OF_FLOATS: Final = frozenset({f"numpy.{name}" for name in ("round", "around", "sqrt", "exp", "log", "floor", "ceil")} | {".round"})
"""Functions of numpy that give floats for floats."""
_LAYOUT: Final = frozenset({"indent", "sort_keys", "separators", "ensure_ascii"})


def formatted(state: State, node: ast.AST, form: str, args: list[Value], named: dict[str, Value]) -> Value:
    """`form.format(...)` with fields that are names or places."""
    pieces: list[texts.Piece] = []
    place = 0
    try:
        parsed = list(string.Formatter().parse(form))
    except ValueError:
        raise refuse(node, f"the format {form!r}", "write an f-string", "DPA703") from None
    numbered = {name for _, name, _, _ in parsed if name is not None and name.isdigit()}
    for fixed, name, spec, conversion in parsed:
        pieces.append(fixed)
        if name is None:
            continue
        if name == "" and not numbered and place < len(args):
            value, place = args[place], place + 1
        elif (
            name.isdigit()
            and str(int(name)) == name
            and int(name) < len(args)
            and all(one for _, one, _, _ in parsed if one is not None)
        ):
            value = args[int(name)]
        elif name.isidentifier() and name in named:
            value = named[name]
        else:
            raise refuse(node, f"the format {form!r}", "write an f-string", "DPA703")
        pieces.append((value, spec or "", conversion or ""))
    return texts.pieced(state, node, pieces)


def percent(state: State, node: ast.AST, form: str, right: Value) -> Value:
    """`form % values` with plain fields, one for each value."""
    values = list(right.items) if isinstance(right, Tuple) else [right]
    if isinstance(right, (Record, Ref, Nothing)):
        raise refuse(node, f"`{ast.unparse(node)}`", "write an f-string", "DPA703")
    pieces: list[texts.Piece] = []
    rest = form
    while (found := _PERCENT.search(rest)) is not None:
        pieces.append(_plain(node, rest[: found.start()]))
        rest = rest[found.end() :]
        digits, letter, other = found.groups()
        if other == "%":
            pieces.append("%")
            continue
        if not values:
            raise refuse(node, f"the format {form!r} with too few values", "write an f-string", "DPA703")
        value = values.pop(0)
        if letter == "d" and not (isinstance(value, Scalar) and value.types <= {"int", "np.int"} and not digits):
            # It cuts other numbers off.
            raise refuse(node, f"the format {form!r} of this value", "write an f-string", "DPA703")
        pieces.append((value, (digits or ("" if letter == "d" else ".6")) + letter if letter else "", "r" if other == "r" else ""))
    if values:
        raise refuse(node, f"the format {form!r} with too many values", "write an f-string", "DPA703")
    return texts.pieced(state, node, [*pieces, _plain(node, rest)])


def _plain(node: ast.AST, text: str) -> str:
    """A part of a format without fields."""
    if "%" in text:
        raise refuse(node, f"the format {text!r}", "write an f-string", "DPA703")
    return text


def joined(state: State, node: ast.AST, between: str, found: Any) -> Value:
    """`between.join(texts)` of texts that are written out."""
    if isinstance(found, Sequence) or any(guard is not None for guard, _ in found):
        raise refuse(
            node, f"`{ast.unparse(node)}` of texts of a number that nothing says", "join texts that are written out", "DPA706"
        )
    pieces: list[texts.Piece] = []
    for _, one in found:
        if not ((isinstance(one, Scalar) and one.kind == "str") or (isinstance(one, Opaque) and one.sort == "text")):
            raise refuse(node, f"`{ast.unparse(node)}` of what is no text", "write str(...) around each", "DPA703")
        pieces += [between, (one, "", "")]
    return texts.pieced(state, node, pieces[1:])


def _dumps(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
    """`json.dumps` of numbers, texts, lists and dictionaries of constant keys."""
    laid_out = all(_is_constant(state, one) for one in named.values())
    if len(args) != 1 or not set(named) <= _LAYOUT or not laid_out:
        raise refuse(node, f"`{ast.unparse(node)}`", "write json.dumps(value)", "DPA706")
    _check_json(state, node, args[0])
    return texts.opaque(state, node, args[0], sort="text")


def _is_constant(state: State, found: Value) -> bool:
    """True for what the source writes out."""
    match found:
        case Nothing():
            return True
        case Scalar():
            return found.is_known
        case Tuple(items):
            return all(_is_constant(state, one) for one in items)
    return False


def _check_json(state: State, node: ast.AST, found: Value) -> None:
    """Refuse what JSON does not hold, or not for sure."""
    match found:
        case Scalar() if found.types <= _PLAIN:
            texts.as_text(state, node, found)
        case Nothing():
            pass
        case Opaque(parts=parts) if found.sort == "text":
            for one in outcomes.scalars(Tuple(parts)):
                texts.as_text(state, node, one)
        case Opaque() if found.sort == "number" and _is_python(found):
            texts.as_text(state, node, found)
        case Tuple(items):
            for part in items:
                _check_json(state, node, part)
        case Ref():
            held = state.object(found)
            if not isinstance(held, Dictionary) and not (isinstance(held, Items) and held.form == "list"):
                raise _no_json(node)
            for part in held.cells().values():
                _check_json(state, node, part)
        case _:
            raise _no_json(node)


def _no_json(node: ast.AST) -> OutsideSubset:
    """The refusal of what JSON does not hold, or not for sure."""
    hint = "use lists, dictionaries, numbers and texts of Python, float(...) and int(...) of those of numpy"
    return refuse(node, f"`{ast.unparse(node)}` of what JSON may not hold", hint, "DPA703")


def _is_python(found: Value) -> bool:
    """True for a number that JSON takes for sure: one of Python's, or a float of numpy, and no whole number of numpy."""
    if isinstance(found, Scalar):
        return found.types <= _PLAIN
    if not isinstance(found, Opaque):
        return isinstance(found, Nothing)
    last = found.site.rpartition(":")[2]
    if last in ("int", "float", "math.floor", "math.ceil") or last.startswith("math."):
        return True
    if last in _OF_FLOATS and any(one.kind != "real" and not one.is_known for one in outcomes.scalars(found)):
        return False
    return (last in ("round", *_OF_FLOATS) or last.isdigit()) and all(map(_is_python, found.parts))


def _asdict(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
    """`dataclasses.asdict` of numbers and texts."""
    found = given(node, args, named, "obj")["obj"]
    held = state.object(found) if isinstance(found, Ref) else found
    parts: dict[str, Value] = {}
    if isinstance(held, Record) and held.owner.style == "frozen":
        parts = dict(held.parts)
    elif isinstance(held, Instance) and held.owner.style == "dataclass":
        # Attributes that methods added are none of its fields.
        parts = {name: held.parts[name] for name, _, _ in held.owner.fields if name in held.parts}
    if not parts or not all(isinstance(one, (Scalar, Opaque, Nothing)) for one in parts.values()):
        raise refuse(node, f"`{ast.unparse(node)}`", "write the dictionary out", "DPA706")
    return state.new(Dictionary(tuple(parts.items())))


def fill() -> None:
    """Enter the functions of this module."""
    Sources.MODULES.update({"json.dumps": _dumps, "dataclasses.asdict": _asdict})
