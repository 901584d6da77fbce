"""The chains of learners that choose among candidates: counts, levels, arcs, networks, leads, least losses, and a margin."""

from __future__ import annotations

from typing import Final

from proofs.nodes import TESTS, code, composition, fitted_claim, learner_claim, lemmas, mechanism, node, sensitivity, source

_COUNTS: Final = "test:tests/learners/choices/test_counts.py::test_"
_LEVELS: Final = "test:tests/learners/choices/test_levels.py::test_"
_ARCS: Final = "test:tests/learners/choices/test_arcs.py::test_"
_COVERS: Final = "test:tests/learners/choices/test_covers.py::test_"
_NETWORKS: Final = "test:tests/learners/choices/test_networks.py::test_"
_LEADS: Final = "test:tests/learners/choices/test_generalized.py::test_"
_LEAST: Final = "test:tests/learners/choices/test_hinge_minimum.py::test_"
_PURE: Final = "test:tests/learners/margins/test_pure_margin.py::test_"
_NEURAL: Final = "test:tests/learners/margins/test_neural.py::test_"
_LABEL: Final = "test:tests/learners/margins/test_label_private.py::test_"
_SEARCH: Final = "test:tests/learners/margins/test_margin_search.py::test_"

NODES: Final = (
    sensitivity(
        "counts.moves",
        "A record moves a count of errors by 1 at most, only upwards if it becomes zero, and a sum of ramps by its grid.",
        *lemmas("scores.count", "scores.null", "scores.ramp", "scores.one_score"),
    ),
    sensitivity(
        "counts",
        "Scores of candidates are sums over records of such losses of exact margins.",
        f"{_COUNTS}errors_are_signed_margins_of_at_most_the_threshold",
        f"{_COUNTS}a_ramp_lies_on_its_grid_between_its_ends_and_never_below_the_truth",
        f"{_COUNTS}one_record_moves_a_ramp_by_exactly_its_sensitivity",
        f"{_COUNTS}every_choice_is_private_on_all_neighbours",
        f"{_COUNTS}errors_of_three_classes_are_leads_of_at_most_the_threshold",
        f"{_COUNTS}every_choice_among_three_classes_is_private_on_all_neighbours",
        needs=("counts.moves", "rows.sums"),
        binds=code("learners/choices/counts.py", "Listed", "signs", "errors", "ramps", "totals", "leads", "_signed", "choose"),
    ),
    sensitivity(
        "scores.hinges",
        "A hinge sum on a grid moves by at most the difference of the losses at both ends.",
        *lemmas("scores.falling", "scores.ends", "sensitivity.hinge"),
    ),
    mechanism(
        "levels.law",
        "A number names one place of one level, and trials keep each candidate in proportion to its weight.",
        *lemmas("scores.place", "samplers.proposal", "samplers.uniform", "samplers.rejection"),
    ),
    source(
        "levels",
        "Choices by level have the law of the exponential mechanism over all candidates, on every tape of small words.",
        f"{_LEVELS}a_trial_proposes_each_candidate_with_its_exact_probability",
        f"{_LEVELS}the_number_drawn_finds_the_level_and_the_place",
        f"{_LEVELS}numbers_beyond_the_last_multiple_of_the_total_are_refused",
        f"{_LEVELS}the_release_log_holds_the_choice_and_its_price",
        needs=("levels.law", "sampler.lazy", "sampler.choice", "bits", "balls"),
        binds=code(
            *("learners/choices/levels.py", "Levels", "counts_mechanism", "choice_release", "choose_level", "weigh", "trial"),
            "_checked",
        ),
        kind="enumerated",
    ),
    sensitivity(
        "arcs.ends",
        "A record is right at just the points of a side between two quotients, rounded down and up.",
        *lemmas("scores.arc_after", "scores.arc_from", "scores.arc_before", "scores.arc_until"),
    ),
    sensitivity(
        "arcs",
        "Arcs have the counts of their points, and are weighted by how many they have.",
        f"{_ARCS}arcs_count_what_their_points_count",
        f"{_ARCS}the_points_of_the_whole_square_are_all_there",
        f"{_ARCS}a_zero_record_is_an_error_of_every_point",
        needs=("arcs.ends", "counts.moves", "rows.records"),
        binds=code("learners/choices/arcs.py", "Arcs", "border_point", "arcs_of", "choose_point", "_right_points", "_runs"),
    ),
    sensitivity(
        "covers",
        "Candidates are made from public numbers alone.",
        f"{_COVERS}random_directions_are_the_same_every_time_and_in_every_way_of_asking",
        f"{_COVERS}the_lattice_holds_every_point_of_the_ball_once",
        f"{_PURE}candidates_and_projection_do_not_depend_on_the_records",
        f"{TESTS}margins/test_what_the_proofs_need.py::test_a_map_that_is_drawn_until_it_suits_the_records_differs_between_neighbours",
        binds=(
            *code("learners/choices/covers.py", "RandomCover"),
            *code("learners/choices/covers.py", "LatticeCover"),
            *code("learners/choices/planned.py", "ChoicePlan"),
        ),
    ),
    source(
        "PureMarginClassifier.source",
        "A fit is one choice among candidates by their errors, or among points by level.",
        f"{_PURE}sparse_records_and_another_order_choose_the_same",
        f"{_PURE}wrong_parameters_are_refused_before_a_record_is_read",
        f"{_PURE}a_pickle_predicts_alike_and_holds_no_record",
        needs=("ExponentialMechanism.source", "levels", "counts", "arcs", "covers", "rows.maps"),
        binds=code("learners/margins/pure_margin.py", "PureMarginClassifier"),
    ),
    fitted_claim(
        "PureMarginClassifier",
        "Pure epsilon at delta 0.",
        needs=("ExponentialMechanism.mechanism",),
    ),
    sensitivity(
        "networks",
        "A network's score of a record is a whole number of that record and that network alone; a zero record scores 0.",
        f"{_NETWORKS}scores_are_those_computed_by_hand",
        f"{_NETWORKS}putting_records_and_networks_together_changes_no_score",
        f"{_NETWORKS}a_zero_record_scores_zero_and_is_an_error_for_both_labels",
        f"{_NETWORKS}several_scores_are_those_of_each_output_alone_and_ties_are_errors",
        f"{_NETWORKS}random_networks_are_the_same_in_every_way_of_asking",
        needs=("counts.moves", "rows.sums"),
        binds=code("learners/choices/networks.py", "RandomNetworks", "network_scores", "network_errors", "_units"),
    ),
    source(
        "NeuralMarginClassifier.source",
        "A fit is one choice among public networks by their errors.",
        f"{_NEURAL}sparse_records_and_another_order_choose_the_same",
        f"{_NEURAL}scores_of_a_record_do_not_depend_on_the_records_beside_it",
        f"{_NEURAL}wrong_parameters_are_refused_before_a_record_is_read",
        needs=("ExponentialMechanism.source", "networks", "covers", "rows.maps"),
        binds=code("learners/margins/neural.py", "NeuralMarginClassifier"),
    ),
    fitted_claim(
        "NeuralMarginClassifier",
        "Pure epsilon at delta 0.",
        needs=("ExponentialMechanism.mechanism",),
    ),
    sensitivity(
        "label_private.candidates",
        "Candidates follow the features, which are public here, and no label.",
        f"{_LABEL}no_label_changes_a_candidate",
        f"{_LABEL}all_labels_of_few_records_keep_the_claim",
        needs=("counts", "one_category"),
        binds=code("learners/margins/label_private.py", "candidates_of"),
    ),
    source(
        "LabelPrivateClassifier.source",
        "A fit is one choice among those candidates by the records within their margin.",
        f"{_LABEL}the_margin_counts_records_that_are_right_by_too_little",
        f"{_LABEL}wrong_parameters_are_refused_before_a_record_is_read",
        needs=("ExponentialMechanism.source", "label_private.candidates", "rows.maps"),
        binds=code("learners/margins/label_private.py", "LabelPrivateClassifier"),
    ),
    fitted_claim(
        "LabelPrivateClassifier",
        "Pure epsilon in the labels at delta 0; nothing is promised about features.",
        needs=("ExponentialMechanism.mechanism",),
    ),
    sensitivity(
        "leads.moves",
        "Leads over the sum of two sensitivities, raised by the step of the grid, move by 1 at most, and so does the largest lead.",
        *lemmas("scores.grid", "learners.generalised_score", "selection.maximum"),
    ),
    sensitivity(
        "leads",
        "The generalised exponential mechanism is the exponential one on such leads, computed in rational numbers.",
        f"{_LEADS}what_is_minimised_moves_by_at_most_one",
        f"{_LEADS}the_exact_law_keeps_the_claim",
        f"{_LEADS}all_moves_keep_the_claim",
        needs=("leads.moves", "ExponentialMechanism.source"),
        binds=code("learners/choices/generalized.py", "GeneralizedExponential"),
    ),
    node(
        "claim",
        "GeneralizedExponential.claim",
        "Pure epsilon, of bounded range, for the sensitivities that were declared.",
        f"{_LEADS}one_score_is_always_chosen_and_still_logged",
        needs=("leads", "ExponentialMechanism.mechanism", "declared", "neighbours", "fits", "composition"),
    ),
    sensitivity(
        "least.moves",
        "A least loss moves by (1 + c)/m, a value within a tolerance above it by the tolerance more, and fewest errors by 1/m.",
        *lemmas(
            *("scores.parabola", "scores.parabola_bias", "scores.line", "scores.range", "scores.least", "scores.lowest"),
            *("scores.lowest_border", "scores.bracket", "scores.tolerance", "scores.fewest", "scores.count"),
        ),
    ),
    sensitivity(
        "least",
        "The value found lies within its tolerance above the minimum, by exact bounds on both sides.",
        f"{_LEAST}the_value_lies_within_its_tolerance_above_the_minimum",
        f"{_LEAST}both_ends_of_the_bracket_are_what_they_say",
        f"{_LEAST}one_record_moves_the_value_by_at_most_the_sensitivity",
        needs=("least.moves", "rows.sums"),
        binds=code(
            "learners/choices/hinge_minimum.py", "Scale", "least_hinge", "_bounds", "_short", "_pull", "_on_lattice", "_coarse"
        ),
    ),
    composition(
        "branches",
        "All branches of a choice of the margin have one price, so that composition with the choice is that of two losses.",
        f"{_SEARCH}a_learner_whose_price_depends_on_its_margin_is_refused_before_anything_is_released",
        f"{_SEARCH}the_record_lists_what_ran_at_the_price_of_any_margin",
        f"{_SEARCH}choice_and_fit_together_cost_what_the_learner_may_spend",
        needs=("composition.rules",),
        binds=code("learners/margins/margin_search.py", "SearchPlan", "_loss_above"),
    ),
    source(
        "MarginSearch.source",
        "A fit is one choice by leads of least losses at public margins, and one fit of the learner at the margin chosen.",
        f"{_SEARCH}scores_of_neighbours_differ_by_at_most_their_sensitivities",
        f"{_SEARCH}the_sensitivities_are_those_of_the_scores_as_they_are_computed",
        f"{_SEARCH}the_grid_of_margins_is_public",
        f"{_SEARCH}the_learner_inside_is_fitted_at_the_chosen_margin",
        needs=(
            *("ExponentialMechanism.source", "leads", "least", "counts", "covers", "PureMarginClassifier.source"),
            "MarginClassifier.source",
        ),
        binds=code("learners/margins/margin_search.py", "MarginSearch", "_directions"),
    ),
    learner_claim(
        "MarginSearch",
        "(epsilon, delta) of the learner, of which a share pays for the choice, if its own claim holds at every margin.",
        f"{_SEARCH}the_record_lists_what_ran_at_the_price_of_any_margin",
        f"{_SEARCH}a_pure_search_costs_exactly_the_sum_of_its_parts",
        needs=("ExponentialMechanism.mechanism", "GaussianMechanism.mechanism", "orders.price", "branches"),
    ),
)
"""Learners that choose."""
