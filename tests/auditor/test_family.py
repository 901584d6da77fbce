"""Many claims share one error probability."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.statistics.family import reject_claims
from dpaudit.errors import InvalidArgument

ALPHA = Fraction(1, 20)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_values=P_VALUES)
def test_holm_rejects_what_bonferroni_rejects(p_values):
    holm, bonferroni = reject_claims(p_values, ALPHA), reject_claims(p_values, ALPHA, "bonferroni")

    assert all(strong or not weak for strong, weak in zip(holm, bonferroni, strict=True))


@given(p_values=P_VALUES, place=st.integers(0, 11))
def test_a_smaller_p_value_never_saves_a_claim(p_values, place):
    smaller = [0.0 if position == place % len(p_values) else value for position, value in enumerate(p_values)]

    assert all(
        after or not before for before, after in zip(reject_claims(p_values, ALPHA), reject_claims(smaller, ALPHA), strict=True)
    )


@given(p_values=P_VALUES)
def test_the_decision_follows_the_p_value_and_not_the_order(p_values):
    order = np.argsort(p_values, kind="stable")[::-1].tolist()
    shuffled = reject_claims([p_values[place] for place in order], ALPHA)

    assert [reject_claims(p_values, ALPHA)[place] for place in order] == list(shuffled)


def test_one_claim_is_refuted_at_alpha_itself():
    assert (True,) == reject_claims([0.0499999], ALPHA)
    assert (False,) == reject_claims([0.0500001], ALPHA)


def test_claims_that_were_not_finished_count():
    assert (True, False) == reject_claims([0.0249999, 1.0], ALPHA)
    assert (False, False) == reject_claims([0.026, 1.0], ALPHA)


def test_the_family_wise_error_is_at_most_alpha_under_dependence():
    # All p-values equal one uniform draw, the extreme case of dependence: any rejection has probability alpha / m at most.
    draws = np.random.default_rng(0).random(20_000)
    rejections = sum(any(reject_claims([draw] * 5, ALPHA)) for draw in draws)

    # The chance of more than 300 of 20,000 at probability 0.01 is below 1e-9.
    assert rejections <= 300


def test_an_unknown_family_is_refused():
    with pytest.raises(InvalidArgument, match="DPA103"):
        reject_claims([0.5], ALPHA, "fisher")
