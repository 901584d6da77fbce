"""The guard of a specification: exact types, copies of lists, and the clauses that a proof assumes, checked before any draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from dpaudit.errors import InvalidArgument
from dpaudit.promise import first_violation, read_conditions
from dpaudit.spec import Spec

KINDS: Final = ("int", "Fraction", "bool", "list[int]", "list[Fraction]")
"""The types that parameters have, as their annotations write them."""

_TYPES: Final[Mapping[str, type]] = {"int": int, "Fraction": Fraction, "bool": bool}


@dataclass(frozen=True)
class Guard:
    """The assumptions of a proof about arguments, checked on their values."""

    name: str  # of the function
    parameters: tuple[tuple[str, str], ...]  # name and kind of each argument, in their order
    defaults: tuple[int | bool, ...]  # of the last parameters
    promise: Spec

    def checked(self, arguments: Sequence[object], named: Mapping[str, object]) -> tuple[Any, ...]:
        """Fresh copies of the arguments, in the order of the parameters."""
        copies = self.copied(arguments, named)
        values = dict(zip((name for name, _ in self.parameters), copies, strict=True))
        requires, domain = read_conditions(self.promise, self.parameters)
        found = first_violation(requires, domain, values)
        if found is not None and found.what == "requires":
            raise InvalidArgument("DPA724", f"{self.name} requires {found.text}, which these arguments violate.")
        if found is not None:
            place = "" if found.place is None else f" at position {found.place}"
            raise InvalidArgument("DPA724", f"{self.name}: data outside the domain {found.text}{place}. Map them into it first.")
        return copies

    def copied(self, arguments: Sequence[object], named: Mapping[str, object] = MappingProxyType({})) -> tuple[Any, ...]:
        """Fresh copies of the arguments, in the order of the parameters, of exactly their types; no clause is asked."""
        given = self._by_name(arguments, named)
        return tuple(self._copied(name, kind, given[name]) for name, kind in self.parameters)

    def _by_name(self, arguments: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
        """Each parameter with the value given for it."""
        names = [name for name, _ in self.parameters]
        twice = set(names[: len(arguments)]) & set(named)
        if len(arguments) > len(names) or twice or not set(named) <= set(names):
            raise InvalidArgument("DPA724", f"{self.name} takes {', '.join(names)}, each once. Compare the call with its `def`.")
        left_out = len(names) - len(self.defaults)
        given = dict(zip(names[left_out:], self.defaults, strict=True)) | dict(zip(names, arguments, strict=False)) | dict(named)
        if missing := [name for name in names if name not in given]:
            raise InvalidArgument("DPA724", f"{self.name}: {missing[0]} is missing. Pass a value.")
        return given

    def _copied(self, name: str, kind: str, value: object) -> Any:
        """A value of exactly this type, as a new object."""
        if not kind.startswith("list["):
            return self._number(name, _TYPES[kind], value)
        if type(value) is not list:
            raise self._mistyped(name, "list", value)
        copy = value[:]  # what is checked and what runs is this copy, whoever else holds the list
        wanted = _TYPES[kind[5:-1]]
        return [self._number(f"{name}[{place}]", wanted, item) for place, item in enumerate(copy)]

    def _number(self, name: str, wanted: type[Any], value: Any) -> Any:
        """An exact number: subclasses, and fractions of other integers than Python's, compute differently."""
        if type(value) is not wanted:
            raise self._mistyped(name, wanted.__name__, value)
        if wanted is not Fraction:
            return value
        above, below = value.numerator, value.denominator
        if not (type(above) is type(below) is int and below >= 1):
            raise InvalidArgument("DPA724", f"{self.name}: {name} is a Fraction of numbers other than ints. Convert it exactly.")
        return Fraction(above, below)

    def _mistyped(self, name: str, wanted: str, value: object) -> InvalidArgument:
        """The error for a value of another type; the value is not shown."""
        got = type(value).__name__
        return InvalidArgument("DPA724", f"{self.name}: {name} must be of type {wanted}, got a {got}. Convert it exactly first.")
