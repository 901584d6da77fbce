"""The chains of kernel learners: a minimiser's coordinates, its values at points, runs charged by updates, choices of points."""

from __future__ import annotations

from typing import Final

from proofs.nodes import code, composition, fitted_claim, learner_claim, lemmas, mechanism, sampler, sensitivity, source

_MINIMUM: Final = "test:tests/learners/solvers/test_minimum.py::test_"
_PROCESS: Final = "test:tests/learners/kernels/test_gaussian_process.py::test_"
_RUN: Final = "test:tests/learners/kernels/test_interactive.py::test_"
_POINTS: Final = "test:tests/learners/kernels/test_semi_interactive.py::test_"
_SQUARES: Final = "test:tests/learners/kernels/test_regressors.py::test_"
_ROUNDS: Final = "test:tests/learners/kernels/test_non_interactive.py::test_"
_SPECTRUM: Final = "test:tests/learners/kernels/test_spectrum.py::test_"
_EVERY: Final = "test:tests/learners/test_every_learner.py::test_"
_UPDATES: Final = "test:tests/accounting/test_update_charged.py::test_"

NODES: Final = (
    sensitivity(
        "kernels.minimiser",
        "The minimiser over images in the space of a kernel is such a minimiser, in whole numbers, and is never shown itself.",
        f"{_MINIMUM}a_record_moves_the_weights_by_no_more_than_the_sensitivity",
        f"{_MINIMUM}solver_and_rounding_add_a_few_hundredths_to_what_the_exact_minimiser_moves",
        f"{_MINIMUM}an_intercept_inside_the_kernel_does_not_jump",
        f"{_MINIMUM}weights_stand_in_units_that_images_leave_room_for",
        needs=("minimisers", "rows.maps"),
        binds=(
            *code("learners/solvers/minimum.py", "minimise"),
            *code("learners/kernels/fitting.py", "Space", "KernelPlan", "KernelModel", "KernelClassifier"),
        ),
    ),
    sensitivity(
        "kernels.squares",
        "Labels cut to their bound shift residuals, whose pull is cut too: squares have such a minimiser, at the slope of the cut.",
        f"{_SQUARES}a_record_and_its_label_move_the_weights_by_no_more_than_the_sensitivity",
        f"{_SQUARES}a_label_moves_the_weights_by_nearly_all_of_the_sensitivity",
        f"{_SQUARES}wide_residuals_are_those_of_least_squares",
        f"{_SQUARES}wider_residuals_cost_as_much_more_noise",
        needs=("kernels.minimiser", "squares"),
        binds=(
            *code("learners/solvers/minimum.py", "minimum"),
            *code("learners/kernels/fitting.py", "KernelRegressor"),
            *code("learners/kernels/spaces.py", "Columns"),
        ),
    ),
    sensitivity(
        "kernels.values",
        "A value moves by a whole number of steps, or by one more than that rounded down; so does its distance to a guess.",
        *lemmas("sensitivity.prediction", "sensitivity.floor", "minimisers.values", "minimisers.differences"),
    ),
    sensitivity(
        "kernels.directions",
        "Directions whose products sum to at most 1 + slack in every row read a vector at no more than the root of that.",
        *lemmas("minimisers.products", "minimisers.row_sums"),
    ),
    source(
        "kernels.span",
        "Values are read along directions whose products are summed in whole numbers; nothing else is computed from the data.",
        f"{_PROCESS}the_directions_that_are_read_are_orthonormal_within_the_slack",
        f"{_PROCESS}what_would_break_the_slack_is_not_read",
        f"{_PROCESS}nearly_equal_points_are_not_told_apart_without_noise",
        f"{_PROCESS}a_point_that_was_asked_is_not_read_again_and_answers_alike",
        f"{_PROCESS}values_lie_on_the_grid_that_noise_was_drawn_on",
        needs=("kernels.directions", "kernels.minimiser", "kernels.runs", "GaussianMechanism.source"),
        binds=code("learners/kernels/span.py", "SpanTeller", "SpanTold", "span_release_plan"),
    ),
    source(
        "kernels.runs",
        "An open run is paid for when it is opened, answers in one process only, and its tellers alone see the minimiser.",
        f"{_RUN}a_run_is_paid_for_when_it_is_opened_and_nothing_it_is_asked_costs_more",
        f"{_RUN}a_run_stays_where_it_was_opened",
        f"{_RUN}a_budget_is_spent_when_a_run_is_opened_and_refuses_what_it_does_not_cover",
        needs=("kernels.minimiser", "fits"),
        binds=code("learners/kernels/open_run.py", "OpenRun", "open_run"),
    ),
    source(
        "GaussianProcessRelease.source",
        "All coordinates with Gaussian noise, once; or values along new directions with noise that is drawn before they are asked.",
        f"{_PROCESS}one_release_spends_the_budget_and_says_so",
        f"{_PROCESS}any_number_of_points_is_answered_from_as_many_values_as_there_are_features",
        needs=("kernels.minimiser", "kernels.span", "GaussianMechanism.source", "rounding"),
        binds=code("learners/kernels/gaussian_process.py", "GaussianProcessRelease", "NoisyCoordinates"),
    ),
    fitted_claim(
        "GaussianProcessRelease",
        "(epsilon, delta) for any number of questions, of one Gaussian at the L2 sensitivity.",
        needs=("GaussianMechanism.mechanism",),
    ),
    source(
        "KernelRidgeRegressor.source",
        "All coordinates of a least-squares minimiser with Gaussian noise, once.",
        f"{_SQUARES}what_no_line_fits_is_learned_at_a_price_that_is_kept",
        f"{_SQUARES}what_is_public_is_refused",
        needs=("kernels.squares", "GaussianMechanism.source", "rounding"),
        binds=code("learners/kernels/gaussian_process.py", "KernelRidgeRegressor", "NoisyCoordinates"),
    ),
    fitted_claim(
        "KernelRidgeRegressor",
        "(epsilon, delta) for any number of predictions.",
        needs=("GaussianMechanism.mechanism",),
    ),
    mechanism(
        "updates.round",
        "A round whose updates are discounted is worth at most 1 between both ends of what a record moves, if it is at the ends.",
        *lemmas("learners.supermartingale", "learners.convex_ends"),
    ),
    composition(
        "updates.price",
        "The cost of an update at both ends, for every distance to the threshold, and the price of a run are enclosed in balls.",
        f"{_UPDATES}the_cost_of_an_update_is_the_tabulated_one",
        f"{_UPDATES}the_cost_on_the_integers_is_the_greatest_of_all_centres",
        f"{_UPDATES}moving_the_query_by_less_than_the_sensitivity_never_costs_more",
        f"{_UPDATES}no_adaptive_analyst_exceeds_the_moment_of_the_updates",
        f"{_UPDATES}every_transcript_of_an_adaptive_run_is_covered",
        needs=("updates.round", "balls"),
        binds=(
            *code("dpaudit/accounting/laws/charged.py", "Round", "UpdateCharged", "cost_of_update", "_greatest_ratio", "_ratio"),
            *code("dpaudit/accounting/builders/pairs.py", "update_charged"),
        ),
        kind="certified",
    ),
    source(
        "InteractiveKernelPredictor.source",
        "Values are compared with a public guess on a grid of steps, with noise; silence, and updates up to a public number.",
        f"{_RUN}silent_answers_are_what_everyone_can_compute",
        f"{_RUN}a_run_ends_with_exactly_its_updates",
        f"{_RUN}a_run_is_priced_as_one_that_is_charged_by_its_updates",
        f"{_RUN}after_its_end_a_run_guesses_and_reads_nothing",
        f"{_RUN}what_is_public_is_refused_before_anything_is_drawn",
        needs=("kernels.values", "kernels.runs", "sampler.laplace", "comparisons.source", "LaplaceMechanism.source"),
        binds=(
            *code("learners/kernels/guessing.py", "Grid", "grid_of", "GuessingTeller"),
            *code("learners/kernels/interactive.py", "InteractiveKernelPredictor"),
            *code("learners/kernels/charged_updates.py", "UpdateRounds", "UpdatesTold", "update_release_plan"),
            *code("learners/kernels/charged_blocks.py", "BlocksTold", "BlockRounds", "block_release_plan"),
        ),
    ),
    learner_claim(
        "InteractiveKernelPredictor",
        "(epsilon, delta) for a whole run, whatever is asked.",
        f"{_RUN}a_run_is_paid_for_when_it_is_opened_and_nothing_it_is_asked_costs_more",
        needs=("updates.price", "comparisons.mechanism", "LaplaceMechanism.mechanism"),
    ),
    sensitivity(
        "kernels.spectrum",
        "No eigenvalue of the public points exceeds the bound, so that all values together move by its root and roundings.",
        f"{_SPECTRUM}no_eigenvalue_exceeds_the_bound",
        f"{_SPECTRUM}equal_and_vanishing_points_have_a_bound",
        f"{_SPECTRUM}where_floats_factor_nothing_the_trace_is_left",
        needs=("kernels.values",),
        binds=code("learners/kernels/spectrum.py", "largest_eigenvalue", "_positive_definite"),
    ),
    source(
        "SemiInteractiveKernelClassifier.source",
        "Values at public points on a grid with noise, all together or one by one; weights are fitted to what was released.",
        f"{_POINTS}values_of_weights_within_the_sensitivity_are_within_what_is_declared",
        f"{_POINTS}a_pair_of_data_sets_moves_the_values_by_most_of_what_is_declared",
        f"{_POINTS}the_weights_are_made_of_the_released_values_alone",
        f"{_POINTS}the_noise_of_each_kind_is_the_papers_or_less",
        f"{_SPECTRUM}public_points_lie_on_the_sphere_and_are_those_of_their_seed",
        f"{_SQUARES}a_plan_remembers_nothing_of_private_weights",
        needs=("kernels.values", "kernels.spectrum", "kernels.minimiser", "GaussianMechanism.source", "LaplaceMechanism.source"),
        binds=code(
            "learners/kernels/semi_interactive.py", "SemiInteractiveKernelClassifier", "NoisyValues", "noisy_values", "ReadsPoints"
        ),
    ),
    fitted_claim(
        "SemiInteractiveKernelClassifier",
        "(epsilon, delta) for all values together.",
        needs=("GaussianMechanism.mechanism", "LaplaceMechanism.mechanism"),
    ),
    source(
        "SemiInteractiveKernelRegressor.source",
        "Values of a least-squares minimiser at public points, as for a classifier; of sparse points as of an array.",
        f"{_SQUARES}sparse_columns_stay_sparse_and_are_learned_from_like_an_array",
        f"{_SQUARES}weights_are_the_best_of_some_ridge_and_no_longer_than_a_minimiser",
        needs=("kernels.squares", "SemiInteractiveKernelClassifier.source"),
        binds=code("learners/kernels/semi_interactive.py", "SemiInteractiveKernelRegressor"),
    ),
    fitted_claim(
        "SemiInteractiveKernelRegressor",
        "(epsilon, delta) for all values together.",
        needs=("GaussianMechanism.mechanism", "LaplaceMechanism.mechanism"),
    ),
    sampler(
        "half_balls",
        "A point of two half-balls is an angle drawn from its law, a fair sign and a point across, cut to the lattice.",
        f"{_ROUNDS}the_coordinate_along_the_direction_has_its_law",
        f"{_ROUNDS}the_shares_of_a_cell_of_angles_are_the_integrals",
        f"{_ROUNDS}across_the_direction_points_fill_the_ball",
        f"{_ROUNDS}how_much_is_revealed_at_once_has_no_influence_on_the_law",
        f"{_ROUNDS}no_point_leaves_the_ball",
        needs=("sampler.lazy", "sampler.vectors", "rounding"),
        binds=code("learners/kernels/half_balls.py", "draw_from_half_balls", "Angle"),
    ),
    source(
        "NonInteractiveKernelClassifier.source",
        "Rounds of a choice by the size of differences to a public guess, and of a noisy test; every one of them is charged.",
        f"{_ROUNDS}choice_and_test_have_the_same_share",
        f"{_ROUNDS}what_is_public_is_refused",
        needs=("kernels.values", "kernels.minimiser", "ExponentialMechanism.source", "LaplaceMechanism.source", "half_balls"),
        binds=code("learners/kernels/non_interactive.py", "NonInteractiveKernelClassifier", "Choices", "plan_choices"),
    ),
    fitted_claim(
        "NonInteractiveKernelClassifier",
        "(epsilon, delta) for all rounds together.",
        needs=("ExponentialMechanism.mechanism", "LaplaceMechanism.mechanism"),
    ),
)
"""Learners in the spaces of kernels."""
