"""The chains of the mechanisms that ship, as nodes of the proof graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpaudit.verifier.chain import Node
from proofs.nodes import claim, code, lemmas, mechanism, runs, source

_TESTS: Final = "test:tests/mechanisms/"
_SHIPPED: Final = "test:tests/proofs/test_shipped_paths.py::"
_FLOW: Final[Mapping[str, str]] = {
    "AboveThreshold": "run:proofs.flow.answers:above_threshold",
    "DiscreteGaussianMechanism": "run:proofs.flow.additive:discrete_gaussian",
    "ExponentialMechanism": "run:proofs.flow.choices:exponential",
    "GaussianMechanism": "run:proofs.flow.additive:gaussian",
    "HistogramMechanism": "run:proofs.flow.histograms:histogram",
    "LaplaceMechanism": "run:proofs.flow.additive:laplace",
    "NoisyMax": "run:proofs.flow.choices:noisy_max",
    "PartitionSelection": "run:proofs.flow.selections:selection",
    "PermuteAndFlip": "run:proofs.flow.choices:permute_and_flip",
    "RandomizedResponse": "run:proofs.flow.answers:randomized_response",
    "RealGaussianMechanism": "run:proofs.flow.additive:real_gaussian",
    "RealLaplaceMechanism": "run:proofs.flow.additive:real_laplace",
    "SparseVector": "run:proofs.flow.answers:sparse_vector",
    "StabilityHistogram": "run:proofs.flow.keys:stability",
    "TopK": "run:proofs.flow.choices:top_k",
}
"""The proofs that what a mechanism logs are the parameters of its draws, and cost what it claims."""
_PRICED: Final[Mapping[str, tuple[str, ...]]] = {
    "AdditiveMechanism": (
        "test_additive.py::test_claims_say_what_holds",
        "test_additive.py::test_a_release_lies_on_the_lattice_and_is_logged_and_priced",
    ),
    "EuclideanMechanism": ("test_euclidean.py::test_the_log_prices_releases_as_the_mechanism_does",),
    "PrefixSums": (
        "test_prefix_sums.py::test_a_stream_costs_what_its_matrix_mechanism_costs",
        "test_prefix_sums.py::test_the_log_holds_a_stream_once_and_prices_it_as_the_mechanism_does",
    ),
    "VectorMechanism": ("test_vector.py::test_the_log_prices_releases_as_the_mechanism_does",),
}
"""The tests that compare the claim and log of the others with the price of their loss."""


def _program(module: str, *names: str) -> tuple[str, ...]:
    """Evidence by certificates of programs of one module."""
    return tuple(f"certificate:proofs.{module}:{name}" for name in names)


def _noise(
    name: str, stem: str, sampler: str, promise: str, *mechanism_shown: str, needs: tuple[str, ...] = ()
) -> tuple[Node, ...]:
    """Return the chain of a mechanism that adds noise to a value on a lattice; what is shown begins with the statement."""
    return (
        source(
            f"{name}.source",
            "Noise is a draw of the law, with the parameters that are logged.",
            *_noise_evidence(name),
            needs=(sampler, "additive.source"),
            binds=(f"mechanisms/{stem}.py:{name}",),
        ),
        mechanism(f"{name}.mechanism", *mechanism_shown, needs=needs),
        _claim(name, promise, f"{name}.mechanism", "declared"),
    )


def _noise_evidence(name: str) -> tuple[str, ...]:
    """Return what shows that a mechanism's noise is that of its law."""
    return (
        (_FLOW[name],)
        if name in _FLOW
        else (f"{_TESTS}test_additive.py::test_a_release_lies_on_the_lattice_and_is_logged_and_priced",)
    )


def _claim(name: str, statement: str, *needs: str) -> Node:
    """Return what a mechanism promises; a proof from its source or tests compare what it says and logs with what it costs."""
    return claim(name, statement, *([_FLOW[name]] if name in _FLOW else [f"{_TESTS}{test}" for test in _PRICED[name]]), needs=needs)


