"""Checks of halfspaces: unit records, sums and choices within their shares, nets, thresholds, and the packing's bound."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy import sparse

from dpaudit.claims import Adjacency
from learners.choices.counts import signs
from learners.estimator import Public
from learners.halfspaces.descent import active_sum, descent
from learners.halfspaces.literal import hinge_scores, literal_descent
from learners.halfspaces.packing import Packing, error_rate, packing_size
from learners.halfspaces.pure_halfspace import net_errors, shell_net, threshold
from learners.halfspaces.utility import descent_bound, kept_margin, mean_hinge, sure_hinge
from learners.record import PrivacyRecord
from learners.rows.unit import unit_rows
from learners.solvers.phased import WEIGHT_BITS

BOUND = 2**20


def plan_of(runs=1, records=100):
    """Descent of unit records of four columns at epsilon 1."""
    public = Public(records, 4, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency("replace_one"))
    return descent(public, columns=4, bound=BOUND, high=1 << 49, low=1 << 46, runs=runs, choice_share=Fraction(1, 10))


def unit_records_have_norm_one_and_a_direction():
    features = np.array([[3e-300, 4e-300], [0.0, 0.0], [np.nan, 1.0], [1e308, 1e308], [0.0, -1e-320]])
    for stored in (features, sparse.csr_array(features)):
        rows = unit_rows(stored, np.zeros(5, dtype=np.int64), lattice_bits=6)
        steps = rows.steps if isinstance(rows.steps, np.ndarray) else rows.steps.toarray()
        assert (64, Fraction(1, 64)) == (rows.bound, rows.step)
        assert [[38, 51], [64, 0], [64, 0], [45, 45], [0, -63]] == steps.tolist()


def descents_are_worth_what_they_are_charged():
    for runs in (1, 3):
        plan = plan_of(runs)
        rows = [unit_rows(np.eye(4)[:1], np.array([label])) for label in (0, 1)]
        sums = [active_sum(each, signs(each.labels), np.zeros(4, dtype=np.int64), plan.high) for each in rows]
        assert np.abs(sums[0] - sums[1]).max() <= plan.release.sensitivity
        record = PrivacyRecord.of(plan.charges, adjacency="replace_one", delta="1e-5", public={})
        assert (0.99 if runs == 1 else 0.85) < record.epsilon <= 1
        assert plan.steps * runs == len(plan.charges[0].releases)


def records_short_of_the_threshold_pull_by_their_label():
    rows = unit_rows(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]), np.array([1, 0, 0]), lattice_bits=2)
    side = signs(rows.labels)
    assert [8, -4] == active_sum(rows, side, np.zeros(2, dtype=np.int64), 1).tolist()
    assert [0, -4] == active_sum(rows, side, np.array([5, 0]), 20).tolist()
    assert [8, -4] == active_sum(rows, side, np.array([5, 0]), 21).tolist()


def the_literal_descent_keeps_the_choice_inside_its_budget():
    public = Public(20, 4, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency("replace_one"))
    plan = literal_descent(public, columns=4, bound=BOUND, high=1 << 49, low=1 << 46, failure=Fraction(1, 20))
    assert Fraction(2 * BOUND) == plan.release.sensitivity
    assert Fraction(1, 2) == plan.choice.epsilon
    assert plan.choice.sensitivity == hinge_scores(high=1 << 49, low=1 << 46, largest=BOUND << WEIGHT_BITS)[1]
    assert plan.deviation >= 12 * math.sqrt(32 * math.log(20 * 6e5) * math.log(6e5))
    loss, change = hinge_scores(high=96, low=10, largest=1000)
    assert 1024 * (96 + 1000) <= 86 * change
    assert [0, 1024, change, change] == loss(np.array([96, 10, -1000, -5000])).tolist()


def nets_and_their_counts_are_those_of_the_definition():
    net = shell_net(dimension=2, margin=1)
    points = {tuple(net.candidate(place).tolist()) for place in range(net.size)}
    whole = range(-9, 10)
    # h^2 = 2 / 100.
    assert points == {
        (x, y) for x in whole for y in whole if Fraction(81, 100) <= Fraction(x * x + y * y, 50) <= Fraction(121, 100)
    }
    assert [7, 8, 11, 11] == [threshold(dimension=columns, bound=bound) for columns, bound in ((4, 8), (4, 9), (2, 16), (1, 23))]
    rows = unit_rows(np.array([[3.0, 4.0], [1.0, 0.2]]), np.array([1, 0]), lattice_bits=4)
    for place, count in enumerate(net_errors(rows, net).tolist()):
        margins = [
            2 * side * sum(map(int.__mul__, net.candidate(place).tolist(), record))
            for side, record in zip((1, -1), rows.steps.tolist(), strict=True)
        ]
        assert count == sum(margin < 0 or margin**2 < 2 * 16**2 for margin in margins)


def no_more_is_promised_than_was_proved():
    margin = Fraction(1, 5)
    kept = kept_margin(margin, columns_in=100, columns=50, jl_fraction=Fraction(1, 3), lattice_bits=20)
    assert kept < (margin - margin / 3) / (1 + margin / 3)
    assert kept_margin(margin, columns_in=100, columns=100, jl_fraction=Fraction(1, 3), lattice_bits=20) < margin
    plan = plan_of(records=10**5)
    slope, ratio = 1 / (plan.high - plan.low) * 2.0**50, plan.deviation / plan.records
    assert slope * math.sqrt((1 + 4 * ratio**2) / plan.steps) <= mean_hinge(plan)
    noise = 2 * ratio * math.sqrt(2 * math.log(160) / plan.steps)
    assert mean_hinge(plan) + slope * noise <= sure_hinge(plan, 0.0125) == descent_bound(plan, failure=0.05, unmapped=0.0).learned
    assert math.inf == descent_bound(plan, failure=0.05, unmapped=0.013).alpha


def halfspaces_of_a_packing_share_no_classifier():
    near = Fraction(1, 10**5)
    words = np.where(np.arange(100) < np.array([[0], [14]]), -1, 1).astype(np.int8)
    assert (Fraction(14, 100), False) == ((packing := Packing(words, Fraction(1, 317))).distance, packing.disjoint)
    assert 1 == packing_size(dimension=3, margin="1/2")
    # Of 9 signs any two words differ enough; of 20 signs those that differ in 2 places: 2^20 over 1 + 20.
    assert 2**9 == packing_size(dimension=9, margin=near)
    assert math.ceil(2**20 / 21) == packing_size(dimension=20, margin=near)
    assert 0.0926 < error_rate(cosine=math.cos(math.acos(0.8) / 2), dimension=100, margin=1e5**-0.5) < 0.0928


CHECKS = (
    unit_records_have_norm_one_and_a_direction,
    descents_are_worth_what_they_are_charged,
    records_short_of_the_threshold_pull_by_their_label,
    the_literal_descent_keeps_the_choice_inside_its_budget,
    nets_and_their_counts_are_those_of_the_definition,
    no_more_is_promised_than_was_proved,
    halfspaces_of_a_packing_share_no_classifier,
)
