"""What is asked of every public estimator alike, whoever adds one: refusals, private values, budgets, pickles, public maps."""

from __future__ import annotations

import inspect
import io
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import learners
from dpaudit.claims import ApproxDP
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from learners import estimator as estimator_module
from learners import papers
from learners import regression as regression_module
from learners.budget import Budget
from learners.estimator import PrivateModel
from learners.record import PrivacyRecord
from learners.regression import PrivateRegressor
from learners.structure.unlabelled import UnlabelledModel

PUBLIC = {name: getattr(learners, name) for name in (*learners.__all__, *papers.__all__)}


def public_records(columns):
    """Public records of as many columns as there are."""
    return np.random.default_rng(7).normal(size=(60, columns)) / 2


ESTIMATORS = {name: kind for name, kind in PUBLIC.items() if isinstance(kind, type) and issubclass(kind, PrivateModel)}
ESTIMATORS = {
    name: kind for name, kind in ESTIMATORS.items() if not issubclass(kind, UnlabelledModel)
}  # structure/ has their tests
REGRESSORS = {name for name, kind in ESTIMATORS.items() if issubclass(kind, PrivateRegressor)}
REQUIRED = {
    "epsilon": 2,
    "delta": "1e-3",
    "feature_norm": 1,
    "label_bound": 1,
    "margin": "1/4",
    "public_X": public_records,
    "columns": (-1, 1),
}
"""What learners ask for, by the name of the parameter; one that asks for more needs its line here."""

CHEAP = {
    "KernelMarginClassifier": {"frequencies": 16},
    "LabelPrivateClassifier": {"candidates": 32},
    "MarginSearch": {"margins": 2},
    "NeuralMarginClassifier": {"candidates": 32, "width": 3},
    "NonInteractiveKernelClassifier": {"point_count": 20},
    "PrivateGridSearchCV": {"param_grid": {"candidates": [16, 32]}, "stop": "1/2"},
    "PureMarginClassifier": {"candidates": 64},
    "SemiInteractiveKernelClassifier": {"point_count": 20},
    "SemiInteractiveKernelRegressor": {"point_count": 20},
}
"""Smaller than by default, so that fits are fast."""

SEARCHES = {"MarginSearch": "MarginClassifier", "PrivateGridSearchCV": "PureMarginClassifier"}
"""Learners that fit another learner, to which everything belongs that they do not take themselves."""

FEWEST = {"PrivateGridSearchCV": 2}
"""How many records a learner needs, where it is more than one; their number is public."""

BINNED = {"PrivateBoostingClassifier", "PrivateBoostingRegressor"}
"""Learners that read cells one by one instead of records."""

PREDICTIONS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
KINDS = ("replace_one", "add_remove", "zero_out", "label", "node", "edge")
every_learner = pytest.mark.parametrize("name", sorted(ESTIMATORS))
stored = pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "csr"])


def made(name, **given):
    """An estimator with these parameters and those that it asks for."""
    kind = ESTIMATORS[name]
    parameters = inspect.signature(kind).parameters
    if name in SEARCHES:
        inner = {key: given.pop(key) for key in list(given) if key not in parameters}
        return kind(estimator=made(SEARCHES[name], **inner), **CHEAP[name], **given)
    asked = {key: REQUIRED[key] for key, parameter in parameters.items() if parameter.default is parameter.empty}
    kinds = {"classes": ["no", "yes"]} if "classes" in parameters else {}
    return kind(**{**asked, **kinds, **CHEAP.get(name, {}), **given})


def takes(name, given):
    """Whether an estimator, or the one that it searches among, has the parameters."""
    known = {*inspect.signature(ESTIMATORS[name]).parameters, *inspect.signature(ESTIMATORS[SEARCHES.get(name, name)]).parameters}
    return known >= given.keys()


def data(name, records=40, features=4, seed=0):
    """Features of norm about 1, and whether the first is positive; for regressors 1 or -1."""
    rows = np.random.default_rng(seed).normal(size=(records, features)) / 2
    return rows, labelled(name, np.where(rows[:, 0] > 0, "yes", "no"))


def labelled(name, labels):
    """Labels that a learner reads: 1 for yes and -1 for no, if it is a regressor."""
    return np.where(labels == "yes", 1.0, -1.0) if name in REGRESSORS else labels


def scores(model, features):
    """What a model says of records, finely."""
    return model.predict(features) if isinstance(model, PrivateRegressor) else model.decision_function(features)


