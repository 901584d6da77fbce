"""Error codes: registered where they are raised, explained in sentences, and none that nobody raises."""

from __future__ import annotations

import re

import pytest

from devtools.survey import PACKAGES, ROOT, Tree


def test_every_error_code_that_is_raised_is_registered_and_every_registered_one_is_used():
    from dpaudit.errors import CODES

    shipped = [path for path in Tree(ROOT).python(*PACKAGES) if path.name != "errors.py"]
    raised = {code for path in shipped for code in re.findall(r'"(DPA\d{3})"', path.read_text(encoding="utf-8"))}
    # A server raises a code by its five letters.
    raised |= {f"DPA{digits}" for digits in re.findall(r"ERRCODE = 'DP(\d{3})'", (ROOT / "dpaudit/ledger/schema.sql").read_text())}
    assert set() == raised - set(CODES), "raised but not registered"
    assert set() == set(CODES) - raised, "registered but never raised"


def test_every_error_code_is_explained_in_sentences():
    from dpaudit.errors import CODES

    for code, entry in CODES.items():
        assert re.fullmatch(r"DPA[1-9]\d\d", code)
        assert entry.title
        assert entry.meaning.endswith(".")
        assert entry.remedy.endswith((".", "?"))


def test_an_unregistered_code_cannot_be_raised():
    from dpaudit.errors import InvalidArgument

    with pytest.raises(KeyError, match="DPA999"):
        InvalidArgument("DPA999", "no such code")
