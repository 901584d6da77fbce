"""The declared output law: exact refutation, exact survival, and laws that cannot be used."""

from fractions import Fraction

import pytest

from dpaudit import GDP, ApproxDP, Claim, PureDP, Target, Verdict, audit
from dpaudit.auditor.exact_law import EXACT_LAW, check_exact_law
from dpaudit.auditor.neighbours import candidate_pairs


def coin(truth):
    """The law of one bit that is reported truthfully with probability `truth`."""
    return lambda bit: {bit: truth, 1 - bit: 1 - Fraction(truth)}


def noisy_bit(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit


def with_law(pmf, guarantee):
    return Target(run=noisy_bit, claim=Claim(guarantee, adjacency="replace_one"), neighbours=[(0, 1)], pmf=pmf)


def status(pmf, guarantee):
    target = with_law(pmf, guarantee)
    (found,) = check_exact_law(target, candidate_pairs(target))
    return found.status


@pytest.mark.parametrize(
    ("guarantee", "expected"),
    [
        (PureDP(epsilon="1.0986122887"), "holds"),  # ln 3, rounded up
        (PureDP(epsilon="1.0986122886"), "violated"),  # ln 3, rounded down
        (ApproxDP(epsilon=0, delta="1/2"), "holds"),
        (ApproxDP(epsilon=0, delta="49/100"), "violated"),
        (GDP(mu=2), "holds"),
        (GDP(mu="1/2"), "violated"),
    ],
)
def test_a_law_is_set_against_the_claim_exactly(guarantee, expected):
    assert expected == status(coin(Fraction(3, 4)), guarantee)


def test_an_output_that_only_one_dataset_gives_breaks_every_pure_claim():
    assert status(lambda bit: {0: 1} if bit == 0 else {0: "999999/1000000", "leak": "1/1000000"}, PureDP(epsilon=10)) == "violated"


@pytest.mark.parametrize("pmf", [lambda _: {0: 0.3}, lambda _: [1], lambda _: {0: "x"}, lambda bit: 1 / bit])
def test_a_law_that_cannot_be_used_is_not_applicable_and_raises_nothing(pmf):
    assert status(pmf, PureDP(epsilon=1)) == "not applicable"


def test_a_law_that_breaks_the_claim_refutes_it_even_where_the_runs_do_not():
    result = audit(with_law(coin(Fraction(4, 5)), PureDP(epsilon="1.1")), runs=4000, seed=1).results[0]
    assert Verdict.REFUTED == result.verdict
    assert "declared output law" in result.summary
    assert not result.rejected_in_family


def test_without_a_law_nothing_is_said_of_it():
    result = audit(with_law(None, PureDP(epsilon=2)), runs=4000, seed=1).results[0]
    assert EXACT_LAW not in {check.name for check in result.properties}
