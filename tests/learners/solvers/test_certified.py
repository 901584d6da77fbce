"""Certified minimisers: losses with exact limits, a public number of steps, and a distance that holds for every dataset."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dpaudit.errors import InvalidArgument
from dpaudit.exact import working_precision
from learners.rows.rows import Rows
from learners.solvers import certified
from learners.solvers.certified import minimise, objective
from learners.solvers.losses import Loss

LOSSES = [Loss("logistic"), Loss("huber"), Loss("huber", -3), Loss("residual", 1)]
ONE = 2**10


def exact_pull(loss: Loss, margin: Fraction) -> Fraction:
    """The slope in rationals, from the loss's own knots, by the definition of a straight line."""
    knots = loss._knots
    width = Fraction(2) ** -knots.bits
    place = (min(max(margin, Fraction(knots.first)), Fraction(knots.last)) - Fraction(knots.first)) / width
    cell = min(math.floor(place), len(knots.rises) - 1)
    left, right = (Fraction(float(knots.pulls[cell + side])) for side in (0, 1))
    return left + (right - left) * (place - cell)


def rows_of(steps, labels) -> Rows:
    """Rows of norm at most 1, in steps of 1 / ONE."""
    return Rows(np.asarray(steps, dtype=np.int32), ONE, Fraction(1, ONE), np.asarray(labels, dtype=np.int64))


def exact_gradient(rows: Rows, plan, weights, offsets=None) -> float:
    """Norm of the gradient at some weights in rational arithmetic, rounded up."""
    steps = rows.steps if isinstance(rows.steps, np.ndarray) else rows.steps.toarray()
    exact = [Fraction(float(weight)) for weight in weights]
    total = [plan.ridge * weight for weight in exact]
    for number, (row, label) in enumerate(zip(steps.tolist(), rows.labels.tolist(), strict=True)):
        side = 2 * label - 1
        margin = side * rows.step * sum(entry * weight for entry, weight in zip(row, exact, strict=True))
        pull = exact_pull(plan.loss, margin + (Fraction(float(offsets[number])) if offsets is not None else 0))
        total = [value - side * pull * entry * rows.step / plan.records for value, entry in zip(total, row, strict=True)]
    return math.sqrt(float(sum(value**2 for value in total))) * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@given(margin=st.floats(-50, 50))
def test_pulls_are_those_of_the_straight_lines_up_to_the_stated_error(loss, margin):
    first, last = loss.ends
    error = 4 * loss.steepest + loss.curvature * 4 * Fraction(last - first)
    assert abs(Fraction(float(loss.pulls(np.array([margin]))[0])) - exact_pull(loss, Fraction(margin))) <= error / 2**53


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@given(one=st.fractions(-40, 40), other=st.fractions(-40, 40))
def test_losses_are_convex_and_no_steeper_or_more_curved_than_they_say(loss, one, other):
    before, after = (exact_pull(loss, margin) for margin in sorted((one, other)))
    assert 0 <= before - after <= loss.curvature * abs(one - other)
    assert max(abs(before), abs(after)) <= loss.steepest


def test_losses_are_what_their_names_say():
    assert (Fraction(1), True) == (Loss("logistic").steepest, Fraction(249, 1000) < Loss("logistic").curvature <= Fraction(1, 4))
    assert (1, 8) == (Loss("huber", -3).steepest, Loss("huber", -3).curvature)
    assert (2, 1) == (Loss("residual", 1).steepest, Loss("residual", 1).curvature)
    margins = np.linspace(-6, 6, 97)
    assert np.allclose(1 / (1 + np.exp(margins)), Loss("logistic").pulls(margins), atol=1e-5)
    assert np.allclose(np.clip(1.5 - margins, 0, 1), Loss("huber").pulls(margins))
    assert abs(math.log(2) - float(Loss("logistic").at_zero)) < 1e-5
    assert [1, 1, 0] == [Loss("huber").at_zero, Loss("huber", -3).at_zero, Loss("residual").at_zero]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 2**16), ridge=st.sampled_from(["1", "1/10", "1/300"]))
def test_the_gradient_is_as_short_as_certified_in_exact_arithmetic(loss, data, seed, ridge):
    count, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    rng = np.random.default_rng(seed)
    steps = np.trunc(rng.uniform(-1, 1, (count, columns)) * ONE / math.sqrt(columns)).astype(np.int32)
    if data.draw(st.booleans()):
        steps[:] = steps[0]
    rows = rows_of(steps, rng.integers(0, 2, count))
    offsets = rng.uniform(-3, 3, count)
    plan = objective(records=count, columns=columns, norm=1, ridge=ridge, loss=loss, tolerance="1e-6", offset=3)
    found = minimise(rows, plan, offsets)
    assert exact_gradient(rows, plan, found, offsets) <= float(plan.gradient)
    assert float(np.linalg.norm(found)) <= float(plan.weight_norm)


