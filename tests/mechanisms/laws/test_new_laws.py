"""Geometric, staircase, finite, truncated and given laws: their numbers against sums of their definitions, and what they refuse."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument, Unsupported
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
from mechanisms.laws.staircase import best_width
from mechanisms.sampling.random import OsBitSource, source_from
from tests.support.sources import RecordingSource


def damped(k):
    """A weight that is no standard law's."""
    return (-arb(k) / 2).exp() / (1 + arb(k))


def mp(value):
    """An exact number for mpmath."""
    return mpmath.mpf(value.numerator) / value.denominator


def normal_mass(law, k):
    """Mass of a rounded Gaussian at k."""
    root = mp(law.sigma) * mpmath.sqrt(2)
    return (mpmath.erfc((abs(k) - mpmath.mpf(1) / 2) / root) - mpmath.erfc((abs(k) + mpmath.mpf(1) / 2) / root)) / 2


def mp_weight(law, k):
    """Weight of an integer, from the definition and by mpmath alone."""
    match law:
        case Geometric():
            return mpmath.exp(-k / mp(law.scale)) if k >= 0 else mpmath.mpf(0)
        case DiscreteLaplace():
            return mpmath.exp(-abs(k) / mp(law.scale))
        case DiscreteGaussian():
            return mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mp(law.sigma_squared)))
        case RoundedGaussian():
            return normal_mass(law, k)
        case Staircase():
            steps = 0
            while abs(k) >= law.width + (steps * law.sensitivity):
                steps += 1
            return mpmath.exp(-mp(law.epsilon) * steps)
        case FiniteLaw():
            return mp(dict(zip(law.values, law.probabilities, strict=True)).get(k, Fraction(0)))
        case TruncatedLaw():
            return mp_weight(law.law, k) if law.lower <= k <= law.upper else mpmath.mpf(0)
        case _:
            return mpmath.exp(-mpmath.mpf(abs(k)) / 2) / (1 + abs(k))


SUMMED = [
    (Geometric("1/3"), 80),
    (Geometric("7/2"), 600),
    (Staircase(sensitivity=1, epsilon=1), 200),
    (Staircase(sensitivity=4, epsilon=2), 300),
    (Staircase(sensitivity=5, epsilon="3/2", width=5), 500),
    (Staircase(sensitivity=7, epsilon=1, width=1), 1200),
    (FiniteLaw({-4: "1/3", 0: 2, 9: "1/7"}), 12),
    (TruncatedLaw(DiscreteLaplace(3), lower=-2, upper=9), 12),
    (TruncatedLaw(DiscreteGaussian(sigma=2), lower=20, upper=31), 40),
    (TruncatedLaw(DiscreteGaussian(sigma=30), lower=-4, upper=3), 10),
    (TruncatedLaw(RoundedGaussian(9), lower=-40, upper=-31), 50),
    (TruncatedLaw(Staircase(sensitivity=3, epsilon=1), lower=-5, upper=50), 60),
    (TruncatedLaw(Geometric(2), lower=-3, upper=30), 40),
    (LawFromWeights(damped, scale=2, decay="1/2"), 400),
]


@pytest.mark.parametrize(("law", "reach"), SUMMED, ids=lambda part: type(part).__name__)
def test_probabilities_agree_with_sums_at_fifty_digits(law, reach):
    with mpmath.workdps(60):
        masses = {k: mp_weight(law, k) for k in range(-reach, reach + 1)}
        total = mpmath.fsum(masses.values())
        bottom, top = law.support
        centre = 0 if bottom is None else bottom if top is None else (bottom + top) // 2
        for k in (-3, 0, 1, 2, 5, centre, centre + 1):
            truths = (
                masses.get(k, 0) / total,
                mpmath.fsum(mass for j, mass in masses.items() if j >= k) / total,
                mpmath.fsum(mass for j, mass in masses.items() if j <= k) / total,
            )
            for enclosure, truth in zip((law.pmf(k), law.tail(k), law.cdf(k)), truths, strict=True):
                slack = mpmath.mpf(10) ** -30 * (truth + mpmath.mpf(10) ** -25)
                assert mp(enclosure.lower) <= truth + slack
                assert mp(enclosure.upper) >= truth - slack
                assert enclosure.upper - enclosure.lower <= Fraction(1, 2**80) * max(enclosure.upper, Fraction(1, 2**30))
        mean = mpmath.fsum(k * mass for k, mass in masses.items()) / total
        square = mpmath.fsum(k * k * mass for k, mass in masses.items()) / total - mean**2
        spread = law.variance()
        assert mp(spread.lower) <= square * (1 + mpmath.mpf(10) ** -28) + mpmath.mpf(10) ** -28
        assert mp(spread.upper) >= square * (1 - mpmath.mpf(10) ** -28) - mpmath.mpf(10) ** -28


ALL = [law for law, _ in SUMMED] + [DiscreteLaplace(2), DiscreteGaussian(sigma=2), RoundedGaussian(2)]


@pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
@settings(max_examples=15)
@given(k=st.integers(-40, 40))
def test_the_cumulative_function_and_the_tail_fill_the_whole(law, k):
    below, beyond = law.cdf(k), law.tail(k + 1)
    assert below.lower + beyond.lower <= 1 <= below.upper + beyond.upper
    assert law.cdf(k - 1).lower + law.pmf(k).lower <= below.upper
    assert law.cdf(k - 1).upper + law.pmf(k).upper >= below.lower


@pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
def test_draws_have_the_mean_and_spread_of_their_law_and_stay_in_its_support(law):
    drawn = law.sample(20_000, source=source_from(np.random.default_rng(7)))
    assert np.int64 == drawn.dtype
    bottom, top = law.support
    assert bottom is None or drawn.min() >= bottom
    assert top is None or drawn.max() <= top
    variance = float(law.variance().upper)
    low = min(int(drawn.min()), -60)
    mean = sum(k * float(law.pmf(k).upper) for k in range(low, int(drawn.max()) + 60))
    assert abs(drawn.mean() - mean) <= 6 * math.sqrt(variance / 20_000) + 1e-9
    assert abs(drawn.var() - variance) <= 6 * variance * math.sqrt(12 / 20_000) + 1e-9
    single = law.sample(source=source_from(np.random.default_rng(7)))
    assert type(single) is int
    assert law.pmf(single).upper > 0


@pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
def test_laws_are_values_that_travel_without_their_tables(law):
    law.sample(3)
    assert hash(law) == hash(copy.deepcopy(law))
    if not isinstance(law, LawFromWeights):
        again = pickle.loads(pickle.dumps(law))
        assert law == again
        assert "sampler" not in vars(again)
        assert len(pickle.dumps(law)) < 1000
    assert (0,) == law.sample(0).shape
    assert {int} == {type(k) for k in law.sample(5, wide=True).tolist()}


@pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"n": -1}, "DPA103"), ({"n": 2.0}, "DPA105"), ({"source": 7}, "DPA105"), ({"n": 3, "source": "seed"}, "DPA105")],
)
def test_bad_requests_are_refused_before_a_bit_is_drawn(law, arguments, code):
    record = RecordingSource(OsBitSource())
    with pytest.raises(InvalidArgument, match=code):
        law.sample(**{"source": record, **arguments})
    assert [] == record.calls


def mean_size(step, epsilon, width):
    """E|X| of a staircase by summing its definition, in floats of mpmath."""
    masses = [mpmath.exp(-mp(epsilon) * ((k + step - width) // step)) for k in range(int(80 * step / epsilon) + 2 * step)]
    total = 2 * mpmath.fsum(masses) - masses[0]
    return 2 * mpmath.fsum(k * mass for k, mass in enumerate(masses)) / total


@pytest.mark.parametrize("step", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("epsilon", ["1/2", 1, 2, 5])
def test_the_width_of_a_staircase_is_the_best_of_all(step, epsilon):
    exact = Fraction(epsilon)
    with mpmath.workdps(30):
        sizes = {width: mean_size(step, exact, width) for width in range(1, step + 1)}
    assert min(sizes, key=sizes.get) == best_width(step, exact) == Staircase(sensitivity=step, epsilon=epsilon).width


@pytest.mark.parametrize("epsilon", ["1/100", "1/3", 1, 3, 10])
def test_the_best_width_of_a_fine_staircase_is_that_of_the_continuous_one(epsilon):
    step = 10**6
    expected = step / (1 + math.exp(float(Fraction(epsilon)) / 2))
    assert abs(best_width(step, Fraction(epsilon)) - expected) <= 2


def test_a_staircase_is_no_larger_than_laplace_noise_of_the_same_epsilon():
    for step, epsilon in ((4, 1), (10, 3), (100, 5)):
        laplace = DiscreteLaplace(Fraction(step, epsilon))
        staircase = Staircase(sensitivity=step, epsilon=epsilon)
        sizes = [2 * sum(k * float(law.pmf(k).upper) for k in range(1, 20 * step)) for law in (staircase, laplace)]
        assert sizes[0] < sizes[1]


def test_a_staircase_of_step_one_is_the_discrete_laplace_law():
    staircase, laplace = Staircase(sensitivity=1, epsilon="2/3"), DiscreteLaplace("3/2")
    for k in (-4, 0, 1, 9):
        assert staircase.pmf(k).meets(laplace.pmf(k))
        assert staircase.tail(k).meets(laplace.tail(k))
    assert staircase.variance().meets(laplace.variance())


@settings(max_examples=80)
@given(st.integers(1, 30), st.data())
def test_moving_a_staircase_within_its_sensitivity_changes_one_level_at_most(step, data):
    width, k, shift = (data.draw(st.integers(*ends)) for ends in ((1, step), (-200, 200), (-step, step)))
    law = Staircase(sensitivity=step, epsilon=1, width=width)
    assert abs(law.level(k + shift) - law.level(k)) <= 1


@pytest.mark.parametrize(
    "law", [Staircase(sensitivity=2**40, epsilon="1/1000000000"), Geometric(2**70)], ids=["staircase", "geometric"]
)
def test_a_law_beyond_int64_needs_to_be_asked_for(law):
    for n in (None, 3):
        with pytest.raises(InvalidArgument, match=r"DPA108.*wide=True"):
            law.sample(n)
    assert {int} == {type(k) for k in law.sample(20, wide=True).tolist()}
    assert type(law.sample(wide=True)) is int


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"sensitivity": 0, "epsilon": 1}, "DPA103"),
        ({"sensitivity": 1.0, "epsilon": 1}, "DPA105"),
        ({"sensitivity": 2**41, "epsilon": 1}, "DPA103"),
        ({"sensitivity": 2, "epsilon": 0}, "DPA104"),
        ({"sensitivity": 2, "epsilon": "1e-20"}, "DPA103"),
        ({"sensitivity": 2, "epsilon": 2**21}, "DPA103"),
        ({"sensitivity": 2, "epsilon": 1, "width": 3}, "DPA103"),
        ({"sensitivity": 2, "epsilon": 1, "width": 0}, "DPA103"),
        ({"sensitivity": 2, "epsilon": math.nan}, "DPA102"),
    ],
)
def test_what_is_no_staircase_is_refused(arguments, code):
    with pytest.raises(InvalidArgument, match=code):
        Staircase(**arguments)


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ({}, "DPA109"),
        ([], "DPA109"),
        ([0, 0], "DPA109"),
        ([1, -1], "DPA103"),
        ({0.5: 1}, "DPA105"),
        ({"a": 1}, "DPA105"),
        ([math.nan], "DPA102"),
        ([True], "DPA101"),
        ("12", "DPA105"),
        (7, "DPA105"),
    ],
)
def test_what_is_no_finite_law_is_refused(weights, code):
    with pytest.raises(InvalidArgument, match=code):
        FiniteLaw(weights)


