"""Histogram: counts and their sensitivity, the exact loss on all small neighbours, broken variants, refusals."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import gaussian, price_releases
from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from dpaudit.releases import recording
from mechanisms import DiscreteLaplace, HistogramMechanism, RoundedGaussian, source_from
from mechanisms.roots import root_above


def histogram(**changes):
    return HistogramMechanism(changes.pop("categories", ["a", "b", "c"]), **({"epsilon": 1} if not changes else {}), **changes)


def source(seed=41):
    return source_from(np.random.default_rng(seed))


people_rows = st.lists(st.tuples(st.sampled_from(["a", "b", "c", "zz", None]), st.integers(0, 3)), max_size=12)


def counts_of(mechanism, rows):
    return mechanism.counts([place for place, _ in rows], [person for _, person in rows])


@given(rows=people_rows, other=st.booleans(), contributions=st.integers(1, 4), person=st.integers(0, 3))
def test_a_person_more_moves_at_most_as_many_counts_as_declared_each_by_one(rows, other, contributions, person):
    mechanism = histogram(epsilon=1, other=other, contributions=contributions)
    without = [row for row in rows if row[1] != person]
    difference = counts_of(mechanism, rows) - counts_of(mechanism, without)
    assert set(difference.tolist()) <= {0, 1}
    assert difference.sum() <= mechanism.moves <= contributions
    assert (3 + other,) == difference.shape


@given(rows=people_rows, records=st.lists(st.sampled_from(["a", "b", "c", "zz"])), contributions=st.integers(1, 4))
def test_a_person_with_other_records_moves_at_most_as_many_counts_as_declared(rows, records, contributions):
    mechanism = histogram(epsilon=1, contributions=contributions, adjacency="replace_one")
    replaced = [row for row in rows if row[1] != 0] + [(record, 0) for record in records]
    difference = np.abs(counts_of(mechanism, rows) - counts_of(mechanism, replaced))
    assert difference.max() <= 1
    assert difference.sum() <= mechanism.moves <= 2 * contributions


@pytest.mark.parametrize(
    ("moves", "changes"),
    [
        (1, {"contributions": 1}),
        (2, {"contributions": 2}),
        (3, {"contributions": 7}),
        (4, {"contributions": 7, "other": True}),
        (2, {"contributions": 1, "adjacency": "replace_one"}),
        (3, {"contributions": 2, "adjacency": "replace_one"}),
        (1, {"categories": [5], "adjacency": "replace_one"}),
    ],
)
def test_the_noise_is_scaled_to_the_counts_that_may_move(moves, changes):
    mechanism = histogram(epsilon="1/2", **changes)
    assert (moves, 2 * moves) == (mechanism.moves, mechanism.scale)
    assert Fraction(1, 2) == mechanism.claim.guarantee.epsilon == mechanism.loss.epsilon(delta=0).upper


def mass(scale, k):
    ratio = (-ball(1 / Fraction(scale))).exp()
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def largest_ratio(scale, moves, reach=4):
    """Largest ratio of the odds of any noisy counts between two that differ by `moves`, over the counts near both."""
    largest = arb(0)
    for noisy in itertools.product(range(-reach, reach + 1), repeat=len(moves)):
        ratio = arb(1)
        for count, move in zip(noisy, moves, strict=True):
            ratio = ratio * mass(scale, count) / mass(scale, count - move)
        largest = largest.max(ratio)
    return largest


@pytest.mark.parametrize(
    "mechanism",
    [histogram(epsilon=1), histogram(epsilon="1/3", contributions=2), histogram(epsilon=1, adjacency="replace_one")],
    ids=["one", "two", "replaced"],
)
def test_no_counts_are_more_than_e_to_epsilon_times_likelier_on_any_neighbour(mechanism):
    replaced = mechanism.adjacency.kind == "replace_one"
    with working_precision(128):
        bound = ball(mechanism.moves / mechanism.scale).exp()
        ratios = [
            largest_ratio(mechanism.scale, moves)
            for moves in itertools.product((-1, 0, 1), repeat=3)
            if sum(map(abs, moves)) <= mechanism.moves and (replaced or len(set(moves) - {0}) <= 1)
        ]
        assert all(ratio <= bound * (1 + ball(Fraction(1, 10**30))) for ratio in ratios)
        assert any(abs(ratio / bound - 1) < ball(Fraction(1, 10**30)) for ratio in ratios)


def test_broken_twin_with_the_scale_upside_down():
    with working_precision(128):
        assert largest_ratio(Fraction(1, 10), (1, 0)) > ball(Fraction(99, 10)).exp()  # claims 1/10


def test_broken_twin_that_forgets_that_a_replaced_person_leaves_one_count_and_joins_another():
    with working_precision(128):
        assert largest_ratio(1, (-1, 1)) > ball(Fraction(19, 10)).exp()  # claims 1


def test_broken_twin_that_does_not_bound_what_a_person_adds():
    with working_precision(128):
        assert largest_ratio(1, (3, 0), reach=6) > ball(Fraction(29, 10)).exp()  # claims 1 for a person with one record


def test_empty_categories_get_noise_too():
    drawn = histogram(epsilon=1).releases(["a"] * 50, 2000, source())
    assert (2000, 3) == drawn.shape
    assert all(len(set(column)) > 3 for column in drawn.T.tolist())
    assert (histogram(epsilon=1).releases([], 500, source()) != 0).any(axis=0).all()


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (histogram(epsilon="1/2"), DiscreteLaplace(2)),
        (histogram(epsilon="1/2", contributions=2, adjacency="replace_one"), DiscreteLaplace(6)),
        (histogram(scale=7), DiscreteLaplace(7)),
        (histogram(sigma="5/2", contributions=2), RoundedGaussian("5/2")),
    ],
)
def test_a_release_is_the_counts_plus_draws_of_the_law(mechanism, law):
    values, people = ["a", "b", "a", "zz"], [1, 2, 3, 4]
    noise = law.sample(3, source=source())
    assert [2, 1, 0] == mechanism.counts(values, people).tolist()
    assert (noise + np.array([2, 1, 0])).tolist() == mechanism.release(values, source(), people=people).tolist()
    many = law.sample(12, source=source()).reshape(4, 3)
    assert (many + np.array([2, 1, 0])).tolist() == mechanism.releases(values, 4, source(), people=people).tolist()


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, 3, 7, 1.0, True, "3", None, math.nan, [3]],
        (3, 1, 3, 1, 1),
        np.array([3, 1, 3, 1, 1, -5, 2**62]),
        np.array([3.0, 1.0, 3.0, 1.5, 1.0, 1.0, math.inf]),
        np.array([3, 1, 3, 1, 1, 255], dtype=np.uint8),
        np.array([3, 1, 3, 1, 1, "x"], dtype=object),
        iter([3, 1, 3, 1, 1]),
    ],
)
def test_records_are_counted_whatever_holds_them_and_whatever_else_they_hold(values):
    assert [2, 3] == histogram(categories=[3, 1], epsilon=1).counts(values).tolist()


def test_everything_else_is_counted_where_that_is_asked_for():
    mechanism = histogram(epsilon=1, other=True, contributions=2)
    values, people = ["x", "a", None, [1], "b", math.nan], [1, 1, 1, 2, 2, 3]
    assert [1, 1, 0, 3] == mechanism.counts(values, people).tolist()
    assert ("a", "b", "c", None) == mechanism.labels
    assert {"a": 1, "b": 1, "c": 0, None: 3} == mechanism.named(mechanism.counts(values, people))


def test_a_person_counts_in_the_first_categories_of_the_own_records():
    mechanism = histogram(epsilon=1, contributions=2)
    assert [0, 1, 1] == mechanism.counts(["c", "c", "zz", "b", "a"], ["me"] * 5).tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 5, 16, 17, 2**24])
def test_the_root_in_the_log_is_at_least_the_l2_sensitivity_and_hardly_more(count):
    root = root_above(Fraction(count))
    assert (root - Fraction(1, 2**64)) ** 2 < count <= root**2


@pytest.mark.parametrize("contributions", [1, 2, 3])
def test_gaussian_noise_costs_what_all_moved_counts_cost_together(contributions):
    mechanism = histogram(sigma=2, contributions=contributions)
    with recording() as log:
        mechanism.release(["a"], source(), people=[1])
    assert ["rounded_gaussian"] == [release.kind for release in log]
    assert root_above(Fraction(contributions)) == log[0].sensitivity
    assert mechanism.loss == mechanism.claim.guarantee.loss
    for epsilon in ("0", "1/2", "2"):
        whole = gaussian(sigma=2, sensitivity=root_above(Fraction(contributions))).delta(epsilon=epsilon)
        cost, priced = mechanism.loss.delta(epsilon=epsilon), price_releases(log).delta(epsilon=epsilon)
        assert cost.lower <= whole.upper
        assert whole.upper <= priced.upper
        assert priced.upper - cost.lower < Fraction(1, 10**9)


@pytest.mark.parametrize("changes", [{}, {"contributions": 2}, {"adjacency": "replace_one"}])
def test_the_log_of_laplace_releases_prices_them_at_the_claim(changes):
    mechanism = histogram(epsilon="3/4", **changes)
    with recording() as log:
        mechanism.release(["a"], people=[1])
        mechanism.releases(["a"], 5, source(), people=[1])
    assert [("discrete_laplace", 3, 1, True), ("discrete_laplace", 3, 5, False)] == [
        (release.kind, release.dimension, release.count, release.secure) for release in log
    ]
    assert Fraction(3, 4) == price_releases(log[:1]).epsilon(delta=0).upper
    for epsilon in ("0", "1/4", "1/2"):
        assert 0 < mechanism.loss.delta(epsilon=epsilon).lower
        assert mechanism.loss.delta(epsilon=epsilon).upper <= price_releases(log[:1]).delta(epsilon=epsilon).upper


@pytest.mark.parametrize(
    ("code", "values", "people"),
    [
        ("DPA105", "abc", None),
        ("DPA105", 3, None),
        ("DPA105", np.zeros((2, 2)), None),
        ("DPA105", ["a"], [1, 2]),
        ("DPA105", ["a"], "x"),
    ],
)
def test_bad_columns_are_refused_before_bits_are_drawn_or_anything_is_logged(code, values, people, unasked):
    mechanism = histogram(epsilon=1)
    with recording() as log:
        for call in (
            lambda: mechanism.release(values, unasked, people=people),
            lambda: mechanism.releases(values, 2, unasked, people=people),
        ):
            with pytest.raises(DpauditError, match=code):
                call()
    assert [] == log


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA106", {"contributions": 1}),
        ("DPA106", {"epsilon": 1, "scale": 1}),
        ("DPA106", {"epsilon": 1, "sigma": 1}),
        ("DPA106", {"scale": 1, "sigma": 1}),
        ("DPA104", {"epsilon": 0}),
        ("DPA104", {"scale": -1}),
        ("DPA102", {"sigma": math.inf}),
        ("DPA103", {"epsilon": 1, "contributions": 0}),
        ("DPA105", {"epsilon": 1, "contributions": 1.0}),
        ("DPA105", {"epsilon": 1, "other": 1}),
        ("DPA103", {"epsilon": 1, "adjacency": "label"}),
        ("DPA109", {"epsilon": 1, "categories": []}),
        ("DPA105", {"epsilon": 1, "categories": "abc"}),
        ("DPA105", {"epsilon": 1, "categories": {"a", "b"}}),
        ("DPA105", {"epsilon": 1, "categories": [1, 2.0]}),
        ("DPA105", {"epsilon": 1, "categories": [True]}),
        ("DPA103", {"epsilon": 1, "categories": ["a", "b", "a"]}),
    ],
)
def test_bad_parameters_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        histogram(**changes)


def test_several_contributions_need_to_know_the_people(unasked):
    with pytest.raises(DpauditError, match="DPA106"):
        histogram(epsilon=1, contributions=2).release(["a"], unasked)


@pytest.mark.parametrize("counts", [np.zeros(2), np.zeros((2, 3)), 5])
def test_names_need_one_count_each(counts):
    with pytest.raises(DpauditError, match="DPA105"):
        histogram(epsilon=1).named(counts)


@pytest.mark.parametrize("changes", [{"epsilon": "2/3"}, {"sigma": 3, "contributions": 2, "other": True}])
def test_a_mechanism_is_a_value_that_can_be_pickled_and_built_from_its_description(changes):
    mechanism = histogram(categories=range(3), **changes)
    mechanism.release([1], people=[1])
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    assert mechanism == histogram(categories=np.arange(3), **changes)
    text = mechanism.to_dict()
    assert "HistogramMechanism" == text.pop("mechanism")
    text |= {"categories": json.loads(text["categories"]), "other": text["other"] == "True"}
    assert mechanism == HistogramMechanism(**{**text, "contributions": int(text["contributions"])})
    assert "3 categories" in mechanism.describe()


def test_many_records_with_strings_are_counted_like_their_numbers_and_like_a_plain_loop_does():
    codes = np.random.default_rng(5).integers(0, 60, 50_000)
    people = np.random.default_rng(6).integers(0, 20_000, 50_000)
    names = [f"name {code}" for code in range(50)]
    by_number = histogram(categories=range(50), epsilon=1, contributions=2).counts(codes, people)
    by_name = histogram(categories=names, epsilon=1, contributions=2).counts([f"name {code}" for code in codes], people.tolist())
    np.testing.assert_array_equal(by_number, by_name)
    plain = {}
    for code, person in zip(codes.tolist(), people.tolist(), strict=True):
        mine = plain.setdefault(person, [])
        if code < 50 and code not in mine and len(mine) < 2:
            mine.append(code)
    assert np.bincount([code for mine in plain.values() for code in mine], minlength=50).tolist() == by_number.tolist()


def test_records_are_left_as_they_were():
    values, people = np.array([3, 1, 9]), np.array([5, 5, 6])
    histogram(categories=[3, 1], epsilon=1, other=True, contributions=2).release(values, source(), people=people)
    assert ([3, 1, 9], [5, 5, 6]) == (values.tolist(), people.tolist())
