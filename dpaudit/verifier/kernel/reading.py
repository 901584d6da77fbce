"""Certificates as they are written: JSON in which every number is text or an integer, and nothing is read in two ways."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.kernel.polynomials import Monomial, Polynomial

_NUMBER: Final = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?", re.ASCII)


class KernelRejects(Exception):
    """A certificate does not show that its obligation holds; the text says where it fails."""


def read(text: str) -> Mapping[str, Any]:
    """A certificate from its JSON text.

    Args:
      text: JSON without fractions in point notation and without a key that is given twice.
    Returns:
      The certificate as `check` takes it; its parts are looked at there.
    Raises:
      KernelRejects: the text is not of this kind.
    Source: RFC 8259, of which only objects, lists, integers and texts are taken.
    Example:
      >>> read('{"keep": [], "atoms": [], "lemmas": [], "tree": [0]}')["tree"]
      [0]
    """
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_float=_refused, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise KernelRejects(f"not a certificate: {error}") from error
    if not isinstance(found, dict):
        raise KernelRejects("a certificate must be a JSON object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _refused(text: str) -> Any:
    """No number in point notation is read."""
    raise ValueError(f"{text} is not an integer")


def items(value: Any, length: range | None = None) -> list[Any]:
    """A list, of an allowed length."""
    if type(value) is not list or (length is not None and len(value) not in length):
        raise KernelRejects(f"not a list of the right length: {value!r}"[:200])
    return value


def index(value: Any, stop: int, start: int = 0) -> int:
    """An integer from `start` on, below `stop`."""
    if type(value) is not int or not start <= value < stop:
        raise KernelRejects(f"not an index below {stop}: {value!r}"[:200])
    return value


def number(value: Any) -> Fraction:
    """An exact number in decimal digits, as a fraction where it is not whole."""
    if type(value) is not str or not _NUMBER.fullmatch(value):
        raise KernelRejects(f"not a number: {value!r}"[:200])
    try:
        return Fraction(value)
    except ValueError as error:
        raise KernelRejects("a number of too many digits") from error


def polynomial(value: Any, variables: int) -> Polynomial:
    """A polynomial: a list of coefficients with the indices of their variables in order, each monomial once."""
    found: dict[Monomial, Fraction] = {}
    for entry in items(value):
        coefficient, names = items(entry, range(2, 3))
        monomial = tuple(index(name, variables) for name in items(names))
        if monomial in found or list(monomial) != sorted(monomial):
            raise KernelRejects("a monomial out of order, or twice")
        found[monomial] = number(coefficient)
    return {monomial: coefficient for monomial, coefficient in found.items() if coefficient}
