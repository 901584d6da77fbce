"""Errors: every code explained, every class picklable, nothing raised without a code."""

from __future__ import annotations

import pickle
import re

import pytest

from dpaudit import errors
from dpaudit.errors import CODES, DpauditError, InvalidArgument

CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, DpauditError)]


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_title_a_meaning_and_a_remedy(code):
    entry = CODES[code]
    assert re.fullmatch(r"DPA\d{3}", code)
    assert entry.title
    assert not entry.title.endswith(".")
    for text in (entry.meaning, entry.remedy):
        assert text.endswith(".")
        assert "  " not in text


def test_titles_tell_codes_apart():
    titles = [entry.title for entry in CODES.values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_survives_the_way_back_from_a_worker(kind):
    error = pickle.loads(pickle.dumps(kind("DPA103", "epsilon must be above 0 and below 1, got 2.")))
    assert (kind, "DPA103", "epsilon must be above 0 and below 1, got 2.") == (type(error), error.code, error.message)
    assert "DPA103 epsilon must be above 0 and below 1, got 2." == str(error)


def test_an_unknown_code_is_a_mistake_of_ours():
    with pytest.raises(KeyError, match="DPA999"):
        InvalidArgument("DPA999", "what")


def test_bad_arguments_are_value_errors_too():
    assert issubclass(InvalidArgument, ValueError)
    assert all(issubclass(kind, DpauditError) for kind in CLASSES)
