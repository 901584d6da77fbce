"""Checks of running sums with correlated noise: the rows, the distance that is paid for, and runs that come to an end."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, combinations, product

import numpy as np

from dpaudit.accounting import FixedOrder, MinSeparation, Single
from dpaudit.errors import BudgetExceeded
from mechanisms import InsecureSeededSourceForTestsOnly, PrefixSums
from mechanisms.laws.law import Sampler
from mechanisms.prefix_sums import Recovery

COLUMNS = (("1",), ("1", "1/2", "3/8", "5/16"), ("1", "-1/2"), ("3/4", "0", "5/4"))


class Constant:
    """Noise that is always the same number of steps."""

    def __init__(self, steps):
        def many(_source, count, _exact):
            return np.full(count, steps, dtype=np.int64)

        self.sampler = Sampler(many, lambda _source: steps, 2)


def stream(noise=None, **changes):
    """A stream of four values, with constant noise if that is given."""
    mechanism = PrefixSums(**{"steps": 4, "sensitivity": 1, "sigma": 2, **changes})
    if noise is not None:
        mechanism.__dict__["_noise"] = replace(mechanism._noise, law=Constant(noise))
    return mechanism


def bits():
    return InsecureSeededSourceForTestsOnly(41)


def sums_without_noise_are_those_of_the_values():
    for column in COLUMNS:
        mechanism = stream(0, coefficients=column)
        for values in ([3, -1, 4, 1], [0, 10**6, -7, 2]):
            run = mechanism.start(bits())
            exact = list(accumulate(values))
            assert exact == mechanism.release(values, bits()).tolist()
            assert exact == [run.add(value) for value in values]


def every_row_gets_its_noise():
    mechanism = stream(8, coefficients=("1", "1/2"))
    # Eight half steps on every row: the solution of v_t + v_(t-1)/2 = 4 added up.
    solution = [Fraction(4)]
    for _ in range(3):
        solution.append(4 - solution[-1] / 2)
    exact, run = list(accumulate(solution)), mechanism.start(bits())
    for found in (mechanism.release([0, 0, 0, 0], bits()).tolist(), [run.add(0) for _ in range(4)]):
        assert all(abs(one - value) <= Fraction(51, 100) for one, value in zip(found, exact, strict=True))


def large_rows_are_solved_without_overflow():
    rows = [2**52, -(2**52), 2**51, 5]
    for column in ((4,), (4, 2), (4, -6)):
        exact, one = Recovery(column), Recovery(column)
        assert [exact.next(row) for row in rows] == [int(one.next(np.array([row]))[0]) for row in rows]


def a_stream_pays_for_the_worst_pattern():
    patterns = {
        Single(): lambda steps: len(steps) == 1,
        FixedOrder(epochs=2, steps=2): lambda steps: steps in {(0, 2), (1, 3)},
        MinSeparation(1, participations=2): lambda steps: len(steps) <= 2,
    }
    for column, (participation, is_allowed) in product((("1", "1/2"), ("1", "-1/2")), patterns.items()):
        for adjacency, moves in (("add_remove", 1), ("replace_one", 2)):
            options = {"sensitivity": 3, "coefficients": column, "participation": participation, "adjacency": adjacency}
            mechanism = stream(**options)
            longest = Fraction(0)
            chosen = [steps for size in (1, 2) for steps in combinations(range(4), size) if is_allowed(steps)]
            for steps in chosen:
                for signs in product((-3, 3), repeat=len(steps)):
                    rows = [Fraction(0)] * 5
                    for sign, step in zip(signs, steps, strict=True):
                        for back, entry in enumerate(mechanism.coefficients):
                            rows[step + back] += sign * entry * (step + back < 4)
                    longest = max(longest, sum((row**2 for row in rows), Fraction(0)))
            reach = mechanism._noise.record.sensitivity / moves
            assert longest <= reach**2 <= longest * (1 + Fraction(1, 2**50))
            relative = PrefixSums(steps=4, noise_multiplier=2, **options)
            assert relative.sigma**2 >= 36 * sum(c**2 for c in relative.coefficients)


def a_run_takes_its_steps_in_its_process():
    run = stream(0).start(bits())
    for value in range(4):
        run.add(value)
    other = stream(0).start(bits())
    other._process = -1
    for ended in (run, other):
        try:
            ended.add(1)
        except BudgetExceeded:
            continue
        raise AssertionError("a run goes on after its end")


CHECKS = [
    sums_without_noise_are_those_of_the_values,
    every_row_gets_its_noise,
    large_rows_are_solved_without_overflow,
    a_stream_pays_for_the_worst_pattern,
    a_run_takes_its_steps_in_its_process,
]
