"""Additive noise of any law: its loss is that of the worst shift, computed again by sums; what has no exact loss is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import compose, discrete_gaussian, discrete_laplace, price_releases, pure_dp, staircase
from dpaudit.accounting.laws.bounded_noise import finite_noise
from dpaudit.claims import ApproxDP, Curve, PureDP
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import working_precision
from dpaudit.releases import DISTRIBUTIONS, recording
from mechanisms.additive import AdditiveMechanism
from mechanisms.laws import (
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Geometric,
    LawFromWeights,
    RoundedGaussian,
    Staircase,
    TruncatedLaw,
)
from mechanisms.sampling.random import source_from

TRIANGLE = FiniteLaw({-2: 1, -1: 2, 0: 3, 1: 2, 2: 1})
UNEVEN = FiniteLaw({0: 5, 1: 1, 2: 4, 3: 1, 7: 2})


def symmetric(law, reach):
    """A law on -reach .. reach."""
    return TruncatedLaw(law, lower=-reach, upper=reach)


MECHANISMS = [
    AdditiveMechanism(Staircase(sensitivity=3, epsilon=1), sensitivity=3),
    AdditiveMechanism(Staircase(sensitivity=8, epsilon=1, width=2), sensitivity=2, lattice="1/2"),
    AdditiveMechanism(symmetric(DiscreteLaplace(2), 9), sensitivity=2),
    AdditiveMechanism(symmetric(DiscreteGaussian(sigma=3), 10), sensitivity=1),
    AdditiveMechanism(TRIANGLE, sensitivity=1),
    AdditiveMechanism(UNEVEN, sensitivity=3),
    AdditiveMechanism(DiscreteLaplace(4), sensitivity=1),
    AdditiveMechanism(DiscreteGaussian(sigma_squared=7), sensitivity="3/4", lattice="1/4"),
    AdditiveMechanism(RoundedGaussian(3), sensitivity=2),
]


def mp(value):
    """An exact number for mpmath."""
    return mpmath.mpf(value.numerator) / value.denominator


def pmf(law):
    """The probabilities of a law, all that matter, for mpmath."""
    bottom, top = law.support
    places = range(-900 if bottom is None else bottom, 901 if top is None else top + 1)
    return {k: mp(law.pmf(k).lower) for k in places}


def worst_delta(law, steps, epsilon):
    """The largest hockey-stick divergence over all shifts of at most `steps`, in both directions, by its definition."""
    masses, growth = pmf(law), mpmath.exp(mp(Fraction(epsilon)))
    worst = mpmath.mpf(0)
    for shift in [*range(-steps, 0), *range(1, steps + 1)]:
        outputs = {*masses, *(k + shift for k in masses)}
        gain = mpmath.fsum(max(masses.get(k - shift, 0) - growth * masses.get(k, 0), mpmath.mpf(0)) for k in outputs)
        worst = max(worst, gain)
    return worst


EXACT = MECHANISMS[:6]


@pytest.mark.parametrize("mechanism", EXACT, ids=lambda mechanism: mechanism.describe())
@pytest.mark.parametrize("epsilon", [0, "1/3", "9/10", 1, "3/2"])
def test_delta_is_that_of_the_worst_shift_in_either_direction(mechanism, epsilon):
    found = mechanism.loss.delta(epsilon=epsilon)
    with mpmath.workdps(40):
        truth = worst_delta(mechanism.law, int(mechanism.sensitivity / mechanism.lattice), epsilon)
        assert mp(found.lower) <= truth + mpmath.mpf(10) ** -30
        assert mp(found.upper) >= truth - mpmath.mpf(10) ** -30
        if "finite_noise" not in mechanism.describe():
            assert mp(found.upper) <= truth + mpmath.mpf(10) ** -25


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.integers(-4, 4), st.integers(1, 6), min_size=1, max_size=6),
    st.integers(1, 4),
    st.sampled_from(["0", "1/2", "2"]),
)
def test_finite_noise_is_dominated_by_its_pair_and_meets_it(weights, steps, epsilon):
    law = FiniteLaw(weights)
    found = AdditiveMechanism(law, sensitivity=steps).loss.delta(epsilon=epsilon)
    with mpmath.workdps(40):
        truth = worst_delta(law, steps, epsilon)
        assert mp(found.upper) == pytest.approx(truth, abs=1e-25)
        assert mp(found.lower) <= truth + mpmath.mpf(10) ** -30


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 3))
def test_the_pair_of_finite_noise_is_symmetric_and_adds_up_to_one(weights, steps):
    law = FiniteLaw(weights)
    found = finite_noise(law.values, law.probabilities, steps)
    pair = found.upper if hasattr(found, "upper") else found
    p_mass, q_mass = (sum(masses[side] for masses in pair.common) for side in (0, 1))
    assert 1 == p_mass + pair.only_p == q_mass + pair.only_q
    assert pair.reversed() == pair
    ratios = [p / q for p, q in pair.common]
    assert sorted(set(ratios)) == ratios


@pytest.mark.parametrize("step", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("epsilon", ["1/4", 2])
def test_the_masses_of_a_staircase_are_those_of_its_definition(step, epsilon):
    for width in range(1, step + 1):
        law = Staircase(sensitivity=step, epsilon=epsilon, width=width)
        with mpmath.workdps(40):
            masses = {k: mp(law.pmf(k).lower) for k in range(-40 * step, 40 * step + 1)}
            for moved in range(1, step + 1):
                likely = mpmath.fsum(
                    masses.get(k - moved, 0) for k in range(-39 * step, 39 * step) if law.level(k) == law.level(k - moved) + 1
                )
                loss = staircase(epsilon, step=step, width=width, sensitivity=moved).parts[0][0]
                with working_precision(128):
                    assert abs(loss.likely() - arb(mpmath.nstr(likely, 38))) < arb(2.0**-10 if epsilon == "1/4" else 2.0**-90)


def test_a_staircase_composes_exactly_and_costs_no_more_than_its_promise():
    loss = staircase(1, step=4, width=2)
    assert 3 == (3 * loss).epsilon(delta=0).upper
    for copies in (1, 5, 20):
        assert (copies * loss).delta(epsilon=1).upper <= (copies * pure_dp(1)).delta(epsilon=1).upper
    assert compose(loss, discrete_laplace(3)).delta(epsilon=1).upper < 1


def test_a_staircase_of_step_one_loses_what_discrete_laplace_noise_does():
    for epsilon in ("1/2", 1):
        assert staircase("3/4", step=1, width=1).delta(epsilon=epsilon).meets(discrete_laplace("4/3").delta(epsilon=epsilon))


def test_known_laws_keep_their_own_price():
    assert discrete_laplace(4) == MECHANISMS[6].loss
    assert discrete_gaussian(sigma_squared=7, sensitivity=3) == MECHANISMS[7].loss


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.describe())
def test_a_release_lies_on_the_lattice_and_is_logged_and_priced(mechanism):
    source = source_from(np.random.default_rng(4))
    with recording() as log:
        released = [mechanism.release(mechanism.lattice * 7, source) for _ in range(50)]
        many = mechanism.releases(mechanism.lattice * 7, 20, source)
    assert 51 == len(log)
    assert {entry.kind for entry in log} <= set(DISTRIBUTIONS)
    assert not log[0].secure
    assert 20 == log[-1].count
    assert mechanism.loss == price_releases(log[:1])
    assert 70 * mechanism.loss == price_releases(log)
    bottom, top = mechanism.law.support
    for value in [*released, *(Fraction(value) for value in many.tolist())]:
        steps = value / Fraction(mechanism.lattice) - 7
        assert steps.denominator == 1
        assert bottom is None or bottom <= steps
        assert top is None or steps <= top
    assert len(set(released)) > 2
    assert {int} == {type(value) for value in released} or mechanism.lattice != 1


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.describe())
def test_a_mechanism_is_a_value_that_describes_itself(mechanism):
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    written = mechanism.to_dict()
    assert {"mechanism", "law", "sensitivity", "lattice", "adjacency"} == set(written)
    assert type(mechanism.law).__name__ in mechanism.describe()
    assert type(mechanism.law).__name__ in written["law"]
    assert mechanism.loss.delta(epsilon=0).upper <= 1


@pytest.mark.parametrize("mechanism", MECHANISMS[2:4], ids=lambda mechanism: mechanism.describe())
def test_the_two_laws_around_truncated_noise_are_pairs_with_exact_infinite_loss(mechanism):
    between = mechanism.loss.parts[0][0]
    outer, inner = between.upper, between.lower
    assert 0 <= outer.infinity - inner.infinity < Fraction(1, 2**200)
    with working_precision(1000):
        for law in (outer, inner):
            atoms = law.atoms(128).atoms
            whole = sum((atom.p_mass for atom in atoms), arb(law.infinity.numerator) / law.infinity.denominator)
            assert whole.contains(1)
            assert whole.rad() < arb(2.0**-900)
            for atom in atoms:
                assert (atom.p_mass / atom.q_mass).log().overlaps(atom.loss.ball())
        cut = sum((mechanism.law.probability(k) for k in cut_places(mechanism)), arb(0))
        assert not cut > arb(outer.infinity.numerator) / outer.infinity.denominator
        assert not cut < arb(inner.infinity.numerator) / inner.infinity.denominator


def cut_places(mechanism):
    """Noise values that put the output where a neighbour at the declared distance gives none."""
    return range(mechanism.law.upper - int(mechanism.sensitivity) + 1, mechanism.law.upper + 1)


def test_claims_say_what_holds():
    assert PureDP(1) == MECHANISMS[0].claim.guarantee
    assert PureDP("1/4") == MECHANISMS[6].claim.guarantee
    truncated = MECHANISMS[2]
    guarantee = truncated.claim.guarantee
    assert isinstance(guarantee, ApproxDP)
    assert Fraction(1) == guarantee.epsilon
    assert guarantee.delta >= truncated.law.tail(8).lower
    assert guarantee.delta - truncated.law.tail(8).upper < Fraction(1, 2**100)
    for mechanism in (MECHANISMS[3], MECHANISMS[4], MECHANISMS[8]):
        assert isinstance(mechanism.claim.guarantee, Curve)


@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=lambda mechanism: mechanism.describe())
def test_a_smaller_distance_loses_less(mechanism):
    step = mechanism.lattice
    while step < mechanism.sensitivity:
        assert mechanism.loss_at(step).delta(epsilon="1/2").upper <= mechanism.loss.delta(epsilon="1/2").upper
        step += mechanism.lattice


def test_a_cut_far_beyond_the_noise_costs_what_the_whole_law_does():
    mechanism = AdditiveMechanism(symmetric(DiscreteGaussian(sigma=1), 400), sensitivity=1)
    cut, whole = mechanism.loss.delta(epsilon="1/2"), discrete_gaussian(sigma=1).delta(epsilon="1/2")
    assert abs(cut.lower - whole.lower) < Fraction(1, 2**90)
    assert abs(cut.upper - whole.upper) < Fraction(1, 2**90)
    assert 0 < mechanism.loss.delta(epsilon=10**6).upper <= Fraction(1, 2**4000)


def test_truncating_reveals_with_the_probability_of_the_outputs_that_are_cut():
    mechanism = AdditiveMechanism(symmetric(DiscreteLaplace(1), 4), sensitivity=3)
    revealed = mechanism.loss.delta(epsilon=50)
    assert revealed.lower <= mechanism.law.tail(2).upper
    assert revealed.upper >= mechanism.law.tail(2).lower
    assert math.inf == mechanism.loss.epsilon(delta=0).upper


REFUSED = [
    (Geometric(2), {}, "DPA202"),
    (LawFromWeights(lambda k: (-arb(k)).exp(), scale=1, decay=1), {}, "DPA202"),
    (TruncatedLaw(DiscreteLaplace(2), lower=-3, upper=4), {}, "DPA202"),
    (symmetric(RoundedGaussian(2), 4), {}, "DPA202"),
    (symmetric(Staircase(sensitivity=2, epsilon=1), 9), {}, "DPA202"),
    (symmetric(DiscreteLaplace(2), 3), {"sensitivity": 7}, "DPA202"),
    (symmetric(DiscreteLaplace(10**4), 10**5), {}, "DPA202"),
    (FiniteLaw([1] * 5000), {}, "DPA202"),
    (FiniteLaw([1] * 3000), {"sensitivity": 100}, "DPA202"),
    (Staircase(sensitivity=2, epsilon=1), {"sensitivity": 3}, "DPA103"),
    (DiscreteLaplace(2), {"sensitivity": "1/2"}, "DPA107"),
    (DiscreteLaplace(2), {"sensitivity": 0}, "DPA104"),
    (DiscreteLaplace(2), {"lattice": -1}, "DPA104"),
    ("noise", {}, "DPA202"),
]


@pytest.mark.parametrize(("law", "changes", "code"), REFUSED)
def test_what_has_no_exact_loss_is_refused(law, changes, code):
    with pytest.raises((InvalidArgument, Unsupported), match=code):
        AdditiveMechanism(law, **{"sensitivity": 1, **changes})


def test_truncated_finite_noise_is_finite_noise():
    cut = AdditiveMechanism(TruncatedLaw(UNEVEN, lower=1, upper=3), sensitivity=1)
    assert AdditiveMechanism(FiniteLaw({1: 1, 2: 4, 3: 1}), sensitivity=1).loss == cut.loss
    assert cut.release(10) in {11, 12, 13}


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.describe())
@pytest.mark.parametrize(
    ("value", "code"), [(np.array([1, 2]), "DPA105"), ("x", "DPA101"), (math.nan, "DPA102"), ("1/1000", "DPA107"), (None, "DPA101")]
)
def test_bad_values_are_refused_before_a_bit_is_drawn_or_anything_logged(mechanism, unasked, value, code):
    with recording() as log:
        for call in (mechanism.release, lambda value, source: mechanism.releases(value, 3, source)):
            with pytest.raises(InvalidArgument, match=code):
                call(value, unasked)
    assert [] == log


@pytest.mark.parametrize("distance", [0, -1, "1/3"])
def test_distances_that_values_cannot_have_are_refused(distance):
    with pytest.raises(InvalidArgument, match=r"DPA10[47]"):
        MECHANISMS[0].loss_at(distance)
    with pytest.raises(InvalidArgument, match="DPA103"):
        MECHANISMS[0].loss_at(4)
