"""The proofs about weights of candidates hold for what ships, and fall with any constant that is changed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from mechanisms.selection import choosing, proposals, repeated
from proofs import weighing
from proofs.rounding import ProofFailed

FACTS = {fact.__name__: fact for fact in (weighing.staircase, weighing.steps, weighing.sure, weighing.alias)}


@pytest.mark.parametrize("name", FACTS)
def test_what_ships_is_within_its_bounds(name):
    FACTS[name]()


@pytest.mark.parametrize(
    ("name", "owner", "attribute", "value"),
    [
        ("staircase", proposals, "STEPS", 63),
        ("staircase", proposals, "CLAMP", 62 * 64),
        ("staircase", proposals, "finest_precision", lambda size: 63 - (size - 1).bit_length()),
        ("steps", choosing, "_TEMPERATURE_EXPONENT", 1020),
        ("steps", weighing, "_LOWERED", Fraction(1, 2**53)),
        ("sure", proposals, "SURE_ACCEPTANCE", 0.9893),
        ("sure", weighing, "_LOWERED", Fraction(1, 2**5)),
        ("alias", repeated, "SHIPPED", replace(repeated.SHIPPED, slack=2.0**-43)),
        ("alias", repeated, "SHIPPED", replace(repeated.SHIPPED, slack=2.0**-60)),
        ("alias", repeated, "SHIPPED", replace(repeated.SHIPPED, bits=63)),
        ("alias", repeated, "SHIPPED", replace(repeated.SHIPPED, rest=60)),
    ],
)
def test_a_constant_that_is_changed_takes_the_proof_away(monkeypatch, name, owner, attribute, value):
    monkeypatch.setattr(owner, attribute, value)
    with pytest.raises(ProofFailed):
        FACTS[name]()


@pytest.mark.parametrize(("precision", "place"), [(0, 0), (32, 1), (62, 63), (62, 64), (40, 4031), (62, 4032)])
@pytest.mark.parametrize("change", [-1, 1])
def test_an_entry_that_is_changed_takes_the_proof_away(monkeypatch, precision, place, change):
    entries, shipped = proposals.table(precision).copy(), proposals.table
    entries[place] += change
    monkeypatch.setattr(proposals, "table", lambda of: entries if of == precision else shipped(of))
    with pytest.raises(ProofFailed):
        weighing.staircase()
