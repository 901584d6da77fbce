"""The chains of the mechanisms that ship, as nodes of the proof graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpaudit.verifier.chain import Node

_TESTS: Final = "test:tests/mechanisms/"
_SHIPPED: Final = "test:tests/proofs/test_shipped_paths.py::"
_LOGGED: Final = "test_the_log_holds_what_was_done_and_its_price_is_the_mechanisms_loss"
_PRICES: Final = "test_the_log_prices_releases_as_the_mechanism_does"
_PROMISE: Final = "test_the_log_shows_nothing_of_the_data_and_prices_a_release_at_its_promise"
_RUN: Final = "test_sparse_vector.py::test_a_run_is_logged_once_when_it_starts_and_priced_at_its_epsilon"
_PRICED: Final[Mapping[str, tuple[str, ...]]] = {
    "AboveThreshold": (_RUN,),
    "AdditiveMechanism": (
        "test_additive.py::test_claims_say_what_holds",
        "test_additive.py::test_a_release_lies_on_the_lattice_and_is_logged_and_priced",
    ),
    "DiscreteGaussianMechanism": (f"test_discrete_gaussian.py::{_PRICES}",),
    "EuclideanMechanism": (f"test_euclidean.py::{_PRICES}",),
    "ExponentialMechanism": (f"test_exponential.py::{_LOGGED}",),
    "GaussianMechanism": ("test_noise.py::test_the_log_of_gaussian_releases_prices_them_as_the_mechanism_does",),
    "HistogramMechanism": (
        "test_histogram.py::test_the_log_of_laplace_releases_prices_them_at_the_claim",
        "test_histogram.py::test_gaussian_noise_costs_what_all_moved_counts_cost_together",
    ),
    "LaplaceMechanism": ("test_noise.py::test_the_log_of_laplace_releases_prices_them_as_the_mechanism_does",),
    "NoisyMax": (f"test_noisy_max.py::{_LOGGED}",),
    "PartitionSelection": (f"test_partition_selection.py::{_PROMISE}",),
    "PermuteAndFlip": (f"test_permute_and_flip.py::{_LOGGED}",),
    "RandomizedResponse": ("test_response.py::test_the_log_prices_an_array_once_since_every_entry_is_another_person",),
    "RealGaussianMechanism": ("test_float_noise.py::test_gaussian_releases_cost_what_the_continuous_mechanism_costs",),
    "RealLaplaceMechanism": ("test_float_noise.py::test_laplace_releases_cost_what_the_continuous_mechanism_costs",),
    "SparseVector": (_RUN,),
    "StabilityHistogram": (f"test_stability_histogram.py::{_PROMISE}",),
    "TopK": ("test_top_k.py::test_the_log_holds_every_choice_and_its_price_is_the_mechanisms_loss",),
    "VectorMechanism": (f"test_vector.py::{_PRICES}",),
}
"""Which tests hold a mechanism's claim and log against the price of its loss."""


def _program(module: str, *names: str) -> tuple[str, ...]:
    """Evidence by certificates of programs of one module."""
    return tuple(f"certificate:proofs.{module}:{name}" for name in names)


def _lemma(*names: str) -> tuple[str, ...]:
    """Evidence by lemmas."""
    return tuple(f"lemma:{name}" for name in names)


def _noise(name: str, stem: str, sampler: str, mechanism: Node, claim: str, *sensitivities: str) -> tuple[Node, ...]:
    """The chain of a mechanism that adds noise to a value on a lattice."""
    source = Node(
        f"{name}.source",
        "source",
        "A release is the value in steps plus a draw of the law, checked first and logged before.",
        "enumerated",
        (
            f"{_SHIPPED}test_a_number_is_released_as_its_program_does_on_every_tape",
            f"{_SHIPPED}test_an_array_is_released_as_its_program_does_on_every_tape",
            f"{_TESTS}test_noise.py::test_writing_steps_is_exact_in_every_format",
        ),
        (sampler,),
        ("mechanisms/noise.py:Noise", f"mechanisms/{stem}.py:{name}"),
    )
    return source, mechanism, _claim(name, claim, source.id, mechanism.id, *(sensitivities or ("declared",)))


