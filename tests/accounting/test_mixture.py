"""Mixtures: revealed ones against sums over outcomes, hidden ones below them, compositions against brute force, refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf, ncdf

from dpaudit.accounting import (
    Poisson,
    bounded_range,
    compose,
    discrete_laplace,
    explicit_pair,
    gaussian,
    laplace,
    mixture,
    permute_and_flip,
    pure_dp,
    randomized_response,
    zcdp,
)
from dpaudit.errors import AdjacencyMismatch, InvalidArgument, Unsupported

EPSILONS = st.fractions(min_value=0, max_value=3, max_denominator=20)
WEIGHTS = st.lists(st.integers(1, 5), min_size=2, max_size=3).map(lambda found: [Fraction(x, sum(found)) for x in found])
EXACT = Fraction(1, 10**12)


def sides(least):
    """Distributions on three outputs."""
    counts = st.lists(st.integers(least, 6), min_size=3, max_size=3).filter(any)
    return counts.map(lambda found: [Fraction(count, sum(found)) for count in found])


def ratio_profile(outcomes, growth):
    """Sum of the positive parts of P - growth Q, the worse direction."""
    return max(sum(max(one[a] - growth * one[b], Fraction(0)) for one in outcomes) for a, b in ((0, 1), (1, 0)))


def joined(weights, pairs):
    """Every outcome of a revealed mixture with both chances."""
    return [
        (weight * p, weight * q)
        for weight, (left, right) in zip(weights, pairs, strict=True)
        for p, q in zip(left, right, strict=True)
    ]


@st.composite
def mixtures(draw, least=0):
    """Weights and as many pairs of distributions, whose chances are all positive if the least count is."""
    weights = draw(WEIGHTS)
    return weights, [(draw(sides(least)), draw(sides(least))) for _ in weights]


def mixed(weights, pairs, *, revealed=True):
    """The mixture of explicit pairs."""
    return mixture([(weight, explicit_pair(*pair)) for weight, pair in zip(weights, pairs, strict=True)], revealed=revealed)


@given(mixtures())
def test_the_distance_of_a_revealed_mixture_is_that_of_the_listed_outcomes(case):
    found = mixed(*case).delta(epsilon=0)
    assert found.contains(ratio_profile(joined(*case), Fraction(1)))
    assert found.width <= EXACT


@settings(max_examples=40)
@given(mixtures(), st.integers(2, 3))
def test_a_composition_of_mixtures_is_what_brute_force_gives(case, count):
    outcomes = [(Fraction(1), Fraction(1))]
    for _ in range(count):
        outcomes = [(p * r, q * s) for (p, q), (r, s) in product(outcomes, joined(*case))]
    found = (count * mixed(*case)).delta(epsilon=0)
    assert found.contains(ratio_profile(outcomes, Fraction(1)))
    assert found.width <= EXACT


@given(mixtures(), EPSILONS)
def test_a_mixture_is_the_pair_of_its_outcomes_beside_the_component(case, epsilon):
    listed = joined(*case)
    pair = explicit_pair([p for p, _ in listed], [q for _, q in listed])
    assert mixed(*case).delta(epsilon=epsilon).meets(pair.delta(epsilon=epsilon))
    assert mixed(*case).renyi(order=3).meets(pair.renyi(order=3))


@settings(max_examples=8)
@given(mixtures(1), EPSILONS)
def test_a_hidden_component_hides_at_most_everything_and_reveals_nothing_more(case, epsilon):
    weights, pairs = case
    hidden = explicit_pair(*([sum(w * pair[side][x] for w, pair in zip(*case, strict=True)) for x in range(3)] for side in (0, 1)))
    revealed, bound = (mixed(weights, pairs, revealed=shown).delta(epsilon=epsilon) for shown in (True, False))
    assert hidden.delta(epsilon=epsilon).lower <= revealed.upper
    assert bound.lower == 0
    assert bound.upper <= revealed.upper + EXACT
    assert hidden.delta(epsilon=epsilon).lower <= bound.upper


def test_a_hidden_component_can_hide_everything():
    truth, lie = explicit_pair(["3/4", "1/4"], ["1/4", "3/4"]), explicit_pair(["1/4", "3/4"], ["3/4", "1/4"])
    assert mixture([("1/2", truth), ("1/2", lie)]).delta(epsilon=0).contains("1/2")
    assert 0 == mixture([("1/2", truth), ("1/2", lie)], revealed=False).delta(epsilon=0).lower
    assert 0 == explicit_pair(["1/2", "1/2"], ["1/2", "1/2"]).delta(epsilon=0).upper


@pytest.mark.parametrize("epsilon", ["0", "1/3", "1", "4"])
def test_a_mixture_of_noises_has_the_mean_of_their_profiles(epsilon):
    with mp.workdps(30):
        at = mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        normal = ncdf(mpf(1) / 4 - 2 * at) - mp.exp(at) * ncdf(-mpf(1) / 4 - 2 * at)
        double = max(1 - mp.exp((at - 1) / 2), 0)
        found = mixture([("1/3", laplace(scale=1)), ("2/3", gaussian(sigma=2))]).delta(epsilon=epsilon)
        assert found.width <= EXACT * found.upper
        assert mp.almosteq((double + 2 * normal) / 3, mpf(found.upper.numerator) / found.upper.denominator, rel_eps=mpf("1e-12"))


def test_equal_losses_of_components_are_put_together():
    parts = [
        ("1/4", pure_dp(1)),
        ("1/4", randomized_response(1, categories=2, adjacency="add_remove")),
        ("1/2", discrete_laplace(1)),
    ]
    law = mixture(parts).parts[0][0]
    assert 2 == len(law.atoms(64).atoms)
    assert (3 * mixture(parts)).delta(epsilon="1/2").meets((3 * pure_dp(1)).delta(epsilon="1/2"))
    pairs = [explicit_pair([p, 1 - p], [q, 1 - q]) for p, q in ((Fraction(4, 5), Fraction(1, 5)), (Fraction(2, 3), Fraction(1, 6)))]
    assert 3 == len(mixture([("1/2", pair) for pair in pairs]).parts[0][0].atoms(64).atoms)  # the ratio 4 stands in both


def test_compositions_of_mixed_noises_lie_on_the_lattice_between_those_of_their_parts():
    parts = [("1/2", laplace(scale=4)), ("1/2", gaussian(sigma=4))]
    found = (30 * mixture(parts)).delta(epsilon="1/2")
    assert 0 < found.lower < found.upper <= found.lower * Fraction(101, 100)
    assert (30 * laplace(scale=4)).delta(epsilon="1/2").upper < found.lower
    assert found.upper < (30 * gaussian(sigma=4)).delta(epsilon="1/2").lower


def test_a_component_may_release_nothing_and_one_of_probability_zero_does_not_count():
    half = mixture([("1/2", laplace(scale=1)), ("1/2", 0 * laplace(scale=1))])
    assert half.delta(epsilon=0).contains(laplace(scale=1).delta(epsilon=0).upper / 2) or half.delta(epsilon=0).width <= EXACT
    assert 1 == half.epsilon(delta=0).upper
    assert laplace(scale=1) == mixture([(1, laplace(scale=1)), (0, zcdp(1))][:1])
    assert half == mixture([("1/2", laplace(scale=1)), (0, gaussian(sigma=1)), ("1/2", 0 * laplace(scale=1))])


@given(mixtures(), EPSILONS)
def test_the_order_of_directions_does_not_matter(case, epsilon):
    loss = mixed(*case)
    assert loss.delta(epsilon=epsilon).meets(loss.reversed().delta(epsilon=epsilon))
    assert loss == loss.reversed().reversed()


def test_sampled_components_and_samples_of_mixtures_agree_with_their_parts():
    step = gaussian(sigma=1)
    whole = mixture([("1/2", step.sampled(Poisson("1/10"))), ("1/2", step.sampled(Poisson("1/5")))])
    parts = [step.sampled(Poisson(rate)).delta(epsilon="1/4") for rate in ("1/10", "1/5")]
    found = whole.delta(epsilon="1/4")
    assert sum(part.lower for part in parts) / 2 <= found.upper
    assert found.lower <= sum(part.upper for part in parts) / 2
    same = mixture([("1/3", step), ("2/3", laplace(scale=1))]).sampled(Poisson("1/10")).delta(epsilon="1/4")
    other = mixture([("1/3", step.sampled(Poisson("1/10"))), ("2/3", laplace(scale=1).sampled(Poisson("1/10")))])
    assert same.meets(other.delta(epsilon="1/4"))


def test_classes_of_mechanisms_are_mixed_between_their_ends():
    loss = mixture([("1/2", bounded_range(1)), ("1/2", permute_and_flip(1))])
    found = loss.delta(epsilon=0)
    ends = [bounded_range(1).delta(epsilon=0), permute_and_flip(1).delta(epsilon=0)]
    assert found.upper <= sum(end.upper for end in ends) / 2 + EXACT
    assert 0 < found.lower <= found.upper
    assert (5 * loss).delta(epsilon=1).lower <= (5 * loss).delta(epsilon=1).upper
    nested = mixture([("1/2", loss), ("1/2", gaussian(sigma=1))])
    assert nested.delta(epsilon=0).upper <= (found.upper + gaussian(sigma=1).delta(epsilon=0).upper) / 2 + EXACT


def test_a_mixture_says_what_it_is_and_why():
    loss = mixture([("1/3", laplace(scale=1)), ("2/3", gaussian(sigma=2))])
    assert "mixture(1/3: laplace(scale=1, sensitivity=1), 2/3: gaussian(sigma=2, sensitivity=1))" == loss.describe()
    assert "the mean of the components' deltas" in loss.delta(epsilon=1).why()
    hidden = mixture([("1/3", laplace(scale=1)), ("2/3", gaussian(sigma=2))], revealed=False)
    assert "revealed=False" in hidden.describe()
    assert "post-processing" in hidden.delta(epsilon=1).why()


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([], "DPA109"),
        ("", "DPA109"),
        ("ab", "DPA105"),
        (7, "DPA105"),
        ([("1/2", laplace(scale=1)), "1/2"], "DPA105"),
        ([(1, "laplace")], "DPA105"),
        ([(1, laplace(scale=1), 0)], "DPA105"),
        ([("half", laplace(scale=1))], "DPA101"),
        ([(float("nan"), laplace(scale=1))], "DPA102"),
        ([("3/2", laplace(scale=1)), ("-1/2", laplace(scale=2))], "DPA103"),
        ([("1/2", laplace(scale=1)), ("0.49", laplace(scale=2))], "DPA103"),
    ],
)
def test_what_is_no_mixture_is_refused(parts, code):
    with pytest.raises(InvalidArgument, match=code):
        mixture(parts)


def test_components_under_different_neighbours_are_refused():
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        mixture([("1/2", laplace(scale=1)), ("1/2", laplace(scale=1, adjacency="replace_one"))])


@pytest.mark.parametrize(
    "part", [2 * laplace(scale=1), compose(laplace(scale=1), pure_dp(1)), zcdp(1), zcdp(1).sampled(Poisson("1/2"))]
)
def test_components_of_several_releases_or_known_by_moments_are_refused(part):
    with pytest.raises(Unsupported, match="DPA202"):
        mixture([("1/2", laplace(scale=1)), ("1/2", part)])
