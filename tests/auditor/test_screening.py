"""Tests of the screening of wide outputs: what is counted, what gets a column, and that one leaking number among many is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import Claim, PureDP, Target, Verdict, audit
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.reading.features import MAX_ITEMS, Form, fit_features, screened_map, widen_map
from dpaudit.auditor.reading.wide import FARTHEST, Couple, Lens
from dpaudit.auditor.runs import chunks
from dpaudit.auditor.runs.chunks import PILOT, Chunk, ChunkHits, ChunkRuns, Manner, Task, perform
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.auditor.scoring.screening import MOST_CHOSEN, choose, find, gauge_of

WIDE = 200


def leaks(data, rng, *, place=71, size=3.0):
    """Laplace noise of scale 1 on 200 counts, of which one is far too sensitive."""
    noisy = rng.laplace(0, 1, WIDE)
    noisy[place] += size * len(data)
    return noisy


def spreads(data, rng):
    """A shift of every number by a little, up or down, which no single one and no sum shows."""
    return rng.laplace(0, 1, WIDE) + len(data) * 0.3 * np.where(np.arange(WIDE) % 3 == 0, 1, -0.5)


def repeats(data, rng):
    """Two numbers with the same noise, whose difference gives the count away."""
    noisy = rng.laplace(0, 1, WIDE)
    noisy[150] = noisy[20] + len(data)
    return noisy


def is_sound(data, rng):
    """One count among 200 numbers without a query."""
    return leaks(data, rng, size=1.0)


def target(run):
    """A target of one count."""
    return Target(name=run.__name__, run=run, claim=Claim(PureDP(epsilon="1")), neighbours=[([1], [1, 2])])


def rows_of(run, runs, seed=0):
    """Outputs under both labels, and the labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, runs, dtype=np.uint8)
    return np.stack([run([1] * (1 + label), rng) for label in labels.tolist()]), labels


def chosen_by(run, runs=600):
    """What a screening of one pair chooses."""
    values, labels = rows_of(run, runs)
    gauge = gauge_of(values[:200], labels[:200])
    return choose([find(gauge.measure(values, labels), gauge)], gauge)


@pytest.mark.parametrize("run", [leaks, spreads, repeats])
def test_a_leak_that_few_or_many_of_the_numbers_share_is_found(run):
    result = audit(target(run), runs=6000, seed=3).results[0]
    assert Verdict.REFUTED == result.verdict
    assert (WIDE, MOST_CHOSEN, WIDE) == tuple(getattr(result.attack.screening, name) for name in ("numbers", "chosen", "paired"))


def test_a_sound_release_of_many_numbers_survives_the_choice_of_its_best_ones_within_its_budget():
    result = audit(target(is_sound), runs=2500, seed=1).results[0]
    assert Verdict.REFUTED != result.verdict
    assert 2500 >= result.attack.runs


def test_the_number_that_leaks_is_chosen_and_the_numbers_that_share_noise_are_coupled():
    assert 71 in chosen_by(leaks)[0]
    lens = chosen_by(repeats)[1]
    assert (20, 150) in {(couple.first, couple.second) for couple in lens.couples}


def test_where_nothing_differs_no_score_is_learned():
    lens = chosen_by(lambda _, rng: rng.laplace(0, 1, WIDE))[1]
    assert ((), None, None) == (lens.couples, lens.linear, lens.square)


def test_a_score_of_squares_shows_that_the_spread_differs():
    lens = chosen_by(lambda data, rng: rng.normal(0, 1 + 0.2 * len(data), WIDE))[1]
    assert lens.square is not None
    assert (lens.square >= 0).mean() > 0.95


@given(st.integers(1, 39))
def test_measures_of_parts_add_up_to_those_of_all_runs(cut):
    values, labels = rows_of(leaks, 40)
    gauge = gauge_of(values, labels)
    whole, parts = (
        gauge.measure(values, labels),
        gauge.measure(values[:cut], labels[:cut]) + gauge.measure(values[cut:], labels[cut:]),
    )
    assert whole.runs.tolist() == parts.runs.tolist()
    assert np.array_equal(whole.counts, parts.counts)
    assert np.allclose(whole.moments, parts.moments)
    assert np.allclose(whole.products, parts.products)


def test_numbers_that_an_output_lacks_are_counted_below_all_others():
    values, labels = rows_of(leaks, 50)
    gauge = gauge_of(values, labels)
    values[:, 5] = np.nan
    measures = gauge.measure(values, labels)
    assert 0 == measures.counts[:, :, 5].sum()
    assert 0 == measures.moments[:, :, 5].sum()