def _claim(name: str, statement: str, *needs: str) -> Node:
    """What a mechanism promises, which follows from its chain; a test holds what it says and logs against what it costs."""
    evidence = tuple(f"{_TESTS}{test}" for test in _PRICED[name])
    return Node(f"{name}.claim", "claim", statement, "tested", evidence, (*needs, "composition"))


_NOISE: Final = (
    *_noise(
        "LaplaceMechanism",
        "laplace",
        "sampler.laplace",
        Node(
            "LaplaceMechanism.mechanism",
            "mechanism",
            "Discrete Laplace noise in every number costs the L1 distance over the scale, for any number of them.",
            "proven",
            _program("additive", "number", "array"),
        ),
        "epsilon = sensitivity / scale.",
    ),
    *_noise(
        "DiscreteGaussianMechanism",
        "discrete_gaussian",
        "sampler.gaussian",
        Node(
            "DiscreteGaussianMechanism.mechanism",
            "mechanism",
            "Discrete Gaussian noise has zCDP cost distance^2 / (2 sigma^2), also summed over an array.",
            "proven",
            _program("additive", "discrete_gaussian_number"),
            ("coordinates",),
        ),
        "rho = sensitivity^2 / (2 sigma^2).",
    ),
    *_noise(
        "GaussianMechanism",
        "gaussian",
        "sampler.rounded",
        Node(
            "GaussianMechanism.mechanism",
            "mechanism",
            "Real Gaussian noise, rounded afterwards: zCDP distance^2 / (2 sigma^2), and the exact Gaussian loss.",
            "proven",
            (*_program("additive", "gaussian_number"), *_lemma("conversions.gaussian")),
            ("coordinates", "rounding", "GaussianMechanism.rotation"),
        ),
        "The loss of one Gaussian at the L2 sensitivity.",
    ),
    Node(
        "GaussianMechanism.rotation",
        "mechanism",
        "Gaussians in several coordinates are one at the L2 distance; their loss is dominated at the largest distance.",
        "axiom",
        ("citation:Dong, Roth, Su 2022, Theorem 2.7 and Corollary 3.3",),
    ),
    *_noise(
        "AdditiveMechanism",
        "additive",
        "sampler.staircase",
        Node(
            "AdditiveMechanism.mechanism",
            "mechanism",
            "Staircases change by one step at most; every law has the loss of its worst shift, summed by its definition.",
            "proven",
            _lemma("sensitivity.floor_multiples"),
            ("AdditiveMechanism.losses",),
        ),
        "The loss of the law at the worst shift, per law.",
    ),
    Node(
        "AdditiveMechanism.losses",
        "mechanism",
        "Delta is that of the worst shift in either direction, enclosed in balls.",
        "certified",
        (
            f"{_TESTS}test_additive.py::test_delta_is_that_of_the_worst_shift_in_either_direction",
            f"{_TESTS}test_additive.py::test_finite_noise_is_dominated_by_its_pair_and_meets_it",
        ),
    ),
)

