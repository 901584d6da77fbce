"""Attacks on low bits, precision, support and time: sound mechanisms survive them, naive ones fall to the same functions."""

from __future__ import annotations

import importlib.util
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpaudit.exact import ball_endpoints, working_precision
from mechanisms import (
    ExponentialMechanism,
    GaussianMechanism,
    InsecureSeededSourceForTestsOnly,
    LaplaceMechanism,
    RealGaussianMechanism,
    RealLaplaceMechanism,
    source_from,
)
from mechanisms.sampling.cells import GaussianCells, LaplaceCells
from mechanisms.sampling.envelope import Tuning
from mechanisms.sampling.float_format import FloatFormat
from mechanisms.sampling.real_noise import RealTuning, real_noise, sum_at
from tests.support.sources import TapeSource

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")


def loaded(name):
    """A module that stands next to this one."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


attacks = loaded("attacks")

RUNS = 50_000
CALLS = 200_000
SCALE = 1.0
"""With values 1 apart, the claim of the Laplace mechanisms here is epsilon 1."""


def noise_of(mechanism, seed):
    """A mechanism as the attacks see it, on a fixed stream."""
    source = source_from(np.random.default_rng(seed))
    return lambda value, count: np.asarray(mechanism.releases(value, count, source), dtype=np.float64)


SOUND = {
    "real Laplace": noise_of(RealLaplaceMechanism(sensitivity=1, scale=1), 201),
    "Laplace on a lattice": noise_of(LaplaceMechanism(sensitivity=1, scale=1, lattice=Fraction(1, 2**30)), 202),
    "Laplace on integers": noise_of(LaplaceMechanism(sensitivity=1, scale=1), 203),
}
sound = pytest.mark.parametrize("name", SOUND)


@sound
def test_low_bits_show_no_more_than_the_claim(name, false_alarm_level):
    assert attacks.low_bits(SOUND[name], SCALE, RUNS, float(false_alarm_level)) <= 1


def test_low_bits_break_the_textbook_formula(false_alarm_level):
    naive = attacks.naive_laplace(np.random.default_rng(211), SCALE)
    assert attacks.low_bits(naive, SCALE, RUNS, float(false_alarm_level)) > 3
    assert attacks.textbook_reaches(naive(0.0, 10_000), 0.0, SCALE).all()
    assert attacks.textbook_reaches(naive(0.0, 10_000), 1.0, SCALE).mean() < 0.8


@sound
def test_precision_shows_no_more_than_the_claim(name, false_alarm_level):
    assert attacks.precision(SOUND[name], RUNS, float(false_alarm_level)) <= 1


def test_precision_breaks_the_textbook_formula_and_also_good_noise_that_is_rounded_before_it_is_added(false_alarm_level):
    naive = attacks.naive_laplace(np.random.default_rng(212), SCALE)
    assert attacks.precision(naive, RUNS, float(false_alarm_level)) > 3
    good = noise_of(RealLaplaceMechanism(sensitivity=1, scale=1), 213)
    assert attacks.precision(lambda value, count: value + good(0.0, count), RUNS, float(false_alarm_level)) > 3


def test_real_gaussian_noise_has_all_digits_on_both_values():
    # Not pure, so no epsilon refutes it; but nearly all outputs near 0 have digits beyond 2**-53 whichever the value is.
    sampler = noise_of(RealGaussianMechanism(sensitivity=1, sigma=1), 214)
    for value in attacks.NEIGHBOURS:
        small = (outputs := sampler(value, RUNS))[np.abs(outputs) < 2.0**-4] * 2.0**53
        assert len(small) > 1000
        assert (small != np.rint(small)).mean() > 0.9


def tape_to(noise, family, value, target):
    """A cell and a tape with which the kernel must give `target` on `value`: the law's place of their exact difference."""
    steps = (Fraction(target) - Fraction(value)) / Fraction(2) ** noise.exponent
    step = round(steps)
    with working_precision(400):
        below = ball_endpoints(noise.cells.below(step, steps - step))[0]
    return step, TapeSource(min(max(int(below * 2**300), 0), 2**300 - 1), 300)


@pytest.mark.parametrize("family", [LaplaceCells, GaussianCells])
@pytest.mark.parametrize("place", [0.3, 0.5000001, -0.9, 1.75, -2.5, 1e-9, 1e-30, 7.25])
def test_every_float_near_a_place_is_reached_from_both_values(family, place):
    noise, window = real_noise(family, Fraction(1)), attacks.near(place, 64).tolist()
    for value in attacks.NEIGHBOURS:
        reached = []
        for target in window:
            step, tape = tape_to(noise, family, value, target)
            reached.append(sum_at(noise, value, step, tape))
        assert window == reached


@pytest.mark.parametrize("place", [0.3, 0.5000001, -0.9])
def test_the_textbook_formula_reaches_different_floats_from_the_two_values(place):
    window = attacks.near(place, 4096)
    first, second = (attacks.textbook_reaches(window, value, SCALE) for value in attacks.NEIGHBOURS)
    assert (first != second).mean() > 0.1


FORM = FloatFormat(3, -4)
WINDOW = [float(FORM.number(rank)) for rank in range(FORM.rank(Fraction(-3)), FORM.rank(Fraction(3)) + 1)]


