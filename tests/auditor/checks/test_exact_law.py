"""The declared output law: exact refutation, exact survival, and laws that cannot be used."""

from fractions import Fraction

import pytest

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, PureDP, Target, Verdict, audit
from dpaudit.accounting import explicit_pair
from dpaudit.auditor.checks.exact_law import EXACT_LAW, check_exact_law
from dpaudit.auditor.pairs.candidates import candidate_pairs


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
def test_a_law_that_cannot_be_used_is_not_run_and_raises_nothing(pmf):
    assert status(pmf, PureDP(epsilon=1)) == "not run"


def test_a_law_that_cannot_be_used_on_one_pair_is_still_judged_on_the_others():
    def law(data):
        return {0: 1} if data == 2 else coin(Fraction(3, 4))(data)

    def found(*pairs):
        target = Target(
            run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=2)), neighbours=pairs, pmf=lambda data: 1 / (data - 7) and law(data)
        )
        (one,) = check_exact_law(target, candidate_pairs(target))
        return one.status, one.cases

    assert ("holds", 1) == found((7, 0), (0, 1))
    assert ("violated", 2) == found((7, 0), (0, 2))


def test_a_law_that_breaks_the_claim_refutes_it_even_where_the_runs_do_not():
    result = audit(with_law(coin(Fraction(4, 5)), PureDP(epsilon="1.1")), runs=4000, seed=1).results[0]
    assert Verdict.REFUTED == result.verdict
    assert "declared output law" in result.summary
    assert not result.rejected_in_family


def test_without_a_law_nothing_is_said_of_it():
    result = audit(with_law(None, PureDP(epsilon=2)), runs=4000, seed=1).results[0]
    assert EXACT_LAW not in {check.name for check in result.properties}


def steps(centre):
    """Weights that halve at every step away from a centre, on eight numbers."""
    weights = [Fraction(1, 2 ** abs(value - centre)) for value in range(8)]
    return {value: weight / sum(weights) for value, weight in enumerate(weights)}


def loss_between(first, second):
    """The exact loss of the laws around two centres."""
    return explicit_pair(*(list(steps(centre).values()) for centre in (first, second)), adjacency="replace_one")


def found(guarantee, first=3, second=4):
    target = Target(run=noisy_bit, claim=Claim(guarantee, adjacency="replace_one"), neighbours=[(first, second)], pmf=steps)
    (law,) = check_exact_law(target, candidate_pairs(target))
    return law


@pytest.mark.parametrize(
    ("guarantee", "expected"),
    [
        (GDP(mu="43/50"), "violated"),  # no event at a point of the claim shows it: a test with errors 1/3 and 1/3 needs mu .8615
        (GDP(mu="87/100"), "holds"),
        (ZCDP(rho="6/25"), "holds"),  # the divergence of order 5/4 is .2822, of order 2 it is .4054
        (ZCDP(rho="11/50"), "violated"),
        (RDP({2: "2/5"}), "violated"),
        (RDP({2: "41/100"}), "holds"),
        (
            Curve(explicit_pair(*([steps(centre)[value] for value in range(8)] for centre in (3, 4)), adjacency="replace_one")),
            "holds",
        ),
        (
            Curve(explicit_pair(*([steps(centre)[value] for value in range(8)] for centre in (0, 0)), adjacency="replace_one")),
            "violated",
        ),
    ],
)
def test_a_curve_is_compared_where_the_law_comes_closest_to_it(guarantee, expected):
    assert expected == found(guarantee).status
    assert expected == found(guarantee, 4, 3).status


def test_what_breaks_a_curve_is_said_with_its_numbers():
    assert "an event of probability 0.6666" in found(GDP(mu="43/50")).detail
    assert "the Renyi divergence of order 2 is 0.4054" in found(RDP({2: "2/5"})).detail
