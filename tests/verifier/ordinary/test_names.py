"""Names of laws in texts: where every run has read one before, reading it under a private test tells nothing."""

from __future__ import annotations

import pytest

from dpaudit import verify
from dpaudit.verifier.frontend import OutsideSubset

COUNT = """
def f(q: list[Fraction], t: int, eps: Fraction) -> Fraction:
    n = 0
    for x in q:
        n = n + 1
    {before}
    if {test}:
        return n + laplace(2 / eps)
    return Fraction(0)
"""
PROMISE = {"claim": "eps", "adjacency": "add_remove", "requires": ["eps > 0"], "seconds": 10}


def test_a_release_after_a_test_is_proven_where_the_name_was_read_before():
    assert "proven" == verify(COUNT.format(before="support = n + laplace(2 / eps)", test="support > t").strip(), **PROMISE).status


@pytest.mark.parametrize(
    ("before", "test"),
    [
        ("u = t", "n > 3"),
        ("u = laplace(1) if t > 3 else Fraction(0)", "n + exponential(1) > 3"),
        ("u = t > 2 and laplace(1) > 3", "n + exponential(1) > 3"),
        ("g = lambda: laplace(1)", "n + exponential(1) > 3"),
        ("u = [laplace(1) for k in range(t)]", "n + exponential(1) > 3"),
        ("u = sum(laplace(1) for x in q)", "n + exponential(1) > 3"),
        ("u = list(map(lambda k: laplace(1), range(t)))", "n + exponential(1) > 3"),
        ("for k in range(t): u = laplace(1)", "n + exponential(1) > 3"),
        ("while n > 9: n = laplace(1)", "n + exponential(1) > 3"),
        ("assert n > 3 or laplace(1) > 2", "n + exponential(1) > 3"),
    ],
    ids=["never", "in a branch", "skipped", "not called", "comprehension", "records", "map", "loop", "while", "assert"],
)
def test_a_name_that_some_runs_alone_have_read_is_refused(before, test):
    with pytest.raises(OutsideSubset):
        verify(COUNT.format(before=before, test=test).strip(), **PROMISE)
