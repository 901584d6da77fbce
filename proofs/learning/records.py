"""Nodes that all learners share: records become rows, rows become sums and images, a fit releases what it planned."""

from __future__ import annotations

from typing import Final

from proofs.nodes import TESTS, code, lemmas, sensitivity, source

_INGEST: Final = "test:tests/learners/rows/test_ingest.py::test_"
_MAPS: Final = "test:tests/learners/rows/test_maps.py::test_"
_ESTIMATOR: Final = "test:tests/learners/test_estimator.py::test_"
_EVERY: Final = "test:tests/learners/test_every_learner.py::test_"

NODES: Final = (
    sensitivity(
        "neighbours",
        "Neighbours differ in the record at one place; what a plan reads is public: counts of records, features, classes; bounds.",
        "citation:the definitions of replace_one, zero_out, label, and of add_remove with n_nominal",
    ),
    sensitivity(
        "rows.norms",
        "Truncation does not lengthen a row, and a bound that is the least whole root holds the constant behind it too.",
        *lemmas("sums.root_above", "sums.constant"),
        needs=("truncation",),
    ),
    sensitivity(
        "rows.records",
        "A record becomes a row of bounded norm and a place among public classes, by itself, whatever it and the others hold.",
        f"{_INGEST}no_row_is_longer_than_the_bound_and_the_constant_stands_in_each",
        f"{_INGEST}what_becomes_of_a_record_depends_on_that_record_alone",
        f"{_INGEST}arrays_and_sparse_matrices_give_the_same_whole_numbers",
        f"{_INGEST}broken_and_extreme_records_are_mapped_in_place_without_a_word",
        f"{TESTS}rows/test_labels.py::test_no_label_is_refused_and_each_has_its_place_whatever_stands_beside_it",
        needs=("rows", "rows.norms"),
        binds=(
            *code("learners/rows/ingest.py", "to_rows", "_Ball"),
            *code("learners/rows/labels.py", "positions"),
            *code("learners/rows/rows.py", "row_bound"),
            *code("mechanisms/roots.py", "whole_root_above"),
        ),
    ),
    sensitivity(
        "rows.exact",
        "Partial sums are bounded by public numbers, below 2^53 where floats add and below 2^63 where integers do.",
        *lemmas("sums.part", "sums.exact", "sensitivity.prediction", "sensitivity.discriminant", "sensitivity.quadratic_step"),
    ),
    sensitivity(
        "rows.sums",
        "Margins, weighted sums and second moments are exact: a record's part of them depends on nothing else.",
        f"{TESTS}rows/test_rows.py::test_margins_are_exact",
        f"{TESTS}rows/test_rows.py::test_weighted_sums_are_exact",
        f"{TESTS}rows/test_rows.py::test_second_moments_are_exact",
        f"{TESTS}rows/test_rows.py::test_rows_at_the_bound_are_summed_without_losing_a_unit",
        f"{TESTS}rows/test_rows.py::test_order_runs_and_storage_change_nothing",
        needs=("rows.exact", "rows.records"),
        binds=code("learners/rows/rows.py", "Rows", "_norm_above"),
    ),
    sensitivity(
        "rows.maps",
        "Public maps act record by record, are fixed before records are read, and clip every image as whole numbers.",
        f"{_MAPS}what_a_record_becomes_does_not_depend_on_the_others",
        f"{_MAPS}no_image_is_longer_than_the_bound",
        f"{_MAPS}the_map_is_fixed_before_any_record_is_read",
        f"{_MAPS}a_clip_is_what_bounds_an_image",
        f"{TESTS}rows/test_fourier.py::test_no_phase_makes_an_image_longer_than_its_share",
        f"{TESTS}rows/test_polynomial.py::test_a_record_at_the_bound_has_an_image_at_the_bound",
        needs=("rows.records",),
        binds=(
            *code("learners/rows/images.py", "clip_images", "map_blocks"),
            *code("mechanisms/roots.py", "root_above"),
            *code("learners/rows/signs.py", "SignMap"),
            *code("learners/rows/hadamard.py", "HadamardMap"),
            *code("learners/rows/projected.py", "ProjectedMap"),
            *code("learners/rows/fourier.py", "FourierMap"),
            *code("learners/rows/polynomial.py", "PolynomialMap"),
            *code("learners/rows/sketch.py", "SketchMap"),
        ),
    ),
    source(
        "fits",
        "A fit plans from public quantities, releases just what it planned, and keeps what was released and public constants.",
        f"{_ESTIMATOR}more_or_less_than_the_plan_is_never_released",
        f"{_ESTIMATOR}a_plan_that_costs_more_than_epsilon_is_not_carried_out",
        f"{_ESTIMATOR}without_noise_what_depends_on_the_records_is_what_was_released",
        f"{_ESTIMATOR}parameters_are_refused_before_a_record_is_read",
        f"{_ESTIMATOR}no_value_of_a_record_is_refused_or_mentioned",
        f"{_EVERY}a_pickle_holds_no_training_value_and_what_depends_on_records_is_what_was_released",
        f"{_EVERY}private_values_never_raise_or_warn_and_no_record_is_dropped",
        f"{_EVERY}public_maps_candidates_and_noise_are_the_same_for_all_data",
        f"{_EVERY}relations_without_a_proof_are_refused",
        f"{TESTS}test_record.py::test_a_record_is_the_composition_of_what_ran",
        needs=("rows.records",),
        binds=(
            *code(
                *("learners/estimator.py", "PrivateModel.fit", "PrivateModel._public", "PrivateModel._planned"),
                *("PrivateModel._run", "PrivateModel._rows", "PrivateModel.__getstate__"),
            ),
            *code("learners/record.py", "Charge", "PrivacyRecord.of", "PrivacyRecord.ran"),
        ),
    ),
)
"""Nodes that every learner rests on."""
