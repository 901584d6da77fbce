"""Scores of whole outputs: held-out values are honest, and what single columns cannot say is said by patterns."""

import pickle

import numpy as np
import pytest

from dpaudit.auditor.scoring.fitting import fit_score
from dpaudit.auditor.scoring.table import ScoreTable


def labels_of(seed, rows):
    stream = np.random.default_rng([11, seed])
    return stream.integers(0, 2, rows).astype(np.uint8), stream


def gain(scores, labels):
    """Nats by which log-odds predict a label better than a coin does."""
    return float(np.log(2) - np.logaddexp(0, np.where(labels == 1, -scores, scores)).mean())


def test_noise_gives_scores_that_promise_nothing():
    labels, stream = labels_of(0, 20_000)
    found = fit_score(stream.normal(size=(20_000, 10)), labels)
    assert -5e-4 < gain(found.held_out, labels) < 5e-4
    assert 5e-4 > gain(found.table.scores(stream.normal(size=(20_000, 10))), labels)


def test_held_out_scores_promise_what_fresh_rows_keep():
    labels, stream = labels_of(1, 30_000)
    items = stream.laplace(0, 3, (30_000, 8)) + labels[:, None]
    found = fit_score(items, labels)
    later, fresh = labels_of(2, 30_000)
    kept = gain(found.table.scores(fresh.laplace(0, 3, (30_000, 8)) + later[:, None]), later)
    # A likelihood ratio gains 0.0735 nats here (mean over 1e6 rows of the exact law).
    assert 0.06 < kept
    assert kept == pytest.approx(gain(found.held_out, labels), abs=0.01)


def test_a_pattern_of_exact_values_says_what_no_column_says():
    labels, stream = labels_of(3, 20_000)
    first = stream.integers(0, 2, 20_000)
    second = np.where(stream.random(20_000) < 0.8, first ^ labels, stream.integers(0, 2, 20_000))
    numbers = stream.normal(size=20_000)
    features = np.column_stack([first, second, np.where(first == 1, numbers, 9.0)]).astype(np.float64)
    found = fit_score(features, labels)
    assert found.table.patterns
    assert not found.exact
    assert 0.2 < gain(found.held_out, labels)


def test_numbers_at_a_place_that_varies_are_read_together_with_the_place():
    labels, stream = labels_of(4, 40_000)
    place = stream.integers(0, 4, 40_000)
    features = np.full((40_000, 4), -1000.0)
    # The number speaks for label 1 at even places and for label 0 at odd ones.
    shift = np.where(place % 2 == 0, labels, 1 - labels)
    features[np.arange(40_000), place] = stream.normal(size=40_000) + shift
    found = fit_score(features, labels)
    assert 0.08 < gain(found.held_out, labels)


def test_what_follows_from_exact_items_is_left_out():
    labels, stream = labels_of(5, 5000)
    bits = (stream.random((5000, 3)) < 0.4 + 0.2 * labels[:, None]).astype(np.float64)
    found = fit_score(np.column_stack([bits, np.diff(bits, axis=1), bits.sum(axis=1)]), labels, (0, 0, 0, 1, 1, 2))
    assert {0, 1, 2} >= set(found.table.columns)
    assert found.exact


def test_scores_survive_pickling_and_do_not_depend_on_other_rows():
    labels, stream = labels_of(6, 9000)
    features = np.where(stream.random((9000, 3)) < 0.5, -7.0, stream.normal(size=(9000, 3)) + labels[:, None])
    table = fit_score(features, labels).table
    scores = table.scores(features)
    assert scores[:10].tolist() == pickle.loads(pickle.dumps(table)).scores(features[:10]).tolist()
    unknown = np.full((1, 3), -7.5)
    assert np.isfinite(table.scores(unknown)).all()


def test_unknown_patterns_score_nothing():
    table = ScoreTable(
        columns=(0,), cuts=((1.0,),), values=((0.0, 0.0),), offset=0.5, symbols=((1, 2),), patterns=(0,), pattern_values=(9.0,)
    )
    assert [0.5, 0.5] == table.scores(np.array([[0.0], [2.0]])).tolist()


def test_twenty_weak_columns_are_added_up_without_the_accident_of_uneven_labels():
    stream = np.random.default_rng([11, 7])
    # 51 % of the labels are 1, which every column sees; the columns' own signal is a step of 0.02 nats at the median.
    labels = (stream.random(300_000) < 0.51).astype(np.uint8)
    items = stream.laplace(0, 50, (300_000, 20)) + labels[:, None]
    found = fit_score(items, labels)
    scores, truth = found.table.scores(items), np.clip(2 * items - 1, -1, 1).sum(axis=1) / 50
    assert 0.95 < np.corrcoef(scores, truth)[0, 1]
    assert 1 == pytest.approx(scores.std() / truth.std(), abs=0.3)


def test_what_follows_from_numbers_takes_no_credit_for_them():
    labels, stream = labels_of(8, 200_000)
    cells = stream.laplace(0, 2, (200_000, 5))
    cells[:, 0] += labels
    derived = np.column_stack([cells.sum(axis=1), cells.max(axis=1), cells.argmax(axis=1)])
    found = fit_score(np.column_stack([cells, derived]), labels, (0, 0, 0, 0, 0, 2, 2, 2))
    truth = (np.abs(cells[:, 0]) - np.abs(cells[:, 0] - 1)) / 2
    assert 0.98 < np.corrcoef(found.table.scores(np.column_stack([cells, derived])), truth)[0, 1]
