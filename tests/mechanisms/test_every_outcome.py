"""What mechanisms on records show besides their noise is the same for every number and content of records.

Mechanisms that add noise to a number, or choose by scores, read the answer of a query, whose form is public; what a caller gives
them is refused for its value too (docs/faq.md, "Data that become parameters"), so they are not among these.
"""

from __future__ import annotations

import inspect
import logging
import math
import warnings

import numpy as np
import pytest

import mechanisms
from dpaudit.errors import DpauditError, InvalidArgument
from mechanisms import HistogramMechanism, PartitionSelection, StabilityHistogram, VectorMechanism
from mechanisms.contributions import clip_and_sum, clip_rows
from mechanisms.lattice import clamp_to_lattice
from mechanisms.targets import questions

WIDTH = 3
COLUMNS = {
    "a list": list,
    "an array of objects": lambda entries: np.array([*entries, None], dtype=object)[:-1],
    "a generator": iter,
}
ENTRIES = {
    "nobody": [],
    "one": ["a"],
    "two alike": ["a", "a"],
    "one of no category": ["elsewhere"],
    "no number": [math.nan],
    "nothing": [None],
    "mixed": [3, "a", (), 1e400, b"a", None, {"a": 1}, [1], True],
    "many": ["a"] * 40,
}
ROWS = {
    "nobody": np.zeros((0, WIDTH)),
    "one": np.full((1, WIDTH), 0.25),
    "two alike": np.full((2, WIDTH), 0.25),
    "no number": np.full((1, WIDTH), np.nan),
    "infinite": np.full((2, WIDTH), -np.inf),
    "huge": np.full((3, WIDTH), 1e308),
    "tiny": np.full((1, WIDTH), 5e-324),
}
CATEGORIES = ["a", "b", 3]
ON_COLUMNS = {
    "HistogramMechanism": lambda column: HistogramMechanism(CATEGORIES, epsilon=1).release(column),
    "HistogramMechanism with others": lambda column: HistogramMechanism(CATEGORIES, sigma=3, other=True).release(column),
    "HistogramMechanism of an exchanged person": lambda column: HistogramMechanism(
        CATEGORIES, epsilon=1, adjacency="replace_one"
    ).release(column),
    "StabilityHistogram": lambda column: type(StabilityHistogram(epsilon=1, delta="1e-9").release(column)),
    "PartitionSelection": lambda column: type(PartitionSelection(epsilon=1, delta="1e-9").release(column)),
}
ON_ROWS = {
    **{
        f"VectorMechanism {given} {kind}": lambda rows, given=given, kind=kind: VectorMechanism(
            norm_bound=1, adjacency=kind, **given
        ).release(rows)
        for given in ({"epsilon": 1}, {"sigma": 3}, {"noise_multiplier": 2}, {"norm": "l1", "epsilon": 1})
        for kind in ("add_remove", "replace_one", "zero_out")
    },
    "clipped_sum": lambda rows: clip_and_sum(rows, norm_bound=1),
    "clip_rows": lambda rows: clip_rows(rows, norm_bound=1).sum(axis=0),
    "clamp_to_lattice": lambda rows: clamp_to_lattice(rows, lower=-1, upper=1, lattice="1/8").sum(axis=0),
}
ON_PEOPLE = {
    "count": lambda records: questions.COUNT.release(questions.malignant_count(records)),
    "histogram": lambda records: questions.HISTOGRAM.release(questions.radius_histogram(records)),
    "median": lambda records: questions.MEDIAN.release(questions.median_scores(records)),
}


class Kept(logging.Handler):
    """Keeps every message that anybody logs."""

    def __init__(self):
        super().__init__(0)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def outcome(release, given):
    """Type, shape and dtype of an output, with all warnings and messages; an error fails the test."""
    kept = Kept()
    logging.getLogger().addHandler(kept)
    try:
        with warnings.catch_warnings(record=True) as warned, np.errstate(all="warn"):
            warnings.simplefilter("always")
            output = release(given)
    finally:
        logging.getLogger().removeHandler(kept)
    form = output if isinstance(output, type) else (type(output), getattr(output, "shape", None), getattr(output, "dtype", None))
    return form, [str(each.message) for each in warned], kept.messages


