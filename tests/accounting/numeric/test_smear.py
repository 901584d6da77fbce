"""Points off the lattice: spread in the lower law as in the upper one, with a bump around epsilon taken off."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import compose, explicit_pair, laplace, pure_dp
from dpaudit.accounting.engines import plan, tilted
from dpaudit.accounting.engines.cells import Raster, cells_of
from dpaudit.accounting.engines.evaluation import Bump, bump_of
from dpaudit.accounting.engines.fusion import fuse_halves, lower_law
from dpaudit.accounting.engines.tilted import lattice_for
from dpaudit.accounting.laws.distributions import DoubleExponential, Listed
from dpaudit.exact import working_precision

PAIR = explicit_pair(["0.5", "0.3", "0.2"], ["0.37", "0.29", "0.34"])
OTHER = explicit_pair(["0.61", "0.22", "0.17"], ["0.41", "0.38", "0.21"])


def forget():
    for remembered in (tilted._plan, tilted._small_lattice, tilted._large_lattice):
        remembered.cache_clear()


@pytest.fixture
def coarse(monkeypatch):
    """Plans that do not refine short lattices."""
    monkeypatch.setattr(plan, "SMALL_TRANSFORM", 0)
    forget()
    yield
    forget()


def bump_for(*uses):
    """The bump for laws given as (count, width of their cells)."""
    lattices = [SimpleNamespace(count=count, spread=width, index=np.array([0, 4])) for count, width in uses]
    return bump_of(lattices, Fraction(1), 64)


def bump_at(bump, place):
    """The bump itself."""
    fall = math.exp(-float(bump.rate) * abs(place))
    return bump.height * fall * (2 - fall * fall)


@given(
    st.lists(st.fractions(min_value=0, max_value=1, max_denominator=64), min_size=1, max_size=7),
    st.sampled_from([Fraction(1, 10), Fraction(1, 64), Fraction(1, 1000)]),
    st.floats(min_value=-6, max_value=6),
)
@settings(max_examples=200, deadline=None)
def test_the_moved_bump_pays_for_what_spreading_gains(shares, width, place):
    """Every loss L moves to one end of its cell so that the mean of e^-loss stays; delta gains only near epsilon."""
    bump = bump_for((len(shares), width))
    place *= float(width) * math.sqrt(len(shares))
    moves = []
    for share in shares:
        left, right = -float(share * width), float((1 - share) * width)
        up = (math.exp(-left) - 1) / (math.exp(-left) - math.exp(-right)) if left else 0.0
        moves.append(((left, 1 - up), (right, up)))
    gained, paid = 0.0, 0.0
    for outcome in product(*moves):
        at, chance = place + sum(move for move, _ in outcome), math.prod(chance for _, chance in outcome)
        gained += chance * max(0.0, -math.expm1(-at))
        paid += chance * bump_at(bump, at)
    assert gained - max(0.0, -math.expm1(-place)) <= paid + 1e-15


def test_the_bump_is_not_much_larger_than_needed():
    """Its sum is less than four times the variance of the movement, which is width^2/4 for each use."""
    for count in (1, 100, 10**6):
        bump = bump_for((count, Fraction(1, 10**6)))
        assert bump.height * 5 / 3 * 2 / 2 / float(bump.rate) < 4 * count * 1e-12 / 4


@pytest.mark.parametrize(
    ("tilt", "gap"), [(Fraction(1, 4), Fraction(1, 100)), (Fraction(3), Fraction(1, 16)), (Fraction(2), Fraction(0))]
)
def test_the_tilted_sum_covers_the_sum_over_all_places(tilt, gap):
    """Places beyond the window count as well: they lie on the same residues."""
    bump, step = Bump(Fraction(20), 0.5), Fraction(1, 16)
    masses = np.random.default_rng(5).random(256)
    for first in (0, 3, 130, 255):
        truth = sum(
            masses[position % 256] * bump_at(bump, u) * math.exp(-float(tilt) * u)
            for position in range(first - 128, first + 128)
            if (u := float(gap) + (position - first) / 16) is not None
        )
        found = bump.tilted_sum(masses, 0.0, float(masses.sum()), tilt=tilt, step=step, first=first, gap=gap)
        assert truth <= found <= truth * (1 + 1e-5)
        wide = bump.tilted_sum(masses, 1e-3, float(masses.sum()), tilt=tilt, step=step, first=first, gap=gap)
        assert wide >= found + 1e-3 * bump.height / 4


def test_points_that_are_spread_too_far_leave_nothing_from_below():
    assert math.inf == bump_for((10**6, Fraction(1, 10))).height
    assert bump_for((10, Fraction(0))) is None


@pytest.mark.parametrize(("first", "second", "epsilon"), [(3, 2, "1/5"), (5, 0, "1/3"), (4, 1, "0"), (2, 4, "4/5")])
@pytest.mark.parametrize("width", [0.3, 0.03, 0.003])
@pytest.mark.usefixtures("coarse")
def test_coarse_lattices_of_points_enclose_the_truth(encloses, first, second, epsilon, width):
    loss = compose(first * PAIR, second * OTHER)
    pairs = [([Fraction(m) for m in ("0.5", "0.3", "0.2")], [Fraction(m) for m in ("0.37", "0.29", "0.34")])] * first
    pairs += [([Fraction(m) for m in ("0.61", "0.22", "0.17")], [Fraction(m) for m in ("0.41", "0.38", "0.21")])] * second
    assert encloses(loss, pairs, Fraction(epsilon), width) is True


@pytest.mark.usefixtures("coarse")
def test_spreading_without_the_bump_would_claim_too_much(monkeypatch, encloses):
    monkeypatch.setattr(Bump, "tilted_sum", lambda *_args, **_others: 0.0)
    pairs = [([Fraction(m) for m in ("0.5", "0.3", "0.2")], [Fraction(m) for m in ("0.37", "0.29", "0.34")])] * 7
    assert encloses(7 * PAIR, pairs, Fraction(1, 2), 0.3) is False


@pytest.mark.parametrize(
    ("loss", "epsilon"),
    [
        (compose(40 * PAIR, 30 * OTHER), "3"),
        (compose(*(laplace(Fraction(7 + step)) for step in range(6))), "1/3"),
        (compose(*(pure_dp(Fraction(1, part)) for part in range(5, 25))), "1"),
    ],
)
def test_answers_are_narrow_where_losses_have_no_common_unit(loss, epsilon):
    found = lattice_for(loss.composition, epsilon=Fraction(epsilon)).delta(Fraction(epsilon))
    assert 0 < found.width < found.upper / 1000


def test_the_better_of_the_two_lower_laws_is_taken():
    law = Listed(PAIR.parts[0][0])
    raster = Raster(Fraction(1, 50), Fraction(1, 7), (-30, -29, -6, -5, 7, 8))
    with working_precision(140):
        found = law.points(300)
        ends = sorted({math.floor((float(loss) - 1 / 7) * 50) + more for loss, _, _ in found.finite for more in (0, 1)})
        cells = cells_of(law, Raster(raster.step, raster.offset, tuple(ends)), Fraction(2), Fraction(0), 300)
    spread, width = lower_law(cells, 0.0)
    kept, none = lower_law(cells, 1e6)
    assert (1, 0) == (width, none)
    assert spread.sum() > kept.sum()
    assert np.allclose(spread, cells.upper, rtol=2.0**-40)
    assert (kept == fuse_halves(cells.halves)).all()


def test_a_point_on_a_place_is_not_spread():
    with working_precision(140):
        law = DoubleExponential(Fraction(1))
        hair = Fraction(1, 2**60)
        cells = cells_of(law, Raster(Fraction(1, 8), -hair, tuple(range(-9, 10))), Fraction(1), Fraction(0), 300)
        assert 0 == cells.spread_width
        assert abs(cells.points[17] - float(arb(1).exp() / 2)) < 1e-12