def values_of(model):
    """What a fitted model holds, as text, by name."""
    with np.printoptions(threshold=10**6):
        return {name: _text(value) for name, value in vars(model).items()}


def _text(value):
    """The text of a value, of an estimator that of all it holds."""
    return str(values_of(value)) if isinstance(value, PrivateModel) else repr(value)


@pytest.fixture
def unread(monkeypatch):
    """Fails the test if the records of a fit are read."""

    def refuse(*_):
        raise AssertionError("a record was read before everything public was checked")

    monkeypatch.setattr(estimator_module, "positions", refuse)
    monkeypatch.setattr(regression_module, "targets", refuse)


def test_there_are_as_many_learners_as_names():
    assert {"PrivateClassifier", *CHEAP} <= set(ESTIMATORS)
    assert REGRESSORS == {
        *("KernelRidgeRegressor", "PrivateBoostingRegressor", "PrivateLinearRegression"),
        *("PublicSubspaceRegressor", "SemiInteractiveKernelRegressor"),
    }


@every_learner
def test_scikit_learn_knows_what_kind_of_learner_it_is(name):
    assert (name in REGRESSORS) == is_regressor(made(name)) != is_classifier(made(name))


HOSTILE = np.array(
    [
        [np.nan, 0.1, 0.0, 0.0],
        [np.inf, -np.inf, 0.0, 0.0],
        [1e300, -1e300, 1e300, 0.0],
        [5e-324, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [-0.0, 0.0, 0.0, -0.0],
        [4096.0, 0.0, 0.0, 0.0],
        [2.0**62, 2.0**62, 0.0, 0.0],
        [0.3, 0.4, 0.0, 0.0],
        [0.3, 0.4, 0.0, 0.0],
        [np.nextafter(1, 2), 0.0, 0.0, 0.0],
        [-1e-300, 1e-300, 1e300, 0.0],
    ]
)
STRANGE = np.array(["yes", "no", "maybe", None, 3, float("nan"), "yes", "", b"no", 1e400, "no", ("yes",)], dtype=object)


@every_learner
@stored
def test_private_values_never_raise_or_warn_and_no_record_is_dropped(name, form, monkeypatch):
    """Broken, huge, tiny, zero, equal records; foreign labels and a single class; in CSR explicit zeros are stored as well."""
    seen, kind = [], ESTIMATORS[name]
    real = kind._learn
    monkeypatch.setattr(kind, "_learn", lambda self, rows, *rest: seen.append(len(rows.labels)) or real(self, rows, *rest))
    features = HOSTILE if form is np.asarray else csr_array((HOSTILE.ravel(), np.tile(np.arange(4), 12), 4 * np.arange(13)))
    plans = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels in (STRANGE, np.full(12, "yes"), np.full(12, "neither")):
            # An array of text is none of labels for a regressor, by its type alone: here each label is text by itself.
            model = made(name).fit(features, labels.astype(object) if name in REGRESSORS else labels)
            plans.append((repr(model.plan_), model.privacy_.epsilon))
            assert name in REGRESSORS or {*model.predict(features)} <= {"no", "yes"}
            assert np.isfinite(scores(model, features)).all()
    assert [12] * len(seen) == seen
    assert 3 <= len(seen)
    assert 1 == len(set(plans))


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - BINNED))
def test_records_that_are_mapped_alike_score_alike(name):
    """Not finite counts as zero, and a record above the bound as itself on the bound."""
    model = made(name).fit(*data(name))
    said = scores(model, HOSTILE)
    assert said[0] == said[1] == said[3] == said[4] == said[5]
    assert said[8] == said[9]
    assert said[6] == said[10] == scores(model, [[1.0, 0.0, 0.0, 0.0]])[0]


