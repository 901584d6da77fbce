"""Running sums with correlated noise: exact rows, right sensitivity, sums from the rows alone, one price for a whole stream."""

from __future__ import annotations

import itertools
import math
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import CyclicPoisson, FixedOrder, MinSeparation, Single, matrix_mechanism, prefix_root, price_releases
from dpaudit.accounting import sensitivity as matrix_sensitivity
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from mechanisms import InsecureSeededSourceForTestsOnly, PrefixSums
from mechanisms.laws.law import Sampler
from mechanisms.prefix_sums import Recovery
from tests.support.sources import TapeSource

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

COLUMNS = [("1",), ("1", "1/2", "3/8", "5/16"), ("1", "-1/2"), ("3/4", "0", "5/4"), ("1", "1")]


def stream(**changes):
    return PrefixSums(**{"steps": 4, "sensitivity": 1, "sigma": 2, **changes})


def seeded():
    return InsecureSeededSourceForTestsOnly(41)


class SmallNoise:
    """Noise that is -1 or 0 with a bit of the tape each, or no noise at all."""

    def __init__(self, bits=1):
        def many(source, count, _):
            return source.uniform(bits, count).astype(np.int64) - 1 if bits and count else np.zeros(count, dtype=np.int64)

        self.sampler = Sampler(many, lambda source: source.bits(bits) - 1, 2)


def with_noise(mechanism, law):
    mechanism.__dict__["_noise"] = replace(mechanism._noise, law=law)
    return mechanism


def exact_sums(column, rows):
    """Running sums of the solution of C v = rows, in fractions."""
    solution = []
    for step, row in enumerate(rows):
        known = sum((column[back] * solution[step - back] for back in range(1, min(step, len(column) - 1) + 1)), Fraction(0))
        solution.append((row - known) / column[0])
    return list(itertools.accumulate(solution))


@pytest.mark.parametrize("column", COLUMNS)
@given(values=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=4))
def test_without_noise_the_sums_are_those_of_the_values(column, values):
    mechanism = with_noise(stream(coefficients=column), SmallNoise(0))
    run = mechanism.start(seeded())
    assert list(itertools.accumulate(values)) == mechanism.release(values, seeded()).tolist() == [run.add(v) for v in values]


@pytest.mark.parametrize("column", COLUMNS)
def test_every_run_is_the_matrix_times_the_values_plus_draws_on_every_tape(column):
    mechanism = with_noise(stream(coefficients=column), SmallNoise())
    unit = math.lcm(*(value.denominator for value in mechanism.coefficients))
    for values in itertools.product((-2, 1, 3), repeat=3):
        clean = [sum(c * v for c, v in zip(mechanism.coefficients, values[step::-1], strict=False)) for step in range(3)]
        for tape in range(8):
            draws = [(tape >> 2 - step & 1) - 1 for step in range(3)]
            sums = exact_sums(mechanism.coefficients, [row + Fraction(draw, unit) for row, draw in zip(clean, draws, strict=True)])
            run = mechanism.start(source := TapeSource(tape, 3))
            found = [run.add(value) for value in values]
            assert found == mechanism.release(values, TapeSource(tape, 3)).tolist()
            assert 0 == source.remaining
            assert all(abs(one - exact) <= Fraction(51, 100) for one, exact in zip(found, sums, strict=True))


@given(
    column=st.lists(st.integers(-4, 4).map(lambda entry: Fraction(entry, 4)), max_size=4).map(lambda rest: (Fraction(1), *rest)),
    rows=st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=8),
)
def test_sums_are_those_of_the_inverse_matrix_to_half_a_step(column, rows):
    """Every solution is off by half a part of 2^-12; what that does to a sum grows with the sums of the inverse matrix."""
    grown = exact_sums(column, [1] + [0] * (len(rows) - 1))
    allowed = Fraction(1, 2) + Fraction(1, 2**12) * sum(map(abs, grown))
    exact = exact_sums(column, [Fraction(row, 4) for row in rows])
    for kind in (int, lambda row: np.array([row, -row])):
        recovery = Recovery([int(4 * entry) for entry in column])
        for row, sum_ in zip(rows, exact, strict=True):
            found = np.atleast_1d(recovery.next(kind(row))).tolist()
            assert all(abs(one - sign * sum_) <= allowed for one, sign in zip(found, (1, -1), strict=False))


