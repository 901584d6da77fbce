"""Real noise on floats: every rounded sum has exactly its probability, whatever path computed it and however bits were revealed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, working_precision
from mechanisms.sampling import real_noise as kernel
from mechanisms.sampling.cells import GaussianCells, LaplaceCells
from mechanisms.sampling.envelope import Tuning
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.float_format import FLOAT64, FloatFormat
from mechanisms.sampling.kernel import draw, one_trial
from mechanisms.sampling.random import source_from
from mechanisms.sampling.real_noise import RealTuning, noisy_sum, noisy_sums, real_noise, round_exactly, sum_at, sums_at
from tests.support.sources import RecordingSource, TapeSource

RESOLUTION = Fraction(1, 2**12)
LARGEST = math.ldexp(2 - 2.0**-52, 1023)
families = pytest.mark.parametrize("family", [LaplaceCells, GaussianCells])


def distribution(family, scale, place):
    """Ball around P(noise < place), from the law's textbook formula."""
    if family is GaussianCells:
        return (-ball(place) / ball(2 * scale**2).sqrt()).erfc() / 2
    half = ball(-abs(place) / scale).exp() / 2
    return half if place <= 0 else 1 - half


def small(fineness, prefix, **sizes):
    """Sizes that make all paths common: few cells to a scale, tails from one scale on, one digit at a time."""
    envelope = Tuning(**{"cell_bits": 4, "cut": Fraction(1), "prefix": 1, "step": 1, **sizes})
    return RealTuning(fineness=fineness, prefix=prefix, step=1, envelope=envelope)


def one_at(noise, value, step):
    """The scalar kernel at a given cell, as a function of a source."""
    return lambda source: sum_at(noise, value, step, source)


def many_at(noise, value, step):
    """The batch kernel at a given cell, as a function of a source."""
    return lambda source: sums_at(noise, np.array([value]), np.array([step]), source).item()


def contradictions(noise, value, found, rest, masses):
    """Results whose enumerated mass certainly differs from their probability, or that are no numbers of the format.

    `masses` gives the mass of all sums that the law puts between two places of the noise.
    """
    form, exact = noise.form, Fraction(value)
    ranks = [form.rank(Fraction(result)) for result in found if result is not None]
    wrong = [result for result in found if result is not None and Fraction(result) != form.number(form.rank(Fraction(result)))]
    with working_precision(160):
        for rank in range(min(ranks) - 3, max(ranks) + 4):
            mass = masses(form.middle(rank - 1) - exact, form.middle(rank) - exact)
            seen = found.get(float(form.number(rank)), Fraction(0))
            if mass < ball(seen) or mass > ball(seen + rest):
                wrong.append(float(form.number(rank)))
    return wrong


def within(noise, family, scale, step):
    """Mass that one cell's share of the law puts between two places."""
    unit = Fraction(2) ** noise.exponent
    first, last = unit * (step - Fraction(1, 2)), unit * (step + Fraction(1, 2))

    def masses(low, high):
        low, high = max(low, first), min(high, last)
        if low >= high:
            return arb(0)
        share = distribution(family, scale, high) - distribution(family, scale, low)
        return share / (distribution(family, scale, last) - distribution(family, scale, first))

    return masses


SHARES = [
    # Value, scale, cell; sizes; format. The cell may be coarser or finer than the floats around the sum, or hold zero.
    (0.0, Fraction(3, 2), 0, small(1, 1), FloatFormat(2, -4)),
    (0.0, Fraction(3, 2), 1, small(1, 3), FloatFormat(3, -6)),
    (1.5, Fraction(1), -3, small(2, 2), FloatFormat(3, -5)),
    (-1.75, Fraction(10, 3), 1, small(2, 1), FloatFormat(3, -3)),
    (12.0, Fraction(3, 2), 2, small(1, 2), FloatFormat(2, 0)),
    (24.0, Fraction(5), -4, small(3, 2, cell_bits=5), FloatFormat(2, -1)),
    (24.0, Fraction(5), 2, small(3, 4, cell_bits=5), FloatFormat(3, -1)),
    # A border in the middle of a steep cell, and digits finer than the bend of its distribution.
    (24.0, Fraction(5), -4, small(3, 8, cell_bits=5), FloatFormat(2, -1)),
    (-96.0, Fraction(50), 20, small(6, 5, cell_bits=8), FloatFormat(4, -3)),
    (3.0, Fraction(50), -5, small(6, 3, cell_bits=8), FloatFormat(3, -3)),
    (0.0, Fraction(1, 3), -10, small(2, 1), FloatFormat(2, -3)),
]


