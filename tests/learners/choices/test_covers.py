"""Public candidates: the lattice covers its ball, random directions are even and repeatable, and neither knows any record."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.errors import InvalidArgument
from learners.choices import covers as lattice_module
from learners.choices.covers import LatticeCover, RandomCover, cap_mass, excess_error, lattice_cover


@pytest.mark.parametrize(("dimension", "squared"), [(1, 9), (2, 0), (2, 10), (3, 5), (4, 6)])
def test_the_lattice_holds_every_point_of_the_ball_once(dimension, squared):
    reach = math.isqrt(squared)
    wanted = [p for p in itertools.product(range(-reach, reach + 1), repeat=dimension) if sum(x * x for x in p) <= squared]
    cover = LatticeCover(dimension, squared)
    assert wanted == [tuple(column) for block in cover.blocks() for column in block.T.tolist()]
    assert wanted == [tuple(cover.candidate(place).tolist()) for place in range(cover.size)]


@pytest.mark.parametrize(
    ("dimension", "margin", "size"), [(2, "1/2", 2.6e3), (3, "1/2", 1.9e5), (4, "1/2", 1.4e7), (2, "1/10", 6.4e4)]
)
def test_the_lattice_has_the_computed_size(dimension, margin, size):
    assert size == pytest.approx(lattice_cover(dimension=dimension, margin=margin).size, rel=0.03)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_some_point_lies_within_a_tenth_of_the_margin_of_every_point_of_the_ball(dimension):
    cover, gamma = lattice_cover(dimension=dimension, margin=1), 0.1
    step = 2 * gamma / math.sqrt(dimension)
    points = set(map(tuple, np.concatenate(list(cover.blocks()), axis=1).T.tolist()))
    rng = np.random.default_rng(2)
    for _ in range(300):
        target = rng.standard_normal(dimension)
        target *= 2 * rng.choice([1.0, rng.random()]) / np.linalg.norm(target)
        nearest = np.rint(target / step)
        assert tuple(nearest.astype(int).tolist()) in points
        assert np.linalg.norm(nearest * step - target) <= gamma + 1e-12


def test_a_lattice_of_too_many_points_is_refused_before_it_is_counted(monkeypatch):
    monkeypatch.setattr(lattice_module.LatticeCover, "blocks", None)
    for options in ({"dimension": 4, "margin": "1/10"}, {"dimension": 3, "margin": "1/100"}, {"dimension": 2, "margin": "1e-6"}):
        with pytest.raises(InvalidArgument) as caught:
            lattice_cover(**options)
        assert "DPA103" == caught.value.code


@pytest.mark.parametrize(("code", "options"), [("DPA103", {"dimension": 5}), ("DPA103", {"margin": 2}), ("DPA104", {"margin": 0})])
def test_wrong_lattices_are_refused(code, options):
    with pytest.raises(InvalidArgument) as caught:
        lattice_cover(**{"dimension": 2, "margin": "1/2", **options})
    assert code == caught.value.code


@pytest.mark.parametrize(("dimension", "size"), [(1, 5), (3, 20_000), (32, 1200), (5000, 9)])
def test_random_directions_are_the_same_every_time_and_in_every_way_of_asking(dimension, size):
    cover = RandomCover(dimension, size, 11)
    whole = np.concatenate(list(cover.blocks()), axis=1)
    assert (dimension, size) == whole.shape
    for place in {0, size // 3, size - 1}:
        assert whole[:, place].tolist() == cover.candidate(place).tolist()
    assert whole[:, :4].tolist() == np.concatenate(list(RandomCover(dimension, 4, 11).blocks()), axis=1).tolist()
    assert whole.tolist() != np.concatenate(list(RandomCover(dimension, size, 12).blocks()), axis=1).tolist()


def test_random_directions_are_spread_evenly():
    """Of 50,000 directions in three dimensions the share in a cap of mass 1/4; 7 standard deviations, a false alarm below 1e-11."""
    directions = np.concatenate(list(RandomCover(3, 50_000, 5).blocks()), axis=1).astype(float)
    directions /= np.linalg.norm(directions, axis=0)
    for centre in ([1, 0, 0], [0, 0, -1], [0.6, 0.8, 0]):
        hits = int((np.linalg.norm(directions - np.array(centre)[:, np.newaxis], axis=0) <= 1).sum())
        assert abs(hits - 12_500) < 7 * (50_000 * 3 / 16) ** 0.5


@pytest.mark.parametrize(
    ("chord", "dimension", "wanted"), [(0.45, 10, 3.6e4), (0.45, 16, 6.3e6), (0.3, 8, 9.9e4), (0.2, 6, 5.6e4), (0.1, 4, 1.4e4)]
)
def test_so_many_candidates_hit_the_cap_with_probability_19_in_20(chord, dimension, wanted):
    assert wanted == pytest.approx(math.log(20) / cap_mass(dimension=dimension, chord=chord), rel=0.03)


def test_the_mass_of_a_cap_in_the_plane_is_an_angle_and_rounded_down():
    exact = Fraction(math.asin(0.25)) / Fraction(math.pi) * 2
    assert 0 <= exact - Fraction(cap_mass(dimension=2, chord=0.5)) < Fraction(1, 10**14)


def test_too_few_candidates_promise_nothing():
    options = {"records": 10**5, "epsilon": 1, "beta": 0.05, "mass": cap_mass(dimension=8, chord=0.3)}
    assert math.inf == excess_error(candidates=10**4, **options)
    assert 0 < excess_error(candidates=2 * 10**5, **options) < 4e-4