def test_every_mechanism_that_reads_records_is_among_these():
    reading = {
        name
        for name in mechanisms.__all__
        for release in [getattr(getattr(mechanisms, name), "release", None)]
        if release is not None and {"rows", "values", "people"} & {*inspect.signature(release).parameters}
    }
    asks_questions = {"AboveThreshold", "SparseVector", "PrefixSums"}  # the last is given sums, not records
    assert reading - asks_questions == {name.split()[0] for name in {**ON_COLUMNS, **ON_ROWS} if name[0].isupper()}


@pytest.mark.parametrize("form", COLUMNS)
@pytest.mark.parametrize("name", ON_COLUMNS)
def test_no_outcome_depends_on_who_is_in_a_column(name, form):
    shown = [outcome(ON_COLUMNS[name], COLUMNS[form](entries)) for entries in ENTRIES.values()]
    assert [shown[0]] * len(shown) == shown


@pytest.mark.parametrize("people", [[], ["x"], [None], [math.nan, math.nan], [[], {}, "x"]], ids=repr)
@pytest.mark.parametrize("kind", [HistogramMechanism, StabilityHistogram, PartitionSelection])
def test_no_outcome_depends_on_whose_records_they_are(kind, people):
    given = {"epsilon": 1, "contributions": 2}
    mechanism = kind(CATEGORIES, **given) if kind is HistogramMechanism else kind(delta="1e-9", **given)
    nobody, some = (outcome(lambda who: mechanism.release(["a"] * len(who), people=who), who) for who in ([], people))
    assert nobody == some


@pytest.mark.parametrize("name", ON_ROWS)
def test_no_outcome_depends_on_who_is_in_the_rows(name):
    shown = [outcome(ON_ROWS[name], rows) for rows in ROWS.values()]
    assert [shown[0]] * len(shown) == shown


@pytest.mark.parametrize("name", ON_PEOPLE)
def test_no_answer_about_people_depends_on_how_many_there_are(name):
    contents = ([], [{}], [{"mean radius": None, "diagnosis": "?"}], [{"mean radius": math.nan}] * 2, [{"diagnosis": 1}] * 30)
    shown = [outcome(ON_PEOPLE[name], list(records)) for records in contents]
    assert [shown[0]] * len(shown) == shown


TEXTS = [np.full((2, 2), "a" * 37), np.full((2, 2), b"a" * 37), np.full(4, "a" * 37)]
READERS = {
    "VectorMechanism": VectorMechanism(norm_bound=1, sigma=3).release,
    "VectorMechanism in steps": VectorMechanism(norm_bound=1, sigma=3).release_steps,
    "clip_rows": lambda rows: clip_rows(rows, norm_bound=1),
    "LaplaceMechanism": mechanisms.LaplaceMechanism(sensitivity=1, epsilon=1).release,
    "RealLaplaceMechanism": mechanisms.RealLaplaceMechanism(sensitivity=1, epsilon=1).release,
    "RandomizedResponse": mechanisms.RandomizedResponse(epsilon=1).release,
    "ExponentialMechanism": mechanisms.ExponentialMechanism(sensitivity=1, epsilon=1).release,
    "EuclideanMechanism": mechanisms.EuclideanMechanism(sensitivity=1, epsilon=1).release,
    "SparseVector": lambda values: mechanisms.SparseVector(sensitivity=1, epsilon=1).releases(0, values, 1),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{text.dtype.kind}{text.ndim}")
def test_no_error_shows_how_long_a_text_is(name, text):
    """The dtype of an array of text holds the length of the longest, which is somebody's."""
    with pytest.raises(DpauditError, match="DPA105") as caught:
        READERS[name](text)
    assert not [part for part in ("37", "296", "1184", "<U", "|S") if part in str(caught.value)]


def test_rows_whose_columns_are_unknown_are_refused_for_their_form():
    for rows in ([], np.zeros(0), [[0.5, 0.25]]):
        with pytest.raises(InvalidArgument, match=r"DPA105 rows must be an array of numbers of shape \(rows, columns\), got"):
            VectorMechanism(norm_bound=1, sigma=3).release(rows)
