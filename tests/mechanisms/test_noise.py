"""Additive noise of every kind: values on a lattice, exact sums, the log and its price, refusals before any bit is drawn."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.releases import recording
from mechanisms import (
    DiscreteGaussian,
    DiscreteGaussianMechanism,
    DiscreteLaplace,
    GaussianMechanism,
    InsecureSeededSourceForTestsOnly,
    LaplaceMechanism,
    RoundedGaussian,
)
from mechanisms.steps import format_of

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")


def laplace(**changes):
    return LaplaceMechanism(**{"sensitivity": 1, "epsilon": "1/2", **changes})


def gaussian(**changes):
    return GaussianMechanism(**{"sensitivity": 1, "sigma": 2, **changes})


def discrete(**changes):
    return DiscreteGaussianMechanism(**{"sensitivity": 1, "sigma": 2, **changes})


every = pytest.mark.parametrize("make", [laplace, gaussian, discrete])


@pytest.mark.parametrize(
    ("mechanism", "law", "lattice"),
    [
        (laplace(), DiscreteLaplace(2), 1),
        (laplace(sensitivity=3, epsilon="1/7", lattice="3/2"), DiscreteLaplace(14), Fraction(3, 2)),
        (laplace(sensitivity="1/10", epsilon=1, lattice="1/10"), DiscreteLaplace(1), Fraction(1, 10)),
        (gaussian(), RoundedGaussian(2), 1),
        (gaussian(lattice="1/8"), RoundedGaussian(16), Fraction(1, 8)),
        (gaussian(sensitivity=6, sigma=9, lattice=3), RoundedGaussian(3), 3),
        (discrete(), DiscreteGaussian(sigma=2), 1),
        (
            discrete(sensitivity=1, sigma=None, sigma_squared="1/3", lattice="1/6"),
            DiscreteGaussian(sigma_squared=12),
            Fraction(1, 6),
        ),
    ],
)
def test_a_release_is_the_value_plus_lattice_times_a_draw_of_the_law(mechanism, law, lattice):
    def source():
        return InsecureSeededSourceForTestsOnly(31)

    noise = [lattice * int(step) for step in law.sample(1000, source=source())]
    assert [6 * lattice + step for step in noise] == mechanism.releases(6 * lattice, 1000, source()).tolist()
    assert 6 * lattice + lattice * law.sample(source=source()) == mechanism.release(6 * lattice, source())


@every
def test_an_array_gets_independent_noise_in_every_entry(make):
    noise = make().release(np.zeros((500, 4), dtype=np.int64), InsecureSeededSourceForTestsOnly(32))
    assert (500, 4) == noise.shape
    assert 4 == len({tuple(column) for column in noise.T.tolist()})
    assert abs(np.corrcoef(noise.T) - np.eye(4)).max() < 0.35  # each entry has deviation 1/sqrt(500): beyond 7 of them


@every
@pytest.mark.parametrize("value", [3, Fraction(3), Decimal(3), "3", 3.0, np.int32(3), 10**30, -(10**30)])
def test_numbers_on_the_lattice_of_every_type_give_integers(make, value):
    released = make().release(value)
    assert type(released) is int
    assert abs(released - Fraction(value)) < 2000


@every
def test_numbers_on_a_fractional_lattice_give_fractions_on_it(make):
    released = make(lattice="1/3").release("7/3")
    assert isinstance(released, Fraction)
    assert 1 == (released * 3).denominator


@every
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_integer_arrays_give_new_int64_arrays_of_their_shape(make, dtype):
    array = np.arange(6, dtype=dtype).reshape(2, 3)
    before = array.copy()
    released = make().release(array)
    assert ((2, 3), np.int64) == (released.shape, released.dtype)
    assert not np.shares_memory(array, released)
    np.testing.assert_array_equal(before, array)
    assert () == make().release(np.array(5)).shape
    assert (4, 2, 3) == make().releases(array, 4).shape


@every
def test_float_arrays_on_a_dyadic_lattice_give_exact_floats_on_it(make):
    array = np.array([0.25, -7.5, 2.0**40])
    before = array.copy()
    released = make(lattice="1/4").releases(array, 100)
    assert np.float64 == released.dtype
    assert (released * 4 == np.rint(released * 4)).all()
    assert (np.abs(released - array) < 4000).all()
    np.testing.assert_array_equal(before, array)


def test_repeated_releases_on_a_decimal_lattice_are_fractions():
    released = laplace(sensitivity="1/10", lattice="1/10").releases("0.3", 5)
    assert all(isinstance(entry, Fraction) and 10 % entry.denominator == 0 for entry in released)


@every
def test_read_only_and_strided_arrays_are_released(make):
    array = np.arange(20)[::-3]
    array.setflags(write=False)
    assert array.shape == make().release(array).shape


@every
@pytest.mark.parametrize("value", [0.1, "1/3", Decimal("0.5"), np.array([0.5, 1.0])])
def test_values_off_the_lattice_are_refused(make, value, unasked):
    with pytest.raises(DpauditError, match="DPA107"):
        make().release(value, unasked)


@every
@pytest.mark.parametrize("value", [6, np.array([8, 6]), np.array([-1]), np.array([4.0, 6.0])])
def test_values_off_a_coarse_lattice_are_refused(make, value, unasked):
    with pytest.raises(DpauditError, match="DPA107"):
        make(sensitivity=4, lattice=4).release(value, unasked)


BAD_VALUES = [
    ("DPA102", math.nan),
    ("DPA102", math.inf),
    ("DPA102", Decimal("NaN")),
    ("DPA101", True),
    ("DPA101", None),
    ("DPA101", "seventeen"),
    ("DPA101", [1, 2]),
    ("DPA101", 1j),
    ("DPA109", np.array([], dtype=np.int64)),
    ("DPA109", np.zeros((3, 0))),
    ("DPA105", np.array([True])),
    ("DPA105", np.array([1.0], dtype=np.float32)),
    ("DPA105", np.array([1], dtype=object)),
    ("DPA105", np.array(["1"])),
    ("DPA105", np.array([1j])),
    ("DPA102", np.array([1.0, math.nan])),
    ("DPA102", np.array([1.0, -math.inf])),
    ("DPA108", np.array([2**60 + 1])),
    ("DPA108", np.array([-(2**60) - 1])),
    ("DPA108", np.array([2**64 - 1], dtype=np.uint64)),
    ("DPA108", np.array([2.0**52 + 1])),
    ("DPA108", np.array([1e308])),
]


@every
@pytest.mark.parametrize(("code", "value"), BAD_VALUES)
def test_bad_values_are_refused_before_bits_are_drawn_or_anything_is_logged(make, code, value, unasked):
    mechanism = make()
    with recording() as log:
        for call in (lambda: mechanism.release(value, unasked), lambda: mechanism.releases(value, 2, unasked)):
            with pytest.raises(DpauditError, match=code) as caught:
                call()
    assert [] == log
    assert "seventeen" not in caught.value.message


numbers_and_junk = (
    st.floats()
    | st.integers()
    | st.fractions()
    | st.decimals()
    | st.text()
    | st.booleans()
    | st.none()
    | st.binary()
    | st.complex_numbers()
)


@every
@given(
    value=numbers_and_junk | st.lists(st.floats(), max_size=4).map(np.array), lattice=st.fractions(min_value="1/100", max_value=1)
)
def test_whatever_is_released_either_works_or_is_refused_with_a_code(make, value, lattice, unasked):
    mechanism = make(sensitivity=3 * lattice, lattice=lattice)
    try:
        released = mechanism.release(value)
    except DpauditError:
        with pytest.raises(DpauditError):
            mechanism.release(value, unasked)
    else:
        before, after = (np.array(each, dtype=object).reshape(-1).tolist() for each in (value, released))
        assert all(1 == ((Fraction(new) - Fraction(old)) / lattice).denominator for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize("lattice", ["1/3", "1/10"])
@pytest.mark.parametrize("array", [np.array([1, 2]), np.array([1.0, 2.0])])
def test_arrays_on_a_lattice_that_they_cannot_hold_are_refused(lattice, array, unasked):
    with pytest.raises(DpauditError, match="DPA105"):
        laplace(lattice=lattice).release(array, unasked)


def test_integer_arrays_on_a_fractional_lattice_are_refused(unasked):
    with pytest.raises(DpauditError, match="DPA105"):
        laplace(lattice="1/4").release(np.array([1, 2]), unasked)


@given(lattice=st.fractions(min_value=Fraction(1, 2**70), max_value=2**70), steps=st.lists(st.integers(-50, 50), min_size=1))
def test_writing_steps_is_exact_in_every_format(lattice, steps):
    written = format_of(lattice).write(np.array(steps, dtype=np.int64), lattice)
    assert [step * lattice for step in steps] == [Fraction(entry) for entry in written.tolist()]


@pytest.mark.parametrize("count", [0, -1, 2**32 + 1, 2.0, True, "3", None])
@every
def test_bad_counts_are_refused(make, count, unasked):
    with pytest.raises(DpauditError, match=r"DPA10[35]"):
        make().releases(1, count, unasked)


@pytest.mark.parametrize("source", [7, "seed", np.random.default_rng(1)])
@every
def test_a_seed_is_no_source_of_bits(make, source):
    with pytest.raises(DpauditError, match="DPA105"):
        make().release(1, source)


PARAMETERS = [
    ("DPA104", {"sensitivity": 0}),
    ("DPA104", {"sensitivity": -1}),
    ("DPA102", {"sensitivity": math.nan}),
    ("DPA101", {"sensitivity": True}),
    ("DPA101", {"sensitivity": None}),
    ("DPA104", {"lattice": 0}),
    ("DPA102", {"lattice": math.inf}),
    ("DPA107", {"sensitivity": "1/2"}),
    ("DPA103", {"adjacency": "nearby"}),
    ("DPA105", {"adjacency": 3}),
]


@every
@pytest.mark.parametrize(("code", "changes"), PARAMETERS)
def test_bad_parameters_are_refused(make, code, changes):
    with pytest.raises(DpauditError, match=code):
        make(**changes)


@pytest.mark.parametrize(
    ("code", "make", "changes"),
    [
        ("DPA106", laplace, {"scale": 1}),
        ("DPA106", laplace, {"epsilon": None}),
        ("DPA104", laplace, {"epsilon": 0}),
        ("DPA102", laplace, {"epsilon": None, "scale": math.inf}),
        ("DPA107", laplace, {"sensitivity": "3/2"}),
        ("DPA106", gaussian, {"noise_multiplier": 1}),
        ("DPA106", gaussian, {"sigma": None}),
        ("DPA104", gaussian, {"sigma": -2}),
        ("DPA102", gaussian, {"sigma": None, "noise_multiplier": math.nan}),
    ],
)
def test_noise_must_be_given_once_and_positive(code, make, changes):
    with pytest.raises(DpauditError, match=code):
        make(**changes)


def test_an_l2_sensitivity_need_not_be_a_multiple_of_the_lattice():
    assert Fraction("1.5") == gaussian(sensitivity="1.5").sensitivity


def test_the_two_ways_to_give_the_noise_agree():
    assert LaplaceMechanism(sensitivity=3, scale=6) == LaplaceMechanism(sensitivity=3, epsilon="1/2")
    assert GaussianMechanism(sensitivity=3, sigma=6) == GaussianMechanism(sensitivity=3, noise_multiplier=2)


@pytest.mark.parametrize(("epsilon", "delta"), [("1/10", "1e-5"), (1, "1e-6"), (8, "1e-9")])
def test_gaussian_noise_for_epsilon_and_delta_is_the_least_that_keeps_them(epsilon, delta):
    made = GaussianMechanism(sensitivity=3, epsilon=epsilon, delta=delta)
    less = GaussianMechanism(sensitivity=3, noise_multiplier=made.noise_multiplier * Fraction(99, 100))
    assert made.loss.delta(epsilon=epsilon).upper <= Fraction(delta) < less.loss.delta(epsilon=epsilon).lower
    assert made == GaussianMechanism(sensitivity=3, noise_multiplier=made.noise_multiplier)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"epsilon": 1}, "DPA106 epsilon and delta are needed together, got epsilon alone"),
        ({"delta": "1e-6"}, "DPA106 epsilon and delta are needed together, got delta alone"),
        ({"epsilon": 1, "delta": "1e-6", "sigma": 2}, "DPA106 only one of .* got sigma and epsilon with delta"),
        ({"epsilon": 1, "delta": 0}, "DPA103 delta"),
        ({"epsilon": 1, "delta": 1}, "DPA103 delta"),
        ({"epsilon": 0, "delta": "1e-6"}, "DPA104 epsilon"),
        ({}, "DPA106 exactly one of noise_multiplier, sigma or epsilon with delta must be given, got none"),
    ],
)
def test_gaussian_noise_needs_one_way_to_say_how_much(given, code):
    with pytest.raises(InvalidArgument, match=code):
        GaussianMechanism(sensitivity=1, **given)


@pytest.mark.parametrize("lattice", [1, "1/4"])
def test_the_log_of_laplace_releases_prices_them_as_the_mechanism_does(lattice):
    mechanism = laplace(sensitivity=2, lattice=lattice, adjacency="replace_one")
    with recording() as log:
        mechanism.release(1)
        mechanism.releases(1, 3, InsecureSeededSourceForTestsOnly(1))
        mechanism.release(np.array([[1.0, 2.0]]) if lattice != 1 else np.array([[1, 2]]))
    assert [(1, 1, True), (1, 3, False), (2, 1, True)] == [(release.dimension, release.count, release.secure) for release in log]
    for release in log:
        assert "discrete_laplace" == release.kind
        assert (("lattice", Fraction(lattice)), ("scale", Fraction(4))) == release.parameters
        assert (Fraction(2), mechanism.adjacency) == (release.sensitivity, release.adjacency)
    for epsilon in ("0", "1/10", "1/3", "1/2"):
        assert mechanism.loss.delta(epsilon=epsilon) == price_releases(log[:1]).delta(epsilon=epsilon)
        vector = mechanism.loss_at(2, dimension=2)
        assert vector.delta(epsilon=epsilon).upper == price_releases(log[2:]).delta(epsilon=epsilon).upper
        assert mechanism.loss.delta(epsilon=epsilon).upper <= vector.delta(epsilon=epsilon).upper
    assert Fraction(1, 2) == mechanism.claim.guarantee.epsilon == mechanism.loss.epsilon(delta=0).upper
    assert mechanism.claim.relation == mechanism.loss.adjacency


@pytest.mark.parametrize("lattice", [1, "1/4"])
def test_the_log_of_gaussian_releases_prices_them_as_the_mechanism_does(lattice):
    mechanism = gaussian(sensitivity=3, lattice=lattice, adjacency="replace_one")
    with recording() as log:
        mechanism.release(1)
        mechanism.release(np.array([1.0, 2.0]) if lattice != 1 else np.array([1, 2]), InsecureSeededSourceForTestsOnly(1))
    assert [(1, True), (2, False)] == [(release.dimension, release.secure) for release in log]
    for release in log:
        assert "rounded_gaussian" == release.kind
        assert (("lattice", Fraction(lattice)), ("sigma", Fraction(2))) == release.parameters
        assert (Fraction(3), mechanism.adjacency) == (release.sensitivity, release.adjacency)
        for epsilon in ("0", "1/2", "2"):
            assert mechanism.loss.delta(epsilon=epsilon) == price_releases([release]).delta(epsilon=epsilon)
    assert Fraction(3, 2) == mechanism.claim.guarantee.mu
    assert mechanism.claim.relation == mechanism.loss.adjacency


def probability(law, k):
    """P[X = k] with 40 digits."""
    found = law.pmf(k, precision=160)
    return mpmath.mpf(found.lower.numerator) / found.lower.denominator


@pytest.mark.parametrize("epsilon", ["0", "1/7", "1/2", "9/10"])
@pytest.mark.parametrize(
    ("mechanism", "law", "steps"),
    [
        (laplace(sensitivity=3, epsilon="9/10"), DiscreteLaplace("10/3"), 3),
        (laplace(sensitivity="3/4", epsilon="3/10", lattice="1/4"), DiscreteLaplace(10), 3),
        (gaussian(sensitivity=3, sigma=2), RoundedGaussian(2), 3),
        (gaussian(sensitivity="7/8", sigma="1/2", lattice="1/4"), RoundedGaussian(2), 3),
        (discrete(sensitivity=2, sigma="3/2"), DiscreteGaussian(sigma="3/2"), 2),
        (discrete(sensitivity="1/2", sigma=1, lattice="1/3"), DiscreteGaussian(sigma=3), 1),
    ],
)
def test_the_loss_of_a_number_encloses_what_its_definition_gives(mechanism, law, steps, epsilon):
    with mpmath.workdps(40):
        factor = mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        masses = {k: probability(law, k) for k in range(-400, 401)}
        defined = sum(max(masses[k - steps] - factor * masses[k], 0) for k in range(steps - 400, 401))
        found = mechanism.loss.delta(epsilon=epsilon)
        assert mpmath.mpf(found.lower.numerator) / found.lower.denominator <= defined + mpmath.mpf(10) ** -14
        assert defined <= mpmath.mpf(found.upper.numerator) / found.upper.denominator + mpmath.mpf(10) ** -14
        if not isinstance(mechanism, GaussianMechanism):
            assert found.upper - found.lower < Fraction(1, 10**12)


def test_the_loss_of_an_array_covers_every_way_to_move():
    # Two coordinates, moved by (2, 1) and (3, 0) under L1 sensitivity 3: sums over all pairs of outputs.
    mechanism, law = laplace(sensitivity=3, epsilon="3/2"), DiscreteLaplace(2)
    masses = np.array([float(law.pmf(k).lower) for k in range(-60, 61)])
    for epsilon in (0.0, 0.5, 1.2):
        covered = float(mechanism.loss_at(3, dimension=2).delta(epsilon=epsilon).upper)
        for first, second in ((3, 0), (2, 1)):
            moved = np.outer(np.roll(masses, first), np.roll(masses, second))
            assert np.maximum(moved - np.exp(epsilon) * np.outer(masses, masses), 0).sum() <= covered + 1e-9


def test_the_loss_grows_with_the_distance():
    assert Fraction(2) == laplace(epsilon=1).loss_at(2).epsilon(delta=0).upper
    assert gaussian().loss_at(2).delta(epsilon=1).lower > gaussian().loss_at(1).delta(epsilon=1).upper
    with pytest.raises(DpauditError, match="DPA107"):
        laplace().loss_at("1/2")
    with pytest.raises(DpauditError, match="DPA104"):
        gaussian().loss_at(0)


@every
def test_a_mechanism_is_a_value_that_can_be_pickled_and_built_from_its_description(make):
    mechanism = make(sensitivity="3/4", lattice="1/4")
    mechanism.release(1)
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    assert 1 == len({mechanism, make(sensitivity="3/4", lattice="1/4")})
    text = mechanism.to_dict()
    assert type(mechanism).__name__ == text.pop("mechanism")
    assert mechanism == type(mechanism)(**text)
    assert "3/4" in mechanism.describe() or "0.75" in mechanism.describe()


def test_a_description_has_all_digits_however_many():
    huge = LaplaceMechanism(sensitivity=10**5000, scale=10**5000, lattice=10**5000)
    assert 5001 == len(huge.to_dict()["scale"])
    assert "2^16609" in huge.describe()
