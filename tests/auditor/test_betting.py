"""Bets: predictable, fair against every pair that keeps the claim, additive in the bankroll, and quick to find a violation."""

import copy
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpaudit.auditor.betting.bankroll import Bankroll
from dpaudit.auditor.betting.event_bettor import MOST_EVENTS, EventPortfolio, Wager
from dpaudit.auditor.betting.label_bettor import LabelBettor
from dpaudit.auditor.events.ranking import Atoms, RankedEvent, Threshold
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.errors import InvalidArgument

PURE = ClaimPoint(1, 0)
LEAN = ClaimPoint("0.2", "0.05")
POINTS = [PURE, LEAN, ClaimPoint(0, "0.3"), ClaimPoint("0.1", 0), ClaimPoint(3, "1e-5")]
LOW, HIGH = Threshold(0, 0.0, at_most=True), Threshold(0, 1.0, at_most=False)


def laplace_runs(seed, runs, truth, columns=1):
    stream = np.random.default_rng(seed)
    labels = stream.integers(0, 2, runs).astype(np.uint8)
    features = stream.normal(size=(runs, columns))
    features[:, 0] = stream.laplace(0, 1 / truth, runs) + labels
    return features, labels


def ranked(event, *, reverse=False, mass=0.3, theta=0.8, hits=200):
    return RankedEvent(event, reverse, 1.0, mass, theta, hits)


def bettors_of(point):
    """One bettor of every kind, all fresh."""
    wagers = [Wager(LOW, reverse=True, expected=ranked(LOW, reverse=True)), Wager(HIGH, reverse=False)]
    # With two columns or more in the group of items part of the money bets on forecasts.
    labels = [LabelBettor(point), LabelBettor(point, groups=(0, 0, 0))]
    return [*labels, EventPortfolio(point, [Wager(LOW, reverse=True)]), EventPortfolio(point, wagers)]


def stopped_at(increments, threshold):
    reached = np.flatnonzero(np.cumsum(increments) >= math.log(threshold))
    return int(reached[0]) + 1 if reached.size else math.inf


def largest_mean_factor(bettor, point, outputs):
    """The largest mean factor of the next run over all pairs of laws on `outputs` that keep the claim: a linear program."""
    log_factors = np.array(
        [
            [copy.deepcopy(bettor).observe(output[None, :], np.array([label], dtype=np.uint8))[0] for label in (0, 1)]
            for output in outputs
        ]
    )
    size, odds = len(outputs), math.exp(float(point.epsilon))
    # Unknowns: Q, P, and the excess of each over e^epsilon times the other, whose sum delta bounds.
    gain = np.concatenate([np.exp(log_factors[:, 0]), np.exp(log_factors[:, 1]), np.zeros(2 * size)]) / 2
    eye, none = np.eye(size), np.zeros((size, size))
    excess = np.block([[-odds * eye, eye, -eye, none], [eye, -odds * eye, none, -eye]])
    sums = np.concatenate([np.zeros((2, 2 * size)), np.kron(np.eye(2), np.ones(size))], axis=1)
    solved = linprog(
        -gain,
        A_ub=np.concatenate([excess, sums]),
        b_ub=np.concatenate([np.zeros(2 * size), np.full(2, float(point.delta))]),
        A_eq=np.concatenate([np.kron(np.eye(2), np.ones(size)), np.zeros((2, 2 * size))], axis=1),
        b_eq=np.ones(2),
    )
    return -solved.fun


@pytest.mark.parametrize("point", POINTS, ids=str)
@pytest.mark.parametrize("truth", [0.5, 2.0])
def test_no_pair_that_keeps_the_claim_makes_a_bet_favourable(point, truth):
    features, labels = laplace_runs(1, 700, truth, columns=2)
    features[:, 1] = np.round(features[:, 1])
    probes = np.stack([np.repeat([-2.0, 0.0, 0.4, 1.0, 2.5], 2), np.tile([0.0, 1.0], 5)], axis=1)
    for bettor in bettors_of(point):
        for start, stop in ((0, 20), (20, 90), (90, 300), (300, 700)):
            bettor.observe(features[start:stop], labels[start:stop])
            assert largest_mean_factor(bettor, point, probes) <= 1 + 1e-9


@given(seed=st.integers(0, 2**32 - 1), runs=st.integers(1, 400), point=st.sampled_from(POINTS))
@settings(max_examples=25, deadline=None)
def test_no_past_makes_a_bet_favourable(seed, runs, point):
    stream = np.random.default_rng(seed)
    outputs = stream.integers(0, 4, runs).astype(np.float64)[:, None]
    labels = (outputs[:, 0] >= stream.integers(0, 4, runs)).astype(np.uint8)
    for bettor in bettors_of(point):
        bettor.observe(outputs, labels)
        assert largest_mean_factor(bettor, point, np.arange(4.0)[:, None]) <= 1 + 1e-9


