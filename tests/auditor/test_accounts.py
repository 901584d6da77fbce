"""Accounts: how the money is divided over sets of bins, and which sets are worth nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.betting.accounts import combine_bets, game_of, learned_menu, menu_of, telltale_menu
from dpaudit.auditor.betting.label_bettor import LabelBettor
from dpaudit.auditor.statistics.bounds import ClaimPoint

GAME = game_of(ClaimPoint(1, 0))
LEAKY = game_of(ClaimPoint(1, "1e-5"))
COUNTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=12).filter(
    lambda rows: sum(map(sum, rows)) > 0
)


def shares(menu, game):
    """What each family of a menu owns before any run."""
    return np.exp(menu.log_prior + game.log_weights).sum(axis=1)


@given(counts=COUNTS)
def test_no_menu_owns_more_than_the_money(counts):
    counts = np.array(counts, dtype=np.float64)
    exact = np.ones(len(counts), dtype=bool)

    owned = shares(menu_of(counts.sum(axis=1), GAME), GAME)
    assert np.all(owned >= 0)
    assert owned.sum() <= 1 + 1e-9
    for menu in (learned_menu(counts, GAME), telltale_menu(counts, exact, GAME)):
        assert shares(menu, GAME).sum() <= 1


@given(counts=COUNTS)
def test_no_bin_is_backed_for_both_labels_by_one_account(counts):
    counts = np.array(counts, dtype=np.float64)
    exact = np.ones(len(counts), dtype=bool)

    for menu in (menu_of(counts.sum(axis=1), GAME), learned_menu(counts, GAME), telltale_menu(counts, exact, GAME)):
        assert not (menu.ones * menu.zeros).any()
        assert np.all((menu.ones + menu.zeros).any(axis=1))


def test_tails_too_large_to_break_the_claim_have_no_money():
    mass = np.full(10, 0.1)
    menu = menu_of(mass, GAME)
    tails = menu.row == 0

    assert ((menu.ones + menu.zeros)[tails] @ mass).max() <= (1 + math.exp(-1)) / 2
    # At epsilon 0 every proper set may break the claim.
    fair = menu_of(mass, game_of(ClaimPoint(0, "0.1")))
    assert ((fair.ones + fair.zeros)[fair.row == 0] @ mass).max() == pytest.approx(0.9)


def test_values_that_tell_are_those_seen_twice_and_with_one_label_only():
    counts = np.array([[0, 3], [5, 0], [0, 1], [4, 1], [0, 9], [80, 90]], dtype=np.float64)
    exact = np.array([True, True, True, True, False, False])
    menu = telltale_menu(counts, exact, LEAKY)

    assert [[1, 0, 0, 0, 0, 0]] == menu.ones.tolist()
    assert [[0, 1, 0, 0, 0, 0]] == menu.zeros.tolist()
    assert 0 == len(telltale_menu(counts, ~exact & (counts[:, 0] > 0), LEAKY).ones)


def test_values_that_tell_are_bet_on_with_nearly_the_largest_stake():
    counts = np.array([[0, 8], [8, 0], [5000, 5000]], dtype=np.float64)
    exact = np.array([True, True, False])
    factors, _ = combine_bets(counts, (telltale_menu(counts, exact, LEAKY),), LEAKY)

    largest = 1 + 0.97 / LEAKY.odds
    assert factors[0, 1] > 1 + 0.9 * (largest - 1)
    assert factors[1, 0] == pytest.approx(factors[0, 1])
    assert factors[2, 0] == pytest.approx(1, abs=1e-5)


def test_money_is_divided_alike_over_groups_of_columns_and_the_score():
    stream = np.random.default_rng(3)
    labels = stream.integers(0, 2, 200).astype(np.uint8)
    bettor = LabelBettor(ClaimPoint(1, 0), groups=(0, 0, 0, 1))
    bettor.observe(stream.normal(size=(200, 4)), labels)
    shares = [math.exp(column.log_prior) for column in bettor._columns]

    assert [1 / 9, 1 / 9, 1 / 9, 1 / 3, 1 / 3] == pytest.approx(shares)


def test_a_leak_of_one_in_a_thousand_is_refuted_after_few_hits():
    point = ClaimPoint(1, "1e-5")
    stops = []
    for seed in range(5):
        stream = np.random.default_rng([21, seed])
        labels = stream.integers(0, 2, 45_000).astype(np.uint8)
        values = labels + stream.laplace(0, 1, 45_000)
        leaks = stream.random(45_000) < 1e-3
        values[leaks] = labels[leaks]
        path = np.cumsum(LabelBettor(point).observe(np.stack([values, values % 1 == 0], axis=1), labels))
        stops.append(int(np.argmax(path >= math.log(20))) if path.max() >= math.log(20) else math.inf)
    # Before values that tell had an account of their own the median was above 50,000.
    assert np.median(stops) <= 33_000


@given(counts=st.lists(COUNTS.filter(lambda rows: len(rows) > 3).map(lambda rows: rows[:4]), min_size=1, max_size=4))
def test_columns_settled_together_are_settled_as_if_alone(counts):
    counts = np.array(counts, dtype=np.float64)
    menus = (menu_of(np.full(4, 0.25), LEAKY), learned_menu(counts[0], LEAKY))
    factors, gains = combine_bets(counts, menus, LEAKY)
    alone = [combine_bets(one, menus, LEAKY) for one in counts]

    assert factors == pytest.approx(np.stack([one for one, _ in alone]), abs=1e-12)
    assert gains == pytest.approx(np.stack([gain for _, gain in alone]), abs=1e-9)


def test_no_sets_are_no_bets():
    empty = telltale_menu(np.ones((3, 2)), np.zeros(3, dtype=bool), GAME)
    factors, gains = combine_bets(np.ones((2, 3, 2)), (empty,), GAME)

    assert np.array_equal(np.ones((2, 3, 2)), factors)
    assert np.array_equal(np.zeros(2), gains)
