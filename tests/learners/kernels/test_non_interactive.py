"""Private choices of points: from a list, and from the unit ball by an exact draw whose law is checked."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import kstest

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball_endpoints, working_precision
from dpaudit.releases import recording
from learners import NonInteractiveKernelClassifier
from learners.kernels.half_balls import Angle, draw_from_half_balls
from learners.kernels.spaces import Polynomial
from mechanisms import source_from
from mechanisms.euclidean import drawn_reals
from mechanisms.sampling.envelope import SHIPPED
from mechanisms.sampling.reals import Revealing

HALVES = np.array([[0.6, 0.6], [-0.6, -0.6]])
MANY = np.tile(HALVES, (500, 1)), [1, 0] * 500


def classifier(**changed):
    usual = {"epsilon": 40, "delta": "1e-6", "feature_norm": 1, "classes": [0, 1], "random_state": 5, "point_count": 30}
    return NonInteractiveKernelClassifier(**(usual | {"rounds": 3} | changed))


@pytest.mark.parametrize("options", [{}, {"kernel": Polynomial(1), "points": "ball"}, {"points": HALVES}])
def test_with_much_budget_the_guess_follows_the_minimiser(options):
    with recording() as log:
        model = classifier(**options).fit(*MANY)
    assert ["exponential_mechanism", "discrete_laplace"] * 3 == [entry.kind for entry in log]
    assert [1, 0] == model.predict(HALVES).tolist()
    assert 39 < float(model.privacy_.epsilon) <= 40


def test_choice_and_test_have_the_same_share():
    telling = classifier(epsilon=1, delta="1e-6", rounds=20).fit(*MANY).plan_.telling
    assert telling.choice.epsilon == 2 * telling.test.epsilon
    assert telling.choice.sensitivity == telling.test.sensitivity == 512
    assert telling.threshold >= 4 * telling.test.scale * Fraction(math.log(2 * 20 * 20))


@pytest.mark.parametrize(
    ("changed", "error", "code"),
    [
        ({"points": "ball"}, Unsupported, "DPA202"),
        ({"points": "sphere"}, InvalidArgument, "DPA103"),
        ({"rounds": 0}, InvalidArgument, "DPA103"),
        ({"failure": 0}, InvalidArgument, "DPA103"),
        ({"point_count": 0}, InvalidArgument, "DPA103"),
    ],
)
def test_what_is_public_is_refused(changed, error, code):
    with recording() as log, pytest.raises(error, match=code):
        classifier(**changed).fit(*MANY)
    assert [] == list(log)


def sizes(dimension, strength, count, **options):
    """Sizes of the coordinate along the direction."""
    source = source_from(np.random.default_rng(dimension))
    direction = [3, 4, *[0] * (dimension - 2)] if dimension > 1 else [5]
    draws = [draw_from_half_balls(direction, Fraction(strength, 5), source, **options) for _ in range(count)]
    return np.array(draws) @ np.array(direction) / (5 * 2.0**20)


@pytest.mark.parametrize(("dimension", "strength"), [(1, 3), (2, 7), (5, 7), (8, 0)])
def test_the_coordinate_along_the_direction_has_its_law(dimension, strength):
    """Kolmogorov and Smirnov at level 1e-9, signs by a binomial test at 1e-9."""
    found = sizes(dimension, strength, 60)

    def density(s):
        return (1 - s * s) ** ((dimension - 1) / 2) * math.exp(strength * (s - 1))

    total = quad(density, 0, 1)[0]
    cumulative = np.vectorize(lambda s: quad(density, 0, s)[0] / total)
    assert kstest(np.abs(found), cumulative).pvalue > 1e-9
    assert abs((found > 0).sum() - 30) < 6.2 * math.sqrt(60) / 2


def test_across_the_direction_points_fill_the_ball():
    """The share of the squared radius that is left follows a power law: its radius to the power D - 1 is uniform."""
    source = source_from(np.random.default_rng(3))
    draws = np.array([draw_from_half_balls([2**40, 0, 0, 0], Fraction(1, 2**39), source) for _ in range(60)]) / 2.0**20
    radii = np.linalg.norm(draws[:, 1:], axis=1) / np.sqrt(1 - draws[:, 0] ** 2)
    assert kstest(radii**3, "uniform").pvalue > 1e-9
    assert kstest(np.arctan2(draws[:, 1], draws[:, 2]) / (2 * math.pi) + 0.5, "uniform").pvalue > 1e-9


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6), st.fractions(min_value=Fraction(1, 2**80), max_value=40))
def test_no_point_leaves_the_ball(direction, rate):
    length = math.sqrt(sum(entry**2 for entry in direction))
    source = source_from(np.random.default_rng(1))
    drawn = draw_from_half_balls(direction, rate / max(1, int(length)), source).tolist()
    assert sum(entry**2 for entry in drawn) <= 4**20


def test_how_much_is_revealed_at_once_has_no_influence_on_the_law():
    source = source_from(np.random.default_rng(8))
    reals = drawn_reals(source, Revealing(normal_bits=4, uniform_bits=3, step=2), SHIPPED)
    drawn = [draw_from_half_balls([3, 4, 0], Fraction(7, 5), source, lattice_bits=6, reals=reals, first_bits=2) for _ in range(100)]
    found = np.abs(np.array(drawn) @ [3, 4, 0]) / (5 * 2**6)
    assert 0.7387 == pytest.approx(found.mean(), abs=6.2 * 0.02 + 2**-5)


@pytest.mark.parametrize("bits", [0, 3, 40])
def test_the_shares_of_a_cell_of_angles_are_the_integrals(bits):
    for place in {0, 2**bits // 3, 2**bits - 1}:
        angle = Angle(4, Fraction(3), 4, place, bits)
        with working_precision(200):
            share = angle.left_share()
            lower, upper = ball_endpoints(share)
            assert 0 < upper - lower < Fraction(1, 2**60)
            width = arb.pi() / 2 / 2**bits
            slope = float(share * 2 - 1)
        if bits == 40 and place < 2**39:  # on a tiny cell the density is straight: its slope decides
            t = (place + 0.5) * float(width)
            expected = 0.25 * (4 * math.tan(t) - 6 * math.cos(t)) * float(width)
            assert expected == pytest.approx(slope, rel=1e-3, abs=1e-11)
