"""Additive noise at the edges of its number formats: nothing wraps, what cannot be held is refused, fixed work changes nothing."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from mechanisms import (
    DiscreteGaussianMechanism,
    DiscreteLaplace,
    GaussianMechanism,
    InsecureSeededSourceForTestsOnly,
    LaplaceMechanism,
)
from mechanisms.laws.law import Sampler

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")


def law_of(*draws):
    """A law whose draws are given, to see what is done with extreme ones."""
    many, one = (lambda source, n, wide: np.resize(np.array(draws, dtype=np.int64), n)), (lambda source: draws[0])
    return SimpleNamespace(sampler=Sampler(many, one, 1))


def with_draws(mechanism, *draws):
    """The mechanism with a law that gives these draws."""
    noise = mechanism._noise
    mechanism.__dict__["_noise"] = replace(noise, law=law_of(*draws))
    return mechanism


def laplace(**changes):
    return LaplaceMechanism(**{"sensitivity": 1, "epsilon": "1/2", **changes})


def gaussian(**changes):
    return GaussianMechanism(**{"sensitivity": 1, "sigma": 2, **changes})


def discrete(**changes):
    return DiscreteGaussianMechanism(**{"sensitivity": 1, "sigma": 2, **changes})


every = pytest.mark.parametrize("make", [laplace, gaussian, discrete])


@every
def test_the_largest_values_that_are_accepted_do_not_overflow(make, unasked):
    top = np.array([2**60, -(2**60)])
    extreme = with_draws(make(), 2**60 - 1, -(2**60) + 1)
    assert [[2**61 - 1, -(2**61) + 1]] == extreme.releases(top, 1, InsecureSeededSourceForTestsOnly(1)).tolist()
    assert 2**61 - 1 == extreme.releases(2**60, 1, InsecureSeededSourceForTestsOnly(1))[0]
    with pytest.raises(DpauditError, match="DPA108"):
        extreme.releases(2**60 + 1, 1, unasked)


@every
@pytest.mark.parametrize("value", [2**60, 5, 0, -(2**60)])
@pytest.mark.parametrize("sign", [1, -1])
def test_whether_a_release_is_refused_depends_on_its_result_alone(make, value, sign):
    # Noise of 2**62 and beyond, which no int64 draw holds, belongs to results that are refused whatever the value is.
    assert 2**62 - 2**60 > 2**61 - 1
    for total, refused in ((2**61 - 1, False), (2**61, True)):
        mechanism = with_draws(make(), sign * total - value)
        if refused:
            with pytest.raises(DpauditError, match="DPA108"):
                mechanism.release(np.array([value]), InsecureSeededSourceForTestsOnly(1))
        else:
            assert [sign * total] == mechanism.release(np.array([value]), InsecureSeededSourceForTestsOnly(1)).tolist()


@every
@pytest.mark.parametrize(("lattice", "value"), [("1/4", 0.25), (4, 8)])
def test_a_draw_too_large_for_the_array_is_an_error_after_the_release_was_logged(make, lattice, value):
    mechanism = with_draws(make(sensitivity=4, lattice=lattice), 2**61)
    with recording() as log, pytest.raises(DpauditError, match="DPA108"):
        mechanism.release(np.array([value]), InsecureSeededSourceForTestsOnly(1))
    assert 1 == len(log)


@every
def test_a_whole_number_never_overflows_when_released_alone(make):
    assert 2**80 + 2**70 == with_draws(make(), 2**70).release(2**80, InsecureSeededSourceForTestsOnly(1))


@pytest.mark.parametrize(
    "mechanism",
    [
        laplace(epsilon=Fraction(1, 2**55)),
        laplace(epsilon=Fraction(1, 2**48), sensitivity=1, lattice="1/4"),
        gaussian(sigma=2**55),
        gaussian(sigma=2**55, sensitivity=4, lattice=4),
    ],
)
def test_noise_that_arrays_cannot_hold_is_refused_before_bits_are_drawn(mechanism, unasked):
    value = np.array([4.0]) if mechanism.lattice.denominator > 1 else np.array([4])
    with recording() as log, pytest.raises(DpauditError, match="DPA108"):
        mechanism.release(value, unasked)
    assert [] == log


@pytest.mark.parametrize("value", [2**60, -(2**60), 0])
@pytest.mark.parametrize(
    "mechanism",
    [
        laplace(epsilon=Fraction(1, 2**54)),
        laplace(epsilon=Fraction(1, 2**52), fixed_work=True),
        gaussian(sigma=2**54),
        discrete(sigma=2**54),
        laplace(sensitivity=8, epsilon=Fraction(1, 2**50), lattice=8),
    ],
)
def test_the_widest_noise_on_the_largest_values_never_wraps(mechanism, value):
    source = InsecureSeededSourceForTestsOnly(33)
    for released in (mechanism.releases(value, 3000, source), mechanism.release(np.full(3000, value), source)):
        noise = [int(entry) - value for entry in released]
        assert 2**50 < max(noise) < 2**62
        assert -(2**50) > min(noise) > -(2**62)


@every
def test_unsigned_values_are_read_as_what_they_are(make):
    largest = np.array([2**60, 0], dtype=np.uint64)
    assert [2**60 - 5, -5] == with_draws(make(), -5).release(largest, InsecureSeededSourceForTestsOnly(1)).tolist()
    small = np.array([250, 0], dtype=np.uint8)
    assert [260, 10] == with_draws(make(), 10).release(small, InsecureSeededSourceForTestsOnly(1)).tolist()


@pytest.mark.parametrize("exponent", [55, 58, 60, 62, 100])
@every
def test_wider_noise_is_for_single_numbers_of_any_size_only(make, exponent, unasked):
    width = 2**exponent
    mechanism = make(**({"epsilon": None, "scale": width} if make is laplace else {"sigma": width}))
    for attempt in (lambda: mechanism.release(np.array([1]), unasked), lambda: mechanism.releases(1, 2, unasked)):
        with recording() as log, pytest.raises(DpauditError, match="DPA108"):
            attempt()
        assert [] == log
    source = InsecureSeededSourceForTestsOnly(34)
    noise = [mechanism.release(2**62, source) - 2**62 for _ in range(200)]
    assert all(type(entry) is int for entry in noise)
    assert width < max(noise) < 64 * width
    assert -width > min(noise) > -64 * width


def test_fixed_work_gives_the_same_law_at_the_same_price():
    plain, fixed = laplace(lattice="1/4"), laplace(lattice="1/4", fixed_work=True)
    with recording() as log:
        released = fixed.releases(3, 500, InsecureSeededSourceForTestsOnly(35))
        plain.releases(3, 500, InsecureSeededSourceForTestsOnly(35))
    assert log[0] == log[1]
    drawn = DiscreteLaplace(8).sample(500, source=InsecureSeededSourceForTestsOnly(35), fixed_work=True)
    assert (3 + drawn / 4).tolist() == released.tolist()
    assert isinstance(fixed.release(1), Fraction)
    assert plain != fixed == pickle.loads(pickle.dumps(fixed))
    assert "True" == fixed.to_dict()["fixed_work"]
    assert "fixed work" in fixed.describe()
    assert "fixed work" not in plain.describe()


def test_fixed_work_that_arrays_cannot_hold_is_refused_before_bits_are_drawn(unasked):
    mechanism = laplace(epsilon=Fraction(1, 2**56), fixed_work=True)
    with recording() as log, pytest.raises(DpauditError, match="DPA108"):
        mechanism.release(np.array([4]), unasked)
    assert [] == log
    assert type(mechanism.release(4)) is int


@pytest.mark.parametrize("fixed_work", [1, None, "True"])
def test_fixed_work_is_yes_or_no(fixed_work):
    with pytest.raises(DpauditError, match="DPA105"):
        laplace(fixed_work=fixed_work)
