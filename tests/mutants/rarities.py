"""Checks that notice faults in how an audit judges outputs that are rarer, or nearer an end, than those it has seen."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpaudit.auditor.attack.distances import Probes, rarer_outputs
from dpaudit.auditor.attack.edges import UNLIKELY, edge_events
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.verdict.verdicts import verdict_of
from dpaudit.claims import ZCDP, Claim
from dpaudit.results import Attack, Bound, Counts, Pair, Power, Sequential, Verdict


def an_approximate_claim_that_gaussian_noise_breaks_is_not_consistent():
    bets, point = Sequential(0.0, 0.0, 2.0, 100, None, 1.0), ClaimPoint(Fraction(1, 2), Fraction(1, 10**5))
    for ones, zeros, expected in ((4759, 3333, Verdict.INCONCLUSIVE), (8349, 6807, Verdict.CONSISTENT)):
        bound = Bound(Fraction(1, 5), point.delta, Fraction(999, 1000), Counts(ones, zeros, 123_451), "forward", 1.0)
        attack = Attack(Pair(0, ""), 1, "value = 1", bets, bound, Power(0.6, 1.2), 1.0, Fraction(1, 20), 100, (0, 0))
        assert expected is verdict_of(attack, [], None, point=point, rejected=False, power_target=Fraction(5, 4))[0]


def a_concentrated_claim_that_gaussian_noise_breaks_is_left_open():
    claim, point = Claim(ZCDP(rho="1/2"), adjacency="add_remove"), ClaimPoint(Fraction(1, 2), Fraction(1, 10))
    # Of mu = 1.2 at the cuts 0.6 and 2.6; the second end is that of Laplace noise.
    for other, expected in ((47, 1), (300, 0)):
        counts = [Counts(7257, 2743, 20_000), Counts(808, other, 20_000)]
        assert expected == len(rarer_outputs(claim, point, Probes(counts=counts)))


def an_end_of_one_dataset_is_an_event():
    labels, values = np.arange(4000, dtype=np.uint8) % 2, np.random.default_rng(0).random(4000)
    point = ClaimPoint(Fraction(1), Fraction(0))
    assert all(chance > UNLIKELY for chance, _ in edge_events(values[:, None], labels, point))
    assert any(chance < UNLIKELY for chance, _ in edge_events((values + 0.02 * labels)[:, None], labels, point))


CHECKS = (
    an_approximate_claim_that_gaussian_noise_breaks_is_not_consistent,
    a_concentrated_claim_that_gaussian_noise_breaks_is_left_open,
    an_end_of_one_dataset_is_an_event,
)
