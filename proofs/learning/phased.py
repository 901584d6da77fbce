"""The chains of learners that descend in phases, in a secret order: steps, drift, means, orders, and the choice among passes."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.chain import Node
from proofs.learning.nodes import by_lemmas, by_tests, claimed

_HINGE: Final = "test_hinge.py::test_"
_PHASED: Final = "test_phased.py::test_"
_ERM: Final = "margins/test_erm.py::test_"
_MARGIN: Final = "margins/test_margin.py::test_"
_MAPPED: Final = "margins/test_mapped.py::test_"
_SEVERAL: Final = "margins/test_several_classes.py::test_"
_NEED: Final = "margins/test_what_the_proofs_need.py::test_"
_LAW: Final = "test:tests/accounting/test_schemes_random_order.py::test_"

NODES: Final = (
    by_lemmas(
        "steps.contract",
        "sensitivity",
        "A smooth step whose size times curvature is at most 2, and the projection after it, bring no two iterates further apart.",
        (
            *("passes.slope", "passes.steepness", "passes.step", "passes.quarter", "learners.gradient_step"),
            *("sensitivity.clip", "sensitivity.clip_lengths"),
        ),
    ),
    by_tests(
        "hinge_steps",
        "sensitivity",
        "The steps that ship are such steps; steeper ones are refused, decided in rational numbers.",
        (
            f"{_HINGE}no_step_brings_two_points_further_apart",
            f"{_HINGE}a_product_of_exactly_two_is_accepted_and_anything_above_is_refused",
            f"{_HINGE}a_length_is_between_zero_and_the_limit",
            f"{_PHASED}a_steeper_schedule_cannot_be_made",
        ),
        "steps.contract",
        binds=("solvers/hinge.py:HingeStep",),
    ),
    by_lemmas(
        "drift.sum",
        "sensitivity",
        "What the operations of a step lose together is below the drift that is charged.",
        ("passes.drift", "floats.rounded_step"),
    ),
    by_tests(
        "drift",
        "sensitivity",
        "Iterates in floats stay within the drift of exact ones; a step's operations have fixed shapes and no other operands.",
        (
            f"{_PHASED}floats_stay_within_the_drift_of_exact_arithmetic",
            f"{_PHASED}sparse_and_dense_rows_give_the_same_weights",
        ),
        "drift.sum",
        binds=tuple(f"solvers/phased.py:{name}" for name in ("_Pass", "_signed")),
    ),
    by_lemmas(
        "phases.moves",
        "sensitivity",
        "A record at place q of n moves the rounded mean of a phase by (n - q)/n of the sensitivity; J places by J times as much.",
        (
            *("passes.own_step", "sums.lengths_step", "sums.replaced", "passes.drift_step", "passes.places", "passes.mean"),
            *("passes.nearest", "passes.triangle", "passes.rounded"),
        ),
    ),
    by_tests(
        "phases",
        "sensitivity",
        "The sensitivities of a schedule cover steps, drift and lattice; phases take disjoint records and start from releases.",
        (
            f"{_PHASED}the_sensitivity_covers_steps_drift_and_lattice",
            f"{_PHASED}one_record_moves_a_mean_by_no_more_than_its_place_allows",
            f"{_PHASED}the_last_record_of_a_phase_is_not_seen_at_all",
            f"{_PHASED}phases_take_disjoint_records_in_the_given_order",
            f"{_PHASED}a_release_is_noise_on_the_nearest_point_of_the_lattice",
            f"{_NEED}means_half_way_between_points_of_the_lattice_are_as_far_apart_as_the_root_of_the_columns",
            f"{_PHASED}rows_that_a_plan_was_not_made_for_are_refused_before_any_release",
        ),
        *("hinge_steps", "drift", "phases.moves", "rows.records"),
        binds=tuple(
            f"solvers/phased.py:{name}"
            for name in ("Schedule", "Phase", "batches", "schedule", "noisy_means", "rounded_mean", "_released")
        ),
    ),
    by_lemmas(
        "ball",
        "sensitivity",
        "Weights that are cut toward zero stay in the ball, so that the margins of scores are bounded.",
        ("passes.ball", "sensitivity.prediction"),
    ),
    by_tests(
        "orders.drawn",
        "source",
        "Every pass draws its order afresh and evenly; nobody can choose it.",
        (
            f"{_PHASED}every_permutation_is_as_likely",
            f"{_PHASED}equal_words_are_drawn_again",
            f"{_PHASED}words_that_are_too_large_are_drawn_again",
            f"{_ERM}no_parameter_gives_an_order_or_its_seed",
            f"{_ERM}every_pass_takes_an_order_of_its_own",
        ),
        *("bits", "sampler.rejection"),
        binds=("solvers/orders.py:random_order", "solvers/orders.py:random_places"),
    ),
    by_lemmas(
        "orders.mean",
        "composition",
        "The profile of a run in a secret order is at most the mean of the profiles over orders.",
        ("passes.mixture", "composition.parallel"),
    ),
    Node(
        "orders.price",
        "composition",
        "The law of what a record counts in a random order is that of all orders, rounded up, and its price is that mean.",
        "enumerated",
        (
            f"{_LAW}positions_are_those_of_all_permutations_rounded_up",
            f"{_LAW}multiplicities_are_those_of_all_draws",
            f"{_LAW}rounds_add_squares_of_independent_orders",
            f"{_LAW}the_price_is_the_mean_over_orders",
        ),
        ("orders.mean", "orders.drawn"),
        (
            *(f"dpaudit/accounting/laws/random_order.py:{name}" for name in ("position_squares", "multiplicity_squares")),
            "dpaudit/accounting/schemes.py:RandomOrder",
        ),
    ),
    by_tests(
        "scores.passes",
        "sensitivity",
        "A pass is chosen by ramps, of sensitivity one, or by hinges, from one end of the margins to the other, of clipped rows.",
        (
            f"{_HINGE}hinge_scores_change_by_exactly_what_is_stated",
            f"{_HINGE}ramp_scores_have_their_ends_on_the_grid",
            f"{_ERM}scores_read_the_rows_that_were_learned_from",
            f"{_PHASED}released_weights_are_in_the_ball_exactly",
        ),
        *("counts", "scores.hinges", "ball"),
        binds=("solvers/hinge.py:hinges", "solvers/phased.py:on_ball", "margins/erm.py:_hinge"),
    ),
    by_tests(
        "passes",
        "source",
        "A run is the planned passes, each in an order of its own, and at most one choice among what they end in.",
        (
            f"{_PHASED}releases_are_those_of_the_schedule",
            f"{_ERM}the_choice_among_passes_is_charged_beside_them",
            f"{_ERM}the_accountant_confirms_the_budget_and_it_is_used",
            f"{_ERM}a_plan_that_costs_more_than_was_asked_for_is_never_run",
            f"{_ERM}adding_and_removing_records_is_refused",
        ),
        *("GaussianMechanism.source", "ExponentialMechanism.source", "orders.drawn", "phases", "scores.passes"),
        binds=(
            *(f"margins/erm.py:{name}" for name in ("ErmPlan", "erm_plan", "run", "private_erm")),
            *("solvers/phased.py:phased_sgd", "choices/levels.py:choice_release"),
        ),
    ),
    by_lemmas(
        "rivals.norm",
        "sensitivity",
        "A row beside its negative is longer by the root of 2, rounded up.",
        ("sums.beside", "sums.root_above"),
    ),
    by_tests(
        "rivals",
        "sensitivity",
        "With several classes every record is one row against a public rival by its place, a function of that record alone.",
        (
            f"{_SEVERAL}a_row_against_its_rival_says_by_how_much_its_class_leads",
            f"{_SEVERAL}a_row_beside_its_negative_is_longer_by_the_root_of_two_rounded_up",
            f"{_SEVERAL}one_record_changes_one_row_and_rivals_are_as_likely",
            f"{_SEVERAL}a_record_far_above_the_bound_moves_no_further_than_one_on_it_whatever_its_class",
            f"{_SEVERAL}the_noise_covers_the_longer_rows",
        ),
        *("rivals.norm", "rows.records"),
        binds=("margins/rivals.py:against_rivals", "margins/rivals.py:rival_bound", "mechanisms/roots.py:whole_root_above"),
    ),
    by_tests(
        "MarginClassifier.source",
        "source",
        "The estimator is such a run on clipped images of a public map, and has no other access to records.",
        (
            f"{_MARGIN}the_map_is_the_same_for_all_data_and_its_images_are_clipped_exactly",
            f"{_MARGIN}private_values_are_mapped_in_place_whatever_they_are",
            f"{_MARGIN}parameters_are_refused_before_anything_is_released",
            f"{_MARGIN}a_pickle_predicts_the_same_and_holds_no_records",
        ),
        *("passes", "rows.maps", "rivals"),
        binds=("margins/margin.py:MarginPlan", "margins/margin.py:MarginClassifier"),
    ),
    claimed(
        "MarginClassifier",
        "(epsilon, delta), the passes at their mean over orders and the choice; the order must have been secret.",
        (
            f"{_MARGIN}the_record_says_what_ran_and_recomputes_to_the_same_epsilon",
            f"{_MARGIN}two_fits_differ_and_a_seeded_one_says_what_its_order_is_worth",
            f"{_ERM}a_run_comes_with_its_record",
        ),
        *("MarginClassifier.source", "GaussianMechanism.mechanism", "ExponentialMechanism.mechanism", "orders.price"),
    ),
    by_tests(
        "mapped",
        "source",
        "A learner behind a public map sees nothing of a record but its image.",
        (
            f"{_MAPPED}storage_order_and_neighbours_change_what_they_should",
            f"{_MAPPED}private_values_never_raise_or_warn",
            f"{_MAPPED}a_pickle_holds_released_numbers_and_the_public_map",
        ),
        *("rows.maps", "descent", "passes", "rivals"),
        binds=tuple(
            f"margins/mapped.py:{name}" for name in ("MappedPlan", "mapped_plan", "NoisyDescent", "PhasedDescent", "PhasedPlan")
        ),
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
            by_tests(
                f"{learner}.source",
                "source",
                "The estimator is a learner behind a map, and offers zero_out only where the null record's image is zero.",
                tuple(f"{_MAPPED}{test}" for test in tests),
                "mapped",
                binds=(f"margins/{stem}.py:{learner}", "margins/mapped_classifier.py:MappedClassifier"),
            ),
            claimed(
                learner,
                "(epsilon, delta), that of the learner behind the map.",
                (f"{_MAPPED}the_record_states_the_map_and_recomputes",),
                *(f"{learner}.source", "GaussianMechanism.mechanism", "ExponentialMechanism.mechanism", "orders.price"),
            ),
        )
    ),
)
"""Learners in phases and behind maps."""
