"""The forms of returned values: what the core program returns instead, and how to make the one of the other."""

from __future__ import annotations

import ast
from typing import Any, Final

from dpaudit.verifier.ordinary import numbers, sequences
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import Again, State
from dpaudit.verifier.ordinary.values import Counts, Fixed, Nothing, Opaque, Output, Record, Scalar, Sequence, Table, Value

_ORDER: Final = ("bool", "int", "real", "str")
_EMPTY: Final = {"bool": "False", "int": "0", "real": "Fraction(0, 1)", "str": "0"}


def put_out(state: State, node: ast.AST, found: Value) -> None:
    """Return a value: its form, and the numbers in it."""
    slots: list[Scalar] = []
    form = _form(state, node, sequences.settle(state, node, found), slots)
    known = state.learned.shapes
    fitting = next((one for one in known if _fits(form, one)), None)
    wider = None if fitting is not None else next((one for one in known if _fits(one, form)), None)
    if fitting is None:
        if wider is not None:
            known[known.index(wider)] = form
        else:
            same = next((one for one in known if _plain(one) == _plain(form)), None)
            if same is None:
                known.append(form)
            else:
                known[known.index(same)] = _widest(same, form)
        raise Again
    kinds = _kinds(fitting)
    coerced = [state.as_real(one) if kind == "real" and one.kind != "real" else one for one, kind in zip(slots, kinds, strict=True)]
    if any(one.kind != old.kind for one, old in zip(coerced, slots, strict=True)):
        state.real("whole and other numbers as results")
    parts = [one.code for one in coerced]
    if len(known) > 1:
        by_kind = {kind: [one.code for one in coerced if one.kind == kind] for kind in _ORDER}
        parts = [str(known.index(fitting))]
        for kind, size in sizes(known).items():
            parts += [*by_kind[kind], *[_EMPTY[kind]] * (size - len(by_kind[kind]))]
    parts += state.learned.outputs
    if not parts:
        parts = ["0"]
    state.emit(f"return {parts[0]}" if len(parts) == 1 else f"return {', '.join(parts)}")


def sizes(known: list[Any]) -> dict[str, int]:
    """The most numbers of each sort in one of several forms."""
    return {kind: max(_kinds(form).count(kind) for form in known) for kind in _ORDER}


def _form(state: State, node: ast.AST, found: Value, slots: list[Scalar]) -> tuple[Any, ...]:
    """The form of a value, as nested tuples; its numbers are added to `slots`."""
    match found:
        case Scalar(kind="str", known=str()):
            return ("text", found.known)
        case Scalar():
            slots.append(found)
            return (found.kind,)
        case Nothing():
            return ("none",)
        case Opaque():
            return ("opaque",)
        case Output():
            numbers.put_out(state, found.name)
            return ("output", found.name)
        case Fixed():
            shape = "list" if found.shape in ("list", "array", "range") else "tuple"
            return (shape, *(_form(state, node, item, slots) for item in found.items))
        case Table():
            return ("dict", *((key, _form(state, node, cell, slots)) for key, cell in found.cells.items()))
        case Record():
            return ("record", *(_form(state, node, part, slots) for part in found.parts.values()))
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
    if form[0] in _ORDER:
        return [form[0]]
    if form[0] == "dict":
        return [kind for _, part in form[1:] for kind in _kinds(part)]
    if form[0] in ("list", "tuple", "record"):
        return [kind for part in form[1:] for kind in _kinds(part)]
    return []


def _plain(form: Any) -> Any:
    """A form without the difference between whole and other numbers."""
    if isinstance(form, tuple):
        return tuple("number" if one in ("int", "real") and place == 0 else _plain(one) for place, one in enumerate(form))
    return form


def _fits(form: Any, other: Any) -> bool:
    """True if values of one form are of the other, whole numbers being real ones."""
    return _plain(form) == _plain(other) and all(b in (a, "real") for a, b in zip(_kinds(form), _kinds(other), strict=True))


def _widest(one: Any, other: Any) -> Any:
    """The form that two forms fit that differ in sorts of numbers."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        if one and other and {one[0], other[0]} == {"int", "real"}:
            return ("real",)
        return tuple(_widest(a, b) for a, b in zip(one, other, strict=True))
    return one


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
        match one[0]:
            case "text":
                return one[1]
            case "none":
                return None
            case "opaque":
                return ...
            case "output":
                return list(lists[one[1]])
            case "dict":
                return {key: build(part) for key, part in one[1:]}
            case "list":
                return [build(part) for part in one[1:]]
            case "tuple" | "record":
                return tuple(build(part) for part in one[1:])
            case "str":
                return words.get(rest.pop(0))
        return rest.pop(0)

    return build(form)


__all__ = ["numbers", "put_out", "rebuilt", "sizes"]