@given(st.sets(st.integers(0, WIDE - 1), max_size=MOST_CHOSEN), st.integers(0, 10**6))
def test_chosen_numbers_have_columns_of_their_own_and_the_others_are_in_sums(places, seed):
    values = np.random.default_rng(seed).normal(size=(3, WIDE))
    lens = Lens(np.zeros(WIDE), np.ones(WIDE), np.arange(float(WIDE)), None, (Couple(3, 9, "difference"), Couple(3, 9, "product")))
    features = screened_map(fit_features([values[0]]), places, lens)
    matrix = features.matrix(values)
    assert MAX_ITEMS == max(features.blocks) + 1
    assert np.array_equal(values[:, sorted(places)], matrix[:, : len(places)])
    assert np.allclose(values.sum(axis=1), matrix[:, :MAX_ITEMS].sum(axis=1))
    assert np.array_equal(values[:, 9] - values[:, 3], matrix[:, features.names.index("item 9 - item 3")])
    assert np.allclose(values[:, 9] * values[:, 3], matrix[:, features.names.index("item 9 times item 3")])
    assert np.allclose(np.clip(values, -FARTHEST, FARTHEST) @ lens.linear, matrix[:, features.names.index("learned score")])
    for column in range(len(features.names)):
        assert np.array_equal(matrix[:, column], features.matrix(values, columns=[column])[:, column])
    assert len(features.names) == len(features.groups)


def test_norms_of_wide_outputs_are_columns():
    features = fit_features([np.zeros(40)])
    values = np.array([[*range(-20, 20)], [0.0] * 39 + [3.0]])
    matrix = features.matrix(values)

    def column(name):
        return matrix[:, features.names.index(name)].tolist()

    assert [400.0, 3.0] == column("L1 norm")
    assert [20.0, 3.0] == column("largest size")
    assert [-20.0, 0.0] == column("smallest")
    assert [0.0, 0.0] == column("position of smallest")
    assert [39.0, 1.0] == column("numbers other than 0")
    assert [40.0, 2.0] == column("different numbers")
    assert [39.0, 1.0] == column("ascents")
    assert np.allclose(np.linalg.norm(values, axis=1), column("L2 norm"))
    assert np.allclose(values.std(axis=1), column("deviation"))
    assert "L1 norm" not in fit_features([np.zeros(MAX_ITEMS)]).names


def test_a_screened_map_that_meets_further_forms_keeps_what_it_chose():
    lens = Lens(np.zeros(40), np.ones(40), np.arange(40.0), None, (Couple(1, 39, "sum"),))
    features = screened_map(fit_features([[0.0] * 40]), [7], lens)
    wider = widen_map(features, [Form("list", tuple((place,) for place in range(44)))])
    output = [float(place % 5) for place in range(40)]
    before, after = features.matrix([output]), wider.matrix([output])
    for name in ("item 7", "item 39 + item 1", "learned score", "L1 norm"):
        assert before[0, features.names.index(name)] == after[0, wider.names.index(name)]


def test_wide_outputs_are_read_a_few_at_a_time_with_the_same_result(monkeypatch):
    one = target(leaks)
    subject = Subject(one, candidate_pairs(one))
    task = Task(Workload("", subject), 5, Chunk(0, 0, PILOT, 0, 100), Manner(fit_features([np.zeros(WIDE)])))
    values, labels = rows_of(leaks, 50)
    gauged = replace(task, gauge=gauge_of(values, labels))
    whole, measured = perform(task), perform(gauged)
    monkeypatch.setattr(chunks, "MOST_NUMBERS", 17 * WIDE)
    parts, added = perform(task), perform(gauged)
    assert isinstance(whole, ChunkRuns)
    assert isinstance(parts, ChunkRuns)
    assert np.array_equal(whole.features, parts.features)
    assert np.array_equal(whole.labels, parts.labels)
    assert whole.account == parts.account
    assert np.array_equal(measured.measures.counts, added.measures.counts)


def test_the_hits_of_wide_outputs_do_not_depend_on_how_many_are_read_at_a_time(monkeypatch):
    from dpaudit.auditor.events.predicates import Threshold

    one = target(leaks)
    task = Task(
        Workload("", Subject(one, candidate_pairs(one))), 5, Chunk(0, 0, PILOT, 0, 100), Manner(fit_features([np.zeros(WIDE)]))
    )
    task = replace(task, events=(Threshold(3, 0.0, at_most=True),))
    whole = perform(task)
    monkeypatch.setattr(chunks, "MOST_NUMBERS", 9 * WIDE)
    assert isinstance(whole, ChunkHits)
    assert whole == perform(task)
