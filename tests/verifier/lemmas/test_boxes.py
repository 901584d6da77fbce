"""Transcendental inequalities: shown on all of their boxes, refuted where they are false, never shown where they are equalities."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.verifier.lemmas import INEQUALITIES, positive_on
from dpaudit.verifier.lemmas.inequalities import classical_gaussian


@pytest.mark.parametrize("inequality", INEQUALITIES, ids=lambda inequality: inequality.name)
def test_an_inequality_holds_on_its_box(inequality):
    cover = positive_on(inequality.margin, inequality.box, most=20_000)
    assert cover.holds
    assert 1 < cover.boxes < 20_000
    assert cover.failing is None


@pytest.mark.parametrize(
    ("margin", "box"),
    [
        # With 1/20 in place of 5/4 the classical calibration is too small.
        (classical_gaussian(Fraction(1, 20)), ((Fraction(9, 10), Fraction(1)), (Fraction(4), Fraction(5)))),
        # It is not valid for large epsilon.
        (classical_gaussian(Fraction(5, 4)), ((Fraction(1), Fraction(40)), (Fraction(1), Fraction(10)))),
        (lambda at: at[0] ** 2 / 9 - (at[0] / 2).cosh().log(), ((Fraction(1, 20), Fraction(20)),)),
        (lambda at: 9 * at[0] / 10 - at[0].tanh(), ((Fraction(1, 20), Fraction(20)),)),
        (lambda at: -at[0].log() * 9 / 10 - 1 + at[0], ((Fraction(1, 10), Fraction(999, 1000)),)),
    ],
)
def test_a_false_inequality_is_refuted_at_a_place(margin, box):
    from flint import arb, fmpq

    cover = positive_on(margin, box, most=20_000)
    assert not cover.holds
    assert cover.refuted
    middle = [(low + high) / 2 for low, high in cover.failing]
    assert all(low <= value <= high for value, (low, high) in zip(middle, box, strict=True))
    assert margin([arb(fmpq(value.numerator, value.denominator)) for value in middle]) < 0


def test_the_profile_of_gaussian_noise_agrees_with_a_float_computation():
    from flint import arb

    epsilon, delta = 0.5, 1e-5
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon

    def below(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    profile = below(1 / (2 * sigma) - epsilon * sigma) - math.exp(epsilon) * below(-1 / (2 * sigma) - epsilon * sigma)
    margin = classical_gaussian(Fraction(5, 4))([arb(epsilon), -arb(delta).log()])
    assert float(margin) == pytest.approx(1 - profile / delta, abs=1e-9)


def test_equality_is_never_shown():
    cover = positive_on(lambda at: at[0] ** 2, ((Fraction(-1), Fraction(2)),), most=500)
    assert (500, False, False) == (cover.boxes, cover.holds, cover.refuted)
    low, high = cover.failing[0]
    assert low - Fraction(1, 10**9) <= 0 <= high + Fraction(1, 10**9)


def test_a_point_is_looked_at_once():
    cover = positive_on(lambda at: at[0] - 1, ((Fraction(1), Fraction(1)),))
    assert (1, False, False) == (cover.boxes, cover.holds, cover.refuted)


def test_what_is_no_number_is_never_shown():
    assert not positive_on(lambda at: at[0].log(), ((Fraction(-1), Fraction(3)),), most=100).holds


def test_a_box_turned_around_is_refused():
    with pytest.raises(ValueError, match="smaller value first"):
        positive_on(lambda at: at[0], ((Fraction(2), Fraction(1)),))


@settings(max_examples=50, deadline=None)
@given(
    roots=st.lists(st.fractions(-3, 3, max_denominator=50), min_size=1, max_size=3),
    ends=st.tuples(st.fractions(-2, 2, max_denominator=20), st.fractions(-2, 2, max_denominator=20)),
)
def test_a_polynomial_is_positive_just_where_it_has_no_root(roots, ends):
    from flint import arb, fmpq

    box = (min(ends), max(ends))

    def margin(at):
        value = arb(1)
        for root in roots:
            value *= (at[0] - arb(fmpq(root.numerator, root.denominator))) ** 2
        return value

    assert positive_on(margin, (box,), most=3000).holds is not any(box[0] <= root <= box[1] for root in roots)
