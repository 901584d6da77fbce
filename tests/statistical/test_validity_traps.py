"""Ways in which published auditors were found to claim more than their error rate allows: none of them happens here."""

from __future__ import annotations

import itertools
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from dpaudit import GDP, Adjacency, Claim, PureDP, Target, audit
from dpaudit.auditor.checks.independence import dependence
from dpaudit.auditor.runs.chunks import BETTING, BOUND, CHECKS, PILOT, PRICE, Chunk
from dpaudit.auditor.statistics.bounds import (
    ClaimPoint,
    clopper_pearson_upper,
    epsilon_lower_bound,
    p_value,
    profile_lower_bounds,
)
from dpaudit.auditor.statistics.family import reject_claims
from dpaudit.errors import InvalidArgument
from dpaudit.pytest_plugin import DEFAULT_BUDGET
from dpaudit.report.document import evidence_bytes
from dpaudit.report.terminal import to_text
from dpaudit.results import Counts, Verdict

FALSE_ALARM = 1e-9
"""How often each simulated test may fail by chance."""

RUNS = 40
ALPHA = Fraction(1, 20)
EVENTS = [0.02, 0.1, 0.3, 0.5, 0.9]
"""Probabilities of an event under both datasets, where nothing tells them apart."""


def outcomes(runs=RUNS):
    return [Counts(ones, zeros, runs) for ones in range(runs + 1) for zeros in range(runs + 1 - ones)]


def chances(counts, event):
    """Probability of each outcome when an event is equally likely under both labels."""
    hits = np.array([count.ones + count.zeros for count in counts])
    ones = np.array([count.ones for count in counts])
    return binom.pmf(hits, counts[0].runs, event) * binom.pmf(ones, hits, 0.5)


def swapped(counts):
    return Counts(counts.zeros, counts.ones, counts.runs)


def bit_target(likely, **parts):
    """A bit of the data, told with probability `likely`, in as many pairs as asked for."""
    pairs = parts.pop("pairs", 1)

    def told(data, count, rng):
        return (rng.random(count) < (likely if data[1] else 1 - likely)).astype(int)

    claim = Claim(PureDP(epsilon=parts.pop("epsilon", 1)), adjacency="replace_one")
    return Target(sample=parts.pop("sample", told), claim=claim, neighbours=[((k, 0), (k, 1)) for k in range(pairs)], **parts)


# Counts swapped so that the larger one comes first


def test_the_direction_of_a_bound_is_that_of_earlier_runs_even_where_its_own_runs_say_the_opposite():
    """The function turns around after 4,000 calls, when the direction is chosen; taking the larger count first would refute."""
    calls = itertools.count()

    def turning(data, rng):
        return int(rng.random() < (0.8 if (data[1] == 1) == (next(calls) < 4000) else 0.2))

    claim = Claim(PureDP(epsilon=2), adjacency="replace_one")
    target = Target(run=turning, claim=claim, neighbours=[((0, 0), (0, 1))])
    attack = audit(target, runs=20_000, alpha="1e-6", seed=1).results[0].attack
    assert attack.sequential.stopped_at is None
    bound = attack.bound
    assert bound.counts.ones < bound.counts.zeros
    assert bound.epsilon < 0
    assert bound.p_value > 0.999
    assert p_value(bound.counts, point=ClaimPoint(2, 0)) == bound.p_value


def test_taking_the_larger_count_first_would_double_the_level_and_taking_it_as_it_comes_does_not():
    counts, point = outcomes(), ClaimPoint(0, 0)
    values = {count: p_value(count, point=point) for count in counts}
    ours, larger_first = (
        [float(chances(counts, event) @ [chosen(count) <= ALPHA for count in counts]) for event in EVENTS]
        for chosen in (values.__getitem__, lambda count: min(values[count], values[swapped(count)]))
    )
    assert max(ours) <= ALPHA < max(larger_first)
    assert all(math.isclose(2 * one, both, rel_tol=1e-9) for one, both in zip(ours, larger_first, strict=True))


# Averages of p-values


def test_an_average_of_two_valid_p_values_is_none_and_twice_the_smaller_is():
    """Uniform on 1/40, 2/40, ..., and so arranged that whenever one is small both average to the level."""
    first = [Fraction(step, 40) for step in range(1, 41)]
    second = [first[2 - place] if place < 3 else value for place, value in enumerate(first)]
    assert sorted(first) == sorted(second)

    def size(combine):
        return Fraction(sum(combine(*pair) <= ALPHA for pair in zip(first, second, strict=True)), 40)

    assert size(lambda one, other: (one + other) / 2) == Fraction(3, 40) > ALPHA
    assert size(lambda one, other: min(1, 2 * min(one, other))) <= ALPHA


