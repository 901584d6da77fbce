"""Pairs drawn from a Hypothesis strategy and shrunk by it, the same in every process, whatever else is loaded there.

Hypothesis's own generation also tries constants that it finds in the modules that happen to be loaded. Drawing from bytes that are
given to it does not, so an audit that runs elsewhere draws the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.auditor.data.records import same
from dpaudit.errors import InvalidArgument, class_name

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

MOST_DRAWN: Final = 16
"""At most this many pairs are drawn from a strategy."""

_TRIES: Final = 8 * MOST_DRAWN
_BYTES: Final = 2**14


class _FoundError(Exception):
    """Raised by a test function that is given what is searched for."""


def draw_pairs(strategy: SearchStrategy[tuple[Any, Any]]) -> tuple[tuple[Any, Any], ...]:
    """Draw distinct pairs from a strategy, the same on every call."""
    found: list[tuple[Any, Any]] = []

    def keep(pair: Any) -> bool:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidArgument(
                "DPA404", f"the strategy must draw tuples (first, second), got a {class_name(type(pair))}. Map it to them."
            )
        if not same(*pair) and not any(same(pair, other) for other in found):
            found.append(pair)
        return False

    draw = _test(strategy, keep).hypothesis.fuzz_one_input
    for buffer in _buffers():
        draw(buffer)
        if len(found) == MOST_DRAWN:
            break
    if not found:
        raise InvalidArgument("DPA404", "the strategy draws only pairs of equal datasets. Draw neighbours that differ.")
    return tuple(found)


def shrink_value(
    strategy: SearchStrategy[Any], start: Callable[[Any], bool], wanted: Callable[[Any], bool], tries: int = _TRIES
) -> Any:
    """Find the simplest value of a strategy that is still wanted, by shrinking from a given start.

    Source: MacIver and Donaldson 2020, test-case reduction by the choices behind a value.
    """
    from hypothesis.database import InMemoryExampleDatabase

    looking, best = True, None

    def judge(value: Any) -> bool:
        nonlocal best
        if looking:
            return start(value)
        if not started:
            started.append(value)
            return True
        if same(value, started[0]) or (best is not None and same(value, best)):
            return True
        if wanted(value):
            best = value
            return True
        return False

    started: list[Any] = []
    test = _test(strategy, judge, InMemoryExampleDatabase())
    with suppress(_FoundError):
        for buffer in _buffers(tries):
            test.hypothesis.fuzz_one_input(buffer)
        return None
    looking = False
    with suppress(_FoundError):
        test()
        return None
    return best


def _buffers(tries: int = _TRIES) -> Iterator[bytes]:
    """Yield the bytes that pairs are drawn from: zeros, which give the simplest one, then a fixed random stream."""
    yield bytes(_BYTES)
    rng = np.random.default_rng(0)
    for _ in range(tries):
        yield rng.bytes(_BYTES)


def _test(strategy: SearchStrategy[Any], judge: Callable[[Any], bool], database: Any = None) -> Any:
    """Make a Hypothesis test that fails on the values that `judge` accepts, and starts from those that failed before."""
    from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

    @settings(
        database=database,
        deadline=None,
        phases=[Phase.reuse, Phase.shrink],
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @seed(0)  # inside, since it takes the database away
    @given(strategy)
    def test(value: Any) -> None:
        if judge(value):
            raise _FoundError

    return test
