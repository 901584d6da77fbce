"""Every upper end the least and every lower end the greatest of all that are valid: shapes, samples, and brute force."""

from __future__ import annotations

import random
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise, product

import pytest
from flint import arb
from mpmath import exp, mp, mpf

from dpaudit.accounting import (
    Poisson,
    RandomAllocation,
    WithoutReplacement,
    approx_dp,
    compose,
    explicit_pair,
    gaussian,
    laplace,
    pure_dp,
    randomized_response,
)
from dpaudit.accounting.engines.binary import FEWEST
from dpaudit.accounting.engines.finishing import finished
from dpaudit.accounting.engines.shape import implied
from dpaudit.accounting.laws.discrete_gaussian import RoundedGaussian
from dpaudit.accounting.model.composition import DeltaAt
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.errors import AdjacencyMismatch, EngineDisagreement, InvalidArgument, Unsupported
from dpaudit.exact import Enclosure, Reason, ball, working_precision

RELATIVE = Fraction(1, 1000)


def number(value):
    return mpf(Fraction(value).numerator) / Fraction(value).denominator


def random_part(source):
    """A law as the accountant takes it, and its outcomes as (P, Q) in 60 digits, when a record is removed."""
    kind = source.choice(["pure", "approx", "response", "pair"])
    level = Fraction(source.randint(1, 60), 20)
    growth = exp(number(level))
    if kind == "pure":
        law, outcomes = pure_dp(level), [(growth / (1 + growth), 1 / (1 + growth)), (1 / (1 + growth), growth / (1 + growth))]
    elif kind == "approx":
        delta = Fraction(source.randint(1, 30), 100)
        rest = 1 - number(delta)
        law = approx_dp(level, delta=delta)
        outcomes = [(rest * growth / (1 + growth), rest / (1 + growth)), (rest / (1 + growth), rest * growth / (1 + growth))]
        outcomes += [(number(delta), mpf(0)), (mpf(0), number(delta))]
    elif kind == "response":
        law, whole = randomized_response(level, categories=3, adjacency="add_remove"), growth + 2
        outcomes = [(growth / whole, 1 / whole), (1 / whole, growth / whole), (1 / whole, 1 / whole)]
    else:
        sides = [[source.randint(0, 9) for _ in range(3)] for _ in range(2)]
        sides = [side if any(side) else [1, 0, 0] for side in sides]
        masses = [[Fraction(one, sum(side)) for one in side] for side in sides]
        law, outcomes = explicit_pair(*masses), [(number(p), number(q)) for p, q in zip(*masses, strict=True)]
    if source.random() < 0.6:
        rate = Fraction(source.randint(1, 19), 20)
        law = law.sampled(Poisson(rate))
        outcomes = [((1 - number(rate)) * q + number(rate) * p, q) for p, q in outcomes]
    return law, outcomes


def truth(parts, epsilon):
    """Delta by all outcomes, in each direction."""
    found, growth = [mpf(0), mpf(0)], exp(number(epsilon))
    for chosen in product(*(outcomes for _, outcomes in parts)):
        p = q = mpf(1)
        for one, other in chosen:
            p, q = p * one, q * other
        found[0] += max(p - growth * q, mpf(0))
        found[1] += max(q - growth * p, mpf(0))
    return found


def compared(seed):
    with mp.workdps(60):
        compare(random.Random(seed), seed)  # noqa: S311 - cases are drawn, no noise


def compare(source, seed):
    parts = []
    for _ in range(source.randint(1, 3)):
        parts += [random_part(source)] * source.randint(1, 2)
    loss = sum(law for law, _ in parts)
    epsilon = Fraction(source.randint(0, 60), 20)
    if source.random() < 0.5 and (top := loss.epsilon(delta=0, direction="remove").lower) < 100:
        epsilon = Fraction(round(Fraction(top) * source.randint(1, 20) / 20 * 1000), 1000)
    for direction, exact in zip(loss.directions, truth(parts, epsilon), strict=True):
        found = loss.delta(epsilon=epsilon, direction=direction)
        slack = mpf(10) ** -50
        assert number(found.lower) <= exact * (1 + slack) + slack, (seed, direction)
        assert exact <= number(found.upper) * (1 + slack) + slack, (seed, direction)
        assert found.upper - found.lower <= found.upper * RELATIVE, (seed, direction)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_samples_of_listed_laws_are_sums_over_all_outcomes(first):
    for seed in range(first, first + 20):
        compared(seed)


@pytest.mark.parametrize("first", range(1000, 3000, 100))
def test_two_thousand_compositions_are_sums_over_all_outcomes(first):
    for seed in range(first, first + 100):
        compared(seed)