REFUSED = [
    ({"epsilon": 0}, "DPA104"),
    ({"epsilon": -1}, "DPA104"),
    ({"epsilon": "much"}, "DPA101"),
    ({"epsilon": float("nan")}, "DPA102"),
    ({"epsilon": float("inf")}, "DPA102"),
    ({"delta": 1}, "DPA103"),
    ({"delta": -1}, "DPA103"),
    ({"feature_norm": 0}, "DPA104"),
    ({"feature_norm": float("nan")}, "DPA102"),
    ({"feature_norm": Fraction(2) ** 600}, "DPA103"),
    ({"feature_norm": None}, "DPA101"),
    ({"label_bound": 0}, "DPA104"),
    ({"label_bound": "wide"}, "DPA101"),
    ({"label_bound": float("inf")}, "DPA102"),
    ({"adjacency": "nearby"}, "DPA103"),
    ({"adjacency": 3}, "DPA105"),
    ({"classes": []}, "DPA109"),
    ({"classes": ["yes", "yes"]}, "DPA103"),
    ({"classes": "yes"}, "DPA105"),
    ({"classes": ["yes", 1]}, "DPA105"),
    ({"random_state": -1}, "DPA103"),
    ({"random_state": "lucky"}, "DPA105"),
    ({"budget": 3}, "DPA105"),
]
CASES = [(name, given, code) for name in sorted(ESTIMATORS) for given, code in REFUSED if takes(name, given)]


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(("name", "given", "code"), CASES, ids=[f"{name}-{given}"[:60] for name, given, _ in CASES])
def test_parameters_are_refused_with_a_code_before_a_record_is_read(name, given, code):
    with recording() as log, pytest.raises(DpauditError, match=code):
        made(name, **given).fit(*data(name))
    assert [] == list(log)


@every_learner
@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("features", "labels", "code"),
    [
        (np.ones((4, 2)), ["no"] * 3, "DPA105"),
        (np.ones((4, 2)), None, "DPA105"),
        (np.ones((4, 2)), np.full((4, 2), "no"), "DPA105"),
        (np.ones(4), ["no"] * 4, "DPA105"),
        (np.ones((4, 2, 2)), ["no"] * 4, "DPA105"),
        (np.ones((4, 2), dtype=complex), ["no"] * 4, "DPA105"),
        (np.full((4, 2), "a"), ["no"] * 4, "DPA105"),
        ([[1.0], [1.0, 2.0]], ["no"] * 2, "DPA105"),
        (np.ones((0, 2)), [], "DPA109"),
        (np.ones((2, 0)), ["no"] * 2, "DPA109"),
        (csr_array((0, 2)), [], "DPA109"),
        (csr_array((4, 2), dtype=complex), ["no"] * 4, "DPA105"),
    ],
    ids=lambda value: getattr(value, "shape", None) and str(value.shape),
)
def test_shapes_and_dtypes_are_refused_with_a_code_before_a_record_is_read(name, features, labels, code):
    with recording() as log, pytest.raises(DpauditError, match=code):
        made(name).fit(features, labels)
    assert [] == list(log)


@every_learner
@stored
def test_another_number_of_features_is_refused_at_prediction(name, form):
    features, labels = data(name)
    model = made(name).fit(form(features), labels)
    for method in (type(model).predict, scores):
        for wrong in (features[:, :3], np.pad(features, ((0, 0), (0, 1)))):
            with pytest.raises(DpauditError, match="DPA105 X has"):
                method(model, form(wrong))


@every_learner
@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("kind", KINDS)
def test_relations_without_a_proof_are_refused(name, kind):
    """And under add_remove the number of records is private: where there is a proof, a public number must stand for it."""
    model = made(name, adjacency=kind)
    if kind in model.adjacencies and kind != "add_remove":
        return
    with pytest.raises(DpauditError, match="DPA604" if kind not in model.adjacencies else "DPA603"):
        model.fit(*data(name))


def budget_of(record):
    """Larger and larger budgets, or None where they are for less than two fits."""

    def budget(size):
        guarantee = ApproxDP(epsilon=2 * Fraction(9, 8) ** size, delta="1e-2")
        tried = Budget(guarantee, adjacency=record.adjacency)
        try:
            tried.reserve(record.loss)
            tried.reserve(record.loss)
        except BudgetExceeded:
            return None
        return Budget(guarantee, adjacency=record.adjacency)

    return budget


@every_learner
def test_a_budget_of_two_fits_stops_a_search_at_the_third_before_its_records_are_read(name, monkeypatch):
    features, labels = data(name, 30)
    alone = made(name).fit(features, labels).privacy_
    budget = next(budget for budget in map(budget_of(alone), range(40)) if budget is not None)
    model = made(name, budget=budget)
    assert clone(model).budget is budget
    reads = []
    for module, read in ((estimator_module, "positions"), (regression_module, "targets")):
        real = getattr(module, read)
        monkeypatch.setattr(module, read, lambda *args, real=real: reads.append(1) or real(*args))
    epsilons = "estimator__epsilon" if name in SEARCHES else "epsilon"
    with pytest.raises(BudgetExceeded, match="DPA204"):
        GridSearchCV(model, {epsilons: [2, 2, 2]}, cv=2, error_score="raise").fit(features, labels)
    assert 2 == len(reads)


