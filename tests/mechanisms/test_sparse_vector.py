"""Sparse vector: runs that end and cannot be copied, lattices, the release log, refusals."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accounting import price_releases
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from mechanisms import AboveThreshold, SparseVector, source_from


def sparse(**changes):
    return SparseVector(**{"sensitivity": 1, "epsilon": 1, **changes})


def test_a_run_stops_at_its_last_positive_answer():
    run = sparse(cutoff=2, epsilon=50).start(100)
    assert [False, True, False, True] == [run.ask(value) for value in (-900, 900, -900, 900)]
    assert 0 == run.left
    for ask in (run.ask, run.ask_number):
        with pytest.raises(DpauditError, match=r"DPA(204|106)"):
            ask(-900)
    with pytest.raises(BudgetExceeded, match="DPA204"):
        run.ask(900)


def test_threads_that_share_a_run_get_no_more_positive_answers_than_it_may_give():
    run, found = sparse(cutoff=50, epsilon=1000).start(0), []

    def ask():
        try:
            while True:
                found.append(run.ask(10**6))
        except BudgetExceeded:
            pass

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [True] * 50 == found


def test_an_open_run_cannot_be_copied_pickled_or_used_in_another_process(monkeypatch):
    run = sparse().start(0)
    for clone in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            clone(run)
    monkeypatch.setattr("mechanisms.comparisons.os.getpid", lambda: -1)
    with pytest.raises(BudgetExceeded, match="DPA204"):
        run.ask(0)


def test_the_noisy_threshold_is_not_shown():
    run = sparse().start(0)
    assert str(run._border) not in repr(run).replace(hex(id(run)), "")
    assert not hasattr(run, "__dict__")


def test_a_lattice_scales_values_threshold_and_noise():
    def source():
        return source_from(np.random.default_rng(24))

    whole, fine = sparse(cutoff=3, number_share="1/4"), sparse(cutoff=3, number_share="1/4", sensitivity="1/4", lattice="1/4")
    answers, numbers = whole.number_releases(2, [1, 2, 5], 500, source())
    same, quarter = fine.number_releases("1/2", ["1/4", 0.5, Fraction(5, 4)], 500, source())
    np.testing.assert_array_equal(answers, same)
    np.testing.assert_array_equal(numbers / 4, quarter)
    assert np.float64 == quarter.dtype
    run = sparse(epsilon=50, number_share="1/2", sensitivity="1/3", lattice="1/3").start(0)
    assert 1 == (3 * run.ask_number(1000)).denominator


def test_whole_numbers_of_any_size_are_compared_one_at_a_time():
    run = sparse(number_share="1/2", cutoff=2).start(2**100)
    assert run.ask(0) is False
    assert run.ask(2**101) is True
    assert abs(run.ask_number(2**101) - 2**101) < 10**6


@pytest.mark.parametrize(
    ("code", "threshold", "values"),
    [
        ("DPA101", None, [1]),
        ("DPA102", math.nan, [1]),
        ("DPA107", "1/2", [1]),
        ("DPA101", 0, [1, None]),
        ("DPA101", 0, [True]),
        ("DPA102", 0, [math.inf]),
        ("DPA107", 0, [1, "1/3"]),
        ("DPA109", 0, []),
        ("DPA109", 0, np.array([], dtype=np.int64)),
        ("DPA105", 0, "123"),
        ("DPA105", 0, 7),
        ("DPA105", 0, np.array([[1, 2]])),
        ("DPA105", 0, np.array([True])),
        ("DPA102", 0, np.array([math.nan])),
        ("DPA108", 0, [2**60 + 1]),
        ("DPA108", 2**60 + 1, [1]),
    ],
)
def test_bad_input_is_refused_before_bits_are_drawn_or_anything_is_logged(code, threshold, values, unasked):
    single = AboveThreshold(sensitivity=1, epsilon=1)
    calls = [lambda: sparse().releases(threshold, values, 2, unasked), lambda: single.releases(threshold, values, 2, unasked)]
    if not (code == "DPA108" and isinstance(threshold, int) and threshold):
        calls.append(lambda: single.release(threshold, values, unasked))
    with recording() as log:
        for call in calls:
            with pytest.raises(DpauditError, match=code):
                call()
    assert [] == log


@pytest.mark.parametrize("value", [None, "seventeen", math.nan, 0.5, True, [1]])
def test_a_bad_value_is_refused_without_spending_an_answer(value, unasked):
    run = sparse(number_share="1/2").start(0)
    run._bits = unasked
    for ask in (run.ask, run.ask_number):
        with pytest.raises(DpauditError) as caught:
            ask(value)
        assert "seventeen" not in caught.value.message
    assert 1 == run.left


def test_extreme_values_and_noise_do_not_overflow(unasked):
    rows = sparse(epsilon=1).releases(2**60, [-(2**60), 2**60, 0], 1000, source_from(np.random.default_rng(25)))
    assert [0] * 1000 == rows[:, 0].tolist()
    assert {0, 1} == set(rows[:, 1].tolist())
    for wide in (sparse(epsilon=Fraction(1, 2**57)), sparse(epsilon=1, number_share=Fraction(1, 2**57))):
        with recording() as log, pytest.raises(DpauditError, match="DPA108"):
            wide.releases(0, [0], 1, unasked)
        assert [] == log


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA104", {"sensitivity": 0}),
        ("DPA107", {"sensitivity": "1/2"}),
        ("DPA104", {"epsilon": 0}),
        ("DPA102", {"epsilon": math.inf}),
        ("DPA104", {"lattice": -1}),
        ("DPA103", {"cutoff": 0}),
        ("DPA105", {"cutoff": 1.0}),
        ("DPA105", {"monotonic": 1}),
        ("DPA104", {"threshold_share": 0}),
        ("DPA103", {"threshold_share": 1}),
        ("DPA103", {"number_share": 1}),
        ("DPA103", {"number_share": "-1/2"}),
        ("DPA103", {"number_share": "1/2", "threshold_share": "1/2"}),
        ("DPA103", {"adjacency": "nearby"}),
    ],
)
def test_bad_parameters_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        sparse(**changes)
    if not {"cutoff", "number_share"} & set(changes):
        with pytest.raises(DpauditError, match=code):
            AboveThreshold(**{"sensitivity": 1, "epsilon": 1, **changes})


def test_numbers_need_a_budget(unasked):
    run = sparse().start(0)
    run._bits = unasked
    with pytest.raises(DpauditError, match="DPA106"):
        run.ask_number(1)
    with recording() as log, pytest.raises(DpauditError, match="DPA106"):
        sparse().number_releases(0, [1], 1, unasked)
    assert [] == log


@pytest.mark.parametrize("count", [0, True, 2.0, None])
def test_bad_counts_are_refused(count, unasked):
    with pytest.raises(DpauditError, match=r"DPA10[35]"):
        sparse().releases(0, [1], count, unasked)


@pytest.mark.parametrize(
    "mechanism",
    [
        sparse(epsilon="7/5", cutoff=3, number_share="1/10", adjacency="replace_one"),
        sparse(epsilon="7/5", monotonic=True, sensitivity=2, lattice="1/2"),
        AboveThreshold(sensitivity=5, epsilon="7/5"),
        AboveThreshold(sensitivity=5, epsilon="7/5", monotonic=True, threshold_share="1/3"),
    ],
    ids=["numbers", "monotonic", "single", "single monotonic"],
)
def test_a_run_is_logged_once_when_it_starts_and_priced_at_its_epsilon(mechanism):
    with recording() as log:
        run = mechanism.start(0)
        assert 1 == len(log)
        run.ask(-(10**6))
        run.ask(-(10**6))
        mechanism.releases(0, [1, 2], 3, source_from(np.random.default_rng(1)))
    assert [(1, 1, True), (1, 3, False)] == [(release.dimension, release.count, release.secure) for release in log]
    for release in log:
        assert (mechanism.sensitivity, mechanism.adjacency) == (release.sensitivity, release.adjacency)
        assert sorted(release.parameters) == list(release.parameters)
    whole = price_releases(log[:1])
    assert Fraction(7, 5) == mechanism.claim.guarantee.epsilon == mechanism.loss.epsilon(delta=0).upper
    assert Fraction(7, 5) == whole.epsilon(delta=0).upper
    for epsilon in ("0", "1/2", "1"):
        assert mechanism.loss.delta(epsilon=epsilon).upper == whole.delta(epsilon=epsilon).upper
        assert 0 == whole.delta(epsilon=epsilon).lower
    assert Fraction(28, 5) == price_releases(log).epsilon(delta=0).upper


def test_mechanisms_are_values_that_say_what_they_are():
    for mechanism in (sparse(), sparse(monotonic=True, cutoff=3, epsilon="7/3"), AboveThreshold(sensitivity=1, epsilon=2)):
        again = pickle.loads(pickle.dumps(mechanism))
        assert mechanism == again
        assert hash(mechanism) == hash(again)
        text = mechanism.to_dict()
        assert type(mechanism).__name__ == text["mechanism"]
        assert str(mechanism.threshold_share) == text["threshold_share"]
        assert str(mechanism.adjacency) in mechanism.describe()
