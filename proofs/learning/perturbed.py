"""The chains of regularised minimisers that are private by noise in the weights or in the objective."""

from __future__ import annotations

from typing import Final

from proofs.nodes import code, fitted_claim, lemmas, mechanism, sensitivity, source

_CERTIFIED: Final = "test:tests/learners/solvers/test_certified.py::test_"
_PERTURBED: Final = "test:tests/learners/perturbation/test_perturbation.py::test_"

NODES: Final = (
    sensitivity(
        "minimisers.moves",
        "A regularised minimiser moves by 2 S R/(n ridge), what is found by twice the radius more, rounded by a root of columns.",
        *lemmas(
            *("sensitivity.minimiser", "sensitivity.minimiser_norm", "sensitivity.minimiser_residual", "passes.nearest"),
            *("minimisers.rounded_step", "passes.triangle"),
        ),
    ),
    sensitivity(
        "minimisers",
        "A public number of steps brings floats within a public distance of the minimiser, whatever the records are.",
        f"{_CERTIFIED}the_gradient_is_as_short_as_certified_in_exact_arithmetic",
        f"{_CERTIFIED}weights_of_one_column_are_as_close_to_the_minimiser_as_certified",
        f"{_CERTIFIED}replacing_a_record_moves_the_weights_by_no_more_than_planned",
        f"{_CERTIFIED}the_sensitivity_of_the_minimiser_is_attained_by_a_straight_loss",
        f"{_CERTIFIED}the_plan_depends_on_public_numbers_only_and_steps_are_counted",
        f"{_CERTIFIED}losses_are_convex_and_no_steeper_or_more_curved_than_they_say",
        f"{_CERTIFIED}rows_that_a_plan_was_not_made_for_are_refused",
        needs=("minimisers.moves", "minimisers.descent", "rows.norms"),
        binds=(
            *code("learners/solvers/certified.py", "Objective", "objective", "_gradient_error", "minimise", "_Slopes"),
            *code("learners/solvers/losses.py", "Loss", "_Knots", "_table"),
            *code("learners/solvers/minimum.py", "Minimum", "minimum"),
        ),
    ),
    sensitivity(
        "minimisers.descent",
        "Accelerated gradient steps come as close as their theorem says; docs count what roundings add.",
        "citation:Nesterov 2004, Theorem 2.2.3; docs/choices_and_perturbation.md",
    ),
    source(
        "perturbed",
        "A fit is its planned releases about one minimiser; rows are in units of their largest norm, the constant included.",
        f"{_PERTURBED}the_log_holds_what_was_planned_and_the_budget_pays_for_it",
        f"{_PERTURBED}plans_cost_no_more_than_epsilon",
        f"{_PERTURBED}no_private_value_makes_a_fit_refuse_raise_or_warn",
        f"{_PERTURBED}only_released_numbers_and_public_constants_are_pickled",
        f"{_PERTURBED}public_parameters_are_refused_before_anything_is_drawn",
        f"{_PERTURBED}other_relations_are_not_proved",
        needs=("minimisers", "rows.records"),
        binds=code("learners/perturbation/weights.py", "PerturbedPlan", "PerturbedClassifier"),
    ),
    source(
        "OutputPerturbation.source",
        "Rounded weights with spherical Laplace noise, or with Gaussian noise, for how far one record moves them.",
        f"{_PERTURBED}noise_covers_the_minimiser_the_solver_and_the_lattice",
        needs=("perturbed", "EuclideanMechanism.source", "GaussianMechanism.source"),
        binds=code(
            *("learners/perturbation/output.py", "OutputPerturbation", "noise_of", "noisy_minimiser", "rounded_minimiser"),
            "spherical_release",
        ),
    ),
    fitted_claim(
        "OutputPerturbation",
        "Pure epsilon at delta 0, else (epsilon, delta).",
        needs=("EuclideanMechanism.mechanism", "GaussianMechanism.mechanism"),
    ),
    sensitivity(
        "perturbed.sizes",
        "The sizes of the entries of a vector sum to at most its length times the root of their number.",
        *lemmas("minimisers.sizes_step"),
    ),
    source(
        "PrivateSVM.source",
        "Rounded weights with discrete Laplace noise for the sum of the sizes of what one record moves; images are public maps'.",
        f"{_PERTURBED}the_machine_pays_for_the_sum_of_the_sizes_of_its_weights_and_half_of_what_was_published",
        f"{_PERTURBED}images_of_records_are_all_that_a_kernel_machine_sees",
        needs=("perturbed", "perturbed.sizes", "LaplaceMechanism.source", "rows.maps"),
        binds=code("learners/perturbation/svm.py", "SvmPlan", "PrivateSVM"),
    ),
    fitted_claim(
        "PrivateSVM",
        "Pure epsilon at delta 0.",
        needs=("LaplaceMechanism.mechanism",),
    ),
    mechanism(
        "objectives.term",
        "The random term that leads to a minimiser moves by 2 S if a record is replaced, determinants by 1 + c/(n ridge).",
        *lemmas("minimisers.linear_term", "minimisers.curvature"),
    ),
    mechanism(
        "objectives.density",
        "The density of a minimiser is that of the random term that leads to it, times a determinant of the curvature.",
        "citation:Chaudhuri, Monteleoni, Sarwate 2011, Theorem 9",
    ),
    source(
        "ObjectivePerturbation.source",
        "What floats find for one random term is as close to the exact minimiser as the output noise pays for.",
        f"{_PERTURBED}weights_are_as_close_to_the_exact_minimiser_of_the_perturbed_objective_as_output_noise_pays_for",
        f"{_PERTURBED}a_random_term_that_is_longer_than_all_margins_changes_nothing_about_the_distance",
        f"{_PERTURBED}the_scale_of_the_term_and_the_price_of_the_curvature_are_what_the_proof_asks_for",
        f"{_PERTURBED}no_density_ratio_exceeds_the_term_and_once_the_curvature",
        needs=("perturbed", "EuclideanMechanism.source", "sampler.vectors"),
        binds=code(
            *("learners/perturbation/objective.py", "ObjectivePerturbation", "perturbed_objective", "weight_bits"),
            *("linear_release", "minimise_perturbed", "stretch_cost", "_linear_share", "_published_share"),
        ),
    ),
    fitted_claim(
        "ObjectivePerturbation",
        "Pure epsilon at delta 0: the random term, the curvature once, and the output noise.",
        needs=("objectives.term", "objectives.density", "EuclideanMechanism.mechanism"),
    ),
)
"""Learners by perturbation."""