@every_learner
def test_a_pickle_holds_no_training_value_and_what_depends_on_records_is_what_was_released(name):
    """Values are planted that look like nothing else; two fits on other records differ in what is named as released alone."""
    planted = np.arange(1, 121).reshape(40, 3) * (np.pi / 400)
    labels = np.where(np.arange(40) % 2, 777_777, 888_888)
    kinds = {"label_bound": 10**6} if name in REGRESSORS else {"classes": [777_777, 888_888]}
    fits = [made(name, **kinds, random_state=3).fit(rows, labels) for rows in (planted, -planted[::-1])]
    model = fits[0]
    held = {**model.get_params(deep=False), "n_features_in_": 0, "plan_": 0, "privacy_": 0}
    held |= {} if name in REGRESSORS else {"classes_": 0}
    assert {*held, *model.released} == set(vars(pickle.loads(pickle.dumps(model))))
    first, second = map(values_of, fits)
    assert {field for field in first if first[field] != second[field]} <= {*model.released}
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        buffer = io.BytesIO()
        pickle.dump(model, buffer, protocol=protocol)
        kept = buffer.getvalue()
        for row in planted:
            assert not any(row.astype(kind).tobytes() in kept for kind in (np.float64, np.float32))
            assert not any(str(value).encode() in kept for value in row.tolist())
            steps = [np.trunc(row * 2**bits) for bits in (12, 16, 20)]
            assert not any(whole.astype(kind).tobytes() in kept for whole in steps for kind in (np.int64, np.int32, np.float64))
        again = pickle.loads(kept)
        assert scores(model, planted).tolist() == scores(again, planted).tolist()
        assert model.privacy_ == again.privacy_
        assert again.privacy_.public == again.fit(planted, labels).privacy_.public


@every_learner
def test_the_record_recomputes_to_the_epsilon_that_was_asked_for_at_most(name):
    record = made(name).fit(*data(name)).privacy_
    read = PrivacyRecord.from_dict(record.to_dict())
    assert record.epsilon == read.recompute().upper <= 2
    assert (True, 40, 4) == (record.secure, read.public["records"], read.public["features"])


@every_learner
def test_public_maps_candidates_and_noise_are_the_same_for_all_data(name):
    """The plan holds them all, and is made before a record is read; nothing that is remembered for speed says what ran."""
    plans = [made(name).fit(*data(name, seed=seed)).plan_ for seed in range(6 if name in SEARCHES else 2)]
    assert 1 == len({pickle.dumps(plan) for plan in plans})


@pytest.mark.parametrize("name", [name for name in sorted(ESTIMATORS) if takes(name, {"feature_norm": 1})])
def test_exact_numbers_may_be_text_wherever_they_are_read(name):
    features, labels = data(name)
    given = {"epsilon": "5/2", "feature_norm": "3/2"}
    model = made(name, **given).fit(features, labels)
    assert ("3/2", True) == (model.privacy_.public["feature_norm"], model.privacy_.epsilon <= Fraction(5, 2))
    for attribute in ("coef_", "intercept_", "utility_"):
        if hasattr(type(model), attribute):
            assert np.size(getattr(model, attribute))
    assert (40,) == model.predict(features).shape


@every_learner
def test_features_of_other_dtypes_are_learned_from_as_float64(name):
    features, labels = data(name)
    coarse = np.clip(np.round(features), -1, 1).astype(np.int8)
    kinds = (np.int8, np.float32, np.float64)
    fits = [made(name, random_state=4).fit(coarse.astype(kind), labels) for kind in kinds]
    said = [scores(model, coarse).tolist() for model in fits]
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize(
    ("name", "records"),
    [(name, records) for name in sorted(ESTIMATORS) for records in (1, 2, 3) if FEWEST.get(name, 1) <= records],
)
def test_few_and_equal_and_zero_records_are_learned_from(name, records):
    for value in (0.0, 0.25):
        model = made(name).fit(np.full((records, 4), value), labelled(name, np.full(records, "yes")))
        assert records == model.privacy_.public["records"]
        assert (records,) == model.predict(np.full((records, 4), value)).shape


@every_learner
def test_what_needs_a_fit_says_so(name):
    features, labels = data(name)
    asked = {"score": (features, labels), "shapes": (), **dict.fromkeys(PREDICTIONS, (features,))}
    for method, given in asked.items():
        if hasattr(made(name), method):
            with pytest.raises(NotFittedError):
                getattr(made(name), method)(*given)
