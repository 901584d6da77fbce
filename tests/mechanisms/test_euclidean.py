"""The Euclidean Laplace law and the mechanism that adds it: probabilities, prices, refusals before any bit is drawn."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError, Unsupported
from dpaudit.exact import ball, working_precision
from dpaudit.releases import recording
from mechanisms import EuclideanLaplace, EuclideanMechanism, InsecureSeededSourceForTestsOnly, source_from
from mechanisms.euclidean import drawn_reals
from mechanisms.sampling import euclidean_noise
from mechanisms.sampling.euclidean_noise import draw_vectors
from mechanisms.sampling.random import OsBitSource
from mechanisms.sampling.reals import Revealing

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")


@pytest.mark.parametrize("scale", ["1/7", 1, "10/3", 20])
def test_the_one_dimensional_law_is_the_integral_of_the_laplace_density_and_sums_to_one(scale):
    law = EuclideanLaplace(scale, dimension=1)
    with mpmath.workdps(40):
        width = mpmath.mpf(law.scale.numerator) / law.scale.denominator
        for k in (0, 1, -1, 2, 7):
            low, high = max(mpmath.mpf(0), abs(k) - mpmath.mpf(1) / 2), abs(k) + mpmath.mpf(1) / 2
            integral = (mpmath.exp(-low / width) - mpmath.exp(-high / width)) / (2 if k else 1)
            assert law.pmf(k).lower - Fraction(1, 10**30) <= Fraction(str(integral)) <= law.pmf(k).upper + Fraction(1, 10**30)
    total = law.pmf(0).lower + 2 * sum(law.pmf(k).lower for k in range(1, int(60 * law.scale) + 60))
    assert 1 - Fraction(1, 10**25) <= total <= 1


def test_probabilities_beyond_one_dimension_are_refused():
    with pytest.raises(Unsupported, match="DPA202"):
        EuclideanLaplace(1, dimension=2).pmf(0)


@pytest.mark.parametrize(
    ("code", "scale", "dimension"),
    [
        ("DPA104", 0, 1),
        ("DPA104", -1, 1),
        ("DPA102", math.inf, 1),
        ("DPA101", "wide", 1),
        ("DPA103", 1, 0),
        ("DPA103", 1, 2**24 + 1),
        ("DPA105", 1, 2.0),
        ("DPA105", 1, True),
        ("DPA108", 2**56, 1),
        ("DPA108", 2**40, 2**21),
    ],
)
def test_laws_with_bad_parameters_are_refused(code, scale, dimension):
    with pytest.raises(DpauditError, match=code):
        EuclideanLaplace(scale, dimension=dimension)


def test_the_widest_law_fits_and_a_coordinate_that_does_not_is_an_error(monkeypatch):
    law = EuclideanLaplace(Fraction(2**61, 66), dimension=1)
    drawn = law.sample(2000, source=source_from(np.random.default_rng(1)))
    assert 0.8 < np.abs(drawn / float(law.scale)).mean() < 1.2
    assert (0, 1) == EuclideanLaplace(1, dimension=1).sample(0).shape
    monkeypatch.setattr(euclidean_noise, "_round_exactly", lambda *arguments: -(2**62))
    with pytest.raises(Unsupported, match="DPA108"):
        draw_vectors(Fraction(2**40), 1, 1, drawn_reals(OsBitSource(), Revealing(normal_bits=4, uniform_bits=4)))


def test_the_smallest_scales_give_zeros():
    assert [[0, 0, 0]] == EuclideanLaplace(Fraction(1, 10**400), dimension=3).sample(1).tolist()


def euclidean(**changes):
    return EuclideanMechanism(**{"sensitivity": 1, "epsilon": "1/2", **changes})


def test_a_release_is_the_vector_plus_lattice_times_a_draw_of_the_law():
    def source():
        return InsecureSeededSourceForTestsOnly(31)

    value = np.array([[1.5, -2.0], [0.0, 8.25]])
    noise = EuclideanLaplace(8, dimension=4).sample(source=source()).reshape(2, 2)
    before = value.copy()
    assert (value + noise / 4).tolist() == euclidean(lattice="1/4").release(value, source()).tolist()
    np.testing.assert_array_equal(before, value)
    whole = euclidean().releases(np.array([7, 8, 9], dtype=np.int8), 20, source())
    assert ((20, 3), np.int64) == (whole.shape, whole.dtype)
    noise = EuclideanLaplace(2, dimension=3).sample(20, source=source())
    assert noise.tolist() == (whole - np.array([7, 8, 9])).tolist()


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("DPA105", 3),
        ("DPA105", [1, 2]),
        ("DPA105", np.array([True])),
        ("DPA105", np.array([1.0], dtype=np.float32)),
        ("DPA105", np.array(["secret"])),
        ("DPA107", np.array([0.5])),
        ("DPA102", np.array([1.0, math.nan])),
        ("DPA109", np.array([], dtype=np.int64)),
        ("DPA108", np.array([2**62 + 1])),
    ],
)
def test_bad_vectors_are_refused_before_bits_are_drawn_or_anything_is_logged(code, value, unasked):
    with recording() as log:
        for call in (lambda: euclidean().release(value, unasked), lambda: euclidean().releases(value, 2, unasked)):
            with pytest.raises(DpauditError, match=code) as caught:
                call()
    assert [] == log
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("code", "changes", "value"),
    [("DPA108", {"scale": 2**56, "epsilon": None}, np.array([1])), ("DPA108", {"scale": 2**48, "epsilon": None}, np.array([1.0]))],
)
def test_noise_that_arrays_cannot_hold_is_refused_before_bits_are_drawn(code, changes, value, unasked):
    with recording() as log, pytest.raises(DpauditError, match=code):
        euclidean(**changes).release(value, unasked)
    assert [] == log


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA104", {"sensitivity": 0}),
        ("DPA102", {"sensitivity": math.nan}),
        ("DPA104", {"lattice": 0}),
        ("DPA107", {"sensitivity": "1/2"}),
        ("DPA106", {"scale": 1}),
        ("DPA106", {"epsilon": None}),
        ("DPA104", {"epsilon": -1}),
        ("DPA103", {"adjacency": "nearby"}),
    ],
)
def test_bad_parameters_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        euclidean(**changes)


@pytest.mark.parametrize(("count", "source"), [(0, None), (2.0, None), (1, 7)])
def test_bad_counts_and_sources_are_refused(count, source):
    with pytest.raises(DpauditError, match=r"DPA10[35]"):
        euclidean().releases(np.array([1]), count, source)


@pytest.mark.parametrize("dimension", [1, 3])
def test_the_log_prices_releases_as_the_mechanism_does(dimension):
    mechanism = euclidean(sensitivity=3, adjacency="replace_one")
    with recording() as log:
        mechanism.release(np.arange(dimension))
        mechanism.releases(np.arange(dimension), 4, InsecureSeededSourceForTestsOnly(1))
    assert [(dimension, 1, True), (dimension, 4, False)] == [(each.dimension, each.count, each.secure) for each in log]
    for each in log:
        assert ("euclidean_laplace", Fraction(3), mechanism.adjacency) == (each.kind, each.sensitivity, each.adjacency)
        assert (("lattice", Fraction(1)), ("scale", Fraction(6))) == each.parameters
    for epsilon in ("0", "1/10", "1/2"):
        upper = mechanism.loss_at(3, dimension=dimension).delta(epsilon=epsilon).upper
        assert upper == price_releases(log[:1]).delta(epsilon=epsilon).upper
        assert upper <= mechanism.loss.delta(epsilon=epsilon).upper
    assert Fraction(1, 2) == mechanism.claim.guarantee.epsilon == price_releases(log[:1]).epsilon(delta=0).upper
    assert mechanism.claim.relation == mechanism.loss.adjacency


@pytest.mark.parametrize("scale", ["1/3", 1, 5])
@pytest.mark.parametrize("moved", [1, 2])
def test_the_price_in_one_dimension_is_never_below_the_exact_loss_of_the_rounded_law(scale, moved):
    law = EuclideanLaplace(scale, dimension=1)
    mechanism = EuclideanMechanism(sensitivity=moved, scale=scale)
    for epsilon in (0, Fraction(moved, 3) / law.scale, moved / law.scale):
        with working_precision(128):
            growth = Fraction(str(ball(epsilon).exp().mid().str(40, radius=False)))
        gains = [law.pmf(k).upper - growth * law.pmf(k + moved).lower for k in range(-60, 61)]
        exact = sum(gain for gain in gains if gain > 0)
        assert exact <= mechanism.loss_at(moved, dimension=1).delta(epsilon=epsilon).upper + Fraction(1, 10**20)


def test_a_mechanism_is_a_value_that_can_be_pickled_and_built_from_its_description():
    mechanism = euclidean(sensitivity="3/4", lattice="1/4")
    mechanism.release(np.array([1.0]))
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    assert euclidean(scale=2, epsilon=None) == euclidean()
    text = mechanism.to_dict()
    assert "EuclideanMechanism" == text.pop("mechanism")
    assert mechanism == EuclideanMechanism(**text)
    assert "0.75" in mechanism.describe() or "3/4" in mechanism.describe()
