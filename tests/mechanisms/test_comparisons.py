"""Noisy comparisons: every run of noise of few bits is enumerated, one at a time and many at once; budgets are split best."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms import AboveThreshold, SparseVector
from mechanisms.comparisons import NOT_ASKED, best_ratio


def sparse(**changes):
    return SparseVector(**{"sensitivity": 1, "epsilon": 1, **changes})


@pytest.mark.parametrize(
    ("mechanism", "shares"),
    [
        (sparse(), (1, 2)),
        (sparse(monotonic=True), (1, 1)),
        (sparse(cutoff=4), (1, 8)),
        (sparse(cutoff=4, number_share="1/3"), (1, 8)),
        (AboveThreshold(sensitivity=1, epsilon=1), (1, 2)),
    ],
)
def test_the_shares_make_comparisons_as_accurate_as_any_split_does(mechanism, shares):
    def variance(share):
        rest = 1 - getattr(mechanism, "number_share", 0)
        return 1 / float(share) ** 2 + (shares[1] / shares[0]) ** 2 / float(rest - share) ** 2

    best = variance(mechanism.threshold_share)
    assert all(best <= variance(Fraction(part, 200) * mechanism.threshold_share * 2) * 1.0002 for part in range(60, 140))


@given(steps=st.integers(1, 2**40))
def test_the_best_ratio_is_the_power_two_thirds_rounded_down(steps):
    ratio = best_ratio(steps)
    assert ratio**3 <= steps**2 < (ratio + Fraction(1, 64)) ** 3


class FewBits:
    """Noise that is uniform on 0 .. 2^bits - 1: a law small enough to enumerate whole runs."""

    scale = Fraction(1)

    def __init__(self, bits):
        self.bits = bits

    def sample(self, n=None, *, source, wide=False):
        if n is None:
            return source.bits(self.bits)
        return source.uniform(self.bits, n).astype(np.int64) if n else np.zeros(0, dtype=np.int64)

    def odds(self):
        return {step: Fraction(1, 2**self.bits) for step in range(2**self.bits)}


def tiny(threshold_bits, query_bits, number_bits=None, **changes):
    """A mechanism whose noise is that of `FewBits`."""
    mechanism = sparse(**({"number_share": "1/2"} if number_bits else {}), **changes)
    laws = {"threshold": FewBits(threshold_bits), "query": FewBits(query_bits), "number": number_bits and FewBits(number_bits)}
    mechanism.__dict__["_comparisons"] = replace(mechanism._comparisons, **laws)
    return mechanism


def true_answers(mechanism, threshold, values, runs=1):
    """Odds of all answers of independent runs, summed over all noise from the definition."""
    laws, single = mechanism._comparisons, {}
    for border, weight in laws.threshold.odds().items():
        for noise in itertools.product(laws.query.odds(), repeat=len(values)):
            answers, left = [], laws.cutoff
            for value, step in zip(values, noise, strict=True):
                answers.append(NOT_ASKED if not left else int(value + step >= threshold + border))
                left -= answers[-1] == 1
            chance = weight * Fraction(1, 2 ** (laws.query.bits * len(values)))
            single[tuple(answers)] = single.get(tuple(answers), 0) + chance
    return {
        tuple(row for row, _ in rows): math.prod(chance for _, chance in rows)
        for rows in itertools.product(single.items(), repeat=runs)
    }


def asked_one_by_one(mechanism, threshold, values, tape):
    run = mechanism.start(threshold, tape)
    return tuple(int(run.ask(value)) if run.left else NOT_ASKED for value in values)


@pytest.mark.parametrize("cutoff", [1, 2])
@pytest.mark.parametrize("values", [(1, 0, 3), (2, 2, 2), (-1, 4, 0)])
def test_a_run_answers_with_the_exact_odds_of_its_definition(cutoff, values, outcomes):
    mechanism = tiny(2, 2, cutoff=cutoff)
    found, left = outcomes(lambda tape: asked_one_by_one(mechanism, 1, values, tape), unassigned=Fraction(0))
    assert 0 == left
    assert {(answers,): chance for answers, chance in found.items()} == true_answers(mechanism, 1, values)


@pytest.mark.parametrize("cutoff", [1, 2])
@pytest.mark.parametrize("values", [(1, 0), (0, 0), (1, 1)])
def test_many_runs_at_once_are_independent_runs_with_these_odds(cutoff, values, outcomes):
    mechanism = tiny(1, 1, cutoff=cutoff)

    def kernel(tape):
        return tuple(tuple(row) for row in mechanism.releases(1, values, 2, tape).tolist())

    found, left = outcomes(kernel, unassigned=Fraction(0))
    assert 0 == left
    assert found == true_answers(mechanism, 1, values, runs=2)


def test_numbers_are_the_values_with_fresh_noise_one_at_a_time_and_many_at_once(outcomes):
    mechanism = tiny(1, 1, 2, cutoff=1)

    def one(tape):
        return mechanism.start(1, tape).ask_number(1)

    def many(tape):
        answers, numbers = mechanism.number_releases(1, [1], 1, tape)
        return int(numbers[0, 0]) if answers[0, 0] else None

    # value 1 with noise 0 or 1 against threshold 1 with noise 0 or 1: above in three of four cases, then 1 + (0 .. 3)
    expected = {None: Fraction(1, 4), **dict.fromkeys((1, 2, 3, 4), Fraction(3, 16))}
    assert [(expected, 0)] * 2 == [outcomes(kernel, unassigned=Fraction(0)) for kernel in (one, many)]
