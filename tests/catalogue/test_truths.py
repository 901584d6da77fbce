"""The stored truth of every specimen, checked by quadrature or sums, by simulation, and against constants found otherwise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import zoo_oracle

from dpaudit.catalogue import SPECIMENS, Truth, specimens
from dpaudit.errors import InvalidArgument

EVERY = [(epsilon, specimen) for epsilon in zoo_oracle.EPSILONS for specimen in specimens(epsilon)]
SLOW = {"svt34_parallel", "porous_laplace"}  # seconds of quadrature or enumeration; the simulation checks them
RECOMPUTED = [row for row in EVERY if row[0] == "1/2" and row[1].name not in SLOW]
DRAWS = 60_000

INDEPENDENT = {  # computed with other code and other quadrature, before the zoo was written
    ("1/10", "noisy_max1"): 0.0946, ("1/10", "noisy_max2"): 0.1, ("1/10", "noisy_max3"): 0.25, ("1/10", "prefix_sum_all"): 1.0,
    ("1/10", "svt1"): 0.0885, ("1/10", "svt2"): 0.0875, ("1/10", "svt4"): 0.1725, ("1/10", "svt6"): 0.4145,
    ("1/10", "numerical_svt"): 0.0803, ("1/10", "rappor_one_hash"): 0.3001, ("1/10", "one_time_rappor_one_hash"): 0.6005,
    ("1/10", "truncated_geometric_rounded"): 0.1178, ("1/10", "noisy_histogram_inverted"): 10.0,
    ("1", "svt1"): 0.9304, ("1", "svt2"): 0.8389, ("1", "svt4"): 1.7418, ("1", "svt6"): 4.0308,
}  # fmt: skip


def named(value):
    return value if isinstance(value, str) else getattr(value, "name", None)


@pytest.mark.parametrize(("epsilon", "specimen"), EVERY, ids=named)
def test_a_specimen_is_broken_exactly_if_its_pair_breaks_its_claim(epsilon, specimen):
    truth = specimen.truth
    assert specimen.broken == truth.violates
    assert specimen.broken == (truth.epsilon > truth.at_epsilon + 1e-9)


@pytest.mark.parametrize(("epsilon", "specimen"), RECOMPUTED, ids=named)
def test_the_oracle_still_gives_the_stored_truth(epsilon, specimen):
    law, truth = zoo_oracle.law_of(specimen, Fraction(epsilon)), specimen.truth
    assert (truth.at_epsilon, truth.at_delta) == pytest.approx(zoo_oracle.point_of(specimen), rel=1e-9)
    assert truth.epsilon == pytest.approx(law.least_epsilon(zoo_oracle.point_of(specimen)[1]), rel=1e-8)
    assert truth.delta == pytest.approx(law.either(truth.at_epsilon), abs=1e-9)


@pytest.mark.parametrize("key", INDEPENDENT, ids=" ".join)
def test_the_truth_is_what_another_program_found(key):
    epsilon, name = key
    (specimen,) = (one for one in specimens(epsilon) if one.name == name)
    assert INDEPENDENT[key] == pytest.approx(specimen.truth.epsilon, abs=5.1e-5)


def within(gains, largest, level):
    """How far the mean of independent gains in [0, largest] may be from its expectation (Maurer, Pontil 2009, Theorem 4)."""
    log = math.log(4 / level)
    return math.sqrt(2 * gains.var(ddof=1) * log / len(gains)) + 7 * largest * log / (3 * (len(gains) - 1))


@pytest.mark.parametrize("specimen", SPECIMENS, ids=named)
def test_the_law_of_the_oracle_is_that_of_the_outputs(specimen, false_alarm_level):
    """With L the log-ratio, delta(t) is the mean of (1 - e^(t - L))_+ over the first law and of (e^L - e^t)_+ over the other.

    Four means, each off by more than its bound with probability at most a quarter of the level.
    """
    law, rng = zoo_oracle.law_of(specimen, Fraction(1, 2)), np.random.default_rng(23)
    losses = [law.log_ratio(specimen.target.sample(data, DRAWS, rng)) for data in specimen.target.neighbours[0]]
    threshold = min(specimen.truth.at_epsilon, law.largest()) / 2
    level = float(false_alarm_level) / 4
    for back, (own, other) in ((False, (losses[0], losses[1])), (True, (-losses[1], -losses[0]))):
        exact = law.delta(threshold, back=back)
        gains = np.maximum(0, -np.expm1(threshold - own))
        assert exact == pytest.approx(gains.mean(), abs=within(gains, 1.0, level))
        largest = law.largest(back=back)
        if largest < 6:
            gains = np.maximum(0, np.exp(other) - np.exp(threshold))
            assert exact == pytest.approx(gains.mean(), abs=within(gains, math.exp(largest), level))


@pytest.mark.parametrize("specimen", SPECIMENS, ids=named)
def test_no_output_is_more_telling_than_the_largest_log_ratio(specimen):
    law, rng = zoo_oracle.law_of(specimen, Fraction(1, 2)), np.random.default_rng(24)
    for back, data in enumerate(specimen.target.neighbours[0]):
        losses = law.log_ratio(specimen.target.sample(data, 2000, rng)) * (-1) ** back
        assert losses.max() <= law.largest(back=bool(back)) + 1e-9
        assert not np.isnan(losses).any()


def test_the_truth_tells_a_violation_from_a_claim_that_is_met():
    point = {"at_epsilon": 1.0, "at_delta": 0.01, "epsilon": 2.0, "how": ""}
    assert Truth(**point, delta=0.011).violates
    assert not Truth(**point, delta=0.01).violates


@pytest.mark.parametrize("epsilon", [0, "-1/2", "3/2", float("nan"), float("inf"), "much", None])
def test_an_epsilon_outside_of_the_zoo_is_refused(epsilon):
    with pytest.raises(InvalidArgument, match="epsilon"):
        specimens(epsilon)


def test_names_are_used_once_and_none_stands_for_two_claims():
    for epsilon in zoo_oracle.EPSILONS:
        names = [specimen.name for specimen in specimens(epsilon)]
        assert len(names) == len(set(names))


def test_an_epsilon_without_stored_truths_says_so():
    specimen = specimens("1/3")[0]
    with pytest.raises(InvalidArgument, match="DPA103 no truth is stored of laplace"):
        specimen.truth  # noqa: B018


def test_the_stored_truths_are_those_of_the_specimens_and_no_others():
    import json

    rows = json.loads(zoo_oracle.TABLE.read_text(encoding="utf-8"))["rows"]
    assert {(row["name"], row["claim"]) for row in rows} == {(one.name, str(one.target.claim.guarantee)) for _, one in EVERY}
