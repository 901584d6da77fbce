"""Dossiers: what witnesses together say of a claim, items that cannot be decided, and exit codes."""

from __future__ import annotations

import sys
from itertools import product
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import dossier
from dpaudit.dossier import ABOUT, Decided, Dossier, Found, Item, Standing, Witness, decided, items_of, standing_of
from dpaudit.errors import InvalidArgument


def witness(about, *, holds):
    return Witness("computation", about, holds=holds, says="so it is")


def item(decide, expects=Standing.HOLDS, key="X"):
    return Item(key, "text", "page 1", "one is one", "", ("dpaudit/dossier.py:Item",), expects, decide)


@pytest.fixture
def bundled(monkeypatch):
    def bundle(*items):
        module = ModuleType("bundled_items")
        module.ITEMS = items
        monkeypatch.setitem(sys.modules, "bundled_items", module)
        monkeypatch.setattr(dossier, "DOSSIERS", {"some": "bundled_items:ITEMS"})

    return bundle


@pytest.mark.parametrize(
    ("claim", "argument", "correction", "expected"),
    [
        ([True], [], [], Standing.HOLDS),
        ([True, True], [True], [True], Standing.HOLDS),
        ([True], [False], [], Standing.OTHERWISE),
        ([True, False], [], [True], Standing.PART),
        ([True, False], [False], [], Standing.PART),
        ([False], [], [], Standing.FAILS),
        ([], [False], [True], Standing.UNSHOWN),
        ([], [True], [], Standing.UNDECIDED),
        ([], [], [True], Standing.UNDECIDED),
        ([False], [], [False], Standing.UNDECIDED),
    ],
)
def test_witnesses_decide_by_what_they_are_about(claim, argument, correction, expected):
    told = zip(ABOUT, (claim, argument, correction), strict=True)
    assert expected is standing_of([witness(about, holds=holds) for about, answers in told for holds in answers])


@given(st.lists(st.tuples(st.sampled_from(ABOUT), st.booleans()), max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_witnesses_does_not_matter(told, random):
    shuffled = random.sample(told, len(told))
    first, second = (standing_of([witness(about, holds=holds) for about, holds in some]) for some in (told, shuffled))
    assert first is second


@given(st.lists(st.tuples(st.sampled_from(ABOUT), st.booleans()), max_size=8))
def test_a_refuted_correction_leaves_everything_open(told):
    witnesses = [witness(about, holds=holds) for about, holds in told]
    assert Standing.UNDECIDED is standing_of([*witnesses, witness("correction", holds=False)])


def test_an_item_is_decided_by_its_witnesses(bundled):
    bundled(item(lambda runs: Found(f"{runs} runs", "1", (witness("claim", holds=True),))))
    found, seconds = decided("some", "X", 7)
    assert (Standing.HOLDS, "7 runs", "1") == (found.standing, found.says, found.number)
    assert 0 <= seconds


def test_an_outcome_that_was_not_expected_replaces_the_sentence(bundled):
    bundled(item(lambda runs: Found("it holds", "1", (witness("claim", holds=False),))))
    found, _ = decided("some", "X", 1)
    assert Standing.UNDECIDED is found.standing
    assert "it holds" not in found.says


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
    items = tuple(Decided("X", "text", "page 1", "", "", (), standing, "", "", ()) for standing in standings)
    expected = 1 if Standing.FAILS in standings else 3 if Standing.UNDECIDED in standings else 0
    assert expected == Dossier("some", 1, items).exit_code
