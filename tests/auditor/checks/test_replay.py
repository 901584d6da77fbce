"""Record and replay: what reaches the result past the releases is found, and adaptive use of releases is not accused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from dpaudit import ZCDP, ApproxDP, Claim, PureDP, Target, Verdict, audit
from dpaudit.auditor.checks.checking import check_properties
from dpaudit.auditor.checks.prices import SPENDING, check_spending
from dpaudit.auditor.checks.replay import LOGGED_SENSITIVITY, MEASURED_PRICE, SAME_OUTPUT, SAME_PATH, check_replay
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.pairs.strategies import neighbours
from dpaudit.errors import InvalidArgument
from dpaudit.loading import bundled_targets, load_targets
from mechanisms import (
    AboveThreshold,
    ExponentialMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    SparseVector,
    StabilityHistogram,
    VectorMechanism,
    source_from,
)

TOP = 9
COUNT = LaplaceMechanism(sensitivity=1, epsilon="1/2")
SUM = LaplaceMechanism(sensitivity=TOP, epsilon="1/2")


def count_and_sum(rows, rng):
    source = source_from(rng)
    return COUNT.release(len(rows), source), SUM.release(sum(rows), source)


def adaptive(rows, rng):
    source = source_from(rng)
    large = COUNT.release(len(rows), source) > 3
    return LaplaceMechanism(sensitivity=TOP, scale=18 if large else 180).release(sum(rows), source)


def adaptively_many(rows, rng):
    source = source_from(rng)
    return [COUNT.release(len(rows), source) for _ in range(abs(COUNT.release(len(rows), source)) % 4)]


def asked(rows, rng):
    run = AboveThreshold(sensitivity=1, epsilon=1).start(3, source_from(rng))
    return next((value for value in range(TOP) if run.ask(rows.count(value))), None)


def asked_for_numbers(rows, rng):
    run = SparseVector(sensitivity=1, epsilon=1, cutoff=2, number_share="1/2").start(0, source_from(rng))
    numbers = []
    while run.left and len(numbers) < TOP:
        numbers.append(run.ask_number(rows.count(len(numbers))))
    return numbers


def chosen(rows, rng):
    return ExponentialMechanism(sensitivity=1, epsilon=1).release([rows.count(value) for value in range(3)], source_from(rng))


def keys_with_counts(rows, rng):
    return StabilityHistogram(epsilon=1, delta="1/100").release(rows, source_from(rng))


def vector(rows, rng):
    return GaussianMechanism(sensitivity=TOP, sigma=20).release(np.array([sum(rows), 0]), source_from(rng)).tolist()


def clipped_vectors(rows, rng):
    mechanism = VectorMechanism(norm_bound=1, sigma=3, adjacency="add_remove")
    return mechanism.release(np.array(rows, dtype=float).reshape(len(rows), 1), source_from(rng)).tolist()


def clipped_vectors_without_tails(rows, rng):
    mechanism = VectorMechanism(norm_bound=1, epsilon=1, adjacency="add_remove")
    return mechanism.release(np.array([[row, 1.0] for row in rows]).reshape(len(rows), 2), source_from(rng)).tolist()


CORRECT = [
    count_and_sum,
    adaptive,
    adaptively_many,
    asked,
    asked_for_numbers,
    chosen,
    keys_with_counts,
    vector,
    clipped_vectors,
    clipped_vectors_without_tails,
]


def domain_from_the_data(rows, rng):
    return LaplaceMechanism(sensitivity=max([1, *rows]), epsilon=1).release(sum(rows), source_from(rng))


def keys_from_the_data(rows, rng):
    return COUNT.release(np.array([rows.count(key) for key in sorted({0, *rows})]), source_from(rng)).tolist()


def noise_scaled_by_the_data(rows, rng):
    return LaplaceMechanism(sensitivity=1, scale=1 + len(set(rows))).release(len(rows), source_from(rng))


def one_release_for_each_record(rows, rng):
    source = source_from(rng)
    return [COUNT.release(int(row > 4), source) for row in rows]


def wrong_sensitivity(rows, rng):
    return LaplaceMechanism(sensitivity=1, epsilon=1).release(sum(rows), source_from(rng))


def wrong_sensitivity_of_questions(rows, rng):
    run = AboveThreshold(sensitivity=1, epsilon=1).start(3, source_from(rng))
    return run.ask(sum(rows))


def threshold_from_the_data(rows, rng):
    run = AboveThreshold(sensitivity=1, epsilon=1).start(-len(rows), source_from(rng))
    return run.ask(len(rows))


def steps_that_nobody_clipped(rows, rng):
    mechanism = VectorMechanism(norm_bound=1, sigma=3, adjacency="add_remove")
    return mechanism.release_steps(np.array([sum(rows)]) * int(2 / mechanism.lattice), source_from(rng)).tolist()


def number_of_records_as_public(rows, rng):
    return SUM.release(sum(rows), source_from(rng)) / max(len(rows), 1)


def raw_beside_the_release(rows, rng):
    return SUM.release(sum(rows), source_from(rng)), max(rows, default=0)


def fails_on_large_records(rows, rng):
    noisy = SUM.release(sum(rows), source_from(rng))
    if TOP in rows:
        raise ValueError
    return noisy


BROKEN = [
    (domain_from_the_data, SAME_PATH, "parameters"),
    (keys_from_the_data, SAME_PATH, "dimension"),
    (noise_scaled_by_the_data, SAME_PATH, "parameters"),
    (one_release_for_each_record, SAME_PATH, "releases on the first dataset"),
    (wrong_sensitivity, LOGGED_SENSITIVITY, "sensitivity 1 in l1"),
    (wrong_sensitivity_of_questions, LOGGED_SENSITIVITY, "sensitivity 1 in linf"),
    (threshold_from_the_data, LOGGED_SENSITIVITY, "sensitivity 1 in linf"),
    (steps_that_nobody_clipped, LOGGED_SENSITIVITY, "sensitivity 1 in l2"),
    (number_of_records_as_public, SAME_OUTPUT, "every release gave the same"),
    (raw_beside_the_release, SAME_OUTPUT, "every release gave the same"),
    (fails_on_large_records, SAME_OUTPUT, "every release gave the same"),
]


def target_of(run, claim=None, **parts):
    relation = neighbours(st.integers(0, TOP), max_size=4)
    return Target(run=run, claim=Claim(claim or PureDP(epsilon=1)), **{"neighbours": relation, **parts})


def laws(run, claim=None, **parts):
    target = target_of(run, claim, **parts)
    return {found.property.name: found for found in check_replay(target, candidate_pairs(target), examples=40)}


@pytest.mark.parametrize("run", CORRECT)
def test_a_correct_function_is_not_accused_even_where_releases_decide_what_comes_next(run):
    assert {LOGGED_SENSITIVITY: "holds", SAME_PATH: "holds", SAME_OUTPUT: "holds"} == {
        name: found.property.status for name, found in laws(run).items()
    }


@pytest.mark.parametrize(("run", "name", "detail"), BROKEN, ids=[broken[0].__name__ for broken in BROKEN])
def test_each_kind_of_bug_is_named_and_shrunk_to_at_most_two_records(run, name, detail):
    found = laws(run)

    assert {name} == {law for law, one in found.items() if one.property.status == "violated"} - {MEASURED_PRICE}
    assert detail in found[name].property.detail
    assert 2 >= max(map(len, found[name].pair))


def test_a_false_sensitivity_refutes_where_the_claim_does_not_cover_what_was_read():
    assert "violated" == laws(wrong_sensitivity)[MEASURED_PRICE].property.status
    assert "holds" == laws(wrong_sensitivity, PureDP(epsilon=TOP))[MEASURED_PRICE].property.status

    def twice_too_far(rows, rng):
        return LaplaceMechanism(sensitivity=1, epsilon="1/100").release(sum(rows), source_from(rng))

    refuted, covered = audit(
        [target_of(twice_too_far, PureDP(epsilon=claimed), neighbours=[([1], [1, 2])]) for claimed in ("1/100", "1/50")],
        runs=3000,
        seed=1,
    ).results
    assert Verdict.REFUTED == refuted.verdict
    assert "A sensitivity that noise was scaled to is false" in refuted.summary
    assert Verdict.INCONCLUSIVE == covered.verdict
    assert "A sensitivity that noise was scaled to is false" in covered.summary


def test_what_passes_the_releases_by_is_never_called_consistent():
    result = audit(
        target_of(number_of_records_as_public, PureDP(epsilon=20), neighbours=[([1, 2], [1])]), runs=3000, seed=1
    ).results[0]

    assert Verdict.INCONCLUSIVE == result.verdict
    assert "Private data reach the result past the logged releases" in result.summary


def test_an_output_with_noise_of_its_own_is_not_judged():
    found = laws(lambda rows, rng: SUM.release(sum(rows), source_from(rng)) + rng.normal())

    assert "not applicable" == found[SAME_OUTPUT].property.status
    assert "holds" == found[LOGGED_SENSITIVITY].property.status


def test_releases_under_another_adjacency_are_not_compared():
    other = LaplaceMechanism(sensitivity=1, epsilon=1, adjacency="replace_one")
    found = laws(lambda rows, rng: other.release(sum(rows), source_from(rng)))

    assert "not applicable" == found[LOGGED_SENSITIVITY].property.status


def test_without_a_release_or_with_no_wish_for_it_nothing_is_replayed():
    assert {} == laws(lambda rows, rng: rng.laplace())
    assert {} == laws(wrong_sensitivity, primitives=None)
    with pytest.raises(InvalidArgument, match="DPA103"):
        target_of(wrong_sensitivity, primitives="all")


def test_the_records_of_given_data_are_left_out_as_far_as_they_go():
    found = laws(wrong_sensitivity, neighbours=None, data=[0, 5, 1, 7, 2, 3])

    assert [] == min(found[LOGGED_SENSITIVITY].pair)
    assert [2] <= max(found[LOGGED_SENSITIVITY].pair)


@pytest.mark.parametrize(
    ("run", "claim", "status"),
    [
        (count_and_sum, PureDP(epsilon=1), "holds"),
        (count_and_sum, PureDP(epsilon="1/2"), "violated"),
        (lambda rows, rng: [count_and_sum(rows, rng) for _ in range(2)], PureDP(epsilon=1), "violated"),
        (vector, ZCDP(rho="81/800"), "holds"),
        (keys_with_counts, ApproxDP(epsilon=1, delta="1/100"), "holds"),
    ],
)
def test_what_is_spent_adds_up_to_what_is_claimed(run, claim, status):
    target = target_of(run, claim)
    found = check_spending(target, candidate_pairs(target)[0])

    assert (SPENDING, status) == (found.property.name, found.property.status)


def test_every_check_is_made_at_once_and_a_wrong_argument_refused():
    names = [found.property.name for found in check_properties(target_of(count_and_sum), examples=5)]

    assert [LOGGED_SENSITIVITY, SAME_PATH, SAME_OUTPUT, SPENDING] == names
    for wrong in ((target_of(count_and_sum), -1), (3, 5)):
        with pytest.raises(InvalidArgument, match="DPA10"):
            check_properties(wrong[0], examples=wrong[1])


def test_of_all_bundled_targets_those_with_a_false_log_are_accused_and_no_other():
    accused = {
        (name, found.property.name)
        for name in bundled_targets()
        for found in check_properties(load_targets(name)[0], examples=0)
        if found.property.status == "violated"
    }
    assert {
        ("broken_keys", LOGGED_SENSITIVITY),
        ("broken_mean", SAME_PATH),
        ("broken_noise", LOGGED_SENSITIVITY),
        ("broken_noise", MEASURED_PRICE),
        ("broken_running_counts", LOGGED_SENSITIVITY),
    } == accused
