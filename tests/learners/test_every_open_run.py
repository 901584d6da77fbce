"""What is asked of every open run alike: refusals before a record is read, private values and questions in place, prices."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners import GaussianProcessRelease, InteractiveKernelPredictor
from learners import estimator as estimator_module
from learners.record import PrivacyRecord


def opened(kind, X, y, **given):  # noqa: N803 - scikit-learn's name
    """A run of one of three kinds that may be read twice."""
    common = {"epsilon": 2, "delta": "1e-3", "feature_norm": 1, "classes": ["no", "yes"], **given}
    if kind == "span":
        return GaussianProcessRelease(**common).open(X, y, values=2)
    return InteractiveKernelPredictor(**common, accounting=kind, updates=2).open(X, y)


every_run = pytest.mark.parametrize("kind", ["blocks", "span", "updates"])
QUESTIONS = [[0.6, 0.8], [np.nan, 1.0], [np.inf, -np.inf], [1e300, -1e300], [5e-324, 0.0], [0.0, 0.0]]


@pytest.fixture
def unread(monkeypatch):
    """Fails the test if the records of a run are read."""

    def refuse(*_):
        raise AssertionError("a record was read before everything public was checked")

    monkeypatch.setattr(estimator_module, "positions", refuse)


@every_run
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "csr"])
def test_private_values_and_questions_never_raise_or_warn(kind, form):
    labels = np.array(["yes", None, "maybe", 3, float("nan"), "no"], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs = [opened(kind, form(np.array(QUESTIONS)), each) for each in (labels, np.full(6, "yes"), np.full(6, "neither"))]
        for run in runs:
            assert all(np.isfinite(float(run.guess(question))) for question in QUESTIONS)
            assert {*run.predict(QUESTIONS)} <= {"no", "yes"}
    assert runs[0].privacy_ == runs[1].privacy_ == runs[2].privacy_


@every_run
def test_questions_that_are_mapped_alike_are_guessed_alike(kind):
    run = opened(kind, [[0.6, 0.8], [-0.6, -0.8]] * 50, ["yes", "no"] * 50)
    run.predict([[0.6, 0.8], [0.8, -0.6]])
    assert run.guess([np.nan, 1.0]) == run.guess([np.inf, 0.0]) == run.guess([0.0, 0.0]) == run.guess([5e-324, 0.0])
    assert run.guess([3.0, 4.0]) == run.guess([0.6, 0.8])
    for wrong in ([0.6], [0.6, 0.8, 0.0]):
        for method in (run.ask, run.guess):
            with pytest.raises(DpauditError, match="DPA105"):
                method(wrong)


@every_run
@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"epsilon": 0}, "DPA104"),
        ({"epsilon": "much"}, "DPA101"),
        ({"epsilon": float("inf")}, "DPA102"),
        ({"delta": 0}, "DPA103"),
        ({"delta": 1}, "DPA103"),
        ({"feature_norm": 0}, "DPA104"),
        ({"feature_norm": Fraction(2) ** 600}, "DPA103"),
        ({"ridge": -1}, "DPA104"),
        ({"classes": ["yes", "yes"]}, "DPA103"),
        ({"classes": ["yes"]}, "DPA109"),
        ({"classes": ["no", "yes", "so"]}, "DPA103"),
        ({"random_state": -1}, "DPA103"),
        ({"budget": 3}, "DPA105"),
        *(({"adjacency": each}, "DPA604") for each in ("add_remove", "zero_out", "label", "node", "edge")),
    ],
)
def test_parameters_are_refused_with_a_code_before_a_record_is_read(kind, given, code):
    with recording() as log, pytest.raises(DpauditError, match=code):
        opened(kind, np.eye(2), ["no", "yes"], **given)
    assert [] == list(log)


@every_run
@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("X", "y", "code"),
    [
        (np.eye(2), ["no"], "DPA105"),
        (np.ones(2), ["no"] * 2, "DPA105"),
        (np.ones((0, 2)), [], "DPA109"),
        (np.eye(2), None, "DPA105"),
    ],
    ids=["labels", "dimensions", "empty", "none"],
)
def test_shapes_are_refused_with_a_code_before_a_record_is_read(kind, X, y, code):  # noqa: N803 - scikit-learn's name
    with recording() as log, pytest.raises(DpauditError, match=code):
        opened(kind, X, y)
    assert [] == list(log)


@every_run
@pytest.mark.parametrize("records", [1, 2, 3])
def test_few_and_equal_and_zero_records_have_a_price_that_recomputes(kind, records):
    for value in (0.0, 0.25):
        run = opened(kind, np.full((records, 2), value), ["yes"] * records, epsilon="5/2", feature_norm="3/2")
        read = PrivacyRecord.from_dict(run.privacy_.to_dict())
        assert run.privacy_.epsilon == read.recompute().upper <= Fraction(5, 2)
        assert (True, records, "3/2") == (run.privacy_.secure, read.public["records"], read.public["feature_norm"])
        assert 2 == run.left
