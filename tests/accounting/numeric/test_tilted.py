"""The engine as a whole: it meets the exact engine, contains what brute force gives, says why, and refuses what it cannot do."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import (
    Poisson,
    Shuffle,
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    laplace,
    price_releases,
    pure_dp,
    randomized_response,
    rdp,
    zcdp,
)
from dpaudit.accounting.engines import bounds, closed_forms, contour, tilted
from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.cells import Raster, cells_of
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.engines.evaluate import evaluate, evaluate_one
from dpaudit.accounting.engines.evaluation import Evaluated
from dpaudit.accounting.engines.tilted import lattice_for, rough_upper_end, tilted_lattice
from dpaudit.accounting.laws.distributions import Normal
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.claims import Adjacency
from dpaudit.errors import EngineDisagreement, InvalidArgument, Unsupported
from dpaudit.exact import working_precision
from dpaudit.releases import Release

POSITIVE = st.fractions(min_value=Fraction(1, 5), max_value=5, max_denominator=12)
EPSILONS = st.fractions(min_value=0, max_value=5, max_denominator=20)
LAWS = st.one_of(
    st.builds(gaussian, POSITIVE),
    st.builds(laplace, POSITIVE),
    st.builds(discrete_laplace, POSITIVE, sensitivity=st.integers(1, 5)),
    st.builds(lambda variance, steps: discrete_gaussian(sigma_squared=variance, sensitivity=steps), POSITIVE, st.integers(1, 4)),
    st.builds(lambda epsilon, k: randomized_response(epsilon, categories=k, adjacency="add_remove"), POSITIVE, st.integers(2, 5)),
    st.builds(lambda epsilon, delta: approx_dp(epsilon, delta=delta), POSITIVE, st.sampled_from(["0", "1e-3"])),
)
RATES = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50)
SAMPLED = st.builds(lambda loss, rate: loss.sampled(Poisson(rate)), LAWS, RATES)
FEW = settings(max_examples=25, deadline=None)


def compositions(laws):
    return st.lists(st.tuples(laws, st.integers(1, 3)), min_size=1, max_size=3).map(
        lambda parts: compose(*(count * loss for loss, count in parts))
    )


@FEW
@given(compositions(LAWS), EPSILONS)
def test_the_lattice_meets_the_exact_engine(loss, epsilon):
    exact, built = closed_form(loss.composition, DeltaAt(epsilon)), lattice_for(loss.composition, epsilon=epsilon, width=0.01)
    if exact is not None and built is not None:
        found = built.delta(epsilon)
        assert found.lower <= exact.upper
        assert found.upper >= exact.lower


@settings(max_examples=12, deadline=None)
@given(compositions(LAWS), EPSILONS, st.sampled_from([Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**40)]))
def test_lattice_and_bounds_never_disagree(loss, epsilon, delta):
    for question in (DeltaAt(epsilon), EpsilonAt(delta)):
        bounds, found = certified_bounds(loss, question), tilted_lattice(loss, question)
        assert bounds.lower <= found.lower <= found.upper <= bounds.upper


@settings(max_examples=12, deadline=None)
@given(compositions(SAMPLED), EPSILONS)
def test_sampling_never_loses_more_than_no_sampling(loss, epsilon):
    plain = compose(*(count * poisson_sampled_at(law, 1) for law, count in loss.parts))
    assert evaluate(loss, DeltaAt(epsilon)).lower <= evaluate(plain, DeltaAt(epsilon)).upper


def poisson_sampled_at(law, rate):
    """The law below the sampling, at another rate."""
    from dpaudit.accounting.privacy_loss import one_release

    return one_release(law.law, "add_remove").sampled(Poisson(rate))


@FEW
@given(LAWS, RATES, EPSILONS)
def test_one_sampled_release_has_the_closed_profile_of_sampling(loss, rate, epsilon):
    """Removing a record: delta_q(e) = q delta(log(1 + (e^e - 1)/q)), here bracketed by rationals around the logarithm."""
    from mpmath import mp, mpf

    with mp.workdps(30):
        at = mp.log1p(mp.expm1(mpf(epsilon.numerator) / epsilon.denominator) * rate.denominator / rate.numerator)
        near = Fraction(mp.nstr(at, 20, min_fixed=0, max_fixed=0))
    low, high = (loss.delta(epsilon=max(near + step, 0)) for step in (Fraction(1, 10**12), -Fraction(1, 10**12)))
    found = tilted_lattice(loss.sampled(Poisson(rate)).composition, DeltaAt(epsilon))
    assert found.lower <= rate * high.upper * (1 + Fraction(1, 10**9))
    assert found.upper >= rate * low.lower * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize("rate", ["0.1", "0.9"])
def test_sampling_a_sample_is_sampling_at_the_product(rate):
    loss = 20 * gaussian(sigma=2)
    twice = 20 * gaussian(sigma=2).sampled(Poisson(rate)).sampled(Poisson("1/2"))
    once = 20 * gaussian(sigma=2).sampled(Poisson(Fraction(rate) / 2))
    for epsilon in ("0.01", "0.5"):
        found, other = (evaluate(loss_, DeltaAt(Fraction(epsilon))) for loss_ in (twice, once))
        assert found.meets(other)
        assert found.lower <= loss.delta(epsilon=epsilon).upper


def test_sampling_at_the_ends_of_its_range_is_no_sampling_or_no_release():
    loss = compose(3 * gaussian(1), laplace(2))
    assert loss == loss.sampled(Poisson(1))
    assert 0 * loss == loss.sampled(Poisson(0))


@pytest.mark.parametrize(("rate", "code"), [("-0.1", "DPA103"), ("1.1", "DPA103"), ("nan", "DPA102"), ("many", "DPA101")])
def test_a_rate_that_is_no_probability_is_refused(rate, code):
    with pytest.raises(InvalidArgument, match=code):
        gaussian(1).sampled(Poisson(rate))


@pytest.mark.parametrize("adjacency", ["replace_one", "zero_out", Adjacency("add_remove", unit="user:id")])
def test_sampling_is_priced_only_where_it_amplifies_as_stated(adjacency):
    with pytest.raises(Unsupported, match="DPA202"):
        gaussian(1, adjacency=adjacency).sampled(Poisson("0.1"))


@pytest.mark.parametrize(
    "loss",
    [laplace(1), pure_dp(2), approx_dp(1, delta="1e-3"), explicit_pair(["1/2", "1/2"], ["1/4", "3/4"]), zcdp("1/2"), rdp({2: 1})],
)
def test_a_bound_on_sampled_releases_holds_where_the_lattice_does_not_answer(loss):
    sampled = 5 * loss.sampled(Poisson("1/10"))
    question = DeltaAt(Fraction(1, 10))
    assert certified_bounds(sampled.composition, question).meets(evaluate_one(sampled.composition, question))
    greatest = certified_bounds(sampled.composition, EpsilonAt(Fraction(0)))
    assert 0 <= greatest.lower <= greatest.upper
    assert greatest.lower <= evaluate(5 * loss, EpsilonAt(Fraction(0))).upper


def test_a_record_that_is_added_to_a_sample_is_never_revealed():
    law = gaussian(1).sampled(Poisson("1/2")).reversed().parts[0][0]
    assert isinstance(law, Sampled)
    assert not law.removing
    assert (Fraction(2), 1) == law.greatest_loss().logs[0]
    pair = explicit_pair(["1/2", "1/2"], ["0", "1"]).sampled(Poisson("1/4")).parts[0][0]
    assert (Fraction(1, 8), 0) == (pair.infinity_mass(), pair.reversed().infinity_mass())


@pytest.mark.parametrize("epsilon", ["0.2", "1", "2.5"])
def test_composed_bounded_range_lies_between_its_member_and_its_worst_pair(epsilon):
    loss, question = 3 * bounded_range(1), DeltaAt(Fraction(epsilon))
    found = tilted_lattice(loss.composition, question)
    assert certified_bounds(loss, question).lower <= found.lower
    assert found.upper <= certified_bounds(loss, question).upper
    one = bounded_range(1).delta(epsilon=epsilon)
    worst = lattice_for(bounded_range(1).composition, epsilon=Fraction(epsilon))
    assert worst is None or worst.delta(Fraction(epsilon)).meets(one)


def test_a_price_between_two_laws_takes_each_end_from_its_own_law():
    rounded = Release("rounded_gaussian", (("lattice", Fraction(1)), ("sigma", Fraction(3))), Fraction(1), Adjacency("add_remove"))
    loss = compose(price_releases([rounded] * 4), 3 * laplace(2))
    found = tilted_lattice(loss.composition, DeltaAt(Fraction(1)))
    above = tilted_lattice(compose(4 * gaussian(3), 3 * laplace(2)).composition, DeltaAt(Fraction(1)))
    assert found.upper == above.upper
    assert 0 < found.lower <= above.lower


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-3"), ("4", "1e-6"), ("30", "1e-50"), ("0", "1e-1"), ("0.3", "1e-300")])
def test_epsilon_inverts_delta(epsilon, delta):
    loss = compose(4 * laplace(1), gaussian(2), 3 * gaussian(1).sampled(Poisson("1/10")))
    found = evaluate(loss.composition, EpsilonAt(Fraction(delta)))
    assert found.width <= found.upper / 1000
    assert evaluate(loss, DeltaAt(Fraction(found.upper))).lower <= Fraction(delta)
    assert evaluate(loss, DeltaAt(Fraction(found.lower))).upper >= Fraction(delta)
    assert evaluate(loss, DeltaAt(Fraction(epsilon))).width <= evaluate(loss, DeltaAt(Fraction(epsilon))).upper / 300


def test_the_worse_direction_counts_and_a_rough_end_only_decides_which_it_is():
    loss, question = 1000 * gaussian(1).sampled(Poisson("1/100")), EpsilonAt(Fraction(1, 10**6))
    forward, backward = tilted_lattice(loss, question), tilted_lattice(loss.reversed(), question)
    found = evaluate(loss.composition, question)
    assert forward.lower > backward.upper
    assert forward.lower <= found.lower <= found.upper <= forward.upper
    assert rough_upper_end(loss.reversed(), Fraction(found.lower), question.delta).upper <= question.delta
    turned = evaluate(loss.reversed().composition, question)
    assert (found.lower, found.upper) == (turned.lower, turned.upper)


def test_a_law_that_is_known_from_above_only_is_left_to_the_bounds():
    assert tilted_lattice(3 * zcdp("1/2"), DeltaAt(Fraction(1))) is None
    assert rough_upper_end(compose(zcdp("1/2"), gaussian(1)), Fraction(1), Fraction(1, 100)) is None


def test_what_is_known_from_below_beside_it_still_counts():
    mixed, known, question = compose(zcdp("1/2"), 3 * laplace(1)), 3 * laplace(1), DeltaAt(Fraction(1))
    found, part = tilted_lattice(mixed, question), tilted_lattice(known, question)
    assert part.lower == found.lower
    assert certified_bounds(mixed, question).upper == found.upper > part.upper


def test_an_answer_names_every_error_term():
    why = evaluate(20 * laplace(scale=3).sampled(Poisson("1/10")), DeltaAt(Fraction(1, 10))).why()
    words = [
        "lattice: spreading raises and fusion lowers",
        "error term: rounding in transforms",
        "error term: losses outside",
        "beyond the lattice",
    ]
    assert [] == [word for word in words if word not in why]


def test_engines_that_contradict_each_other_fail_loudly(monkeypatch):
    """A delta that is close to 1 lies above what the moments of the composition allow."""
    original = Evaluated.delta

    def grown(self, epsilon, ends="both"):
        found = original(self, epsilon, ends)
        return replace(found, lower=1 - (1 - found.lower) / 10**9, upper=Fraction(1))

    monkeypatch.setattr(Evaluated, "delta", grown)
    with pytest.raises(EngineDisagreement, match="DPA203"):
        tilted_lattice(3 * laplace(1).sampled(Poisson("1/10")), DeltaAt(Fraction(1, 10)))


@pytest.mark.parametrize("law", [discrete_gaussian("1e6"), discrete_laplace(1, sensitivity=10**5), gaussian("1e300")])
def test_a_law_that_cannot_be_put_on_a_lattice_claims_nothing_from_below(law):
    loss = 2 * law.sampled(Poisson("1/10"))
    found = evaluate(loss.composition, DeltaAt(Fraction(1, 10)))
    assert 0 <= found.lower <= found.upper <= law.delta(epsilon=0).upper + 1
    assert found.lower <= (2 * law).delta(epsilon="1/10").upper


@pytest.mark.parametrize(("count", "sigma"), [(1, "0.01"), (1, "1"), (1000, "1e4"), (10**9, "1"), (10**9, "1e4")])
def test_sampled_releases_at_extreme_parameters_are_answered(count, sigma):
    loss = count * gaussian(sigma).sampled(Poisson("1e-3"))
    answers = [evaluate(loss, DeltaAt(Fraction(epsilon))) for epsilon in ("1e-12", "1", "1000")]
    assert all(0 <= found.lower <= found.upper <= 1 for found in answers)
    assert answers[0].upper >= answers[1].lower
    found = evaluate(loss.composition, EpsilonAt(Fraction(1, 10**300)))
    assert 0 <= found.lower <= found.upper


@pytest.mark.parametrize(
    "loss",
    [
        bounded_range(1),
        zcdp("1/2"),
        price_releases(
            [
                Release(
                    "exponential_mechanism",
                    (("monotonic", Fraction(0)), ("temperature", Fraction(1))),
                    Fraction(1),
                    Adjacency("add_remove"),
                )
            ]
        ),
    ],
)
def test_the_lower_end_of_a_sampled_class_is_that_of_a_member(loss):
    sampled, member = 4 * loss.sampled(Poisson("1/4")), 4 * bounded_range(1).sampled(Poisson("1/4"))
    found = evaluate(sampled.composition, DeltaAt(Fraction(1, 10)))
    worst = lattice_for(member.composition, epsilon=Fraction(1, 10))
    assert found.lower <= found.upper
    assert loss.parts[0][0].describe() != "bounded_range(epsilon=1)" or found.lower < worst.delta(Fraction(1, 10)).lower


class Doubled:
    """A distribution that forgets to take the mass of its point from the diffuse part."""

    def __init__(self):
        self.base = Normal(Fraction(1))

    def __getattr__(self, name):
        return getattr(self.base, name)

    def points(self, tail):
        return self.base.points(tail)._replace(p_infinity=arb(1))


def test_masses_that_do_not_add_up_to_one_are_not_computed_with():
    raster = Raster(Fraction(1, 4), Fraction(0), tuple(range(-8, 12)))
    with working_precision(100):
        assert cells_of(Normal(Fraction(1)), raster, Fraction(1), Fraction(0), 300) is not None
        assert cells_of(Doubled(), raster, Fraction(1), Fraction(0), 300) is None


def test_questions_around_a_round_delta_share_their_lines_and_lattices():
    loss = compose(
        *(laplace(Fraction(31 + step, 10)) for step in range(6)),
        *(2 * gaussian(3 + step).sampled(Poisson("1/20")) for step in range(2)),
    )
    epsilon = Fraction(loss.epsilon(delta="1e-6").upper)
    loss.delta(epsilon=epsilon)
    before = tilted._small_lattice.cache_info().misses, contour._build_line.cache_info().misses
    for step in range(1, 6):
        loss.epsilon(delta=Fraction(1 + step, 10**6))
        loss.delta(epsilon=epsilon * Fraction(100 + step, 100))
    assert (tilted._small_lattice.cache_info().misses, contour._build_line.cache_info().misses) == before


def test_an_answer_does_not_depend_on_what_was_asked_before():
    def parts():
        return 20 * randomized_response(epsilon="1/2", categories=2).sampled(Shuffle(40))

    target = EpsilonAt(Fraction(1, 10**4))
    fresh = evaluate(parts().composition, target)
    for cache in (closed_forms.exact_profile, bounds._from_below, bounds._profile_above, bounds._profile_below, tilted._ask):
        cache.cache_clear()
    for place in range(2, 6):
        evaluate(parts().composition, EpsilonAt(Fraction(place, 10**3)))
    again = evaluate(parts().composition, target)
    assert (fresh.lower, fresh.upper) == (again.lower, again.upper)
