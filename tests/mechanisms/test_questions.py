"""Real questions: the records are scikit-learn's, and every declared sensitivity is true on all small data sets."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import DpauditError, TargetFailure
from mechanisms.targets import questions
from mechanisms.targets.questions import CANDIDATES, cancer_records, quantile_scores

SMALL = range(-1, 4)
GRID = np.arange(-2, 6)
QUANTILES = ["0", "1/2", "1/4", "9/10", "2/3", "1"]

rows = st.lists(
    st.fixed_dictionaries({"mean radius": st.floats() | st.integers() | st.none() | st.text(), "diagnosis": st.integers(0, 1)})
)


def datasets(size):
    """All data sets of up to `size` small numbers, as multisets."""
    return [
        np.array(values, dtype=np.int64) for n in range(size + 1) for values in itertools.combinations_with_replacement(SMALL, n)
    ]


def test_the_records_are_those_that_scikit_learn_loads():
    from sklearn.datasets import load_breast_cancer

    bundle, records = load_breast_cancer(), cancer_records()
    assert [*bundle.feature_names, "diagnosis"] == list(records[0])
    assert bundle.data.tolist() == [list(record.values())[:-1] for record in records]
    assert (1 - bundle.target).tolist() == [record["diagnosis"] for record in records]


def test_nobody_can_change_the_records_for_others():
    cancer_records()[0]["mean radius"] = -1.0
    assert 17.99 == cancer_records()[0]["mean radius"]


def test_a_missing_or_changed_file_is_reported(monkeypatch, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setattr(questions, "files", lambda package: tmp_path)
    for content in (None, "", "1,30,malignant,benign\n", "2,3\n1,2,x\n", "7,30,a,b\n1,2\n"):
        if content is not None:
            (folder / "breast_cancer.csv").write_text(content, encoding="utf-8")
        questions._rows.cache_clear()
        with pytest.raises(TargetFailure, match="DPA406"):
            questions._rows()
    questions._rows.cache_clear()


def test_the_answers_without_noise():
    records = cancer_records()
    assert 212 == questions.malignant_count(records)
    radii = [record["mean radius"] for record in records]
    assert sum(round(Fraction(radius) * 100) for radius in radii) == questions.radius_sum(records)
    expected = [sum(low <= radius < high for radius in radii) for low, high in itertools.pairwise((0, 10, 15, 20, 25, 1000))]
    assert expected == questions.radius_histogram(records).tolist()
    best = CANDIDATES[int(np.argmax(questions.median_scores(records)))]
    assert abs(float(best) - np.median(radii)) <= 0.05


def answers(records):
    """A private answer to each question: count, mean radius, histogram of radii, median radius."""
    total = questions.MEAN.release(questions.radius_sum(records))
    return (
        questions.COUNT.release(questions.malignant_count(records)),
        total * questions.STEP / max(len(records), 1),
        questions.HISTOGRAM.release(questions.radius_histogram(records)).tolist(),
        CANDIDATES[questions.MEDIAN.release(questions.median_scores(records))],
    )


def test_the_private_answers_are_near_the_true_ones():
    count, mean, histogram, median = answers(cancer_records())
    assert abs(count - 212) < 60
    assert abs(mean - Fraction("14.13")) < 3
    assert all(abs(noisy - true) < 60 for noisy, true in zip(histogram, [37, 378, 135, 17, 2], strict=True))
    assert abs(median - Fraction("13.37")) < 1


@pytest.mark.parametrize("records", [(), ({"unknown column": None},)])
def test_nobody_at_all_gets_an_answer_too(records):
    assert 4 == len(answers(records))


@given(records=rows, data=st.data(), other=rows.filter(bool))
def test_one_record_moves_each_query_by_no_more_than_its_sensitivity(records, data, other):
    position = data.draw(st.integers(0, max(len(records) - 1, 0)))
    removed = records[:position] + records[position + 1 :]
    replaced = [*records[:position], other[0], *records[position + 1 :]] if records else records
    assert abs(questions.malignant_count(records) - questions.malignant_count(removed)) <= questions.COUNT.sensitivity
    assert abs(questions.radius_sum(records) - questions.radius_sum(replaced)) <= questions.MEAN.sensitivity
    moved = np.abs(questions.radius_histogram(records) - questions.radius_histogram(removed)).sum()
    assert moved <= questions.HISTOGRAM.sensitivity
    moved = np.abs(questions.median_scores(records) - questions.median_scores(removed)).max()
    assert moved <= questions.MEDIAN.sensitivity


@given(records=rows, seed=st.randoms())
def test_the_order_of_the_records_does_not_matter(records, seed):
    shuffled = seed.sample(records, len(records))
    for query in (questions.malignant_count, questions.radius_sum, questions.radius_histogram, questions.median_scores):
        np.testing.assert_array_equal(query(records), query(shuffled))


@given(values=st.lists(st.integers(-50, 50)), quantile=st.fractions(0, 1, max_denominator=12))
def test_scores_count_how_far_a_candidate_is_from_the_quantile(values, quantile):
    share, people = quantile.denominator, len(values)
    expected = [-abs(share * sum(value < candidate for value in values) - quantile.numerator * people) for candidate in GRID]
    assert expected == quantile_scores(np.array(values, dtype=np.int64), GRID, quantile=quantile).tolist()


@pytest.mark.parametrize("quantile", QUANTILES)
def test_the_sensitivity_of_a_quantile_is_met_and_never_exceeded_when_a_record_is_added(quantile):
    worst = 0
    for values in datasets(3):
        scores = quantile_scores(values, GRID, quantile=quantile)
        for value in SMALL:
            worst = max(worst, np.abs(scores - quantile_scores(np.append(values, value), GRID, quantile=quantile)).max())
    share = Fraction(quantile)
    assert max(share.numerator, share.denominator - share.numerator) == worst


@pytest.mark.parametrize("quantile", QUANTILES)
def test_the_sensitivity_of_a_quantile_is_met_and_never_exceeded_when_a_record_is_replaced(quantile):
    worst = 0
    for values in datasets(4):
        scores = quantile_scores(values, GRID, quantile=quantile)
        for position, value in itertools.product(range(values.size), SMALL):
            changed = values.copy()
            changed[position] = value
            worst = max(worst, np.abs(scores - quantile_scores(changed, GRID, quantile=quantile)).max())
    declared = Fraction(quantile).denominator
    assert worst <= declared
    assert worst == declared or quantile in {"0", "1"}


@given(values=st.lists(st.integers(-50, 50), min_size=1), quantile=st.fractions(0, 1, max_denominator=12))
def test_the_best_candidate_splits_the_values_at_the_quantile(values, quantile):
    candidates = np.arange(-51, 53)
    best = candidates[np.argmax(quantile_scores(np.array(values), candidates, quantile=quantile))]
    gap = max(values.count(value) for value in values)
    assert abs(sum(value < best for value in values) - quantile * len(values)) <= gap


@pytest.mark.parametrize(("code", "arguments"), [("DPA103", {"quantile": 2}), ("DPA102", {"quantile": float("nan")})])
def test_a_quantile_outside_its_range_is_refused(code, arguments):
    with pytest.raises(DpauditError, match=code):
        quantile_scores(np.array([1]), np.array([1]), **arguments)
