"""Texts of records: what a method makes of one is a further field of the record.

For every record there is a text, and so a value of each such field; a proof is for all values of the fields, whatever they have to
do with each other. A counterexample needs texts of which Python makes just these values: one is looked for, and without it there
is no verdict.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from dpaudit.verifier.ordinary.lines import Again
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Builtin, Kind, Partial, Scalar, Tuple, Value, names_in, renamed

Step: TypeAlias = tuple[str, tuple[Any, ...]]
"""A method with its constant arguments; "len", "in", "split" and "slice" are no methods but read alike."""
_TEXTS: Final = frozenset(
    {
        "lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "casefold", "swapcase", "replace", "removeprefix",
        "removesuffix", "slice",
    }
)  # fmt: skip
_TESTS: Final = frozenset(
    {"startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isnumeric", "isdecimal", "in"}
)
_COUNTS: Final = frozenset({"count", "find", "len", "words"})
METHODS: Final = (_TEXTS | _TESTS | _COUNTS | {"split"}) - {"in", "slice", "len", "words"}
"""The methods of texts that are read."""
_PLAIN: Final = _TEXTS - {"replace", "removeprefix", "removesuffix", "slice", "strip", "lstrip", "rstrip"} | _TESTS - {
    "startswith", "endswith", "in",
}  # fmt: skip
"""Methods without arguments."""
_SPLIT: Final = Builtin("text. split")
"""A function that no source can name: the words of a text, of which only the number is read."""
_LARGE: Final = 2000
"""The longest text that is made for a counterexample."""


@dataclass(frozen=True)
class Made:
    """A field that is made of the text in another: what is done to it in turn."""

    field: str
    steps: tuple[Step, ...]
    kind: Kind


def applied(text: str, steps: Iterable[Step]) -> Any:
    """What Python makes of a text."""
    found: Any = text
    for name, args in steps:
        match name:
            case "len":
                found = len(found)
            case "words":
                found = len(found.split(*args))
            case "in":
                found = args[0] in found
            case "slice":
                found = found[slice(*args)]
            case _:
                found = getattr(found, name)(*args)
    return found


def derived(state: State, node: ast.AST, found: Scalar, name: str, args: tuple[Any, ...]) -> Scalar | None:
    """What a method makes of a text of the data, as a field of its record; None for a text that is no such field."""
    core = next((one for one in names_in(found.code) & set(state.columns) if one in state.fields), None)
    if found.kind != "str" or found.is_known or core is None:
        return None
    code, place = state.columns[core]
    if not any(found.code == renamed(code, {place: one}) for one in names_in(found.code)):
        return None
    data, own = state.fields[core]
    known = state.learned.made.setdefault(data, {})
    before = known.get(own)
    base, steps = (own, ()) if before is None else (before.field, before.steps)
    kind: Kind = "bool" if name in _TESTS else "int" if name in _COUNTS else "str"
    made = Made(base, (*steps, (name, args)), kind)
    field = next((key for key, one in known.items() if one == made), None)
    if field is None:
        known[f"{base}__text{len(known)}" if base else f"text{len(known)}"] = made
        raise Again
    swap = {one: one.replace(_column(data, own), _column(data, field), 1) for one in names_in(found.code) if one in state.columns}
    text = renamed(found.code, swap)
    if kind == "bool":
        return Scalar(f"({text} == 1)", "bool", frozenset({"bool"}), public=found.public)
    return Scalar(text, kind, frozenset({kind}), public=found.public)


def _column(data: str, field: str) -> str:
    """The core list of a field."""
    return f"{data}__{field}" if field else data


def method(state: State, node: ast.AST, owner: Value, name: str, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A method of a text of the data, with constant arguments."""
    if not isinstance(owner, Scalar) or owner.kind != "str" or owner.is_known or name not in {"split"} | _TEXTS | _TESTS | _COUNTS:
        return None
    values = [_constant(one) for one in args]
    if name == "split" and not named and len(args) <= 1 and None not in values and "" not in values:
        return Partial(_SPLIT, (owner, *args))
    if named or name in ("in", "slice", "words", "len", "split") or None in values or not _fits(name, values):
        raise refuse(node, f"`{ast.unparse(node)}`", "use a method of texts with constants", "DPA706")
    return derived(state, node, owner, name, tuple(values))


def _constant(found: Value) -> Any:
    """A constant text, or a tuple of such; None for anything else."""
    if isinstance(found, Scalar) and isinstance(found.known, str):
        return found.known
    if isinstance(found, Tuple):
        parts = tuple(_constant(one) for one in found.items)
        return None if None in parts or not all(isinstance(one, str) for one in parts) else parts
    return None


def _fits(name: str, values: list[Any]) -> bool:
    """True if Python takes these arguments."""
    if name in _PLAIN:
        return not values
    texts = all(isinstance(one, str) for one in values)
    if name in ("startswith", "endswith"):
        return len(values) == 1
    least, most = {"strip": (0, 1), "lstrip": (0, 1), "rstrip": (0, 1), "replace": (2, 2)}.get(name, (1, 1))
    return texts and least <= len(values) <= most


