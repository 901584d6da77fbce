"""Known-bad releases are refuted by one binomial count, and their sound twins are not."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.claims import PureDP
from dpaudit.targets import load_targets
from mechanisms.laplace import LaplaceMechanism
from mechanisms.targets import TARGETS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = {target.name: target for target in TARGETS}
SOUND = [name for name in NAMES if not name.startswith("broken") and isinstance(NAMES[name].claim.guarantee, PureDP)]


def outputs(target, data, count, rng):
    """Many outputs of a target as a matrix, one row each."""
    runs = target.sample(data, count, rng) if target.sample is not None else [target.run(data, rng) for _ in range(count)]
    return np.asarray(runs, dtype=float).reshape(count, -1)


def best_event(first, second):
    """The coordinate and half-line that tell two pilot samples apart best, and which sample it favours."""
    candidates = []
    for column in range(first.shape[1]):
        for threshold in np.quantile(np.concatenate([first[:, column], second[:, column]]), np.linspace(0, 1, 41)):
            for sign in (1, -1):
                hits = [float(np.mean(sign * sample[:, column] >= sign * threshold)) for sample in (first, second)]
                for favoured in (0, 1):
                    likely, unlikely = hits[favoured], hits[1 - favoured]
                    if likely > 0.005:
                        spread = math.sqrt((1 / likely + 1 / max(unlikely, 1e-3)) / len(first))
                        candidates.append((math.log(likely / max(unlikely, 1e-3)) - 5 * spread, column, threshold, sign, favoured))
    _, column, threshold, sign, favoured = max(candidates)
    return (lambda sample: sign * sample[:, column] >= sign * threshold), favoured


def p_value(target, pair, runs, seed):
    """Probability of such a count if the claim held: with tossed labels, hits under label 1 are at most Bin(K, e^eps/(1+e^eps))."""
    rng = np.random.default_rng(seed)
    event, favoured = best_event(*(outputs(target, data, 4000, rng) for data in pair))
    ones = int(rng.binomial(runs, 0.5))
    likely = int(event(outputs(target, pair[favoured], ones, rng)).sum())
    unlikely = int(event(outputs(target, pair[1 - favoured], runs - ones, rng)).sum())
    claimed = math.exp(target.claim.guarantee.epsilon)
    return float(binom.sf(likely - 1, likely + unlikely, claimed / (1 + claimed)))


@pytest.mark.parametrize("name", ["broken_mean", "broken_noise"])
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