def test_the_p_value_of_a_claim_is_twice_the_smaller_one_of_bets_and_bound():
    for likely in (0.6, 0.73, 0.8):
        attack = audit(bit_target(likely), runs=4000, seed=3).results[0].attack
        assert min(1.0, 2 * min(attack.sequential.p_value, attack.bound.p_value)) == attack.p_value


# Pairs that are no neighbours


@pytest.mark.parametrize(
    ("adjacency", "pair"),
    [
        ("add_remove", ([0, 1, 2, 3], [4, 5, 6, 7])),
        ("replace_one", ([0, 1, 2, 3], [1, 2, 4, 5])),
        (Adjacency("norm_ball", norm="l1", radius=1), ((5, 5, 5, 5), (6, 6, 6, 6))),
    ],
)
def test_datasets_that_all_differ_are_refused_for_a_histogram_before_anything_runs(adjacency, pair):
    def never(data, count, rng):
        raise AssertionError("the histogram was released")

    target = Target(sample=never, claim=Claim(PureDP(epsilon=1), adjacency=adjacency), neighbours=[pair])
    with pytest.raises(InvalidArgument, match="DPA407"):
        audit(target, runs=1000)


# Error probability spent anew for every pair and direction


def test_true_claims_on_many_pairs_in_both_directions_share_one_error_probability():
    seeds, pairs, alpha = 14, 8, 0.12
    likely = math.e / (1 + math.e)
    results = [audit(bit_target(likely, pairs=pairs), runs=1200, alpha=str(alpha), seed=seed).results[0] for seed in range(seeds)]
    allowed = binom.isf(FALSE_ALARM, seeds, alpha)
    assert sum(result.verdict is Verdict.REFUTED for result in results) <= allowed
    assert {(Fraction(3, 25), pairs)} == {(result.attack.alpha, result.attack.pairs_tried) for result in results}
    # Spending alpha for each pair and direction would be noticed here: it refutes nearly always.
    assert seeds * (1 - (1 - alpha) ** (2 * pairs)) > allowed + 1


def test_several_claims_share_the_error_probability_of_a_report():
    report = audit([bit_target(0.6), bit_target(0.6), bit_target(0.6)], runs=600, alpha="0.03", seed=1)
    assert [Fraction(1, 100)] * 3 == [result.attack.alpha for result in report.results]
    assert [Fraction(1, 200)] * 3 == [1 - result.attack.bound.confidence for result in report.results]
    assert (False, False) == reject_claims([0.03, 0.04], ALPHA)


# Margins that stop growing when the error probability becomes small


@pytest.mark.parametrize(
    "bound",
    [
        lambda alpha: epsilon_lower_bound(Counts(900, 100, 3000), delta=0, alpha=alpha),
        lambda alpha: epsilon_lower_bound(Counts(900, 100, 3000), delta="0.01", alpha=alpha),
        lambda alpha: profile_lower_bounds(Counts(900, 100, 3000), ["0.1"], alpha)[0],
        lambda alpha: -clopper_pearson_upper(10, 3000, alpha),
    ],
    ids=["pure", "approximate", "profile", "probability"],
)
def test_a_bound_gives_way_at_every_smaller_error_probability(bound):
    levels = [Fraction(1, 2), Fraction(1, 10), Fraction(1, 100), *(Fraction(1, 10**digits) for digits in (4, 6, 9, 12, 20))]
    ends = [bound(level) for level in levels]
    assert sorted(ends, reverse=True) == ends
    assert len(set(ends)) == len(ends)


def test_the_level_that_bets_must_reach_grows_with_every_smaller_error_probability():
    levels = ["0.5", "0.05", "1e-6", "1e-12"]
    thresholds = [audit(bit_target(0.6), runs=600, alpha=level, seed=1).results[0].attack.sequential for level in levels]
    for level, sequential in zip(levels, thresholds, strict=True):
        assert math.isclose(math.log10(2 / float(level)), sequential.log10_threshold, rel_tol=1e-9)


