"""What a report shows of private data: never a value, in any form; with the caller's leave all of it, and it says so."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import audit
from dpaudit.auditor import replay
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.reading.outputs import Failure
from dpaudit.auditor.reading.shapes import shape_of
from dpaudit.auditor.runs.chunks import sample_one
from dpaudit.report import from_json
from dpaudit.results import Values

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")


def loaded(name):
    """A module that stands next to this one."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


planted = loaded("planted")
ALL = {**planted.TUNED, **planted.HELD_OUT}
RUNS = 3000


def containers(inner):
    """Lists, tuples and mappings of parts."""
    return st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text("QZW", min_size=3), inner)


def outputs(target):
    """An output of each dataset that has one."""
    pair = candidate_pairs(target)[0]
    drawn = [sample_one(target, pair.side(label), np.random.default_rng(0)) for label in (0, 1)]
    return [output for output in drawn if not isinstance(output, Failure)]


@pytest.mark.parametrize("name", ALL)
def test_no_form_of_a_report_shows_a_value_of_private_data(name):
    target = ALL[name]
    report = audit(target, runs=RUNS, seed=1, alpha="1e-3")
    codes = [code for output in outputs(target) for code in planted.codes_of(output) if len(code) > 5]
    shown = {
        form: sorted({*planted.PLANTED.findall(text), *(code for code in codes if code in text)})
        for form, text in planted.forms(report).items()
    }
    assert {} == {form: found for form, found in shown.items() if found}
    for again in replay(report, targets=[target]):
        assert () == again.differences


SHOWN = {
    "raw maximum": "987654",
    "key of a mapping": planted.NAME,
    "declared sensitivity": planted.NAME,
    "refusal of this library": "987654",
    "noise scaled to the data": "987654",
    "unclipped sum": "987600",
}
"""What the caller's leave shows of some targets."""


@pytest.mark.parametrize("name", SHOWN)
def test_with_leave_of_the_caller_every_form_shows_values_and_says_so(name):
    target = ALL[name]
    report = audit(target, runs=RUNS, seed=1, alpha="1e-3", show_values=True)
    found = planted.forms(report)
    assert [] == [form for form in found if form not in SILENT and str(Values.ASKED) not in " ".join(found[form].split())]
    assert SHOWN[name] in found["json"]
    assert report == from_json(found["json"])
    for again in replay(report, targets=[target]):
        assert () == again.differences


SILENT = {"diff annotations", "repr"}
"""Forms without a text about the whole audit."""


def test_values_are_shown_where_the_target_declares_its_data_public_and_every_form_says_so():
    report = audit(replace(ALL["raw maximum"], public_data=True), runs=RUNS, seed=1)
    found = planted.forms(report)
    assert "987654" in found["wide"]
    # Annotations list what somebody has to look at; that public data are shown is none of it.
    silent = SILENT | {"annotations"}
    assert [] == [form for form in found if form not in silent and str(Values.PUBLIC) not in " ".join(found[form].split())]


def test_events_on_private_data_have_ranks_and_numbers():
    names = ("noisy maximum", "lists of many lengths", "exception now and then")
    first, second, third = (audit(ALL[name], runs=RUNS, seed=1).results[0].attack.event for name in names)
    assert re.fullmatch(r"value among the smallest [0-9.]+ % of the outputs", first)
    assert re.fullmatch(r"length among the largest [0-9.]+ % of the outputs", second)
    assert re.fullmatch(r"the arguments 0 the counts 7 among the largest [0-9.]+ % of the outputs", third)


@given(st.recursive(st.text("QZW", min_size=3) | st.floats(1000, 2000) | st.integers(1000, 2000), containers, max_leaves=12))
def test_a_shape_holds_no_text_no_key_and_no_number_of_an_output(output):
    shape = shape_of(output)
    assert set("QZW").isdisjoint(shape)
    assert max(map(int, re.findall("[0-9]+", shape)), default=0) <= 4


def test_verdicts_counts_and_bounds_do_not_depend_on_what_is_shown():
    def numbers(report):
        (result,) = report.results
        return result.verdict, result.attack.sequential, result.attack.bound, result.attack.power, result.attack.minimal is None

    for name in ("noisy maximum", "rare text", "array", "unclipped sum"):
        assert numbers(audit(ALL[name], runs=RUNS, seed=3)) == numbers(audit(ALL[name], runs=RUNS, seed=3, show_values=True))
