"""Textbook programs get the verdict that is true of them, and their twins with a mistake are never called proven."""

from __future__ import annotations

import pytest

from dpaudit import verify
from tests.verifier.reach.cases import cases, variants

QUICK = ("A1 ", "A8", "B8", "C1 ", "D6", "G5", "H2", "I1", "P7")
EVERY = cases()
SOME = [case for case in EVERY if case.name.startswith(QUICK)]


@pytest.mark.parametrize("case", [case for case in SOME if case.private], ids=lambda case: case.name)
def test_a_private_program_is_proven(case):
    found = verify(case.source, **case.specification)
    assert ("proven", "") == (found.status, found.reason)
    assert all(one.kernel for one in found.obligations if one.linear)


@pytest.mark.parametrize("case", [case for case in SOME if not case.private], ids=lambda case: case.name)
def test_its_twin_with_a_mistake_is_not(case):
    assert "proven" != verify(case.source, seconds=5, **case.specification).status


LATER = {"moving average of four in time", "sums of the even and of the odd places", "differences of neighbours in time"}
"""What an element weighs in several rounds, and quotients of equal numbers."""


@pytest.mark.parametrize("case", [case for case in variants("fourth") if case.name in LATER], ids=lambda case: case.name)
def test_what_several_rounds_add_up_of_one_element_is_proven(case):
    assert "proven" == verify(case.source, **case.specification).status


def test_an_element_that_three_windows_read_is_found_by_longer_lists():
    (case,) = (one for one in variants("further") if one.name == "sum of a window of three with the noise of two")
    assert "refuted" == verify(case.source, **case.specification).status


@pytest.mark.campaign
@pytest.mark.parametrize("case", [*EVERY, *variants()], ids=lambda case: case.name)
def test_no_verdict_is_wrong(case):
    assert ("refuted" if case.private else "proven") != verify(case.source, seconds=20, **case.specification).status
