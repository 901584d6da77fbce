"""Checks of regularised minimisers and of searches: certain distances, noise for all that moves, exact numbers of runs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpaudit.accounting import best_of_negative_binomial_runs, price_releases, pure_dp
from dpaudit.claims import Adjacency
from dpaudit.exact import working_precision
from dpaudit.releases import Release, as_one, note, recording
from learners.estimator import Public
from learners.perturbation.objective import ObjectivePerturbation
from learners.perturbation.output import OutputPerturbation
from learners.perturbation.svm import PrivateSVM
from learners.public_data.private_classifier import PrivateClassifier
from learners.record import PrivacyRecord
from learners.rows.rows import Rows
from learners.selection.grid_search import Cases, PrivateGridSearchCV
from learners.selection.runs import PoissonRuns, Runs
from learners.solvers.certified import minimise, objective
from learners.solvers.losses import Loss
from tests.support.sources import TapeSource

ONE = 2**12
RELATION = Adjacency.of("replace_one")
SAME = {"epsilon": 1, "feature_norm": 1, "classes": [0, 1], "fit_intercept": False}


def public(records=100, columns=9):
    """Public numbers of a fit at epsilon 1."""
    return Public(records, columns, 2, Fraction(1), Fraction(1), Fraction(0), RELATION)


def slope_of(rows, plan, weights):
    """Norm of the gradient, with pulls by the straight lines of the loss."""
    sides = 2 * rows.labels - 1
    margins = sides * (rows.steps @ weights) / ONE
    knots = plan.loss._knots
    pulls = np.interp(margins, np.linspace(*plan.loss.ends, len(knots.pulls)), knots.pulls)
    return float(np.linalg.norm(float(plan.ridge) * weights - rows.steps.T @ (sides * pulls) / (ONE * plan.records)))


def minimisers_are_as_close_as_certified():
    rng = np.random.default_rng(2)
    for loss in (Loss("logistic"), Loss("huber"), Loss("huber", -2)):
        steps = np.trunc(rng.uniform(-ONE / 2, ONE / 2, (40, 3))).astype(np.int32)
        rows = Rows(steps, ONE, Fraction(1, ONE), rng.integers(0, 2, 40))
        plan = objective(records=40, columns=3, norm=1, ridge="1/50", loss=loss, tolerance="1e-6")
        assert slope_of(rows, plan, minimise(rows, plan)) <= float(plan.gradient) + 1e-13
        assert float(plan.gradient) < 1e-4


def losses_know_their_limits():
    for loss in (Loss("logistic"), Loss("huber", -2), Loss("residual", 1)):
        margins = np.arange(-16, 16, 2**-6)
        pulls = loss.pulls(margins)
        rise = float(np.max(pulls[:-1] - pulls[1:])) * 2**6
        assert abs(rise - float(loss.curvature)) < 0.01 * rise
        assert float(np.max(np.abs(pulls))) <= float(loss.steepest) <= float(np.max(np.abs(pulls))) + 1e-6


def noise_pays_for_minimiser_solver_and_lattice():
    plan = OutputPerturbation(**SAME, ridge="1/50")._plan(public())
    needed = 2 * Fraction(50, 100) + 2 * plan.objective.radius + Fraction(3, 2**plan.weight_bits)
    assert plan.releases[0].sensitivity >= needed * 2**plan.weight_bits
    machine = PrivateSVM(**SAME, C=50)._plan(public())
    assert machine.releases[0].sensitivity >= 3 * 2 * Fraction(50, 100) * 2**machine.weight_bits


def perturbed_objectives_pay_for_term_curvature_and_both_errors():
    plan = ObjectivePerturbation(**SAME, ridge="1/10")._plan(public(columns=4))
    term, output = plan.releases
    assert (2, Fraction(1, 10)) == (term.sensitivity, term.parameter("stretch"))
    assert output.sensitivity >= 2 * (plan.objective.radius * 2**plan.weight_bits + 2)
    paid = float(term.sensitivity / term.parameter("scale")) + math.log1p(0.1)
    total = float(PrivacyRecord.of(plan.charges, adjacency=RELATION, delta=0, public={}).epsilon)
    assert paid + 0.01 - 1e-9 <= total <= 1


def numbers_of_runs_have_their_masses():
    for shape, stop in ((1.0, 0.25), (0.5, 0.125)):
        law = Runs(shape=shape, stop=stop)
        masses = [float(law.pmf(count).upper) for count in range(1, 200)]
        assert abs(sum(masses) - 1) < 1e-6
        assert abs(sum(count * mass for count, mass in enumerate(masses, 1)) - float(law.mean.upper)) < 1e-4
        edge = int(2**64 * masses[0])
        assert [1, 2] == [law.draw(TapeSource(edge + aside, 64)) for aside in (-(2**40), 2**40)]


def searches_cost_what_the_theorem_says():
    assert 3 == best_of_negative_binomial_runs(pure_dp(epsilon=1), shape=1, stop="1/9").epsilon(delta=0).upper
    release = Release(
        "best_of_runs", (("rho", Fraction(1, 8)), ("shape", Fraction(1)), ("stop", Fraction(1, 9))), Fraction(1), RELATION
    )
    order, rho, rest = 8, 1 / 8, math.log(9)
    with working_precision(64):
        found = float(price_releases([release]).renyi(order=order).upper)
    assert found >= order * rho + 2 * (2 * math.sqrt(rho * rest) - rho) + math.log(9) / (order - 1) - 1e-6
    plan = PrivateGridSearchCV(OutputPerturbation(**SAME), {"ridge": [1, 2]})._plan(public())
    assert 1 >= PrivacyRecord.of(plan.charges, adjacency=RELATION, delta=0, public={}).epsilon
    assert all(branch.releases[0].sensitivity / branch.releases[0].parameter("scale") <= Fraction(1, 3) for branch in plan.branches)
    assert 1 / plan.score.scale <= Fraction(1, 3)


def poisson_searches_cost_what_the_theorem_says():
    release = Release("best_of_runs", (("mean", Fraction(9)), ("mu", Fraction(1, 5))), Fraction(1), RELATION)
    order, mu, mean = 8, 1 / 5, 9
    away = math.log(order / (order - 1)) / mu
    delta = (math.erfc((away - mu / 2) / 2**0.5) - order / (order - 1) * math.erfc((away + mu / 2) / 2**0.5)) / 2
    with working_precision(64):
        found = float(price_releases([release]).renyi(order=order).upper)
    assert found >= order * mu**2 / 2 + mean * delta + math.log(mean / -math.expm1(-mean)) / (order - 1) - 1e-6
    law = PoissonRuns(parameter=9)
    masses = [float(law.pmf(count).upper) for count in range(1, 60)]
    assert abs(sum(masses) - 1) < 1e-6
    assert abs(sum(count * mass for count, mass in enumerate(masses, 1)) - float(law.mean.upper)) < 1e-4
    learner = PrivateClassifier(epsilon=1, delta="1e-6", feature_norm=1, classes=[0, 1])
    asked = replace(public(), delta=Fraction(1, 10**6))
    plan = PrivateGridSearchCV(learner, {"feature_norm": [1, 2]}, poisson=9)._plan(asked)
    mu = dict(plan.whole.parameters)["mu"]
    assert all(branch.charges[0].loss.gdp().upper <= mu for branch in plan.branches)
    assert 1 / plan.score.sigma <= mu
    assert 1 >= PrivacyRecord.of(plan.charges, adjacency=RELATION, delta="1e-6", public={}).epsilon


def parts_of_a_search_share_no_record():
    plan = PrivateGridSearchCV(OutputPerturbation(**SAME), {"ridge": [1]})._plan(public())
    places = np.arange(100)
    kept, out = (set(each.labels.tolist()) for each in plan.parts(Cases(places[:, np.newaxis], places)))
    assert (set(), set(range(100))) == (kept & out, kept | out)


def one_entry_stands_for_a_search():
    entry = Release("best_of_runs", (), Fraction(1), RELATION)
    with recording() as log, as_one(entry):
        note(Release("discrete_laplace", (), Fraction(1), RELATION))
    assert [entry] == log


CHECKS = (
    minimisers_are_as_close_as_certified,
    losses_know_their_limits,
    noise_pays_for_minimiser_solver_and_lattice,
    perturbed_objectives_pay_for_term_curvature_and_both_errors,
    numbers_of_runs_have_their_masses,
    searches_cost_what_the_theorem_says,
    poisson_searches_cost_what_the_theorem_says,
    parts_of_a_search_share_no_record,
    one_entry_stands_for_a_search,
)