def small_support(family, value):
    """Everything in the window that the kernel gives with few-digit sizes: all cells, and all places of six digits, continued."""
    tuning = RealTuning(fineness=3, prefix=1, step=1, envelope=Tuning(cell_bits=8, cut=Fraction(1), prefix=1, step=1))
    noise, found = real_noise(family, Fraction(1), tuning, FORM), set()
    for step in range(-40, 41):
        for digits in range(2**6):
            found.add(sum_at(noise, value, step, TapeSource(digits << 122 | 2**122 // 3, 128)))
    return found & set(WINDOW)


@pytest.mark.parametrize("family", [LaplaceCells, GaussianCells])
def test_small_kernels_reach_the_same_numbers_from_both_values(family):
    first, second = (small_support(family, value) for value in attacks.NEIGHBOURS)
    assert set(WINDOW) == first == second


def test_a_small_textbook_formula_does_not():
    supports = []
    for value in attacks.NEIGHBOURS:
        noise = attacks.textbook_noise((np.arange(1, 2**7) - 2.0**6) / 2**7, SCALE)
        rounded = [float(FORM.number(FORM.rank(Fraction(each)))) for each in noise.tolist()]
        supports.append({FORM.sum_one(value, each) for each in rounded} & set(WINDOW))
    assert supports[0] != supports[1]


def test_integer_noise_reaches_the_same_integers_from_both_values():
    for mechanism in (LaplaceMechanism(sensitivity=1, scale=1), GaussianMechanism(sensitivity=1, sigma=1)):
        supports = [set(mechanism.releases(value, 10**5, InsecureSeededSourceForTestsOnly(221)).tolist()) for value in (0, 1)]
        assert set(range(-2, 4)) <= supports[0] & supports[1]


def laplace_score(size):
    """P(|noise| < size) for Laplace noise of scale 1."""
    return -np.expm1(-size)


def gaussian_score(size):
    """P(|noise| < size) for Gaussian noise of deviation 1."""
    return np.array([math.erf(each / math.sqrt(2)) for each in size.tolist()])


FINE = Fraction(1, 2**10)
SCALAR = {
    "real Laplace": (RealLaplaceMechanism(sensitivity=1, scale=1), laplace_score),
    "real Gaussian": (RealGaussianMechanism(sensitivity=1, sigma=1), gaussian_score),
    "Laplace on a lattice": (LaplaceMechanism(sensitivity=1, scale=1, lattice=FINE), laplace_score),
    "Gaussian on a lattice": (GaussianMechanism(sensitivity=1, sigma=1, lattice=FINE), gaussian_score),
}


@pytest.mark.parametrize("name", SCALAR)
def test_the_time_of_a_release_says_next_to_nothing_about_the_size_of_its_noise(name):
    # Scores that are uniform and independent of the times are correlated by 0.02 with a probability below
    # 2 exp(-200,000 * 0.02**2 / 2) < 1e-16 whatever the times are, because uniform numbers are strictly subgaussian (up to
    # estimating mean and spread). Outliers stay in: they are part of what an attacker sees, and bounded scores keep a few of
    # them from deciding. What remains to 0.02 is room for the few nanoseconds that the interpreter's own arithmetic differs by.
    mechanism, score = SCALAR[name]
    times, outputs = attacks.clocked(lambda: mechanism.release(0), CALLS)
    scores = score(np.abs(np.array([float(output) for output in outputs])))
    assert abs(attacks.time_correlation(times, scores)) < 0.02
    assert attacks.time_by_size(times, scores) < 0.05


def test_the_same_clock_finds_noise_that_is_counted_out():
    source = InsecureSeededSourceForTestsOnly(231)

    def counted():
        steps = 0
        while source.bits(8) < 192:
            steps += 1
        return steps

    times, outputs = attacks.clocked(counted, CALLS // 10)
    scores = np.argsort(np.argsort(outputs, kind="stable"), kind="stable") / len(outputs)
    assert attacks.time_by_size(times, scores) > 1
    trimmed = times <= np.quantile(times, 0.99)
    assert attacks.time_correlation(times[trimmed], scores[trimmed]) > 0.5


def score_vectors():
    """A thousand scores: all alike, spread out, one far above the rest at either end, far apart."""
    spread = np.random.default_rng(241).normal(size=1000) * 10
    first, last = np.zeros(1000), np.zeros(1000)
    first[0] = last[-1] = 1e6
    return [np.zeros(1000), spread, np.sort(spread), first, last, spread * 1e300]


def test_the_time_of_a_selection_does_not_depend_on_the_scores():
    mechanism = ExponentialMechanism(sensitivity=1, epsilon=1)
    assert attacks.selection_times(mechanism.release, score_vectors(), 300) < 1.3


def test_the_same_clock_finds_a_selection_that_stops_at_the_first_candidate_it_accepts():
    rng = np.random.default_rng(242)

    def stopping(scores):
        best = scores.max()
        while True:
            candidate = int(rng.integers(len(scores)))
            if rng.random() < math.exp(max((scores[candidate] - best) / 2, -700.0)):
                return candidate

    assert attacks.selection_times(stopping, score_vectors()[:4], 30) > 3
