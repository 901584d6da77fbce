"""The chains of learners that know public records: images in their span, slopes of other losses, covers made from them."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.chain import Node
from proofs.learning.nodes import by_lemmas, by_tests, claimed

_SPAN: Final = "public_data/test_subspace.py::test_"
_LEARNERS: Final = "public_data/test_classifiers.py::test_"
_REGRESSOR: Final = "public_data/test_regressor.py::test_"
_COVERS: Final = "public_data/test_covers.py::test_"

NODES: Final = (
    by_tests(
        "subspaces",
        "sensitivity",
        "Images in the span of public records are exact, depend on their record alone, and are clipped after the projection.",
        (
            f"{_SPAN}no_image_is_longer_than_the_clip_whatever_the_record_holds",
            f"{_SPAN}an_image_depends_on_its_record_alone",
            f"{_SPAN}what_is_orthogonal_to_public_axes_changes_no_image",
            f"{_SPAN}exact_images_are_products_of_whole_numbers",
            f"{_SPAN}rows_of_another_lattice_or_width_are_refused",
        ),
        *("rows.records", "rows.maps"),
        binds=("public_data/subspace.py:PublicSubspace", "public_data/subspace.py:public_subspace"),
    ),
    by_tests(
        "subspaces.rule",
        "source",
        "Directions and plan come from public records and public quantities alone.",
        (
            f"{_LEARNERS}the_rule_sees_no_private_record_and_more_directions_for_more_of_them",
            f"{_LEARNERS}private_values_never_raise_warn_or_change_the_plan",
            f"{_LEARNERS}a_map_with_a_centre_is_refused_under_zero_out_and_the_rule_has_none",
        ),
        *("subspaces", "mapped"),
        binds=(
            "public_data/default_rule.py:public_plan",
            "public_data/default_rule.py:directions_for",
            "public_data/behind.py:seen",
            "public_data/default_rule.py:SpanDescent",
        ),
    ),
    Node(
        "slopes.projected",
        "sensitivity",
        "Every entry of the table of projected descent lies between 0 and the unit.",
        "proven",
        ("run:proofs.learning.tables:prove_projected_slopes",),
    ),
    by_tests(
        "projected",
        "source",
        "Projected descent releases gradients of slopes up to the unit, and projects what it computes from them.",
        (
            f"{_LEARNERS}slopes_of_the_logistic_loss_are_those_of_the_table",
            f"{_LEARNERS}projected_weights_stay_in_their_ball",
        ),
        *("slopes.projected", "slopes.cut", "gradients.moves", "GaussianMechanism.source", "rows.sums"),
        binds=("public_data/descent.py:ProjectedDescent", "public_data/descent.py:descent_slopes"),
    ),
    by_tests(
        "PublicSubspaceClassifier.source",
        "source",
        "The estimator is a learner behind that map.",
        (
            f"{_LEARNERS}weights_lie_in_the_span_whatever_the_private_records_are",
            f"{_LEARNERS}order_of_the_records_and_threads_change_no_bit",
            f"{_LEARNERS}public_parameters_are_refused_before_a_record_is_read",
        ),
        *("subspaces", "mapped", "projected"),
        binds=("public_data/subspace_classifier.py:PublicSubspaceClassifier",),
    ),
    claimed(
        "PublicSubspaceClassifier",
        "(epsilon, delta) for private records, for every choice of public ones that does not depend on them.",
        (f"{_LEARNERS}a_signal_is_learned_at_the_price_that_was_asked_for",),
        *("PublicSubspaceClassifier.source", "GaussianMechanism.mechanism", "orders.price"),
    ),
    by_tests(
        "squares",
        "sensitivity",
        "A label becomes a whole part of its bound, by itself, and residuals are cut at the unit.",
        (
            f"{_REGRESSOR}labels_become_whole_parts_of_their_bound_whatever_they_are",
            f"{_REGRESSOR}a_label_becomes_the_same_whatever_the_others_are",
            f"{_REGRESSOR}no_slope_is_longer_than_the_unit",
        ),
        "slopes.cut",
        binds=("rows/labels.py:targets", "public_data/squares.py:residuals", "public_data/squares.py:LeastSquares"),
    ),
    by_tests(
        "PublicSubspaceRegressor.source",
        "source",
        "A fit is noisy sums of residuals times rows, of records or of what public directions show of them.",
        (
            f"{_REGRESSOR}parameters_are_refused_before_a_record_is_read",
            f"{_REGRESSOR}private_values_never_raise_or_warn",
            f"{_REGRESSOR}predictions_are_within_the_bound_and_a_pickle_gives_the_same",
        ),
        *("squares", "descent", "subspaces", "mapped"),
        binds=("public_data/subspace_regressor.py:PublicSubspaceRegressor", "regression.py:PrivateRegressor"),
    ),
    claimed(
        "PublicSubspaceRegressor",
        "(epsilon, delta) for private records and their labels.",
        (f"{_REGRESSOR}a_signal_is_learned_at_the_price_that_was_asked_for",),
        *("PublicSubspaceRegressor.source", "GaussianMechanism.mechanism"),
    ),
    by_lemmas(
        "covers.range",
        "sensitivity",
        "A summed loss moves by its range over all scores, whatever public number is added; steepness alone would not bound it.",
        ("scores.falling", "scores.ends", "learners.centred_range"),
    ),
    by_tests(
        "covers.public",
        "sensitivity",
        "Candidates are made from public records; a record's scores are whole numbers of it and of them alone.",
        (
            f"{_COVERS}one_record_moves_every_score_by_no_more_than_the_range",
            f"{_COVERS}the_range_is_reached_up_to_a_few_parts",
            f"{_COVERS}the_law_of_the_choice_is_that_of_the_exponential_mechanism",
        ),
        *("covers.range", "subspaces", "counts", "networks", "scores.hinges"),
        binds=(
            *(f"public_data/covers.py:{name}" for name in ("LinearCandidates", "NetworkCandidates", "LinearCover", "NetworkCover")),
            "public_data/covers.py:NormCover",
        ),
    ),
    by_tests(
        "PublicCoverClassifier.source",
        "source",
        "A fit is one choice by summed hinge losses.",
        (
            f"{_LEARNERS}public_parameters_are_refused_before_a_record_is_read",
            f"{_LEARNERS}a_ridge_prefers_short_weights_and_belongs_to_linear_candidates",
        ),
        *("covers.public", "ExponentialMechanism.source"),
        binds=("public_data/cover_classifier.py:PublicCoverClassifier", "public_data/cover_classifier.py:CoverPlan"),
    ),
    claimed(
        "PublicCoverClassifier",
        "Pure epsilon.",
        (f"{_LEARNERS}a_signal_is_learned_at_the_price_that_was_asked_for",),
        *("PublicCoverClassifier.source", "ExponentialMechanism.mechanism"),
    ),
)
"""Learners with public records."""
