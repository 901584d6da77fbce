"""The forms of values that are put out: the numbers that the core program puts out instead, and how to make the one of the other.

A form says everything about a value but its numbers: sorts, lengths of what is written out, and the place of the source that
computes what is opaque. Values of different forms are different outcomes, and the core program puts out which of them it is.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from dpaudit.verifier.ordinary import numbers, sequences
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import Again, State
from dpaudit.verifier.ordinary.values import Counts, Fixed, Nothing, Opaque, Output, Record, Scalar, Sequence, Table, Value

SHOWN: Final = "shown__0"
"""The output list of what is printed."""
_ORDER: Final = ("bool", "int", "real", "str")
_EMPTY: Final = {"bool": "False", "int": "0", "real": "Fraction(0, 1)", "str": "0"}


def put_out(state: State, node: ast.AST, found: Value) -> None:
    """Return a value: its form, and the numbers in it."""
    slots: list[Scalar] = []
    form = _form(state, node, sequences.settle(state, node, found), slots)
    known = state.learned.shapes
    if form not in known:
        known.append(form)
        raise Again
    parts = [one.code for one in slots]
    if len(known) > 1:
        by_kind = {kind: [one.code for one in slots if one.kind == kind] for kind in _ORDER}
        parts = [str(known.index(form))]
        for kind, size in sizes(known).items():
            parts += [*by_kind[kind], *[_EMPTY[kind]] * (size - len(by_kind[kind]))]
    parts += state.learned.outputs
    state.emit(f"return {', '.join(parts) or '0'}")


def show(state: State, node: ast.AST, *parts: Value) -> None:
    """Put values out here and now: for `print`, and where an error of Python would show them.

    Each place and form has a number, which comes first; as many numbers follow each time, so the list can be read in one way only.
    """
    if state.record_loops:
        raise teach(node, "draw per record", "an output for each record")
    if state.lazy:
        raise refuse(node, f"`{ast.unparse(node)}` in a comprehension", "write a loop", "DPA706")
    slots: list[Scalar] = []
    form = tuple(_form(state, node, part, slots) for part in parts)
    if _has_list(form):
        raise refuse(node, f"`{ast.unparse(node)}`", "print numbers one by one", "DPA706")
    numbers.put_out(state, SHOWN)
    place = state.text(f"{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}:{form}")
    for one in (place, *slots):
        code = f"(1 if {one.code} else 0)" if one.kind == "bool" else one.code
        state.emit(f"{SHOWN}.append({code if one.kind == 'real' else f'Fraction({code})'})")


def computed(
    state: State, node: ast.AST, what: str, *parts: Value, sort: str = "number", total: bool = True, lossy: bool = True
) -> Opaque:
    """What is not computed, but made of numbers: where it may fail for some values, or for their types, these are shown."""
    found = numbers.opaque(state, node, what, *parts, sort=sort, lossy=lossy)
    if not total or any(numbers.sort_of(part) != "number" for part in parts):
        show(state, node, found)
    return found


def _has_list(form: Any) -> bool:
    """True if a form has a list whose length the source does not say."""
    return isinstance(form, tuple) and (form[:1] == ("output",) or any(map(_has_list, form)))


def sizes(known: list[Any]) -> dict[str, int]:
    """The most numbers of each sort in one of several forms."""
    return {kind: max(_kinds(form).count(kind) for form in known) for kind in _ORDER}


def _form(state: State, node: ast.AST, found: Value, slots: list[Scalar]) -> tuple[Any, ...]:
    """The form of a value, as nested tuples; its numbers are added to `slots`."""
    match found:
        case Scalar(kind="str", known=str()):
            return ("text", found.known)
        case Scalar(loose=("?",)):
            state.learned.untyped = state.learned.untyped or state.line
            slots.append(found)
            return (found.kind,)
        case Scalar():
            slots += [found, *(Scalar(code, "bool") for code in found.loose)]
            return ("loose", len(found.loose)) if found.loose else (found.kind,)
        case Nothing():
            return ("none",)
        case Opaque():
            return ("opaque", found.site, *(_form(state, node, part, slots) for part in found.parts))
        case Output(name=name):
            numbers.put_out(state, name)
            return ("output", name, found.shape == "array", *state.wraps.get(name, ("", "")))
        case Fixed():
            return (found.shape, *(_form(state, node, item, slots) for item in found.items))
        case Table():
            return ("dict", *((key, _form(state, node, cell, slots)) for key, cell in found.cells.items()))
        case Record():
            name = found.owner.tree.name if found.owner is not None else ""
            return ("record", name, *(_form(state, node, part, slots) for part in found.parts.values()))
        case Sequence():
            return _form(state, node, sequences.materialized(state, node, found), slots)
        case Counts():
            raise teach(node, "private keys", "a dictionary over keys that are found in the data")
    raise refuse(
        node,
        f"a return of `{ast.unparse(getattr(node, 'value', node))}`",
        "return numbers, texts, lists and dictionaries",
        "DPA705",
    )


def _kinds(form: tuple[Any, ...]) -> list[str]:
    """The sorts of the numbers in a form, in order."""
    match form:
        case ("bool" | "int" | "real" | "str" as kind,):
            return [kind]
        case ("loose", count):
            return ["real", *["bool"] * count]
        case ("dict", *parts):
            return [kind for _, part in parts for kind in _kinds(part)]
        case ("record" | "opaque", _, *parts) | ("list" | "tuple" | "array" | "range", *parts):
            return [kind for part in parts for kind in _kinds(part)]
    return []


def rebuilt(known: list[Any], texts: dict[str, int], outputs: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """The value that the source returns, from those that the core program returned; `...` for what is not computed."""
    lists = dict(zip(outputs, values[len(values) - len(outputs) :], strict=True))
    rest = list(values[: len(values) - len(outputs)])
    form = known[0]
    if len(known) > 1:
        form = known[rest.pop(0)]
        by_kind: dict[str, list[Any]] = {}
        for kind, size in sizes(known).items():
            by_kind[kind] = [rest.pop(0) for _ in range(size)]
        rest = [by_kind[kind].pop(0) for kind in _kinds(form)]
    words = {number: text for text, number in texts.items()}

    def build(one: tuple[Any, ...]) -> Any:
        match one:
            case ("text", text):
                return text
            case ("none",):
                return None
            case ("opaque", _, *parts):
                for part in parts:
                    build(part)
                return ...
            case ("output", name, _, wrap, kind):
                return [... if wrap else words.get(value) if kind == "str" else value for value in lists[name]]
            case ("dict", *parts):
                return {key: build(part) for key, part in parts}
            case ("list" | "array" | "range", *parts):
                return [build(part) for part in parts]
            case ("tuple", *parts) | ("record", _, *parts):
                return tuple(build(part) for part in parts)
            case ("loose", count):
                value = rest.pop(0)
                del rest[:count]
                return value
            case ("str",):
                return words.get(rest.pop(0))
        return rest.pop(0)

    return build(form)