REFERENCES = [
    (lambda: 3 * pure_dp("3/10").sampled(Poisson("3/20")), "1/10", "0.0046758880491510441933"),
    (lambda: 3 * pure_dp("3/10").sampled(Poisson("3/20")), "7/50", "0.0011998943786527397486"),
    (lambda: 3 * pure_dp("3/10").sampled(Poisson("3/20")), "149/1000", "0.00039844845735075965099"),
    (lambda: 3 * pure_dp("3/10").sampled(Poisson("3/20")), "3/20", "0.00030895284614751387802"),
    (lambda: 5 * pure_dp(1).sampled(Poisson("1/10")), "7/10", "0.00027559675835389671616"),
    (lambda: 5 * pure_dp(1).sampled(Poisson("1/10")), "39/50", "0.000039618393019682880063"),
    (lambda: 10**6 * pure_dp("1/1000"), "1", "0.12693661281682627277"),
    (lambda: 10**9 * pure_dp("1/100000"), "1", "0.00010981047941699645466"),
]


@pytest.mark.parametrize(("make", "epsilon", "exact"), REFERENCES)
def test_reference_values_are_enclosed_narrowly(make, epsilon, exact):
    found = make().delta(epsilon=epsilon)
    assert found.lower <= Fraction(exact) * (1 + Fraction(1, 10**18))
    assert Fraction(exact) <= found.upper * (1 + Fraction(1, 10**18))
    assert found.upper - found.lower <= found.upper / 10**9


def test_many_binary_releases_meet_the_composition_value_by_value():
    few, many = (FEWEST - 1) * pure_dp("1/100"), FEWEST * pure_dp("1/100")
    for epsilon in ("0.507", "3.003", "8.001"):
        one, more = few.delta(epsilon=epsilon), many.delta(epsilon=epsilon)
        assert one.upper < more.lower < one.upper * (1 + Fraction(1, 1000))
    found = many.epsilon(delta="1e-6")
    assert many.delta(epsilon=found.upper).upper <= Fraction("1e-6") < many.delta(epsilon=found.lower).lower


SCHEMES = [
    lambda: (
        3 * explicit_pair(["1/2", "1/2"], ["1/8", "7/8"]).sampled(RandomAllocation(3)),
        3 * explicit_pair(["1/2", "1/2"], ["1/8", "7/8"]),
    ),
    lambda: (40 * pure_dp("1/5").sampled(Poisson("1/3")), 40 * pure_dp("1/5")),
    lambda: (2 * laplace(scale=1).sampled(Poisson("1/3")), 2 * laplace(scale=1)),
    lambda: (
        3 * gaussian(sigma=1, adjacency="replace_one").sampled(WithoutReplacement(size=1, of=3)),
        3 * gaussian(sigma=1, adjacency="replace_one"),
    ),
    lambda: (  # a pair whose directions differ
        2 * explicit_pair(["1/2", "1/2"], ["1/8", "7/8"], adjacency="replace_one").sampled(WithoutReplacement(size=9, of=10)),
        2 * explicit_pair(["1/2", "1/2"], ["1/8", "7/8"], adjacency="replace_one"),
    ),
    lambda: (
        compose(
            explicit_pair(["1/2", "1/2"], ["1/8", "7/8"], adjacency="replace_one").sampled(WithoutReplacement(size=2, of=3)),
            gaussian(sigma=2, adjacency="replace_one"),
        ),
        compose(explicit_pair(["1/2", "1/2"], ["1/8", "7/8"], adjacency="replace_one"), gaussian(sigma=2, adjacency="replace_one")),
    ),
]


@pytest.mark.parametrize("make", SCHEMES)
def test_a_sample_is_never_reported_worse_than_no_sampling(make):
    sampled, whole = make()
    for epsilon in ("0", "1/2", "2"):
        assert sampled.delta(epsilon=epsilon).upper <= whole.delta(epsilon=epsilon).upper


SHAPED = [
    lambda: 3 * pure_dp("3/10").sampled(Poisson("3/20")),
    lambda: compose(2 * pure_dp("1/2").sampled(Poisson("1/4")), gaussian(sigma=4)),
    lambda: 20 * laplace(scale=4).sampled(Poisson("1/4")),
    lambda: 100 * gaussian(sigma=1).sampled(Poisson("1/20")),
    lambda: approx_dp("1/2", delta="1/100").sampled(Poisson("1/2")),
]


