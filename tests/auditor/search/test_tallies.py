"""Pairs of few different outputs are judged by counts, with the runs on a dataset that several pairs share put together."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpaudit import ApproxDP, Claim, PureDP, Target, audit
from dpaudit.auditor.attack import pilot
from dpaudit.auditor.attack.tallies import cells_of, expected_bounds, held_out_bounds, tally_of
from dpaudit.auditor.statistics.bounds import ClaimPoint

PURE = ClaimPoint(Fraction(1), Fraction(0))


def tally(zeros, ones):
    """The tally of outputs 0, 1, 2, ... that came so often under each label."""
    outputs = np.concatenate([np.repeat(np.arange(len(side)), side) for side in (zeros, ones)])
    return tally_of(outputs[:, None].astype(np.float64), np.repeat(np.array([0, 1], dtype=np.uint8), [sum(zeros), sum(ones)]))


def promised(tallies, firsts=None, point=PURE, final_runs=10**7):
    firsts = list(range(len(tallies))) if firsts is None else firsts
    return expected_bounds(dict(enumerate(tallies)), firsts, point=point, final_runs=final_runs, alpha=0.1)


def test_outputs_are_counted_by_label():
    found = tally_of(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]]), np.array([0, 1, 1, 1], dtype=np.uint8))

    assert {(1.0, 2.0), (0.0, 1.0)} == set(map(tuple, found.counts.tolist()))
    assert (np.diff(found.codes.astype(object)) > 0).all()


@pytest.mark.parametrize(("different", "rows", "counted"), [(48, 200, True), (49, 200, False), (60, 10_000, False)])
def test_only_few_different_outputs_are_counted(different, rows, counted):
    late = np.minimum(np.arange(rows)[::-1], different - 1).astype(np.float64)[:, None]

    assert counted == (tally_of(late, np.zeros(rows, dtype=np.uint8)) is not None)


def test_a_clear_ratio_is_promised_nearly_in_full_on_either_side():
    one, other = promised([tally([10_000, 90_000], [30_000, 70_000]), tally([30_000, 70_000], [10_000, 90_000])]).values()

    assert math.log(3) == pytest.approx(one, abs=0.03)
    assert one == pytest.approx(other, abs=1e-9)


def test_a_ratio_of_few_hits_is_hardly_believed():
    lucky, sure = promised([tally([995, 2], [995, 9]), tally([995_000, 2000], [995_000, 9000])]).values()

    assert 2 * lucky < sure == pytest.approx(math.log(4.5), abs=0.05)


def test_a_dataset_that_pairs_share_is_counted_once_for_all():
    tallies = [tally([60, 940], [70, 930]), tally([94_000, 6_000], [1, 99])]
    alone, together = promised(tallies)[0], promised(tallies, [0, 0])[0]

    assert promised([tally([94_060, 6_940], [70, 930])])[0] == together != alone


def test_outputs_that_only_other_pairs_have_promise_nothing():
    tallies = [tally([1000], [1000]), tally([500, 500], [900, 100])]

    assert 0.0 < promised(tallies)[1]
    assert promised(tallies)[0] == pytest.approx(0.0, abs=1e-3)
    assert [0.0] == list(promised([tally([1000], [1000])]).values())


def test_delta_excuses_rare_outputs():
    rare = [tally([1_000_000, 0], [999_000, 1000])]

    assert promised(rare)[0] > 3 > promised(rare, point=ClaimPoint(Fraction(1), Fraction(1, 100)))[0]


def answers(data, n, rng):
    """Which of three noisy numbers is the largest; the last one is private."""
    return np.argmax(np.array([1, 1, data]) + rng.laplace(scale=20, size=(n, 3)), axis=1)


def test_the_pilot_judges_by_counts_where_outputs_are_few(monkeypatch):
    monkeypatch.setattr(pilot, "_estimate_promise", None)
    pairs = [(1, 1 + moved) for moved in (1, 30, 2)]
    target = Target(sample=answers, claim=Claim(PureDP(epsilon=9)), neighbours=pairs, name="largest")

    assert 1 == audit(target, runs=60_000, seed=1).results[0].attack.pair.index


def with_numbers(data, n, rng):
    """Those of three noisy numbers that exceed a noisy threshold, which they share."""
    noisy = np.array([1, 1, data]) + rng.laplace(scale=10, size=(n, 3))
    return np.where(noisy >= rng.laplace(scale=10, size=(n, 1)), noisy, -1000.0)


def test_numbers_among_exact_values_are_counted_in_few_cells():
    features = with_numbers(1, 30_000, np.random.default_rng(3))[:, :2]
    labels = np.arange(30_000, dtype=np.uint8) % 2
    found = tally_of(features, labels, cells_of(features, (0, 0)))

    assert 81 == len(found.codes) == found.bins.shape[1]
    assert [15_000, 15_000] == found.counts.sum(axis=0).tolist()


@pytest.mark.parametrize(
    "columns",
    [lambda rng: (rng.normal(size=9000), rng.normal(size=9000)), lambda rng: (rng.integers(0, 9, 9000), rng.integers(0, 9, 9000))],
)
def test_numbers_alone_and_exact_values_alone_have_no_cells(columns):
    features = np.column_stack(columns(np.random.default_rng(0))).astype(np.float64)

    assert cells_of(features, (0, 0)) is None


def test_outputs_of_many_items_with_numbers_have_no_cells():
    assert cells_of(np.maximum(np.random.default_rng(0).normal(size=(9000, 8)), 0), (0,) * 8) is None


def test_the_pilot_judges_by_cells_where_numbers_are_among_few_patterns(monkeypatch):
    monkeypatch.setattr(pilot, "_estimate_promise", None)
    pairs = [(1, 1 + moved) for moved in (1, 30, 2)]
    target = Target(sample=with_numbers, claim=Claim(PureDP(epsilon=9)), neighbours=pairs, name="numbers")

    assert 1 == audit(target, runs=60_000, seed=1).results[0].attack.pair.index


def held_out(*halves, firsts=None, final_runs=10**5):
    places = list(range(len(halves[0]))) if firsts is None else firsts
    return held_out_bounds([dict(enumerate(half)) for half in halves], places, point=PURE, final_runs=final_runs, alpha=0.001)


def test_rare_outputs_of_one_dataset_alone_are_promised_where_both_halves_show_them():
    rare, lucky = tally([490, 10], [500, 0]), tally([499, 1], [499, 1])

    assert 1.5 < held_out([rare], [rare])[0]
    assert held_out([rare], [lucky])[0] < 1 / 4
    assert promised([tally([980, 20], [1000, 0])], final_runs=10**5)[0] < held_out([rare], [rare])[0]


def test_halves_share_the_runs_of_a_dataset_each():
    one, other, joined = tally([490, 10], [500, 0]), tally([4000, 1000], [1, 99]), [tally([4490, 1010], [500, 0])]

    assert held_out([one, other], [one, other], firsts=[0, 0])[0] == held_out(joined, joined)[0]


def keys_above(threshold, data, n, rng):
    """Which of three keys are told: those of one record or more whose noisy counts are above a threshold."""
    counts = np.array([data.count(key) for key in "abc"])
    noisy = counts + rng.laplace(size=(n, 3))
    return (noisy > threshold) & (counts > 0)


def test_a_key_that_is_seldom_told_is_found_among_many_pairs():
    claim = Claim(ApproxDP(epsilon=1, delta="1e-6"))
    target = Target(sample=partial(keys_above, 4.2), claim=claim, data=list("aaabbaaaac"), name="keys")

    assert "refuted" == audit(target, alpha="0.001", runs=100_000, seed=1).results[0].verdict.value
