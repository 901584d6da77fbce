"""A choice among scores of different sensitivities is private as long as each moves within its own, and seldom picks a bad one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners.choices.generalized import GeneralizedExponential
from learners.choices.levels import choice_release
from mechanisms import source_from

amounts = st.fractions(min_value="1/1000", max_value=100, max_denominator=1000)
numbers = st.fractions(min_value=-200, max_value=200, max_denominator=100)


@st.composite
def moved_scores(draw):
    """Sensitivities, scores, and scores that are moved by up to those."""
    sensitivities = draw(st.lists(amounts | st.just(Fraction(2)), min_size=1, max_size=4))
    first = [draw(numbers) for _ in sensitivities]
    shares = [draw(st.sampled_from([-1, 1]) | st.fractions(min_value=-1, max_value=1, max_denominator=8)) for _ in sensitivities]
    return sensitivities, first, [score + share * each for score, share, each in zip(first, shares, sensitivities, strict=True)]


@example(case=([Fraction(1)] * 2, [Fraction(0), Fraction(10)], [Fraction(1), Fraction(9)]), grid=Fraction(0))
@given(case=moved_scores(), grid=st.sampled_from([Fraction(0), Fraction(1, 64), Fraction(3)]))
def test_what_is_minimised_moves_by_at_most_one(case, grid):
    sensitivities, first, second = case
    mechanism = GeneralizedExponential(sensitivities=sensitivities, epsilon=1, grid=grid)
    before, after = mechanism.normalised(first), mechanism.normalised(second)
    assert all(abs(one - other) <= 1 for one, other in zip(before, after, strict=True))
    assert 0 == min(before)


@given(case=moved_scores(), epsilon=st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(5)]))
def test_the_exact_law_keeps_the_claim(law, largest_loss, case, epsilon):
    sensitivities, first, second = case
    mechanism = GeneralizedExponential(sensitivities=sensitivities, epsilon=epsilon)
    laws = [law(mechanism.normalised(scores), mechanism.choice.temperature) for scores in (first, second)]
    assert largest_loss(*laws) <= float(epsilon) + 1e-12


@pytest.mark.parametrize("sensitivities", [["1/100", 10, 1], [3, 3, 3]], ids=["1 to 1000", "equal"])
def test_all_moves_keep_the_claim(law, largest_loss, sensitivities):
    """Every corner and middle of the box of moves, from several starting points."""
    mechanism = GeneralizedExponential(sensitivities=sensitivities, epsilon=1)
    worst = 0.0
    for start in itertools.product((0, 1), (-60, 0, 80), (-9, 3)):
        base = law(mechanism.normalised([Fraction(each) for each in start]), Fraction(2))
        for shares in itertools.product((-1, 0, 1), repeat=3):
            moved = [Fraction(s) + share * each for s, share, each in zip(start, shares, mechanism.sensitivities, strict=True)]
            worst = max(worst, largest_loss(base, law(mechanism.normalised(moved), Fraction(2))))
    assert 0.4 < worst <= 1


def test_a_coarse_grid_without_its_step_breaks_the_claim_and_with_it_keeps_it(law, largest_loss):
    unraised = GeneralizedExponential(sensitivities=["1/1000"] * 2, epsilon=1)
    raised = GeneralizedExponential(sensitivities=["1/1000"] * 2, epsilon=1, grid="1/64")
    # Both scores lie next to a border of the grid, and move across it in opposite directions.
    first, second = (
        (Fraction(1, 128) - Fraction(1, 2500), Fraction(3, 128) + Fraction(1, 2500)),
        (
            Fraction(1, 128) + Fraction(1, 2500),
            Fraction(3, 128) - Fraction(1, 2500),
        ),
    )
    rounded = [[Fraction(round(score * 64), 64) for score in scores] for scores in (first, second)]
    assert 3.5 < largest_loss(*(law(unraised.normalised(scores), Fraction(2)) for scores in rounded))
    assert largest_loss(*(law(raised.normalised(scores), Fraction(2)) for scores in (first, second))) <= 1


def test_scores_far_from_the_best_are_seldom_chosen():
    """At most 1 in 20 by the bound; 50 or more of 400 would happen less often than 1e-9 times."""
    mechanism = GeneralizedExponential(sensitivities=[1, 5, 50], epsilon=1)
    scores = [Fraction(40), Fraction(0), Fraction(-300)]
    bound = min(score + 2 * mechanism.threshold * each for score, each in zip(scores, mechanism.sensitivities, strict=True))
    source = source_from(np.random.default_rng(4))
    assert 50 > sum(scores[mechanism.release(scores, source)] > bound for _ in range(400))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_threshold_is_the_stated_one_rounded_up(count):
    mechanism = GeneralizedExponential(sensitivities=[1] * count, epsilon="1/2", failure="1/10")
    exact = 4 * math.log(10 * count)
    assert exact <= mechanism.threshold < exact + 1e-5


def test_one_score_is_always_chosen_and_still_logged():
    mechanism = GeneralizedExponential(sensitivities=[3], epsilon=1)
    with recording() as log:
        assert 0 == mechanism.release([Fraction(10**9)])
    assert [choice_release(mechanism.choice)] == log


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("DPA109", {"sensitivities": []}),
        ("DPA104", {"sensitivities": [0]}),
        ("DPA104", {"sensitivities": [1], "epsilon": 0}),
        ("DPA104", {"sensitivities": [1], "grid": -1}),
        ("DPA103", {"sensitivities": [1], "failure": 1}),
    ],
)
def test_wrong_parameters_are_refused(code, options):
    with pytest.raises(DpauditError) as caught:
        GeneralizedExponential(**{"epsilon": 1, **options})
    assert code == caught.value.code


@pytest.mark.parametrize(("code", "scores"), [("DPA105", [1]), ("DPA102", [1, math.nan]), ("DPA101", [1, "x"])])
def test_wrong_scores_are_refused_before_a_bit_is_drawn_and_not_shown(unasked, code, scores):
    mechanism = GeneralizedExponential(sensitivities=[1, 1], epsilon=1)
    with recording() as log, pytest.raises(DpauditError) as caught:
        mechanism.release(scores, unasked)
    assert (code, []) == (caught.value.code, log)
