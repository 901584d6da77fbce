"""What a function puts out: the form of each value, the numbers that the core program puts out for it, and the way back.

A form says everything about a value but its numbers: types, lengths of what is written out, and the place of the source that
computes what is opaque. Values of different forms are different outcomes, and the core program puts out which of them it is.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, Final

from dpaudit.verifier.frontend.scopes import EXCEPTIONS
from dpaudit.verifier.ordinary.lines import SHOWN, Line, Released
from dpaudit.verifier.ordinary.reaching import references
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Counts,
    Dictionary,
    Groups,
    Instance,
    Items,
    Kind,
    Nothing,
    Opaque,
    Output,
    Poison,
    Record,
    Ref,
    Scalar,
    Sequence,
    Span,
    Tuple,
    Value,
    names_in,
)

_ORDER: Final[tuple[Kind, ...]] = ("bool", "int", "real", "str")
_EMPTY: Final = {"bool": "False", "int": "0", "real": "Fraction(0)", "str": "0"}


def put_out(state: State, node: ast.AST, found: Value) -> None:
    """Return a value from the function that is read; the core program ends."""
    slots: list[Scalar] = []
    made = Released("", _form(state, node, found, slots), tuple(slots))
    state.returned.setdefault(made.form, []).append(_frozen(state, found))
    state.returns.append(made)
    state.emit(made)
    state.leave()


def _frozen(state: State, found: Value) -> Value:
    """A returned value with what its objects hold now in their places."""
    match found:
        case Tuple(items):
            return Tuple(tuple(_frozen(state, one) for one in items))
        case Ref():
            held = state.object(found)
            if isinstance(held, (Items, Dictionary, Instance)):
                return Tuple(tuple(_frozen(state, one) for one in held.cells().values()))
    return found


def append(state: State, node: ast.AST, output: Output, found: Value) -> None:
    """Let an output list grow by what nothing can change afterwards."""
    if is_held(state, found):
        raise refuse(
            node,
            "a list, dictionary or object that has another name in a list that grows",
            "append numbers, or a new one",
            "DPA706",
        )
    _append(state, node, output, found)


def is_held(state: State, found: Value) -> bool:
    """True if a part of a value may still be changed through something else that refers to it."""
    inner, rest = set(), list(references(found))
    while rest:
        address = rest.pop()
        if address not in inner:
            inner.add(address)
            rest += references(state.heap[address])
    return bool(inner) and any(
        address not in inner and not inner.isdisjoint(references(one)) for address, one in state.heap.items()
    )


def _append(state: State, node: ast.AST, output: Output, found: Value) -> None:
    """Let an output list grow by a value as it is now."""
    slots: list[Scalar] = []
    form = _form(state, node, found, slots)
    if _has_list(form):
        raise refuse(node, "a list inside of a list that grows", "put out numbers one by one", "DPA706")
    made = Released(output.name, form, tuple(slots))
    if state.record_loops and not state.lenient:
        raise teach(node, "draw per record", "an output for each record")
    state.outputs[output.name].append(made)
    state.emit(made)


def show(state: State, node: ast.AST, *parts: Value) -> None:
    """Put values out here and now: for `print`, and where an error of Python would show them."""
    state.outputs.setdefault(SHOWN, [])
    place = state.text(f"{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}")
    _append(state, node, Output(SHOWN), Tuple((place, *parts)))


def _has_list(form: Any) -> bool:
    """True if a form has a list whose length the source does not say."""
    return isinstance(form, tuple) and (form[:1] == ("output",) or any(map(_has_list, form)))


def _form(state: State, node: ast.AST, found: Value, slots: list[Scalar]) -> tuple[Any, ...]:
    """The form of a value, as nested tuples; its numbers are added to `slots`."""
    match found:
        case Scalar(kind="str", known=str()):
            return ("text", found.known)
        case Scalar() if found.firm:
            slots.append(found)
            return ("one", found.kind, *found.types)
        case Scalar(tests=None) | Scalar(tests=()):
            state.untyped = state.untyped or state.line
            slots.append(found)
            return ("one", found.kind, *sorted(found.types))
        case Scalar():
            tests = found.tests or ()
            state.rounded = state.rounded or len(tests) > 1
            slots += [found, *(Scalar(code, "bool", frozenset({"bool"})) for code in tests)]
            return ("mixed", found.kind, len(tests), *sorted(found.types))
        case Nothing():
            return ("none",)
        case Opaque():
            state.rounded = True
            return ("opaque", found.site, *(_form(state, node, part, slots) for part in found.parts))
        case Tuple(items):
            return ("tuple", *(_form(state, node, item, slots) for item in items))
        case Record(owner, parts):
            return ("record", owner.name, *(_form(state, node, part, slots) for _, part in parts))
        case Span(start, stop, step):
            return ("range", step, _form(state, node, start, slots), _form(state, node, stop, slots))
        case Ref():
            return _form_of_object(state, node, found, slots)
        case Poison(why):
            raise refuse(node, f"a value {why}", "give it one type and one form on every way", "DPA705")
    raise refuse(
        node,
        f"`{ast.unparse(getattr(node, 'value', None) or node)}` as a result",
        "return numbers, texts, lists and dictionaries",
        "DPA705",
    )


def _form_of_object(state: State, node: ast.AST, found: Ref, slots: list[Scalar]) -> tuple[Any, ...]:
    """The form of an object of the heap."""
    match state.object(found):
        case Items(items, form) if form != "set":
            return (form, *(_form(state, node, item, slots) for item in items))
        case Dictionary(entries, default):
            return ("dict", default, *((key, _form(state, node, cell, slots)) for key, cell in entries))
        case Instance(owner, parts):
            return ("record", (owner.name, *parts), *(_form(state, node, part, slots) for part in parts.values()))
        case Output(name, form):
            return ("output", name, form)
        case Sequence() as items if items.form != "iterator":
            return ("output", _collected(state, node, state.taken(node, found.address, items)).name, items.form)
        case Counts() | Groups():
            raise teach(node, "private keys", "a dictionary over keys that are found in the data")
    raise refuse(
        node,
        f"`{ast.unparse(getattr(node, 'value', None) or node)}` as a result",
        "return numbers, texts, lists and dictionaries",
        "DPA705",
    )


def _collected(state: State, node: ast.AST, found: Sequence) -> Output:
    """The elements of a sequence in an output list, written here."""
    if found.private and not state.lenient:
        raise teach(node, "draw per record", "a result for each record")
    made = replace(state.channel(), form=found.form)
    depth = state.depth
    value = state.opened(node, found)
    append(state, node, made, value)
    state.depth = depth
    return made


def refuse_private_error(state: State, node: ast.AST, parts: list[Value]) -> None:
    """An error may only show constants and public parameters: which of its messages it has is not put out."""
    for one in parts:
        if not isinstance(one, (Scalar, Opaque)):
            raise refuse(node, "an error with more than a text", "raise with a text or a number", "DPA706")
        for leaf in scalars(one):
            if not leaf.is_known and not names_in(leaf.code) <= state.parameters | {"Fraction"}:
                raise refuse(node, "an error that shows data", "leave private and noisy values out of the message", "DPA706")


def ended(state: State, node: ast.AST, name: str, values: list[Value]) -> None:
    """The core program ends with an exception: one for each place, since a place shows itself."""
    refuse_private_error(state, node, values)
    place = f"{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}:{values}"
    if place not in state.raises:
        taken = {core for core, _ in state.raises.values()}
        known = [one.__name__ for one in EXCEPTIONS]
        free = [core for core in ([name] if name in known else []) + known if core not in taken]
        if not free:
            raise refuse(node, "this many errors", "raise fewer", "DPA706")
        state.raises[place] = (free[0], name)
    state.emit(f"raise {state.raises[place][0]}")
    state.leave()


def scalars(found: Value) -> list[Scalar]:
    """The scalars in a value."""
    match found:
        case Scalar():
            return [found]
        case Opaque(parts=parts) | Tuple(items=parts):
            return [one for part in parts for one in scalars(part)]
    return []


# The core program, once all forms are known.


def kinds_of(form: tuple[Any, ...]) -> list[Kind]:
    """The sorts of the numbers in a form, in order."""
    match form:
        case ("one", kind, *_):
            return [kind]
        case ("mixed", kind, count, *_):
            tests: list[Kind] = ["bool"] * count
            return [kind, *tests]
        case ("dict", _, *parts):
            return [kind for _, part in parts for kind in kinds_of(part)]
        case ("record" | "opaque" | "range", _, *parts) | ("list" | "tuple" | "array", *parts):
            return [kind for part in parts for kind in kinds_of(part)]
    return []


def _forms(released: list[Released]) -> list[tuple[Any, ...]]:
    """The forms that occur, in the order of the first."""
    return list(dict.fromkeys(one.form for one in released))


def sizes(forms: list[tuple[Any, ...]]) -> dict[Kind, int]:
    """The most numbers of each sort in one of several forms."""
    return {kind: max(kinds_of(form).count(kind) for form in forms) for kind in _ORDER}


def _parts(forms: list[tuple[Any, ...]], found: Released) -> list[tuple[str, Kind]]:
    """What is put out for a value, given all forms that its channel has."""
    own = [(one.code, one.kind) for one in found.slots]
    if len(forms) == 1:
        return own
    parts: list[tuple[str, Kind]] = [(str(forms.index(found.form)), "int")]
    for kind, size in sizes(forms).items():
        held = [one for one in own if one[1] == kind]
        parts += [*held, *[(_EMPTY[kind], kind)] * (size - len(held))]
    return parts


def written(state: State) -> list[Line]:
    """The lines of the core program, with what each puts out."""
    forms = {name: _forms(found) for name, found in state.outputs.items()}
    forms[""] = _forms(state.returns)
    wide = {name: _is_wide(forms[name], found) for name, found in state.outputs.items()}
    lines: list[Line] = [(1, f"{name} = []", state.line) for name in state.outputs]
    for depth, text, line in state.lines:
        if isinstance(text, str):
            lines.append((depth, text, line))
            continue
        parts = _parts(forms[text.channel], text)
        if text.channel:
            codes = [_wide(code, kind) if wide[text.channel] else code for code, kind in parts] or ["0"]
            lines += [(depth, f"{text.channel}.append({code})", line) for code in codes]
        else:
            values = [*(code for code, _ in parts), *state.outputs]
            lines.append((depth, f"return {', '.join(values) or '0'}", line))
    return lines


def _is_wide(forms: list[tuple[Any, ...]], found: list[Released]) -> bool:
    """True if an output list holds more than whole numbers and truth values of one sort."""
    kinds = {"int" if kind == "str" else kind for one in found for _, kind in _parts(forms, one)} or {"int"}
    return len(kinds) > 1 or kinds == {"bool"}


def _wide(code: str, kind: Kind) -> str:
    """A number, truth value or text as a number that any output list holds."""
    return code if kind == "real" else f"Fraction(1 if {code} else 0)" if kind == "bool" else f"Fraction({code})"


def differs_by_numpy(state: State) -> bool:
    """True if two forms of one output differ in nothing but that a value is of numpy's truth values or of Python's."""

    def plain(form: Any) -> Any:
        if isinstance(form, tuple):
            return tuple(map(plain, form))
        return "bool" if form == "np.bool" else form

    forms = [_forms(found) for found in (state.returns, *state.outputs.values())]
    return any(len({plain(one) for one in some}) < len(some) for some in forms)


def released_once(state: State) -> bool:
    """True if each return puts every output list out, so that the core program puts out no more than the source."""
    names = [name for name in state.outputs if name != SHOWN]
    return all(str(name) in repr(one.form) for one in state.returns for name in names)


def rebuilt(state: State, values: tuple[Any, ...]) -> Any:
    """The value that the source returns, from those that the core program returned; `...` for what is not computed."""
    words = {**state.words, **{number: text for text, number in state.texts.items()}}
    lists = dict(zip(state.outputs, values[len(values) - len(state.outputs) :], strict=True))

    def one_of(forms: list[tuple[Any, ...]], rest: list[Any]) -> Any:
        form = forms[0]
        if len(forms) > 1:
            form = forms[int(rest.pop(0))]
            held = {kind: [rest.pop(0) for _ in range(size)] for kind, size in sizes(forms).items()}
            own = [held[kind].pop(0) for kind in kinds_of(form)]
            return build(form, own)
        return build(form, rest)

    def build(form: tuple[Any, ...], rest: list[Any]) -> Any:
        match form:
            case ("text", text):
                return text
            case ("none",):
                return None
            case ("opaque", _, *parts):
                for part in parts:
                    build(part, rest)
                return ...
            case ("output", name, shape):
                forms, items = _forms(state.outputs[name]), list(lists[name])
                made = []
                while items:
                    size = len(items)
                    made.append(one_of(forms, items))
                    if len(items) == size:
                        items.pop(0)
                return dict(made) if shape == "dict" else made
            case ("dict", _, *parts):
                return {key: build(part, rest) for key, part in parts}
            case ("list" | "array", *parts):
                return [build(part, rest) for part in parts]
            case ("tuple", *parts) | ("record", _, *parts):
                return tuple(build(part, rest) for part in parts)
            case ("range", step, start, stop):
                return range(build(start, rest), build(stop, rest), step)
            case ("mixed", _, count, *_):
                value = rest.pop(0)
                del rest[:count]
                return value
            case ("one", "str", _):
                number = int(rest.pop(0))
                return words.get(number, f"text {number}")
            case ("one", "bool", *_):
                return bool(rest.pop(0))
        return rest.pop(0)

    return one_of(_forms(state.returns), list(values[: len(values) - len(state.outputs)]))