@pytest.mark.parametrize("point", [PURE, LEAN], ids=str)
def test_mean_wealth_over_every_possible_future_is_at_most_one(point):
    past, past_labels = laplace_runs(2, 300, 2.0)
    past = np.clip(np.round(past), 0, 1)
    # The extreme pair of the claim on two outputs: P(1) = e^epsilon Q(1) + delta, and the same for Q(0).
    odds, delta = math.exp(float(point.epsilon)), float(point.delta)
    rare = (1 - delta) / (1 + odds)
    law = {(0, 0): (1 - rare) / 2, (1, 0): rare / 2, (0, 1): rare / 2, (1, 1): (1 - rare) / 2}
    for bettor in bettors_of(point):
        bettor.observe(past, past_labels)
        mean = 0.0
        for future in itertools.product(law, repeat=4):
            outputs = np.array([[output] for output, _ in future], dtype=np.float64)
            gained = copy.deepcopy(bettor).observe(outputs, np.array([label for _, label in future], dtype=np.uint8)).sum()
            mean += math.prod(law[run] for run in future) * math.exp(gained)
        # Equality up to the drain and to rounding: at this pair every bet is exactly fair or worse.
        assert 0.5 < mean <= 1 + 1e-12


@given(cut=st.integers(1, 899), seed=st.integers(0, 10**6), point=st.sampled_from([PURE, LEAN]))
@settings(max_examples=20, deadline=None)
def test_poisoning_later_runs_leaves_earlier_bets_bit_for_bit_alone(cut, seed, point):
    features, labels = laplace_runs(seed, 900, 1.5, columns=3)
    poisoned, flipped = features.copy(), labels.copy()
    poisoned[cut:] = np.random.default_rng(seed).permutation(features[cut:]) * 1e6
    flipped[cut:] ^= 1
    for clean, dirty in zip(bettors_of(point), bettors_of(point), strict=True):
        assert clean.observe(features, labels)[:cut].tobytes() == dirty.observe(poisoned, flipped)[:cut].tobytes()


def test_the_bet_on_a_run_does_not_depend_on_its_own_label():
    features, labels = laplace_runs(3, 500, 2.0)
    bettor = LabelBettor(PURE)
    bettor.observe(features[:-1], labels[:-1])
    right, wrong = (copy.deepcopy(bettor).observe(features[-1:], np.array([label], dtype=np.uint8))[0] for label in (0, 1))
    odds = math.e
    # A bet on one label with stake x pays 1 + x or 1 - e x, whichever label it backs.
    stake = math.exp(max(right, wrong)) - 1
    assert 1 - odds * stake == pytest.approx(math.exp(min(right, wrong)), abs=1e-9)


@pytest.mark.parametrize("sizes", [(1,) * 40 + (960,), (32, 32, 64, 128, 256, 488), (999, 1)])
def test_how_runs_are_cut_into_calls_does_not_matter(sizes):
    features, labels = laplace_runs(4, 1000, 1.5, columns=2)
    for whole, parts in zip(bettors_of(LEAN), bettors_of(LEAN), strict=True):
        ends = list(itertools.accumulate(sizes, initial=0))
        pieces = [parts.observe(features[start:stop], labels[start:stop]) for start, stop in itertools.pairwise(ends)]
        np.testing.assert_allclose(np.concatenate(pieces), whole.observe(features, labels), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("truth", "runs", "threshold", "bar"), [(2.0, 1500, 20, 200), (2.0, 1500, 40, 250), (1.5, 5000, 20, 600)])
def test_laplace_with_too_little_noise_is_refuted_within_the_bar(truth, runs, threshold, bar):
    stops = [stopped_at(LabelBettor(PURE).observe(*laplace_runs([5, seed], runs, truth)), threshold) for seed in range(41)]
    assert np.median(stops) <= bar


def test_a_raw_value_is_refuted_at_once_and_wealth_never_overflows():
    labels = np.random.default_rng(6).integers(0, 2, 5000).astype(np.uint8)
    bettor = LabelBettor(PURE)
    increments = bettor.observe(labels[:, None].astype(np.float64), labels)
    assert stopped_at(increments, 20) <= 50
    assert increments.sum() > math.log(10) * 600
    # The other way round money shrinks but never below what can be represented.
    assert math.isfinite(bettor.observe(1.0 - labels[:, None], labels).sum())


def test_a_violation_in_one_of_many_columns_is_found():
    stops = [stopped_at(LabelBettor(PURE).observe(*laplace_runs([7, seed], 2500, 2.0, columns=8)), 20) for seed in range(9)]
    assert np.median(stops) <= 400


def test_positive_delta_is_refuted_by_a_rare_exact_value():
    point = ClaimPoint(1, "1e-5")
    stops = []
    for seed in range(5):
        stream = np.random.default_rng([8, seed])
        labels = stream.integers(0, 2, 60_000).astype(np.uint8)
        values = stream.laplace(0, 1, 60_000)
        leaks = stream.random(60_000) < 5e-3
        values[leaks] = 7.25 * labels[leaks]
        stops.append(stopped_at(LabelBettor(point).observe(values[:, None], labels), 20))
    assert np.median(stops) <= 10_000


