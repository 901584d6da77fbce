"""Privacy losses written as text, such as 1000 * gaussian(sigma=1) + laplace(scale=2): read without running any code."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import dpaudit.accounting as laws_and_schemes
from dpaudit.accounting import PrivacyLoss, compose
from dpaudit.errors import InvalidArgument

UNKNOWN: Final = "?"
"""Stands for the parameter that `dpaudit calibrate` searches."""

_PLACEHOLDER: Final = "unknown_parameter"
_LARGEST_TEXT: Final = 20_000
_NO_LOSSES: Final = frozenset(
    {
        "Calibration",
        "Filter",
        "IndividualFilter",
        "Odometer",
        "PrivacyLoss",
        "calibrate",
        "compose",
        "loss_of_claim",
        "price_releases",
    }
)
_METHODS: Final = frozenset({"group", "sampled", "under", "user"})


def names() -> tuple[list[str], list[str]]:
    """The laws, and the sampling schemes, that expressions may use."""
    usable = [name for name in laws_and_schemes.__all__ if name not in _NO_LOSSES]
    return [name for name in usable if name.islower()], [name for name in usable if not name.islower()]


def loss_of(text: str, *, adjacency: str | None = None, unknown: Fraction | None = None) -> PrivacyLoss:
    """The privacy loss that an expression stands for."""
    if len(text) > _LARGEST_TEXT:
        raise InvalidArgument("DPA505", f"the expression has {len(text)} characters, allowed are {_LARGEST_TEXT}. Use a file.")
    source = re.sub(re.escape(UNKNOWN), _PLACEHOLDER, text).strip()
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" near character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise InvalidArgument(
            "DPA505", f"the expression cannot be read{where}. Write for instance 10 * gaussian(sigma=2)."
        ) from error
    try:
        return _Reader(source, adjacency, unknown).loss(tree.body)
    except RecursionError as error:
        raise InvalidArgument("DPA505", "the expression is nested too deeply. Use a file of events.") from error


def file_loss(path: Path, *, adjacency: str | None = None) -> PrivacyLoss:
    r"""The composition of the events in a file."""
    document = _document(path)
    relation = document.get("adjacency", adjacency)
    events = document["events"]
    losses = []
    for position, event in enumerate(events):
        if not isinstance(event, Mapping) or not isinstance(event.get("law"), str) or not set(event) <= {"law", "times", "note"}:
            raise InvalidArgument("DPA505", f"event {position} of {path.name} must hold a law, and perhaps times and a note.")
        times = event.get("times", 1)
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise InvalidArgument("DPA505", f"times of event {position} of {path.name} must be a whole number of at least 0.")
        losses.append(times * loss_of(event["law"], adjacency=relation))
    return compose(*losses)


def _document(path: Path) -> Mapping[str, Any]:
    """The content of an event file, checked."""
    import json

    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except OSError as error:
        raise InvalidArgument("DPA505", f"{path.name} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.suffix.lower() == ".toml" else "JSON, and a file of TOML ends in .toml"
        where = "" if isinstance(error, (UnicodeDecodeError, RecursionError)) else f" ({error})"
        raise InvalidArgument("DPA505", f"{path.name} cannot be read{where}. By its name it is {kind}.") from error
    if not isinstance(document, Mapping) or document.get("schema") != 1:
        raise InvalidArgument("DPA505", f"{path.name} must be a table with schema = 1; this program knows no other schema.")
    if not set(document) <= {"schema", "adjacency", "events", "note"} or not isinstance(document.get("events"), list):
        raise InvalidArgument("DPA505", f"{path.name} must hold a list of events, and perhaps adjacency and a note; nothing else.")
    if not document["events"]:
        raise InvalidArgument("DPA505", f"{path.name} lists no events. For no release at all there is nothing to account for.")
    return document


@dataclass(frozen=True)
class _Reader:
    """Turns the syntax tree of an expression into a loss; every form that is not listed here is refused."""

    source: str
    adjacency: str | None
    unknown: Fraction | None

    def loss(self, node: ast.expr) -> PrivacyLoss:
        """A loss: a law, a multiple, a sum, or a loss with something done to it."""
        match node:
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return compose(self.loss(left), self.loss(right))
            case ast.BinOp(left=ast.Constant(value=int(times)), op=ast.Mult(), right=right) if not isinstance(times, bool):
                return times * self.loss(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int(times))) if not isinstance(times, bool):
                return times * self.loss(left)
            case ast.Call(func=ast.Name(id="compose"), args=parts, keywords=[]):
                return compose(*(self.loss(part) for part in parts))
            case ast.Call(func=ast.Name(id="mixture"), args=[ast.List(elts=parts) | ast.Tuple(elts=parts)], keywords=stated):
                components = [self._component(part) for part in parts]
                return self._called(node, "mixture", laws_and_schemes.mixture, [components], self._named(node, stated))
            case ast.Call(func=ast.Name(id=name)) if name in names()[0] and name != "mixture":
                return self._law(node, name)
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _METHODS:
                return self._changed(node, self.loss(value), name)
            case ast.Call(func=ast.Name(id="mixture")):
                raise self._mistake(node, "a mixture is written mixture([(1/2, laplace(scale=1)), (1/2, gaussian(sigma=1))])")
            case ast.Call(func=ast.Name(id=name)):
                raise self._mistake(node, f"there is no law {name!r}; the laws are {', '.join(names()[0])}")
        raise self._mistake(node, "here a law, a whole number times a law, or a sum of laws is expected")

    def _law(self, node: ast.Call, name: str) -> PrivacyLoss:
        """A law with its parameters."""
        law: Callable[..., PrivacyLoss] = getattr(laws_and_schemes, name)
        arguments, parameters = self._arguments(node)
        if self.adjacency is not None:
            parameters.setdefault("adjacency", self.adjacency)
        return self._called(node, name, law, arguments, parameters)

    def _component(self, node: ast.expr) -> tuple[Any, PrivacyLoss]:
        """A component of a mixture: its probability and its loss."""
        match node:
            case ast.Tuple(elts=[weight, loss]):
                return self._number(weight), self.loss(loss)
        raise self._mistake(node, "here a component of a mixture is expected, such as (1/2, gaussian(sigma=1))")

    def _changed(self, node: ast.Call, loss: PrivacyLoss, name: str) -> PrivacyLoss:
        """A loss of a group, or of a sample."""
        arguments, parameters = self._arguments(node)
        method: Callable[..., PrivacyLoss] | None = getattr(loss, name, None)
        if method is None:
            raise self._mistake(node, f"losses have no .{name} in this version")
        return self._called(node, f".{name}", method, arguments, parameters)

    def _called(
        self, node: ast.Call, name: str, function: Callable[..., PrivacyLoss], arguments: list[Any], parameters: dict[str, Any]
    ) -> PrivacyLoss:
        """What a law or a method gives; parameters that it does not take are a mistake of the expression."""
        try:
            return function(*arguments, **parameters)
        except TypeError as error:
            raise self._mistake(node, f"{name} does not take these parameters ({error})") from error

    def _arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, numbers exactly as they are written."""
        return [self._value(argument) for argument in node.args], self._named(node, node.keywords)

    def _named(self, node: ast.Call, keywords: Sequence[ast.keyword]) -> dict[str, Any]:
        """The arguments that are given by name."""
        if any(keyword.arg is None for keyword in keywords):
            raise self._mistake(node, "parameters are given by name, not unpacked")
        return {str(keyword.arg): self._value(keyword.value) for keyword in keywords}

    def _value(self, node: ast.expr) -> Any:
        """A number, a text, a list, a table from number to number, or a sampling scheme."""
        match node:
            case ast.List(elts=entries) | ast.Tuple(elts=entries):
                return [self._value(entry) for entry in entries]
            case ast.Dict(keys=keys, values=values):
                return {self._number(key): self._number(value) for key, value in zip(keys, values, strict=True) if key is not None}
            case ast.Call(func=ast.Name(id=name)) if name in names()[1]:
                arguments, parameters = self._arguments(node)
                return getattr(laws_and_schemes, name)(*arguments, **parameters)
        return self._number(node)

    def _number(self, node: ast.expr) -> Any:
        """A number exactly as it is written, a text, or True or False."""
        match node:
            case ast.Constant(value=float()):
                return (ast.get_source_segment(self.source, node) or "").replace("_", "")
            case ast.Constant(value=bool() | int() | str() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._fraction(operand)
            case ast.BinOp(left=left, op=ast.Div(), right=right) if below := self._fraction(right):
                return self._fraction(left) / below
            case ast.Name(id=name) if name == _PLACEHOLDER and self.unknown is not None:
                return self.unknown
        raise self._mistake(node, "here a number, a text in quotes or a list of them is expected; ? is for `dpaudit calibrate`")

    def _fraction(self, node: ast.expr) -> Fraction:
        """A number inside a fraction."""
        value = self._number(node)
        try:
            return Fraction(value)
        except ValueError as error:
            raise self._mistake(node, "here a number is expected") from error

    def _mistake(self, node: ast.expr, why: str) -> InvalidArgument:
        """The refusal of a part of the expression, which it shows."""
        part = (ast.get_source_segment(self.source, node) or "").replace(_PLACEHOLDER, UNKNOWN)
        shown = part if len(part) <= 60 else part[:57] + "..."
        return InvalidArgument("DPA505", f"character {node.col_offset + 1}, {shown!r}: {why}.")
