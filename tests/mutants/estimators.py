"""Checks of the estimators of the margin paper: plans and maps, choices within their shares, bounds, public frequencies."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.linalg import hadamard

from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError
from learners.estimator import Public
from learners.margins import bounds
from learners.margins.erm import erm_plan
from learners.margins.kernel import KernelMarginClassifier
from learners.margins.mapped import PhasedDescent, mapped_plan
from learners.margins.margin import MarginClassifier
from learners.margins.margin_search import MarginSearch
from learners.margins.neural import NeuralMarginClassifier
from learners.margins.pure_margin import PureMarginClassifier
from learners.margins.rivals import against_rivals
from learners.public_data.private_classifier import PrivateClassifier
from learners.rows.fourier import FastfoodFrequencies
from learners.rows.polynomial import polynomial_map
from learners.rows.rows import Rows
from learners.rows.schema import require_number_columns
from mechanisms.sampling.random import source_from

GIVEN = {"epsilon": 1, "feature_norm": 1, "classes": [0, 1]}
BOTH = {**GIVEN, "delta": "1e-5"}


def public(adjacency="replace_one", *, features=3, classes=2, records=100):
    """Public numbers of a fit."""
    return Public(records, features, classes, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency.of(adjacency))


def rows_of(steps, labels, bound=2**20):
    """Rows of whole steps."""
    return Rows(np.asarray(steps, dtype=np.int32), bound, Fraction(1, bound), np.asarray(labels, dtype=np.int64))


def is_refused(work):
    """Whether some work is refused."""
    try:
        work()
    except DpauditError:
        return True
    return False


def no_records_are_learned_from_under_add_remove():
    model = PrivateClassifier(**BOTH, adjacency="add_remove", n_nominal=10).fit(np.zeros((0, 3)), np.zeros(0))
    assert (2,) == model.predict(np.zeros((2, 3))).shape


def columns_of_text_are_refused_by_type():
    for kind in (np.dtype(object), np.dtype("<U3"), np.dtype("datetime64[D]")):
        table = type("Table", (), {"columns": ["age", "city"], "dtypes": [np.dtype(float), kind]})()
        assert is_refused(lambda table=table: require_number_columns(table))


def labels_of_another_type_are_refused():
    for labels in (np.array(["0", "1"]), np.array([b"0", b"1"])):
        assert is_refused(lambda labels=labels: PrivateClassifier(**BOTH).fit(np.ones((2, 3)), labels))
    text = PrivateClassifier(**{**BOTH, "classes": ["0", "1"]})
    assert is_refused(lambda: text.fit(np.ones((2, 3)), np.array([0, 1])))


def kernels_learn_from_images_of_their_columns():
    for columns, seed in ((None, 0), (5, 1)):
        model = KernelMarginClassifier(**BOTH, frequencies=4, columns=columns, map_seed=seed)
        plan = model._plan(public())
        width = columns or 8
        assert width == plan.public_map.dimension_out
        assert (2, width + 1) == model._rows(np.ones((2, 3)), np.zeros(2, dtype=np.int64), plan).steps.shape


def frequencies_follow_their_seed_and_kind():
    def images(**given):
        model = KernelMarginClassifier(**BOTH, frequencies=4, **given)
        return model._rows(np.full((1, 3), 0.4), np.zeros(1, dtype=np.int64), model._plan(public())).steps.tolist()

    assert images() == images(map_seed=0) != images(map_seed=1)
    assert not isinstance(KernelMarginClassifier(**BOTH)._features(public()).frequencies, FastfoodFrequencies)


def learners_behind_maps_are_planned_for_images():
    made, learner = polynomial_map(dimension_in=3, degree=2, constant=0), PhasedDescent(margin="1/4")
    plan = mapped_plan(made, None, public("add_remove"))
    assert 6 + 1 == plan.inner.gradient.dimension
    for adjacency in ("replace_one", "zero_out"):
        inner = mapped_plan(made, learner, public(adjacency)).inner
        assert (inner.intercept > 0) == (adjacency == "replace_one")
        assert inner.erm.schedule.bound**2 >= 4**inner.lattice_bits + inner.intercept**2
        assert 6 + (inner.intercept > 0) == inner.erm.schedule.columns


def margins_are_learned_with_noise_for_whole_rows():
    for classes in (2, 3):
        model = MarginClassifier(**{**BOTH, "classes": list(range(classes))}, margin="1/4")
        plan = model._plan(public(classes=classes))
        rows = model._rows(np.eye(3), np.arange(3) % classes, plan)
        seen = rows if classes == 2 else against_rivals(rows, classes=classes, seed=0)
        longest = int(np.square(np.asarray(seen.steps).astype(object)).sum(axis=1).max())
        assert longest <= plan.erm.schedule.bound**2
        assert seen.bound <= plan.erm.schedule.bound
    assert MarginClassifier(**BOTH, margin="1/4", faithful=True)._plan(public()).erm.replacement


def images_that_are_learned_are_no_longer_than_planned():
    model = MarginClassifier(**BOTH, margin="1/4", dimension=4)
    plan = model._plan(public(features=60))
    assert 4 == plan.erm.schedule.columns
    assert 1.7 < float(plan.clip) < 2, "three deviations above the norm of a record with its intercept"


def choices_of_margins_stay_within_their_share():
    for score in ("hinge", "errors"):
        model = MarginSearch(PureMarginClassifier(**GIVEN, cover="lattice", margin=1), share="1/4", score_by=score)
        plan = model._plan(public(features=2, records=64))
        spent = sum((charge.loss.epsilon(delta=0).upper for charge in plan.charges), Fraction(0))
        assert 1 == spent
        assert Fraction(1, 4) == plan.charges[0].loss.epsilon(delta=0).upper
    assert {Fraction(1, 64)} == set(plan.mechanism.sensitivities)


def scores_cover_the_longest_rows():
    for intercept in (False, True):
        learner = PureMarginClassifier(**GIVEN, candidates=4, margin=1, intercept=intercept)
        plan = MarginSearch(learner, margins=3)._plan(public(features=2, records=64))
        assert ((0, 1, 2), (1, 2, 3))[intercept] == plan.exponents


def prices_that_follow_the_margin_are_refused():
    plans = [erm_plan(records=20, columns=2, bound=2**16, margin="1/4", epsilon=epsilon, delta="1e-5") for epsilon in (1, 2)]
    plan = MarginSearch(PureMarginClassifier(**GIVEN, candidates=4, margin=1))._plan(public(features=2))
    try:
        type(plan)(plan.mechanism, plan.margins[:2], tuple(plans), plan.records, plan.exponents[:2])
    except DpauditError:
        return
    raise AssertionError("two prices were taken for one")


def networks_of_fewest_errors_are_chosen():
    given = [([[-1, 0], [0, -1]], [1, 1]), ([[1, 0], [0, 1]], [1, 1])]
    model = NeuralMarginClassifier(**{**GIVEN, "epsilon": 10**6}, networks=given, dimension=1)
    plan = model._plan(public(features=2))
    assert plan.image is None
    rows = model._rows(np.full((4, 2), 0.5), np.ones(4, dtype=np.int64), plan)
    for seed in range(3):
        (first, _) = model._learn(rows, plan, source_from(np.random.default_rng(seed)))["network_"]
        assert first[0, 0] > 0


def bounds_are_the_sums_of_their_reasons():
    plan = erm_plan(records=4096, columns=9, bound=2**16, margin=1, epsilon=8, delta="1e-2")
    made, first = plan.schedule, plan.schedule.phases[0]
    slope = float(made.norm) / first.step.margin
    smooth = first.step.limit / (2 * first.step.pull * first.step.margin)
    noises = [(float(phase.release.parameter("sigma")) + 1) * phase.lattice for phase in made.phases]
    steps = [phase.step.limit * phase.step.margin for phase in made.phases]
    starts = [1.0, *(3 * noise for noise in noises)]
    parts = zip(starts, steps, made.phases, strict=False)
    wanted = sum(start**2 / (2 * step * phase.records) + step * slope**2 / 2 for start, step, phase in parts)
    assert math.isclose(wanted + slope * 3 * noises[-1] + smooth, bounds.mean_excess(made), rel_tol=1e-9)
    one, tail = erm_plan(records=2, columns=9, bound=2**16, margin=1, epsilon=8, delta="1e-2").schedule, 2 * math.log(80)
    (phase,), noise = one.phases, (float(one.releases[0].parameter("sigma")) + 1) * one.phases[0].lattice
    step = phase.step.limit * phase.step.margin
    last = slope * noise * (3 + math.sqrt(2 * math.log(320)))
    wanted = 1 / (2 * step) + step * slope**2 / 2 + 2 * slope * math.sqrt(tail) + last
    smooth = phase.step.limit / (2 * phase.step.pull * phase.step.margin)
    assert math.isclose(wanted + smooth, bounds.sure_excess(one, "1/20"), rel_tol=1e-9)


def bounds_share_their_failure_and_say_when_they_say_nothing():
    plan = erm_plan(records=4096, columns=9, bound=2**16, margin=1, epsilon=8, delta="1e-2")
    found = bounds.utility_bound(plan, failure="1/20")
    slope = float(plan.schedule.norm) / plan.schedule.phases[0].step.margin
    assert math.isclose(2 * slope / 64 + 3 * math.sqrt(math.log(240) / 8192), found.deviation, rel_tol=1e-9)
    assert bounds.UtilityBound(0.0, 0.5, 0.5, 0.0, 0.05).vacuous
    assert not bounds.UtilityBound(0.0, 0.5, 0.25, 0.0, 0.05).vacuous


def fast_frequencies_are_products_of_hadamard_matrices():
    made, step = FastfoodFrequencies(3, 12, Fraction(1), 5), Fraction(1, 2**10)
    signs, order, normals, lengths = made._stack(4, step, 1)
    rows = rows_of([[3, -5, 70]], [0], bound=2**10)
    values = np.array([3, -5, 70, 0]) * signs
    middle = (values @ hadamard(4))[order] * normals
    wanted = [int(value) * int(length) % 2**64 for value, length in zip(middle @ hadamard(4), lengths, strict=True)]
    assert wanted == made.phases(step, 2**10)(rows)[0, 4:8].tolist()


def fast_frequencies_differ_from_stack_to_stack_and_have_the_kernels_length():
    made, step = FastfoodFrequencies(64, 2**12, Fraction(1), 0), Fraction(1, 2**16)
    phases = made.phases(step, 2**16)(rows_of(np.eye(1, 64, dtype=int), [0], bound=2**16))[0].astype(np.int64)
    assert len(set(phases.tolist())) > 2**11
    turns = phases / 2.0**64 * math.tau / float(step)
    assert 0.9 < np.square(turns).mean() < 1.1


CHECKS = (
    no_records_are_learned_from_under_add_remove,
    columns_of_text_are_refused_by_type,
    labels_of_another_type_are_refused,
    kernels_learn_from_images_of_their_columns,
    frequencies_follow_their_seed_and_kind,
    learners_behind_maps_are_planned_for_images,
    margins_are_learned_with_noise_for_whole_rows,
    images_that_are_learned_are_no_longer_than_planned,
    choices_of_margins_stay_within_their_share,
    scores_cover_the_longest_rows,
    prices_that_follow_the_margin_are_refused,
    networks_of_fewest_errors_are_chosen,
    bounds_are_the_sums_of_their_reasons,
    bounds_share_their_failure_and_say_when_they_say_nothing,
    fast_frequencies_are_products_of_hadamard_matrices,
    fast_frequencies_differ_from_stack_to_stack_and_have_the_kernels_length,
)
