"""Shapes of outputs, in words that hold none of their values: no text, no key, no length beyond a few."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, Final

import numpy as np

from dpaudit.auditor.reading.reader import Failure
from dpaudit.errors import class_name

_NAMED: Final = 4
"""Longer containers are summed up: a length may itself be what a function leaks."""

_DEPTH: Final = 3
_WORDS: Final[tuple[tuple[Any, str], ...]] = (
    (type(None), "None"),
    ((bool, np.bool_), "a truth value"),
    (numbers.Integral, "an integer"),
    (numbers.Number, "a number"),
    (str, "a text"),
    (bytes, "bytes"),
)
_KINDS: Final = {"f": "numbers", "i": "integers", "u": "integers", "b": "truth values", "U": "texts", "S": "bytes"}


def shape_of(output: Any) -> str:
    """Describe the type and the parts of an output, for reports on private data."""
    try:
        return _shape(output, 0)
    except Exception:  # noqa: BLE001 - an object that cannot be looked into is an output too
        return _with_article(class_name(type(output)))


def _shape(output: Any, depth: int) -> str:
    """The shape of an output, or of a part of one."""
    if isinstance(output, Failure):
        return output.shown
    if (plain := _plain(output)) is not None:
        return plain
    name = _with_article(class_name(type(output)))
    if isinstance(output, np.ndarray):
        return f"an array of {_KINDS.get(output.dtype.kind, 'objects')}" if output.ndim else _shape(output.tolist(), depth)
    if depth == _DEPTH:
        return name
    if isinstance(output, Mapping):
        return _container(name, list(output.values()), depth)
    return _container(name, list(output), depth) if isinstance(output, (list, tuple, AbstractSet)) else name


def _plain(output: Any) -> str | None:
    """The shape of a number, a text or nothing; None for everything else."""
    if isinstance(output, (float, np.floating, Decimal)) and not math.isfinite(output):
        return "a number that is not finite"
    return next((word for kinds, word in _WORDS if isinstance(output, kinds)), None)


def _container(name: str, parts: list[Any], depth: int) -> str:
    """The shape of a container: part by part where there are few."""
    shapes = [_shape(part, depth + 1) for part in parts[:_NAMED]]
    if len(parts) > _NAMED:
        return f"{name} of more than {_NAMED} parts"
    return f"{name} of {len(parts)}: {', '.join(shapes)}" if parts else f"{name} without parts"


def _with_article(name: str) -> str:
    """Put an article before a name."""
    return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"
