"""Checks of the learners: rows, maps and slopes within their bounds, plans that cost what they say, choices counted one by one."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from unittest.mock import patch

import numpy as np
from scipy import sparse
from scipy.linalg import hadamard

from dpaudit import ApproxDP
from dpaudit.accounting import RandomOrder, compose, gaussian
from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError
from dpaudit.releases import Release
from learners.boosting.forms import Form, row_lengths, sum_slopes
from learners.boosting.plans import BITS, boosting_plan
from learners.boosting.rounds import count_records, one_hot
from learners.budget import Budget
from learners.choices.arcs import arcs_of, border_point
from learners.choices.counts import Listed, errors, totals
from learners.choices.covers import RandomCover
from learners.choices.generalized import GeneralizedExponential
from learners.choices.hinge_minimum import Scale, least_hinge
from learners.choices.levels import Widths, counts_mechanism, trial, weigh
from learners.choices.networks import RandomNetworks, network_errors
from learners.estimator import Public
from learners.margins.erm import erm_plan
from learners.margins.polynomial_margin import PolynomialMarginClassifier
from learners.margins.rivals import against_rivals
from learners.public_data.linear_regression import count_labels, regression_plan
from learners.public_data.private_classifier import PrivateClassifier
from learners.record import Charge, PrivacyRecord
from learners.rows import ingest
from learners.rows.columns import describe_columns
from learners.rows.fourier import fourier_map
from learners.rows.hadamard import hadamard_transform
from learners.rows.labels import positions, read_weights
from learners.rows.polynomial import kernel_norm
from learners.rows.rows import Rows
from learners.rows.signs import sign_map
from learners.rows.sketch import _convolved
from learners.solvers import phased, plans
from learners.solvers.gradient import _descend, solve
from learners.solvers.hinge import HingeStep, hinges
from learners.solvers.label_scale import cut_residuals
from learners.solvers.newton import Axes
from learners.solvers.orders import random_order, random_places
from learners.solvers.plans import default_plan
from learners.solvers.profile import Standard, sum_profile
from learners.solvers.slopes import LOGISTIC, UNIT, _root_above, logistic_slopes, softmax_slopes
from learners.solvers.whitening import whiten
from learners.structure.kmeans import CONSTANT, cluster_sensitivity, sum_clusters
from learners.targets.inside import WatchedPlan
from learners.targets.structure import CENTRES, SIDE_PAIR
from learners.targets.structure import rows_of as structure_rows
from tests.support.sources import TapeSource

HAIR = 1e-9
MOVES = {"replace_one": 2, "add_remove": 1, "zero_out": 1}


def rows_of(steps, labels=None, bound=2**20):
    """Rows of whole steps, of the second class unless their labels are given."""
    steps = np.asarray(steps, dtype=np.int32)
    given = np.ones(len(steps), dtype=np.int64) if labels is None else np.asarray(labels, dtype=np.int64)
    return Rows(steps, bound, Fraction(1, bound), given)


def public(adjacency="replace_one", features=20):
    """Public numbers of a fit."""
    return Public(1000, features, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency.of(adjacency))


def refused(work, kind=DpauditError):
    """Whether some work is refused."""
    try:
        work()
    except kind:
        return True
    return False


def clipped_rows_have_a_width_of_their_own():
    full = np.ones((3, 5))
    with patch.object(ingest, "clip_rows", lambda rows, **_: np.full(rows.shape, rows.shape[1])):
        found = [ingest.to_rows(form, np.zeros(3, dtype=np.int64), feature_norm=1).steps for form in (full, sparse.csr_array(full))]
    assert found[0].tolist() == found[1].toarray().tolist()


def bounds_cover_the_constant():
    for bits, constant in product((1, 4, 12), (1, 2, 5, 512)):
        rows = ingest.to_rows(np.ones((1, 2)), np.array([0]), feature_norm=1, lattice_bits=bits, intercept=constant)
        assert rows.bound**2 >= 4**bits + constant**2 > (rows.bound - 1) ** 2


def margins_lose_no_unit():
    for steps, weights, bound in (
        ([2**26 - 1] * 2, [2**33 + 1, -(2**33)], 2**27),
        ([2**22 - 1] * 16, [2**28 + 2, *[2**28 + 1] * 15], 2**24),
    ):
        wanted = sum(a * b for a, b in zip(steps, weights, strict=True))
        assert [wanted] == rows_of([steps], bound=bound).margins(np.array(weights)).tolist()


class Twice(PrivateClassifier):
    """A learner that makes its releases twice."""

    def _learn(self, rows, plan, source):
        super()._learn(rows, plan, source)
        return super()._learn(rows, plan, source)


def fits_spend_their_budget_and_release_what_was_planned():
    records, labels = np.eye(8, 3), np.arange(8) % 2
    given = {"epsilon": 1, "delta": "1e-5", "feature_norm": 1, "classes": [0, 1]}
    budget = Budget(ApproxDP(epsilon="5/4", delta="1e-5"))
    PrivateClassifier(**given, budget=budget).fit(records, labels)
    assert refused(lambda: PrivateClassifier(**given, budget=budget).fit(records, labels))
    assert refused(lambda: Twice(**given).fit(records, labels), AssertionError)


def foreign_labels_are_the_first_class():
    assert [0, 0, 1] == positions(np.array([7, 3, 5]), np.array([3, 5])).tolist()


def noise(sigma, *, secure=True):
    """A release of twice its sensitivity in noise."""
    parameters = (("lattice", Fraction(1)), ("sigma", Fraction(sigma)))
    return Release("rounded_gaussian", parameters, Fraction(sigma, 2), Adjacency("replace_one"), secure=secure)


def passes_in_one_order_are_priced_together():
    loss = Charge((noise(8), noise(4)), RandomOrder(records=10, batches=(4, 4))).loss
    assert 1 == sum(count for _, count in loss.parts)


def one_seeded_release_marks_a_record():
    charges = [Charge((noise(8), noise(8, secure=False)))]
    assert not PrivacyRecord.of(charges, adjacency="replace_one", delta="1e-5", public={}).secure


def no_slope_is_longer_than_the_unit_and_short_ones_are_residuals():
    margins = np.linspace(-4, 4, 41)
    whole, ones = np.rint(margins * 2**20).astype(np.int64), np.ones(41, dtype=np.int64)
    single = logistic_slopes(whole, ones, 20)
    assert np.abs(UNIT * np.minimum(1, 2 / (1 + np.exp(margins))) - single).max() < UNIT / 100
    assert single.max() == UNIT
    both = softmax_slopes(np.column_stack([0 * whole, whole]), ones, 20)
    assert np.abs(both[:, 1] * math.sqrt(2) - single).max() < 20


def roots_are_rounded_up():
    squares = np.array([square + more for square in (4, 10**6, (2**24 + 1) ** 2) for more in (-1, 0, 1)])
    assert [math.isqrt(square - 1) + 1 for square in squares.tolist()] == _root_above(squares).tolist()


def rows_move_the_triangle_by_its_sensitivity_at_most():
    times = plans.DIAGONAL, plans.OFF_DIAGONAL, plans.DIAGONAL
    rows = [row for row in product(range(-5, 6), repeat=2) if row[0] ** 2 + row[1] ** 2 <= 25]
    released = np.array([(a * a, a * b, b * b) for a, b in rows]) * times
    assert np.square(released).sum(axis=1).max() <= plans.moment_sensitivity(5, 1) ** 2
    assert np.square(released[:, np.newaxis] - released).sum(axis=2).max() <= plans.moment_sensitivity(5, 2) ** 2


def a_profile_moves_by_no_more_than_was_charged():
    for adjacency, weighted in product(("replace_one", "add_remove"), (False, True)):
        plan = default_plan(replace(public(adjacency, 2), weighted=weighted))
        unit, found = 2**plan.lattice_bits, []
        for features, label, weight in (((unit, 0), 1, 4096), ((0, unit) if adjacency == "replace_one" else (0, 0), 0, 0)):
            rows = rows_of([[*features, plan.intercept]], labels=[label], bound=plan.bound)
            rows = replace(rows, weights=np.array([weight])) if weighted else rows
            found.append(sum_profile(rows, plan.lattice_bits, weighted=weighted))
        moved = sum(int(each) ** 2 for each in found[0] - found[1])
        assert moved <= plan.profile.sensitivity**2 <= 1.7 * moved


def weights_of_records_are_cut():
    assert [4096, 0, 2048] == read_weights([9, -9, 1], Fraction(2), 3).tolist()


def sums_of_clusters_move_by_no_more_than_was_charged():
    for moves, pair in ((2, (SIDE_PAIR[0], SIDE_PAIR[1])), (1, (SIDE_PAIR[0], SIDE_PAIR[0][1:]))):
        moved = np.subtract(*(sum_clusters(structure_rows(each, CONSTANT), CENTRES) for each in pair))
        square = sum(int(each) ** 2 for each in moved.ravel())
        assert square <= cluster_sensitivity(moves) ** 2 <= 1.01 * square


def only_rows_within_the_bound_pull():
    plan, seen = default_plan(public(features=2)), []
    rows = rows_of([[2**plan.lattice_bits, 0, plan.intercept]], labels=[1], bound=plan.bound)
    standard = replace(Standard.unread(2), factors=np.full(2, 8.0))
    white = whiten(standard, rows, Axes(np.ones(3), np.eye(3), 1.0), plan)
    _descend(white.short, WatchedPlan(plan, seen, noisy=False), None, LOGISTIC, lambda slope, _: 0 * slope, far=white.far)
    assert len(seen) == plan.steps
    for value, _ in seen:
        assert sum(int(each) ** 2 for each in value) <= (UNIT * plan.bound) ** 2
    assert 4 * plan.bound < max(abs(white.far.steps[0]))


def rows_that_no_plan_is_for_are_refused():
    plan = default_plan(public(features=2))
    assert refused(lambda: solve(rows_of(np.eye(2, 3), bound=plan.bound + 1), plan))


def plans_are_worth_what_they_are_charged():
    for adjacency, features in product(MOVES, (3, 5000)):
        plan = default_plan(public(adjacency, features))
        assert plan.bound**2 >= 4**plan.lattice_bits + plan.intercept**2
        assert MOVES[adjacency] * UNIT * plan.bound == plan.gradient.sensitivity
        spent = sum((release.sensitivity / release.parameter("sigma")) ** 2 for release in plan.charges[0].releases)
        sigma = Fraction(1 / math.sqrt(spent)).limit_denominator(10**9)
        delta = gaussian(sigma=sigma, adjacency=adjacency).delta(epsilon=1).upper
        assert math.isclose(1e-5, delta, rel_tol=1e-3)


def counts_move_by_no_more_than_was_charged():
    for adjacency, others in (("replace_one", [[1, 1]]), ("add_remove", np.zeros((0, 2)))):
        plan = boosting_plan(public(adjacency, 2), describe_columns((-1, 1), 2), 3, 2, regression=False)
        found = []
        for bins in ([[0, 0]], others):
            labels = np.full(len(bins), int(np.sum(bins) > 0))
            rows = one_hot(np.array(bins, dtype=np.int64), plan.sizes, labels)
            found.append(count_records(rows, labels, plan))
        assert plan.counts.sensitivity == math.isqrt(int(np.square(found[0] - found[1]).sum()) - 1) + 1


def rows_of_slopes_are_within_their_bound():
    forms = [Form.of_range(np.array([50.0, 30, 20, 5]), 2), Form.of_categories(np.array([2.0, 3, 4, 1]))]
    for record in product(range(4), range(4)):
        rows = one_hot(np.array([record]), (4, 4), np.array([0]))
        moved = sum_slopes(rows, forms, row_lengths(rows, forms, 4096), np.array([UNIT]))
        assert sum(int(each) ** 2 for each in moved.ravel()) <= (UNIT << BITS) ** 2


def residuals_are_cut():
    slopes = cut_residuals(100)(np.zeros(3, dtype=np.int64), np.array([4096, -4096, 50]), 16)
    assert [UNIT, -UNIT, UNIT // 2] == slopes.tolist()


def counts_of_labels_move_by_no_more_than_was_charged():
    for adjacency, other in (("replace_one", [-5]), ("add_remove", [])):
        moved = count_labels(np.array([4000])) - count_labels(np.array(other, dtype=np.int64))
        sensitivity = regression_plan(public(adjacency, 2)).labels.sensitivity
        assert sensitivity == math.isqrt(int(np.square(moved).sum()) - 1) + 1


def signs_are_summed_over_the_root_of_the_columns():
    made, steps = sign_map(dimension_in=10, dimension_out=4, seed=2), np.arange(-50, 50).reshape(10, 10)
    signs = np.rint(2 * made.transpose(np.eye(4)).T).astype(np.int64)
    rows = Rows(steps.astype(np.int32), 2**10, Fraction(1), np.zeros(10, dtype=np.int64))
    assert np.trunc(steps @ signs.T / 2).astype(int).tolist() == made.apply(rows, clip=2**26, lattice_bits=26).steps.tolist()


def butterflies_are_the_hadamard_matrix():
    values = np.arange(24).reshape(3, 8)
    assert (values @ hadamard(8)).tolist() == hadamard_transform(values.copy()).tolist()


def cosines_and_sines_are_those_of_a_phase_and_never_too_long():
    def kernel(columns, count, _):
        return np.full((columns, count), 1.0)

    made = fourier_map(dimension_in=1, frequencies=1, kernel=kernel, seed=0)
    part = math.pi / 2**14
    zero = made.apply(rows_of([[0]]), lattice_bits=26).steps.tolist()
    assert [[math.floor(2**26 * math.cos(part)), math.floor(2**26 * math.sin(part))]] == zero
    angles = np.arange(0, 2**20, 2**10)[:, np.newaxis]
    for bits in (1, 5, 12):
        images = made.apply(rows_of(angles), lattice_bits=bits)
        assert np.square(images.steps.astype(np.int64)).sum(axis=1).max() <= 4**bits


def constants_are_part_of_the_norm_of_a_kernel():
    assert 8 <= kernel_norm(Fraction(1), 3, Fraction(1)) ** 2 < 9


def convolutions_go_round():
    assert [31, 31, 28] == _convolved(([1, 2, 3], [4, 5, 6])).tolist()


def a_constant_is_refused_where_null_records_are_zero():
    def plan(constant):
        model = PolynomialMarginClassifier(epsilon=1, delta="1e-5", feature_norm=1, constant=constant)
        return model._plan(public("zero_out", features=3))

    assert refused(lambda: plan(1))
    assert 0 == plan(0).public_map.constant


def schedule(count=10**6, columns=64, adjacency="replace_one", **given):
    """A plan of phases."""
    usual = {"bound": 2**16, "margin": "1/4", "noise_multiplier": 4}
    return phased.schedule(records=count, columns=columns, adjacency=adjacency, **(usual | given))


def phases_cover_steps_drift_and_lattice():
    for adjacency in ("replace_one", "zero_out"):
        plan = schedule(adjacency=adjacency)
        drift = Fraction(4 * 64 + 16, 2**53) * (1 + Fraction(plan.phases[0].step.limit) * plan.norm)
        for phase in plan.phases:
            moved = MOVES[adjacency] * Fraction(phase.step.limit) * plan.norm + 2 * phase.records * drift
            needed = moved / Fraction(phase.lattice) + 8 * phase.records
            assert needed <= phase.release.sensitivity < needed + 1


def phases_take_disjoint_records():
    rows, seen, order = rows_of(np.ones((20, 2)), bound=2**16), [], np.arange(20)[::-1]
    with patch.object(phased, "_signed", lambda _, places, __: seen.extend(places.tolist()) or iter(())):
        list(phased.noisy_means(rows, schedule(20, 2), order))
    assert order[: len(seen)].tolist() == seen


def means_are_rounded_to_the_nearest_point():
    rows, plan = rows_of(np.random.default_rng(1).integers(-(2**14), 2**14, (64, 3)), bound=2**16), schedule(64, 3)
    mean = phased.mean_of_iterates(rows.steps[:32] * plan.unit, np.zeros(3), plan.phases[0].step)
    found = phased.rounded_mean(rows, plan, plan.phases[0], np.arange(32), np.zeros(3))
    assert np.rint(mean / plan.phases[0].lattice).tolist() == found.tolist()


def released_weights_are_in_the_ball():
    for weights in np.random.default_rng(2).normal(size=(20, 40)):
        assert sum(int(weight) ** 2 for weight in phased.on_ball(weights)) <= 4**phased.WEIGHT_BITS


class Words:
    """A bit source of given words."""

    secure = False

    def __init__(self, *words):
        self.words = list(words)

    def uniform(self, _, size):
        taken, self.words = self.words[:size], self.words[size:]
        return np.array(taken, dtype=np.uint64)

    def bits(self, count):
        raise AssertionError(count)


def words_that_will_not_do_are_drawn_again():
    assert [2, 0, 1] == random_order(3, Words(7, 1, 7, 5, 9, 2)).tolist()
    assert [4, 3, 0] == random_places(3, 5, Words(4, 5, 0, 7, 3)).tolist()


def steps_that_bring_iterates_apart_are_refused():
    HingeStep(0.5, 2.0, 0.25).require_contraction(Fraction(1))
    assert refused(lambda: HingeStep(0.5, 2.0 + 2.0**-40, 0.25).require_contraction(Fraction(1)))


def hinge_scores_change_by_what_is_stated():
    loss, change = hinges(margin=4, bits=3, largest=40)
    assert change == np.ptp(loss(np.arange(-43, 44)))


def every_pass_counts_where_the_order_is_known():
    plan = erm_plan(records=100, columns=4, bound=2**16, margin="1/4", epsilon=1, delta="1e-5", variant="permutation")
    release = plan.schedule.releases[0]
    assert 4 == plan.rounds
    passes = gaussian(sigma=release.parameter("sigma") / 2, sensitivity=release.sensitivity, adjacency="replace_one")
    wanted = compose(passes, plan.choice.loss).epsilon(delta="1e-5").upper
    assert math.isclose(wanted, plan.known_order("1e-5"), rel_tol=1e-4)


def errors_are_signed_margins_that_are_not_positive():
    rows = rows_of([[1, 0], [0, 1], [-2, 1]], [1, 1, 0])
    assert [1, 3, 2] == totals(rows, Listed(np.array([[1, -1, 0], [0, 0, 1]])), errors()).tolist()


def a_class_has_to_lead_the_best_other():
    rows = rows_of([[1, 0], [0, 1], [-2, 1]], [0, 1, 2])
    cover = Listed(np.array([[1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 1, -1, 1]]).T)
    assert [1, 2, 2] == totals(rows, cover, errors()).tolist()


def rivals_are_other_classes_and_rows_no_longer_than_stated():
    rows = rows_of([[3, 4]] * 40, [0, 1, 2, 3] * 10, bound=5)
    paired = against_rivals(rows, classes=4, seed=1)
    assert {50} == set(np.square(paired.steps.toarray()).sum(axis=1).tolist())
    assert 50 <= paired.bound**2


def candidates_are_those_that_were_counted():
    cover = RandomCover(dimension=2**12, size=9, seed=1)
    counted = np.concatenate(list(cover.blocks()), axis=1)
    assert counted[:, 5].tolist() == cover.candidate(5).tolist()


def levels_are_weighed_by_their_candidates():
    levels = weigh([3], Fraction(2), precision=2)
    assert (12,) == levels.sums
    assert trial(levels, TapeSource(60, 6), Widths(spare=2)) is None
    assert (0, 2) == trial(levels, TapeSource(59 << 64, 6 + 64), Widths(spare=2))


def counts_move_together_for_null_records_only():
    assert [2, 1, 2] == [counts_mechanism(epsilon=1, adjacency=kind).temperature for kind in ("replace_one", "zero_out", "label")]


def arcs_count_what_their_points_count():
    for signed in (np.array([(3, 1), (-2, 5), (1, -4)]), np.array([(0, 0), (1, 1)]), np.array([(0, 2), (-5, 3)])):
        arcs = arcs_of(rows_of(signed), 6)
        wanted = [int((signed @ border_point(index, 6) <= 0).sum()) for index in range(48)]
        assert wanted == np.repeat(arcs.counts, arcs.lengths).tolist()
        assert [wanted.count(number) for number in range(max(wanted) + 1)] == arcs.multiplicities().tolist()


def what_a_choice_minimises_moves_by_one_at_most():
    near, far = Fraction(1, 128), Fraction(1, 2500)
    for sensitivity, grid, first, second in (
        (1, 0, (0, 10), (1, 9)),
        ("1/1000", "1/64", (near - far, 3 * near + far), (near + far, 3 * near - far)),
    ):
        mechanism = GeneralizedExponential(sensitivities=[sensitivity] * 2, epsilon=1, grid=grid)
        before, after = mechanism.normalised(first), mechanism.normalised(second)
        assert 0.8 < max(abs(one - other) for one, other in zip(before, after, strict=True)) <= 1


def the_least_hinge_loss_is_found():
    rows = rows_of([[4096], [-4096]], [1, 0], bound=4096)
    assert 0 <= least_hinge(rows, Scale(records=2, exponent=0)) < Fraction(1, 10)


def a_score_of_zero_is_an_error():
    for label in (0, 1):
        assert [1] * 8 == network_errors(rows_of([[0, 0, 0]], [label], bound=4096), RandomNetworks(3, 4, 3, 8, 0)).tolist()


CHECKS = (
    a_profile_moves_by_no_more_than_was_charged,
    weights_of_records_are_cut,
    sums_of_clusters_move_by_no_more_than_was_charged,
    clipped_rows_have_a_width_of_their_own,
    bounds_cover_the_constant,
    margins_lose_no_unit,
    fits_spend_their_budget_and_release_what_was_planned,
    foreign_labels_are_the_first_class,
    passes_in_one_order_are_priced_together,
    one_seeded_release_marks_a_record,
    no_slope_is_longer_than_the_unit_and_short_ones_are_residuals,
    roots_are_rounded_up,
    rows_move_the_triangle_by_its_sensitivity_at_most,
    only_rows_within_the_bound_pull,
    rows_that_no_plan_is_for_are_refused,
    plans_are_worth_what_they_are_charged,
    counts_move_by_no_more_than_was_charged,
    rows_of_slopes_are_within_their_bound,
    residuals_are_cut,
    counts_of_labels_move_by_no_more_than_was_charged,
    signs_are_summed_over_the_root_of_the_columns,
    butterflies_are_the_hadamard_matrix,
    cosines_and_sines_are_those_of_a_phase_and_never_too_long,
    constants_are_part_of_the_norm_of_a_kernel,
    convolutions_go_round,
    a_constant_is_refused_where_null_records_are_zero,
    phases_cover_steps_drift_and_lattice,
    phases_take_disjoint_records,
    means_are_rounded_to_the_nearest_point,
    released_weights_are_in_the_ball,
    words_that_will_not_do_are_drawn_again,
    steps_that_bring_iterates_apart_are_refused,
    hinge_scores_change_by_what_is_stated,
    every_pass_counts_where_the_order_is_known,
    errors_are_signed_margins_that_are_not_positive,
    a_class_has_to_lead_the_best_other,
    rivals_are_other_classes_and_rows_no_longer_than_stated,
    candidates_are_those_that_were_counted,
    levels_are_weighed_by_their_candidates,
    counts_move_together_for_null_records_only,
    arcs_count_what_their_points_count,
    what_a_choice_minimises_moves_by_one_at_most,
    the_least_hinge_loss_is_found,
    a_score_of_zero_is_an_error,
)
