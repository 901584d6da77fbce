"""The chain of boosting and of linear regression: counts, sums of slopes in bins, and level, up to the claims."""

from __future__ import annotations

from typing import Final

from proofs.nodes import TESTS, code, fitted_claim, sensitivity, source

_BINS: Final = f"{TESTS}rows/test_columns.py::test_"
_ROUNDS: Final = f"{TESTS}boosting/test_rounds.py::test_"
_FITS: Final = f"{TESTS}boosting/test_boosting.py::test_"

NODES: Final = (
    sensitivity(
        "columns",
        "The bin of a cell is a function of that cell and of public ranges and categories; every record has one bin a column.",
        f"{_BINS}the_bin_of_a_cell_does_not_depend_on_other_records",
        f"{_BINS}every_cell_has_a_bin_whatever_it_holds",
        needs=("neighbours",),
        binds=(
            *code("learners/rows/columns.py", "Column", "read_cells", "describe_columns", "read_columns"),
            *code("learners/boosting/rounds.py", "one_hot"),
        ),
    ),
    sensitivity(
        "counts.binned",
        "One record moves the counts by at most the planned sensitivity: an entry a column and one for the label, or two of each.",
        f"{_ROUNDS}one_record_moves_the_counts_by_no_more_than_their_sensitivity",
        needs=("columns", "rows.sums"),
        binds=(
            *code("learners/boosting/plans.py", "count_sensitivity"),
            *code("learners/boosting/rounds.py", "count_records"),
            *code("learners/solvers/label_scale.py", "bin_targets"),
        ),
    ),
    sensitivity(
        "slopes.binned",
        "Rows that slopes are summed over are no longer than the plan's bound, whatever was counted, and no slope than the unit.",
        f"{_ROUNDS}no_row_of_slopes_is_longer_than_its_bound",
        f"{_ROUNDS}one_record_moves_a_round_by_no_more_than_its_sensitivity",
        f"{_ROUNDS}no_slope_of_a_regressor_is_longer_than_the_unit",
        needs=("columns", "slopes", "gradients.moves"),
        binds=(
            *code("learners/boosting/forms.py", "Form", "row_lengths", "sum_slopes"),
            *code("learners/boosting/losses.py", "class_loss", "square_loss"),
            *code("learners/solvers/label_scale.py", "LabelScale", "cut_residuals"),
        ),
    ),
    source(
        "boosting",
        "A fit is noisy counts, the planned sums of slopes and of their level; everything else is computed from these.",
        f"{_ROUNDS}exactly_what_was_planned_is_released",
        f"{_ROUNDS}shapes_depend_on_what_was_released_alone",
        f"{_ROUNDS}the_releases_together_cost_at_most_the_budget_and_not_much_less",
        needs=("GaussianMechanism.source", "counts.binned", "slopes.binned", "rounding"),
        binds=(
            *code("learners/boosting/rounds.py", "boost", "_find_level", "release_counts"),
            *code("learners/boosting/plans.py", "BoostingPlan", "boosting_plan"),
        ),
    ),
    source(
        "PrivateBoostingClassifier.source",
        "The estimator is such a fit.",
        f"{_FITS}a_curved_effect_is_learned_at_the_price_that_was_asked_for",
        needs=("boosting",),
        binds=code("learners/boosting/boosting.py", "Boosting", "PrivateBoostingClassifier"),
    ),
    fitted_claim(
        "PrivateBoostingClassifier",
        "(epsilon, delta), the composition of the planned Gaussian releases.",
        needs=("GaussianMechanism.mechanism",),
    ),
    source(
        "PrivateBoostingRegressor.source",
        "The estimator is such a fit, on labels that are whole parts of their bound.",
        f"{_FITS}a_curve_is_regressed_at_the_price_that_was_asked_for",
        needs=("boosting", "squares"),
        binds=code("learners/boosting/boosting.py", "Boosting", "PrivateBoostingRegressor"),
    ),
    fitted_claim(
        "PrivateBoostingRegressor",
        "(epsilon, delta) for records and their labels.",
        needs=("GaussianMechanism.mechanism",),
    ),
    source(
        "PrivateLinearRegression.source",
        "A fit is noisy counts of the labels, and noisy sums of cut residuals times rows.",
        f"{TESTS}public_data/test_linear_regression.py::test_weights_in_their_own_units_give_the_predictions",
        f"{TESTS}public_data/test_linear_regression.py::test_one_label_moves_the_counts_by_no_more_than_their_sensitivity",
        needs=("slopes.binned", "descent"),
        binds=code("learners/public_data/linear_regression.py", "PrivateLinearRegression", "RegressionPlan", "regression_plan"),
    ),
    fitted_claim(
        "PrivateLinearRegression",
        "(epsilon, delta) for records and their labels.",
        needs=("GaussianMechanism.mechanism",),
    ),
)
"""Boosting, and least squares under the name that people look for."""
