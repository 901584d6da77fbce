"""The chain of a search among private fits: a secret number of runs, one release for all of them."""

from __future__ import annotations

from typing import Final

from proofs.nodes import code, composition, learner_claim, lemmas, mechanism, source

_SEARCH: Final = "test:tests/learners/selection/test_grid_search.py::test_"

_PRICE: Final = "test:tests/accounting/test_best_of.py::test_"

NODES: Final = (
    mechanism(
        "searches.best",
        "The best of a number of runs of a private mechanism that is drawn from this law costs what the theorem says.",
        "citation:Papernot, Steinke 2022, Theorems 2 and 6; Liu, Talwar 2019",
    ),
    composition(
        "searches.price",
        "The price of a search encloses what the theorem gives, from the moments of a run or from its epsilon.",
        f"{_PRICE}moments_are_above_those_of_the_best_of_randomized_responses",
        f"{_PRICE}the_expected_number_of_runs_is_that_of_the_law",
        f"{_PRICE}a_release_is_priced_as_the_law_says",
        f"{_PRICE}moments_are_above_those_of_the_best_of_a_poisson_number_of_gaussian_cells",
        f"{_PRICE}a_release_of_poisson_runs_is_priced_as_the_law_says_and_others_are_refused",
        needs=("searches.best", "balls"),
        binds=(
            *code("dpaudit/accounting/laws/best_of.py", "BestOf"),
            *code("dpaudit/accounting/builders/selection.py", "best_of_negative_binomial_runs"),
            *code("dpaudit/accounting/laws/best_of.py", "BestOfPoisson"),
            *code("dpaudit/accounting/builders/selection.py", "best_of_poisson_runs"),
        ),
        kind="certified",
    ),
    composition(
        "searches.parts",
        "A record is learned from or counted, so that a run costs the larger of both; a count of right ones moves by 1.",
        *lemmas("composition.parallel", "scores.count"),
    ),
    source(
        "searches.number",
        "The number of runs is drawn exactly from its law, and is not kept.",
        f"{_SEARCH}numbers_of_runs_have_their_law",
        f"{_SEARCH}poisson_numbers_of_runs_have_their_law",
        f"{_SEARCH}a_number_of_runs_follows_from_its_first_digits",
        f"{_SEARCH}the_number_of_fits_is_not_kept",
        needs=("sampler.lazy", "bits", "balls"),
        binds=code("learners/selection/runs.py", "Runs", "PoissonRuns", "_draw"),
    ),
    source(
        "PrivateGridSearchCV.source",
        "Candidates are drawn and fitted at their share of epsilon, scored on held-out records, and only the best is released.",
        f"{_SEARCH}one_release_stands_for_all_fits_and_the_budget_pays_once",
        f"{_SEARCH}every_fit_and_every_score_has_its_share_of_epsilon",
        f"{_SEARCH}neighbours_differ_in_what_is_learned_from_or_in_what_is_counted_never_in_both",
        f"{_SEARCH}what_the_theorem_does_not_cover_is_refused",
        f"{_SEARCH}fits_without_a_bound_on_their_moments_are_refused",
        f"{_SEARCH}a_poisson_number_of_fits_is_refused_where_it_has_no_price",
        f"{_SEARCH}searches_take_public_parameters_only",
        needs=("searches.number", "searches.parts", "LaplaceMechanism.source", "GaussianMechanism.source", "fits"),
        binds=code("learners/selection/grid_search.py", "GridPlan", "PrivateGridSearchCV", "_one_run", "_score", "_cost", "_right"),
    ),
    learner_claim(
        "PrivateGridSearchCV",
        "(epsilon, delta), or pure at delta 0, for all fits together, if each of them is as private as its own claim says.",
        f"{_SEARCH}one_release_stands_for_all_fits_and_the_budget_pays_once",
        f"{_SEARCH}gaussian_fits_cost_what_their_moments_say",
        f"{_SEARCH}a_poisson_number_of_gaussian_fits_costs_what_its_theorem_says",
        needs=("searches.price", "LaplaceMechanism.mechanism", "GaussianMechanism.mechanism", "declared"),
    ),
)
"""Searches among fits."""
