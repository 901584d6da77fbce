"""What values and objects of the heap refer to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
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
