"""Pairs of few and of tied records made from data: neighbours of the claim, and what they show of a release."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import Adjacency, Claim, PureDP, Sensitivity, Target, audit
from dpaudit.auditor.checks.properties import PARTS
from dpaudit.auditor.checks.query_laws import SENSITIVITY
from dpaudit.auditor.data.records import same
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.results import Verdict

AGES = [20, 80, 21, 79, 20, 80, *(20 + 7 * number % 61 for number in range(54))]
TABLE = np.array([[age, age * 3 % 50] for age in AGES], dtype=float)
CITIES = [{"id": number % 7, "city": "abc"[number % 3], "age": age, "label": number % 2} for number, age in enumerate(AGES)]
PAIRS = [(TABLE[:, :1], np.arange(60) % 2), ([[age] for age in AGES], ["a", "b"] * 30)]
GRAPH = {number: [(number + 1) % 9, (number - 1) % 9] for number in range(9)}
HAMMING = Adjacency("hamming", radius=2)
PER_USER = [Adjacency(kind, unit="user:id") for kind in ("add_remove", "replace_one", "zero_out", "label")]
BALLS = [Adjacency("norm_ball", norm=norm, radius=1) for norm in ("l1", "l2", "linf")]
KINDS = ["add_remove", "replace_one", "zero_out", HAMMING]
FORMS = [
    *((data, kind) for data in (AGES, tuple(AGES), TABLE, TABLE[:, 0], TABLE.tolist(), CITIES) for kind in KINDS),
    *((CITIES, adjacency) for adjacency in PER_USER),
    *((data, "label") for data in (TABLE, *PAIRS)),
    *((tuple(range(5)), ball) for ball in BALLS),
    (GRAPH, "edge"),
    (GRAPH, "node"),
]


def target(data, adjacency="add_remove", **parts):
    given = parts if {"run", "sample"} & set(parts) else {"run": lambda data, rng: 0} | parts
    return Target(claim=Claim(PureDP(epsilon=1), adjacency=adjacency), data=data, **given)


def parts_of(data, adjacency="add_remove"):
    return [pair for pair in candidate_pairs(target(data, adjacency)) if pair.is_part]


@pytest.mark.parametrize(("data", "adjacency"), FORMS, ids=lambda value: str(value)[:24].replace("\n", " "))
def test_every_form_of_data_gives_neighbours_of_few_or_tied_records(data, adjacency):
    relation = Adjacency.of(adjacency)
    found = parts_of(data, adjacency)
    assert found
    for pair in found:
        check_neighbours((pair.first, pair.second), relation)
        assert not same(pair.first, pair.second)
        assert type(data) is type(pair.first) is type(pair.second)
        if relation.kind not in {"add_remove", "node"}:
            assert len(data) == len(pair.first) == len(pair.second)


def test_entries_that_no_float_holds_are_tied_too():
    pairs = [(pair.first, pair.second) for pair in parts_of([10**400, 1], Adjacency("norm_ball", norm="l1", radius=1))]

    assert ([1, 1], [0, 1]) in pairs
    assert ([10**400, 10**400], [10**400 + 1, 10**400]) in pairs


@pytest.mark.parametrize("data", [AGES, TABLE, CITIES])
def test_sizes_from_none_to_three_and_ties_are_among_the_pairs(data):
    found = parts_of(data)
    assert {(1, 0), (2, 1), (3, 2)} <= {(len(pair.first), len(pair.second)) for pair in found}
    tied = [pair.second for pair in found if len(pair.second) > 3]
    assert any(all(same(record, side[0]) for record in side) for side in tied)
    assert any(2 == len({str(record) for record in side}) for side in tied)


RECORDS = st.integers(-3, 3) | st.none() | st.text(max_size=1) | st.tuples(st.integers(0, 2), st.floats())


@given(data=st.lists(RECORDS, min_size=1, max_size=9), adjacency=st.sampled_from(["add_remove", "zero_out"]))
def test_any_list_of_records_gives_pairs_of_neighbours(data, adjacency):
    try:
        found = parts_of(data, adjacency)
    except Exception as error:  # noqa: BLE001 - data in which nothing can be changed are refused
        assert "DPA409" in str(error)  # noqa: PT017
        return
    for pair in found:
        check_neighbours((pair.first, pair.second), Adjacency(adjacency))
        assert not same(pair.first, pair.second)


def noisy(query, scale):
    """Laplace noise on a query; its scale may be a function of the data."""

    def sample(data, n, rng):
        return query(data) + rng.laplace(scale=scale(data) if callable(scale) else scale, size=n)

    return sample


def mean_by_true_count(data, n, rng):
    # A sum of what is not clipped is refuted on larger values than the data hold.
    return (np.clip(data, 0, 100).sum() + rng.laplace(scale=100, size=n)) / max(len(data), 1)


def mean_by_noisy_count(data, n, rng):
    return (np.clip(data, 0, 100).sum() + rng.laplace(scale=200, size=n)) / np.maximum(1, len(data) + rng.laplace(scale=2, size=n))


def exact_if_single(data, n, rng):
    return np.full(n, float(data[0])) if len(data) == 1 else noisy(sum, 100)(data, n, rng)


def exact_if_tied(data, n, rng):
    return np.full(n, float(data[0])) if len(set(data)) == 1 else noisy(sum, 100)(data, n, rng)


def by_size(bound):
    return lambda data: bound / max(len(data), 1)


def median(data):
    return float(np.median(data)) if len(data) else 0.0


def mean(data):
    return float(np.mean(data)) if len(data) else 0.0


DEFECTS = {
    "true count": (40_000, mean_by_true_count, mean_by_noisy_count, "add_remove"),
    "a single record": (5_000, exact_if_single, noisy(sum, 100), "add_remove"),
    "tied records": (5_000, exact_if_tied, noisy(sum, 100), "add_remove"),
    "median replaced": (5_000, noisy(median, by_size(100)), noisy(mean, by_size(100)), "replace_one"),
    "median, one null": (5_000, noisy(median, by_size(100)), noisy(mean, by_size(100)), "zero_out"),
}


FEW = ("built from copies of record", "a record alone", "two records", "three records", "between equal ones", "the first records")


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_that_the_whole_table_hides_is_refuted_and_its_twin_is_not(name):
    runs, broken, sound, adjacency = DEFECTS[name]
    found, twin = (
        audit(target(AGES, adjacency, sample=one), runs=runs, alpha="1e-9", seed=1).results[0] for one in (broken, sound)
    )
    assert Verdict.REFUTED == found.verdict
    assert Verdict.REFUTED != twin.verdict
    assert any(few in found.attack.pair.difference for few in FEW)


def needs(least):
    def run(data, rng):
        if len(data) < least:
            raise ValueError("too few")
        return sum(data) + rng.laplace(scale=100)

    return run


@pytest.mark.parametrize("least", [1, 2, 3])
def test_a_function_that_raises_on_all_smaller_data_is_refuted_where_records_come_and_go(least):
    result = audit(target(AGES, run=needs(least)), runs=6_000, alpha="1e-9", seed=1).results[0]
    assert Verdict.REFUTED == result.verdict
    assert "exception" == result.diagnosis.cause


@pytest.mark.parametrize(("runs", "verdict"), [(6_000, Verdict.INCONCLUSIVE), (20_000, Verdict.REFUTED)])
def test_the_size_from_which_a_function_gives_outputs_is_searched_or_said_to_be_open(runs, verdict):
    least = len(AGES) // 2
    result = audit(target(AGES, run=needs(least)), runs=runs, seed=1).results[0]
    found = {check.name: check for check in result.properties}
    assert verdict == result.verdict
    assert "not run" == found[PARTS].status
    assert "the function raised ValueError on every dataset of fewer than" in found[PARTS].detail
    assert "give an output for any number of them, or claim replace_one" in found[PARTS].detail


def test_a_function_that_raises_by_value_and_not_by_size_is_refuted():
    def scaled(data, rng):
        if len(set(data)) == 1:
            raise ZeroDivisionError
        return sum(data) + rng.laplace(scale=100)

    assert Verdict.REFUTED == audit(target(AGES, run=scaled), runs=6_000, alpha="1e-9", seed=1).results[0].verdict


def test_a_query_without_a_value_on_no_records_keeps_its_sensitivity_and_a_mean_does_not():
    def declared(query, bound):
        found = audit(target(AGES, sensitivity=Sensitivity(query=query, bound=bound), run=needs(0)), runs=3_000, seed=1).results[0]
        return {check.name: check.status for check in found.properties}[SENSITIVITY]

    assert "holds" == declared(max, 80)
    assert "violated" == declared(lambda data: sum(data) / len(data), "80/60")


def test_a_bound_for_the_size_of_the_data_holds_where_neighbours_have_that_size():
    declared = Sensitivity(query=lambda data: sum(data) / len(data), bound="80/60")
    found = audit(target(AGES, "replace_one", sensitivity=declared, run=needs(60)), runs=3_000, seed=1).results[0]
    assert {"holds"} == {check.status for check in found.properties if check.name == SENSITIVITY}
    assert {60} == {len(pair.second) for pair in parts_of(AGES, "replace_one")}


@pytest.mark.parametrize("runs", [500, 1_000, 1_500])
def test_few_runs_go_to_fewer_pairs_and_the_report_says_to_how_many(runs):
    result = audit(target(AGES, sample=noisy(len, 1)), runs=runs, seed=1).results[0]
    pairs = len(candidate_pairs(target(AGES)))
    (found,) = (check for check in result.properties if check.name == PARTS)
    assert result.attack.runs <= runs
    assert result.attack.pairs_tried < pairs
    assert ("not run", f"the runs suffice for {result.attack.pairs_tried} of {pairs} pairs") == (found.status, found.detail)
    assert found.detail in result.summary


def test_not_a_number_among_the_entries_of_a_vector_makes_no_tie():
    assert [] == parts_of((1.0, math.nan), BALLS[0])
