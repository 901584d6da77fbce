"""An approximate claim is not called consistent where the runs look like Gaussian noise that breaks it at rarer outputs."""

import math
from fractions import Fraction

import pytest

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Claim, PureDP, Target, audit
from dpaudit.accounting import gaussian
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.normal import allowed_distance, claimed_distance, distance_of, shown_distance
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


POINT = ClaimPoint(Fraction(1), Fraction(1, 10**5))


def test_the_claimed_distance_is_that_of_the_gaussian_mechanism():
    assert 1.0 == claimed_distance(ZCDP(rho="1/2"), POINT)
    assert math.sqrt(2 * 0.3 / 4) == pytest.approx(claimed_distance(RDP({2: "1/2", 4: "3/10"}), POINT))
    assert allowed_distance(POINT) == claimed_distance(ApproxDP(epsilon=1, delta="1e-5"), POINT)
    assert claimed_distance(PureDP(epsilon=1), POINT) is None
    assert claimed_distance(GDP(mu=1), POINT) is None
    assert claimed_distance(ApproxDP(epsilon=1, delta="1/10"), ClaimPoint(Fraction(1), Fraction(1, 10))) is None


def test_a_distance_comes_with_the_standard_error_of_its_counts():
    mu, error = distance_of(Counts(500_000, 158_655, 2_000_000))
    assert mu == pytest.approx(1, abs=1e-4)
    assert error == pytest.approx(math.sqrt(0.25 / 0.39894**2 + 0.158655 * 0.841345 / 0.24197**2) / 1000, rel=1e-3)


@pytest.mark.parametrize(
    ("noise", "verdict"),
    [
        (lambda rng, n: rng.normal(scale=1, size=n), "consistent"),
        (lambda rng, n: rng.normal(scale=1 / 1.15, size=n), "inconclusive"),
        (lambda rng, n: rng.laplace(scale=1, size=n), "consistent"),
    ],
    ids=["enough", "too little", "Laplace noise"],
)
def test_too_little_gaussian_noise_for_a_concentrated_claim_is_not_called_consistent(noise, verdict):
    one = Target(sample=lambda data, n, rng: data + noise(rng, n), claim=Claim(ZCDP(rho="1/2")), neighbours=[(0, 1)], name="noisy")
    result = audit(one, runs=80_000, seed=2, alpha="0.001").results[0]

    assert verdict == result.verdict.value
    said = [
        check.detail for check in result.properties if check.name == "no output that is rarer than those tested breaks the claim"
    ]
    assert ["mu about" in detail and "up to 1 only" in detail for detail in said] == [True] * (verdict == "inconclusive")
