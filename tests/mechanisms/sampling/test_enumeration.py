"""Every kernel of the laws, run on every tape of bits: what comes out has the stated probability, up to 2**-12 left open."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpaudit.exact import ball, working_precision
from mechanisms.laws import (
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Geometric,
    LawFromWeights,
    RoundedGaussian,
    Staircase,
    TruncatedLaw,
)
from mechanisms.laws.law import Sampler
from mechanisms.laws.mirrored import Mirrored
from mechanisms.laws.staircase import StepSide, draw_one_staircase, draw_staircase, staircase_table
from mechanisms.laws.truncated import RangeLaw, kept_sampler
from mechanisms.sampling.cumulative import Words, cumulative_table, draw_place, draw_places
from mechanisms.sampling.digits import (
    DigitWords,
    GeometricDigit,
    LaplaceSign,
    digit_table,
    draw_geometric,
    draw_one_geometric,
    draw_one_two_sided,
    draw_two_sided,
)
from mechanisms.sampling.envelope import Tuning, envelope_table
from mechanisms.sampling.kernel import many_trials, one_trial
from mechanisms.sampling.uniform import draw_below, draw_many_below

RESOLUTION = Fraction(1, 2**12)

TINY = Words(guide=1, prefix=1, step=1, reach=1)
SMALL = Words(guide=2, prefix=3, step=1, reach=2)
MIDDLE = Words(guide=3, prefix=5, step=2, reach=3)
WORDS = [TINY, SMALL, MIDDLE]


def assert_enclosed(found, rest, probability, places):
    """Each outcome's enumerated mass is at most its probability, and not more than what is left open below it."""
    assert rest <= RESOLUTION
    with working_precision(160):
        wrong = []
        for place in {*found, *places}:
            mass, truth = found.get(place, Fraction(0)), probability(place)
            if truth < ball(mass) or truth > ball(mass + rest):
                wrong.append(place)
    assert [] == wrong


def by_tables(law, words):
    """The scalar and the batch sampler of a table, as functions of a source."""
    table = cumulative_table(law, words)
    return [lambda source: draw_place(table, source), lambda source: int(draw_places(table, source, 1)[0])]


def place_probability(law):
    """Probability of a place of a law that is known by its cumulative function."""

    def probability(place):
        """The difference of two neighbouring values, 0 and 1 at the ends."""
        k, top = law.lowest + place, law.highest
        if k < law.lowest or (top is not None and k > top):
            return arb(0)
        below = arb(0) if k == law.lowest else next(iter(law.cumulative(k - 1, k - 1)))
        upto = arb(1) if k == top else next(iter(law.cumulative(k, k)))
        return upto - below

    return probability


TABULATED = {
    "finite": [
        FiniteLaw([1]),
        FiniteLaw([1, 1]),
        FiniteLaw([1, 2, 4, 1]),
        FiniteLaw({-7: "1/3", 0: 1, 9: "1/5"}),
        FiniteLaw([1] * 11),
    ],
    "digit": [GeometricDigit(Fraction(rate), 4) for rate in ("1/100", "1/3", 1, 2, 9)],
    "top digit": [GeometricDigit(Fraction(rate), None) for rate in ("1/3", "1/2", 1, 2, 9)],
    "sign": [LaplaceSign(Fraction(scale)) for scale in ("1/5", 1, 3, "100/7", 1000)],
    "step": [
        StepSide(Staircase(sensitivity=step, epsilon=epsilon, width=width))
        for step, epsilon, width in ((1, 1, 1), (2, "1/3", 1), (3, 1, 3), (5, 2, 2), (4, "1/9", 1))
    ],
    "range": [
        RangeLaw(DiscreteGaussian(sigma=2), -3, 4),
        RangeLaw(DiscreteGaussian(sigma=1), 9, 12),
        RangeLaw(DiscreteLaplace(3), -8, -5),
        RangeLaw(RoundedGaussian("1/2"), -1, 2),
        RangeLaw(Staircase(sensitivity=3, epsilon=1, width=2), -4, 6),
    ],
}


@pytest.mark.parametrize("words", WORDS, ids=["1 bit", "3 bits", "5 bits"])
@pytest.mark.parametrize("kind", TABULATED)
def test_every_draw_from_a_table_has_exactly_its_probability(outcomes, kind, words):
    for law in TABULATED[kind]:
        for kernel in by_tables(law, words):
            found, rest = outcomes(kernel)
            assert_enclosed(found, rest, place_probability(law), range(-1, 14))