def test_what_a_pilot_expects_sets_the_first_stakes():
    features, labels = laplace_runs(9, 2000, 2.0)
    expected = ranked(LOW, reverse=True, theta=0.88, hits=2000)
    wagers = (Wager(LOW, reverse=True), Wager(LOW, reverse=True, expected=expected))
    blank, told = (EventPortfolio(PURE, [wager]).observe(features, labels).sum() for wager in wagers)
    assert told > blank > 0


def test_bankroll_is_the_sum_of_its_accounts():
    first, second = laplace_runs(10, 300, 2.0), laplace_runs(11, 300, 1.2)
    bankroll = Bankroll(PURE)
    bankroll.open(0, 0.25)
    bankroll.open(1, 0.5)
    bankroll.observe(0, *first)
    path = bankroll.observe(1, *second)
    expected = (
        0.25
        + 0.25 * math.exp(LabelBettor(PURE).observe(*first).sum())
        + 0.5 * np.exp(np.cumsum(LabelBettor(PURE).observe(*second)))
    )
    np.testing.assert_allclose(np.exp(path), expected, rtol=1e-12)
    assert path[-1] == pytest.approx(bankroll.log_wealth, abs=1e-12)


def test_concentrating_moves_all_money_and_loses_none():
    bankroll = Bankroll(PURE)
    for pair in range(3):
        bankroll.open(pair, 1 / 3)
        bankroll.observe(pair, *laplace_runs([12, pair], 200, 1.3))
    before = bankroll.log_wealth
    bankroll.concentrate(1, [ranked(LOW, reverse=True), ranked(HIGH), ranked(Atoms((0,), ((7.0,),)), mass=0.01)])
    assert before == pytest.approx(bankroll.log_wealth, abs=1e-12)
    path = bankroll.observe(1, *laplace_runs(13, 20_000, 1.3))
    assert path[-1] > before + math.log(40)
    assert path[-1] == pytest.approx(bankroll.log_wealth, abs=1e-9)
    with pytest.raises(InvalidArgument, match="open pairs"):
        bankroll.observe(0, *laplace_runs(14, 10, 1.0))
    with pytest.raises(InvalidArgument, match="on one pair already"):
        bankroll.concentrate(1, [])


def test_mean_wealth_of_a_whole_bankroll_over_every_future_is_at_most_one():
    odds = math.e
    law = {(0, 0): odds, (1, 0): 1.0, (0, 1): 1.0, (1, 1): odds}
    total = sum(law.values())
    bankroll = Bankroll(PURE)
    past, labels = laplace_runs(15, 300, 2.0)
    for pair in (0, 1):
        bankroll.open(pair, 0.5)
        bankroll.observe(pair, np.clip(np.round(past), 0, 1), labels)
    bankroll.concentrate(0, [ranked(HIGH), ranked(LOW, reverse=True)])
    mean = 0.0
    for future in itertools.product(law, repeat=4):
        outputs = np.array([[output] for output, _ in future], dtype=np.float64)
        path = copy.deepcopy(bankroll).observe(0, outputs, np.array([label for _, label in future], dtype=np.uint8))
        mean += math.prod(law[run] / total for run in future) * math.exp(path[-1] - bankroll.log_wealth)
    assert 0.5 < mean <= 1 + 1e-12


def test_stakes_beyond_what_is_left_and_unknown_pairs_are_refused():
    bankroll = Bankroll(PURE)
    for pair in range(3):
        bankroll.open(pair, 1 / 3)
    for pair, stake in ((3, 0.1), (3, 0.0), (3, -1.0), (3, math.nan), (0, 0.1)):
        with pytest.raises(InvalidArgument):
            bankroll.open(pair, stake)
    with pytest.raises(InvalidArgument, match="open pairs"):
        bankroll.observe(9, *laplace_runs(16, 10, 1.0))


def test_runs_of_the_wrong_shape_or_type_are_refused():
    features, labels = laplace_runs(17, 50, 1.0, columns=2)
    for bettor in bettors_of(PURE):
        bettor.observe(features, labels)
        for bad in (
            (features[:, :1], labels),
            (features, labels[:-1]),
            (features.astype(np.float32), labels),
            (features, labels + 1),
        ):
            with pytest.raises(InvalidArgument):
                bettor.observe(*bad)
        assert 0 == len(bettor.observe(features[:0], labels[:0]))


def test_portfolios_take_a_limited_number_of_events():
    for count in (0, MOST_EVENTS + 1):
        with pytest.raises(InvalidArgument, match="1 to 12 events"):
            EventPortfolio(PURE, [Wager(LOW, reverse=True)] * count)


def test_columns_that_never_vary_are_not_bet_on():
    labels = np.random.default_rng(18).integers(0, 2, 300).astype(np.uint8)
    assert not LabelBettor(PURE).observe(np.ones((300, 2)), labels).any()


def test_exact_claims_are_taken_as_they_are():
    assert Fraction(1, 3) == ClaimPoint("1/3", 0).epsilon
