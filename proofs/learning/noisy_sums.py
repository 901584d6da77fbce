"""The chain of learners made of noisy sums: slopes, gradients and second moments, up to the claim of `PrivateClassifier`."""

from __future__ import annotations

from typing import Final

from proofs.nodes import TESTS, code, fitted_claim, lemmas, sensitivity, source

_SLOPES: Final = "test:tests/learners/solvers/test_slopes.py::test_"
_PLANS: Final = "test:tests/learners/solvers/test_plans.py::test_"
_SOLVING: Final = "test:tests/learners/solvers/test_solving.py::test_"
_PROFILE: Final = "test:tests/learners/solvers/test_profile.py::test_"
_AUDITS: Final = "test:tests/learners/audits/test_linear.py::test_"

NODES: Final = (
    sensitivity(
        "slopes.cut",
        "An entry of a table with a sign is at most the unit; a residual over its length, rounded up, times the unit is no longer.",
        *lemmas("sums.logistic", "sums.rounded_root", "sums.cut_step", "sums.cut"),
    ),
    sensitivity(
        "slopes.tables",
        "Every entry of the tables that ship lies between 0 and the unit, and residuals have lengths that floats hold.",
        "run:proofs.learning.tables:prove_slopes",
    ),
    sensitivity(
        "slopes",
        "A record's slope is no longer than the unit, and a function of its own margins and label.",
        f"{_SLOPES}no_logistic_slope_is_larger_than_the_unit_and_it_points_to_the_label",
        f"{_SLOPES}no_softmax_slope_is_longer_than_the_unit",
        f"{_SLOPES}roots_are_rounded_up_exactly",
        f"{_SLOPES}the_slope_of_a_record_does_not_depend_on_the_others",
        f"{_SLOPES}weights_of_classes_lengthen_no_slope",
        f"{TESTS}test_weights.py::test_weights_of_records_lengthen_no_slope",
        needs=("slopes.cut", "slopes.tables", "rows.sums"),
        binds=code(
            "learners/solvers/slopes.py", "logistic_slopes", "softmax_slopes", "_root_above", "weigh_classes", "weigh_records"
        ),
    ),
    sensitivity(
        "gradients.moves",
        "A sum of slopes times rows moves by 2 U B if a record is replaced, by U B if one comes, goes or becomes zero.",
        *lemmas("sums.outer_step", "sums.contribution", "sums.lengths_step", "sums.replaced"),
    ),
    sensitivity(
        "gradients",
        "The planned sensitivity of a gradient is that, for rows with their constant; weights are on a lattice, alike for both.",
        f"{_PLANS}the_sensitivity_of_a_gradient_is_its_largest_slope_times_the_longest_row",
        f"{_SOLVING}the_worst_pairs_of_records_move_a_gradient_by_nearly_its_sensitivity_and_never_more",
        f"{_SOLVING}longer_rows_than_planned_are_refused_before_anything_is_drawn",
        f"{_SOLVING}weights_meet_records_on_a_lattice_and_within_a_ball",
        f"{_AUDITS}one_record_moves_a_gradient_by_no_more_than_its_sensitivity",
        needs=("slopes", "gradients.moves", "rows.norms"),
        binds=(*code("learners/solvers/gradient.py", "_descend", "on_lattice"), *code("learners/solvers/plans.py", "SolverPlan")),
    ),
    sensitivity(
        "moments.moves",
        "The triangle of a second moment with factors 5 and 7 moves by 5 sqrt(2) B^2 if a record is replaced, else by 5 B^2.",
        *lemmas(
            *("sums.outer_row", "sums.outer_all", "learners.outer_products", "sums.moment_removed", "sums.triangle_step"),
            *("sums.moment", "sums.root_above"),
        ),
    ),
    sensitivity(
        "moments",
        "The planned sensitivity of the second moment is that, rounded up.",
        f"{_PLANS}the_sensitivity_of_the_triangle_is_the_least_whole_number_that_is_enough",
        f"{_PLANS}no_pair_of_rows_moves_the_triangle_by_more_than_its_sensitivity",
        f"{_AUDITS}one_record_moves_the_second_moment_by_no_more_than_its_sensitivity",
        needs=("moments.moves", "rows.sums"),
        binds=(
            *code("learners/solvers/plans.py", "moment_sensitivity"),
            *code("learners/solvers/quasi_newton.py", "preconditioner"),
            *code("mechanisms/roots.py", "whole_root_above"),
        ),
    ),
    sensitivity(
        "profile",
        "The profile of rows and labels moves by its planned sensitivity at most; standard and whitened rows keep their bound.",
        f"{_PROFILE}one_record_moves_the_profile_by_no_more_than_its_sensitivity",
        f"{_PROFILE}no_standard_row_is_longer_than_its_bound_whatever_was_released",
        f"{_PROFILE}a_standard_row_depends_on_its_record_alone",
        "test:tests/learners/solvers/test_whitening.py::test_no_row_is_longer_than_its_bound_whatever_was_released",
        "test:tests/learners/solvers/test_whitening.py::test_a_row_depends_on_its_record_alone",
        f"{TESTS}test_weights.py::test_weights_of_records_are_read_one_by_one_and_cut",
        needs=("rows.sums", "rows.norms"),
        binds=(
            *code("learners/solvers/plans.py", "profile_sensitivity"),
            *code("learners/solvers/profile.py", "sum_profile", "Standard"),
            *code("learners/solvers/whitening.py", "whiten", "Whitened"),
            *code("learners/rows/labels.py", "read_weights"),
        ),
    ),
    source(
        "descent",
        "A fit is at most two profiles, a second moment and the planned gradients, with rounded Gaussian noise; the rest follows.",
        f"{_SOLVING}exactly_what_was_planned_is_released",
        f"{_SOLVING}the_first_gradient_is_the_sum_of_the_rows_by_their_class",
        f"{_SOLVING}order_and_storage_of_the_records_change_no_bit",
        "test:tests/learners/solvers/test_newton.py::test_the_step_depends_on_what_was_released_alone",
        "test:tests/learners/solvers/test_pooling.py::test_steps_depend_on_what_was_released_alone",
        f"{_PLANS}the_releases_together_cost_at_most_the_budget_and_not_much_less",
        f"{_AUDITS}a_watched_fit_is_the_fit",
        needs=("GaussianMechanism.source", "gradients", "moments", "profile", "rounding"),
        binds=(
            *code("learners/solvers/gradient.py", "solve", "_descend_standard", "_descend_whitened"),
            *code("learners/solvers/newton.py", "newton_steps", "NormalModel"),
            *code("learners/solvers/pooling.py", "pooled_steps", "Pool"),
            *code("learners/solvers/plans.py", "default_plan", "gaussian_release", "mechanism_of"),
        ),
    ),
    source(
        "PrivateClassifier.source",
        "The estimator is such a fit, of records or of what public directions show of them, and has no other access to records.",
        f"{TESTS}test_private.py::test_dense_and_sparse_fits_and_scores_agree_in_every_bit",
        f"{TESTS}test_private.py::test_private_values_never_raise_warn_or_drop_a_record",
        f"{TESTS}test_private.py::test_parameters_are_refused_before_a_record_is_read",
        f"{TESTS}rows/test_ranges.py::test_each_entry_is_scaled_by_itself_into_the_unit_range",
        needs=("descent", "subspaces.rule"),
        binds=(
            *code("learners/public_data/private_classifier.py", "PrivateClassifier"),
            *code("learners/rows/ranges.py", "Ranges", "read_ranges"),
            *code("learners/rows/labels.py", "class_weights"),
        ),
    ),
    fitted_claim(
        "PrivateClassifier",
        "(epsilon, delta), the composition of the planned Gaussian releases.",
        needs=("GaussianMechanism.mechanism",),
    ),
)
"""Learners of noisy sums."""