def digits(digit, top, words):
    """A tuning of the digit sampler."""
    return DigitWords(digit=digit, top_scale=Fraction(top), words=words)


DIGITS = [
    ("1/3", digits(1, "1/2", TINY)),
    ("2/3", digits(1, "1/2", TINY)),
    (1, digits(1, "1/2", TINY)),
    ("7/5", digits(2, "1/2", TINY)),
    (2, digits(1, 2, SMALL)),
]

SIGNED = [
    ("1/3", digits(1, "1/2", TINY)),
    ("1/3", digits(1, "1/2", SMALL)),
    ("1/2", digits(1, 1, MIDDLE)),
    ("3/4", digits(1, 1, TINY)),
    ("1/4", digits(1, "1/2", MIDDLE)),
]


@pytest.mark.parametrize(("scale", "tuning"), DIGITS, ids=str)
def test_geometric_digits_make_exactly_the_geometric_law(outcomes, scale, tuning):
    table = digit_table(Fraction(scale), tuning)
    for kernel in (lambda source: draw_one_geometric(table, source), lambda source: int(draw_geometric(table, source, 1)[0])):
        found, rest = outcomes(kernel)
        assert_enclosed(found, rest, Geometric(scale).probability, range(-2, 12))


@pytest.mark.parametrize(("scale", "tuning"), SIGNED, ids=str)
def test_a_sign_and_digits_make_exactly_the_discrete_laplace_law(outcomes, scale, tuning):
    table = digit_table(Fraction(scale), tuning)
    for kernel in (lambda source: draw_one_two_sided(table, source), lambda source: int(draw_two_sided(table, source, 1)[0])):
        found, rest = outcomes(kernel)
        assert_enclosed(found, rest, DiscreteLaplace(scale).probability, range(-12, 13))


STAIRCASES = [
    Staircase(sensitivity=step, epsilon=epsilon, width=width)
    for step, epsilon, width in ((1, 1, 1), (2, 2, 1), (2, 4, 1), (2, 6, 2), (4, 3, 1))
]


@pytest.mark.parametrize("law", STAIRCASES, ids=str)
def test_a_staircase_has_exactly_its_steps(outcomes, law):
    words = Words(guide=2, prefix=4, step=2, reach=2)
    table = staircase_table(law, words, digits(1, 2, words))
    for kernel in (lambda source: draw_one_staircase(table, source), lambda source: int(draw_staircase(table, source, 1)[0])):
        found, rest = outcomes(kernel)
        assert_enclosed(found, rest, law.probability, range(-20, 21))


@pytest.mark.parametrize("size", [1, 2, 3, 6, 8])
def test_a_uniform_place_is_uniform(outcomes, size):
    for kernel in (lambda source: draw_below(size, source), lambda source: int(draw_many_below(size, 1, source)[0])):
        found, rest = outcomes(kernel)
        assert_enclosed(found, rest, lambda k: ball(Fraction(1, size)) if 0 <= k < size else arb(0), range(-1, 9))


def small(**sizes):
    """A tuning whose rare paths are common: few cells, one digit at a time."""
    return Tuning(**{"cell_bits": 6, "prefix": 1, "step": 1, **sizes})


def trials(table, place, lower, upper):
    """One trial of the envelope sampler and what a range keeps of it, scalar and batch."""

    def kept(drawn):
        return place(drawn) if drawn is not None and lower <= place(drawn) <= upper else None

    def batch(source):
        out = np.empty(1, dtype=np.int64)
        return int(out[0]) if many_trials(table, source, out) else None

    return [
        lambda source: kept(one_trial(table, source)),
        lambda source: kept(batch(source)),
    ]


RANGES = [
    (DiscreteGaussian(sigma=3), 2, 9, {}),
    (DiscreteGaussian(sigma=4), -3, 7, {"shift": 1, "cell_bits": 5}),
    (DiscreteLaplace(5), -9, -2, {}),
    (RoundedGaussian(2), -6, 1, {}),
    (Staircase(sensitivity=3, epsilon=1, width=2), 4, 11, {}),
    (Geometric(2), 3, 12, {}),
]


