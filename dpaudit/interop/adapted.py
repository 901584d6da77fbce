"""The function of an adapted target: it calls something of another library, and reports name that instead of the adapter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator


@dataclass(frozen=True)
class Adapted:
    """A function (data, rng) that stands for another one; `func`, as `functools.partial` calls it, is where its source is."""

    run: Callable[..., Any]
    func: Any

    def __call__(self, data: Any, rng: Generator) -> Any:
        """Make one release."""
        return self.run(data, rng)


def adapt(run: Callable[..., Any], what: Any) -> Adapted:
    """Let a function stand for a function, also one with arguments bound, or for the `fit` of a model."""
    while hasattr(what, "func"):
        what = what.func
    return Adapted(run, type(what).fit if hasattr(what, "fit") else what)
