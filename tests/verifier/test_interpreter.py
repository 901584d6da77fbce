"""The interpreter: runs that would not end are ended."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.interpreter import TooLong, run
from dpaudit.verifier.refuter.search import search

ENDLESS = """
def f(q: list[int], eps: Fraction, *, geometric):
    x = geometric(1 / eps)
    if q[0] > 0 and x == 0:
        while True:
            pass
    return 0
"""
REJECTING = """
def f(q: list[Fraction], eps: Fraction, *, laplace):
    x = Fraction(0, 1)
    while True:
        x = laplace(1 / eps)
        if x + q[0] > 0:
            break
    return x + q[0]
"""
PROMISE = Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])


def test_a_loop_without_statements_counts_its_rounds() -> None:
    """An empty body is no way around the limit."""
    with pytest.raises(TooLong):
        run(parse(ENDLESS, PROMISE), {"q": (1,), "eps": Fraction(1)}, draw=lambda *_: 0)


@pytest.mark.parametrize("source", [ENDLESS, REJECTING])
def test_the_search_for_a_counterexample_ends_where_paths_do_not(source: str) -> None:
    """Endless runs and endlessly many paths take a little longer than the time that was given, and prove nothing."""
    started = time.process_time()
    assert search(parse(source, PROMISE), seconds=0.5) is None
    assert time.process_time() - started < 10
