"""Known-bad releases are refuted by one binomial count, and their sound twins are not."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

from dpaudit.claims import ApproxDP, PureDP
from dpaudit.loading import load_targets
from mechanisms.laplace import LaplaceMechanism
from mechanisms.laws import DiscreteLaplace
from mechanisms.noisy_max import NoisyMax
from mechanisms.stability_histogram import StabilityHistogram
from mechanisms.targets import TARGETS

MISSED = 1e-12
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = {target.name: target for target in TARGETS}
BROKEN = [name for name in NAMES if name.startswith("broken")]
SOUND = [name for name in NAMES if name not in BROKEN and isinstance(NAMES[name].claim.guarantee, PureDP | ApproxDP)]


def outputs(target, data, count, rng):
    """Many outputs of a target as a matrix, one row each; further columns are differences within the row and its sum."""
    runs = target.sample(data, count, rng) if target.sample is not None else [target.run(data, rng) for _ in range(count)]
    rows = np.asarray(runs, dtype=float).reshape(count, -1)
    return np.column_stack([rows, np.diff(rows, axis=1), rows.sum(axis=1)])


def best_event(first, second, delta):
    """The coordinate and half-line that tell two pilot samples apart best, but for delta, and which sample it favours."""
    candidates = []
    for column in range(first.shape[1]):
        for threshold in np.quantile(np.concatenate([first[:, column], second[:, column]]), np.linspace(0, 1, 41)):
            for sign in (1, -1):
                hits = [float(np.mean(sign * sample[:, column] >= sign * threshold)) for sample in (first, second)]
                for favoured in (0, 1):
                    likely, unlikely = hits[favoured] - delta, hits[1 - favoured]
                    if likely > 0.005:
                        spread = math.sqrt((1 / likely + 1 / max(unlikely, 1e-3)) / len(first))
                        candidates.append((math.log(likely / max(unlikely, 1e-3)) - 5 * spread, column, threshold, sign, favoured))
    _, column, threshold, sign, favoured = max(candidates)
    return (lambda sample: sign * sample[:, column] >= sign * threshold), favoured


def p_value(target, pair, runs, seed):
    """A bound on the probability of such counts if the claim held.

    Pure: with tossed labels, hits under label 1 are at most Bin(K, e^eps/(1+e^eps)). Approximate: but for a probability of 1e-12
    the event is at most so likely as `rare` under label 0, hence at most e^eps rare + delta under label 1.
    """
    rng = np.random.default_rng(seed)
    delta = float(getattr(target.claim.guarantee, "delta", 0))
    event, favoured = best_event(*(outputs(target, data, 4000, rng) for data in pair), delta)
    ones = int(rng.binomial(runs, 0.5))
    likely = int(event(outputs(target, pair[favoured], ones, rng)).sum())
    unlikely = int(event(outputs(target, pair[1 - favoured], runs - ones, rng)).sum())
    claimed = math.exp(target.claim.guarantee.epsilon)
    if isinstance(target.claim.guarantee, PureDP):
        return float(binom.sf(likely - 1, likely + unlikely, claimed / (1 + claimed)))
    rare = beta.ppf(1 - MISSED, unlikely + 1, runs - ones - unlikely)
    allowed = min(1.0, claimed * rare + delta)
    return MISSED + float(binom.sf(likely - 1, ones, allowed))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_release_is_refuted(name, false_alarm_level):
    target = NAMES[name]
    assert min(p_value(target, pair, 20_000, 41) for pair in target.neighbours) < false_alarm_level


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_release_is_not_refuted(name, false_alarm_level):
    target = NAMES[name]
    assert all(p_value(target, pair, 20_000, 42) > false_alarm_level for pair in target.neighbours)


@pytest.mark.parametrize(("name", "refuted"), [("target", True), ("corrected", False)])
def test_half_the_noise_is_refuted_and_the_correct_noise_is_not(name, refuted, false_alarm_level):
    (target,) = load_targets(f"{EXAMPLES / 'noisy_count.py'}:{name}")
    pair = (target.data, target.data[1:])
    assert refuted == (p_value(target, pair, 20_000, 43) < false_alarm_level)


def test_the_broken_noise_has_twice_the_epsilon_that_it_claims():
    assert 2 == LaplaceMechanism(sensitivity=1, epsilon=1, adjacency="replace_one").loss_at(2).epsilon(delta=0).lower


def test_a_noisy_maximum_that_is_shown_has_five_halves_of_the_epsilon_that_it_claims():
    """The greatest of five noisy scores is below 0 only if all five are, and each of them moves."""
    law = DiscreteLaplace(NoisyMax(sensitivity=1, epsilon=1, noise="laplace").scale)
    likely, unlikely = (
        math.prod(law.cdf(-1 - score).upper for score in scores) for scores in NAMES["broken_noisy_max"].neighbours[0]
    )
    assert math.isclose(Fraction(5, 2), math.log(likely / unlikely), rel_tol=1e-9)


def test_answers_without_noise_of_their_own_show_what_only_one_of_two_neighbours_can_show():
    target = NAMES["broken_sparse_vector"]
    first, second = (target.sample(data, 10_000, np.random.default_rng(44)).tolist() for data in target.neighbours[0])
    assert [0, 1] in first
    assert [0, 1] not in second


def test_a_person_with_four_keys_is_seen_more_often_than_the_delta_that_is_claimed():
    target = NAMES["broken_keys"]
    mechanism = StabilityHistogram(epsilon=1, delta=target.claim.guarantee.delta)
    shown = DiscreteLaplace(mechanism.scale).tail(mechanism.threshold - 1).lower
    (person,) = target.neighbours[0][1]
    assert shown <= mechanism.delta < 1 - (1 - shown) ** len(person)
