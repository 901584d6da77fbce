"""The first runs: how to run a target, what it does on both datasets, and whether its declared sensitivity is true."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import Claim, PureDP, Sensitivity, Target, Verdict, audit
from dpaudit.auditor.checks.properties import MOST_CHECK_RUNS, check_target, runs_of_checks
from dpaudit.auditor.checks.query_laws import SENSITIVITY, check_sensitivity
from dpaudit.auditor.data.distance import distance_exceeds, numbers_in
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.runs.workload import Subject
from dpaudit.errors import InvalidArgument

REAL = st.one_of(st.integers(-1000, 1000), st.fractions(), st.floats(-1e6, 1e6))


ANY = {"run": lambda data, rng: 0, "claim": Claim(PureDP(epsilon=1))}


def checks(neighbours=((0, 1),), **parts):
    target = Target(claim=Claim(PureDP(epsilon=1)), neighbours=list(neighbours), **parts)
    return check_target(Subject(target, candidate_pairs(target)), 3, 0)


def status(found, name):
    return {check.name: check.status for check in found.properties}[name]


@pytest.mark.parametrize("pairs", [1, 2, 5, 12, 30])
@pytest.mark.parametrize("role", ["run", "sample"])
def test_the_checks_stay_within_the_runs_set_aside_for_them(pairs, role):
    calls = []

    def run(data, rng):
        calls.append(1)
        return rng.laplace()

    def sample(data, n, rng):
        calls.extend([1] * n)
        return rng.laplace(size=n)

    found = checks([(0, 1)] * pairs, **{role: {"run": run, "sample": sample}[role]})

    assert found.runs == len(calls)
    assert len(calls) <= runs_of_checks(candidate_pairs(Target(**ANY, neighbours=[(0, 1)] * pairs))) - 4


def test_an_ordinary_target_passes_every_check():
    found = checks(run=lambda data, rng: data + rng.laplace())

    assert {"holds"} == {check.status for check in found.properties}
    assert "" == found.failure
    assert not found.manner.single
    assert not found.manner.copies


FORMS = "outputs have the same form on both datasets"
RANDOM = "output is random or does not depend on the data"
REPEATS = "a run repeats from its seed"
UNCHANGED = "input is left unchanged"


def test_one_to_three_given_pairs_get_the_runs_that_they_always_got():
    for pairs, runs in ((1, 18), (2, 26), (3, 26)):
        assert runs == checks([(0, 1)] * pairs, run=lambda data, rng: rng.laplace()).runs
        assert MOST_CHECK_RUNS == runs_of_checks(candidate_pairs(Target(**ANY, neighbours=[(0, 1)] * pairs)))


@pytest.mark.parametrize("pairs", [4, 8, 30])
def test_checks_see_what_one_of_many_pairs_shows(pairs):
    neighbours = [(2 * number, 2 * number + 1) for number in range(pairs)]
    last = neighbours[-1][1]

    assert "violated" == status(checks(neighbours, run=lambda data, rng: None if data == last else rng.laplace()), FORMS)
    assert "violated" == status(checks(neighbours, run=lambda data, rng: data), RANDOM)
    assert "note" == status(checks(neighbours, run=lambda data, rng: 0.0 if data == last else rng.laplace()), RANDOM)


def test_pairs_that_were_not_looked_at_are_counted():
    neighbours = [(2 * number, 2 * number + 1) for number in range(50)]
    found = {check.name: check for check in checks(neighbours, run=lambda data, rng: rng.laplace()).properties}

    assert {"looked at 40 of 50 pairs"} == {found[FORMS].detail, found[RANDOM].detail}
    assert 40 == found[FORMS].cases


def test_an_output_that_never_varies_on_one_dataset_is_noted_with_its_side():
    found = {check.name: check for check in checks(run=lambda data, rng: rng.laplace() if data else 0.0).properties}

    assert ("note", 1) == (found[RANDOM].status, found[RANDOM].cases)
    assert "each of the 8 runs on the first dataset gave one and the same output" in found[RANDOM].detail


def test_runs_without_an_output_are_not_said_to_repeat():
    def run(data, rng):
        if rng.random() < 0.9 or data:
            raise ValueError
        return 1.0

    assert status(checks(run=run), REPEATS) in {"not run", "holds"}
    assert "not run" == status(checks(run=lambda data, rng: data["missing"]), REPEATS)


def test_a_dataset_that_cannot_be_written_down_is_not_said_to_be_unchanged():
    assert "not run" == status(checks([(lambda: 0, lambda: 1)], run=lambda data, rng: data() + rng.laplace()), UNCHANGED)


def test_randomness_of_its_own_on_one_dataset_alone_is_noted():
    generator = np.random.default_rng()

    assert "note" == status(checks(run=lambda data, rng: (generator if data else rng).laplace()), REPEATS)


def test_a_constant_output_is_named():
    found = checks(run=lambda data, rng: 7)

    assert "the output was the same constant in every run" in {check.detail for check in found.properties}


def test_one_failed_call_makes_a_sample_function_run_one_by_one():
    def fragile(data, n, rng):
        if data:
            raise ValueError
        return rng.laplace(size=n)

    assert checks(sample=fragile).manner.single


@given(
    values=st.lists(REAL, min_size=1, max_size=4), shift=st.integers(-5, 5), metric=st.sampled_from(["l1", "l2", "linf", "hamming"])
)
def test_a_value_is_at_distance_zero_from_itself_and_a_shift_at_its_own_distance(values, shift, metric):
    exact = [Fraction(value) for value in values]
    moved = [value + shift for value in exact]
    size = {"l1": abs(shift) * len(values), "linf": abs(shift), "hamming": len(values) * (shift != 0)}

    assert not distance_exceeds(exact, exact, metric, Fraction(0))
    if metric == "l2":
        assert not distance_exceeds(exact, moved, metric, Fraction(abs(shift) * len(values)))
    else:
        assert not distance_exceeds(exact, moved, metric, Fraction(size[metric]))
        assert distance_exceeds(exact, moved, metric, Fraction(size[metric]) - Fraction(1, 10**30))


def test_a_float_tie_is_no_violation_and_a_real_excess_is_one():
    assert not distance_exceeds(0.1 + 0.2, 0.2, "l1", Fraction("0.1"))
    assert not distance_exceeds(np.float64(1.0) + 1e-15, 0.0, "l1", Fraction(1))
    assert distance_exceeds(1.000001, 0.0, "l1", Fraction(1))
    assert distance_exceeds(10**30 + 1, 10**30 - 1, "l1", Fraction(1))


def test_another_length_is_further_than_any_bound():
    assert distance_exceeds([1, 2], [1], "linf", Fraction(10**9))


@pytest.mark.parametrize("value", [math.nan, math.inf, "text", None, object(), Decimal("NaN"), np.array([1.0, math.nan])])
def test_what_is_no_finite_number_has_no_distance(value):
    with pytest.raises(InvalidArgument, match=r"DPA10[25]"):
        numbers_in(value)


def declared(query, bound, *neighbours, metric="l1"):
    target = Target(
        run=lambda data, rng: 0,
        claim=Claim(PureDP(epsilon=1)),
        neighbours=list(neighbours),
        sensitivity=Sensitivity(query=query, bound=bound, metric=metric),
    )
    found = check_sensitivity(target, candidate_pairs(target)).property
    assert SENSITIVITY == found.name
    return found


def test_a_true_sensitivity_holds_on_every_pair():
    found = declared(len, 1, ([1, 2], [1]), ([1], []))

    assert ("holds", 2) == (found.status, found.cases)


def test_a_false_sensitivity_names_the_pair_and_no_value():
    found = declared(sum, 10, ([1, 2], [1]), ([1, 12345], [1]))

    assert ("violated", 2) == (found.status, found.cases)
    assert "pair 1 (record 1 removed, 2 -> 1 records)" in found.detail
    assert "12345" not in found.detail


def test_pairs_on_which_a_query_has_no_value_are_not_counted():
    found = declared(lambda data: data["sum"], 1, ({"sum": 1}, {"sum": 2}), ({}, {"other": 1}))

    assert ("holds", 1) == (found.status, found.cases)


def test_int8_sums_that_wrap_are_caught():
    found = declared(lambda data: np.array(data, dtype=np.int8).sum(dtype=np.int8), 100, ([28, 100], [28]))

    assert "violated" == found.status


@pytest.mark.parametrize(
    ("query", "status"),
    [
        (lambda data: 1 / len(data), "violated"),
        (lambda data: math.nan if data else 0.0, "violated"),
        (lambda data: data["missing"], "not run"),
    ],
)
def test_a_query_that_fails_is_judged_by_where_it_fails(query, status):
    assert status == declared(query, 1, ([1], [])).status


@pytest.mark.parametrize(
    ("run", "taken"),
    [
        (lambda records: 0, "records"),
        (lambda: 0, ""),
        (lambda data, rng, scale: 0, "data, rng, scale"),
        (lambda data, *, rng: 0, "data, *, rng"),
    ],
)
def test_a_function_that_does_not_take_the_call_is_told_what_it_is_called_with_and_nothing_is_said_of_outputs(run, taken):
    found = audit(Target(run=run, claim=Claim(PureDP(epsilon=1)), data=[1, 2, 3, 4]), runs=2000).results[0]
    assert Verdict.FAILED == found.verdict
    assert f"the function takes ({taken}) and is called with (data, rng)" in found.failure
    assert {"not run"} == {one.status for one in found.properties if "output" in one.name or "pairs of few" in one.name}


def test_a_function_that_raises_in_every_run_has_no_property_of_outputs():
    def fails(data, rng):
        raise KeyError(data[0])

    found = audit(Target(run=fails, claim=Claim(PureDP(epsilon=1)), data=[1, 2, 3, 4]), runs=2000).results[0]
    assert "every run raised; the last error was KeyError at test_properties.py" in found.failure
    assert {("not run", "no run gave an output")} == {(one.status, one.detail) for one in found.properties if "output" in one.name}
