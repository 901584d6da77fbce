"""The chains of learners of large-margin halfspaces: unit records, sums of active ones, hinge scores, and a net."""

from __future__ import annotations

from typing import Final

from proofs.nodes import code, composition, fitted_claim, lemmas, sensitivity, source

_UNIT: Final = "test:tests/learners/rows/test_unit.py::test_"
_DESCENT: Final = "test:tests/learners/halfspaces/test_descent.py::test_"
_HALFSPACE: Final = "test:tests/learners/halfspaces/test_halfspace.py::test_"
_PURE: Final = "test:tests/learners/halfspaces/test_pure_halfspace.py::test_"
_SAMPLES: Final = "test:tests/accounting/test_schemes_samples.py::test_"

NODES: Final = (
    sensitivity(
        "rows.unit",
        "Records are divided by their norms one by one, in whole numbers and again after a public map; none is longer than one.",
        f"{_UNIT}no_record_is_longer_than_one_whatever_it_holds",
        f"{_UNIT}a_record_becomes_the_same_whatever_the_others_are",
        f"{_UNIT}a_record_whose_image_is_zero_becomes_the_first_axis",
        f"{_UNIT}records_are_mapped_in_blocks_and_the_blocks_do_not_show",
        needs=("rows.records", "rows.maps"),
        binds=code("learners/rows/unit.py", "unit_rows", "unit_images", "_scaled", "_directed"),
    ),
    sensitivity(
        "halfspaces.moves",
        "A sum of records with signs, or without those that are not active, moves by two records' length if one is replaced.",
        *lemmas("sums.contribution", "sums.lengths_step", "sums.replaced"),
    ),
    sensitivity(
        "halfspaces.sums",
        "Whether a record is active depends on it and on released weights alone, exactly.",
        f"{_DESCENT}a_record_that_is_replaced_moves_a_sum_by_two_at_most",
        f"{_DESCENT}the_distance_of_two_is_reached",
        f"{_DESCENT}copies_of_a_record_on_the_threshold_are_all_active_or_none_is",
        f"{_DESCENT}order_and_storage_of_the_records_change_nothing_under_the_same_noise",
        f"{_DESCENT}longer_rows_than_the_noise_is_for_are_refused_before_anything_is_released",
        needs=("halfspaces.moves", "rows.sums", "rows.unit"),
        binds=code("learners/halfspaces/descent.py", "active_sum", "require_short"),
    ),
    sensitivity(
        "halfspaces.scores",
        "Runs are chosen by errors, or literally by hinge losses between both ends of the margins.",
        f"{_DESCENT}a_hinge_score_moves_by_its_range_at_most",
        needs=("counts", "scores.hinges", "ball"),
        binds=code("learners/halfspaces/literal.py", "hinge_scores"),
    ),
    source(
        "halfspaces.runs",
        "Runs make the planned sums and the choice, all within the budget; the literal ones see one record drawn afresh a step.",
        f"{_DESCENT}what_is_released_is_what_was_planned",
        f"{_DESCENT}a_plan_costs_what_may_be_spent_at_most",
        f"{_DESCENT}the_literal_plan_has_the_published_numbers_at_twice_the_sensitivity",
        f"{_DESCENT}the_literal_plan_stays_within_its_budget_with_the_choice_inside",
        f"{_DESCENT}a_literal_run_releases_what_was_planned_and_stays_in_the_ball",
        needs=("halfspaces.sums", "halfspaces.scores", "GaussianMechanism.source", "ExponentialMechanism.source", "orders.drawn"),
        binds=(
            *code("learners/halfspaces/descent.py", "Descent", "descent", "descend"),
            *code("learners/halfspaces/literal.py", "LiteralDescent", "literal_descent", "descend_literally", "_last_weights"),
        ),
    ),
    composition(
        "samples.price",
        "The price of steps that see one record of all, drawn afresh, encloses that of their composition.",
        f"{_SAMPLES}no_sample_without_replacement_of_a_bounded_mechanism_exceeds_the_bound",
        f"{_SAMPLES}one_sample_without_replacement_has_the_amplified_profile",
        f"{_SAMPLES}many_samples_without_replacement_lie_between_those_of_a_vanishing_record_and_the_full_loss",
        needs=("balls",),
        binds=code("dpaudit/accounting/schemes.py", "WithoutReplacement"),
        kind="certified",
    ),
    source(
        "HalfspaceClassifier.source",
        "The estimator is such runs on unit records, and has no other access to records.",
        f"{_HALFSPACE}several_runs_are_paid_for_and_one_of_them_is_kept",
        f"{_HALFSPACE}no_records_make_a_fit_refuse_raise_or_warn",
        f"{_HALFSPACE}wrong_parameters_are_refused_before_a_record_is_read",
        needs=("halfspaces.runs",),
        binds=(
            *code("learners/halfspaces/halfspace.py", "HalfspacePlan", "HalfspaceClassifier"),
            *code("learners/halfspaces/unit_records.py", "UnitRecordClassifier"),
        ),
    ),
    fitted_claim(
        "HalfspaceClassifier",
        "(epsilon, delta), sums and choice together.",
        needs=("GaussianMechanism.mechanism", "ExponentialMechanism.mechanism", "samples.price"),
    ),
    sensitivity(
        "nets",
        "Points of the net are public, and the records that each has short of a margin are counted exactly.",
        f"{_PURE}a_small_net_is_the_shell_by_its_definition",
        f"{_PURE}counts_are_those_of_rational_arithmetic",
        f"{_PURE}counts_move_by_one_when_a_record_is_replaced",
        f"{_PURE}the_threshold_is_decided_in_integers",
        needs=("counts", "rows.unit", "covers"),
        binds=(
            *code("learners/halfspaces/pure_halfspace.py", "shell_net", "threshold"),
            *code("learners/halfspaces/pure_halfspace.py", "net_errors"),
        ),
    ),
    source(
        "PureHalfspaceClassifier.source",
        "A fit is one choice among the points of the net, by level.",
        f"{_PURE}choices_follow_the_exponential_mechanism_over_the_net",
        f"{_PURE}what_is_not_allowed_or_too_large_is_refused_before_a_record_is_read",
        needs=("nets", "levels"),
        binds=code("learners/halfspaces/pure_halfspace.py", "PureHalfspaceClassifier"),
    ),
    fitted_claim(
        "PureHalfspaceClassifier",
        "Pure epsilon at delta 0.",
        needs=("ExponentialMechanism.mechanism",),
    ),
)
"""Learners of halfspaces."""
