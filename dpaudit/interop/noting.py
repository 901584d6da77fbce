"""Calls of another library's mechanisms, noted in the release log, so that an audit checks their sensitivities and their sum."""

from __future__ import annotations

import functools
import numbers
import threading
from collections.abc import Callable, Iterator, Mapping
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
def note_calls(adjacency: Adjacency, methods: Mapping[Any, str]) -> Iterator[None]:
    """Make mechanisms, classes with the method that adds noise, note the numbers that they noise, for one run at a time."""
    with _ONE_AT_A_TIME:
        busy: list[object] = []
        originals = {kind: getattr(kind, method) for kind, method in methods.items()}
        inherited = {kind for kind, method in methods.items() if method not in vars(kind)}
        try:
            for kind, original in originals.items():
                setattr(kind, methods[kind], _with_note(original, adjacency, busy))
            yield
        finally:
            for kind, original in originals.items():
                delattr(kind, methods[kind]) if kind in inherited else setattr(kind, methods[kind], original)


def mechanisms_of_diffprivlib() -> dict[Any, str]:
    """Return the mechanisms of diffprivlib with the method that adds noise."""
    known = vars(library("diffprivlib.mechanisms")).values()
    return {kind: "randomise" for kind in known if "randomise" in getattr(kind, "__dict__", ())}


def _with_note(original: Callable[..., Any], adjacency: Adjacency, busy: list[object]) -> Callable[..., Any]:
    """Wrap a mechanism's method to note a number before noise is added; one mechanism that calls another counts once."""

    @functools.wraps(original)
    def randomise(mechanism: Any, *values: Any, **named: Any) -> Any:
        asked: list[Any] = [getattr(mechanism, name, None) for name in ("epsilon", "sensitivity")]
        if busy or not values or not all(isinstance(one, numbers.Real) for one in (values[0], *asked)):
            return original(mechanism, *values, **named)
        epsilon, sensitivity = (rational(float(one)) for one in asked)
        hold = note(Release(KIND, (("epsilon", epsilon),), sensitivity, adjacency))
        busy.append(mechanism)
        try:
            output = original(mechanism, *values, **named)
        finally:
            busy.pop()
        return output if hold is None else hold(values[0], output)

    return randomise