PATTERNS: dict[str, tuple[object, Callable[[tuple[int, ...]], bool]]] = {
    "single": (Single(), lambda steps: len(steps) == 1),
    "epochs": (FixedOrder(epochs=2, steps=3), lambda steps: len(steps) == 2 and steps[1] == steps[0] + 3),
    "apart": (
        MinSeparation(2, participations=3),
        lambda steps: len(steps) <= 3 and all(later - earlier >= 2 for earlier, later in itertools.pairwise(steps)),
    ),
}


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_record_moves_the_rows_further_than_is_logged_and_some_record_does(pattern, adjacency):
    participation, is_allowed = PATTERNS[pattern]
    mechanism = stream(steps=6, sensitivity=3, participation=participation, adjacency=adjacency)
    longest, column = Fraction(0), [*mechanism.coefficients, *[Fraction(0)] * 6]
    for size in range(1, 7):
        for steps in filter(is_allowed, itertools.combinations(range(6), size)):
            for signs in itertools.product((-3, 3), repeat=size):
                rows = [
                    sum(sign * column[row - step] for sign, step in zip(signs, steps, strict=True) if step <= row)
                    for row in range(6)
                ]
                longest = max(longest, sum((row**2 for row in rows), Fraction(0)))
    moved = mechanism._noise.record.sensitivity / (2 if adjacency == "replace_one" else 1)
    assert longest <= moved**2 <= longest * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("participation", [Single(), FixedOrder(epochs=4, steps=8), MinSeparation(8, participations=3)])
@pytest.mark.parametrize("adjacency", ["add_remove", "zero_out", "replace_one"])
def test_a_stream_costs_what_its_matrix_mechanism_costs(participation, adjacency):
    mechanism = PrefixSums(
        steps=32, sensitivity="5/2", noise_multiplier=3, coefficients=prefix_root(bands=8), participation=participation,
        adjacency=adjacency,
    )  # fmt: skip
    theory = matrix_mechanism(mechanism.strategy, noise_multiplier=3, participation=participation, adjacency=adjacency)
    for epsilon in (0, 1, 3):
        found, exact = (loss.delta(epsilon=epsilon).upper for loss in (mechanism.loss, theory))
        assert float(found / exact) == pytest.approx(1, rel=1e-14)
    moves = 2 if adjacency == "replace_one" else 1
    assert 0 == mechanism.loss.delta(epsilon=1).lower, "sums are rounded, so that less may be lost than the rows lose"
    reach = moves * mechanism.sensitivity * matrix_sensitivity(mechanism.strategy, participation).upper
    assert float(reach / mechanism.sigma) == pytest.approx(float(mechanism.claim.guarantee.mu), rel=1e-14)


def test_the_log_holds_a_stream_once_and_prices_it_as_the_mechanism_does():
    mechanism = stream(steps=5, lattice="1/4")
    with recording() as log:
        run = mechanism.start()
        for value in ("1/4", 2, 0):
            run.add(value)
        mechanism.releases([1, 2], 7, seeded())
    assert [("rounded_gaussian", 5, 1, True), ("rounded_gaussian", 2, 7, False)] == [
        (each.kind, each.dimension, each.count, each.secure) for each in log
    ]
    for each in log:
        assert (mechanism.sigma, mechanism.adjacency) == (each.parameter("sigma"), each.adjacency)
        assert mechanism.claim.guarantee.mu == each.sensitivity / each.parameter("sigma")
    assert mechanism.loss.delta(epsilon=1).upper == price_releases(log[:1]).delta(epsilon=1).upper


def test_the_noise_of_the_sums_has_the_covariance_of_the_inverse_matrix():
    """20,000 runs; five deviations of a sample covariance are allowed, on top of what the rounding of sums adds."""
    runs, mechanism = 20_000, stream(steps=5, sigma=10)
    impulse = np.array(
        [exact_sums(mechanism.coefficients, [Fraction(int(row == at)) for row in range(5)]) for at in range(5)], float
    ).T
    expected = 100 * impulse @ impulse.T
    found = mechanism.releases([3, 1, 4, 1, 5], runs, seeded()) - np.cumsum([3, 1, 4, 1, 5])
    spread = 5 * np.sqrt((expected**2 + np.outer(expected.diagonal(), expected.diagonal())) / runs)
    assert (abs(np.cov(found.T) - expected) < spread + 0.1).all()
    assert (abs(found.mean(axis=0)) < 5 * np.sqrt(expected.diagonal() / runs)).all()


