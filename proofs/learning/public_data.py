"""The chains of learners that know public records: images in their span, slopes of other losses, covers made from them."""

from __future__ import annotations

from typing import Final

from proofs.nodes import code, fitted_claim, lemmas, sensitivity, source

_SPAN: Final = "test:tests/learners/public_data/test_subspace.py::test_"
_LEARNERS: Final = "test:tests/learners/public_data/test_classifiers.py::test_"
_REGRESSOR: Final = "test:tests/learners/public_data/test_regressor.py::test_"
_COVERS: Final = "test:tests/learners/public_data/test_covers.py::test_"

NODES: Final = (
    sensitivity(
        "subspaces",
        "Images in the span of public records are exact, depend on their record alone, and are clipped after the projection.",
        f"{_SPAN}no_image_is_longer_than_the_clip_whatever_the_record_holds",
        f"{_SPAN}an_image_depends_on_its_record_alone",
        f"{_SPAN}what_is_orthogonal_to_public_axes_changes_no_image",
        f"{_SPAN}exact_images_are_products_of_whole_numbers",
        f"{_SPAN}rows_of_another_lattice_or_width_are_refused",
        needs=("rows.records", "rows.maps"),
        binds=code("learners/public_data/subspace.py", "PublicSubspace", "public_subspace"),
    ),
    source(
        "subspaces.rule",
        "Directions and plan come from public records and public quantities alone.",
        f"{_LEARNERS}the_rule_sees_no_private_record_and_more_directions_for_more_of_them",
        f"{_LEARNERS}private_values_never_raise_warn_or_change_the_plan",
        f"{_LEARNERS}a_map_with_a_centre_is_refused_under_zero_out_and_the_rule_has_none",
        needs=("subspaces", "mapped"),
        binds=(
            *code("learners/public_data/default_rule.py", "public_plan", "directions_for"),
            *code("learners/public_data/plans.py", "map_rows"),
            *code("learners/public_data/default_rule.py", "SpanDescent"),
        ),
    ),
    sensitivity(
        "slopes.projected",
        "Every entry of the table of projected descent lies between 0 and the unit.",
        "run:proofs.learning.tables:prove_projected_slopes",
    ),
    source(
        "projected",
        "Projected descent releases gradients of slopes up to the unit, and projects what it computes from them.",
        f"{_LEARNERS}slopes_of_the_logistic_loss_are_those_of_the_table",
        f"{_LEARNERS}projected_weights_stay_in_their_ball",
        needs=("slopes.projected", "slopes.cut", "gradients.moves", "GaussianMechanism.source", "rows.sums"),
        binds=code("learners/public_data/descent.py", "ProjectedDescent", "descent_slopes"),
    ),
    source(
        "PublicSubspaceClassifier.source",
        "The estimator is a learner behind that map.",
        f"{_LEARNERS}weights_lie_in_the_span_whatever_the_private_records_are",
        f"{_LEARNERS}order_of_the_records_and_threads_change_no_bit",
        f"{_LEARNERS}public_parameters_are_refused_before_a_record_is_read",
        needs=("subspaces", "mapped", "projected"),
        binds=code("learners/public_data/subspace_classifier.py", "PublicSubspaceClassifier"),
    ),
    fitted_claim(
        "PublicSubspaceClassifier",
        "(epsilon, delta) for private records, for every choice of public ones that does not depend on them.",
        needs=("GaussianMechanism.mechanism", "orders.price"),
    ),
    sensitivity(
        "squares",
        "A label becomes a whole part of its bound, by itself, and residuals are cut at the unit.",
        f"{_REGRESSOR}labels_become_whole_parts_of_their_bound_whatever_they_are",
        f"{_REGRESSOR}a_label_becomes_the_same_whatever_the_others_are",
        f"{_REGRESSOR}no_slope_is_longer_than_the_unit",
        needs=("slopes.cut",),
        binds=(
            *code("learners/rows/labels.py", "targets"),
            *code("learners/public_data/subspace_regressor.py", "residuals", "LeastSquares"),
        ),
    ),
    source(
        "PublicSubspaceRegressor.source",
        "A fit is noisy sums of residuals times rows, of records or of what public directions show of them.",
        f"{_REGRESSOR}parameters_are_refused_before_a_record_is_read",
        f"{_REGRESSOR}private_values_never_raise_or_warn",
        f"{_REGRESSOR}predictions_are_within_the_bound_and_a_pickle_gives_the_same",
        needs=("squares", "descent", "subspaces", "mapped"),
        binds=(
            *code("learners/public_data/subspace_regressor.py", "PublicSubspaceRegressor"),
            *code("learners/regression.py", "PrivateRegressor"),
        ),
    ),
    fitted_claim(
        "PublicSubspaceRegressor",
        "(epsilon, delta) for private records and their labels.",
        needs=("GaussianMechanism.mechanism",),
    ),
    sensitivity(
        "covers.range",
        "A summed loss moves by its range over all scores, whatever public number is added; steepness alone would not bound it.",
        *lemmas("scores.falling", "scores.ends", "learners.centred_range"),
    ),
    sensitivity(
        "covers.public",
        "Candidates are made from public records; a record's scores are whole numbers of it and of them alone.",
        f"{_COVERS}one_record_moves_every_score_by_no_more_than_the_range",
        f"{_COVERS}the_range_is_reached_up_to_a_few_parts",
        f"{_COVERS}the_law_of_the_choice_is_that_of_the_exponential_mechanism",
        needs=("covers.range", "subspaces", "counts", "networks", "scores.hinges"),
        binds=code(
            "learners/public_data/covers.py", "LinearCandidates", "NetworkCandidates", "LinearCover", "NetworkCover", "NormCover"
        ),
    ),
    source(
        "PublicCoverClassifier.source",
        "A fit is one choice by summed hinge losses.",
        f"{_LEARNERS}public_parameters_are_refused_before_a_record_is_read",
        f"{_LEARNERS}a_ridge_prefers_short_weights_and_belongs_to_linear_candidates",
        needs=("covers.public", "ExponentialMechanism.source"),
        binds=code("learners/public_data/cover_classifier.py", "PublicCoverClassifier", "CoverPlan"),
    ),
    fitted_claim(
        "PublicCoverClassifier",
        "Pure epsilon at delta 0.",
        needs=("ExponentialMechanism.mechanism",),
    ),
)
"""Learners with public records."""