@families
@pytest.mark.parametrize("kernel_at", [one_at, many_at])
@pytest.mark.parametrize(("value", "scale", "step", "tuning", "form"), SHARES)
def test_the_sums_of_a_cell_have_exactly_their_share_of_it(outcomes, family, kernel_at, value, scale, step, tuning, form):
    noise = real_noise(family, scale, tuning, form)
    found, rest = outcomes(kernel_at(noise, value, step), unassigned=Fraction(1, 2**16))
    assert [] == contradictions(noise, value, found, rest, within(noise, family, scale, step))
    assert len(found) > 1, "the cell gives one sum only, so nothing was tried"


@families
def test_small_sizes_try_the_fast_and_the_exact_path(monkeypatch, family):
    asked = []
    monkeypatch.setattr(kernel, "round_exactly", lambda *given: asked.append(given) or round_exactly(*given))
    for value, scale, step, tuning, form in SHARES:
        noise = real_noise(family, scale, tuning, form)
        for digits in range(2**tuning.prefix):
            before = len(asked)
            for sampler in (one_at, many_at):
                sampler(noise, value, step)(TapeSource(digits << 64, tuning.prefix + 64))
            assert len(asked) - before in {0, 2}, "the scalar and the batch kernel differ in what they leave to exact arithmetic"
    assert 20 < len(asked) < 2 * sum(2**tuning.prefix for _, _, _, tuning, _ in SHARES) - 20


def one(noise, value):
    """A whole trial of the scalar kernel as a function of a source."""

    def trial(source):
        step = one_trial(noise.table, source)
        return None if step is None else sum_at(noise, value, step, source)

    return trial


def many(noise, value):
    """A trial with the batch kernel's sum as a function of a source."""

    def trial(source):
        step = one_trial(noise.table, source)
        return None if step is None else many_at(noise, value, step)(source)

    return trial


@pytest.mark.parametrize(("family", "sampler", "value"), [(LaplaceCells, one, 0.0), (GaussianCells, many, 12.0)])
def test_every_rounded_sum_has_exactly_its_mass_over_all_tapes(outcomes, family, sampler, value):
    scale = Fraction(3, 2)
    noise = real_noise(family, scale, small(1, 1), FloatFormat(2, 0))
    found, rest = outcomes(sampler(noise, value))
    half, table = Fraction(2) ** noise.exponent / 2, noise.table

    def masses(low, high):
        centre = distribution(family, scale, half) - distribution(family, scale, -half)
        trial = ball(table.height * 2 ** (table.tuning.cell_bits + table.shift)) * centre
        return (distribution(family, scale, high) - distribution(family, scale, low)) / trial

    assert [] == contradictions(noise, value, found, rest, masses)
    assert rest <= RESOLUTION
    assert None in found, "no trial was rejected, so the rejecting paths were not tried"
    beyond = table.start * Fraction(2) ** noise.exponent
    assert max(found.keys() - {None}) > value + beyond, "no sum came from the positive tail"
    assert min(found.keys() - {None}) < value - beyond, "no sum came from the negative tail"


VALUES = [0.0, -0.0, 5e-324, -1e-310, 2.0**-1022, 1e-5, -0.1, 1.0, 1 / 3, -12345.678, 1e16, -(2.0**52), 1e300, LARGEST, -LARGEST]
SCALES = [Fraction(1), Fraction(10), Fraction(1, 3), Fraction(2) ** -900, Fraction(2) ** 900, Fraction(10) ** 250 / 7]


class Bits:
    """A source that gives one long number, digit by digit, however many are asked for at once."""

    secure = False

    def __init__(self, seed):
        self.number, self.left = int.from_bytes(np.random.default_rng(seed).bytes(256)), 2048

    def bits(self, count):
        self.left -= count
        return self.number >> self.left & ((1 << count) - 1)

    def uniform(self, bits, size):
        return np.array([self.bits(bits) for _ in range(size)], dtype=np.uint64)


def with_steps(noise, seed):
    """Cells to try: drawn ones, the middle, both sides of the blocks' end, and far out."""
    reach = noise.table.start
    drawn = draw(noise.table, source_from(np.random.default_rng(seed)), 3).tolist()
    return [*drawn, 0, 1, -1, reach - 1, -reach, reach, 2**55 + 1, -(2**61) - 1]


