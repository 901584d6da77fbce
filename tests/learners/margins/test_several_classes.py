"""Several classes at the price of two: one choice, or one pass against rivals; what has no such proof is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners.choices.covers import cap_mass
from learners.margins.bounds import utility_bound
from learners.margins.kernel import KernelMarginClassifier
from learners.margins.label_private import LabelPrivateClassifier
from learners.margins.mapped import PhasedDescent
from learners.margins.margin import MarginClassifier
from learners.margins.margin_search import MarginSearch
from learners.margins.neural import NeuralMarginClassifier
from learners.margins.polynomial_margin import PolynomialMarginClassifier
from learners.margins.pure_margin import PureMarginClassifier
from learners.margins.rivals import against_rivals, rival_bound
from learners.public_data.private_classifier import PrivateClassifier
from learners.rows.rows import Rows

CLASSES = ["a", "b", "c"]
PHASED = PhasedDescent(margin="1/10")
LEARNERS = {
    "sums": (PrivateClassifier, {"delta": "1e-6"}),
    "pure": (PureMarginClassifier, {"candidates": 2000}),
    "pure with intercept": (PureMarginClassifier, {"candidates": 2000, "intercept": True}),
    "networks": (NeuralMarginClassifier, {"candidates": 512}),
    "labels": (LabelPrivateClassifier, {"candidates": 512}),
    "passes": (MarginClassifier, {"delta": "1e-6", "margin": "1/4"}),
    "chosen passes": (MarginClassifier, {"delta": "1e-6", "margin": "1/4", "variant": "permutation", "chosen_by": "hinge"}),
    "fourier": (KernelMarginClassifier, {"delta": "1e-6", "frequencies": 40, "width": 1}),
    "fourier passes": (KernelMarginClassifier, {"delta": "1e-6", "frequencies": 40, "width": 1, "learner": PHASED}),
    "monomials": (PolynomialMarginClassifier, {"delta": "1e-6"}),
    "monomial passes": (PolynomialMarginClassifier, {"delta": "1e-6", "learner": PHASED}),
}
each = pytest.mark.parametrize("name", LEARNERS)


def data(records=2000, seed=0):
    """Records about the first three of four axes, and the axis of each."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 3, records)
    return 0.8 * np.eye(4)[places] + rng.normal(size=(records, 4)) * 0.1, np.array(CLASSES)[places]


def made(name, **given):
    kind, own = LEARNERS[name]
    return kind(**{"epsilon": 4, "feature_norm": 1, "classes": CLASSES, "random_state": 1, **own, **given})


@each
def test_classes_are_told_apart_far_better_than_by_chance(name):
    features, labels = data()
    fitted = made(name).fit(features[:1500], labels[:1500])
    assert 0.8 < fitted.score(features[1500:], labels[1500:])
    assert (500, 3) == fitted.decision_function(features[1500:]).shape


@each
def test_the_price_is_that_of_two_classes_and_recomputes(name):
    features, labels = data(200)
    three = made(name).fit(features, labels).privacy_
    two = made(name, classes=CLASSES[:2]).fit(features, labels).privacy_
    assert three.epsilon == pytest.approx(float(two.epsilon), rel=1e-3)
    assert three.recompute().upper == three.epsilon <= 4
    if three.delta == 0:
        assert two.charges == three.charges


@each
def test_dense_and_sparse_records_give_the_same_scores(name):
    features, labels = data(300)
    features[np.abs(features) < 0.1] = 0
    dense, sparse = made(name).fit(features, labels), made(name).fit(csr_array(features), labels)
    assert dense.decision_function(features).tolist() == sparse.decision_function(csr_array(features)).tolist()


@pytest.mark.parametrize("name", ["pure", "pure with intercept", "passes"])
def test_scores_are_those_of_the_coefficients(name):
    features, labels = data(300)
    features /= 2
    fitted = made(name).fit(features, labels)
    assert ((3, 4), (3,)) == (fitted.coef_.shape, fitted.intercept_.shape)
    linear, found = features @ fitted.coef_.T + fitted.intercept_, fitted.decision_function(features)
    clear = np.sort(linear, axis=1)[:, -1] > np.sort(linear, axis=1)[:, -2] + 1e-3
    assert (linear.argmax(axis=1) == found.argmax(axis=1))[clear].all()
    assert clear.mean() > 0.9


@pytest.mark.parametrize("name", ["pure", "networks"])
def test_a_null_record_is_an_error_of_every_candidate_so_that_zeroing_out_is_cheaper(name):
    features, labels = data(50)
    temperature = {
        kind: made(name, adjacency=kind).fit(features, labels).privacy_.charges[0].releases[0].parameter("temperature")
        for kind in ("replace_one", "zero_out")
    }
    assert temperature["replace_one"] == 2 * temperature["zero_out"]


