"""The chains of kernel learners: a minimiser's coordinates, its values at points, runs charged by updates, choices of points."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.chain import Node
from proofs.learning.nodes import by_lemmas, by_tests, claimed

_MINIMUM: Final = "solvers/test_minimum.py::test_"
_PROCESS: Final = "kernels/test_gaussian_process.py::test_"
_RUN: Final = "kernels/test_interactive.py::test_"
_POINTS: Final = "kernels/test_semi_interactive.py::test_"
_SQUARES: Final = "kernels/test_regressors.py::test_"
_ROUNDS: Final = "kernels/test_non_interactive.py::test_"
_SPECTRUM: Final = "kernels/test_spectrum.py::test_"
_EVERY: Final = "test_every_learner.py::test_"
_UPDATES: Final = "test:tests/accounting/test_update_charged.py::test_"

NODES: Final = (
    by_tests(
        "kernels.minimiser",
        "sensitivity",
        "The minimiser over images in the space of a kernel is such a minimiser, in whole numbers, and is never shown itself.",
        (
            f"{_MINIMUM}a_record_moves_the_weights_by_no_more_than_the_sensitivity",
            f"{_MINIMUM}solver_and_rounding_add_a_few_hundredths_to_what_the_exact_minimiser_moves",
            f"{_MINIMUM}an_intercept_inside_the_kernel_does_not_jump",
            f"{_MINIMUM}weights_stand_in_units_that_images_leave_room_for",
        ),
        *("minimisers", "rows.maps"),
        binds=(
            *("solvers/minimum.py:minimise", "kernels/classifier.py:KernelClassifier"),
            *(f"kernels/fitting.py:{name}" for name in ("Space", "KernelPlan", "KernelModel")),
        ),
    ),
    by_tests(
        "kernels.squares",
        "sensitivity",
        "Labels cut to their bound shift residuals, whose pull is cut too: squares have such a minimiser, at the slope of the cut.",
        (
            f"{_SQUARES}a_record_and_its_label_move_the_weights_by_no_more_than_the_sensitivity",
            f"{_SQUARES}a_label_moves_the_weights_by_nearly_all_of_the_sensitivity",
            f"{_SQUARES}wide_residuals_are_those_of_least_squares",
            f"{_SQUARES}wider_residuals_cost_as_much_more_noise",
        ),
        *("kernels.minimiser", "squares"),
        binds=("solvers/minimum.py:minimum", "kernels/regressor.py:KernelRegressor", "kernels/spaces.py:Columns"),
    ),
    by_lemmas(
        "kernels.values",
        "sensitivity",
        "A value moves by a whole number of steps, or by one more than that rounded down; so does its distance to a guess.",
        ("sensitivity.prediction", "sensitivity.floor", "minimisers.values", "minimisers.differences"),
    ),
    by_lemmas(
        "kernels.directions",
        "sensitivity",
        "Directions whose products sum to at most 1 + slack in every row read a vector at no more than the root of that.",
        ("minimisers.products", "minimisers.row_sums"),
    ),
    by_tests(
        "kernels.span",
        "source",
        "Values are read along directions whose products are summed in whole numbers; nothing else is computed from the data.",
        (
            f"{_PROCESS}the_directions_that_are_read_are_orthonormal_within_the_slack",
            f"{_PROCESS}what_would_break_the_slack_is_not_read",
            f"{_PROCESS}nearly_equal_points_are_not_told_apart_without_noise",
            f"{_PROCESS}a_point_that_was_asked_is_not_read_again_and_answers_alike",
            f"{_PROCESS}values_lie_on_the_grid_that_noise_was_drawn_on",
        ),
        *("kernels.directions", "kernels.minimiser", "kernels.runs", "GaussianMechanism.source"),
        binds=("kernels/span.py:SpanTeller", "kernels/span.py:SpanTold", "kernels/span.py:span_told"),
    ),
    by_tests(
        "kernels.runs",
        "source",
        "An open run is paid for when it is opened, answers in one process only, and its tellers alone see the minimiser.",
        (
            f"{_RUN}a_run_is_paid_for_when_it_is_opened_and_nothing_it_is_asked_costs_more",
            f"{_RUN}a_run_stays_where_it_was_opened",
            f"{_RUN}a_budget_is_spent_when_a_run_is_opened_and_refuses_what_it_does_not_cover",
        ),
        *("kernels.minimiser", "fits"),
        binds=("kernels/open_run.py:OpenRun", "kernels/open_run.py:open_run"),
    ),
    by_tests(
        "GaussianProcessRelease.source",
        "source",
        "All coordinates with Gaussian noise, once; or values along new directions with noise that is drawn before they are asked.",
        (
            f"{_PROCESS}one_release_spends_the_budget_and_says_so",
            f"{_PROCESS}any_number_of_points_is_answered_from_as_many_values_as_there_are_features",
        ),
        *("kernels.minimiser", "kernels.span", "GaussianMechanism.source", "rounding"),
        binds=("kernels/gaussian_process.py:GaussianProcessRelease", "kernels/gaussian_process.py:NoisyCoordinates"),
    ),
    claimed(
        "GaussianProcessRelease",
        "(epsilon, delta) for any number of questions, of one Gaussian at the L2 sensitivity.",
        (f"{_PROCESS}one_release_spends_the_budget_and_says_so",),
        *("GaussianProcessRelease.source", "GaussianMechanism.mechanism"),
    ),
    by_tests(
        "KernelRidgeRegressor.source",
        "source",
        "All coordinates of a least-squares minimiser with Gaussian noise, once.",
        (f"{_SQUARES}what_no_line_fits_is_learned_at_a_price_that_is_kept", f"{_SQUARES}what_is_public_is_refused"),
        *("kernels.squares", "GaussianMechanism.source", "rounding"),
        binds=("kernels/kernel_ridge.py:KernelRidgeRegressor", "kernels/gaussian_process.py:NoisyCoordinates"),
    ),
    claimed(
        "KernelRidgeRegressor",
        "(epsilon, delta) for any number of predictions.",
        (f"{_SQUARES}what_no_line_fits_is_learned_at_a_price_that_is_kept",),
        *("KernelRidgeRegressor.source", "GaussianMechanism.mechanism"),
    ),
    by_lemmas(
        "updates.round",
        "mechanism",
        "A round whose updates are discounted is worth at most 1 between both ends of what a record moves, if it is at the ends.",
        ("learners.supermartingale", "learners.convex_ends"),
    ),
    Node(
        "updates.price",
        "composition",
        "The cost of an update at both ends, for every distance to the threshold, and the price of a run are enclosed in balls.",
        "certified",
        (
            f"{_UPDATES}the_cost_of_an_update_is_the_tabulated_one",
            f"{_UPDATES}the_cost_on_the_integers_is_the_greatest_of_all_centres",
            f"{_UPDATES}moving_the_query_by_less_than_the_sensitivity_never_costs_more",
            f"{_UPDATES}no_adaptive_analyst_exceeds_the_moment_of_the_updates",
            f"{_UPDATES}every_transcript_of_an_adaptive_run_is_covered",
        ),
        ("updates.round", "balls"),
        tuple(
            f"dpaudit/accounting/{'builders/pairs' if name == 'update_charged' else 'laws/charged'}.py:{name}"
            for name in ("Round", "UpdateCharged", "cost_of_update", "_greatest_ratio", "_ratio", "update_charged")
        ),
    ),
    by_tests(
        "InteractiveKernelPredictor.source",
        "source",
        "Values are compared with a public guess on a grid of steps, with noise; silence, and updates up to a public number.",
        (
            f"{_RUN}silent_answers_are_what_everyone_can_compute",
            f"{_RUN}a_run_ends_with_exactly_its_updates",
            f"{_RUN}a_run_is_priced_as_one_that_is_charged_by_its_updates",
            f"{_RUN}after_its_end_a_run_guesses_and_reads_nothing",
            f"{_RUN}what_is_public_is_refused_before_anything_is_drawn",
        ),
        *("kernels.values", "kernels.runs", "sampler.laplace", "comparisons.source", "LaplaceMechanism.source"),
        binds=(
            *("kernels/guessing.py:Grid", "kernels/guessing.py:grid_of", "kernels/guessing.py:GuessingTeller"),
            *("kernels/interactive.py:InteractiveKernelPredictor", "kernels/charged_updates.py:UpdateRounds"),
            *("kernels/charged_updates.py:UpdatesTold", "kernels/charged_updates.py:updates_told"),
            *(f"kernels/charged_blocks.py:{name}" for name in ("BlocksTold", "BlockRounds", "blocks_told")),
        ),
    ),
    claimed(
        "InteractiveKernelPredictor",
        "(epsilon, delta) for a whole run, whatever is asked.",
        (f"{_RUN}a_run_is_paid_for_when_it_is_opened_and_nothing_it_is_asked_costs_more",),
        *("InteractiveKernelPredictor.source", "updates.price", "comparisons.mechanism", "LaplaceMechanism.mechanism"),
    ),
    by_tests(
        "kernels.spectrum",
        "sensitivity",
        "No eigenvalue of the public points exceeds the bound, so that all values together move by its root and roundings.",
        (
            f"{_SPECTRUM}no_eigenvalue_exceeds_the_bound",
            f"{_SPECTRUM}equal_and_vanishing_points_have_a_bound",
            f"{_SPECTRUM}where_floats_factor_nothing_the_trace_is_left",
        ),
        "kernels.values",
        binds=("kernels/spectrum.py:largest_eigenvalue", "kernels/spectrum.py:_positive_definite"),
    ),
    by_tests(
        "SemiInteractiveKernelClassifier.source",
        "source",
        "Values at public points on a grid with noise, all together or one by one; weights are fitted to what was released.",
        (
            f"{_POINTS}values_of_weights_within_the_sensitivity_are_within_what_is_declared",
            f"{_POINTS}a_pair_of_data_sets_moves_the_values_by_most_of_what_is_declared",
            f"{_POINTS}the_weights_are_made_of_the_released_values_alone",
            f"{_POINTS}the_noise_of_each_kind_is_the_papers_or_less",
            f"{_SPECTRUM}public_points_lie_on_the_sphere_and_are_those_of_their_seed",
            f"{_SQUARES}a_plan_remembers_nothing_of_private_weights",
        ),
        *("kernels.values", "kernels.spectrum", "kernels.minimiser", "GaussianMechanism.source", "LaplaceMechanism.source"),
        binds=(
            *("kernels/semi_interactive.py:SemiInteractiveKernelClassifier", "kernels/semi_interactive.py:NoisyValues"),
            *("kernels/semi_interactive.py:noisy_values", "kernels/semi_interactive.py:values_told"),
        ),
    ),
    claimed(
        "SemiInteractiveKernelClassifier",
        "(epsilon, delta) for all values together.",
        (f"{_POINTS}what_no_line_separates_is_learned_at_a_price_that_is_kept",),
        *("SemiInteractiveKernelClassifier.source", "GaussianMechanism.mechanism", "LaplaceMechanism.mechanism"),
    ),
    by_tests(
        "SemiInteractiveKernelRegressor.source",
        "source",
        "Values of a least-squares minimiser at public points, as for a classifier; of sparse points as of an array.",
        (
            f"{_SQUARES}sparse_columns_stay_sparse_and_are_learned_from_like_an_array",
            f"{_SQUARES}weights_are_the_best_of_some_ridge_and_no_longer_than_a_minimiser",
        ),
        *("kernels.squares", "SemiInteractiveKernelClassifier.source"),
        binds=("kernels/semi_interactive_regressor.py:SemiInteractiveKernelRegressor",),
    ),
    claimed(
        "SemiInteractiveKernelRegressor",
        "(epsilon, delta) for all values together.",
        (f"{_SQUARES}what_no_line_fits_is_learned_at_a_price_that_is_kept",),
        *("SemiInteractiveKernelRegressor.source", "GaussianMechanism.mechanism", "LaplaceMechanism.mechanism"),
    ),
    by_tests(
        "half_balls",
        "sampler",
        "A point of two half-balls is an angle drawn from its law, a fair sign and a point across, cut to the lattice.",
        (
            f"{_ROUNDS}the_coordinate_along_the_direction_has_its_law",
            f"{_ROUNDS}the_shares_of_a_cell_of_angles_are_the_integrals",
            f"{_ROUNDS}across_the_direction_points_fill_the_ball",
            f"{_ROUNDS}how_much_is_revealed_at_once_has_no_influence_on_the_law",
            f"{_ROUNDS}no_point_leaves_the_ball",
        ),
        *("sampler.lazy", "sampler.vectors", "rounding"),
        binds=("kernels/half_balls.py:draw_from_half_balls", "kernels/half_balls.py:Angle"),
    ),
    by_tests(
        "NonInteractiveKernelClassifier.source",
        "source",
        "Rounds of a choice by the size of differences to a public guess, and of a noisy test; every one of them is charged.",
        (f"{_ROUNDS}choice_and_test_have_the_same_share", f"{_ROUNDS}what_is_public_is_refused"),
        *("kernels.values", "kernels.minimiser", "ExponentialMechanism.source", "LaplaceMechanism.source", "half_balls"),
        binds=(
            *("kernels/non_interactive.py:NonInteractiveKernelClassifier", "kernels/non_interactive.py:Choices"),
            "kernels/non_interactive.py:choices",
        ),
    ),
    claimed(
        "NonInteractiveKernelClassifier",
        "(epsilon, delta) for all rounds together.",
        (f"{_EVERY}the_record_recomputes_to_the_epsilon_that_was_asked_for_at_most",),
        *("NonInteractiveKernelClassifier.source", "ExponentialMechanism.mechanism", "LaplaceMechanism.mechanism"),
    ),
)
"""Learners in the spaces of kernels."""