def test_the_independence_test_keeps_every_level():
    """Of 200 pairs 80 lead with a one and 90 follow with one; given that, how many do both is hypergeometric."""
    pairs, leading, following = 200, 80, 90
    ways = range(leading + 1)
    chance = hypergeom.pmf(ways, pairs, following, leading)
    for level in (0.5, 1e-2, 1e-4, 1e-8):
        found = [dependence(*bits_in_pairs(pairs, leading, following, both), level) for both in ways]
        dependent = [gap > allowed for gap, allowed, _ in found]
        assert 0 < float(chance @ np.array(dependent)) <= level


def bits_in_pairs(pairs, leading, following, both):
    """Where first and second places hold a one, of which so many do so first, second, and in both places."""
    first = np.arange(pairs) < leading
    second = np.concatenate([np.arange(leading) < both, np.arange(pairs - leading) < following - both])
    return first, second


# The absolute value of a statistic over both directions


def test_a_lower_bound_on_nothing_is_below_zero_and_keeps_its_sign():
    counts = outcomes()
    bounds = {count: epsilon_lower_bound(count, delta=0, alpha=ALPHA) for count in counts}
    above = {count: bound is not None and bound > 0 for count, bound in bounds.items()}
    either = [above[count] or above[swapped(count)] for count in counts]
    assert max(float(chances(counts, event) @ list(above.values())) for event in EVENTS) <= ALPHA
    assert max(float(chances(counts, event) @ either) for event in EVENTS) > ALPHA
    assert epsilon_lower_bound(Counts(30, 70, 200), delta=0, alpha=ALPHA) < 0
    assert epsilon_lower_bound(Counts(0, 70, 200), delta=0, alpha=ALPHA) is None


@pytest.mark.parametrize("guarantee", [PureDP(epsilon="1/2"), GDP(mu="1/2")], ids=str)
def test_scores_that_say_nothing_give_no_bound_above_zero(guarantee):
    def nothing(data, count, rng):
        return rng.normal(size=count)

    target = Target(sample=nothing, claim=Claim(guarantee), neighbours=[(0, 1)])
    bound = audit(target, runs=3000, alpha=str(2 * FALSE_ALARM), seed=1).results[0].attack.bound
    assert bound is None or bound.epsilon is None or bound.epsilon <= 0


# One generator for all chunks or workers


def test_no_two_chunks_of_an_audit_share_a_stream():
    places = itertools.product((0, 1), (0, 1, 2), (CHECKS, PILOT, BETTING, BOUND, PRICE), range(6), (0, 1))
    starts = [
        Chunk(target, pair, stage, index, 32).generator(7, part).integers(2**63, size=4).tobytes()
        for target, pair, stage, index, part in places
    ]
    assert 2 * 3 * 5 * 6 * 2 == len(starts) == len(set(starts))
    chunk = Chunk(0, 0, BOUND, 3, 32)
    copied = pickle.loads(pickle.dumps(chunk))
    assert chunk.generator(7, 1).integers(2**63) == copied.generator(7, 1).integers(2**63) != chunk.generator(8, 1).integers(2**63)


@pytest.mark.parametrize("workers", [None, 3])
def test_no_random_number_comes_twice_in_an_audit_however_many_workers_there_are(workers):
    drawn = []

    def words(data, count, rng):
        numbers = rng.integers(2**63, size=count)
        drawn.extend(numbers.tolist())
        return numbers / 2.0**63

    target = Target(sample=words, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1), (0, 2)])
    if workers is None:
        audit(target, runs=6000, seed=5)
    else:
        with ThreadPoolExecutor(workers) as executor:
            audit(target, runs=6000, seed=5, executor=executor)
    # The input check repeats one run of each dataset to see whether its seed decides it.
    assert len(drawn) > 5900
    assert len(drawn) - len(set(drawn)) <= 2


# Tests that fail now and then, nobody knows how often


def test_an_audit_says_how_often_it_is_wrong_and_says_the_same_again():
    target = bit_target(0.9)
    reports = [audit(target, runs=2000, alpha="1e-6", seed=11) for _ in range(2)]
    assert evidence_bytes(reports[0]) == evidence_bytes(reports[1])
    text = " ".join(to_text(reports[0]).split())
    assert "The attack refutes a claim that holds with probability at most 1e-06" in text
    assert "below the bound given with probability at most" in text
    assert Fraction(1, 10**6) == reports[0].results[0].attack.alpha


def test_tests_that_audit_share_a_millionth_by_default():
    assert "1e-6" == DEFAULT_BUDGET
