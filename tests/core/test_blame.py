"""What may be quoted of an error of a user's function: what the failed instruction itself has written out, and no value of data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.blame import said

PERSON = {"illness": "flu", "file": "/nowhere/flu.txt", "name": "strip_flu"}
"""A record whose values stand, for other reasons, in the functions below."""
KNOWN = ["flu", "/nowhere/flu.txt", "strip_flu"]


def with_key_of_the_data(record: dict[str, str]) -> Any:
    return {"cold": 1, "cough": 2}[record["illness"]], KNOWN, "flu"


def with_key_of_the_data_in_a_name(record: dict[str, str]) -> Any:
    key, default = record["illness"], "flu"
    return {}[key], default


def with_attribute_of_the_data(record: dict[str, str]) -> Any:
    return getattr(record, record["name"]), "strip_flu"


def with_file_of_the_data(record: dict[str, str]) -> Any:
    with open(record["file"]) as file:  # noqa: PTH123 (as people write it)
        return file.read(), "/nowhere/flu.txt"


def with_argument_of_the_data(record: dict[str, str]) -> Any:
    def release(**_: int) -> str:
        return "flu"

    def exact() -> str:
        return "flu"

    return release(flu=1), exact(**{record["illness"]: 1})


def with_a_test_on_the_data(record: dict[str, str]) -> Any:
    for name in KNOWN:
        if record["illness"] == name:
            return {"cold": 1}[name]
    return "flu"


@pytest.mark.parametrize(
    "function",
    [
        with_key_of_the_data,
        with_key_of_the_data_in_a_name,
        with_attribute_of_the_data,
        with_file_of_the_data,
        with_argument_of_the_data,
        with_a_test_on_the_data,
    ],
    ids=lambda function: function.__name__,
)
def test_a_value_of_the_data_is_not_quoted_though_the_source_holds_the_same_text(function: Callable[..., Any]) -> None:
    with pytest.raises((LookupError, AttributeError, OSError, TypeError)) as caught:
        function(PERSON)
    assert "flu" in str(caught.value)
    assert "flu" not in said(caught.value)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda record: record["ilness"], "there is no key 'ilness'"),
        (lambda record: record.ilness, "a value of type dict has no 'ilness'"),
        (lambda _: open("/nowhere/people.csv"), "No such file or directory: '/nowhere/people.csv'"),  # noqa: PTH123, SIM115
    ],
)
def test_what_the_failed_instruction_says_itself_is_quoted(function: Callable[..., Any], text: str) -> None:
    with pytest.raises((LookupError, AttributeError, OSError)) as caught:
        function(PERSON)
    assert said(caught.value) == text