_NOISE: Final = (
    source(
        "additive.source",
        "A release is logged, then drawn: the value in steps of the lattice plus one draw for every number.",
        "run:proofs.flow.additive:release",
        needs=("steps.source",),
        binds=("mechanisms/noise.py:Noise",),
    ),
    source(
        "steps.source",
        "Numbers and arrays are read in steps of the lattice, and written, exactly.",
        *runs("flow.steps", "number", "array", "writing"),
        *lemmas("samplers.room", "samplers.integer_floats"),
        needs=("sampler.numpy",),
        binds=code("mechanisms/steps.py", "Format", "number_steps", "array_steps"),
    ),
    *_noise(
        "LaplaceMechanism",
        "laplace",
        "sampler.laplace",
        "epsilon = sensitivity / scale.",
        "Discrete Laplace noise in every number costs the L1 distance over the scale, for any number of them.",
        *_program("additive", "number", "array"),
    ),
    *_noise(
        "DiscreteGaussianMechanism",
        "discrete_gaussian",
        "sampler.gaussian",
        "rho = sensitivity^2 / (2 sigma^2).",
        "Discrete Gaussian noise has zCDP cost distance^2 / (2 sigma^2), also summed over an array.",
        *_program("additive", "discrete_gaussian_number"),
        needs=("coordinates",),
    ),
    *_noise(
        "GaussianMechanism",
        "gaussian",
        "sampler.rounded",
        "The loss of one Gaussian at the L2 sensitivity.",
        "Real Gaussian noise, rounded afterwards: zCDP distance^2 / (2 sigma^2), and the exact Gaussian loss.",
        *_program("additive", "gaussian_number"),
        "lemma:conversions.gaussian",
        needs=("coordinates", "rounding", "GaussianMechanism.rotation"),
    ),
    mechanism(
        "GaussianMechanism.rotation",
        "Gaussians in several coordinates are one at the L2 distance; their loss is dominated at the largest distance.",
        "citation:Dong, Roth, Su 2022, Theorem 2.7 and Corollary 3.3",
    ),
    *_noise(
        "AdditiveMechanism",
        "additive",
        "sampler.staircase",
        "The loss of the law at the worst shift, per law.",
        "Staircases change by one step at most; every law has the loss of its worst shift, summed by its definition.",
        "lemma:sensitivity.floor_multiples",
        needs=("AdditiveMechanism.losses",),
    ),
    mechanism(
        "AdditiveMechanism.losses",
        "Delta is that of the worst shift in either direction, enclosed in balls.",
        f"{_TESTS}test_additive.py::test_delta_is_that_of_the_worst_shift_in_either_direction",
        f"{_TESTS}test_additive.py::test_finite_noise_is_dominated_by_its_pair_and_meets_it",
        kind="certified",
    ),
)

