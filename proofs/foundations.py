"""Nodes that the chains of several mechanisms share: bits, samplers, sensitivities, composition."""

from __future__ import annotations

from typing import Final

from proofs.nodes import argument, code, composition, lemmas, runs, sampler, sensitivity

_TESTS: Final = "test:tests/mechanisms/"
_SAMPLING: Final = f"{_TESTS}sampling/"

SAMPLERS: Final = (
    sampler(
        "bits",
        "Numbers are the digits of bytes of a key stream, and every byte is handed out once.",
        *runs("flow.streams", "numbers", "stream"),
        needs=("bits.fair", "sampler.numpy"),
        binds=(
            *code("mechanisms/sampling/keystream.py", "KeyStream", "words", "number"),
            *code("mechanisms/sampling/random.py", "OsBitSource", "default_source"),
        ),
    ),
    sampler(
        "bits.fair",
        "Every source has a key stream of its own, also after a fork, whose bits are independent and fair.",
        "citation:the operating system's entropy and AES-256; docs/sampling.md, bits",
    ),
    sampler("balls", "Balls contain the exponential and what is computed from it.", "citation:Johansson 2017"),
    sampler(
        "sampler.exponential",
        "certexp errs by less than 2^-51, and the float comparison of the envelope by less than its slack.",
        *runs("certexp", "prove"),
        *runs("comparison", "prove_comparison"),
        *runs("flow.floats", "exponential", "formula"),
        needs=("balls", "sampler.numpy"),
        binds=(
            *code("mechanisms/sampling/exactnum.py", "certexp", "certexp_one"),
            *code("mechanisms/sampling/estimates.py", "Estimate"),
            *code("mechanisms/sampling/kernel.py", "_decide_one"),
        ),
    ),
    sampler(
        "sampler.lazy",
        "A lazy comparison answers only what is certain, and is a coin of exactly its probability.",
        *runs("flow.repeating", "comparisons"),
        *lemmas("samplers.lazy_below", "samplers.lazy_above", "samplers.lazy_digit"),
        needs=("bits", "balls"),
        binds=code("mechanisms/sampling/exactnum.py", "LazyUniform"),
    ),
    sampler(
        "sampler.coin",
        "The chain of coins g/n stops at an odd place with the series of exp(-g), whose partial sums enclose it.",
        *lemmas("samplers.coin_step", "samplers.coin_pair"),
        needs=("sampler.series",),
    ),
    sampler(
        "sampler.series",
        "exp(-g) is the sum of its alternating series, and exp of a sum is the product.",
        "citation:the exponential series",
    ),
    sampler(
        "sampler.rejection",
        "Trials repeated until one is accepted keep the proportions of a trial.",
        *lemmas("samplers.rejection", "samplers.proportional", "samplers.uniform"),
    ),
    sampler(
        "sampler.envelope_law",
        "A trial returns each integer in proportion to its weight: cells, blocks and tails cover every integer once.",
        *lemmas(
            *("samplers.cells_step", "samplers.cells", "samplers.cells_whole", "samplers.blocks_long"),
            *("samplers.blocks_single", "samplers.blocks_apart", "samplers.tail_interval", "samplers.tail_apart"),
            *("samplers.gaussian_tail", "samplers.room", "samplers.integer_floats"),
        ),
        needs=("sampler.rejection", "sampler.lazy"),
    ),
    sampler(
        "sampler.envelope",
        "Every trial, alone or in a batch of int64, has that law; draws are the accepted trials, chosen by their places.",
        *runs("flow.envelope", "alone", "together"),
        *runs("flow.repeating", "tails", "batches"),
        *runs("flow.laws", "sampler", "assigned"),
        *lemmas("samplers.kernel_words", "samplers.kernel_places", "samplers.pattern", "samplers.compaction"),
        *lemmas("samplers.tail_cells", "samplers.tail_above"),
        needs=("sampler.envelope_law", "sampler.table", "sampler.exponential", "sampler.numpy", "bits", "balls"),
        binds=(
            *code("mechanisms/sampling/kernel.py", "draw", "draw_one", "one_trial", "many_trials", "_tail", "_steps", "_close"),
            *code("mechanisms/laws/law.py", "envelope_sampler"),
        ),
    ),
    sampler(
        "sampler.table",
        "Every table that is built covers the weights of its law, block by block, and decides at once only what is certain.",
        *runs("flow.tables", "table", "sides", "search", "columns"),
        *lemmas(
            *("samplers.table_covers", "samplers.table_under", "samplers.table_levels", "samplers.table_accepts"),
            *("samplers.table_rejects", "samplers.table_shift", "samplers.table_words", "samplers.tail_cells"),
        ),
        needs=("sampler.numpy", "balls"),
        binds=code("mechanisms/sampling/envelope.py", "EnvelopeTable", "envelope_table"),
    ),
    sampler(
        "sampler.numpy",
        "CPython computes as its reference says; numpy does the same to every entry, of numbers that fit; floats are IEEE 754.",
        "citation:numpy: take, repeat, cumsum, accumulate, searchsorted, flatnonzero, divmod, ldexp, shifts, masks, places",
    ),
    sampler(
        "sampler.inversion",
        "A draw, alone or in a batch, is the first place whose probability is above its uniform number.",
        *runs("flow.inversion", "table", "guide", "together", "alone", "search"),
        *lemmas("samplers.inversion", *(f"samplers.inversion_{name}" for name in ("order", "guide", "search"))),
        needs=("sampler.lazy", "sampler.numpy", "bits", "balls"),
        binds=code("mechanisms/sampling/cumulative.py", "CumulativeTable", "draw_places", "draw_place"),
    ),
    sampler(
        "sampler.geometric_law",
        "Independent digits make the geometric law, a sign and a geometric draw the discrete Laplace law.",
        *lemmas(
            *("samplers.geometric_sum", "samplers.geometric_chain", "samplers.digits", "samplers.digit_sum"),
            *("samplers.laplace_sides", "samplers.laplace_mass"),
        ),
        needs=("sampler.coin",),
    ),
    sampler(
        "sampler.geometric",
        "Geometric draws are made of independent digits of these laws, and discrete Laplace draws with fixed work of a sign too.",
        *runs("flow.digits", "laws", "table", "together", "alone", "samplers"),
        *lemmas("samplers.digits_room"),
        needs=("sampler.geometric_law", "sampler.inversion"),
        binds=(
            *code("mechanisms/sampling/digits.py", "draw_geometric", "draw_two_sided", "draw_one_geometric", "draw_one_two_sided"),
            *code("mechanisms/laws/geometric.py", "Geometric"),
            *code("mechanisms/laplace.py", "FixedWork"),
        ),
    ),
    sampler(
        "sampler.laplace",
        "Discrete Laplace draws are exact, and a shift by m changes the log-probability by at most m/scale.",
        *runs("flow.laws", "discrete_laplace"),
        *lemmas("samplers.laplace_shift", "samplers.laplace_sides"),
        needs=("sampler.envelope", "sampler.geometric"),
        binds=code("mechanisms/laws/discrete_laplace.py", "DiscreteLaplace"),
    ),
    sampler(
        "sampler.gaussian",
        "Discrete Gaussian draws have the recurrence of their law; rejection from Laplace proposals would give the same.",
        *runs("flow.laws", "discrete_gaussian"),
        *lemmas("samplers.gaussian_step", "samplers.gaussian_rejection", "samplers.gaussian_tail"),
        needs=("sampler.envelope", "sampler.coin"),
        binds=code("mechanisms/laws/discrete_gaussian.py", "DiscreteGaussian"),
    ),
    sampler(
        "sampler.rounded",
        "Rounded Gaussian draws are roundings of a real Gaussian, so that noise on whole steps is rounded afterwards.",
        "lemma:arguments.rounding",
        needs=("sampler.envelope", "sampler.rounded_weights"),
        binds=code("mechanisms/laws/rounded_gaussian.py", "RoundedGaussian"),
    ),
    sampler(
        "sampler.rounded_weights",
        "The balls of the rounded Gaussian hold its weights, which fall as its decay says; its float formula is within its slack.",
        "citation:docs/sampling.md, rounded Gaussian, and tails by one uniform number",
    ),
    sampler(
        "sampler.floats",
        "A float64 plus real noise is rounded once: each float gets exactly the mass of the sums that are nearest to it.",
        *runs("flow.reals", "sums", "exactly", "formats"),
        *lemmas(*(f"cells.{name}" for name in ("bend", "doubt", "above", "beneath", "next"))),
        *lemmas("samplers.inversion_search", "arguments.pairs"),
        needs=("sampler.envelope", "sampler.lazy", "sampler.two_sum", "sampler.series"),
        binds=(
            *code("mechanisms/sampling/real_noise.py", "noisy_sums", "noisy_sum", "sums_at", "sum_at", "round_exactly"),
            *code("mechanisms/sampling/real_noise.py", "RealNoise", "real_noise"),
            *code("mechanisms/sampling/float_format.py", "FloatFormat"),
        ),
    ),
    sampler(
        "sampler.two_sum",
        "A rounded sum of two floats and the float that is left over, by five more operations, add up to their sum exactly.",
        "citation:Knuth, The Art of Computer Programming 2, Theorem 4.2.2 B; no sum is beyond the largest float",
    ),
    sampler(
        "sampler.laplace_cells",
        "Cells of unit length weigh as the Laplace law does, and so do the parts of a cell before a place, as integrals of exp.",
        *runs("flow.reals", "cells"),
        *lemmas(*(f"cells.laplace_{name}" for name in ("weight", "falls", "slack", "below", "centre"))),
        needs=("balls", "sampler.series"),
        binds=code("mechanisms/sampling/cells.py", "LaplaceCells"),
    ),
    sampler(
        "sampler.gaussian_cells",
        "Cells of unit length weigh as the rounded Gaussian does, and the parts of a cell before a place as error functions say.",
        *runs("flow.reals", "cells"),
        *lemmas("cells.below"),
        needs=("balls", "sampler.rounded_weights"),
        binds=code("mechanisms/sampling/cells.py", "GaussianCells"),
    ),
    sampler(
        "sampler.vectors",
        "Noise whose density falls with the Euclidean norm: exact in one dimension, by length and direction in more.",
        f"{_SAMPLING}test_euclidean_noise.py::test_in_one_dimension_every_outcome_has_the_mass_of_a_rounded_laplace_variable",
        f"{_SAMPLING}test_euclidean_noise.py::test_the_length_is_gamma_distributed_and_the_direction_uniform_whatever_the_length",
        needs=("sampler.envelope", "sampler.lazy"),
        binds=code("mechanisms/sampling/euclidean_noise.py", "draw_vectors", "Stretch"),
    ),
    sampler(
        "sampler.staircase",
        "Staircase draws have exactly their steps on every tape of small words.",
        f"{_SAMPLING}test_enumeration.py::test_a_staircase_has_exactly_its_steps",
        f"{_SAMPLING}test_enumeration.py::test_a_uniform_place_is_uniform",
        f"{_SAMPLING}test_enumeration.py::test_draws_that_are_repeated_until_one_lies_inside_have_the_truncated_law",
        f"{_SAMPLING}test_enumeration.py::test_the_mirrored_envelope_keeps_every_integer_of_a_range_in_proportion",
        needs=("sampler.geometric", "sampler.inversion", "sampler.rejection", "sampler.envelope"),
        binds=(*code("mechanisms/laws/staircase.py", "Staircase"), *code("mechanisms/laws/truncated.py", "TruncatedLaw")),
        kind="enumerated",
    ),
    sampler(
        "sampler.choice_law",
        "Proposals that dominate the weights, and columns with a rest, choose each candidate in proportion to its weight.",
        *lemmas("samplers.proposal", "samplers.columns"),
        needs=("sampler.rejection", "sampler.lazy"),
    ),
    sampler(
        "sampler.choice",
        "One choice, and each of many, have that law: proposals are at least the true weights, whole masses add up to them.",
        *runs("flow.proposals", "gaps", "weights", "totals", "found", "trial"),
        *runs("flow.columns", "masses", "filled", "trials"),
        *runs("weighing", "staircase", "steps", "sure", "alias"),
        *lemmas(*(f"picking.{name}" for name in ("twice", "low", "high", "kept"))),
        *lemmas("samplers.pattern", "samplers.blocks_apart"),
        needs=("sampler.choice_law", "sampler.exponential", "sampler.numpy", "sampler.sums", "bits", "balls"),
        binds=(
            *code("mechanisms/selection/proposals.py", "propose", "trial", "draw_one", "Proposal", "finest_precision", "slope"),
            *code("mechanisms/selection/repeated.py", "alias_table", "columns", "draw_many", "trials", "AliasTable"),
            *code("mechanisms/selection/scores.py", "Scores"),
        ),
    ),
    sampler(
        "sampler.sums",
        "numpy adds the entries of an array in some order, each sum of floats rounded once, and looks up and sums as Python does.",
        "citation:numpy: sum, einsum, max, append, where, concatenate, minimum, multiply, trunc, frexp",
    ),
    sampler(
        "sampler.race",
        "Races have the law of their clocks on every tape of small words.",
        f"{_TESTS}selection/test_race.py::test_every_tape_of_bits_leads_to_the_order_of_its_law",
        f"{_TESTS}selection/test_race.py::test_all_uniform_numbers_together_give_the_law",
        needs=("sampler.lazy",),
        binds=code("mechanisms/selection/race.py", "races", "order"),
        kind="enumerated",
    ),
)
"""Nodes on the exactness of samplers."""

