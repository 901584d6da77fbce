"""The cause of a refutation is named where runs single it out, with the line at which runs part; a wrong one never is."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mistakes import MISTAKES

from dpaudit import audit
from dpaudit.auditor.diagnosis.diagnosing import diagnose
from dpaudit.auditor.diagnosis.noise import ends_on_both_sides, fit, gaussian_delta, shift, step_of, stretch
from dpaudit.auditor.diagnosis.parting import parting_line, traced
from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.report import answers, from_json, to_json
from dpaudit.targets import Target

RUNS = 14_500
UNNAMED = {"preferred", "honest_answer", "half_noise_for_words"}
LINES = {
    "small_counts_bare": "if total < 3:",
    "as_wide_as_the_data": "spread = np.std(data)",
    "as_wide_as_the_largest": "bound = max(data)",
    "needs_three": "if len(data) < 3:",
    "noisy_mean": "total = sum(",
    "words_seen": "for word in data:",
    "kept_in_range": "noisy = float(",
    "epsilon_for_its_inverse": "return len(data)",
}
"""Lines at which runs part: a branch, or the first value that differs."""


def result_of(target):
    return audit(target, runs=RUNS, seed=3).results[0]


@pytest.mark.parametrize(("target", "causes"), MISTAKES, ids=[target.name for target, _ in MISTAKES])
def test_a_mistake_is_named_or_nothing_is(target, causes):
    result = result_of(target)
    cause = None if result.diagnosis is None else result.diagnosis.cause
    assert cause in causes or (cause is None and target.name in UNNAMED)
    if target.name in LINES:
        file, line = result.diagnosis.source
        assert LINES[target.name] in Path(file).read_text(encoding="utf-8").splitlines()[line - 1]


ODD = {
    "a number": (lambda data, rng: data + rng.laplace(), (0, 5)),
    "a mapping": (lambda data, rng: {"sum": data["a"] + rng.laplace(), "words": "ab"[data["a"] % 2]}, ({"a": 1}, {"a": 6})),
    "a set": (lambda data, rng: [len(data) + rng.laplace(), None, b"x"], ({1, 2}, {1, 2, 3})),
    "words": (lambda data, rng: " ".join(data[: rng.integers(1, 3)]), (["a", "b"], ["a", "c"])),
    "a matrix": (lambda data, rng: data.sum(axis=0) + rng.laplace(scale=0.1, size=(30, 30)), (np.ones((2, 30)), np.ones((3, 30)))),
    "records of words": (lambda data, rng: len(data) + rng.laplace(scale=0.2), (["a"], ["a", "b"])),
    "nothing": (lambda data, rng: rng.laplace() / 0 if len(data) > 1 else None, ([1], [1, 2])),
    "ragged rows": (lambda data, rng: sum(map(sum, data)) + rng.laplace(), ([[1.0], [2.0, 3.0]], [[1.0], [2.0, 3.0], [30.0]])),
    "an empty list": (lambda data, rng: sum(data) + rng.laplace(), ([], [7.0])),
    "one output or another": (lambda data, rng: data[0] if rng.random() < 0.5 else [data[0]], ([1], [2])),
}


BALL = Adjacency("norm_ball", norm="l1", radius=9)


@pytest.mark.parametrize(("run", "pair"), ODD.values(), ids=list(ODD))
def test_any_dataset_and_any_output_can_be_diagnosed(monkeypatch, run, pair):
    monkeypatch.setattr("dpaudit.auditor.examining._explain", diagnose)
    sized = isinstance(pair[0], (list, set, np.ndarray)) and len(pair[0]) < len(pair[1])
    claim = Claim(PureDP(epsilon="1/10"), adjacency="add_remove" if sized else BALL)
    result = audit(Target(run=run, neighbours=[pair], claim=claim), runs=1500, seed=3).results[0]
    assert "refuted" == result.verdict


def test_a_diagnosis_changes_no_evidence_and_is_kept_in_json():
    target = MISTAKES[0][0]
    report = audit(target, runs=RUNS, seed=3)
    assert report == from_json(to_json(report))
    before = replace(report, results=(replace(report.results[0], diagnosis=None),))
    assert '"diagnosis"' not in to_json(before)
    assert before == from_json(to_json(before))
    assert answers.why(before.results[0]) == ""
    assert answers.repair(before.results[0]) != answers.repair(report.results[0])
    assert f":{inspect.getsourcelines(target.run)[1] + 1}." in answers.why(report.results[0])


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=40, max_size=60, unique=True),
    st.floats(-1e3, 1e3),
    st.floats(0.1, 10).filter(lambda factor: abs(factor - 1) > 0.01),
)
def test_moves_and_stretches_are_what_was_done_to_the_outputs(outputs, move, factor):
    first = np.array(outputs)[:, np.newaxis]
    spread = np.ptp(first)
    if np.unique(np.round(first / max(spread, 1e-9), 6)).size < 30:
        return
    moved = shift(first, first + move)
    assert moved is not None
    assert math.isclose(move, moved[0], rel_tol=1e-6, abs_tol=1e-8 * max(np.abs(first).max(), 1))
    found = stretch(first, move + factor * first)
    assert found is None or math.isclose(factor, found, rel_tol=1e-3)
    assert shift(first, factor * first) is None


@pytest.mark.parametrize(("law", "draw"), [("laplace", "laplace"), ("gaussian", "normal")])
def test_laws_of_noise_are_told_apart(law, draw):
    found = fit(np.array([1.0]), getattr(np.random.default_rng(5), draw)(scale=3, size=(2000, 1)))
    assert found is not None
    assert law == found.law
    assert 3 == pytest.approx(found.scales[0], rel=found.error)


def test_other_noise_has_no_law():
    rng = np.random.default_rng(5)
    noise = rng.laplace(size=(2000, 20)).max(axis=1), rng.uniform(size=2000), rng.exponential(size=2000)
    assert [None] * 3 == [fit(np.array([1.0]), sample[:, np.newaxis]) for sample in noise]


def test_noise_with_ends_is_known_by_its_tails():
    rng = np.random.default_rng(5)
    laplace = rng.laplace(size=4000)
    samples = laplace, rng.normal(size=2000), rng.uniform(size=2000), laplace[np.abs(laplace) < 2]
    assert [False, False, True, True] == [ends_on_both_sides(sample) for sample in samples]


def test_steps_of_a_grid_are_found():
    rng = np.random.default_rng(5)
    assert 0.25 == pytest.approx(step_of(0.1 + 0.25 * rng.integers(-9, 9, size=200)))
    assert step_of(rng.laplace(size=200)) is None


def test_the_delta_of_gaussian_noise_is_the_known_one():
    assert 0.1269 == pytest.approx(gaussian_delta(1, 1), abs=1e-4)


def test_runs_part_at_a_branch_at_a_value_or_nowhere():
    def release(data):
        total = sum(data)
        if total > 2:
            return 1
        return 0

    first = inspect.getsourcelines(release)[1]

    def line(here, there, *, sign="value"):
        with traced() as one:
            release(here)
        with traced() as other:
            release(there)
        found = parting_line(one, other, sign=sign)
        return None if found is None else found[1] - first

    assert 1 == line([1], [2])
    assert line([1], [1]) is None
    assert line([1], [2], sign="branch") is None
    assert 2 == line([1], [3], sign="branch")