_QUERIES: Final = (
    source(
        "comparisons.source",
        "Runs compare as their program does, one question at a time and all at once, with a draw of its own for every use.",
        *runs("flow.runs", "one_by_one", "together"),
        *runs("flow.laws", "samples"),
        needs=("sampler.laplace", "steps.source", "locks"),
        binds=code("mechanisms/comparisons.py", "Run", "Comparisons"),
    ),
    mechanism(
        "comparisons.mechanism",
        "Comparisons with one noisy threshold cost 1/s1 + 2 c/s2 + c/s3 a step, monotonic ones 1/s1 + c/s2, however many.",
        *_program("sparse_vector", "answers", "monotonic_answers", "numbers"),
        *lemmas("arguments.shares"),
        needs=("steps", "adaptive"),
    ),
    *(
        _claim(name, "Pure epsilon for a whole run.", "comparisons.mechanism", "declared")
        for name in ("AboveThreshold", "SparseVector")
    ),
    *(
        source(
            f"{name}.source",
            "The scales are those of the shares and of the log.",
            _FLOW[name],
            needs=("comparisons.source",),
            binds=(f"mechanisms/{stem}.py:{name}",),
        )
        for name, stem in (("AboveThreshold", "above_threshold"), ("SparseVector", "sparse_vector"))
    ),
    source(
        "HistogramMechanism.source",
        "A release is the counts, every one with noise of the mechanism for arrays.",
        _FLOW["HistogramMechanism"],
        "lemma:arguments.root_above",
        needs=("LaplaceMechanism.source", "GaussianMechanism.source"),
        binds=(*code("mechanisms/histogram.py", "HistogramMechanism"), *code("mechanisms/roots.py", "root_above")),
    ),
    _claim(
        "HistogramMechanism",
        "Pure n/scale, or n Gaussians, n being the counts that may move.",
        *("LaplaceMechanism.mechanism", "GaussianMechanism.mechanism", "people", "people.read"),
    ),
    source(
        "StabilityHistogram.source",
        "A release is the noisy counts of keys that somebody has, those of at least the threshold.",
        _FLOW["StabilityHistogram"],
        needs=("sampler.laplace", "people.keys"),
        binds=code("mechanisms/stability_histogram.py", "StabilityHistogram"),
    ),
    mechanism(
        "StabilityHistogram.mechanism",
        "The stability theorem, with a threshold that satisfies both of its conditions.",
        *lemmas("arguments.stability", "arguments.stability_hidden"),
        needs=("LaplaceMechanism.mechanism", "StabilityHistogram.threshold"),
    ),
    mechanism(
        "StabilityHistogram.threshold",
        "The threshold is at least what both conditions of the theorem ask for, and the price that of its threshold, as balls say.",
        *runs("flow.keys", "shifts"),
        *lemmas("arguments.stability_shift", "arguments.stability_several"),
        needs=("balls", "sampler.series"),
        binds=code("mechanisms/stability_histogram.py", "least_shift"),
    ),
    _claim("StabilityHistogram", "(epsilon, delta).", "StabilityHistogram.mechanism", "people"),
    source(
        "PartitionSelection.source",
        "A key that somebody has is shown by a coin of exactly its probability, keys independently.",
        _FLOW["PartitionSelection"],
        *runs("flow.selections", "coins"),
        "lemma:samplers.border",
        needs=("people.keys", "sampler.lazy", "sampler.numpy", "bits", "balls"),
        binds=code("mechanisms/partition_selection.py", "PartitionSelection", "select_keys", "border"),
    ),
    mechanism(
        "PartitionSelection.rule",
        "The probabilities are those of the recursion, in closed form, up to a number from which on they are 1.",
        *runs("flow.selections", "rule"),
        *lemmas(*(f"arguments.selection_{name}" for name in ("growth", "turn", "turns", "shrinks", "shrinks_on"))),
        *lemmas(*(f"arguments.selection_{name}" for name in ("sure", "stays", "half"))),
        needs=("balls", "sampler.series"),
        binds=code("mechanisms/partition_selection.py", "Rule"),
    ),
    mechanism(
        "PartitionSelection.mechanism",
        "The recursion is private in the number of people, and no private rule is above it.",
        *lemmas("arguments.selection_private", "arguments.selection_optimal", "composition.approximate"),
        needs=("PartitionSelection.rule",),
    ),
    _claim("PartitionSelection", "(epsilon, delta).", "PartitionSelection.mechanism", "people"),
)

