"""Calls of diffprivlib mechanisms, noted in the release log, so that an audit checks their sensitivities."""

from __future__ import annotations

import functools
import numbers
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from dpaudit.claims import Adjacency
from dpaudit.exact import rational
from dpaudit.interop.libraries import library
from dpaudit.releases import Release, note

KIND: Final = "float_noise"
"""A kind of release without a price: the sensitivity is checked, and the cost of the noise is left open."""

_ONE_AT_A_TIME: Final = threading.RLock()  # the methods of shared classes are replaced, so that runs must not overlap


@contextmanager
def note_calls(adjacency: Adjacency) -> Iterator[None]:
    """Make the mechanisms of diffprivlib note the numbers that they noise, for one run at a time."""
    kinds = {kind for kind in vars(library("diffprivlib.mechanisms")).values() if "randomise" in getattr(kind, "__dict__", ())}
    with _ONE_AT_A_TIME:
        busy: list[object] = []
        originals = {kind: kind.randomise for kind in kinds}
        try:
            for kind, original in originals.items():
                kind.randomise = _with_note(original, adjacency, busy)
            yield
        finally:
            for kind, original in originals.items():
                kind.randomise = original


def _with_note(original: Callable[..., Any], adjacency: Adjacency, busy: list[object]) -> Callable[..., Any]:
    """Wrap a mechanism's method to note a number before noise is added; one mechanism that calls another counts once."""

    @functools.wraps(original)
    def randomise(mechanism: Any, *values: Any) -> Any:
        if busy or not values or not all(isinstance(one, numbers.Real) for one in (values[0], _sensitivity(mechanism))):
            return original(mechanism, *values)
        parameters = (("epsilon", rational(float(mechanism.epsilon))),)
        hold = note(Release(KIND, parameters, rational(float(_sensitivity(mechanism))), adjacency))
        busy.append(mechanism)
        try:
            output = original(mechanism, *values)
        finally:
            busy.pop()
        return output if hold is None else hold(values[0], output)

    return randomise


def _sensitivity(mechanism: Any) -> Any:
    """Return the sensitivity that a mechanism was given, None where it has none."""
    return getattr(mechanism, "sensitivity", None)
