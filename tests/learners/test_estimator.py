"""What all learners share: scikit-learn's checks, refusals before anything is read, no word about private values, lean pickles."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from dpaudit import GDP
from dpaudit.errors import DpauditError, InvalidArgument, Unsupported
from dpaudit.releases import recording
from learners.budget import Budget
from learners.estimator import READ_CLASSES, SEEDED
from learners.record import PrivacyRecord


@pytest.fixture
def data():
    features = np.random.default_rng(2).standard_normal((200, 5))
    return features, np.where(features[:, 0] > 0, "yes", "no")


@pytest.fixture
def model(mean_classifier):
    return mean_classifier(epsilon=1, feature_norm=3, classes=["yes", "no"])


@pytest.fixture
def unread(mean_classifier, monkeypatch):
    """Fails the test if a record is read for learning, or anything is released."""

    def refuse(*_):
        raise AssertionError("a record was read before the arguments were checked")

    monkeypatch.setattr(mean_classifier, "_rows", refuse)
    monkeypatch.setattr(mean_classifier, "_learn", refuse)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"with_intercept": True, "random_state": 3}], ids=["plain", "intercept"])
def test_every_check_of_scikit_learn_passes(mean_classifier, options):
    results = check_estimator(mean_classifier(epsilon=1, feature_norm=1, **options), on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)


def test_a_pipeline_gives_what_its_last_step_gives(model, data):
    """The check that scikit-learn leaves out for what is not deterministic."""
    model.set_params(random_state=1)
    pipeline = make_pipeline(FunctionTransformer(), clone(model)).fit(*data)
    assert model.fit(*data).decision_function(data[0]).tolist() == pipeline.decision_function(data[0]).tolist()


def test_the_record_says_what_ran_and_what_is_public(model, data):
    with recording() as log:
        record = model.fit(*data).privacy_
    (charge,) = record.charges
    assert tuple(log) == charge.releases
    assert (True, ()) == (record.secure, record.notes)
    assert record.epsilon == record.recompute().upper == PrivacyRecord.from_dict(record.to_dict()).recompute().upper
    wanted = {"learner": "MeanClassifier", "records": 200, "features": 5, "classes": ["no", "yes"], "feature_norm": "3"}
    assert wanted == {name: record.public[name] for name in wanted}
    assert {"lattice_bits", "intercept", "versions"} == set(record.public) - set(wanted)


def test_classes_from_the_labels_and_seeded_noise_are_noted(mean_classifier, data):
    model = mean_classifier(epsilon=1, feature_norm=1, random_state=np.random.default_rng(1)).fit(*data)
    assert (READ_CLASSES, SEEDED) == model.privacy_.notes
    assert not model.privacy_.secure
    assert "classes" not in model.privacy_.public
    assert ["no", "yes"] == model.classes_.tolist()


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_matrix, np.asfortranarray, list], ids=["csr", "csc", "fortran", "list"]
)
def test_storage_and_order_of_the_records_change_no_bit(model, data, form):
    features, labels = data
    features = np.where(np.abs(features) < 0.7, 0, features)
    model.set_params(random_state=5)
    wanted = model.fit(features, labels)
    order = np.random.default_rng(0).permutation(len(labels))
    again = clone(model).fit(form(features[order]), labels[order])
    assert wanted.sums_.tolist() == again.sums_.tolist()
    assert wanted.decision_function(features).tolist() == again.decision_function(form(features)).tolist()


entries = st.floats() | st.sampled_from([0.0, 1.0, 1e300, 5e-324])
hostile = st.one_of(st.floats(), st.text(max_size=2), st.none(), st.integers(), st.sampled_from(["yes", "no"]))


@settings(max_examples=60)
@given(
    features=arrays.arrays(np.float64, (4, 3), elements=entries),
    labels=st.lists(hostile, min_size=4, max_size=4),
    csr=st.booleans(),
)
def test_no_value_of_a_record_is_refused_or_mentioned(mean_classifier, features, labels, csr):
    read = np.empty(4, dtype=object)
    read[:] = labels
    model = mean_classifier(epsilon=1, feature_norm=1, classes=["yes", "no"])
    stored = sparse.csr_array(features) if csr else features
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(stored, read)
        found = model.predict(stored)
    assert {*found} <= {"yes", "no"}
    assert 4 == model.privacy_.public["records"]


@pytest.mark.parametrize("classes", [["yes", "no"], ["only"]])
def test_a_single_class_among_the_labels_or_in_public_is_learned_too(mean_classifier, data, classes):
    features, _ = data
    model = mean_classifier(epsilon=1, feature_norm=1, classes=classes).fit(features, np.full(200, classes[0]))
    assert {*model.predict(features)} <= {*classes}
    assert len(classes) - 1 == len(model.privacy_.charges)
    assert (len(classes) == 1) == (model.privacy_.epsilon == 0)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"epsilon": 0}, "DPA104"),
        ({"epsilon": "much"}, "DPA101"),
        ({"epsilon": None}, "DPA101"),
        ({"delta": 1}, "DPA103"),
        ({"delta": float("nan")}, "DPA102"),
        ({"feature_norm": -1}, "DPA104"),
        ({"feature_norm": float("inf")}, "DPA102"),
        ({"adjacency": "edge"}, "DPA604"),
        ({"adjacency": "nearby"}, "DPA103"),
        ({"adjacency": 3}, "DPA105"),
        ({"adjacency": "label"}, "DPA604"),
        ({"adjacency": "add_remove"}, "DPA603"),
        ({"adjacency": "add_remove", "n_nominal": 0}, "DPA103"),
        ({"n_nominal": 100}, "DPA603"),
        ({"adjacency": "zero_out", "with_intercept": True}, "DPA604"),
        ({"classes": "yes"}, "DPA105"),
        ({"classes": ["yes", "yes"]}, "DPA103"),
        ({"random_state": -1}, "DPA103"),
        ({"random_state": "lucky"}, "DPA105"),
        ({"random_state": np.random.RandomState(1)}, "DPA105"),
        ({"budget": 3}, "DPA105"),
    ],
)
def test_parameters_are_refused_before_a_record_is_read(model, data, options, code):
    with pytest.raises(DpauditError, match=code):
        model.set_params(**options).fit(*data)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("features", "labels", "code"),
    [
        (np.ones((4, 2)), np.ones(3), "DPA105"),
        (np.ones((4, 2)), None, "DPA105"),
        (np.ones(4), np.ones(4), "DPA105"),
        (np.ones((4, 2), dtype=complex), np.ones(4), "DPA105"),
        (np.array([["a"], ["b"]]), np.ones(2), "DPA105"),
        (np.ones((0, 2)), np.ones(0), "DPA109"),
        (np.ones((2, 0)), np.ones(2), "DPA109"),
    ],
)
def test_types_and_shapes_are_refused_before_a_record_is_read(model, features, labels, code):
    with pytest.raises(InvalidArgument, match=code):
        model.fit(features, labels)


def test_another_number_of_features_is_refused_at_prediction(model, data):
    model.fit(*data)
    for method in (model.predict, model.decision_function):
        with pytest.raises(InvalidArgument, match=r"DPA105 X has 4 features, but MeanClassifier is expecting 5 features as input"):
            method(data[0][:, :4])


@pytest.mark.parametrize("norm", [Fraction(2) ** 600, Fraction(1, 2**600)])
def test_what_the_map_of_records_refuses_is_refused_before_a_budget_is_spent(model, data, norm):
    budget = Budget(GDP(mu=1))
    with pytest.raises(InvalidArgument, match="DPA103"):
        model.set_params(feature_norm=norm, budget=budget).fit(*data)
    assert {"mu squared": 0} == budget.spent


def test_a_refused_fit_leaves_the_model_as_it_was(model, data):
    before = copy.deepcopy(vars(model.fit(*data)))
    with pytest.raises(InvalidArgument):
        model.fit(data[0][:, :2], data[1][:-1])
    model.set_params(epsilon=-1)
    with pytest.raises(InvalidArgument):
        model.fit(data[0][:, :2], data[1])
    assert before["n_features_in_"] == model.n_features_in_
    assert before["sums_"].tolist() == model.sums_.tolist()
    assert before["privacy_"] == model.privacy_


def test_under_add_remove_nothing_depends_on_the_number_of_records(mean_classifier, data):
    features, labels = data
    model = mean_classifier(epsilon=1, feature_norm=1, classes=["yes", "no"], adjacency="add_remove", n_nominal=150)
    first, second = (clone(model).fit(features[:size], labels[:size]) for size in (200, 199))
    assert first.plan_ == second.plan_
    assert first.privacy_ == second.privacy_
    assert 150 == first.privacy_.public["records"]


@pytest.mark.usefixtures("unread")
def test_a_plan_that_costs_more_than_epsilon_is_not_carried_out(mean_classifier, data):
    """The small learner is too cheap for a small delta: its noise is the same for all of them."""
    with pytest.raises(AssertionError, match="more than epsilon"):
        mean_classifier(epsilon=1, delta="1e-9", feature_norm=1).fit(*data)


def test_more_or_less_than_the_plan_is_never_released(mean_classifier, data, monkeypatch):
    real = mean_classifier._learn

    def twice(self, rows, plan, source):
        real(self, rows, plan, source)
        return real(self, rows, plan, source)

    for wrong in (twice, lambda *_: {"sums_": np.zeros(3)}, lambda *args: {**real(*args), "labels_": args[1].labels}):
        monkeypatch.setattr(mean_classifier, "_learn", wrong)
        with pytest.raises(AssertionError, match="something else than it planned"):
            mean_classifier(epsilon=1, feature_norm=1).fit(*data)


def test_a_pickle_holds_no_training_value(mean_classifier):
    """Values are planted that look like nothing else; neither they nor their steps occur in what is kept."""
    planted = np.arange(1, 601).reshape(200, 3) * np.pi
    labels = np.where(planted[:, 0] > 900, 7777, 8888)
    model = mean_classifier(epsilon=1, feature_norm=5000, classes=[7777, 8888], random_state=1)
    model.helper_ = planted  # what a careless learner would leave behind
    model.fit(planted, labels)
    steps = (planted * 4096 / 5000).astype(np.int64)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        buffer = io.BytesIO()
        pickle.dump(model, buffer, protocol=protocol)
        found = [row for row in planted if row.tobytes() in buffer.getvalue() or repr(float(row[0])).encode() in buffer.getvalue()]
        assert [] == found
        assert not any(row.astype(kind).tobytes() in buffer.getvalue() for row in steps for kind in (np.int64, np.int32, float))
    again = pickle.loads(buffer.getvalue())
    public = {"classes_", "n_features_in_", "plan_", "privacy_"}
    assert {*model.get_params(), *public, "sums_"} == set(vars(again))
    assert model.decision_function(planted).tolist() == again.decision_function(planted).tolist()
    assert model.privacy_ == again.privacy_


def test_without_noise_what_depends_on_the_records_is_what_was_released(mean_classifier, data, monkeypatch):
    def without_noise(_, rows, plan, source):
        plan.mechanism.release(np.zeros(10, dtype=np.int64), source)
        return {"sums_": rows.weighted_sum(np.ones((200, 2), dtype=np.int64))}

    monkeypatch.setattr(mean_classifier, "_learn", without_noise)
    features, labels = data
    one, other = (mean_classifier(epsilon=1, feature_norm=1, classes=["yes", "no"]).fit(x, labels) for x in (features, -features))
    differing = [name for name in vars(one) if repr(vars(one)[name]) != repr(vars(other)[name])]
    assert ["sums_"] == differing


def test_parameters_are_never_overwritten(model, data):
    classes = model.classes
    before = dict(model.get_params())
    model.fit(*data)
    assert before == model.get_params()
    assert ["yes", "no"] == classes
    assert (Fraction(3), 3) == (Fraction(model.privacy_.public["feature_norm"]), model.feature_norm)


def test_sample_weights_are_not_taken(model, data):
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(*data, sample_weight=np.ones(200))


def test_relations_without_a_proof_are_named(model, data):
    with pytest.raises(Unsupported, match="proved under replace_one, zero_out, add_remove, got node"):
        model.set_params(adjacency="node").fit(*data)
