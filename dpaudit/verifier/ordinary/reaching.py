"""What values and objects of the heap refer to, and literals as exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from dpaudit.verifier.ordinary.values import Curve, Entry, Ref, Scalar


def references(found: Any) -> Iterable[int]:
    """The addresses of the objects that a value or an object refers to."""
    if isinstance(found, (Ref, Entry, Curve)):
        yield found.address
    elif isinstance(found, (tuple, Mapping)):
        for one in found.values() if isinstance(found, Mapping) else found:
            yield from references(one)
    elif is_dataclass(found) and not isinstance(found, Scalar):
        for part in fields(found):
            yield from references(getattr(found, part.name))


def reached(heap: Mapping[int, Any], found: Any) -> set[int]:
    """The addresses of all objects that a value or object leads to."""
    waiting, seen = list(references(found)), set[int]()
    while waiting:
        address = waiting.pop()
        if address not in seen:
            seen.add(address)
            waiting += references(heap[address])
    return seen


def constant_number(known: Any) -> Any:
    """A literal as an exact number: floats are read as the decimal that is written."""
    return Fraction(repr(known)) if type(known) is float else known