_CHOICES: Final = (
    source(
        "NoisyMax.source",
        "A choice is the greatest of the scores plus a draw for each, evenly among several: its program in a random order.",
        *runs("flow.maxima", "even", "greatest", "chosen"),
        *runs("flow.scores", "reading", "steps"),
        *runs("flow.laws", "samples"),
        "lemma:samplers.even_place",
        needs=("sampler.laplace", "sampler.geometric", "steps.source", "orders"),
        binds=(
            *code("mechanisms/noisy_max.py", "NoisyMax", "greatest", "lattice_steps"),
            *code("mechanisms/selection/scores.py", "Scores", "read_scores"),
            *code("mechanisms/selection/coins.py", "below"),
        ),
    ),
    mechanism(
        "NoisyMax.mechanism",
        "The place of the largest noisy score costs 2/scale a step, 1/scale for monotonic scores, with either noise.",
        *_program("noisy_max", "geometric_choice", "laplace_choice", "monotonic_geometric_choice", "monotonic_laplace_choice"),
        needs=("steps",),
    ),
    _claim("NoisyMax", "Pure epsilon.", "NoisyMax.mechanism", "declared"),
    source(
        "ExponentialMechanism.source",
        "A choice is a draw of its law, from exactly the scores that were given.",
        *runs("flow.choices", "draws"),
        *runs("flow.scores", "reading"),
        needs=("sampler.choice",),
        binds=(*code("mechanisms/exponential.py", "ExponentialMechanism"), *code("mechanisms/selection/scores.py", "read_scores")),
    ),
    mechanism(
        "ExponentialMechanism.mechanism",
        "A draw of that law costs epsilon, and is of bounded range, for any number of candidates.",
        *_program("choice", "exponential", "monotonic_exponential"),
        *lemmas("selection.ratio", "selection.bounded_range", "selection.range", "composition.sum"),
    ),
    _claim(
        "ExponentialMechanism",
        "Bounded range epsilon.",
        "ExponentialMechanism.mechanism",
        "declared",
    ),
    source(
        "PermuteAndFlip.source",
        "Coins and races have its law on every tape of small words.",
        f"{_TESTS}selection/test_coins.py::test_every_tape_gives_its_law",
        f"{_TESTS}selection/test_coins.py::test_a_place_is_uniform_below_any_count",
        needs=("sampler.race", "sampler.lazy"),
        binds=(*code("mechanisms/permute_and_flip.py", "PermuteAndFlip"), *code("mechanisms/selection/coins.py", "flip")),
        kind="enumerated",
    ),
    mechanism(
        "PermuteAndFlip.mechanism",
        "Permute-and-flip costs epsilon, for any number of candidates.",
        *lemmas(*(f"selection.permute_{name}" for name in ("ratio", "limit", "factor", "product"))),
    ),
    _claim("PermuteAndFlip", "Pure epsilon.", "PermuteAndFlip.mechanism", "declared"),
    source(
        "TopK.source",
        "Places have the law of choices one after the other, without replacement.",
        f"{_TESTS}test_top_k.py::test_peeling_by_trials_has_the_law_of_the_race_on_every_tape",
        f"{_TESTS}test_top_k.py::test_the_places_have_the_law_of_choices_without_replacement",
        needs=("sampler.choice", "sampler.race"),
        binds=code("mechanisms/top_k.py", "TopK", "choose_in_turn"),
        kind="enumerated",
    ),
    _claim(
        "TopK",
        "The composition of k choices of epsilon / k.",
        *("ExponentialMechanism.mechanism", "PermuteAndFlip.mechanism", "declared"),
    ),
    source(
        "RandomizedResponse.source",
        "A report is the truth by a coin of its probability, else another category, all equally likely, alone and in arrays.",
        *runs("flow.reports", "coins", "places", "reports", "reading"),
        *lemmas("samplers.border", "samplers.others"),
        needs=("sampler.lazy", "sampler.rejection", "sampler.numpy", "bits", "balls"),
        binds=(
            *code("mechanisms/response.py", "RandomizedResponse", "report", "reports"),
            *code("mechanisms/sampling/uniform.py", "draw_below", "draw_many_below"),
        ),
    ),
    mechanism(
        "RandomizedResponse.mechanism",
        "The truth is e^epsilon times as likely as each lie, so that no report is more than that times likelier on neighbours.",
        *_program("choice", "two_categories"),
        *lemmas("arguments.categories", "composition.parallel"),
    ),
    _claim("RandomizedResponse", "Pure epsilon a person.", "RandomizedResponse.mechanism", "one_category"),
)