@families
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.3g}")
def test_a_sum_is_the_float_nearest_to_value_plus_noise_for_every_value_and_cell(family, scale):
    # The oracle knows neither cells nor places: it asks where in the law's distribution the sum's two borders lie.
    noise = real_noise(family, scale)
    unit = Fraction(2) ** noise.exponent
    for seed, value in enumerate([*VALUES, float(scale), -float(unit) * 1000, float(unit) / 3]):
        for step in with_steps(noise, seed):
            result = sum_at(noise, value, step, Bits(seed))
            assert result == sums_at(noise, np.array([value]), np.array([step]), Bits(seed)).item()
            assert math.isfinite(result)
            assert math.copysign(1, result) == 1 or result < 0, "a negative zero"
            rank = FLOAT64.rank(Fraction(result))
            with working_precision(400 + 4 * max(0, abs(step) - noise.table.start).bit_length()):
                uniform = ball(Fraction(Bits(seed).bits(300), 2**300))
                sign = -1 if step > 0 else 1  # the side on which probabilities are small, so that none cancels
                ends = [distribution(family, scale, sign * unit * (step + end)) for end in (Fraction(-1, 2), Fraction(1, 2))]
                here = ends[0] + (ends[1] - ends[0]) * uniform
                borders = [FLOAT64.middle(rank - 1) - Fraction(value), FLOAT64.middle(rank) - Fraction(value)]
                low, high = (distribution(family, scale, sign * border) for border in borders)
                assert not (sign * (here - low) < 0)
                assert not (sign * (high - here) < 0)


@families
@given(
    st.sampled_from(VALUES) | st.floats(-10, 10),
    st.integers(-(2**48), 2**48),
    st.integers(0, 2**32),
    st.integers(1, 51),
    st.integers(1, 70),
)
@settings(max_examples=150)
def test_a_sum_does_not_depend_on_how_its_bits_are_revealed(family, value, step, seed, prefix, more):
    # Format and law alone decide: digits drawn at first, digits added later, the fast path or exact arithmetic throughout.
    scale = Fraction(7, 3)
    shipped = real_noise(family, scale)
    other = real_noise(family, scale, RealTuning(prefix=prefix, step=more))
    expected = sum_at(shipped, value, step, Bits(seed))
    assert expected == sum_at(other, value, step, Bits(seed))
    assert expected == sums_at(other, np.array([value]), np.array([step]), Bits(seed)).item()
    assert expected == round_exactly(shipped, value, step, LazyUniform(Bits(seed), 1, 1))


@families
def test_values_that_the_noise_nearly_cancels_are_rounded_exactly(family):
    noise = real_noise(family, Fraction(1, 3))
    for seed in range(30):
        step = int(draw(noise.table, source_from(np.random.default_rng(seed)), 1)[0])
        place = Bits(seed).bits(32) * noise.digit + noise.offset
        for value in (-step * noise.unit, -step * noise.unit - place):
            assert sum_at(noise, value, step, Bits(seed)) == round_exactly(noise, value, step, LazyUniform(Bits(seed)))
            assert abs(value + step * noise.unit) <= noise.unit


@families
@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("digits", [2**31 - 2**24, 2**31 + 2**24])
def test_noise_that_moves_a_large_value_by_half_an_ulp_is_decided_by_its_last_digits(family, odd, digits):
    # The noise is half an ulp of the value and a hundredth of a cell more or less, which no float near it can hold.
    noise, step = real_noise(family, Fraction(1)), 2**48
    value = (2**52 + odd) * 2**49 * noise.unit
    above = digits > 2**31
    expected = value + 2**49 * noise.unit if above else value
    assert expected == sum_at(noise, value, step, TapeSource(digits << 64, 96))
    assert [expected] == sums_at(noise, np.array([value]), np.array([step]), TapeSource(digits << 64, 96)).tolist()