def test_a_finite_law_is_exact_whatever_its_weights_add_up_to():
    law = FiniteLaw({2: "1/3", -5: "1/6", 10**30: 1})
    assert FiniteLaw({2: 2, -5: 1, 10**30: 6, 3: 0}) == law
    assert [Fraction(1, 9), Fraction(2, 9), Fraction(2, 3)] == [law.pmf(k).lower for k in (-5, 2, 10**30)]
    assert all(enclosure.is_point for enclosure in (law.pmf(3), law.tail(2), law.cdf(2), law.variance()))
    assert Fraction(8, 9) == law.tail(2).upper
    assert Fraction(1, 3) == law.cdf(2).upper
    with pytest.raises(InvalidArgument, match="DPA108"):
        law.sample(3)
    assert set(law.sample(200, wide=True).tolist()) <= {2, -5, 10**30}


@pytest.mark.parametrize(
    ("weight", "scale", "decay", "code"),
    [
        (7, 1, 1, "DPA105"),
        (lambda k: 1.0 / (1 + k), 1, 1, "DPA105"),
        (lambda k: arb(2) / (1 + k), 1, 1, "DPA103"),
        (lambda k: (-(arb(k - 3) ** 2)).exp() / arb(-9).exp(), 1, 1, "DPA103"),
        (lambda k: arb(1) / (1 + k), 1, 1, "DPA103"),
        (lambda k: (-arb(k)).exp(), 1, "11/10", "DPA103"),
        (lambda k: arb("nan"), 1, 1, "DPA103"),
        (lambda k: 1 - arb(k) / 9, 1, 1, "DPA103"),
        (damped, 0, 1, "DPA104"),
        (damped, 1, 0, "DPA104"),
        (damped, "x", 1, "DPA101"),
    ],
)
def test_a_given_function_that_breaks_a_condition_is_refused(weight, scale, decay, code):
    with pytest.raises(InvalidArgument, match=code):
        LawFromWeights(weight, scale=scale, decay=decay)


def test_a_given_law_too_wide_to_sum_still_samples():
    law = LawFromWeights(lambda k: (-arb(k) / 10**6).exp(), scale=10**6, decay="1e-6")
    drawn = law.sample(2000, source=source_from(np.random.default_rng(9)))
    assert 0.8 < np.abs(drawn).mean() / 10**6 < 1.2
    with pytest.raises(Unsupported, match="DPA202"):
        law.pmf(0)


@pytest.mark.parametrize("scale", ["1/3", 1, 20, 10**4])
def test_fixed_work_draws_the_same_discrete_laplace_law(scale):
    law = DiscreteLaplace(scale)
    drawn = law.sample(30_000, source=source_from(np.random.default_rng(10)), fixed_work=True)
    assert np.int64 == drawn.dtype
    assert abs(np.mean(drawn.astype(float) ** 2) / float(law.variance().upper) - 1) < 5 * math.sqrt(14 / 30_000)
    assert type(law.sample(fixed_work=True)) is int
    assert {int} == {type(k) for k in DiscreteLaplace(2**100).sample(5, wide=True, fixed_work=True).tolist()}
    with pytest.raises(InvalidArgument, match="DPA108"):
        DiscreteLaplace(2**100).sample(5, fixed_work=True)