def test_values_of_any_size_are_released_one_at_a_time_and_arrays_only_while_they_fit():
    run = stream().start()
    assert abs(run.add(10**40) - 10**40) < 1000
    with pytest.raises(DpauditError, match="DPA108"):
        stream().release([2**60] * 4)
    large = stream().release([2**30] * 4, seeded()) - stream().release([0] * 4, seeded())
    assert [2**30 * step for step in range(1, 5)] == large.tolist(), (
        "the path in Python integers gives the sums of the one in int64"
    )


@pytest.mark.parametrize("lattice", [1, "1/4", "1/3"])
def test_vectors_are_released_in_every_coordinate(lattice):
    mechanism, values = stream(lattice=lattice), np.arange(12).reshape(4, 3)
    given = values if lattice == 1 else values / 4
    if lattice == "1/3":
        with pytest.raises(DpauditError, match="DPA105"):
            mechanism.release(given)
        assert all((3 * Fraction(one)).denominator == 1 for one in mechanism.release(["1/3", 2, 0]).tolist())
        return
    released, run = mechanism.releases(given, 2), mechanism.start()
    assert (2, 4, 3) == released.shape
    one = [run.add(given[step]) for step in range(4)]
    assert [(3,)] * 4 == [step.shape for step in one]
    assert {released.dtype} == {step.dtype for step in one} == {np.dtype(np.int64 if lattice == 1 else np.float64)}


def test_a_run_ends_after_its_steps_and_can_be_neither_copied_nor_taken_elsewhere(monkeypatch):
    run = stream(steps=2).start()
    assert (2, True) == (run.left, isinstance(run.add(1), int))
    with pytest.raises(DpauditError, match="DPA105"):
        run.add(np.array([1, 2]))
    run.add(1)
    with pytest.raises(BudgetExceeded, match="DPA204"):
        run.add(1)
    with pytest.raises(TypeError, match="paid for"):
        pickle.dumps(run)
    other = stream().start()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(BudgetExceeded, match="DPA204"):
        other.add(1)


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA103", {"steps": 0}),
        ("DPA103", {"steps": 5000}),
        ("DPA105", {"steps": 2.5}),
        ("DPA104", {"sensitivity": 0}),
        ("DPA107", {"sensitivity": "1/2"}),
        ("DPA106", {"noise_multiplier": 1}),
        ("DPA106", {"sigma": None}),
        ("DPA104", {"sigma": -1}),
        ("DPA104", {"coefficients": (-1, 1)}),
        ("DPA103", {"coefficients": (Fraction(1, 2**30),)}),
        ("DPA109", {"coefficients": ()}),
        ("DPA102", {"coefficients": (1, math.nan)}),
        ("DPA103", {"adjacency": "label"}),
        ("DPA105", {"participation": "once"}),
        ("DPA103", {"participation": FixedOrder(epochs=3, steps=2)}),
        ("DPA202", {"participation": CyclicPoisson(rate="1/2", bands=4)}),
    ],
)
def test_parameters_that_make_no_mechanism_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        stream(**changes)


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("DPA109", []),
        ("DPA103", [0] * 5),
        ("DPA105", "12"),
        ("DPA105", np.array(3)),
        ("DPA105", np.array([0.5, 1j])),
        ("DPA107", ["1/2"]),
        ("DPA102", [math.inf]),
        ("DPA108", [2**62]),
    ],
)
def test_values_that_are_no_stream_are_refused_before_a_bit_is_drawn(code, values, unasked):
    with pytest.raises(DpauditError, match=code):
        stream().release(values, unasked)


def test_it_is_made_again_from_its_text():
    text = stream(coefficients=prefix_root(bands=3), sigma="7/3").to_dict()
    assert {"mechanism": "PrefixSums", "coefficients": "1 1/2 3/8", "sigma": "7/3"}.items() <= text.items()
    again = PrefixSums(
        steps=int(text["steps"]), sensitivity=text["sensitivity"], sigma=text["sigma"], coefficients=text["coefficients"].split()
    )
    assert again == stream(coefficients=prefix_root(bands=3), sigma="7/3")