@families
def test_a_sum_that_rounds_to_zero_is_a_positive_zero(family):
    noise = real_noise(family, Fraction(1), small(1, 1), FloatFormat(2, -2))
    for digits in (0b01111, 0b10000):
        for kernel_at in (one_at, many_at):
            result = kernel_at(noise, 0.0, 0)(TapeSource(digits << 60 | 2**60 // 3, 65))
            assert (0, 1) == (result, math.copysign(1, result))


@families
def test_no_sum_overflows_even_from_the_largest_float_and_far_out_in_the_tail(family):
    noise = real_noise(family, Fraction(2) ** 900)
    assert LARGEST == sum_at(noise, LARGEST, 2**62 - 1, Bits(1))
    assert [-LARGEST] == sums_at(noise, np.array([-LARGEST]), np.array([1 - 2**62]), Bits(1)).tolist()


@families
@pytest.mark.parametrize("chunk", [1, 7, 64, 2**16])
def test_batches_give_each_value_the_noise_of_its_own_position(monkeypatch, family, chunk):
    noise, values = real_noise(family, Fraction(10)), np.random.default_rng(8).normal(size=150) * 30
    taken, source = [], RecordingSource(source_from(np.random.default_rng(9)))
    monkeypatch.setattr(kernel, "draw", lambda *given: taken.append(draw(*given)) or taken[-1])
    sums = noisy_sums(noise, values, source, chunk=chunk)
    assert len(taken) == -(-150 // chunk)
    # The digits of a batch are the 32-bit words that it asks for after its cells; exact arithmetic alone must agree.
    digits = [digit for bits, words in source.calls if bits == 32 for digit in words]
    expected = [
        round_exactly(noise, value, step, LazyUniform.begun(Bits(1), digit, 32))
        for value, step, digit in zip(values.tolist(), np.concatenate(taken).tolist(), digits, strict=True)
    ]
    assert expected == sums.tolist()


@families
def test_doubtful_sums_go_back_to_their_own_position(monkeypatch, family):
    noise, values = real_noise(family, Fraction(10)), np.arange(64) / 7
    steps = np.arange(-32, 32) * 10**13
    expected = sums_at(noise, values, steps, source_from(np.random.default_rng(10)))
    unsure = real_noise.__wrapped__(family, Fraction(10))
    vars(unsure)["doubt"] = 1e300
    assert expected.tolist() == sums_at(unsure, values, steps, source_from(np.random.default_rng(10))).tolist()


@families
@pytest.mark.parametrize("n", [0, 1, 2, 65_536, 65_537, 150_000])
def test_as_many_sums_come_as_values_are_given(family, n):
    sums = noisy_sums(real_noise(family, Fraction(1)), np.zeros(n), source_from(np.random.default_rng(11)))
    assert ((n,), np.float64) == (sums.shape, sums.dtype)
    assert n <= len(set(sums.tolist())) + n // 10**4


@families
@pytest.mark.parametrize(("scale", "value"), [(Fraction(1), 0.0), (Fraction(1, 3), 0.1), (Fraction(10**6), 0.0)])
def test_a_quarter_of_a_million_sums_follow_the_continuous_law(family, scale, value, false_alarm_level):
    from scipy import stats

    law = stats.norm if family is GaussianCells else stats.laplace
    sums = noisy_sums(real_noise(family, scale), np.full(250_000, value), source_from(np.random.default_rng(12)))
    assert stats.kstest(sums, law(loc=value, scale=float(scale)).cdf).pvalue > false_alarm_level
    assert stats.kstest(sums * 1.05, law(loc=value, scale=float(scale)).cdf).pvalue < false_alarm_level, "the test is blind"
    if value == 0:
        lowest = np.bincount(sums.view(np.int64) & 255, minlength=256)
        assert stats.chisquare(lowest).pvalue > false_alarm_level


@families
def test_sums_made_one_at_a_time_follow_the_continuous_law(family, false_alarm_level):
    from scipy import stats

    noise, source = real_noise(family, Fraction(1, 3)), source_from(np.random.default_rng(13))
    law = stats.norm if family is GaussianCells else stats.laplace
    sums = [noisy_sum(noise, 0.7, source) for _ in range(50_000)]
    assert stats.kstest(sums, law(loc=0.7, scale=1 / 3).cdf).pvalue > false_alarm_level


@families
def test_exact_arithmetic_is_needed_once_in_a_hundred_thousand_sums_at_most(monkeypatch, family):
    asked = []
    monkeypatch.setattr(kernel, "round_exactly", lambda *given: asked.append(given) or round_exactly(*given))
    for value in (0.0, 1.0, 1e9):
        noisy_sums(real_noise(family, Fraction(1)), np.full(10**6, value), source_from(np.random.default_rng(14)))
    assert len(asked) <= 30


@families
@pytest.mark.parametrize("scale", [Fraction(2) ** -901, Fraction(2) ** 900 + 1])
def test_scales_for_which_floats_may_fail_are_refused(family, scale):
    with pytest.raises(InvalidArgument, match="DPA103"):
        real_noise(family, scale)


@pytest.mark.parametrize("sizes", [{"fineness": 0}, {"fineness": 47}, {"prefix": 0}, {"prefix": 52}, {"step": 0}])
def test_sizes_for_which_nothing_is_proved_are_refused(sizes):
    with pytest.raises(InvalidArgument, match="DPA103"):
        RealTuning(**sizes)
