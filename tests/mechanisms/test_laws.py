"""The noise laws: what they accept, the probabilities they state, and that samples of every scale and size come out."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling import weights
from mechanisms.sampling.envelope import envelope_table
from mechanisms.sampling.random import OsBitSource, default_source, source_from
from tests.support.sources import RecordingSource, TapeSource


def gaussian(sigma):
    """The discrete Gaussian by its sigma, as a function of one argument like its siblings."""
    return DiscreteGaussian(sigma=sigma)


def gaussian_by_square(square):
    """The discrete Gaussian by sigma squared."""
    return DiscreteGaussian(sigma_squared=square)


BY_SCALE = [DiscreteLaplace, gaussian, RoundedGaussian]
BUILDERS = [*BY_SCALE, gaussian_by_square]
SCALES = ["1/2", 1, 10, 10**3, 10**6, 2**40, "100/3"]
SMALL_LAWS = st.builds(
    lambda build, scale: build(scale), st.sampled_from(BY_SCALE), st.fractions(Fraction(1, 10), 40, max_denominator=60)
)


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0, "DPA104"),
        (-1, "DPA104"),
        ("-1/3", "DPA104"),
        (math.nan, "DPA102"),
        (math.inf, "DPA102"),
        ("inf", "DPA102"),
        (Decimal("NaN"), "DPA102"),
        (True, "DPA101"),
        ("ten", "DPA101"),
        ([1], "DPA101"),
        (1j, "DPA101"),
        (2**1100, "DPA103"),
    ],
)
def test_a_parameter_that_is_no_scale_is_refused(build, value, code):
    with pytest.raises(InvalidArgument, match=code):
        build(value)


@pytest.mark.parametrize("arguments", [{}, {"sigma": 1, "sigma_squared": 1}])
def test_a_discrete_gaussian_takes_exactly_one_parameter(arguments):
    with pytest.raises(InvalidArgument, match="DPA106"):
        DiscreteGaussian(**arguments)


def test_parameters_are_kept_exactly_whatever_they_were_written_as():
    assert Fraction(1, 10) == DiscreteLaplace("0.1").scale == DiscreteLaplace(Decimal("0.1")).scale
    assert Fraction(0.1) == DiscreteLaplace(scale=0.1).scale
    assert Fraction(100, 3) == RoundedGaussian(sigma="100/3").sigma
    assert Fraction(10_000, 3) == DiscreteGaussian(sigma_squared="10000/3").sigma_squared


@pytest.mark.parametrize("build", BUILDERS)
def test_laws_are_values(build):
    law = build("5/2")
    assert build(2.5) == law
    assert hash(build(Fraction(5, 2))) == hash(law)
    assert law == pickle.loads(pickle.dumps(law)) == copy.deepcopy(law)
    assert build(3) != law
    assert "5/2" not in {DiscreteLaplace("5/2"): 1}
    with pytest.raises(AttributeError):
        law.scale = 3


def test_laws_of_different_kinds_are_different():
    assert DiscreteLaplace(2) != RoundedGaussian(2)
    assert 3 == len({DiscreteLaplace(1), RoundedGaussian(1), DiscreteGaussian(sigma=1)})


@given(SMALL_LAWS, st.integers(-60, 60))
def test_tails_differ_by_the_probability_between_them(law, k):
    here, beyond, mass = law.tail(k), law.tail(k + 1), law.pmf(k)
    assert here.lower - beyond.upper <= mass.upper
    assert here.upper - beyond.lower >= mass.lower
    assert here.upper - here.lower < Fraction(1, 2**100)
    assert mass == law.pmf(-k)


@given(SMALL_LAWS, st.integers(-60, 60))
def test_the_two_tails_fill_the_whole(law, k):
    right, left = law.tail(k), law.tail(1 - k)
    assert right.lower + left.lower <= 1 <= right.upper + left.upper


@settings(max_examples=40)
@given(SMALL_LAWS)
def test_the_variance_is_that_of_the_probabilities(law):
    reach = int(40 * math.sqrt(law.width_squared)) + 20
    masses = [law.pmf(k) for k in range(1, reach)]
    square = 2 * sum(k * k * mass.lower for k, mass in enumerate(masses, start=1))
    rest = 2 * (2 * reach + 1) ** 2 * law.tail(reach).upper * 50
    assert square <= law.variance().upper
    assert square + rest + Fraction(1, 2**90) >= law.variance().lower


@given(SMALL_LAWS, st.integers(0, 50))
def test_weights_fall_away_from_zero_as_the_sampler_relies_on(law, k):
    assert law.pmf(k + 1).lower <= law.pmf(k).upper
    start = max(k, 1)
    with working_precision(200):
        for j in (0, 1, 2, 7):
            assert not law.weight(start + j) > law.weight(start) * (-ball(law.decay(start)) * j).exp()


def oracle(law, k):
    """P[X = k], P[X >= k] and E[X^2] by mpmath alone, from the definitions."""
    scale = mpmath.sqrt(mpmath.mpf(law.width_squared.numerator) / law.width_squared.denominator)
    reach = int(45 * scale) + 60
    if isinstance(law, RoundedGaussian):
        beyond = [mpmath.erfc((j - mpmath.mpf(1) / 2) / (scale * mpmath.sqrt(2))) / 2 for j in range(-reach, reach + 2)]
        masses = [first - second for first, second in pairwise(beyond)]
    else:
        power = (
            (lambda j: -abs(j) / scale) if isinstance(law, DiscreteLaplace) else (lambda j: -(mpmath.mpf(j) ** 2) / (2 * scale**2))
        )
        masses = [mpmath.exp(power(j)) for j in range(-reach, reach + 1)]
        total = mpmath.fsum(masses)
        masses = [mass / total for mass in masses]
    square = mpmath.fsum(j * j * mass for j, mass in zip(range(-reach, reach + 1), masses, strict=True))
    return masses[k + reach], mpmath.fsum(masses[k + reach :]), square


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("scale", ["1/3", "2/5", 1, 3, "100/3"])
@pytest.mark.parametrize("k", [-3, 0, 1, 5])
def test_probabilities_agree_with_an_independent_computation(build, scale, k):
    law = build(scale)
    with mpmath.workdps(70):
        for enclosure, truth in zip((law.pmf(k), law.tail(k), law.variance()), oracle(law, k), strict=True):
            # The oracle cuts the law at 45 scales, where less than 1e-19 of a Laplace law remains.
            allowed = mpmath.mpf(10) ** -15 * truth
            assert mpmath.mpf(enclosure.lower.numerator) / enclosure.lower.denominator <= truth + allowed
            assert mpmath.mpf(enclosure.upper.numerator) / enclosure.upper.denominator >= truth - allowed
            assert enclosure.upper - enclosure.lower < Fraction(1, 2**90) * max(1, enclosure.upper)


@pytest.mark.parametrize("sigma", [151, 1000])
@pytest.mark.parametrize("times", [0, 1, 10, 30, 60])
def test_summed_and_corrected_gaussian_tails_agree(monkeypatch, sigma, times):
    law, k = DiscreteGaussian(sigma=sigma), max(1, times * sigma)
    monkeypatch.setattr(weights, "DIRECT_TERMS", 0)
    corrected = law.tail(k)
    monkeypatch.setattr(weights, "DIRECT_TERMS", 10**6)
    summed = law.tail(k)
    assert summed.meets(corrected)
    for enclosure in (summed, corrected):
        assert enclosure.upper - enclosure.lower < enclosure.upper / 2**90


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("scale", ["1e-4000", "1e-9", 10**9, 2**500])
def test_extreme_scales_have_sound_probabilities(build, scale):
    law = build(scale)
    for k in (-(10**6), -1, 0, 1, 10**6):
        assert 0 <= law.pmf(k).lower <= law.pmf(k).upper <= 1
        assert law.tail(k + 1).lower <= law.tail(k).upper <= 1
    assert law.pmf(0).upper > 0
    assert 0 <= law.variance().lower <= law.variance().upper < math.inf
    assert law.pmf(0).contains(1) if scale == "1e-4000" else law.tail(0).upper >= Fraction(1, 2)


@given(st.integers(32, 600))
def test_more_precision_gives_a_narrower_enclosure_of_the_same(precision):
    law = DiscreteGaussian(sigma="7/3")
    rough, fine = law.pmf(2, precision=precision), law.pmf(2, precision=precision + 40)
    assert rough.meets(fine)
    assert rough.upper - rough.lower < Fraction(1, 2 ** min(precision - 8, 90))


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("question", ["pmf", "tail"])
@pytest.mark.parametrize(
    ("k", "precision", "code"),
    [(0.5, 128, "DPA105"), (True, 128, "DPA105"), (1, 31, "DPA103"), (1, 10**6, "DPA103"), (1, 64.0, "DPA105")],
)
def test_questions_that_have_no_answer_are_refused(build, question, k, precision, code):
    with pytest.raises(InvalidArgument, match=code):
        getattr(build(2), question)(k, precision=precision)


@pytest.mark.parametrize("build", BY_SCALE)
@pytest.mark.parametrize("scale", SCALES)
def test_samples_have_the_spread_of_their_law(build, scale):
    law = build(scale)
    drawn = law.sample(20_000, source=source_from(np.random.default_rng(11)))
    assert np.int64 == drawn.dtype
    assert (20_000,) == drawn.shape
    variance = float(law.variance().upper)
    # Five standard errors at fourth moments of at most 6 variance^2 (a little more for the narrowest laws).
    assert abs(np.mean(drawn.astype(float) ** 2) / variance - 1) < 5 * math.sqrt(12 / 20_000)
    assert abs(np.mean(drawn.astype(float))) < 5 * math.sqrt(variance / 20_000)
    assert type(law.sample(source=source_from(np.random.default_rng(11)))) is int


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("scale", ["1e-4000", "1/1000"])
def test_a_tiny_scale_gives_zeros(build, scale):
    assert not build(scale).sample(1000).any()
    assert build(scale).sample() == 0


@pytest.mark.parametrize("build", BY_SCALE)
@pytest.mark.parametrize("scale", [2**60, 2**200, 2**512])
def test_a_law_beyond_int64_needs_to_be_asked_for(build, scale):
    law = build(scale)
    for n in (None, 3):
        with pytest.raises(InvalidArgument, match=r"DPA108.*wide=True"):
            law.sample(n, source=TapeSource(0, 0))
    assert type(law.sample(wide=True)) is int
    drawn = law.sample(300, wide=True)
    assert object == drawn.dtype
    assert 0.3 < float(sum(Fraction(k) ** 2 for k in drawn.tolist()) / 300 / law.variance().upper) < 3


def test_wide_draws_of_a_narrow_law_are_the_same_numbers_as_python_integers():
    drawn = DiscreteGaussian(sigma=10).sample(1000, wide=True)
    assert {int} == {type(k) for k in drawn.tolist()}
    assert max(abs(drawn)) < 100


def test_a_draw_that_does_not_fit_is_an_error_and_never_wraps():
    # A tape that falls into the positive tail with an acceptance uniform of 2**-84: a draw beyond 2**62.
    law = DiscreteLaplace(2**56)
    table = envelope_table(law)
    word = table.occupied << (table.shift + 64)
    tape = (word << 640 | 1 << 620, 16 + table.shift + 64 + 640)
    with pytest.raises(Unsupported, match=r"DPA108.*wide=True"):
        law.sample(source=TapeSource(*tape))
    assert 2**62 <= law.sample(source=TapeSource(*tape), wide=True)


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"n": -1}, "DPA103"),
        ({"n": 2.0}, "DPA105"),
        ({"n": True}, "DPA105"),
        ({"n": "3"}, "DPA105"),
        ({"source": 7}, "DPA105"),
        ({"source": np.random.default_rng(1)}, "DPA105"),
        ({"n": 3, "source": "seed"}, "DPA105"),
    ],
)
def test_bad_requests_are_refused_before_a_bit_is_drawn(build, arguments, code):
    record = RecordingSource(OsBitSource())
    with pytest.raises(InvalidArgument, match=code):
        build(2).sample(**{"source": record, **arguments})
    assert [] == record.calls


def test_no_draws_use_no_bits():
    assert (0,) == DiscreteLaplace(5).sample(0, source=TapeSource(0, 0)).shape


def test_equal_streams_give_equal_draws_and_the_default_source_does_not_repeat():
    law = RoundedGaussian(1000)
    first, second = (law.sample(500, source=source_from(np.random.default_rng(3))) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(law.sample(500), law.sample(500))
    assert default_source().secure


def test_samples_belong_to_the_caller():
    law = DiscreteGaussian(sigma=1)
    drawn = law.sample(10)
    drawn += 1_000_000
    assert abs(law.sample(10)).max() < 1000