@pytest.mark.parametrize(("law", "lower", "upper", "sizes"), RANGES, ids=str)
def test_the_mirrored_envelope_keeps_every_integer_of_a_range_in_proportion(outcomes, law, lower, upper, sizes):
    mirrored = Mirrored.of(law, lower, upper)
    table = envelope_table(mirrored, small(**sizes))
    with working_precision(160):
        unit = law.weight(mirrored.anchor) * ball(table.height * 2 ** (table.tuning.cell_bits + table.shift))

    def probability(k):
        """Weight over that of a cell's share; what is not kept may have any."""
        return law.weight(k) / unit if lower <= k <= upper else arb(0)

    for kernel in trials(table, lambda drawn: mirrored.anchor + mirrored.sign * drawn, lower, upper):
        found, rest = outcomes(kernel)
        found.pop(None)
        assert_enclosed(found, rest, probability, range(lower - 3, upper + 4))


GIVEN = [
    LawFromWeights(lambda k: (-arb(k) / 2).exp() / (1 + arb(k)), scale=2, decay="1/2"),
    LawFromWeights(lambda k: (-arb(k)).exp(), scale=1, decay=1),
    LawFromWeights(lambda k: (-arb(k) - arb(k * k) / 9).exp(), scale=1, decay=1),
    LawFromWeights(lambda k: arb(3) ** -k, scale="1/2", decay=1),
    LawFromWeights(lambda k: (-arb(k)).exp() * (1 + arb(k) / 4), scale=1, decay="3/4"),
]


@pytest.mark.parametrize("number", range(len(GIVEN)))
def test_a_given_law_has_exactly_its_weights(outcomes, number):
    # Each of these weights falls at its rate from 1 on already, so that the blocks may end early.
    law = GIVEN[number]
    table = envelope_table(law, small(cut=Fraction(2), shift=1 if number == 2 else 0))
    with working_precision(160):
        unit = ball(table.height * 2 ** (table.tuning.cell_bits + table.shift))
    for kernel in trials(table, lambda drawn: drawn, -(10**6), 10**6):
        found, rest = outcomes(kernel)
        found.pop(None)
        assert_enclosed(found, rest, lambda k: law.weight(k) / unit, range(-30, 31))


LIKELY = [
    (FiniteLaw([1, 3, 2, 2]), 1, 3),
    (FiniteLaw([1, 3, 2, 2]), 0, 2),
    (FiniteLaw({-9: 3, 0: 4, 4: 1}), -9, 0),
    (FiniteLaw([5, 1, 1, 1]), 0, 1),
    (FiniteLaw([1, 1, 1, 5]), 1, 3),
]


@pytest.mark.parametrize(("law", "lower", "upper"), LIKELY, ids=str)
def test_draws_that_are_repeated_until_one_lies_inside_have_the_truncated_law(outcomes, law, lower, upper):
    table = cumulative_table(law, SMALL)
    inner = Sampler(
        lambda source, n, wide: np.array(law.values).take(draw_places(table, source, n)),
        lambda source: law.values[draw_place(table, source)],
        0,
    )
    found, rest = outcomes(kept_sampler(inner, lambda drawn: drawn, 1.0, lower, upper).one)
    assert_enclosed(found, rest, TruncatedLaw(law, lower=lower, upper=upper).probability, range(lower - 2, upper + 3))


def test_enumeration_finds_a_threshold_that_is_one_too_high(outcomes, monkeypatch):
    law = FiniteLaw([3, 2, 2])
    table = cumulative_table(law, MIDDLE)
    wrong = table.__class__(law, MIDDLE, table.below + table.below.dtype.type(1), table.beyond, table.guide)
    found, rest = outcomes(lambda source: draw_place(wrong, source))
    with pytest.raises(AssertionError):
        assert_enclosed(found, rest, place_probability(law), range(3))


def test_enumeration_finds_a_digit_law_that_is_not_cut(outcomes):
    # The lower digit must be less than its base: one that goes on counts some integers twice.
    table = digit_table(Fraction(1), digits(1, "1/2", TINY))
    broken = table.__class__(1, (cumulative_table(GeometricDigit(Fraction(1), None), TINY), table.digits[1]), table.sign)
    found, rest = outcomes(lambda source: draw_one_geometric(broken, source))
    with pytest.raises(AssertionError):
        assert_enclosed(found, rest, Geometric(1).probability, range(12))