_REALS: Final = (
    *(
        node
        for name, stem, cells, shown in (
            ("RealLaplaceMechanism", "real_laplace", "sampler.laplace_cells", "RealLaplaceMechanism.mechanism"),
            ("RealGaussianMechanism", "real_gaussian", "sampler.gaussian_cells", "GaussianMechanism.mechanism"),
        )
        for node in (
            source(
                f"{name}.source",
                "A release is logged, then a float64 plus one draw of real noise, rounded once.",
                *runs("flow.additive", "float_release"),
                *runs("flow.reals", "reading"),
                needs=("sampler.floats", cells, "rounding"),
                binds=("mechanisms/float_noise.py:FloatNoise", f"mechanisms/{stem}.py:{name}"),
            ),
            _claim(name, "What the continuous mechanism costs.", shown, "declared"),
        )
    ),
    mechanism(
        "RealLaplaceMechanism.mechanism",
        "Real Laplace noise in every number costs the L1 distance over the scale.",
        *_program("additive", "laplace_array"),
    ),
    source(
        "EuclideanMechanism.source",
        "A release is the vector plus lattice times a draw of the law.",
        f"{_TESTS}test_euclidean.py::test_a_release_is_the_vector_plus_lattice_times_a_draw_of_the_law",
        needs=("sampler.vectors", "rounding"),
        binds=code("mechanisms/euclidean.py", "EuclideanMechanism", "VectorNoise"),
    ),
    mechanism(
        "EuclideanMechanism.mechanism",
        "A density that falls by exp(-|x| / scale) changes by at most exp(distance / scale): the triangle inequality.",
        "citation:Hardt, Talwar 2010, K-norm mechanism with the Euclidean ball",
    ),
    _claim(
        "EuclideanMechanism",
        "epsilon = sensitivity / scale.",
        "EuclideanMechanism.mechanism",
        "declared",
    ),
    source(
        "VectorMechanism.source",
        "A release is the sum of clipped rows plus a draw of the law.",
        f"{_TESTS}test_vector.py::test_a_release_is_the_sum_of_clipped_rows_plus_a_draw_of_the_law",
        needs=("GaussianMechanism.source", "LaplaceMechanism.source", "EuclideanMechanism.source"),
        binds=code("mechanisms/vector.py", "VectorMechanism"),
    ),
    _claim(
        "VectorMechanism",
        "What its noise costs at the norm of one row, twice that where rows are replaced.",
        *("GaussianMechanism.mechanism", "LaplaceMechanism.mechanism", "EuclideanMechanism.mechanism", "rows"),
    ),
    source(
        "PrefixSums.source",
        "Rows are the matrix times the values plus a draw each; the sums are computed from these rows alone.",
        f"{_TESTS}test_prefix_sums.py::test_every_run_is_the_matrix_times_the_values_plus_draws_on_every_tape",
        f"{_TESTS}test_prefix_sums.py::test_sums_are_those_of_the_inverse_matrix_to_half_a_step",
        needs=("GaussianMechanism.source",),
        binds=code("mechanisms/prefix_sums.py", "PrefixSums", "PrefixRun", "Recovery", "weighted"),
        kind="enumerated",
    ),
    mechanism(
        "PrefixSums.adaptive",
        "Rows with Gaussian noise lose no more when later values depend on earlier rows.",
        "citation:Denisov, McMahan, Rush, Smith, Thakurta 2022, Theorem 2.1",
        kind="axiom",
    ),
    mechanism(
        "PrefixSums.mechanism",
        "Squared shifts of the rows add up to the squared sensitivity of the matrix at most.",
        f"{_TESTS}test_prefix_sums.py::test_no_record_moves_the_rows_further_than_is_logged_and_some_record_does",
        needs=("GaussianMechanism.mechanism", "PrefixSums.adaptive"),
    ),
    _claim("PrefixSums", "The loss of one Gaussian at the sensitivity of the matrix.", "PrefixSums.mechanism", "declared"),
)

MECHANISMS: Final[tuple[Node, ...]] = (*_NOISE, *_QUERIES, *_CHOICES, *_REALS)
"""The chains of all mechanisms."""