@pytest.mark.parametrize(
    ("learner", "given"),
    [
        (PureMarginClassifier, {"cover": "arrangement"}),
        (PureMarginClassifier, {"cover": "lattice", "margin": "1/2"}),
        (MarginClassifier, {"delta": "1e-6", "margin": "1/4", "faithful": True}),
        (MarginSearch, {"estimator": MarginClassifier(epsilon=1, delta="1e-6", margin="1/4", feature_norm=1, classes=CLASSES)}),
    ],
    ids=str,
)
def test_what_is_proved_for_two_classes_only_is_refused_before_a_record_is_read(learner, given, monkeypatch):
    monkeypatch.setattr(learner, "_learn", None)
    common = {} if learner is MarginSearch else {"epsilon": 1, "feature_norm": 1, "classes": CLASSES}
    with recording() as log, pytest.raises(DpauditError, match="DPA103"):
        learner(**common, **given).fit(*data(30))
    assert [] == log


def test_excess_is_about_the_differences_of_the_classes():
    """Three classes in four columns: 8 dimensions, in which more directions are needed than in the 4 of two classes, not 12."""
    features, labels = data(2000)
    three, two = (made("pure", candidates=4000, classes=CLASSES[:count]).fit(features, labels) for count in (3, 2))
    assert two.excess(chord=0.3) < math.inf == three.excess(chord=0.3)
    enough = math.log(40) / 4000
    assert cap_mass(dimension=12, chord=0.65) < enough < cap_mass(dimension=8, chord=0.65)
    assert three.excess(chord=0.65) < 0.02


# Rivals.

entries = st.integers(-(2**12), 2**12)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.lists(entries, min_size=2, max_size=2), st.integers(0, 4)), min_size=1, max_size=8),
    st.integers(0, 2**20),
    st.booleans(),
)
def test_a_row_against_its_rival_says_by_how_much_its_class_leads(records, seed, csr):
    steps, labels = np.array([row for row, _ in records], dtype=np.int32), np.array([label for _, label in records])
    rows = Rows(csr_array(steps) if csr else steps, 2**13, Fraction(1, 2**13), labels)
    paired = against_rivals(rows, classes=5, seed=seed)
    weights = np.arange(10).reshape(5, 2) ** 3
    scores, found = steps @ weights.T, paired.margins(weights.ravel()).tolist()
    for row, own, lead, pair in zip(scores, labels, found, paired.steps.toarray(), strict=True):
        assert lead in [row[own] - row[other] for other in range(5) if other != own]
        assert sum(int(entry) ** 2 for entry in pair) <= paired.bound**2
        assert pair.any() == row.any()
    assert [1] * len(records) == paired.labels.tolist()


@pytest.mark.parametrize("bound", [1, 2, 5, 2**20, 2**20 + 7])
def test_a_row_beside_its_negative_is_longer_by_the_root_of_two_rounded_up(bound):
    assert (rival_bound(bound) - 1) ** 2 < 2 * bound**2 <= rival_bound(bound) ** 2


def test_one_record_changes_one_row_and_rivals_are_as_likely():
    steps = np.random.default_rng(0).integers(-99, 99, (6000, 2)).astype(np.int32)
    labels = np.random.default_rng(1).integers(0, 4, 6000)
    other = labels.copy()
    other[77] = (labels[77] + 1) % 4
    first, second = (
        against_rivals(Rows(steps, 2**8, Fraction(1), each), classes=4, seed=9).steps.toarray() for each in (labels, other)
    )
    assert [77] == np.flatnonzero((first != second).any(axis=1)).tolist()
    rivals = np.array([np.flatnonzero((row.reshape(4, 2) == -own).all(axis=1))[0] for row, own in zip(first, steps, strict=True)])
    counts = np.bincount((rivals - labels) % 4, minlength=4)
    assert 0 == counts[0]
    # Each count has mean 2000 and deviation 36.5; 7 deviations, a false alarm below 1e-11.
    assert (np.abs(counts[1:] - 2000) < 256).all()


def test_a_record_far_above_the_bound_moves_no_further_than_one_on_it_whatever_its_class():
    features, labels = data(100)
    features = np.pad(features, ((0, 0), (0, 60)))
    found = []
    for size in (1.0, 4096.0):
        features[0] = 0
        features[0, 7] = size
        found.append(made("passes", dimension=16).fit(features, labels).weights_.tolist())
    assert found[0] == found[1]
    assert (65, 3) == np.shape(found[0])


def test_the_noise_covers_the_longer_rows():
    """What a phase is charged for is twice a step of the longest row, root two times as long as for two classes."""
    schedules = {}
    for count in (2, 3):
        schedules[count] = made("passes", classes=CLASSES[:count]).fit(*data(64)).plan_.erm.schedule
    assert rival_bound(schedules[2].bound) == schedules[3].bound
    assert 3 * schedules[2].columns == schedules[3].columns
    for phase in schedules[3].phases:
        moved = Fraction(phase.release.sensitivity) * Fraction(phase.lattice)
        assert 2 * Fraction(phase.step.limit) * schedules[3].norm <= moved


def test_bounds_count_every_rival():
    plan = made("passes").fit(*data(200)).plan_.erm
    two, three = (utility_bound(plan, classes=classes) for classes in (2, 3))
    assert three.deviation == 2 * two.deviation
    assert three.descent == 2 * two.descent
    projected = utility_bound(plan, dimension_in=1000, classes=3)
    slope = float(plan.schedule.norm) / plan.schedule.phases[0].step.margin
    assert 2 * slope * math.sqrt(2 / (plan.schedule.columns / 3)) == pytest.approx(projected.projection)
