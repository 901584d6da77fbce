"""Kinds of values that the runs of a search do not suffice for are said, and keep a claim from being consistent."""

from __future__ import annotations

from types import SimpleNamespace

from dpaudit.auditor.attack import searching
from dpaudit.auditor.data.domains import HIGH, MINUS
from dpaudit.auditor.verdict import verdicts

CASE = SimpleNamespace(
    subject=SimpleNamespace(pairs=[SimpleNamespace(labels=frozenset(labels)) for labels in ((), (HIGH,), (HIGH, MINUS), (MINUS,))])
)


def test_a_kind_without_any_run_is_named_and_leaves_the_verdict_open():
    (found,) = searching._untried(CASE, range(4), {0, 1})
    assert (found.name, found.status) == (searching.UNTRIED, "not run")
    assert MINUS in found.detail
    assert HIGH not in found.detail
    assert found.name in verdicts._OPEN


def test_a_kind_of_which_one_pair_was_run_is_not():
    assert searching._untried(CASE, range(4), {0, 2}) == ()