SENSITIVITIES: Final = (
    sensitivity(
        "declared",
        "The sensitivity and the adjacency that a caller declares are true; property tests look for counterexamples.",
        "citation:the caller",
    ),
    sensitivity(
        "one_category",
        "Neighbours differ in one person's category, and the number of people is public.",
        "citation:the definition of replace_one and label",
    ),
    sensitivity(
        "people",
        "Of a person the first different places of that person's records count, at most `contributions`, each once: one person "
        "moves that many counts by 1 at most, twice as many if replaced. Records are at most 2^31.",
        *runs("flow.people", "limits"),
        *lemmas("arguments.pairs", "arguments.pairs_room", "samplers.blocks_apart", "arguments.rank", "arguments.persons"),
        needs=("groups", "sampler.numpy"),
        binds=code("mechanisms/people.py", "limit_contributions", "units"),
    ),
    sensitivity(
        "people.read",
        "Records have one number exactly if they are of one person, and the place of their own category in a public table.",
        *runs("flow.people", "persons", "places"),
        *lemmas("arguments.range"),
        needs=("groups", "sampler.numpy"),
        binds=code("mechanisms/people.py", "read_people", "places_of", "read_entries"),
    ),
    sensitivity(
        "people.keys",
        "A key is the text or the whole number that an entry is; those that somebody has are listed in an order of their own.",
        *runs("flow.keys", "keys", "counted"),
        needs=("people", "people.read", "groups", "sampler.numpy"),
        binds=(*code("mechanisms/people.py", "keys_of"), *code("mechanisms/stability_histogram.py", "count_keys")),
    ),
    argument(
        "groups",
        "numpy sorts, groups and counts entries as Python does; entries that are equal have equal hashes and stay so.",
        "citation:numpy: argsort, sort, diff, minimum.reduceat, unique, isin, bincount, clip; CPython: dictionaries",
    ),
    sensitivity(
        "rows",
        "Clipped rows have the declared norm in exact whole numbers, whatever they hold, so that one moves the sum by no more.",
        *runs("flow.rows", "balls", "steps", "sums"),
        *lemmas("sums.part", "sums.exact"),
        needs=("truncation", "sampler.numpy", "sampler.sums"),
        binds=code("mechanisms/contributions.py", "clip_rows", "clip_and_sum"),
    ),
    sensitivity(
        "truncation",
        "Truncation to whole steps never lengthens a row.",
        *lemmas("sensitivity.truncation", "sensitivity.clip_lengths"),
    ),
)
"""Nodes on how far neighbours are apart."""

