"""Dossiers: what witnesses together say of a claim, items that cannot be decided, and exit codes."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import dossier
from dpaudit.dossier import ABOUT, UNIVERSAL, Decided, Dossier, Found, Item, Kind, Standing, Witness, decided, items_of, standing_of
from dpaudit.errors import InvalidArgument


def witness(about, *, holds=True, kind="computation", expects=None, where="here", point=()):
    expected = holds if expects is None else expects
    return Witness(kind, about, holds=holds, says="so it is", expects=expected, where=where, point=point)


def item(decide, expects=Standing.POINTS, key="X", number="1"):
    words = ("text", "page 1", "one is one", Kind.STATED, "one is one", "")
    return Item(key, *words, ("dpaudit/dossier.py:Item",), expects, number, decide)


@pytest.fixture
def bundled(monkeypatch):
    def bundle(*items):
        module = ModuleType("bundled_items")
        module.ITEMS = items
        monkeypatch.setitem(sys.modules, "bundled_items", module)
        monkeypatch.setattr(dossier, "DOSSIERS", {"some": "bundled_items:ITEMS"})

    return bundle


AT = (("x", Fraction(1)),)
LEMMA, POINT = witness("claim", kind="lemma"), witness("claim")
AGAINST, STEP = witness("claim", holds=False, point=AT), witness("step", holds=False)


def inside(at):
    return at["x"] > 0


@pytest.mark.parametrize(
    ("witnesses", "expected"),
    [
        ([LEMMA], Standing.HOLDS),
        ([LEMMA, POINT, witness("step")], Standing.HOLDS),
        ([POINT, POINT], Standing.POINTS),
        ([LEMMA, STEP], Standing.OTHERWISE),
        ([POINT, STEP], Standing.UNSHOWN),
        ([STEP], Standing.UNSHOWN),
        ([AGAINST], Standing.FAILS),
        ([AGAINST, POINT], Standing.FAILS),
        ([AGAINST, LEMMA], Standing.UNDECIDED),
        ([witness("claim", holds=False)], Standing.UNDECIDED),
        ([witness("claim", holds=False, point=(("x", Fraction(-1)),))], Standing.UNDECIDED),
        ([witness("repair"), witness("shortcut", holds=False)], Standing.UNDECIDED),
        ([], Standing.UNDECIDED),
    ],
)
def test_witnesses_decide_a_stated_claim_by_rule(witnesses, expected):
    assert expected is standing_of(Kind.STATED, witnesses, inside)


@pytest.mark.parametrize("kind", [Kind.READING, Kind.CODE])
def test_what_the_text_does_not_state_needs_a_condition_and_never_fails(kind):
    assert Standing.CONDITION is standing_of(kind, [AGAINST, LEMMA], inside)
    assert Standing.HOLDS is standing_of(kind, [LEMMA], inside)


@given(st.permutations([LEMMA, POINT, STEP, AGAINST, witness("repair")]), st.integers(1, 5))
def test_the_order_of_witnesses_does_not_matter(witnesses, count):
    found = {standing_of(Kind.STATED, some, inside) for some in (witnesses[:count], witnesses[:count][::-1])}
    assert 1 == len(found)


@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("kind", sorted(UNIVERSAL))
def test_a_witness_that_changes_its_sign_leaves_everything_open(about, kind):
    for holds in (True, False):
        turned = witness(about, holds=holds, kind=kind, expects=not holds)
        assert Standing.UNDECIDED is standing_of(Kind.STATED, [LEMMA, turned], inside)


def test_a_witness_of_a_claim_without_a_range_decides_nothing():
    assert Standing.UNDECIDED is standing_of(Kind.STATED, [LEMMA, witness("claim", kind="lemma", where="")])


def test_an_item_is_decided_by_its_witnesses(bundled):
    bundled(item(lambda runs: Found(f"{runs} runs", "1", (witness("claim", holds=True),))))
    found, seconds = decided("some", "X", 7)
    assert (Standing.POINTS, "7 runs", "1") == (found.standing, found.says, found.number)
    assert 0 <= seconds


def test_an_outcome_that_was_not_expected_replaces_the_sentence(bundled):
    bundled(item(lambda runs: Found("it holds", "1", (witness("claim", holds=False),))))
    found, _ = decided("some", "X", 1)
    assert Standing.UNDECIDED is found.standing
    assert "it holds" not in found.says


def test_other_figures_than_those_that_are_written_leave_an_item_undecided(bundled):
    bundled(item(lambda runs: Found("it holds", "2", (witness("claim", holds=True),))))
    found, _ = decided("some", "X", 1)
    assert Standing.UNDECIDED is found.standing
    assert "2 where 1 is written" in found.says


def test_an_error_makes_its_item_undecided_and_shows_no_values(bundled):
    def decide(runs):
        raise ValueError("private 17")

    bundled(item(decide))
    found, _ = decided("some", "X", 1)
    assert Standing.UNDECIDED is found.standing
    assert "ValueError at test_dossier.py" in found.says
    assert "private" not in found.says


def test_an_unknown_dossier_is_refused():
    with pytest.raises(InvalidArgument, match="DPA103"):
        items_of("poems")


@pytest.mark.parametrize("standings", list(product(Standing, repeat=2)))
def test_exit_codes_put_failing_claims_before_open_ones(standings):
    items = tuple(Decided("X", "text", "page 1", "", Kind.STATED, "", "", (), standing, "", "", ()) for standing in standings)
    expected = 1 if Standing.FAILS in standings else 3 if Standing.UNDECIDED in standings else 0
    assert expected == Dossier("some", 1, items).exit_code
