"""What the accounting refuses, with code, before it computes anything."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import (
    CyclicPoisson,
    FixedOrder,
    MinSeparation,
    Single,
    Tree,
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gdp,
    laplace,
    loss_of_claim,
    matrix_mechanism,
    prefix_root,
    price_releases,
    pure_dp,
    randomized_response,
    rdp,
    sensitivity,
    toeplitz,
    zcdp,
)
from dpaudit.claims import Adjacency, Claim, Curve, PureDP
from dpaudit.errors import AdjacencyMismatch, InvalidArgument, Unsupported
from dpaudit.exact import Enclosure
from dpaudit.releases import Release

ONE_PARAMETER = [gaussian, gdp, laplace, discrete_laplace, discrete_gaussian, randomized_response, pure_dp, bounded_range, zcdp]
POSITIVE_ONLY = [gaussian, laplace, discrete_laplace, discrete_gaussian, randomized_response, bounded_range]
ADD_REMOVE = Adjacency("add_remove")


@pytest.mark.parametrize("law", ONE_PARAMETER)
@pytest.mark.parametrize(
    ("value", "code"),
    [(math.nan, "DPA102"), (math.inf, "DPA102"), ("inf", "DPA102"), (True, "DPA101"), (1j, "DPA101"), ("one", "DPA101")],
)
def test_what_is_not_a_finite_number_is_refused(law, value, code):
    with pytest.raises(InvalidArgument, match=code):
        law(value)


@pytest.mark.parametrize("law", POSITIVE_ONLY)
@pytest.mark.parametrize("value", [0, -1, "-1e-300", Fraction(-1, 3)])
def test_scales_and_budgets_of_mechanisms_must_be_positive(law, value):
    with pytest.raises(InvalidArgument, match="DPA104"):
        law(value)


@pytest.mark.parametrize("law", [gdp, pure_dp, zcdp])
def test_budgets_of_guarantees_may_be_zero_but_not_negative(law):
    assert 0 == law(0).delta(epsilon=0).upper
    with pytest.raises(InvalidArgument, match="DPA103"):
        law("-1e-9")


@pytest.mark.parametrize("law", [gaussian, laplace])
@pytest.mark.parametrize("sensitivity", [0, -2])
def test_a_sensitivity_must_be_positive(law, sensitivity):
    with pytest.raises(InvalidArgument, match="DPA104 sensitivity"):
        law(1, sensitivity=sensitivity)


@pytest.mark.parametrize("law", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize(
    ("sensitivity", "code"), [(0, "DPA103"), (-1, "DPA103"), (1.5, "DPA105"), ("1", "DPA105"), (True, "DPA105")]
)
def test_a_sensitivity_in_lattice_steps_is_a_whole_number(law, sensitivity, code):
    with pytest.raises(InvalidArgument, match=code):
        law(1, sensitivity=sensitivity)


def test_a_discrete_gaussian_takes_sigma_or_its_square_but_not_both():
    with pytest.raises(InvalidArgument, match="DPA106"):
        discrete_gaussian()
    with pytest.raises(InvalidArgument, match="DPA106"):
        discrete_gaussian(1, sigma_squared=1)
    with pytest.raises(InvalidArgument, match="DPA104"):
        discrete_gaussian(sigma_squared=0)


@pytest.mark.parametrize(("categories", "code"), [(1, "DPA103"), (2.0, "DPA105"), ("3", "DPA105")])
def test_randomized_response_needs_two_categories(categories, code):
    with pytest.raises(InvalidArgument, match=code):
        randomized_response(1, categories=categories)


@pytest.mark.parametrize("delta", [-1, 1, 2, "1.5"])
def test_a_delta_outside_its_range_is_refused(delta):
    with pytest.raises(InvalidArgument, match="DPA103"):
        approx_dp(1, delta=delta)
    with pytest.raises(InvalidArgument, match="DPA103"):
        gaussian(1).epsilon(delta=delta)


def test_a_negative_epsilon_is_refused():
    with pytest.raises(InvalidArgument, match="DPA103"):
        gaussian(1).delta(epsilon="-1e-9")


def test_a_positive_delta_that_cannot_be_told_from_zero_is_refused():
    with pytest.raises(Unsupported, match="DPA202"):
        gaussian(1).epsilon(delta="1e-2000")
    assert gaussian(1).epsilon(delta="1e-1200").upper < 100


@pytest.mark.parametrize(
    ("p", "q", "code"),
    [
        (["1/2", "1/2"], ["1"], "DPA105"),
        ([], [], "DPA109"),
        (["1/2", "1/3"], ["1/2", "1/2"], "DPA103"),
        (["3/2", "-1/2"], ["1/2", "1/2"], "DPA103"),
        ([0.1, 0.9], [0.1, 0.9], "DPA103"),
        ("1", "1", "DPA105"),
        ({"1/2": 1}, ["1"], "DPA105"),
        ([math.nan, 1], ["1/2", "1/2"], "DPA102"),
    ],
)
def test_a_pair_that_is_not_two_exact_distributions_is_refused(p, q, code):
    with pytest.raises(InvalidArgument, match=code):
        explicit_pair(p, q)


@pytest.mark.parametrize(("orders", "code"), [({}, "DPA109"), ({1: 1}, "DPA103"), ({2: -1}, "DPA103"), ([(2, 1)], "DPA105")])
def test_a_renyi_curve_needs_orders_above_one(orders, code):
    with pytest.raises(InvalidArgument, match=code):
        rdp(orders)


@pytest.mark.parametrize("law", ONE_PARAMETER)
def test_an_unknown_adjacency_is_refused(law):
    with pytest.raises(InvalidArgument, match="DPA103"):
        law(1, adjacency="swap")
    with pytest.raises(InvalidArgument, match="DPA105"):
        law(1, adjacency=3)


@pytest.mark.parametrize(("times", "code"), [(-1, "DPA103"), (1.5, "DPA105"), (True, "DPA105")])
def test_a_number_of_releases_is_a_whole_number(times, code):
    with pytest.raises(InvalidArgument, match=code):
        times * gaussian(1)


def test_only_losses_compose_and_at_least_one():
    with pytest.raises(InvalidArgument, match="DPA109"):
        compose()
    with pytest.raises(InvalidArgument, match="DPA105"):
        compose(gaussian(1), 2)


def test_an_empty_log_has_no_price():
    with pytest.raises(InvalidArgument, match="DPA109"):
        price_releases([])


def test_what_is_not_a_release_has_no_price():
    with pytest.raises(InvalidArgument, match="DPA105"):
        price_releases([gaussian(1)])


def test_an_unknown_kind_of_release_has_no_price():
    with pytest.raises(Unsupported, match="DPA202"):
        price_releases([Release("teleport", (), Fraction(1), ADD_REMOVE)])


def test_a_release_without_its_parameters_has_no_price():
    with pytest.raises(InvalidArgument, match="DPA105"):
        price_releases([Release("discrete_laplace", (("scale", Fraction(1)),), Fraction(1), ADD_REMOVE)])


def test_releases_under_different_adjacencies_have_no_common_price():
    noise = (("lattice", Fraction(1)), ("scale", Fraction(1)))
    log = [Release("discrete_laplace", noise, Fraction(1), Adjacency(kind)) for kind in ("add_remove", "replace_one")]
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        price_releases(log)


class ForeignLoss:
    adjacency = ADD_REMOVE

    def delta(self, *, epsilon):
        return Enclosure.point(0)

    def epsilon(self, *, delta):
        return Enclosure.point(0)

    def describe(self):
        return "foreign"


def test_a_curve_from_elsewhere_is_refused_and_a_guarantee_is_not_a_claim():
    with pytest.raises(Unsupported, match="DPA202"):
        loss_of_claim(Claim(Curve(ForeignLoss())))
    with pytest.raises(InvalidArgument, match="DPA105"):
        loss_of_claim(PureDP(1))


@given(st.one_of(st.none(), st.binary(), st.complex_numbers(), st.lists(st.integers())))
def test_nothing_but_numbers_is_ever_taken_for_one(value):
    for law in ONE_PARAMETER:
        if law is discrete_gaussian and value is None:
            continue
        with pytest.raises(InvalidArgument, match="DPA101"):
            law(value)
    with pytest.raises(InvalidArgument, match="DPA101"):
        gaussian(1).delta(epsilon=value)


@pytest.mark.parametrize("values", [1, -1e16, Fraction(1, 2), "12", b"12", None])
def test_a_grid_is_several_numbers(values):
    for ask in (gaussian(sigma=1).curve, gaussian(sigma=1).epsilons):
        with pytest.raises(InvalidArgument, match="DPA105"):
            ask(values)
    with pytest.raises(InvalidArgument, match="DPA104"):
        gaussian(sigma=1).curve([1], direction=bytes)


HUGE = 2**31
LONG = toeplitz([1, "1/2"], steps=HUGE)
TOO_MUCH = {
    "coefficients": lambda: prefix_root(bands=HUGE),
    "columns": lambda: matrix_mechanism(LONG, noise_multiplier=1, participation=CyclicPoisson(rate="1/2", bands=2)),
    "classes": lambda: matrix_mechanism(Tree(HUGE), noise_multiplier=1, participation=CyclicPoisson(rate="1/2", bands=HUGE)),
    "epochs": lambda: sensitivity(LONG, FixedOrder(epochs=HUGE, steps=1)),
    "places of an epoch": lambda: sensitivity(Tree(HUGE), FixedOrder(epochs=1, steps=HUGE)),
    "participations": lambda: sensitivity(LONG, MinSeparation(1, participations=HUGE)),
    "patterns": lambda: sensitivity(Tree(HUGE), MinSeparation(1, participations=HUGE)),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_would_take_for_ever_is_refused_at_once(name):
    with pytest.raises((InvalidArgument, Unsupported)):
        TOO_MUCH[name]()


def test_long_matrices_whose_worst_pattern_is_plain_are_priced():
    assert sensitivity(LONG, Single()).contains(sensitivity(toeplitz([1, "1/2"], steps=2), Single()).upper)
    assert sensitivity(Tree(HUGE), Single()).upper < 6


def test_names_of_other_libraries_say_what_to_write_instead():
    loss = gaussian(1)
    with pytest.raises(AttributeError, match=r"no get_epsilon\. Write epsilon\(delta="):
        loss.get_epsilon(1e-6)
    with pytest.raises(AttributeError, match=r"no profile\. Write curve\("):
        loss.profile([1])
    with pytest.raises(AttributeError, match=r"no sigma\.$"):
        loss.sigma  # noqa: B018
    assert not hasattr(loss, "sigma")