@pytest.mark.parametrize("make", SHAPED)
def test_delta_falls_and_is_convex_in_the_exponential_of_epsilon(make):
    loss = make()
    greatest = loss.epsilon(delta="1/150").upper
    places = [Fraction(round(greatest * index * 2**20 / 13), 2**20) for index in range(14)]
    found = loss.curve(places)
    with working_precision(200):
        points = [ball(place).exp() for place in places]
        for one, other in pairwise(found):
            assert other.upper <= one.upper
        for index in range(1, len(found) - 1):
            left, here, right = found[index - 1 : index + 2]
            a, b, c = points[index - 1 : index + 2]
            chord = (ball(Fraction(left.upper)) * (c - b) + ball(Fraction(right.upper)) * (b - a)) / (c - a)
            assert not ball(Fraction(here.lower)) > chord
            assert ball(Fraction(here.upper)) < chord * (1 + arb(2) ** -40)


def test_shape_alone_bounds_a_broken_line_exactly():
    # h(a) = max(0, 1 - a) at the point where two chords meet: everything is known from a = 1 on.
    known = [(Fraction(0), Enclosure(Fraction(0), Fraction(0)))]
    found = implied(Fraction(1), known, None)
    assert found.lower == 0
    assert found.upper == 0
    line = [(Fraction(0), Enclosure(Fraction(1, 2), Fraction(1, 2)))]
    beyond = implied(Fraction(1), line, (Fraction(2), Fraction(0)))
    with working_precision(128):
        e = ball(Fraction(1)).exp()
        chord = (e * e - e) / (e * e - 1) / 2
        assert abs(ball(Fraction(beyond.upper)) - chord) < arb(2) ** -100
    assert beyond.lower == 0


def test_ends_that_cross_are_an_error_and_no_answer():
    known = [(Fraction(0), Enclosure(Fraction(0), Fraction(1, 100))), (Fraction(2), Enclosure(Fraction(1, 2), Fraction(1)))]
    with pytest.raises(EngineDisagreement, match="DPA203"):
        implied(Fraction(1), known, None)
    with pytest.raises(EngineDisagreement, match="DPA203"):
        Enclosure.from_ball(arb(2), Reason("a wrong probability"), highest=Fraction(1))


def test_the_reason_names_where_each_end_is_from():
    sampled = (2 * laplace(scale=1).sampled(Poisson("1/3"))).composition
    whole = (2 * laplace(scale=1)).composition
    first = Enclosure(Fraction(1, 100), Fraction(1), Reason("the first engine"))

    def plain(composition, question):
        return Enclosure(Fraction(1, 2), Fraction(3, 5), Reason("unsampled")) if composition == whole else first

    found = finished(sampled, DeltaAt(Fraction(1)), first, plain)
    assert (found.lower, found.upper) == (Fraction(1, 100), Fraction(3, 5))
    lines = found.why().splitlines()
    assert "the best of several ends" in lines[0]
    assert "the hidden choice of records published" in lines[lines.index("  upper end") + 1]
    assert "the first engine" in lines[lines.index("  lower end") + 1]


def test_what_excludes_each_other_is_no_answer():
    sampled = (2 * laplace(scale=1).sampled(Poisson("1/3"))).composition
    first = Enclosure(Fraction(9, 10), Fraction(1), Reason("a wrong engine"))
    with pytest.raises(EngineDisagreement):
        finished(sampled, DeltaAt(Fraction(1)), first, lambda composition, question: Enclosure(Fraction(0), Fraction(1, 2)))


FRESH = """
from dpaudit.accounting import Poisson, gaussian

loss = 100 * gaussian(sigma=1).sampled(Poisson("1/20"))
print([loss.delta(epsilon="1").upper, loss.delta(epsilon="3/2").upper, loss.epsilon(delta="1e-6").lower])
"""


def test_answers_do_not_depend_on_what_was_asked_before_nor_on_the_process():
    loss = 100 * gaussian(sigma=1).sampled(Poisson("1/20"))
    loss.curve([Fraction(index, 7) for index in range(1, 15)])
    loss.epsilons(["1e-3", "1e-9"])
    before = [loss.delta(epsilon="1").upper, loss.delta(epsilon="3/2").upper, loss.epsilon(delta="1e-6").lower]
    told = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True).stdout
    assert told.strip() == str(before)


