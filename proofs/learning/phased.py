"""The chains of learners that descend in phases, in a secret order: steps, drift, means, orders, and the choice among passes."""

from __future__ import annotations

from typing import Final

from proofs.nodes import code, composition, fitted_claim, learner_claim, lemmas, sensitivity, source

_HINGE: Final = "test:tests/learners/test_hinge.py::test_"
_PHASED: Final = "test:tests/learners/test_phased.py::test_"
_ERM: Final = "test:tests/learners/margins/test_erm.py::test_"
_MARGIN: Final = "test:tests/learners/margins/test_margin.py::test_"
_MAPPED: Final = "test:tests/learners/margins/test_mapped.py::test_"
_SEVERAL: Final = "test:tests/learners/margins/test_several_classes.py::test_"
_NEED: Final = "test:tests/learners/margins/test_what_the_proofs_need.py::test_"
_LAW: Final = "test:tests/accounting/test_schemes_random_order.py::test_"

NODES: Final = (
    sensitivity(
        "steps.contract",
        "A smooth step whose size times curvature is at most 2, and the projection after it, bring no two iterates further apart.",
        *lemmas(
            *("passes.slope", "passes.steepness", "passes.step", "passes.quarter", "learners.gradient_step", "sensitivity.clip"),
            "sensitivity.clip_lengths",
        ),
    ),
    sensitivity(
        "hinge_steps",
        "The steps that ship are such steps; steeper ones are refused, decided in rational numbers.",
        f"{_HINGE}no_step_brings_two_points_further_apart",
        f"{_HINGE}a_product_of_exactly_two_is_accepted_and_anything_above_is_refused",
        f"{_HINGE}a_length_is_between_zero_and_the_limit",
        f"{_PHASED}a_steeper_schedule_cannot_be_made",
        needs=("steps.contract",),
        binds=code("learners/solvers/hinge.py", "HingeStep"),
    ),
    sensitivity(
        "drift.sum",
        "What the operations of a step lose together is below the drift that is charged.",
        *lemmas("passes.drift", "floats.rounded_step"),
    ),
    sensitivity(
        "drift",
        "Iterates in floats stay within the drift of exact ones; a step's operations have fixed shapes and no other operands.",
        f"{_PHASED}floats_stay_within_the_drift_of_exact_arithmetic",
        f"{_PHASED}sparse_and_dense_rows_give_the_same_weights",
        needs=("drift.sum",),
        binds=code("learners/solvers/phased.py", "_Pass", "_signed"),
    ),
    sensitivity(
        "phases.moves",
        "A record at place q of n moves the rounded mean of a phase by (n - q)/n of the sensitivity; J places by J times as much.",
        *lemmas(
            *("passes.own_step", "sums.lengths_step", "sums.replaced", "passes.drift_step", "passes.places", "passes.mean"),
            *("passes.nearest", "passes.triangle", "passes.rounded"),
        ),
    ),
    sensitivity(
        "phases",
        "The sensitivities of a schedule cover steps, drift and lattice; phases take disjoint records and start from releases.",
        f"{_PHASED}the_sensitivity_covers_steps_drift_and_lattice",
        f"{_PHASED}one_record_moves_a_mean_by_no_more_than_its_place_allows",
        f"{_PHASED}the_last_record_of_a_phase_is_not_seen_at_all",
        f"{_PHASED}phases_take_disjoint_records_in_the_given_order",
        f"{_PHASED}a_release_is_noise_on_the_nearest_point_of_the_lattice",
        f"{_NEED}means_half_way_between_points_of_the_lattice_are_as_far_apart_as_the_root_of_the_columns",
        f"{_PHASED}rows_that_a_plan_was_not_made_for_are_refused_before_any_release",
        needs=("hinge_steps", "drift", "phases.moves", "rows.records"),
        binds=code(
            "learners/solvers/phased.py", "Schedule", "Phase", "batches", "schedule", "noisy_means", "rounded_mean", "_released"
        ),
    ),
    sensitivity(
        "ball",
        "Weights that are cut toward zero stay in the ball, so that the margins of scores are bounded.",
        *lemmas("passes.ball", "sensitivity.prediction"),
    ),
    source(
        "orders.drawn",
        "Every pass draws its order afresh and evenly; nobody can choose it.",
        f"{_PHASED}every_permutation_is_as_likely",
        f"{_PHASED}equal_words_are_drawn_again",
        f"{_PHASED}words_that_are_too_large_are_drawn_again",
        f"{_ERM}no_parameter_gives_an_order_or_its_seed",
        f"{_ERM}every_pass_takes_an_order_of_its_own",
        needs=("bits", "sampler.rejection"),
        binds=code("learners/solvers/orders.py", "random_order", "random_places"),
    ),
    composition(
        "orders.mean",
        "The profile of a run in a secret order is at most the mean of the profiles over orders.",
        *lemmas("passes.mixture", "composition.parallel"),
    ),
    composition(
        "orders.price",
        "The law of what a record counts in a random order is that of all orders, rounded up, and its price is that mean.",
        f"{_LAW}positions_are_those_of_all_permutations_rounded_up",
        f"{_LAW}multiplicities_are_those_of_all_draws",
        f"{_LAW}rounds_add_squares_of_independent_orders",
        f"{_LAW}the_price_is_the_mean_over_orders",
        needs=("orders.mean", "orders.drawn"),
        binds=(
            *code("dpaudit/accounting/laws/random_order.py", "position_squares", "multiplicity_squares"),
            *code("dpaudit/accounting/schemes.py", "RandomOrder"),
        ),
        kind="enumerated",
    ),
    sensitivity(
        "scores.passes",
        "A pass is chosen by ramps, of sensitivity one, or by hinges, from one end of the margins to the other, of clipped rows.",
        f"{_HINGE}hinge_scores_change_by_exactly_what_is_stated",
        f"{_HINGE}ramp_scores_have_their_ends_on_the_grid",
        f"{_ERM}scores_read_the_rows_that_were_learned_from",
        f"{_PHASED}released_weights_are_in_the_ball_exactly",
        needs=("counts", "scores.hinges", "ball"),
        binds=(
            *code("learners/solvers/hinge.py", "hinges"),
            *code("learners/solvers/phased.py", "on_ball"),
            *code("learners/margins/erm.py", "_hinge"),
        ),
    ),
    source(
        "passes",
        "A run is the planned passes, each in an order of its own, and at most one choice among what they end in.",
        f"{_PHASED}releases_are_those_of_the_schedule",
        f"{_ERM}the_choice_among_passes_is_charged_beside_them",
        f"{_ERM}the_accountant_confirms_the_budget_and_it_is_used",
        f"{_ERM}a_plan_that_costs_more_than_was_asked_for_is_never_run",
        f"{_ERM}adding_and_removing_records_is_refused",
        needs=("GaussianMechanism.source", "ExponentialMechanism.source", "orders.drawn", "phases", "scores.passes"),
        binds=(
            *code("learners/margins/erm.py", "ErmPlan", "erm_plan", "run", "private_erm"),
            *code("learners/solvers/phased.py", "phased_sgd"),
            *code("learners/choices/levels.py", "choice_release"),
        ),
    ),
    sensitivity(
        "rivals.norm",
        "A row beside its negative is longer by the root of 2, rounded up.",
        *lemmas("sums.beside", "sums.root_above"),
    ),
    sensitivity(
        "rivals",
        "With several classes every record is one row against a public rival by its place, a function of that record alone.",
        f"{_SEVERAL}a_row_against_its_rival_says_by_how_much_its_class_leads",
        f"{_SEVERAL}a_row_beside_its_negative_is_longer_by_the_root_of_two_rounded_up",
        f"{_SEVERAL}one_record_changes_one_row_and_rivals_are_as_likely",
        f"{_SEVERAL}a_record_far_above_the_bound_moves_no_further_than_one_on_it_whatever_its_class",
        f"{_SEVERAL}the_noise_covers_the_longer_rows",
        needs=("rivals.norm", "rows.records"),
        binds=(
            *code("learners/margins/rivals.py", "against_rivals", "rival_bound"),
            *code("mechanisms/roots.py", "whole_root_above"),
        ),
    ),
    source(
        "MarginClassifier.source",
        "The estimator is such a run on clipped images of a public map, and has no other access to records.",
        f"{_MARGIN}the_map_is_the_same_for_all_data_and_its_images_are_clipped_exactly",
        f"{_MARGIN}private_values_are_mapped_in_place_whatever_they_are",
        f"{_MARGIN}parameters_are_refused_before_anything_is_released",
        f"{_MARGIN}a_pickle_predicts_the_same_and_holds_no_records",
        needs=("passes", "rows.maps", "rivals"),
        binds=code("learners/margins/margin.py", "MarginPlan", "MarginClassifier"),
    ),
    learner_claim(
        "MarginClassifier",
        "(epsilon, delta), the passes at their mean over orders and the choice; the order must have been secret.",
        f"{_MARGIN}the_record_says_what_ran_and_recomputes_to_the_same_epsilon",
        f"{_MARGIN}two_fits_differ_and_a_seeded_one_says_what_its_order_is_worth",
        f"{_ERM}a_run_comes_with_its_record",
        needs=("GaussianMechanism.mechanism", "ExponentialMechanism.mechanism", "orders.price"),
    ),
    source(
        "mapped",
        "A learner behind a public map sees nothing of a record but its image.",
        f"{_MAPPED}storage_order_and_neighbours_change_what_they_should",
        f"{_MAPPED}private_values_never_raise_or_warn",
        f"{_MAPPED}a_pickle_holds_released_numbers_and_the_public_map",
        needs=("rows.maps", "descent", "passes", "rivals"),
        binds=code("learners/margins/mapped.py", "MappedPlan", "mapped_plan", "NoisyDescent", "PhasedDescent", "PhasedPlan"),
    ),
    *(
        node
        for learner, stem, tests in (
            (
                "KernelMarginClassifier",
                "kernel",
                ("no_record_has_a_zero_image_under_a_kernel", "the_record_names_kernels_and_widths"),
            ),
            (
                "PolynomialMarginClassifier",
                "polynomial_margin",
                ("without_a_constant_the_null_record_has_no_image_and_zeroing_out_is_cheaper",),
            ),
        )
        for node in (
            source(
                f"{learner}.source",
                "The estimator is a learner behind a map, and offers zero_out only where the null record's image is zero.",
                *(f"{_MAPPED}{test}" for test in tests),
                needs=("mapped",),
                binds=(f"learners/margins/{stem}.py:{learner}", "learners/margins/mapped.py:MappedClassifier"),
            ),
            fitted_claim(
                learner,
                "(epsilon, delta), that of the learner behind the map.",
                needs=("GaussianMechanism.mechanism", "ExponentialMechanism.mechanism", "orders.price"),
            ),
        )
    ),
)
"""Learners in phases and behind maps."""