ARGUMENTS: Final = (
    argument(
        "steps",
        "A distance of d steps is d changes of one step in the same direction, each of which multiplies the bound.",
        *lemmas("arguments.unit_step", "arguments.directed_step", "groups.pure_step"),
    ),
    argument(
        "adaptive",
        "Given all answers, questions that depend on earlier answers are fixed, so a bound for every list of them holds for these.",
        "citation:docs/selection_and_queries.md, sparse vector theorem, first sentence of the proof",
    ),
    argument(
        "locks",
        "A lock lets one thread at a time through, and another process has another number.",
        "citation:CPython's threading.Lock, os.getpid",
    ),
    argument(
        "orders",
        "Even breaking of ties is a mixture of orders, and a factor that holds for each part holds for a mixture.",
        "lemma:arguments.mixture",
    ),
    argument(
        "coordinates",
        "Independent coordinates multiply their moments, so that zCDP costs add up as squared distances do.",
        *lemmas("composition.moment_term", "composition.moment_total"),
    ),
    argument(
        "rounding",
        "What is done to a release afterwards costs nothing: outcomes that are merged keep at most their excesses.",
        *lemmas("composition.merged", "composition.split"),
    ),
    composition(
        "composition",
        "Every release is logged before its noise is drawn, and the price of a log encloses the loss of its composition.",
        f"{_TESTS}test_every_mechanism.py::test_on_a_tape_every_mechanism_shows_what_it_read_and_gives_what_was_recorded",
        "test:tests/accounting/test_pricing.py::test_a_log_is_priced_as_the_composition_of_its_entries",
        "test:tests/accounting/test_composition.py::test_a_composition_of_pairs_is_what_brute_force_gives",
        needs=("composition.log",),
        binds=(*code("dpaudit/releases.py", "note"), *code("dpaudit/accounting/pricing.py", "price_releases")),
        kind="certified",
    ),
    composition(
        "composition.log",
        "Every release of a log is in its price, with its law, as often as it was made.",
        *runs("flow.logs", "priced", "composed"),
        needs=("composition.rules",),
        binds=(
            *code("dpaudit/releases.py", "note"),
            *code("dpaudit/accounting/pricing.py", "price_releases"),
            *code("dpaudit/accounting/privacy_loss.py", "compose"),
        ),
    ),
    composition(
        "composition.rules",
        "Pure, approximate and zCDP costs add up, also for adaptive choices.",
        *lemmas(
            *("composition.basic", "composition.sum", "composition.approximate", "composition.parallel"),
            "composition.moment_total",
        ),
    ),
)
"""Steps between a mechanism's program and its claim."""