def test_one_direction_is_at_most_the_worse_of_both_and_has_its_name():
    loss = gaussian(sigma=1).sampled(Poisson("1/10"))
    assert loss.directions == ("remove", "add")
    both = [loss.delta(epsilon="1/10", direction=direction) for direction in loss.directions]
    assert max(one.upper for one in both) == loss.delta(epsilon="1/10").upper
    assert both[1].upper < both[0].lower
    assert loss.reversed().delta(epsilon="1/10", direction="remove") == both[1]
    pair = gaussian(sigma=1, adjacency="replace_one")
    assert pair.directions == ("forward", "backward")
    for ask in (
        lambda: pair.delta(epsilon=1, direction="remove"),
        lambda: loss.epsilon(delta="1e-6", direction="forward"),
        lambda: loss.renyi(order=2, direction="both"),
        lambda: loss.tradeoff(alpha="1/2", direction=""),
    ):
        with pytest.raises(InvalidArgument, match="DPA104"):
            ask()


@pytest.mark.parametrize(
    ("rate", "alpha", "direction", "exact"),
    [
        ("1/10", "1/20", "remove", "0.92904889771585559294"),
        ("1/10", "1/20", "add", "0.94496555714497627281"),
        ("1/2", "1/100", "remove", "0.94881887596315303207"),
        ("1/2", "1/100", "add", "0.98104927452670432131"),
    ],
)
def test_a_direction_has_its_own_null_hypothesis(rate, alpha, direction, exact):
    found = gaussian(sigma=1).sampled(Poisson(rate)).tradeoff(alpha=alpha, direction=direction)
    assert found.lower <= Fraction(exact) + Fraction(1, 10**18)
    assert Fraction(exact) <= found.upper + Fraction(1, 10**18)
    assert found.upper - found.lower < Fraction(1, 10**8)


def test_sums_of_losses_are_compositions_and_the_best_guess_follows_the_prior():
    parts = [gaussian(sigma=2), laplace(scale=2), pure_dp(1)]
    assert sum(parts) == compose(*parts)
    assert sum(parts, start=0 * parts[0]) == compose(*parts)
    with pytest.raises(AdjacencyMismatch):
        sum([gaussian(sigma=1), pure_dp(1, adjacency="replace_one")])
    with pytest.raises(TypeError):
        gaussian(sigma=1) + 1
    loss = approx_dp(1, delta="1/10")
    even = loss.success()
    assert even.lower <= Fraction(1, 2) + loss.advantage().lower / 2 <= even.upper
    for prior in ("1/100", "1/4", "3/4"):
        p = Fraction(prior)
        odds = (1 - p) / p
        with mp.workdps(40):
            e = exp(mpf(1))
            outcomes = [(9 * e / (10 * (1 + e)), 9 / (10 * (1 + e))), (9 / (10 * (1 + e)), 9 * e / (10 * (1 + e)))]
            outcomes += [(mpf(1) / 10, mpf(0)), (mpf(0), mpf(1) / 10)]
            best = 1 - number(p) + number(p) * sum(max(one - number(odds) * other, 0) for one, other in outcomes)
            found = loss.success(prior=prior)
            assert number(found.lower) <= best + mpf(10) ** -30
            assert best <= number(found.upper) + mpf(10) ** -30
            assert found.upper - found.lower < Fraction(1, 10**20)


@pytest.mark.parametrize("question", [{"delta": {"epsilon": 1}}, {"renyi": {"order": 2}}, {"tradeoff": {"alpha": 0}}], ids=str)
def test_a_group_that_may_mix_directions_has_none(question):
    ((name, arguments),) = question.items()
    group = gaussian(sigma=1).sampled(Poisson("0.1")).group(2)
    with pytest.raises(Unsupported, match="DPA202"):
        getattr(group, name)(**arguments, direction="remove")
    getattr(group, name)(**arguments)


def test_a_moment_that_is_only_bounded_gives_no_lower_end_within_a_joint_sample():
    """The divergence of the rounded Gaussian alone is at most 4, and 3.32 in truth."""
    rounded = one_release(RoundedGaussian(Fraction(1, 2), 1), "add_remove")
    joint = compose(rounded, pure_dp("1/100")).sampled(Poisson(1), together=True)
    assert joint.renyi(order=2, direction="remove").lower < 3.4


def test_divergences_of_groups_of_different_sizes_are_those_of_the_worst_common_split():
    one, other = gaussian(sigma=1).sampled(Poisson("1/10")), gaussian(sigma=2).sampled(Poisson("1/2"))
    found = compose(2 * one.group(2), other.group(3)).renyi(order=2)
    splits = [
        2 * one.group(removed=first, added=2 - first) + other.group(removed=second, added=3 - second)
        for first in range(3)
        for second in range(4)
    ]
    each = [way.renyi(order=2) for way in splits]
    assert (max(way.lower for way in each), max(way.upper for way in each)) == (found.lower, found.upper)
