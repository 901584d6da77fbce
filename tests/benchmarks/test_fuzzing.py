"""Hostile arguments to the whole public API: every call is answered or refused with a code, and shows no private value."""

import inspect
import sys
import warnings
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import fuzzing
import hostile
import hostile_values

from dpaudit.errors import InvalidArgument

PUBLIC = sorted(hostile.subjects())


@pytest.mark.timeout(600)  # one call may take a minute
@pytest.mark.parametrize("part", range(4))
def test_hostile_calls_are_answered_or_refused_with_a_code(part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = fuzzing.drawn(200, root=part)
    assert [] == [outcome for outcome in found if outcome.fault]
    kinds = {outcome.kind for outcome in found}
    assert {"answered", "refused"} <= kinds
    assert 200 <= len(found)


@pytest.mark.timeout(600)
def test_one_hostile_value_at_a_time_is_answered_or_refused_with_a_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = list(hostile.swept(5, 27, fuzzing.SECONDS))
    assert [] == [outcome for outcome in found if outcome.fault]
    without_named_parameters = {"dpaudit.accounting.compose", "mechanisms.OsBitSource"}
    assert without_named_parameters == set(PUBLIC) - {outcome.name for outcome in found}


def test_a_sweep_reaches_every_parameter_with_every_value_once():
    def taking(one, *, two, three=3):
        """Parameters of each kind."""

    parameters = list(inspect.signature(taking).parameters.values())
    assert ((7,), {"two": 1}) == hostile._with(parameters, parameters[0], 7)
    assert ((1,), {"two": 7}) == hostile._with(parameters, parameters[1], 7)
    assert ((1,), {"two": 1, "three": 7}) == hostile._with(parameters, parameters[2], 7)


def broken(*, value, count):
    """A function with every fault: it shows a private value, raises without a code, warns, and never ends."""
    if count == 1:
        raise InvalidArgument("DPA101", f"no number: {value}")
    if count == 2:
        raise ValueError("no code")
    if count == 3:
        warnings.warn("careful", stacklevel=1)
    while count == 4:
        pass
    try:
        int(f"x{value}")
    except ValueError as error:
        raise InvalidArgument("DPA101", "no number") from error


@pytest.mark.parametrize(
    ("count", "kind"),
    [(1, "private value shown"), (2, "ValueError"), (3, "UserWarning"), (4, "too long"), (5, "private value shown")],
)
def test_each_fault_is_found(count, kind):
    _, outcome = hostile._called("broken", broken, ((), {"value": hostile_values.MARK, "count": count}), 1)
    assert (kind, True) == (outcome.kind, outcome.fault)
    assert outcome.example.endswith(f"count={count}")


def test_every_public_name_that_is_called_is_drawn_sooner_or_later():
    assert {
        "mechanisms.LaplaceMechanism",
        "learners.papers.MarginClassifier",
        "dpaudit.accounting.gaussian",
        "dpaudit.audit",
    } <= set(PUBLIC)
    assert not any(name.rpartition(".")[2] in hostile.GIVEN for name in PUBLIC)


def test_the_page_counts_by_package_and_lists_each_fault_once():
    made = [hostile.Outcome("mechanisms.TopK", "answered"), hostile.Outcome("mechanisms.TopK().release", "refused")]
    fault = hostile.Outcome("learners.Budget", "ValueError", "learners/budget.py:3", "1")
    text, record = fuzzing.page([*made, fault, fault], 7, 2.0)
    assert "| mechanisms | 1 | 1 | 0 | 0 |" in text
    assert "| all | 1 | 1 | 0 | 2 |" in text
    assert 1 == text.count("learners/budget.py:3") == len(record["faults"])
