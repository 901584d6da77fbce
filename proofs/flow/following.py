"""Run a function with stand-ins in place of all that it reaches."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, cached_property
from types import CodeType, FunctionType
from typing import Any, Final

from proofs.flow.plain import FALLBACK, IDENTITY, followable
from proofs.flow.terms import Term, Undecided, is_positive

KNOWN: Final = (Fraction, abs, bool, float, int, len, max, min, str)
"""Functions that keep their meaning where their arguments are known."""

CONTAINERS: Final = (dict, list, sorted, tuple, zip)
"""Functions that keep their meaning whatever is in what they hold; none of them looks at values."""


def follow(function: Callable[..., Any], stands: Mapping[str, Any]) -> Callable[..., Any]:
    """The function with other globals: what `stands` names, plain constants, and a stand-in for everything else."""
    if not isinstance(function, FunctionType) or function.__closure__ is not None:
        raise Undecided(f"{function!r} is no plain function")
    code = followable(function)
    if hidden := {"op", "parts"} & {*_names_of(code)} - {*stands}:
        raise Undecided(f"{function.__qualname__} asks for {hidden}, which stand-ins have of their own")
    reached: dict[str, Any] = {"__builtins__": {"__import__": _imported}, IDENTITY: _is_one, FALLBACK: _raises}
    for name in _names_of(code):
        value = function.__globals__.get(name, getattr(builtins, name, None))
        found = stands[name] if name in stands else _as_it_is(name, value)
        if name not in (IDENTITY, FALLBACK):
            reached[name] = follow(found.function, stands) if isinstance(found, Followed) else found
    made = FunctionType(code, reached, function.__name__, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _names_of(code: CodeType) -> Iterator[str]:
    """All names that a function and the functions inside it may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_of(constant)


class Followed:
    """A function that is followed where it is called, instead of being replaced."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


class Subject:
    """An object of a class whose fields are known or stand-ins, and whose methods and properties are followed."""

    followed = True

    def __init__(self, kind: type, stands: Mapping[str, Any], /, **fields: Any) -> None:
        self.__dict__.update(fields)
        self.__dict__["_kind"], self.__dict__["_stands"] = kind, stands

    def __getattr__(self, name: str) -> Any:
        found = self._kind.__dict__.get(name)
        if isinstance(found, property):
            return follow(_getter(found.fget), self._stands)(self)
        if isinstance(found, cached_property):
            return follow(found.func, self._stands)(self)
        if isinstance(found, FunctionType):
            return lambda *values, **named: follow(found, self._stands)(self, *values, **named)
        raise Undecided(f"{self._kind.__name__}.{name} is not known")

    def __setattr__(self, name: str, _value: Any) -> None:
        raise Undecided(f"{self._kind.__name__}.{name} is written")


def _getter(function: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """The getter of a property."""
    if function is None:
        raise Undecided("a property without a getter")
    return function


class Refusal(Exception):
    """An error that followed code raises."""


@cache
def _module(name: str) -> Term:
    """The stand-in for a module, always the same."""
    return Term(name)


def _imported(name: str, *_: Any) -> Term:
    """What a function imports while it runs."""
    return _module(name)


def _is_one(first: Any, second: Any) -> Any:
    """Whether two values are one object; a test of its own where a stand-in may be."""
    known = first is second or not (isinstance(first, Term) or isinstance(second, Term))
    # A positive number, or the tape that holds an output, is not None.
    there = second is None and isinstance(first, Term) and (is_positive(first) or first.op == "hold")
    return first is second if known or there else Term("is", first, second)


def _raises() -> Term:
    """Whether a block raises an error: a test of its own every time."""
    return Term("raises")


def _as_it_is(name: str, value: object) -> Any:
    """A constant or a known function as it is, the latter a stand-in where its arguments are; else a stand-in by name."""
    if value is None or isinstance(value, (bool, int, str, Fraction)):
        return value
    if isinstance(value, type) and issubclass(value, Exception):
        return Refusal
    if any(value is one for one in CONTAINERS):
        return value
    if any(value is one for one in KNOWN):
        return _where_known(name, value)  # type: ignore[arg-type]
    return Term(name)


def _where_known(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A known function of known values; a record of the call where one is a stand-in."""

    def call(*values: Any, **named: Any) -> Any:
        return Term(name, *values, *named.values()) if any(map(_open, (*values, *named.values()))) else function(*values, **named)

    return call


def _open(value: object) -> bool:
    """Whether a value is a stand-in, or holds one."""
    return isinstance(value, Term) or (isinstance(value, (tuple, list)) and any(map(_open, value)))