def test_weights_of_one_column_are_as_close_to_the_minimiser_as_certified():
    rows = rows_of([[ONE], [ONE // 2], [-ONE]], [1, 1, 1])
    plan = objective(records=3, columns=1, norm=1, ridge="1/50", loss="huber", tolerance="1e-7")
    with working_precision(200):
        low, high = arb(-100), arb(100)
        for _ in range(150):
            middle = ((low + high) / 2).mid()
            slope = _slope(rows, plan, middle)
            low, high = (low, middle) if bool(slope > 0) else (middle, high)
    assert abs(float(low) - float(minimise(rows, plan)[0])) <= float(plan.radius) + 1e-13


def _slope(rows, plan, weight):
    """The derivative of the objective of one column at a weight, exactly."""
    exact = Fraction(int(weight.man_exp()[0])) * Fraction(2) ** int(weight.man_exp()[1])
    margins = [exact * int(entry) / ONE for entry in rows.steps[:, 0]]
    pulled = sum(exact_pull(plan.loss, margin) * int(entry) for margin, entry in zip(margins, rows.steps[:, 0], strict=True))
    value = plan.ridge * exact - Fraction(pulled, ONE * plan.records)
    return arb_mat([[arb(value.numerator) / value.denominator]])[0, 0]


@pytest.mark.parametrize("loss", ["logistic", "huber"])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**16), place=st.integers(0, 29))
def test_replacing_a_record_moves_the_weights_by_no_more_than_planned(loss, seed, place):
    rng = np.random.default_rng(seed)
    plan = objective(records=30, columns=4, norm=1, ridge="1/20", loss=loss)
    pair = []
    steps, labels = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
    steps *= ONE / np.linalg.norm(steps, axis=1, keepdims=True)
    for sign in (1, -1):
        changed = np.trunc(steps)
        changed[place] *= sign
        pair.append(minimise(rows_of(changed, labels), plan))
    assert float(np.linalg.norm(pair[0] - pair[1])) <= float(plan.sensitivity)


def test_the_sensitivity_of_the_minimiser_is_attained_by_a_straight_loss():
    plan = objective(records=10, columns=1, norm=1, ridge=10, loss="huber", tolerance="1e-6")
    rest = [[0]] * 9
    moved = [minimise(rows_of([[side], *rest], [1] * 10), plan)[0] for side in (ONE, -ONE)]
    assert abs(float(plan.minimiser_sensitivity) - (moved[0] - moved[1])) < 1e-6


def test_roundings_alone_bound_what_no_step_can_improve():
    coarse, fine = (
        objective(records=10**6, columns=50, norm=1, ridge="1/1000", tolerance=part) for part in ("1/100", Fraction(1, 10**30))
    )
    assert coarse.rounds < fine.rounds
    assert 0 < fine.radius < coarse.radius / 1000
    assert fine.error == coarse.error


def test_the_plan_depends_on_public_numbers_only_and_steps_are_counted(monkeypatch):
    plan = objective(records=40, columns=3, norm=1, ridge="1/10")
    calls = []
    original = certified._Slopes.__call__
    monkeypatch.setattr(certified._Slopes, "__call__", lambda self, weights: calls.append(1) or original(self, weights))
    rng = np.random.default_rng(1)
    for steps in (np.zeros((40, 3)), np.full((40, 3), 500), rng.integers(-500, 500, (40, 3))):
        calls.clear()
        minimise(rows_of(steps, rng.integers(0, 2, 40)), plan)
        assert plan.rounds + 1 == len(calls)
    assert {"rows", "plan", "offsets"} == set(inspect.signature(minimise).parameters)


def test_array_csr_and_another_order_agree_within_twice_the_radius_and_blocks_change_nothing_else(monkeypatch):
    rng = np.random.default_rng(3)
    steps = rng.integers(-300, 300, (200, 5)) * (rng.random((200, 5)) < 0.5)
    labels = rng.integers(0, 2, 200)
    plan = objective(records=200, columns=5, norm=1, ridge="1/100", tolerance="1e-6")
    dense = rows_of(steps, labels)
    thin = Rows(sparse.csr_array(dense.steps), dense.bound, dense.step, dense.labels)
    order = rng.permutation(200)
    turned = rows_of(steps[order], labels[order])
    weights = [minimise(dense, plan), minimise(thin, plan), minimise(turned, plan)]
    monkeypatch.setattr(certified, "_BLOCK", 17)
    weights += [minimise(dense, plan), minimise(thin, plan)]
    assert max(np.linalg.norm(one - weights[0]) for one in weights) <= float(2 * plan.radius)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"records": 0}, "DPA103"),
        ({"columns": 2.5}, "DPA105"),
        ({"norm": 0}, "DPA104"),
        ({"ridge": -1}, "DPA104"),
        ({"ridge": "nan"}, "DPA102"),
        ({"ridge": "1/0x"}, "DPA101"),
        ({"loss": 3}, "DPA105"),
        ({"loss": "hinge"}, "DPA103"),
        ({"loss": Loss("huber", -30)}, "DPA108"),
        ({"ridge": "1e-14"}, "DPA108"),
        ({"tolerance": 0}, "DPA104"),
        ({"offset": -1}, "DPA103"),
    ],
    ids=str,
)
def test_public_numbers_are_refused_out_of_their_ranges(given, code):
    with pytest.raises(InvalidArgument, match=code):
        objective(**({"records": 100, "columns": 2, "norm": 1, "ridge": "1/10"} | given))


def test_rows_that_a_plan_was_not_made_for_are_refused():
    plan = objective(records=2, columns=1, norm=1, ridge=1)
    with pytest.raises(InvalidArgument, match="DPA105"):
        minimise(rows_of([[1]], [1]), plan)
    with pytest.raises(InvalidArgument, match="DPA103"):
        minimise(Rows(np.ones((2, 1), dtype=np.int32), ONE + 1, Fraction(1, ONE), np.ones(2, dtype=np.int64)), plan)
