"""The chains of learners that choose among candidates: counts, levels, arcs, networks, leads, least losses, and a margin."""

from __future__ import annotations

from typing import Final

from proofs.learning.nodes import by_lemmas, by_tests, claimed

_COUNTS: Final = "choices/test_counts.py::test_"
_LEVELS: Final = "choices/test_levels.py::test_"
_ARCS: Final = "choices/test_arcs.py::test_"
_COVERS: Final = "choices/test_covers.py::test_"
_NETWORKS: Final = "choices/test_networks.py::test_"
_LEADS: Final = "choices/test_generalized.py::test_"
_LEAST: Final = "choices/test_hinge_minimum.py::test_"
_PURE: Final = "margins/test_pure_margin.py::test_"
_NEURAL: Final = "margins/test_neural.py::test_"
_LABEL: Final = "margins/test_label_private.py::test_"
_SEARCH: Final = "margins/test_margin_search.py::test_"

NODES: Final = (
    by_lemmas(
        "counts.moves",
        "sensitivity",
        "A record moves a count of errors by 1 at most, only upwards if it becomes zero, and a sum of ramps by its grid.",
        ("scores.count", "scores.null", "scores.ramp", "scores.one_score"),
    ),
    by_tests(
        "counts",
        "sensitivity",
        "Scores of candidates are sums over records of such losses of exact margins.",
        (
            f"{_COUNTS}errors_are_signed_margins_of_at_most_the_threshold",
            f"{_COUNTS}a_ramp_lies_on_its_grid_between_its_ends_and_never_below_the_truth",
            f"{_COUNTS}one_record_moves_a_ramp_by_exactly_its_sensitivity",
            f"{_COUNTS}every_choice_is_private_on_all_neighbours",
            f"{_COUNTS}errors_of_three_classes_are_leads_of_at_most_the_threshold",
            f"{_COUNTS}every_choice_among_three_classes_is_private_on_all_neighbours",
        ),
        *("counts.moves", "rows.sums"),
        binds=tuple(
            f"choices/counts.py:{name}" for name in ("Listed", "signs", "errors", "ramps", "totals", "leads", "_signed", "choose")
        ),
    ),
    by_lemmas(
        "scores.hinges",
        "sensitivity",
        "A hinge sum on a grid moves by at most the difference of the losses at both ends.",
        ("scores.falling", "scores.ends", "sensitivity.hinge"),
    ),
    by_lemmas(
        "levels.law",
        "mechanism",
        "A number names one place of one level, and trials keep each candidate in proportion to its weight.",
        ("scores.place", "samplers.proposal", "samplers.uniform", "samplers.rejection"),
    ),
    by_tests(
        "levels",
        "source",
        "Choices by level have the law of the exponential mechanism over all candidates, on every tape of small words.",
        (
            f"{_LEVELS}a_trial_proposes_each_candidate_with_its_exact_probability",
            f"{_LEVELS}the_number_drawn_finds_the_level_and_the_place",
            f"{_LEVELS}numbers_beyond_the_last_multiple_of_the_total_are_refused",
            f"{_LEVELS}the_release_log_holds_the_choice_and_its_price",
        ),
        *("levels.law", "sampler.lazy", "sampler.choice", "bits", "balls"),
        binds=tuple(
            f"choices/levels.py:{name}"
            for name in ("Levels", "counts_mechanism", "choice_release", "choose_level", "weigh", "trial", "_checked")
        ),
        kind="enumerated",
    ),
    by_lemmas(
        "arcs.ends",
        "sensitivity",
        "A record is right at just the points of a side between two quotients, rounded down and up.",
        ("scores.arc_after", "scores.arc_from", "scores.arc_before", "scores.arc_until"),
    ),
    by_tests(
        "arcs",
        "sensitivity",
        "Arcs have the counts of their points, and are weighted by how many they have.",
        (
            f"{_ARCS}arcs_count_what_their_points_count",
            f"{_ARCS}the_points_of_the_whole_square_are_all_there",
            f"{_ARCS}a_zero_record_is_an_error_of_every_point",
        ),
        *("arcs.ends", "counts.moves", "rows.records"),
        binds=tuple(
            f"choices/arcs.py:{name}" for name in ("Arcs", "border_point", "arcs_of", "choose_point", "_right_points", "_runs")
        ),
    ),
    by_tests(
        "covers",
        "sensitivity",
        "Candidates are made from public numbers alone.",
        (
            f"{_COVERS}random_directions_are_the_same_every_time_and_in_every_way_of_asking",
            f"{_COVERS}the_lattice_holds_every_point_of_the_ball_once",
            f"{_PURE}candidates_and_projection_do_not_depend_on_the_records",
            "margins/test_what_the_proofs_need.py::test_a_map_that_is_drawn_until_it_suits_the_records_differs_between_neighbours",
        ),
        binds=("choices/random_cover.py:RandomCover", "choices/lattice_cover.py:LatticeCover", "choices/planned.py:ChoicePlan"),
    ),
    by_tests(
        "PureMarginClassifier.source",
        "source",
        "A fit is one choice among candidates by their errors, or among points by level.",
        (
            f"{_PURE}sparse_records_and_another_order_choose_the_same",
            f"{_PURE}wrong_parameters_are_refused_before_a_record_is_read",
            f"{_PURE}a_pickle_predicts_alike_and_holds_no_record",
        ),
        *("ExponentialMechanism.source", "levels", "counts", "arcs", "covers", "rows.maps"),
        binds=("margins/pure_margin.py:PureMarginClassifier",),
    ),
    claimed(
        "PureMarginClassifier",
        "Pure epsilon.",
        (f"{_PURE}the_price_is_pure_and_what_was_asked_for",),
        *("PureMarginClassifier.source", "ExponentialMechanism.mechanism"),
    ),
    by_tests(
        "networks",
        "sensitivity",
        "A network's score of a record is a whole number of that record and that network alone; a zero record scores 0.",
        (
            f"{_NETWORKS}scores_are_those_computed_by_hand",
            f"{_NETWORKS}putting_records_and_networks_together_changes_no_score",
            f"{_NETWORKS}a_zero_record_scores_zero_and_is_an_error_for_both_labels",
            f"{_NETWORKS}several_scores_are_those_of_each_output_alone_and_ties_are_errors",
            f"{_NETWORKS}random_networks_are_the_same_in_every_way_of_asking",
        ),
        *("counts.moves", "rows.sums"),
        binds=tuple(f"choices/networks.py:{name}" for name in ("RandomNetworks", "network_scores", "network_errors", "_units")),
    ),
    by_tests(
        "NeuralMarginClassifier.source",
        "source",
        "A fit is one choice among public networks by their errors.",
        (
            f"{_NEURAL}sparse_records_and_another_order_choose_the_same",
            f"{_NEURAL}scores_of_a_record_do_not_depend_on_the_records_beside_it",
            f"{_NEURAL}wrong_parameters_are_refused_before_a_record_is_read",
        ),
        *("ExponentialMechanism.source", "networks", "covers", "rows.maps"),
        binds=("margins/neural.py:NeuralMarginClassifier",),
    ),
    claimed(
        "NeuralMarginClassifier",
        "Pure epsilon.",
        (f"{_NEURAL}the_price_is_pure_and_what_was_asked_for",),
        *("NeuralMarginClassifier.source", "ExponentialMechanism.mechanism"),
    ),
    by_tests(
        "label_private.candidates",
        "sensitivity",
        "Candidates follow the features, which are public here, and no label.",
        (f"{_LABEL}no_label_changes_a_candidate", f"{_LABEL}all_labels_of_few_records_keep_the_claim"),
        *("counts", "one_category"),
        binds=("margins/label_private.py:candidates_of",),
    ),
    by_tests(
        "LabelPrivateClassifier.source",
        "source",
        "A fit is one choice among those candidates by the records within their margin.",
        (
            f"{_LABEL}the_margin_counts_records_that_are_right_by_too_little",
            f"{_LABEL}wrong_parameters_are_refused_before_a_record_is_read",
        ),
        *("ExponentialMechanism.source", "label_private.candidates", "rows.maps"),
        binds=("margins/label_private.py:LabelPrivateClassifier",),
    ),
    claimed(
        "LabelPrivateClassifier",
        "Pure epsilon in the labels; nothing is promised about features.",
        (f"{_LABEL}the_price_is_pure_and_speaks_of_labels",),
        *("LabelPrivateClassifier.source", "ExponentialMechanism.mechanism"),
    ),
    by_lemmas(
        "leads.moves",
        "sensitivity",
        "Leads over the sum of two sensitivities, raised by the step of the grid, move by 1 at most, and so does the largest lead.",
        ("scores.grid", "learners.generalised_score", "selection.maximum"),
    ),
    by_tests(
        "leads",
        "sensitivity",
        "The generalised exponential mechanism is the exponential one on such leads, computed in rational numbers.",
        (
            f"{_LEADS}what_is_minimised_moves_by_at_most_one",
            f"{_LEADS}the_exact_law_keeps_the_claim",
            f"{_LEADS}all_moves_keep_the_claim",
        ),
        *("leads.moves", "ExponentialMechanism.source"),
        binds=("choices/generalized.py:GeneralizedExponential",),
    ),
    claimed(
        "GeneralizedExponential",
        "Pure epsilon, of bounded range, for the sensitivities that were declared.",
        (f"{_LEADS}one_score_is_always_chosen_and_still_logged",),
        *("leads", "ExponentialMechanism.mechanism", "declared"),
    ),
    by_lemmas(
        "least.moves",
        "sensitivity",
        "A least loss moves by (1 + c)/m, a value within a tolerance above it by the tolerance more, and fewest errors by 1/m.",
        (
            *("scores.parabola", "scores.parabola_bias", "scores.line", "scores.range", "scores.least"),
            *("scores.lowest", "scores.lowest_border", "scores.bracket", "scores.tolerance", "scores.fewest", "scores.count"),
        ),
    ),
    by_tests(
        "least",
        "sensitivity",
        "The value found lies within its tolerance above the minimum, by exact bounds on both sides.",
        (
            f"{_LEAST}the_value_lies_within_its_tolerance_above_the_minimum",
            f"{_LEAST}both_ends_of_the_bracket_are_what_they_say",
            f"{_LEAST}one_record_moves_the_value_by_at_most_the_sensitivity",
        ),
        *("least.moves", "rows.sums"),
        binds=tuple(
            f"choices/hinge_minimum.py:{name}"
            for name in ("Scale", "least_hinge", "_bounds", "_short", "_pull", "_on_lattice", "_coarse")
        ),
    ),
    by_tests(
        "branches",
        "composition",
        "All branches of a choice of the margin have one price, so that composition with the choice is that of two losses.",
        (
            f"{_SEARCH}a_learner_whose_price_depends_on_its_margin_is_refused_before_anything_is_released",
            f"{_SEARCH}the_record_lists_what_ran_at_the_price_of_any_margin",
            f"{_SEARCH}choice_and_fit_together_cost_what_the_learner_may_spend",
        ),
        "composition.rules",
        binds=("margins/margin_search.py:SearchPlan", "margins/margin_search.py:_loss_above"),
    ),
    by_tests(
        "MarginSearch.source",
        "source",
        "A fit is one choice by leads of least losses at public margins, and one fit of the learner at the margin chosen.",
        (
            f"{_SEARCH}scores_of_neighbours_differ_by_at_most_their_sensitivities",
            f"{_SEARCH}the_sensitivities_are_those_of_the_scores_as_they_are_computed",
            f"{_SEARCH}the_grid_of_margins_is_public",
            f"{_SEARCH}the_learner_inside_is_fitted_at_the_chosen_margin",
        ),
        *("ExponentialMechanism.source", "leads", "least", "counts", "covers"),
        *("PureMarginClassifier.source", "MarginClassifier.source"),
        binds=("margins/margin_search.py:MarginSearch", "margins/margin_search.py:_directions"),
    ),
    claimed(
        "MarginSearch",
        "(epsilon, delta) of the learner, of which a share pays for the choice, if its own claim holds at every margin.",
        (
            f"{_SEARCH}the_record_lists_what_ran_at_the_price_of_any_margin",
            f"{_SEARCH}a_pure_search_costs_exactly_the_sum_of_its_parts",
        ),
        *("MarginSearch.source", "ExponentialMechanism.mechanism", "GaussianMechanism.mechanism", "orders.price", "branches"),
    ),
)
"""Learners that choose."""
