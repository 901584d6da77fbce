"""The guard of a specification: exact types, copies of lists, and the clauses that a proof assumes, checked before any draw."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, Final

from dpaudit.errors import InvalidArgument
from dpaudit.spec import Spec

KINDS: Final = ("int", "Fraction", "bool", "list[int]", "list[Fraction]")
"""The types that parameters have, as their annotations write them."""

_TYPES: Final[Mapping[str, type]] = {"int": int, "Fraction": Fraction, "bool": bool}


class _OutsideLists(Exception):
    """A clause about every element reads past the end of a list, where it says nothing."""


@dataclass(frozen=True)
class Guard:
    """What a proof assumes of arguments, checked by the values themselves.

    Args:
      name: of the function.
      parameters: name and kind of each argument, in their order.
      defaults: of the last parameters.
      promise: the specification.
    Source: design: public parameters and private data are validated before any randomness is drawn.
    Example:
      >>> from dpaudit.spec import Spec
      >>> promise = Spec(claim="eps", adjacency="one", requires=["eps > 0"])
      >>> Guard("noisy", (("q", "list[int]"), ("eps", "Fraction")), (), promise).checked(([1, 2], Fraction(1, 2)), {})
      ([1, 2], Fraction(1, 2))
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    defaults: tuple[int | bool, ...]
    promise: Spec

    def checked(self, arguments: Sequence[object], named: Mapping[str, object]) -> tuple[Any, ...]:
        """Fresh copies of the arguments, in the order of the parameters.

        Args:
          arguments: given by position.
          named: given by name, without samplers.
        Returns:
          One value for each parameter, of exactly its type; lists and fractions are new objects, and they are what was checked.
        Raises:
          InvalidArgument: a value that is missing, given twice, of another type, or for which a clause does not hold (DPA724).
        Source: design: public parameters and private data are validated before any randomness is drawn.
        Example:
          >>> from dpaudit.spec import Spec
          >>> Guard("f", (("n", "int"),), (), Spec(claim=1, adjacency="one")).checked((True,), {})
          Traceback (most recent call last):
          dpaudit.errors.InvalidArgument: DPA724 f: n must be of type int, got a bool. Convert it exactly first.
        """
        given = self._by_name(arguments, named)
        values = {name: self._copied(name, kind, given[name]) for name, kind in self.parameters}
        for text in self.promise.requires:
            if self._holds(text, values) is not True:
                raise InvalidArgument("DPA724", f"{self.name} requires {text}, which does not hold of what was given.")
        lists = [value for value in values.values() if type(value) is list]
        for text in self.promise.domain:
            for each in range(max(map(len, lists), default=0) if _speaks_of(text, "each") else 1):
                if self._holds(text, {**values, "each": each}) is False:
                    place = f" at position {each}" if _speaks_of(text, "each") else ""
                    raise InvalidArgument("DPA724", f"{self.name}: data outside the domain {text}{place}. Map them into it first.")
        return tuple(values.values())

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
            raise InvalidArgument(
                "DPA724", f"{self.name}: {name} is a Fraction of other numbers than ints. Convert it exactly first."
            )
        return Fraction(above, below)

    def _mistyped(self, name: str, wanted: str, value: object) -> InvalidArgument:
        """The error for a value of another type; the value is not shown."""
        got = type(value).__name__
        return InvalidArgument("DPA724", f"{self.name}: {name} must be of type {wanted}, got a {got}. Convert it exactly first.")

    def _holds(self, text: str, values: Mapping[str, Any]) -> bool | None:
        """Whether a clause holds; one that has no value does not, and None where it reads past the end of a list."""
        try:
            return _value(ast.parse(text, mode="eval").body, text, values) is True
        except _OutsideLists:
            return None
        except (ArithmeticError, TypeError):
            return False


def _speaks_of(text: str, name: str) -> bool:
    """Whether a name occurs in a clause."""
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(text, mode="eval")))


def _value(node: ast.expr, text: str, names: Mapping[str, Any]) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case a construct
    """The value of an expression of the specification language, computed exactly."""

    def of(part: ast.expr) -> Any:
        return _value(part, text, names)

    match node:
        case ast.Constant(value=bool() | int() as value):
            return value
        case ast.Constant(value=float()):
            return Fraction(str(ast.get_source_segment(text, node)).replace("_", ""))
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not of(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -of(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return of(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](of(left), of(right))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(map(of, parts))
        case ast.BoolOp(values=parts):
            return any(map(of, parts))
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            values = [of(part) for part in (left, *others)]
            return all(_COMPARISONS[type(op)](*pair) for op, pair in zip(ops, pairwise(values), strict=True))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return of(body if of(test) else orelse)
        case ast.Call(func=ast.Name(id="abs" | "min" | "max" | "len" as called), args=args, keywords=[]):
            return _FUNCTIONS[called](*map(of, args))
        case ast.Subscript(value=ast.Name(id=name), slice=place) if type(names.get(name)) is list:
            index = of(place)
            if not 0 <= index < len(names[name]):
                raise _OutsideLists
            return names[name][index]
    raise TypeError("outside the expression language")


def _divided(first: Any, second: Any) -> Fraction:
    """Exact division, of ints too."""
    return Fraction(first) / Fraction(second)


def _modulus(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`//` or `%` where the specification gives it a meaning."""

    def computed(first: Any, second: Any) -> Any:
        if second < 1:
            raise ZeroDivisionError
        return operation(first, second)

    return computed


def _power(base: Any, exponent: Any) -> Any:
    """A small whole power."""
    if exponent not in range(5):
        raise TypeError("an exponent from 0 to 4")
    return reduce(operator.mul, [base] * exponent, 1)


_ARITHMETIC: Final[Mapping[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.FloorDiv: _modulus(operator.floordiv),
    ast.Mod: _modulus(operator.mod),
    ast.Pow: _power,
}
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {"abs": abs, "min": min, "max": max, "len": len}
_COMPARISONS: Final[Mapping[type, Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
