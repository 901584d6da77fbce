"""Errors and ramps are counted exactly, one record moves them by exactly one unit, and choices by them are private."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from learners.choices import counts
from learners.choices.counts import Listed, choose, errors, ramps, totals
from learners.choices.levels import counts_mechanism
from mechanisms import source_from

POINTS = [(1, 0), (0, 1), (-1, 1), (0, 0)]
vectors = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=6)


@given(records=vectors, candidates=vectors, seed=st.integers(0, 2**16), threshold=st.integers(-20, 20))
def test_errors_are_signed_margins_of_at_most_the_threshold(rows_from, records, candidates, seed, threshold):
    labels = np.random.default_rng(seed).integers(0, 2, len(records))
    wanted = [
        sum((1 if label else -1) * (a * c + b * d) <= threshold for (a, b), label in zip(records, labels, strict=True))
        for c, d in candidates
    ]
    assert wanted == totals(rows_from(records, labels), Listed(np.array(candidates).T), errors(threshold)).tolist()


@given(margin=st.integers(1, 10**6), bits=st.integers(0, 20), values=st.lists(st.integers(-(10**7), 10**7), min_size=1))
def test_a_ramp_lies_on_its_grid_between_its_ends_and_never_below_the_truth(margin, bits, values):
    found = ramps(margin=margin, bits=bits)(np.array(values)).tolist()
    for value, steps in zip(values, found, strict=True):
        true = min(Fraction(1), max(Fraction(0), 1 - Fraction(value, margin))) * 2**bits
        assert true <= steps < true + 1
        assert 0 <= steps <= 2**bits


def test_both_ends_of_a_ramp_lie_on_the_grid():
    assert [8, 8, 0, 0] == ramps(margin=5, bits=3)(np.array([-(2**62), 0, 5, 2**62])).tolist()


def test_counting_in_blocks_changes_nothing(rows_from, monkeypatch):
    rng = np.random.default_rng(1)
    rows = rows_from(rng.integers(-50, 50, (13, 3)), rng.integers(0, 2, 13))
    cover = Listed(rng.integers(-50, 50, (3, 29)))
    whole = totals(rows, cover, errors()).tolist()
    monkeypatch.setattr(counts, "_CHUNK", 40)
    assert whole == totals(rows, cover, errors()).tolist()


@pytest.mark.parametrize("records", [1, 2, 3])
@pytest.mark.parametrize(("kind", "claimed"), [("replace_one", 1.0), ("zero_out", 1.0), ("label", 1.0)])
def test_every_choice_is_private_on_all_neighbours(rows_from, law, largest_loss, records, kind, claimed):
    """All data sets of up to three records of which the last one changes, seven candidates: the law is computed exactly."""
    cover = Listed(np.array([*POINTS[:3], (1, 1), (-1, -1), (0, -1), (2, -3)]).T)
    temperature = counts_mechanism(epsilon=1, adjacency=kind).temperature
    some = list(itertools.product(POINTS, (0, 1)))
    laws = {}
    for chosen in itertools.product(some, repeat=records):
        rows = rows_from([point for point, _ in chosen], [label for _, label in chosen])
        laws[chosen] = law(totals(rows, cover, errors()).tolist(), temperature)
    worst = 0.0
    for chosen, first in laws.items():
        (point, label), rest = chosen[-1], chosen[:-1]
        others = {"replace_one": some, "zero_out": [((0, 0), label)], "label": [(point, 1 - label)]}[kind]
        worst = max(worst, *(largest_loss(first, laws[(*rest, other)]) for other in others))
    assert 0.3 < worst <= claimed


triples = st.lists(st.tuples(*[st.integers(-9, 9)] * 6), min_size=1, max_size=5)


@given(records=vectors, candidates=triples, seed=st.integers(0, 2**16), threshold=st.integers(-20, 20))
def test_errors_of_three_classes_are_leads_of_at_most_the_threshold(rows_from, records, candidates, seed, threshold):
    labels = np.random.default_rng(seed).integers(0, 3, len(records))

    def lead(record, label, weights):
        scores = [record[0] * weights[2 * place] + record[1] * weights[2 * place + 1] for place in range(3)]
        return scores.pop(label) - max(scores)

    wanted = [
        sum(lead(record, label, weights) <= threshold for record, label in zip(records, labels, strict=True))
        for weights in candidates
    ]
    assert wanted == totals(rows_from(records, labels), Listed(np.array(candidates).T), errors(threshold)).tolist()


@pytest.mark.parametrize("records", [1, 2])
@pytest.mark.parametrize("kind", ["replace_one", "zero_out", "label"])
def test_every_choice_among_three_classes_is_private_on_all_neighbours(rows_from, law, largest_loss, records, kind):
    cover = Listed(np.random.default_rng(5).integers(-2, 3, (6, 9)))
    temperature = counts_mechanism(epsilon=1, adjacency=kind).temperature
    some = list(itertools.product(POINTS, (0, 1, 2)))
    laws = {}
    for chosen in itertools.product(some, repeat=records):
        rows = rows_from([point for point, _ in chosen], [label for _, label in chosen])
        laws[chosen] = law(totals(rows, cover, errors()).tolist(), temperature)
    worst = 0.0
    for chosen, first in laws.items():
        (point, label), rest = chosen[-1], chosen[:-1]
        others = {"replace_one": some, "zero_out": [((0, 0), label)], "label": [(point, other) for other in range(3)]}[kind]
        worst = max(worst, *(largest_loss(first, laws[(*rest, other)]) for other in others))
    assert 0.3 < worst <= 1


def test_blocks_of_several_classes_change_nothing_and_too_large_weights_are_refused(rows_from, monkeypatch):
    rng = np.random.default_rng(1)
    rows = rows_from(rng.integers(-50, 50, (13, 3)), rng.integers(0, 4, 13))
    cover = Listed(rng.integers(-50, 50, (12, 29)))
    whole = totals(rows, cover, errors()).tolist()
    monkeypatch.setattr(counts, "_CHUNK", 150)
    assert whole == totals(rows, cover, errors()).tolist()
    with pytest.raises(InvalidArgument, match="DPA108"):
        totals(rows, Listed(cover.weights * 2**50), errors())


@pytest.mark.parametrize(("records", "realised"), [(1, 0.5), (10, 0.9886), (100, 1.0)])
def test_antipodal_candidates_realise_the_claim(rows_from, law, largest_loss, records, realised):
    cover = Listed(np.array([[1, -1]]))
    found = []
    for last in (1, -1):
        counted = totals(rows_from([[1]] * (records - 1) + [[last]]), cover, errors()).tolist()
        found.append(law(counted, Fraction(2)))
    assert realised == pytest.approx(largest_loss(*found), abs=5e-5)


def test_the_temperature_of_zero_out_realises_twice_the_claim_where_records_are_replaced(rows_from, law, largest_loss):
    cover = Listed(np.array([[1, -1]]))
    found = [law(totals(rows_from([[1]] * 99 + [[last]]), cover, errors()).tolist(), Fraction(1)) for last in (1, -1)]
    assert 1.99 < largest_loss(*found)


def test_one_record_moves_a_ramp_by_exactly_its_sensitivity(rows_from):
    cover = Listed(np.array([[1, -1], [0, 0]]))
    first, second = (totals(rows_from([(9, 0)], [label]), cover, ramps(margin=9, bits=4)) for label in (0, 1))
    assert [16, -16] == (first - second).tolist()


def test_a_single_candidate_is_chosen_whatever_its_errors(rows_from):
    cover = Listed(np.array([[3], [4]]))
    assert [3, 4] == choose(rows_from([(-1, -1)] * 3), cover, errors(), counts_mechanism(epsilon=1, adjacency="label")).tolist()


def test_tied_candidates_are_chosen_evenly(rows_from):
    """4000 choices among four candidates that are all wrong: each count within 7 standard deviations, a false alarm below 1e-11."""
    cover, source = Listed(np.arange(4)[np.newaxis]), source_from(np.random.default_rng(8))
    mechanism = counts_mechanism(epsilon=5, adjacency="replace_one")
    drawn = [int(choose(rows_from([[0]] * 3), cover, errors(), mechanism, source)[0]) for _ in range(4000)]
    assert all(abs(drawn.count(place) - 1000) < 7 * 750**0.5 for place in range(4))


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("DPA103", {"margin": 0, "bits": 1}),
        ("DPA103", {"margin": 1, "bits": -1}),
        ("DPA105", {"margin": 0.5, "bits": 1}),
        ("DPA108", {"margin": 2**40, "bits": 23}),
    ],
)
def test_wrong_ramps_are_refused(code, options):
    with pytest.raises(InvalidArgument) as caught:
        ramps(**options)
    assert code == caught.value.code
