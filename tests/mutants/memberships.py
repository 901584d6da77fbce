"""Checks of membership audits: canaries in one run and in many, tracing, likelihood ratios."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.stats import beta, binom

from dpaudit.auditor.membership import (
    CanaryGuesses,
    OperatingPoint,
    audit_canaries,
    fit_likelihood_ratio,
    guesses_p_value,
    least_squared_distance,
    threshold_at_false_positive_rate,
    tracing_p_values,
)
from dpaudit.auditor.membership.profile_guesses import _certify_level
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.claims import Claim, PureDP

ONE = Claim(PureDP(epsilon=1))
HAIR = 1e-9


def worst_guesses(canaries, correct, epsilon, delta):
    """Law of the right guesses under a mechanism that is (epsilon, delta)-DP and has the most mass from `correct` on."""
    share = 1 / (1 + math.exp(-epsilon))
    law = binom.pmf(np.arange(canaries + 1), canaries, share)
    raised = np.where(np.arange(canaries + 1) >= correct, law / law[correct], 0.0) * canaries * delta / correct
    return law * (1 - raised.sum()) + raised


def one_run_is_bounded_by_its_worst_mechanism():
    for correct, delta in product((9, 10, 12), (0, 0.001)):
        found = guesses_p_value(CanaryGuesses(canaries=12, guessed=12, correct=correct), epsilon=1, delta=delta)
        assert math.isclose(worst_guesses(12, correct, 1, delta)[correct:].sum(), found, rel_tol=HAIR)


def any_price_of_a_point_is_paid_for():
    guesses, point = CanaryGuesses(canaries=60, guessed=60, correct=48), ClaimPoint(1, "0.0001")
    law = binom.pmf(np.arange(61), 60, 1 / (1 + math.exp(-1)))
    tail = law[48:].sum()
    best = tail * (1 - tail) / (48 * law[48])
    expected = guesses_p_value(guesses, epsilon=1, delta="0.0001")
    assert math.isclose(expected, _certify_level(guesses, [point], [best * (1 + HAIR)]), rel_tol=1e-6)
    for price in (0.0, best / 2, 2 * best):
        assert _certify_level(guesses, [point], [price]) >= expected * (1 - 1e-6)
    dear = _certify_level(CanaryGuesses(canaries=1, guessed=1, correct=1), [point], [0.5])
    assert math.isclose(1 / (1 + math.exp(-1)) + 0.5 * 1e-4, dear, rel_tol=HAIR)


def seen_by(canaries=40, runs=3):
    """What a training sees that spoils what it was given: the coins of each run and the number that its noise begins with."""
    seen = []

    def train(included, rng):
        seen.append((tuple(included.tolist()), rng.random()))
        model = included.astype(float)
        included[:] = False
        return model

    found = audit_canaries(train, lambda model: model, canaries=canaries, guessed=9, claim=ONE, runs=runs)
    return seen, found.guesses


def canaries_are_drawn_anew_and_guessed_as_often_as_announced():
    seen, guesses = seen_by()
    assert CanaryGuesses(canaries=120, guessed=27, correct=27) == guesses
    assert len(set(seen)) == 3
    assert len({coins for coins, _ in seen}) == len({noise for _, noise in seen}) == 3


def tracing_keeps_its_level_whatever_was_released():
    rows = np.array(list(product((-1, 1), repeat=8)))
    for released in (np.full(8, 0.25), np.arange(8) / 8, np.eye(8)[0]):
        p_values = tracing_p_values(released, np.zeros(8), rows)
        assert all(np.mean(p_values <= level) <= level for level in p_values)


def an_operating_point_spends_its_alpha_on_both_rates():
    point = OperatingPoint(threshold=0.0, true_positives=90, members=100, false_positives=3, others=200, alpha=Fraction(1, 10))
    least, most = beta.ppf(0.05, 90, 11), beta.ppf(0.95, 4, 197)
    assert math.isclose(least, point.true_positive_rate, rel_tol=HAIR)
    assert math.isclose(most, point.false_positive_rate, rel_tol=HAIR)
    assert math.isclose(math.log((least - 0.1) / most), point.epsilon(delta="0.1"), rel_tol=1e-6)
    assert [95.0, 96.0, 101.0] == [
        np.ceil(threshold_at_false_positive_rate(range(101), rate=rate)) for rate in ("0.06", "0.05", "0.001")
    ]


def likelihood_ratios_are_those_of_the_fitted_laws():
    scores, included = np.arange(80.0).reshape(80, 1) % 7, np.arange(80).reshape(80, 1) % 2 == 1
    fitted = fit_likelihood_ratio(scores, included)
    for side in (0, 1):
        part = scores[included == bool(side)]
        assert math.isclose(part.mean(), fitted.centres[side, 0])
        assert math.isclose(part.std(ddof=1), fitted.spreads[side, 0])


def a_private_mean_is_as_far_off_as_the_theorem_says():
    for public, delta in ((0, 0.0), (9, 0.0), (4, 1e-6)):
        found = float(least_squared_distance(dimension=300, private=10, public=public, epsilon=1, delta=delta))
        above = 200 - 1200 * delta * 10 * (1 + math.exp(-1))
        assert math.isclose(found, (above / (20 + math.sqrt(200 * public) + 10 * math.sinh(1))) ** 2, rel_tol=1e-6)


CHECKS = (
    one_run_is_bounded_by_its_worst_mechanism,
    any_price_of_a_point_is_paid_for,
    canaries_are_drawn_anew_and_guessed_as_often_as_announced,
    tracing_keeps_its_level_whatever_was_released,
    an_operating_point_spends_its_alpha_on_both_rates,
    likelihood_ratios_are_those_of_the_fitted_laws,
    a_private_mean_is_as_far_off_as_the_theorem_says,
)
