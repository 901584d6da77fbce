"""Output and objective perturbation and the support vector machine: prices, noise for what floats leave open, and refusals."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from dpaudit import Adjacency, ApproxDP, PureDP
from dpaudit.errors import BudgetExceeded, InvalidArgument, Unsupported
from dpaudit.releases import Release, recording
from learners.budget import Budget
from learners.estimator import Public
from learners.perturbation import objective as objective_module
from learners.perturbation.objective import ObjectivePerturbation, minimise_perturbed, stretch_cost
from learners.perturbation.output import OutputPerturbation
from learners.perturbation.svm import PrivateSVM
from learners.record import PrivacyRecord
from learners.rows.rows import Rows
from learners.solvers.losses import Loss
from mechanisms import EuclideanLaplace
from mechanisms.sampling.random import source_from

MODELS = {
    "output": (OutputPerturbation, {}),
    "gaussian": (OutputPerturbation, {"delta": "1e-6"}),
    "objective": (ObjectivePerturbation, {}),
    "printed": (ObjectivePerturbation, {"faithful": True}),
    "svm": (PrivateSVM, {}),
    "features": (PrivateSVM, {"kernel": "gaussian", "frequencies": 20, "width": 2}),
}
NUMBERS = st.one_of(st.floats(-10, 10), st.sampled_from([math.nan, math.inf, -math.inf, 1e308, 5e-324, 1e-200, 0.0]))
RELATION = Adjacency.of("replace_one")


def model(name, **given):
    kind, own = MODELS[name]
    return kind(**({"epsilon": 2, "feature_norm": 1, "classes": [0, 1]} | own | given))


def public(records=1000, features=5, **given):
    usual = Public(records, features, 2, Fraction(1), Fraction(1), Fraction(0), RELATION)
    return replace(usual, **given)


def separable(count=2000, columns=4, seed=1):
    rng = np.random.default_rng(seed)
    features, labels = rng.standard_normal((count, columns)), rng.integers(0, 2, count)
    features[:, 0] = np.abs(features[:, 0]) * (2 * labels - 1) + 0.5 * (2 * labels - 1)
    return features / (np.linalg.norm(features, axis=1, keepdims=True)), labels


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["output", "objective", "svm"])
def test_every_check_of_scikit_learn_passes(name):
    estimator = model(name, epsilon=50, feature_norm=5, classes=None, random_state=1)
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)


@pytest.mark.parametrize("name", MODELS)
def test_separated_records_are_told_apart_within_epsilon(name):
    features, labels = separable()
    fitted = model(name, epsilon=4, random_state=3).fit(features[:1500], labels[:1500])
    assert fitted.score(features[1500:], labels[1500:]) > 0.9
    assert fitted.privacy_.epsilon <= 4
    assert fitted.privacy_.recompute().upper <= fitted.privacy_.epsilon
    assert PrivacyRecord.from_dict(fitted.privacy_.to_dict()) == fitted.privacy_


@pytest.mark.parametrize("name", ["output", "objective", "printed", "svm", "features"])
def test_delta_zero_is_enough(name):
    features, labels = separable(200)
    assert 0 == model(name, random_state=1).fit(features, labels).privacy_.delta


@pytest.mark.parametrize("name", MODELS)
def test_the_log_holds_what_was_planned_and_the_budget_pays_for_it(name):
    features, labels = separable(300)
    budget = Budget(ApproxDP(epsilon="21/10", delta="1e-5") if name == "gaussian" else PureDP(epsilon=3))
    with recording() as log:
        fitted = model(name, budget=budget).fit(features, labels)
    assert [release for charge in fitted.plan_.charges for release in charge.releases] == log
    assert fitted.privacy_.secure
    with recording() as log, pytest.raises(BudgetExceeded):
        model(name, budget=budget).fit(features, labels)
    assert [] == log


@settings(max_examples=15, deadline=None)
@given(
    name=st.sampled_from(sorted(MODELS)),
    epsilon=st.fractions(Fraction(1, 10), 8),
    records=st.integers(50, 10**6),
    features=st.integers(1, 500),
)
def test_plans_cost_no_more_than_epsilon(name, epsilon, records, features):
    delta = Fraction(1, 10**6) if name == "gaussian" else Fraction(0)
    plan = model(name)._plan(public(records, features, epsilon=epsilon, delta=delta))
    record = PrivacyRecord.of(plan.charges, adjacency=RELATION, delta=delta, public={})
    assert record.epsilon <= epsilon


@settings(max_examples=25, deadline=None)
@given(name=st.sampled_from(sorted(MODELS)), data=st.data())
def test_no_private_value_makes_a_fit_refuse_raise_or_warn(name, data):
    count = data.draw(st.integers(1, 8))
    features = np.array(data.draw(st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=count, max_size=count)))
    labels = data.draw(st.lists(st.sampled_from([0, 1, 7, math.nan, "a", None]), min_size=count, max_size=count))
    with np.errstate(all="raise"):
        fitted = model(name, random_state=1).fit(features, labels)
    assert np.isfinite(fitted.decision_function(features)).all()


@pytest.mark.parametrize("name", MODELS)
def test_only_released_numbers_and_public_constants_are_pickled(name):
    features, labels = separable(100)
    features[0, :] = 0.123456789, 0.2, 0.3, 0.4
    fitted = model(name, random_state=1).fit(features, labels)
    copy = pickle.loads(pickle.dumps(fitted))
    assert fitted.decision_function(features).tolist() == copy.decision_function(features).tolist()
    assert np.float64(0.123456789).tobytes() not in pickle.dumps(fitted)
    assert {"classes_", "n_features_in_", "plan_", "privacy_", "weights_"} == {key for key in vars(fitted) if key.endswith("_")}


@pytest.mark.parametrize("name", ["output", "gaussian", "objective", "svm"])
def test_scores_are_those_of_the_coefficients(name):
    features, labels = separable(300)
    fitted = model(name, random_state=1, feature_norm=2).fit(features, labels)
    linear = features @ fitted.coef_[0] + fitted.intercept_[0]
    assert np.allclose(linear, fitted.decision_function(features), rtol=1e-3, atol=1e-4 * np.abs(linear).max())


def test_weights_of_images_are_no_coefficients():
    fitted = model("features", random_state=1).fit(*separable(50))
    assert not hasattr(fitted, "coef_")
    assert 50 == len(fitted.predict(separable(50)[0]))


@pytest.mark.parametrize("name", MODELS)
def test_array_and_csr_give_the_same_model_up_to_the_lattice(name):
    features, labels = separable(150)
    features[features < 0.1] = 0
    weights = [model(name, random_state=1).fit(given, labels).weights_ for given in (features, sparse.csr_array(features))]
    assert 1 >= np.abs(weights[0] - weights[1]).max()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"epsilon": 0}, "DPA104"),
        ({"feature_norm": "inf"}, "DPA102"),
        ({"loss": "hinge"}, "DPA103"),
        ({"loss": Loss("residual")}, "DPA103"),
        ({"loss": None}, "DPA103"),
        ({"classes": [0, 1, 2]}, "DPA103"),
        ({"random_state": -1}, "DPA103"),
        ({"budget": 1}, "DPA105"),
    ],
    ids=str,
)
def test_public_parameters_are_refused_before_anything_is_drawn(name, given, code):
    with recording() as log, pytest.raises(InvalidArgument, match=code):
        model(name, **given).fit([[0.5, 0.5]] * 4, [0, 1, 0, 1])
    assert [] == log


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("adjacency", ["add_remove", "zero_out", "label"])
def test_other_relations_are_not_proved(name, adjacency):
    with pytest.raises(Unsupported, match="DPA604"):
        model(name, adjacency=adjacency).fit([[0.5, 0.5]] * 4, [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("output", {"ridge": 0}, "DPA104"),
        ("output", {"ridge": "1e-13"}, "DPA108"),
        ("objective", {"ridge": "1/1000"}, "DPA103"),
        ("svm", {"C": 0}, "DPA104"),
        ("svm", {"kernel": "cubic"}, "DPA103"),
        ("svm", {"width": 1}, "DPA103"),
        ("features", {"width": 0}, "DPA104"),
        ("features", {"frequencies": 0}, "DPA103"),
    ],
)
def test_a_learners_own_parameters_are_refused_out_of_their_ranges(name, given, code):
    with pytest.raises(InvalidArgument, match=code):
        model(name, **given).fit([[0.5, 0.5]] * 4, [0, 1, 0, 1])


def test_noise_covers_the_minimiser_the_solver_and_the_lattice():
    plan = model("output", ridge="1/50", fit_intercept=False)._plan(public(100, 9))
    step = Fraction(1, 2**plan.weight_bits)
    assert plan.releases[0].sensitivity * step >= Fraction(2 * 50, 100) + 2 * plan.objective.radius + 3 * step
    assert plan.releases[0].sensitivity * step <= Fraction(2 * 50, 100) * Fraction(103, 100)
    assert 1 == plan.releases[0].sensitivity / plan.releases[0].parameter("scale")


def test_the_machine_pays_for_the_sum_of_the_sizes_of_its_weights_and_half_of_what_was_published():
    plans = [model("svm", C=50, fit_intercept=False, faithful=faithful)._plan(public(100, 9)) for faithful in (False, True)]
    step = Fraction(1, 2 ** plans[0].weight_bits)
    exact = 2 * 50 * 3 / Fraction(100)
    assert exact <= plans[0].releases[0].sensitivity * step <= exact * Fraction(105, 100)
    published = 4 * 50 * 3 / Fraction(100)
    assert published <= plans[1].releases[0].parameter("scale") * step <= published * Fraction(105, 100)
    assert 2 * plans[0].releases[0].parameter("scale") == plans[1].releases[0].parameter("scale")


def test_images_of_records_are_all_that_a_kernel_machine_sees():
    plan = model("features")._plan(public(features=4))
    assert (40, 40, 0) == (plan.objective.columns, plan.releases[0].dimension, plan.intercept)
    features, labels = separable(50)
    rows = model("features")._rows(features * 1e9, labels, plan)
    assert (50, 40) == rows.steps.shape
    assert all(sum(int(entry) ** 2 for entry in row) <= plan.bound**2 for row in rows.steps)


def perturbed(seed, *, columns=2, epsilon=Fraction(1), ridge="1/5", loss="huber", count=30):
    """Rows, plan, the random term and what came of it, in exact units."""
    rng = np.random.default_rng(seed)
    plan = model("objective", ridge=ridge, loss=loss, fit_intercept=False)._plan(public(count, columns, epsilon=epsilon))
    steps = rng.standard_normal((count, columns))
    steps *= plan.bound / np.linalg.norm(steps, axis=1, keepdims=True)
    rows = Rows(np.trunc(steps).astype(np.int32), plan.bound, Fraction(1, plan.bound), rng.integers(0, 2, count))
    term = plan.releases[0]
    law = EuclideanLaplace(term.parameter("scale") / term.parameter("lattice"), dimension=columns)
    drawn = law.sample(source=source_from(np.random.default_rng(seed)))
    with recording() as log:
        found = minimise_perturbed(rows, plan.objective, plan.weight_bits, term, source_from(np.random.default_rng(seed)))
    assert [replace(term, secure=False)] == log
    return rows, plan, drawn, found


@pytest.mark.parametrize("loss", ["huber", "logistic"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**20), columns=st.integers(1, 3), epsilon=st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(8)]))
def test_weights_are_as_close_to_the_exact_minimiser_of_the_perturbed_objective_as_output_noise_pays_for(
    loss, seed, columns, epsilon
):
    rows, plan, drawn, found = perturbed(seed, columns=columns, epsilon=epsilon, loss=loss, ridge=5 / epsilon)
    knots, ridge, count = plan.objective.loss, plan.objective.ridge, plan.objective.records
    weights = [Fraction(int(entry), 2**plan.weight_bits) for entry in found]
    term = [Fraction(int(entry)) * plan.releases[0].parameter("lattice") for entry in drawn]
    slope = [ridge * weight + part / count for weight, part in zip(weights, term, strict=True)]
    for row, label in zip(rows.steps.tolist(), rows.labels.tolist(), strict=True):
        side = 2 * label - 1
        margin = side * sum(Fraction(entry, plan.bound) * weight for entry, weight in zip(row, weights, strict=True))
        pull = float(knots.pulls(np.array([float(margin)]))[0])
        slope = [
            value - side * Fraction(pull) * Fraction(entry, plan.bound) / count for value, entry in zip(slope, row, strict=True)
        ]
    distance = math.sqrt(float(sum(value**2 for value in slope))) / float(ridge)
    smoothed = plan.releases[1].sensitivity / 2 / Fraction(2) ** plan.weight_bits
    assert distance <= float(smoothed) * float(plan.objective.smoothness / ridge) + 1e-12
    assert smoothed >= plan.objective.radius + Fraction(math.isqrt(columns), 2**plan.weight_bits)


def test_the_scale_of_the_term_and_the_price_of_the_curvature_are_what_the_proof_asks_for():
    plan = model("objective", ridge="1/10", fit_intercept=False)._plan(public(100, 4))
    term, output = plan.releases
    stretched = math.log1p(1 / (100 * 0.1))
    assert (Fraction(2), Fraction(1, 10)) == (term.sensitivity, term.parameter("stretch"))
    assert abs(2 / float(term.parameter("scale")) + stretched - 0.99) < 1e-4
    assert Fraction(1, 100) == output.sensitivity / output.parameter("scale")
    assert term.parameter("lattice") == 100 * Fraction(1, 10) / 2**plan.weight_bits
    assert abs(float(stretch_cost(Fraction(1, 10))) - stretched) < 1e-15
    price = PrivacyRecord.of(plan.charges, adjacency=RELATION, delta=0, public={}).epsilon
    assert 1 - 1e-4 < price <= 1


def test_the_printed_noise_pays_twice_for_the_curvature_and_raises_a_small_ridge():
    plain, printed = (model("objective", ridge="1/2", faithful=given)._plan(public(100, 4)) for given in (False, True))
    ratio = plain.releases[0].parameter("scale") / printed.releases[0].parameter("scale")
    left = 0.99 - math.log1p(1 / 50)
    assert abs(float(ratio) - (left - math.log1p(1 / 50)) / left) < 1e-4
    raised = model("objective", ridge="1/1000", faithful=True)._plan(public(100, 4))
    assert abs(float(raised.objective.ridge) - 1 / (100 * math.expm1(0.99 / 4))) < 1e-9
    assert abs(2 / float(raised.releases[0].parameter("scale")) - 0.99 / 2) < 1e-4


def log_ratio(*, others, record, changed, weights, ridge, epsilon):
    """Log-ratio of the densities of the exact minimiser at some weights, by the change of variables from the random term.

    `others` are pairs of a record and how often it stands there; all labels are 1.
    """

    def parts(own):
        total, second = -ridge * np.array(weights), ridge * np.eye(len(weights))
        for row, times in [*others, (own, 1)]:
            likely = 1 / (1 + math.exp(float(np.dot(row, weights))))
            total = total + times * likely * np.array(row)
            second = second + times * likely * (1 - likely) * np.outer(row, row)
        return np.linalg.norm(total), np.linalg.slogdet(second)[1]

    (length, volume), (other, volume_other) = parts(record), parts(changed)
    return epsilon / 2 * (other - length) + volume - volume_other


@pytest.mark.parametrize(
    ("count", "weight", "side", "place", "claimed", "reached"),
    [(10**5, 10.0, 0.1, 60.0, 0.9506, 0.9434), (10**7, 50.0, 0.02, 400.0, 0.99, 0.9895)],
)
def test_other_records_let_a_pair_come_close_to_the_price_of_the_random_term(count, weight, side, place, claimed, reached):
    inner = 1 - 2 * math.log1p(0.25 / weight)
    assert abs(inner - claimed) < 5e-5
    across = math.sqrt(1 - side**2)
    found = log_ratio(
        others=[((1.0, 0.0), count - 1)],
        record=(-across, -side),
        changed=(across, -side),
        weights=(0.0, place),
        ridge=weight,
        epsilon=inner,
    )
    assert abs(found - reached) < 1e-4


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    weight=st.floats(0.3, 20),
    place=st.lists(st.floats(-20, 20), min_size=2, max_size=2),
    angles=st.lists(st.floats(0, 7), min_size=2, max_size=2),
)
def test_no_density_ratio_exceeds_the_term_and_once_the_curvature(seed, weight, place, angles):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((6, 2))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    pair = [(math.cos(angle), math.sin(angle)) for angle in angles]
    found = log_ratio(
        others=[(tuple(row), 1) for row in rows], record=pair[0], changed=pair[1], weights=place, ridge=weight, epsilon=1.0
    )
    assert found <= 1 + math.log1p(0.25 / weight) + 1e-9


def test_a_random_term_that_is_longer_than_all_margins_changes_nothing_about_the_distance(monkeypatch):
    huge = np.array([2**40, -(2**41)])
    monkeypatch.setattr(objective_module.EuclideanLaplace, "sample", lambda self, source: huge)
    rows, plan, _, found = perturbed(5)
    shifted = rows.margins(-huge)
    pushed = rows.weighted_sum((shifted * (2 * rows.labels - 1) < 0).astype(np.int64) * (2 * rows.labels - 1))
    exact = -huge + pushed / plan.bound / plan.objective.records / float(plan.objective.ridge) * 2.0**plan.weight_bits
    assert np.abs(found - exact).max() <= float(plan.releases[1].sensitivity)


def test_unknown_and_incomplete_objective_releases_have_no_price():
    from dpaudit.accounting import price_releases

    release = Release("objective_perturbation", (("scale", Fraction(2)),), Fraction(2), RELATION)
    with pytest.raises(InvalidArgument, match="stretch"):
        price_releases([release])