_QUERIES: Final = (
    Node(
        "comparisons.source",
        "source",
        "Runs compare as their program does, bit for bit, one question at a time and all at once.",
        "enumerated",
        (
            f"{_SHIPPED}test_a_run_is_its_program_on_every_tape",
            f"{_SHIPPED}test_a_run_with_numbers_is_its_program_on_every_tape",
            f"{_SHIPPED}test_at_full_size_runs_are_their_program_on_random_tapes",
            f"{_TESTS}test_comparisons.py::test_many_runs_at_once_are_independent_runs_with_these_odds",
        ),
        ("sampler.laplace",),
        ("mechanisms/comparisons.py:Run", "mechanisms/comparisons.py:Comparisons"),
    ),
    Node(
        "comparisons.mechanism",
        "mechanism",
        "Comparisons with one noisy threshold cost 1/s1 + 2 c/s2 + c/s3 a step, monotonic ones 1/s1 + c/s2, however many.",
        "proven",
        (*_program("sparse_vector", "answers", "monotonic_answers", "numbers"), *_lemma("arguments.shares")),
        ("steps", "adaptive"),
    ),
    *(
        _claim(name, "Pure epsilon for a whole run.", f"{name}.source", "comparisons.mechanism", "declared")
        for name in ("AboveThreshold", "SparseVector")
    ),
    *(
        Node(
            f"{name}.source",
            "source",
            "The scales are those of the shares.",
            "tested",
            (f"{_SHIPPED}test_the_scales_of_a_run_cost_its_epsilon",),
            ("comparisons.source",),
            (f"mechanisms/{stem}.py:{name}",),
        )
        for name, stem in (("AboveThreshold", "above_threshold"), ("SparseVector", "sparse_vector"))
    ),
    Node(
        "HistogramMechanism.source",
        "source",
        "A release is the counts, every one with noise of the mechanism for arrays.",
        "enumerated",
        (f"{_SHIPPED}test_a_histogram_is_released_as_its_program_does_on_every_tape",),
        ("LaplaceMechanism.source", "GaussianMechanism.source"),
        ("mechanisms/histogram.py:HistogramMechanism",),
    ),
    _claim(
        "HistogramMechanism",
        "Pure n/scale, or n Gaussians, n being the counts that may move.",
        *("HistogramMechanism.source", "LaplaceMechanism.mechanism", "GaussianMechanism.mechanism", "people"),
    ),
    Node(
        "StabilityHistogram.source",
        "source",
        "A release is the noisy counts of keys that somebody has, cut at the threshold.",
        "tested",
        (
            f"{_TESTS}test_stability_histogram.py::test_a_release_is_the_counts_plus_draws_of_the_law_cut_at_the_threshold",
            f"{_TESTS}test_stability_histogram.py::test_released_keys_come_in_their_public_order",
        ),
        ("sampler.laplace",),
        ("mechanisms/stability_histogram.py:StabilityHistogram", "mechanisms/stability_histogram.py:least_shift"),
    ),
    Node(
        "StabilityHistogram.mechanism",
        "mechanism",
        "The stability theorem, with a threshold that satisfies both of its conditions.",
        "proven",
        _lemma("arguments.stability", "arguments.stability_hidden"),
        ("LaplaceMechanism.mechanism", "StabilityHistogram.threshold"),
    ),
    Node(
        "StabilityHistogram.threshold",
        "mechanism",
        "The threshold is the least that the theorem allows, by certified arithmetic.",
        "certified",
        (
            f"{_TESTS}test_stability_histogram.py::test_the_threshold_is_the_least_that_the_theorem_allows",
            f"{_TESTS}test_stability_histogram.py::test_the_tail_of_the_law_that_samples_is_the_tail_that_was_certified",
        ),
    ),
    _claim("StabilityHistogram", "(epsilon, delta).", "StabilityHistogram.source", "StabilityHistogram.mechanism", "people"),
    Node(
        "PartitionSelection.source",
        "source",
        "A key is shown with exactly its probability, keys independently, on every tape of small words.",
        "enumerated",
        (
            f"{_TESTS}test_partition_selection.py::test_a_key_is_selected_with_exactly_its_probability",
            f"{_TESTS}test_partition_selection.py::test_keys_are_selected_independently",
            f"{_TESTS}test_partition_selection.py::test_probabilities_are_those_of_the_recursion",
        ),
        ("sampler.lazy",),
        ("mechanisms/partition_selection.py:Rule", "mechanisms/partition_selection.py:selected"),
    ),
    Node(
        "PartitionSelection.mechanism",
        "mechanism",
        "The recursion is private in the number of people, and no private rule is above it.",
        "proven",
        _lemma("arguments.selection_private", "arguments.selection_optimal", "composition.approximate"),
    ),
    _claim("PartitionSelection", "(epsilon, delta).", "PartitionSelection.source", "PartitionSelection.mechanism", "people"),
)

