"""What the chains of several mechanisms share: bits, samplers, sensitivities, composition."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.chain import Node

_TESTS: Final = "test:tests/mechanisms/"
_SAMPLING: Final = f"{_TESTS}sampling/"
_CODE: Final = "mechanisms/sampling/"


def _lemmas(group: str, *names: str) -> tuple[str, ...]:
    """Evidence by lemmas of one group."""
    return tuple(f"lemma:{group}.{name}" for name in names)


SAMPLERS: Final = (
    Node("bits", "sampler", "Bits are independent and fair.", "axiom", ("citation:the operating system's entropy and AES-256",)),
    Node("balls", "sampler", "Balls contain the exponential and what is computed from it.", "axiom", ("citation:Johansson 2017",)),
    Node(
        "sampler.exponential",
        "sampler",
        "certexp errs by less than 2^-51, and the float comparison of the envelope by less than its slack.",
        "proven",
        ("run:proofs.certexp:prove", "run:proofs.comparison:prove_comparison"),
        ("balls",),
        (f"{_CODE}exactnum.py:certexp", f"{_CODE}exactnum.py:certexp_one", f"{_CODE}kernel.py:_decide_one"),
    ),
    Node(
        "sampler.lazy",
        "sampler",
        "A lazy comparison answers only what is certain, and is a coin of exactly its probability.",
        "proven",
        _lemmas("samplers", "lazy_below", "lazy_above", "lazy_digit"),
        ("bits", "balls"),
        (f"{_CODE}exactnum.py:LazyUniform",),
    ),
    Node(
        "sampler.coin",
        "sampler",
        "The chain of coins g/n stops at an odd place with the series of exp(-g), whose partial sums enclose it.",
        "proven",
        _lemmas("samplers", "coin_step", "coin_pair"),
        ("sampler.series",),
    ),
    Node(
        "sampler.series",
        "sampler",
        "exp(-g) is the sum of its alternating series, and exp of a sum is the product.",
        "axiom",
        ("citation:the exponential series",),
    ),
    Node(
        "sampler.rejection",
        "sampler",
        "Trials repeated until one is accepted keep the proportions of a trial.",
        "proven",
        _lemmas("samplers", "rejection", "proportional", "uniform"),
    ),
    Node(
        "sampler.envelope_law",
        "sampler",
        "A trial returns each integer in proportion to its weight: cells, blocks and tails cover every integer once.",
        "proven",
        _lemmas(
            "samplers",
            *("cells_step", "cells", "cells_whole", "blocks_long", "blocks_single", "blocks_apart", "tail_interval", "tail_apart"),
            *("gaussian_tail", "room", "integer_floats"),
        ),
        ("sampler.rejection", "sampler.lazy"),
    ),
    Node(
        "sampler.envelope",
        "sampler",
        "The envelope kernel has that law with every tape of small words; the tables that ship hold their weights.",
        "enumerated",
        (
            f"{_SAMPLING}test_kernel.py::test_every_outcome_has_exactly_its_mass_over_all_tapes",
            f"{_SAMPLING}test_envelope.py::test_every_integer_lies_in_exactly_one_block_or_tail",
            f"{_SAMPLING}test_envelope.py::test_the_shipping_cells_hold_the_weights",
            f"{_SAMPLING}test_draws.py::test_draws_are_what_their_bits_stand_for_whatever_the_chunk",
        ),
        ("sampler.envelope_law", "sampler.exponential", "bits", "balls"),
        (
            *(f"{_CODE}kernel.py:{name}" for name in ("draw", "draw_one", "one_trial", "many_trials", "_tail", "_steps", "_close")),
            *(f"{_CODE}envelope.py:{name}" for name in ("EnvelopeTable", "envelope_table")),
        ),
    ),
    Node(
        "sampler.inversion",
        "sampler",
        "Inversion of a cumulative function is exact on every tape of small words.",
        "enumerated",
        (f"{_SAMPLING}test_enumeration.py::test_every_draw_from_a_table_has_exactly_its_probability",),
        ("sampler.inversion_law", "bits", "balls"),
        tuple(f"{_CODE}cumulative.py:{name}" for name in ("CumulativeTable", "draw_places", "draw_place")),
    ),
    Node(
        "sampler.inversion_law",
        "sampler",
        "Certified thresholds decide a draw rightly or leave it open.",
        "proven",
        ("lemma:samplers.inversion",),
    ),
    Node(
        "sampler.geometric_law",
        "sampler",
        "Independent digits make the geometric law, a sign and a geometric draw the discrete Laplace law.",
        "proven",
        _lemmas("samplers", "geometric_sum", "geometric_chain", "digits", "digit_sum", "laplace_sides", "laplace_mass"),
        ("sampler.coin",),
    ),
    Node(
        "sampler.geometric",
        "sampler",
        "Geometric draws by digits, and discrete Laplace draws with fixed work, are exact on every tape of small words.",
        "enumerated",
        (
            f"{_SAMPLING}test_enumeration.py::test_geometric_digits_make_exactly_the_geometric_law",
            f"{_SAMPLING}test_enumeration.py::test_a_sign_and_digits_make_exactly_the_discrete_laplace_law",
        ),
        ("sampler.geometric_law", "sampler.inversion"),
        tuple(
            f"{_CODE}digits.py:{name}" for name in ("draw_geometric", "draw_two_sided", "draw_one_geometric", "draw_one_two_sided")
        ),
    ),
    Node(
        "sampler.laplace",
        "sampler",
        "Discrete Laplace draws are exact, and a shift by m changes the log-probability by at most m/scale.",
        "proven",
        _lemmas("samplers", "laplace_shift", "laplace_sides"),
        ("sampler.envelope", "sampler.geometric"),
        ("mechanisms/laws/discrete_laplace.py:DiscreteLaplace",),
    ),
    Node(
        "sampler.gaussian",
        "sampler",
        "Discrete Gaussian draws have the recurrence of their law; rejection from Laplace proposals would give the same.",
        "proven",
        _lemmas("samplers", "gaussian_step", "gaussian_rejection", "gaussian_tail"),
        ("sampler.envelope", "sampler.coin"),
        ("mechanisms/laws/discrete_gaussian.py:DiscreteGaussian",),
    ),
    Node(
        "sampler.rounded",
        "sampler",
        "Rounded Gaussian draws are roundings of a real Gaussian, so that noise on whole steps is rounded afterwards.",
        "proven",
        ("lemma:arguments.rounding",),
        ("sampler.envelope",),
        ("mechanisms/laws/rounded_gaussian.py:RoundedGaussian",),
    ),
    Node(
        "sampler.floats",
        "sampler",
        "A float64 plus real noise is rounded once, with every rounded sum of exactly its mass over all tapes.",
        "enumerated",
        (
            f"{_SAMPLING}test_real_noise.py::test_every_rounded_sum_has_exactly_its_mass_over_all_tapes",
            f"{_SAMPLING}test_real_noise.py::test_a_sum_is_the_float_nearest_to_value_plus_noise_for_every_value_and_cell",
        ),
        ("sampler.envelope", "sampler.lazy"),
        tuple(f"{_CODE}real_noise.py:{name}" for name in ("noisy_sums", "noisy_sum", "sums_at", "sum_at", "settled")),
    ),
    Node(
        "sampler.vectors",
        "sampler",
        "Noise whose density falls with the Euclidean norm: exact in one dimension, by length and direction in more.",
        "tested",
        (
            f"{_SAMPLING}test_euclidean_noise.py::test_in_one_dimension_every_outcome_has_the_mass_of_a_rounded_laplace_variable",
            f"{_SAMPLING}test_euclidean_noise.py::test_the_length_is_gamma_distributed_and_the_direction_uniform_whatever_the_length",
        ),
        ("sampler.envelope", "sampler.lazy"),
        (f"{_CODE}euclidean_noise.py:draw_vectors", f"{_CODE}euclidean_noise.py:Stretch"),
    ),
    Node(
        "sampler.staircase",
        "sampler",
        "Staircase draws have exactly their steps on every tape of small words.",
        "enumerated",
        (
            f"{_SAMPLING}test_enumeration.py::test_a_staircase_has_exactly_its_steps",
            f"{_SAMPLING}test_enumeration.py::test_a_uniform_place_is_uniform",
            f"{_SAMPLING}test_enumeration.py::test_draws_that_are_repeated_until_one_lies_inside_have_the_truncated_law",
            f"{_SAMPLING}test_enumeration.py::test_the_mirrored_envelope_keeps_every_integer_of_a_range_in_proportion",
        ),
        ("sampler.geometric", "sampler.inversion", "sampler.rejection", "sampler.envelope"),
        ("mechanisms/laws/staircase.py:Staircase", "mechanisms/laws/truncated.py:Truncated"),
    ),
    Node(
        "sampler.choice_law",
        "sampler",
        "Proposals that dominate the weights, and columns with a rest, choose each candidate in proportion to its weight.",
        "proven",
        _lemmas("samplers", "proposal", "columns"),
        ("sampler.rejection", "sampler.lazy"),
    ),
    Node(
        "sampler.choice",
        "sampler",
        "One choice and repeated choices have that law on every tape of small words; proposals dominate.",
        "enumerated",
        (
            f"{_TESTS}selection/test_proposals.py::test_a_trial_chooses_each_candidate_with_its_exact_probability",
            f"{_TESTS}selection/test_proposals.py::test_every_proposal_dominates_its_weight_and_is_accepted_often_enough",
            f"{_TESTS}selection/test_repeated.py::test_a_trial_returns_each_candidate_with_exactly_its_probability",
        ),
        ("sampler.choice_law", "bits", "balls"),
        (
            "mechanisms/selection/proposals.py:propose",
            "mechanisms/selection/proposals.py:trial",
            "mechanisms/selection/repeated.py:trials",
        ),
    ),
    Node(
        "sampler.race",
        "sampler",
        "Races have the law of their clocks on every tape of small words.",
        "enumerated",
        (
            f"{_TESTS}selection/test_race.py::test_every_tape_of_bits_leads_to_the_order_of_its_law",
            f"{_TESTS}selection/test_race.py::test_all_uniform_numbers_together_give_the_law",
        ),
        ("sampler.lazy",),
        ("mechanisms/selection/race.py:races", "mechanisms/selection/race.py:order"),
    ),
)
"""Exactness of what draws."""

SENSITIVITIES: Final = (
    Node(
        "declared",
        "sensitivity",
        "The sensitivity and the adjacency that a caller declares are true; property tests look for counterexamples.",
        "axiom",
        ("citation:the caller",),
    ),
    Node(
        "one_category",
        "sensitivity",
        "Neighbours differ in one person's category, and the number of people is public.",
        "axiom",
        ("citation:the definition of replace_one and label",),
    ),
    Node(
        "people",
        "sensitivity",
        "One person moves at most `contributions` counts by 1 each, twice as many if replaced.",
        "tested",
        (
            f"{_TESTS}test_people.py::test_without_a_person_at_most_the_contributions_are_missing_and_nothing_else_changes",
            f"{_TESTS}test_histogram.py::test_a_person_more_moves_at_most_as_many_counts_as_declared_each_by_one",
            f"{_TESTS}test_histogram.py::test_a_person_with_other_records_moves_at_most_as_many_counts_as_declared",
        ),
        ("cells",),
        ("mechanisms/people.py:bounded",),
    ),
    Node("cells", "sensitivity", "A record moves two cells at most.", "proven", ("lemma:sensitivity.histogram_step",)),
    Node(
        "rows",
        "sensitivity",
        "Clipped rows have the declared norm in exact whole numbers, whatever they hold, so that one moves the sum by no more.",
        "tested",
        (
            f"{_TESTS}test_contributions.py::test_every_row_lies_in_the_ball_whatever_it_holds",
            f"{_TESTS}test_contributions.py::test_the_test_of_the_ball_is_exact_for_all_whole_numbers",
            f"{_TESTS}test_vector.py::test_one_row_moves_the_sum_by_at_most_the_sensitivity",
        ),
        ("truncation",),
        ("mechanisms/contributions.py:clipped_rows", "mechanisms/contributions.py:clipped_sum"),
    ),
    Node(
        "truncation",
        "sensitivity",
        "Truncation to whole steps never lengthens a row.",
        "proven",
        _lemmas("sensitivity", "truncation", "clip_lengths"),
    ),
)
"""Why neighbours are as near as the mechanisms assume."""

ARGUMENTS: Final = (
    Node(
        "steps",
        "argument",
        "A distance of d steps is d changes of one step in the same direction, each of which multiplies the bound.",
        "proven",
        ("lemma:arguments.unit_step", "lemma:arguments.directed_step", "lemma:groups.pure_step"),
    ),
    Node(
        "adaptive",
        "argument",
        "Given all answers, questions that depend on earlier answers are fixed, so a bound for every list of them holds for these.",
        "axiom",
        ("citation:docs/selection_and_queries.md, sparse vector theorem, first sentence of the proof",),
    ),
    Node(
        "orders",
        "argument",
        "Even breaking of ties is a mixture of orders, and a factor that holds for each part holds for a mixture.",
        "proven",
        ("lemma:arguments.mixture",),
    ),
    Node(
        "coordinates",
        "argument",
        "Independent coordinates multiply their moments, so that zCDP costs add up as squared distances do.",
        "proven",
        _lemmas("composition", "moment_term", "moment_total"),
    ),
    Node(
        "rounding",
        "argument",
        "What is done to a release afterwards costs nothing: outcomes that are merged keep at most their excesses.",
        "proven",
        _lemmas("composition", "merged", "split"),
    ),
    Node(
        "composition",
        "composition",
        "Every release is logged before its noise is drawn, and the price of a log encloses the loss of its composition.",
        "certified",
        (
            f"{_TESTS}test_every_mechanism.py::test_on_a_tape_every_mechanism_shows_what_it_read_and_gives_what_was_recorded",
            "test:tests/accounting/test_pricing.py::test_a_log_is_priced_as_the_composition_of_its_entries",
            "test:tests/accounting/test_composition.py::test_a_composition_of_pairs_is_what_brute_force_gives",
        ),
        ("composition.rules",),
        ("dpaudit/releases.py:note", "dpaudit/accounting/pricing.py:price"),
    ),
    Node(
        "composition.rules",
        "composition",
        "Pure, approximate and zCDP costs add up, also for adaptive choices.",
        "proven",
        _lemmas("composition", "basic", "sum", "approximate", "parallel", "moment_total"),
    ),
)
"""Steps between a mechanism's program and its claim."""
