"""An approximate claim is not called consistent where the runs look like Gaussian noise that breaks it at rarer outputs."""

import math
from fractions import Fraction

import pytest

from dpaudit import ApproxDP, Claim, Target, audit
from dpaudit.accounting import gaussian
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.normal import allowed_distance, shown_distance
from dpaudit.results import Counts


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-5"), ("1/2", "1e-5"), ("4", "1e-6")])
def test_the_allowed_distance_is_that_of_the_accountant(epsilon, delta):
    mu = Fraction(allowed_distance(ClaimPoint(Fraction(epsilon), Fraction(delta))))

    assert gaussian(1 / mu).epsilon(delta=delta).lower == pytest.approx(float(Fraction(epsilon)), rel=1e-6)


def test_the_shown_distance_is_that_of_the_counts_less_two_standard_errors():
    # Of mu = 1 at the cut 1: probabilities 1/2 and 0.1587 on a million runs each.
    assert 0.99 < shown_distance(Counts(500_000, 158_655, 2_000_000)) < 1
    assert shown_distance(Counts(50, 16, 200)) < 1 - 2 * math.sqrt(2 * 0.25 / 100)
    assert 0.0 == shown_distance(Counts(100, 100, 200)) == shown_distance(Counts(90, 100, 400))


def noisy(sigma):
    return Target(
        sample=lambda data, n, rng: data + rng.normal(scale=sigma, size=n),
        claim=Claim(ApproxDP(epsilon="1/2", delta="1e-5")),
        neighbours=[(0, 1)],
        name="noisy",
    )


def test_gaussian_noise_that_is_too_little_is_not_called_consistent_and_enough_is():
    little, enough = (audit(noisy(sigma), runs=40_000, seed=2, alpha="0.001").results[0] for sigma in (4.2, 7.2))

    assert "inconclusive" == little.verdict.value
    assert "at outputs too rare for these runs" in little.summary
    assert "consistent" == enough.verdict.value