_CHOICES: Final = (
    Node(
        "NoisyMax.source",
        "source",
        "Choices are those of the program in a random order of the candidates, by the odds of all tapes.",
        "enumerated",
        (
            f"{_SHIPPED}test_a_noisy_maximum_is_its_program_in_a_random_order",
            f"{_TESTS}test_noisy_max.py::test_ties_are_broken_evenly",
        ),
        ("sampler.laplace", "sampler.geometric", "orders"),
        ("mechanisms/noisy_max.py:NoisyMax", "mechanisms/noisy_max.py:greatest"),
    ),
    Node(
        "NoisyMax.mechanism",
        "mechanism",
        "The place of the largest noisy score costs 2/scale a step, 1/scale for monotonic scores, with either noise.",
        "proven",
        _program("noisy_max", "geometric_choice", "laplace_choice", "monotonic_geometric_choice", "monotonic_laplace_choice"),
        ("steps",),
    ),
    _claim("NoisyMax", "Pure epsilon.", "NoisyMax.source", "NoisyMax.mechanism", "declared"),
    Node(
        "ExponentialMechanism.source",
        "source",
        "A choice is a draw of its law.",
        "tested",
        (
            f"{_TESTS}test_exponential.py::test_gaps_between_scores_are_exact",
            f"{_TESTS}test_exponential.py::test_single_choices_follow_the_law",
        ),
        ("sampler.choice",),
        ("mechanisms/exponential.py:ExponentialMechanism",),
    ),
    Node(
        "ExponentialMechanism.mechanism",
        "mechanism",
        "A draw of that law costs epsilon, and is of bounded range, for any number of candidates.",
        "proven",
        (
            *_program("choice", "exponential", "monotonic_exponential"),
            *_lemma("selection.ratio", "selection.bounded_range", "selection.range", "composition.sum"),
        ),
    ),
    _claim(
        "ExponentialMechanism",
        "Bounded range epsilon.",
        "ExponentialMechanism.source",
        "ExponentialMechanism.mechanism",
        "declared",
    ),
    Node(
        "PermuteAndFlip.source",
        "source",
        "Coins and races have its law on every tape of small words.",
        "enumerated",
        (
            f"{_TESTS}selection/test_coins.py::test_every_tape_gives_its_law",
            f"{_TESTS}selection/test_coins.py::test_a_place_is_uniform_below_any_count",
        ),
        ("sampler.race", "sampler.lazy"),
        ("mechanisms/permute_and_flip.py:PermuteAndFlip", "mechanisms/selection/coins.py:flip"),
    ),
    Node(
        "PermuteAndFlip.mechanism",
        "mechanism",
        "Permute-and-flip costs epsilon, for any number of candidates.",
        "proven",
        _lemma(*(f"selection.permute_{name}" for name in ("ratio", "limit", "factor", "product"))),
    ),
    _claim("PermuteAndFlip", "Pure epsilon.", "PermuteAndFlip.source", "PermuteAndFlip.mechanism", "declared"),
    Node(
        "TopK.source",
        "source",
        "Places have the law of choices one after the other, without replacement.",
        "enumerated",
        (
            f"{_TESTS}test_top_k.py::test_peeling_by_trials_has_the_law_of_the_race_on_every_tape",
            f"{_TESTS}test_top_k.py::test_the_places_have_the_law_of_choices_without_replacement",
        ),
        ("sampler.choice", "sampler.race"),
        ("mechanisms/top_k.py:TopK", "mechanisms/top_k.py:peeled"),
    ),
    _claim(
        "TopK",
        "The composition of k choices of epsilon / k.",
        *("TopK.source", "ExponentialMechanism.mechanism", "PermuteAndFlip.mechanism", "declared"),
    ),
    Node(
        "RandomizedResponse.source",
        "source",
        "Every report has exactly its probability over all tapes of small words, alone and in arrays.",
        "enumerated",
        (
            f"{_TESTS}test_response.py::test_every_report_has_exactly_its_probability_over_all_tapes",
            f"{_TESTS}test_response.py::test_a_coin_is_true_with_its_exact_probability",
            f"{_TESTS}test_response.py::test_another_category_is_uniform",
        ),
        ("sampler.lazy", "sampler.rejection"),
        ("mechanisms/response.py:RandomizedResponse", "mechanisms/response.py:report", "mechanisms/response.py:reports"),
    ),
    Node(
        "RandomizedResponse.mechanism",
        "mechanism",
        "The truth is e^epsilon times as likely as each lie, so that no report is more than that times likelier on neighbours.",
        "proven",
        (*_program("choice", "two_categories"), *_lemma("arguments.categories", "composition.parallel")),
    ),
    _claim(
        "RandomizedResponse", "Pure epsilon a person.", "RandomizedResponse.source", "RandomizedResponse.mechanism", "one_category"
    ),
)

