"""Passes in secret orders cost what the accountant says, and their choice and their bounds are what they claim."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accounting import compose
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.releases import recording
from learners.margins import erm
from learners.margins.bounds import UtilityBound, mean_excess, sure_excess, utility_bound
from learners.margins.erm import erm_plan, private_erm, run
from learners.rows.ingest import to_rows
from learners.solvers.orders import random_order
from learners.solvers.phased import WEIGHT_BITS, schedule
from mechanisms.sampling.random import source_from


def plan(**given):
    usual = {"records": 10**5, "columns": 64, "bound": 2**20, "margin": "1/10", "epsilon": 1, "delta": "1e-6"}
    return erm_plan(**(usual | given))


def noise(made):
    """c of the literature: twice the noise multiplier."""
    release = made.schedule.releases[0]
    return float(2 * release.parameter("sigma") / release.sensitivity)


MULTIPLIERS = [
    ({"by_place": False}, 8.45),
    ({"by_place": False, "epsilon": 4}, 2.39),
    ({"by_place": False, "epsilon": "1/2"}, 16.12),
    ({}, 7.19),
    ({"epsilon": 4}, 2.08),
    ({"epsilon": "1/2"}, 13.58),
    ({"variant": "permutation", "by_place": False, "choice_share": "1/2"}, 26.69),
    ({"variant": "permutation", "by_place": False}, 17.38),
    ({"variant": "permutation", "by_place": False, "choice_share": "1/2", "epsilon": 4}, 7.79),
    ({"variant": "permutation", "by_place": False, "choice_share": "1/2", "epsilon": "1/2"}, 50.12),
    ({"variant": "permutation", "choice_share": "1/2"}, 18.29),
    ({"variant": "permutation"}, 12.28),
    ({"variant": "permutation", "choice_share": "1/2", "epsilon": 4}, 5.51),
    ({"variant": "permutation", "choice_share": "1/2", "epsilon": "1/2"}, 33.95),
    ({"variant": "faithful", "choice_share": "1/2"}, 45.32),
    ({"variant": "faithful"}, 31.88),
    ({"variant": "faithful", "choice_share": "1/2", "epsilon": 4}, 14.35),
    ({"variant": "faithful", "choice_share": "1/2", "epsilon": "1/2"}, 82.62),
    ({"variant": "faithful", "calibration": "paper"}, 5859),
    ({"variant": "faithful", "calibration": "paper", "epsilon": 4}, 1465),
    ({"variant": "faithful", "calibration": "paper", "epsilon": "1/2"}, 11718),
]


@pytest.mark.parametrize(("given", "expected"), MULTIPLIERS, ids=str)
def test_noise_is_what_a_separate_computation_gave(given, expected):
    assert math.isclose(expected, noise(plan(**given)), rel_tol=0.01)


@pytest.mark.parametrize(
    "given", [{}, {"variant": "permutation"}, {"variant": "faithful"}, {"epsilon": 20, "delta": "1/10"}], ids=str
)
def test_the_accountant_confirms_the_budget_and_it_is_used(given):
    made = plan(records=300, columns=4, **given)
    budget = Fraction(given.get("epsilon", 1))
    spent = compose(*(charge.loss for charge in made.charges)).epsilon(delta=given.get("delta", "1e-6")).upper
    assert budget * Fraction(995, 1000) <= spent <= budget


def test_the_choice_among_passes_is_charged_beside_them():
    made = plan(records=300, columns=4, variant="permutation")
    passes, choice = made.charges
    assert (4 * len(made.schedule.phases), 4) == (len(passes.releases), passes.scheme.rounds)
    assert (made.choice.loss.epsilon(delta=0).upper, 1) == (choice.loss.epsilon(delta=0).upper, len(choice.releases))


def test_a_known_order_costs_the_most_over_all_orders():
    assert math.isclose(1.19, float(plan().known_order("1e-6")), abs_tol=0.01)
    assert math.isclose(4.68, float(plan(epsilon=4).known_order("1e-6")), abs_tol=0.01)
    assert math.isclose(1.00001, float(plan(by_place=False).known_order("1e-6")), abs_tol=1e-3)
    assert math.inf == plan(variant="faithful").known_order("1e-6")
    several = plan(variant="permutation", choice_share="1/2").known_order("1e-6")
    assert math.isclose(1.2766, float(several), abs_tol=0.001)  # with a choice of pure loss 1/2 it is 1.42


def test_no_parameter_gives_an_order_or_its_seed():
    names = {*inspect.signature(private_erm).parameters, *inspect.signature(run).parameters}
    assert not {name for name in names if "order" in name or "seed" in name or "permutation" in name}


def test_every_pass_takes_an_order_of_its_own(monkeypatch):
    rows = to_rows(np.eye(30), np.arange(30) % 2, feature_norm=1, lattice_bits=8)
    seen = []
    monkeypatch.setattr(
        erm, "random_order", lambda count, source: seen.append(random_order(count, source).tolist()) or np.array(seen[-1])
    )
    made = plan(records=30, columns=30, bound=rows.bound, margin="1/2", variant="permutation")
    run(rows, made)
    run(rows, made)
    assert 8 == len({tuple(order) for order in seen})


def test_how_often_a_record_is_drawn_is_bounded_as_the_paper_says():
    """P(J > 2 log(2/d)) <= d/2 for J binomial(n, 1/n): exact masses."""
    for count in (2, 3, 10, 100, 1000):
        masses = [
            Fraction(math.comb(count, times) * (count - 1) ** (count - times), count**count) for times in range(min(count, 60) + 1)
        ]
        for exponent in range(40):
            failure = Fraction(1, 2**exponent)
            limit = 2 * math.log(2 / failure)
            beyond = 1 - sum(mass for times, mass in enumerate(masses) if times <= limit)
            assert beyond <= failure / 2


def test_group_privacy_of_the_paper_needs_its_range_of_epsilon():
    """delta (e^(eps J) - 1) / (e^eps - 1) summed over J stays below delta_hat / 2 within the range, and not outside it."""

    def excess(epsilon, delta, rounds):
        log = math.log(2 * rounds / delta)
        each, risk = epsilon / (4 * rounds * log), delta**2 / (4 * rounds * log)
        sums = risk * (math.exp(2 * log * each) - 1) / (math.exp(each) - 1)
        return sums / (delta / (2 * rounds))

    assert excess(1, 1e-6, 4) <= 1
    assert excess(math.log(1e6), 1e-6, 4) <= 1
    assert excess(100, 0.1, 4) > 1
    with pytest.raises(InvalidArgument, match="DPA103"):
        plan(variant="faithful", calibration="paper", epsilon=14)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": 0},
        {"delta": 1},
        {"epsilon": 0},
        {"margin": 0},
        {"margin": "11/10"},
        {"variant": "other"},
        {"calibration": "paper"},
        {"choice_share": 1},
        {"choice_share": 0},
        {"failure": 0},
        {"records": 0},
        {"chosen_by": "errors"},
        {"epsilon": "nan"},
    ],
    ids=str,
)
def test_what_no_plan_can_be_made_of_is_refused(wrong):
    with pytest.raises(InvalidArgument):
        plan(**wrong)


def test_adding_and_removing_records_is_refused():
    with pytest.raises(Unsupported, match="DPA604"):
        plan(adjacency="add_remove")


def test_a_record_that_may_vanish_pulls_half_as_much():
    whole, half = (plan(adjacency=kind).schedule.releases[0].sensitivity for kind in ("replace_one", "zero_out"))
    assert math.isclose(0.5, half / whole, rel_tol=1e-3)


def separable(count, margin, seed, columns=6):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((count, columns))
    features[:, 0] = 0
    features *= math.sqrt(1 - margin**2) / np.linalg.norm(features, axis=1, keepdims=True)
    labels = rng.integers(0, 2, count)
    features[:, 0] = margin * (2 * labels - 1)
    return to_rows(features, labels, feature_norm=1, lattice_bits=16)


@pytest.mark.parametrize(("variant", "chosen_by"), [("direct", "ramp"), ("permutation", "ramp"), ("faithful", "hinge")])
def test_separable_records_are_told_apart(variant, chosen_by):
    rows, test = separable(4000, 0.5, 1), separable(2000, 0.5, 2)
    made = plan(records=4000, columns=6, bound=rows.bound, margin="1/2", epsilon=8, variant=variant, chosen_by=chosen_by)
    margins = (2 * test.labels - 1) * test.margins(run(rows, made))
    assert np.mean(margins <= 0) < 0.02


def test_a_run_comes_with_its_record():
    result = private_erm(separable(500, 0.5, 1), margin="1/2", epsilon=4, delta="1e-6", weight_norm=2, variant="direct")
    assert np.linalg.norm(result.weights) <= 2
    assert Fraction(1, 4) == Fraction(result.plan.margin, 2**16 * 2**WEIGHT_BITS)
    assert result.privacy.recompute().upper == result.privacy.epsilon <= 4
    assert (True, ()) == (result.privacy.secure, result.privacy.notes)


def test_a_plan_that_costs_more_than_was_asked_for_is_never_run(monkeypatch):
    monkeypatch.setattr(erm, "_least_multiplier", lambda *_: Fraction(1))
    with recording() as log, pytest.raises(AssertionError, match="cost more than epsilon"):
        private_erm(separable(50, 0.5, 1), margin="1/2", epsilon=1, delta="1e-6", variant="direct")
    assert [] == log


def test_a_seeded_source_is_recorded_with_what_its_order_is_worth():
    rows = separable(100, 0.5, 1)
    given = {"margin": "1/2", "epsilon": 1, "delta": "1e-6", "variant": "direct"}
    result = private_erm(rows, **given, source=source_from(np.random.default_rng(1)))
    again = private_erm(rows, **given, source=source_from(np.random.default_rng(1)))
    assert not result.privacy.secure
    assert "epsilon is 1.22" in result.privacy.notes[0]
    assert result.weights.tolist() == again.weights.tolist()


def test_a_single_record_costs_nothing_and_teaches_nothing():
    result = private_erm(separable(1, 0.5, 1), margin="1/2", epsilon=1, delta="1e-6")
    assert not result.weights.any()
    assert (0, ()) == (result.privacy.epsilon, result.privacy.charges)


def test_scores_read_the_rows_that_were_learned_from():
    """The choice sees clipped rows of whole numbers only: its margins fit the range that its sensitivity is about."""
    made = plan(records=40, columns=6, margin="1/2", bound=2**16, variant="permutation", chosen_by="hinge")
    assert made.choice.sensitivity == 3 * 2**10  # 1 + B / margin
    assert made.margin == 2**16 * 2**WEIGHT_BITS // 2


# Bounds of utility.


def test_the_bound_in_closed_form_is_close_to_the_sum_over_phases():
    for c, margin, expected in ((8.45, "1/2", 0.055), (34.4, "1/2", 0.196), (8.45, "1/5", 0.137), (34.4, "1/5", 0.491)):
        made = schedule(records=20000, columns=50, bound=2**20, margin=margin, noise_multiplier=Fraction(str(c)) / 2)
        closed = 4 * math.sqrt(0.2292 / 20000 + 4 * 50 * c**2 / 20000**2) / float(Fraction(margin))
        assert math.isclose(expected, closed, rel_tol=0.02)
        assert math.isclose(closed, mean_excess(made), rel_tol=0.1)


def smooth_excess(weights, margin, columns):
    """Hinge risk of weights on the law below, whose least risk in the ball is 0."""
    points = np.zeros((2 * (columns - 1), columns))
    for column in range(1, columns):
        points[2 * column - 2 : 2 * column, 0] = margin
        points[2 * column - 2 : 2 * column, column] = np.array([1, -1]) * math.sqrt(1 - margin**2)
    return np.maximum(0, 1 - points @ weights / margin).mean()


def test_excess_risk_stays_below_the_bounds():
    """Records y (margin e_1 +- c e_j), 200 passes over 512 of them each, and the exact risk of what was learned."""
    columns, margin, count, rng = 4, 0.5, 512, np.random.default_rng(7)
    made = erm_plan(records=count, columns=columns, bound=2**16, margin=Fraction(margin), epsilon=8, delta="1e-3")
    source, risks = source_from(rng), []
    for _ in range(200):
        labels = rng.integers(0, 2, count)
        features = np.zeros((count, columns))
        features[:, 0] = margin
        features[np.arange(count), rng.integers(1, columns, count)] = rng.choice([-1, 1], count) * math.sqrt(1 - margin**2)
        rows = to_rows(features * (2 * labels - 1)[:, np.newaxis], labels, feature_norm=1, lattice_bits=16)
        risks.append(smooth_excess(run(rows, made, source) / 2.0**WEIGHT_BITS, margin, columns))
    assert np.mean(risks) <= mean_excess(made.schedule)
    assert np.mean(np.array(risks) > sure_excess(made.schedule, "1/20")) <= 0.05


def test_bounds_say_when_they_say_nothing():
    few, many = utility_bound(plan(records=1000)), utility_bound(plan(records=10**7, margin="1/2"))
    assert (True, "vacuous") == (few.vacuous, str(few))
    assert not many.vacuous
    assert str(many) == f"{many.alpha:.4g}"
    assert utility_bound(plan(variant="faithful", records=10**5)).vacuous
    assert math.inf == mean_excess(schedule(records=1, columns=2, bound=4, margin=1, noise_multiplier=1))
    assert math.inf == sure_excess(schedule(records=1, columns=2, bound=4, margin=1, noise_multiplier=1), "1/2")


def test_a_projection_and_a_choice_are_part_of_the_bound():
    plain = utility_bound(plan(records=10**7, margin="1/2"))
    projected = utility_bound(plan(records=10**7, margin="1/2"), dimension_in=10**6)
    chosen = utility_bound(plan(records=10**7, margin="1/2", variant="permutation"))
    assert math.isclose(2 * math.sqrt(2 / 64), projected.projection, rel_tol=1e-9)
    assert (0.0, plain.descent) == (plain.choice, projected.descent)
    assert 0 < chosen.choice < 1e-3
    assert replace(plain, projection=projected.projection) == projected
    assert isinstance(chosen, UtilityBound)
