"""Mechanisms for floats: what they accept and give, what they log and cost, and what they refuse before any bit is drawn."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import gaussian, laplace, price_releases, pure_dp
from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from mechanisms import InsecureSeededSourceForTestsOnly, RealGaussianMechanism, RealLaplaceMechanism
from mechanisms.sampling.cells import GaussianCells, LaplaceCells
from mechanisms.sampling.real_noise import noisy_sum, noisy_sums, real_noise

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

LARGEST = math.ldexp(2 - 2.0**-52, 1023)


def laplace_noise(**changes):
    return RealLaplaceMechanism(**{"sensitivity": 1, "epsilon": "1/2", **changes})


def gaussian_noise(**changes):
    return RealGaussianMechanism(**{"sensitivity": 1, "sigma": 2, **changes})


both = pytest.mark.parametrize("make", [laplace_noise, gaussian_noise])


@pytest.mark.parametrize(
    ("mechanism", "family", "scale"),
    [
        (laplace_noise(), LaplaceCells, Fraction(2)),
        (laplace_noise(sensitivity="0.3", epsilon="1/7"), LaplaceCells, Fraction(21, 10)),
        (gaussian_noise(), GaussianCells, Fraction(2)),
        (gaussian_noise(sensitivity=3, sigma=None, noise_multiplier="1/7"), GaussianCells, Fraction(3, 7)),
    ],
)
def test_a_release_is_the_value_plus_noise_of_the_stated_scale(mechanism, family, scale):
    def source():
        return InsecureSeededSourceForTestsOnly(41)

    noise, values = real_noise(family, scale), np.array([[0.1, -3.0], [1e9, 0.0]])
    assert noisy_sum(noise, 0.1, source()) == mechanism.release(0.1, source())
    assert noisy_sums(noise, values.reshape(-1), source()).tolist() == mechanism.release(values, source()).reshape(-1).tolist()
    assert noisy_sums(noise, np.full(500, 0.1), source()).tolist() == mechanism.releases(0.1, 500, source()).tolist()
    repeated = noisy_sums(noise, np.tile(values.reshape(-1), 3), source())
    assert repeated.tolist() == mechanism.releases(values, 3, source()).reshape(-1).tolist()


@both
@pytest.mark.parametrize(
    "value",
    [3, 2**80, Fraction(1, 4), Decimal("0.5"), "0.125", 0.1, -0.0, np.float64(0.1), 5e-324, LARGEST, -LARGEST],
)
def test_every_finite_float_is_released_as_a_finite_float(make, value):
    released = make().release(value)
    assert type(released) is float
    assert abs(Fraction(released) - Fraction(value)) < 2000 or abs(released - float(value)) <= math.ulp(float(value))


@both
def test_arrays_keep_their_shape_and_are_never_changed(make):
    array = np.array([[0.1, -7.5], [1e-310, LARGEST]])
    before = array.copy()
    released = make().release(array)
    assert ((2, 2), np.float64) == (released.shape, released.dtype)
    assert np.isfinite(released).all()
    assert not np.shares_memory(array, released)
    np.testing.assert_array_equal(before, array)
    assert () == make().release(np.array(5.0)).shape
    assert (4, 2, 2) == make().releases(array, 4).shape
    assert (7,) == make().releases(np.array(5.0), 7).shape


@both
def test_read_only_and_strided_arrays_are_released(make):
    array = np.arange(20.0)[::-3]
    array.setflags(write=False)
    assert array.shape == make().release(array).shape


@both
def test_an_array_gets_independent_noise_in_every_entry(make):
    noise = make().release(np.zeros((500, 4)), InsecureSeededSourceForTestsOnly(42))
    assert 2000 == len(set(noise.reshape(-1).tolist()))
    assert abs(np.corrcoef(noise.T) - np.eye(4)).max() < 0.35  # each entry has deviation 1/sqrt(500): beyond 7 of them


@both
def test_values_too_large_for_the_noise_are_released_as_they_are_and_tiny_ones_as_noise(make):
    source = InsecureSeededSourceForTestsOnly(43)
    assert [1e300] * 9 == make().releases(1e300, 9, source).tolist()
    tiny = make(sensitivity=Fraction(2) ** -890, **({"sigma": Fraction(2) ** -890} if make is gaussian_noise else {}))
    assert 0 < np.abs(tiny.releases(0.0, 9, source)).max() < 2.0**-880


BAD_VALUES = [
    ("DPA102", math.nan),
    ("DPA102", math.inf),
    ("DPA102", np.float64("-inf")),
    ("DPA102", Decimal("NaN")),
    ("DPA101", True),
    ("DPA101", None),
    ("DPA101", "seventeen"),
    ("DPA101", [1.0, 2.0]),
    ("DPA101", 1j),
    ("DPA101", np.float32(0.5)),
    ("DPA103", Fraction(1, 3)),
    ("DPA103", "0.1"),
    ("DPA103", Decimal("0.3")),
    ("DPA103", 2**53 + 1),
    ("DPA103", 2**1024),
    ("DPA103", Fraction(1, 2**1075)),
    ("DPA109", np.array([])),
    ("DPA109", np.zeros((3, 0))),
    ("DPA105", np.array([1, 2])),
    ("DPA105", np.array([True])),
    ("DPA105", np.array([1.0], dtype=np.float32)),
    ("DPA105", np.array([1.0], dtype=object)),
    ("DPA105", np.array(["1"])),
    ("DPA105", np.array([1j])),
    ("DPA102", np.array([1.0, math.nan])),
    ("DPA102", np.array([[1.0], [-math.inf]])),
]


@both
@pytest.mark.parametrize(("code", "value"), BAD_VALUES)
def test_bad_values_are_refused_before_bits_are_drawn_or_anything_is_logged(make, code, value, unasked):
    mechanism = make()
    with recording() as log:
        for call in (lambda: mechanism.release(value, unasked), lambda: mechanism.releases(value, 2, unasked)):
            with pytest.raises(DpauditError, match=code) as caught:
                call()
            assert "seventeen" not in caught.value.message
            assert "1/3" not in caught.value.message
    assert [] == log


junk = st.floats() | st.integers() | st.fractions() | st.decimals() | st.text() | st.booleans() | st.none() | st.binary()


@both
@given(value=junk | st.lists(st.floats(), max_size=4).map(lambda entries: np.array(entries, dtype=np.float64)))
def test_whatever_is_released_either_works_or_is_refused_with_a_code(make, value, unasked):
    mechanism = make()
    try:
        released = mechanism.release(value)
    except DpauditError:
        with pytest.raises(DpauditError):
            mechanism.release(value, unasked)
    else:
        assert np.isfinite(released).all()


@both
@pytest.mark.parametrize("count", [0, -1, 2**32 + 1, 2.0, True, "3", None])
def test_bad_counts_are_refused(make, count, unasked):
    with pytest.raises(DpauditError, match=r"DPA10[35]"):
        make().releases(1.0, count, unasked)


@both
@pytest.mark.parametrize("source", [7, "seed", np.random.default_rng(1)])
def test_a_seed_is_no_source_of_bits(make, source):
    with pytest.raises(DpauditError, match="DPA105"):
        make().release(1.0, source)


@pytest.mark.parametrize(
    ("code", "make", "changes"),
    [
        ("DPA104", laplace_noise, {"sensitivity": 0}),
        ("DPA102", gaussian_noise, {"sensitivity": math.nan}),
        ("DPA101", laplace_noise, {"sensitivity": True}),
        ("DPA103", gaussian_noise, {"adjacency": "nearby"}),
        ("DPA106", laplace_noise, {"scale": 1}),
        ("DPA106", laplace_noise, {"epsilon": None}),
        ("DPA104", laplace_noise, {"epsilon": 0}),
        ("DPA102", laplace_noise, {"epsilon": None, "scale": math.inf}),
        ("DPA103", laplace_noise, {"epsilon": None, "scale": 2**900 + 1}),
        ("DPA103", laplace_noise, {"sensitivity": 1, "epsilon": 2**901}),
        ("DPA106", gaussian_noise, {"noise_multiplier": 1}),
        ("DPA106", gaussian_noise, {"sigma": None}),
        ("DPA104", gaussian_noise, {"sigma": -2}),
        ("DPA103", gaussian_noise, {"sigma": Fraction(1, 2**901)}),
    ],
)
def test_bad_parameters_are_refused(code, make, changes):
    with pytest.raises(DpauditError, match=code):
        make(**changes)


def test_the_two_ways_to_give_the_noise_agree():
    assert RealLaplaceMechanism(sensitivity=3, scale=6) == RealLaplaceMechanism(sensitivity=3, epsilon="1/2")
    assert RealGaussianMechanism(sensitivity=3, sigma=6) == RealGaussianMechanism(sensitivity=3, noise_multiplier=2)


@both
def test_every_release_is_logged_before_its_noise_is_drawn(make, unasked):
    mechanism = make(sensitivity="3/4", adjacency="replace_one")
    with recording() as log:
        mechanism.release(1)
        mechanism.releases(1, 3, InsecureSeededSourceForTestsOnly(1))
        mechanism.release(np.array([[1.0, 2.0]]))
        with pytest.raises(AssertionError, match="bits were drawn"):
            mechanism.release(1.0, unasked)
    entries = [(entry.dimension, entry.count, entry.secure) for entry in log]
    assert [(1, 1, True), (1, 3, False), (2, 1, True), (1, 1, True)] == entries
    kind, name = ("real_laplace", "scale") if make is laplace_noise else ("real_gaussian", "sigma")
    for entry in log:
        assert (kind, Fraction(3, 4), mechanism.adjacency) == (entry.kind, entry.sensitivity, entry.adjacency)
        assert ((name, getattr(mechanism, name)),) == entry.parameters


EPSILONS = ("0", "1/10", "1/3", "1/2", "2")


def test_laplace_releases_cost_what_the_continuous_mechanism_costs():
    mechanism = laplace_noise(sensitivity="3/4")
    with recording() as log:
        mechanism.release(1)
        mechanism.release(np.array([1.0, 2.0]))
    assert laplace(scale="3/2", sensitivity="3/4") == mechanism.loss
    assert pure_dp(epsilon="1/2") == mechanism.loss_at("3/4", dimension=2)
    for epsilon in EPSILONS:
        assert mechanism.loss.delta(epsilon=epsilon).upper == price_releases(log[:1]).delta(epsilon=epsilon).upper
        assert (
            mechanism.loss_at("3/4", dimension=2).delta(epsilon=epsilon).upper
            == price_releases(log[1:]).delta(epsilon=epsilon).upper
        )
    assert Fraction(1, 2) == mechanism.claim.guarantee.epsilon == price_releases(log[:1]).epsilon(delta=0).upper
    assert mechanism.claim.relation == mechanism.loss.adjacency


def test_the_lower_end_of_a_laplace_price_is_reached_by_three_outputs_of_the_rounded_release():
    # Values d/2 and -d/2; the outputs are told apart at these two floats. The price's lower end must not exceed what they lose.
    distance, scale = 0.75, Fraction(3, 2)
    with recording() as log:
        laplace_noise(sensitivity=distance).release(0.0)
    ulp = Fraction(math.nextafter(distance / 2, 1)) - Fraction(distance / 2)
    for epsilon in ("0", "1/10", "1/3", "49/100"):
        above = math.exp(-(ulp / 2) / scale) / 2
        below = math.exp(-(Fraction(distance) + ulp / 2) / scale) / 2
        between = 1 - above - below
        exp = math.exp(Fraction(epsilon))
        lost = max(above - exp * below, 0) + max(between - exp * between, 0) + max(below - exp * above, 0)
        found = price_releases(log).delta(epsilon=epsilon)
        assert float(found.lower) <= lost * (1 + 1e-12)
        assert float(found.lower) > 0.8 * float(found.upper)


@pytest.mark.parametrize("sensitivity", [Fraction(1, 2**965), Fraction(1, 3), Fraction(2) ** 1030])
def test_sensitivities_that_are_no_ordinary_floats_are_priced_too(sensitivity):
    mechanism = RealLaplaceMechanism(sensitivity=sensitivity, scale=min(max(sensitivity, Fraction(1, 2**900)), 2**900))
    with recording() as log:
        mechanism.release(0.0)
    found = price_releases(log).delta(epsilon=0)
    assert 0 <= found.lower <= found.upper == mechanism.loss.delta(epsilon=0).upper


def test_gaussian_releases_cost_what_the_continuous_mechanism_costs():
    mechanism = gaussian_noise(sensitivity=3)
    with recording() as log:
        mechanism.release(1)
        mechanism.release(np.array([1.0, 2.0]))
    assert gaussian(sigma=2, sensitivity=3) == mechanism.loss
    for epsilon in EPSILONS:
        assert mechanism.loss.delta(epsilon=epsilon).upper == price_releases(log[:1]).delta(epsilon=epsilon).upper
        assert mechanism.loss.delta(epsilon=epsilon).upper == price_releases(log[1:]).delta(epsilon=epsilon).upper
    assert Fraction(3, 2) == mechanism.claim.guarantee.mu == 1 / mechanism.noise_multiplier
    assert mechanism.claim.relation == mechanism.loss.adjacency


def test_the_loss_grows_with_the_distance():
    assert Fraction(2) == laplace_noise(epsilon=1).loss_at(2).epsilon(delta=0).upper
    assert gaussian_noise().loss_at(2).delta(epsilon=1).lower > gaussian_noise().loss_at(1).delta(epsilon=1).upper
    for make in (laplace_noise, gaussian_noise):
        with pytest.raises(DpauditError, match="DPA104"):
            make().loss_at(0)


@both
def test_a_mechanism_is_a_value_that_can_be_pickled_and_built_from_its_description(make):
    mechanism = make(sensitivity="3/4")
    mechanism.release(1)
    text = pickle.dumps(mechanism)
    assert mechanism == pickle.loads(text)
    assert len(text) < 2000, "the sampler's table is pickled along"
    assert 1 == len({mechanism, make(sensitivity="3/4")})
    described = mechanism.to_dict()
    assert type(mechanism).__name__ == described.pop("mechanism")
    assert mechanism == type(mechanism)(**described)
    assert "3/4" in mechanism.describe() or "0.75" in mechanism.describe()