_REALS: Final = (
    *(
        node
        for name, stem, mechanism in (
            ("RealLaplaceMechanism", "real_laplace", "RealLaplaceMechanism.mechanism"),
            ("RealGaussianMechanism", "real_gaussian", "GaussianMechanism.mechanism"),
        )
        for node in (
            Node(
                f"{name}.source",
                "source",
                "A release is a float64 plus real noise, rounded once.",
                "tested",
                (f"{_TESTS}test_float_noise.py::test_a_release_is_the_value_plus_noise_of_the_stated_scale",),
                ("sampler.floats", "rounding"),
                ("mechanisms/float_noise.py:FloatNoise", f"mechanisms/{stem}.py:{name}"),
            ),
            _claim(name, "What the continuous mechanism costs.", f"{name}.source", mechanism, "declared"),
        )
    ),
    Node(
        "RealLaplaceMechanism.mechanism",
        "mechanism",
        "Real Laplace noise in every number costs the L1 distance over the scale.",
        "proven",
        _program("additive", "laplace_array"),
    ),
    Node(
        "EuclideanMechanism.source",
        "source",
        "A release is the vector plus lattice times a draw of the law.",
        "tested",
        (f"{_TESTS}test_euclidean.py::test_a_release_is_the_vector_plus_lattice_times_a_draw_of_the_law",),
        ("sampler.vectors", "rounding"),
        ("mechanisms/euclidean.py:EuclideanMechanism", "mechanisms/euclidean.py:VectorNoise"),
    ),
    Node(
        "EuclideanMechanism.mechanism",
        "mechanism",
        "A density that falls by exp(-|x| / scale) changes by at most exp(distance / scale): the triangle inequality.",
        "axiom",
        ("citation:Hardt, Talwar 2010, K-norm mechanism with the Euclidean ball",),
    ),
    _claim(
        "EuclideanMechanism",
        "epsilon = sensitivity / scale.",
        "EuclideanMechanism.source",
        "EuclideanMechanism.mechanism",
        "declared",
    ),
    Node(
        "VectorMechanism.source",
        "source",
        "A release is the sum of clipped rows plus a draw of the law.",
        "tested",
        (f"{_TESTS}test_vector.py::test_a_release_is_the_sum_of_clipped_rows_plus_a_draw_of_the_law",),
        ("GaussianMechanism.source", "LaplaceMechanism.source", "EuclideanMechanism.source"),
        ("mechanisms/vector.py:VectorMechanism",),
    ),
    _claim(
        "VectorMechanism",
        "What its noise costs at the norm of one row, twice that where rows are replaced.",
        "VectorMechanism.source",
        *("GaussianMechanism.mechanism", "LaplaceMechanism.mechanism", "EuclideanMechanism.mechanism", "rows"),
    ),
)

MECHANISMS: Final[tuple[Node, ...]] = (*_NOISE, *_QUERIES, *_CHOICES, *_REALS)
"""The chains of all mechanisms."""
