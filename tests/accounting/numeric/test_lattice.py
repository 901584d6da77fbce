"""Cells, lower law, windows: each stage is checked against an independent computation, and each error term is there."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpaudit.accounting import Poisson, compose, explicit_pair, gaussian, laplace
from dpaudit.accounting.engines.cells import Raster, cells_of
from dpaudit.accounting.engines.evaluation import Evaluated
from dpaudit.accounting.engines.fusion import _from_the_left, _from_the_right, _join_passes, fuse_halves
from dpaudit.accounting.engines.lattice import lattice_of, powers
from dpaudit.accounting.engines.plan import choose_plan, float_sketch
from dpaudit.accounting.engines.tilted import lattice_for
from dpaudit.accounting.laws.distributions import DoubleExponential, Listed, Normal, Thinned, WorstOfRange
from dpaudit.exact import ball, working_precision
from tests.reference import integer_convolution
from tests.reference.integer_convolution import finite_part

LAWS = {
    "normal": Normal(Fraction(4, 9)),
    "narrow normal": Normal(Fraction(1, 10**6)),
    "laplace": DoubleExponential(Fraction(3, 2)),
    "range": WorstOfRange(Fraction(2)),
    "thinned normal": Thinned(Normal(Fraction(25, 16)), Fraction(1, 100), removing=True),
    "thinned normal, adding": Thinned(Normal(Fraction(25, 16)), Fraction(1, 100), removing=False),
    "thinned laplace": Thinned(DoubleExponential(Fraction(1)), Fraction(1, 5), removing=True),
    "pair": Listed(explicit_pair(["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]).parts[0][0]),
}
PASSES = (_from_the_right, _from_the_left)
PLACES = [Fraction(step, 7) for step in (-20, -9, -4, 0, 3, 10, 19)]


def density(name, loss):
    """Diffuse densities of the loss under P, from the definitions."""
    if name == "normal":
        mu = mpf(2) / 3
        return mp.npdf(loss, mu * mu / 2, mu)
    if name == "narrow normal":
        return mp.npdf(loss, mpf("5e-7"), mpf("1e-3"))
    if name == "laplace":
        return mp.exp((loss - mpf(3) / 2) / 2) / 4 if abs(loss) < mpf(3) / 2 else mpf(0)
    rise, half = mp.e, mp.exp(loss / 2)
    return rise * half / 2 / (mp.exp(2) - 1) if abs(loss) < 2 else mpf(0)


@pytest.mark.parametrize("name", ["normal", "narrow normal", "laplace", "range"])
def test_distribution_functions_are_integrals_of_the_densities(name):
    edges = {"normal": (-20, 20), "narrow normal": (mpf("-0.02"), mpf("0.02")), "laplace": (-1.5, 1.5), "range": (-2, 2)}[name]
    places = [Fraction(step, 4000) for step in (-9, -2, 0, 3, 8)] if name == "narrow normal" else PLACES
    with mp.workdps(20), working_precision(128):
        for place, sides in zip(places, LAWS[name].sides([ball(place) for place in places]), strict=True):
            at = min(max(mpf(place.numerator) / place.denominator, edges[0]), edges[1])
            for weight, found in ((lambda loss: 1, sides[:2]), (lambda loss: mp.exp(-loss), sides[2:])):
                below = mp.quad(lambda loss, weight=weight: density(name, loss) * weight(loss), mp.linspace(edges[0], at, 9))
                above = mp.quad(lambda loss, weight=weight: density(name, loss) * weight(loss), mp.linspace(at, edges[1], 9))
                assert abs(mpf(float(found[0])) - below) < mpf("1e-12")
                assert abs(mpf(float(found[1])) - above) < mpf("1e-12")


@pytest.mark.parametrize("name", LAWS)
def test_masses_of_points_and_of_the_diffuse_part_add_up_to_one(name):
    with working_precision(128):
        sides, points = LAWS[name].sides([arb(0)])[0], LAWS[name].points(300)
        p_mass = sides.p_below + sides.p_above + sum((point[1] for point in points.finite), arb(0)) + points.p_infinity
        q_mass = sides.q_below + sides.q_above + sum((point[2] for point in points.finite), arb(0)) + points.q_only
        assert p_mass.contains(1)
        assert q_mass.contains(1)
        assert all((loss.exp() * q_mass - p_mass).contains(0) for loss, p_mass, q_mass in points.finite)


@pytest.mark.parametrize("name", LAWS)
def test_the_sketch_for_plans_has_the_moments_of_the_law(name):
    """E_P[e^-loss; finite loss] is the Q mass of what P sees, so the sketch must give 0 at tilts 0 and -1."""
    sketch = float_sketch(LAWS[name], 300)
    assert np.abs(sketch.cumulant(np.array([0.0, -1.0]))).max() < 1e-3


def raster_of(name, tilt=2.0, width=0.03):
    """A coarse raster of one law, and its masses."""
    plan = choose_plan([(float_sketch(LAWS[name], 300), 3)], tilt, width)
    with working_precision(140):
        cells = cells_of(LAWS[name], plan.rasters[0], plan.tilt, plan.log_scales[0], 300)
    return plan, cells


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("tilt", [0.125, 2.0, 16.0])
def test_no_place_of_the_lower_law_lacks_mass(name, tilt):
    """The inequality behind the lower law, recomputed in ball arithmetic with the parts that were chosen."""
    plan, cells = raster_of(name, tilt)
    kept, moved = _join_passes(cells.halves)
    raster = plan.rasters[0]
    with working_precision(200):
        fine = Raster(raster.step / 2, raster.offset, tuple(sorted({*(2 * end for end in raster.ends), *middles(raster)})))
        masses = half_masses(LAWS[name], fine)
        balance = [arb(0) for _ in raster.ends]
        for half, (p_mass, q_mass) in enumerate(masses):
            cell, side = divmod(half, 2)
            for end, part in ((cell, kept[cell, side]), (cell + 1, moved[cell, side])):
                balance[end] += ball(Fraction(float(part))) * (p_mass - ball(raster.place(raster.ends[end])).exp() * q_mass)
    assert all(not value < 0 for value in balance)
    assert (kept + moved <= 1 + 2.0**-50).all()


def middles(raster):
    """Indices of the middles of cells in half steps."""
    return {left + right for left, right in pairwise(raster.ends)}


def half_masses(law, fine):
    """P and Q mass of every half cell at the current precision."""
    places = [ball(fine.place(end)) for end in fine.ends]
    sides = law.sides(places)
    masses = [(right.p_below - left.p_below, right.q_below - left.q_below) for left, right in pairwise(sides)]
    for loss, p_mass, q_mass in law.points(300).finite:
        if not loss > places[0]:
            continue
        half = max(index for index, place in enumerate(places) if place < loss)
        masses[half] = (masses[half][0] + p_mass, masses[half][1] + q_mass)
    return masses


@pytest.mark.parametrize("name", LAWS)
def test_the_upper_law_keeps_all_mass_and_the_lower_one_has_less(name):
    plan, cells = raster_of(name, 0.125)
    raster = plan.rasters[0]
    with working_precision(140):
        weights = [float((ball(plan.log_scales[0]) - ball(plan.tilt) * ball(raster.place(end))).exp()) for end in raster.ends]
    upper, lower = (cells.upper * weights).sum(), (fuse_halves(cells.halves) * weights).sum()
    infinite = float(cells.upper_infinity)
    assert 1 <= upper + infinite <= 1 + 1e-6
    assert 0.8 < lower <= 1
    losses = np.array([float(raster.place(end)) for end in raster.ends])
    assert (cells.upper * weights * np.exp(-losses)).sum() <= 1 + 1e-12
    assert (fuse_halves(cells.halves) * weights * np.exp(-losses)).sum() <= 1


def test_two_passes_joined_lose_far_less_than_either():
    """A law with an edge on the left and a long tail on the right: the pass that walks towards an edge loses first order there."""
    law = LAWS["thinned normal"]
    plan = choose_plan([(float_sketch(law, 300), 10**6)], 0.36)
    with working_precision(140):
        cells = cells_of(law, plan.rasters[0], plan.tilt, plan.log_scales[0], 300)
    lost = {}
    halves = cells.halves
    for name, parts in (("joined", _join_passes(halves)), *((one.__name__, one(halves)[0].transpose(2, 0, 1)) for one in PASSES)):
        mass = (halves.kept * parts[0]).sum() + (halves.moved * parts[1]).sum()
        lost[name] = 1 - np.exp(-(10**6) * (1 - mass / cells.upper.sum()))
    assert lost["joined"] < 0.002
    assert lost["_from_the_right"] > 5 * lost["joined"]
    assert lost["_from_the_left"] > lost["joined"]


@given(st.fractions(min_value=Fraction(-1, 3), max_value=Fraction(1, 3), max_denominator=10**6), st.integers(1, 3000))
@settings(max_examples=30, deadline=None)
def test_powers_are_within_four_units_of_the_truth(step, count):
    index = np.unique(np.linspace(0, count - 1, 9).astype(np.int64))
    found = powers(step, count)(index)
    with working_precision(160):
        for at, value in zip(index.tolist(), found.tolist(), strict=True):
            truth = (ball(step) * at).exp()
            assert abs(ball(Fraction(value)) / truth - 1) <= arb(2) ** -51


COMPOSITIONS = {
    "laplace": (20 * laplace(scale=2), "2"),
    "gaussian": (50 * gaussian(sigma=4), "6"),
    "sampled": (200 * gaussian(sigma=1).sampled(Poisson("1/20")), "3"),
    "mixed": (compose(3 * laplace(scale=2), gaussian(1)), "4"),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_integers_and_transforms_give_the_same_ends(name):
    loss, epsilon = COMPOSITIONS[name]
    built = lattice_for(loss.composition, epsilon=Fraction(epsilon), width=0.02)
    found, (lower, upper) = built.delta(Fraction(epsilon)), finite_part(built, Fraction(epsilon))
    assert found.lower <= found.upper
    assert lower <= found.upper
    assert found.lower <= upper
    assert abs(found.upper - upper) <= found.upper / 10**5
    assert abs(found.lower - lower) <= found.upper / 5000


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_what_integers_cut_off_is_counted(monkeypatch, name):
    """Ends that weigh a thousandth are cut after every product: the two ends move apart and still enclose."""
    loss, epsilon = COMPOSITIONS[name]
    built = lattice_for(loss.composition, epsilon=Fraction(epsilon), width=0.02)
    lower, upper = finite_part(built, Fraction(epsilon))
    monkeypatch.setattr(integer_convolution, "TRIMMED", 1 << 70)
    low, high = finite_part(built, Fraction(epsilon))
    assert low < lower < upper < high


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_refined_lattices_meet_and_shrink(name):
    loss, epsilon = COMPOSITIONS[name]
    answers = [
        lattice_for(loss.composition, epsilon=Fraction(epsilon), width=width).delta(Fraction(epsilon))
        for width in (0.1, 0.01, 1e-3)
    ]
    assert answers[0].meets(answers[1])
    assert answers[1].meets(answers[2])
    assert answers[0].meets(answers[2])
    assert answers[0].width > answers[1].width > answers[2].width > 0


def test_neighbouring_tilts_and_windows_give_answers_that_meet():
    law, epsilon = Thinned(Normal(Fraction(1)), Fraction(1, 20), removing=True), Fraction(3)
    answers = []
    for tilt in (1.0, 2.0, 4.0):
        plan = choose_plan([(float_sketch(law, 300), 200)], tilt, 0.01)
        lattice = lattice_of(law, 200, plan.rasters[0], tilt=plan.tilt, log_scale=plan.log_scales[0], tail=300)
        answers.append(Evaluated(plan, (lattice,)).delta(epsilon))
    assert all(one.meets(other) for one in answers for other in answers)
    assert min(answer.width / answer.upper for answer in answers) < 0.02


@pytest.mark.parametrize("size", [32, 64, 128, 256, 512])
@pytest.mark.parametrize("ahead", [2, 8, 32, 128])
@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_a_window_that_is_too_small_gives_a_wide_answer_not_a_wrong_one(name, size, ahead):
    """Most of the mass then wraps around, or lies beyond the last place; both are bounded."""
    loss, epsilon = COMPOSITIONS[name]
    built = lattice_for(loss.composition, epsilon=Fraction(epsilon), width=0.02)
    truth = built.delta(Fraction(epsilon))
    place = int((Fraction(epsilon) - built._offset) / built.plan.step)
    small = replace(built.plan, size=size, first=place - size + ahead)
    found = Evaluated(small, built.lattices).delta(Fraction(epsilon))
    assert found.lower <= truth.upper
    assert found.upper >= truth.lower