def length(state: State, node: ast.AST, found: Value) -> Scalar | None:
    """The length of a text of the data, or of the list of its words; None for anything else."""
    if isinstance(found, Partial) and found.function == _SPLIT:
        owner, *args = found.args
        return derived(state, node, owner, "words", tuple(map(_constant, args))) if isinstance(owner, Scalar) else None
    return derived(state, node, found, "len", ()) if isinstance(found, Scalar) else None


def sliced(state: State, node: ast.AST, owner: Value, ends: list[Any]) -> Scalar | None:
    """`text[a:b]` of a text of the data."""
    return derived(state, node, owner, "slice", tuple(ends)) if isinstance(owner, Scalar) else None


# Texts for values.


class NoText(RuntimeError):
    """No text was found of which Python makes the values of a counterexample."""


class Words:
    """Texts that stand for whole numbers: those that the source names, and others that are found on the way."""

    def __init__(self, known: Mapping[int, str]) -> None:
        self.by_number = dict(known)
        self.numbers = {text: number for number, text in known.items()}

    def _is(self, number: int, text: str) -> bool:
        """True if a number may stand for a text."""
        return self.by_number.get(number, text) == text and self.numbers.get(text, number) == number

    def text_for(self, number: int | None, wanted: Mapping[tuple[Step, ...], Any]) -> str | None:
        """A text that a number may stand for, and of which Python makes these values; None if none is found."""
        for text in self._candidates(number, wanted):
            pairs = [(number, text)] if number is not None else []
            fits = True
            for steps, value in wanted.items():
                made = applied(text, steps)
                if isinstance(made, str):
                    pairs.append((int(value), made))
                else:
                    fits = fits and int(made) == int(value)
            if fits and all(self._is(one, other) for one, other in pairs) and _agree(pairs):
                for one, other in pairs:
                    self.by_number[one] = other
                    self.numbers[other] = one
                return text
        return None

    def _candidates(self, number: int | None, wanted: Mapping[tuple[Step, ...], Any]) -> Iterator[str]:
        """Texts to try: those that are known, those of the wanted lengths, and what steps look for."""
        if number is not None and number in self.by_number:
            yield self.by_number[number]
            return
        known = [*self.by_number.values()]
        known += [self.by_number[int(value)] for value in wanted.values() if int(value) in self.by_number]
        parts = [one for steps in wanted for _, args in steps for one in _texts_in(args)]
        sizes = [int(value) for steps, value in wanted.items() if steps[-1][0] == "len" and 0 <= int(value) <= _LARGE]
        counts = [int(value) for steps, value in wanted.items() if steps[-1][0] in ("words", "count") and 0 <= int(value) <= _LARGE]
        own = f"text {number}" if number is not None else "something else"
        plain = [*known, *parts, own, "", " ", "a", "A", "Ab", "7", *(" ".join("w" * size) for size in counts)]
        plain += [part * size for part in parts for size in counts]
        for text in plain:
            for one in (
                text,
                text.upper(),
                text.lower(),
                text.title(),
                f" {text} ",
                *(f"{text}{part}" for part in (*parts, "z", "7")),
            ):
                yield one
                for size in sizes:
                    yield one[:size] + "z" * (size - len(one))
                    yield "z" * (size - len(one)) + one[:size]
        for first in (*parts, *known):
            for second in parts:
                yield f"{first} {second}"


def _agree(pairs: list[tuple[int, str]]) -> bool:
    """True if equal numbers stand for equal texts, and different ones for different texts."""
    return len(dict(pairs)) == len({text for _, text in pairs}) == len(set(pairs))


def _texts_in(args: Iterable[Any]) -> Iterator[str]:
    """The texts among constants."""
    for one in args:
        if isinstance(one, str):
            yield one
        elif isinstance(one, tuple):
            yield from _texts_in(one)


def random_values(made: Mapping[str, Made], base: str, numbers: dict[str, int], source: random.Random) -> dict[str, int]:
    """The values of a random text and of what is made of it; texts that are new get numbers of their own."""
    parts = [one for field in made.values() for _, args in field.steps for one in _texts_in(args)]
    pieces = [*numbers, *parts, "", " ", "a", "Ab", "7", "zz top", "x" * 300]
    text = source.choice(pieces)
    for _ in range(source.randint(0, 2)):
        other = source.choice(pieces)
        text = source.choice([text.upper(), text.lower(), text.title(), f" {text}", text + other, f"{other} {text}", text])

    def number(value: Any) -> int:
        return numbers.setdefault(value, max([999, *numbers.values()]) + 1) if isinstance(value, str) else int(value)

    return {base: number(text), **{name: number(applied(text, one.steps)) for name, one in made.items() if one.field == base}}
