"""Checks of choices among candidates: proposals dominate, trials and races have their law, scores are read exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
from flint import arb

from dpaudit.exact import ball, working_precision
from mechanisms.noisy_max import greatest
from mechanisms.response import RandomizedResponse, draw_honesty, report, threshold, truth_probability
from mechanisms.sampling.random import source_from
from mechanisms.sampling.uniform import draw_many_below
from mechanisms.selection import proposals
from mechanisms.selection.clocks import EXPONENTIAL, GUMBEL, intervals
from mechanisms.selection.coins import Tuning as FlipTuning
from mechanisms.selection.coins import flip
from mechanisms.selection.proposals import (
    CHUNK,
    TABLE_PRECISION,
    Widths,
    few_weights,
    finest_precision,
    propose,
    staircase,
    table,
    trial,
)
from mechanisms.selection.race import Tuning as RaceTuning
from mechanisms.selection.race import race, races
from mechanisms.selection.repeated import Tuning as AliasTuning
from mechanisms.selection.repeated import alias_table, trials
from mechanisms.selection.scores import read_scores
from mechanisms.top_k import choose_in_turn
from tests.support.sources import RecordingSource, TapeSource

NEVER = -math.inf
VECTORS = [
    ([3, 1, 2], Fraction(1)),
    ([0.5, NEVER, -1.25, 0.25, 0.0], Fraction(2, 3)),
    ([1e300, -1e300, 1e300], Fraction(5)),
    ([Fraction(1, 3), Fraction(1, 2), 0], Fraction(1, 10)),
    ([2**63 - 1, -(2**63), 2**63 - 2], Fraction(3)),
]


def contradictions(found, rest, law):
    """Outcomes of an enumeration that do not have their probability; floats are right to far more digits than that resolves."""
    tolerance = 1e-12
    return sorted(
        str(outcome)
        for outcome in found.keys() | law.keys()
        if not found.get(outcome, 0) - tolerance <= law.get(outcome, 0.0) <= found.get(outcome, 0) + rest + tolerance
        or (outcome not in law and found[outcome] > 0)
    )


def weights_of(entries, temperature):
    """e^-gap of every candidate."""
    best = max(entry for entry in entries if entry != NEVER)
    gaps = (None if entry == NEVER else (Fraction(best) - Fraction(entry)) / temperature for entry in entries)
    return [0.0 if gap is None else math.exp(-min(float(gap), 800.0)) for gap in gaps]


def softmax(entries, temperature):
    """The exponential mechanism's law over those that are possible."""
    weights = weights_of(entries, temperature)
    return {index: weight / sum(weights) for index, weight in enumerate(weights) if weight > 0}


def proposals_dominate_and_are_seldom_refused():
    for precision in (6, 31, 42, TABLE_PRECISION):
        for entries, temperature in VECTORS:
            scores = read_scores(entries)
            weights = staircase(scores.gaps(0, scores.size), temperature, precision).tolist()
            assert weights == few_weights(scores, temperature, precision)
            for index, weight in enumerate(weights):
                gap = scores.gap(index)
                with working_precision(300):
                    true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * 2**precision
                    assert true <= weight
                    assert weight == 1 or true >= (weight - 1) * ball(Fraction(proposals.SURE_ACCEPTANCE))


def proposals_dominate_beside_every_step_of_the_staircase():
    steps = len(table(TABLE_PRECISION)) // 63
    with working_precision(300):
        step = arb.const_log2() / steps
        for temperature in (Fraction(1), Fraction(7, 3), Fraction(1, 10**6)):
            numbers = (1, 2, 3, steps - 1, steps, 5 * steps + 1, 40 * steps + 7)
            near = [float((number * step * ball(temperature)).mid()) for number in numbers]
            gaps = [gap for place in near for gap in (math.nextafter(place, 0), place, math.nextafter(place, math.inf))]
            weights = staircase(np.array(gaps), temperature, TABLE_PRECISION).tolist()
            for gap, weight in zip(gaps, weights, strict=True):
                true = (-ball(Fraction(gap) / temperature)).exp() * 2**TABLE_PRECISION
                assert true <= weight
                assert weight == 1 or true >= (weight - 1) * ball(Fraction(proposals.SURE_ACCEPTANCE))


def the_staircase_holds_powers_of_two_rounded_up():
    for precision in (6, 40, TABLE_PRECISION):
        entries = table(precision)
        steps = (len(entries) - 1) // 63
        with working_precision(200):
            for place in [0, 1, 2, steps - 1, steps, steps + 1, 3 * steps // 2, 62 * steps, len(entries) - 1]:
                power = ball(2) ** (precision - ball(Fraction(place, steps)))
                assert int(entries[place]) == int(power.upper().ceil().unique_fmpz())


def weights_of_all_candidates_fit_an_integer():
    for size in (1, 2, 3, 1024, 1025, 2**20 + 1, 2**30):
        assert size * (2 ** finest_precision(size) + 2) < 2**63
        assert finest_precision(size) >= 30


def trials_of_proposals_have_their_law(outcomes):
    for entries, temperature in VECTORS[:3]:
        proposal = propose(read_scores(entries), temperature, 6)
        found, rest = outcomes(
            lambda tape, proposal=proposal: trial(proposal, tape, Widths(index=9, coin=1, step=1)), unassigned=Fraction(1, 2**10)
        )
        usable = 2**9 // proposal.total * 2**6 / 2**9
        law = {index: usable * weight for index, weight in enumerate(weights_of(entries, temperature)) if weight > 0}
        assert [] == contradictions({key: mass for key, mass in found.items() if key is not None}, rest, law)


def a_place_is_found_in_whichever_group():
    for size in (5, 64, 65, CHUNK, CHUNK + 1, 70_000):
        scores = read_scores(np.arange(size) % 7)
        proposal = propose(scores, Fraction(3), finest_precision(size))
        running = np.cumsum(staircase(scores.gaps(0, size), Fraction(3), finest_precision(size)))
        assert int(running[-1]) == proposal.total
        for index in {0, 1, 4, size // 2, size - 2, size - 1}:
            for place in (int(running[index]) - 1, int(running[index - 1]) if index else 0):
                assert index == trial(proposal, TapeSource(place << 64, 192 + 64))
        beyond = 2**192 // proposal.total * proposal.total
        assert trial(proposal, TapeSource(beyond, 192)) is None


def repeated_draws_have_their_law(outcomes):
    for entries, temperature in [([3, 1, 2], Fraction(1)), ([0.0, -0.5, NEVER], Fraction(2))]:
        tuning = AliasTuning(bits=5, slack=0.05, rest=6, step=1)
        aliases = alias_table(read_scores(entries), temperature, tuning)
        kernel = lambda tape, aliases=aliases: next(iter(trials(aliases, 1, tape).tolist()), None)  # noqa: E731
        found, rest = outcomes(kernel, unassigned=Fraction(1, 2**8))
        unit = float(aliases.unit) / 2**tuning.bits
        law = {index: unit * weight for index, weight in enumerate(weights_of(entries, temperature)) if weight > 0}
        assert [] == contradictions({key: mass for key, mass in found.items() if key is not None}, rest, law)


def columns_hold_the_masses():
    for entries, temperature in [*VECTORS, (list(range(40)), Fraction(3)), ([0] * 9 + [5], Fraction(1))]:
        aliases = alias_table(read_scores(entries), temperature)
        held = np.zeros(len(entries) + 1, dtype=object)
        for column, (own, other) in enumerate(zip(aliases.own.tolist(), aliases.other.tolist(), strict=True)):
            assert 0 <= own <= 2**aliases.height
            if column < held.size:
                held[column] += own
            if own < 2**aliases.height:
                held[other] += 2**aliases.height - own
        assert [*aliases.sure.tolist(), aliases.left] == held.tolist()
        with working_precision(200):
            for index in range(len(entries)):
                gap = aliases.scores.gap(index)
                true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * ball(aliases.unit)
                assert aliases.sure[index] == 0 or ball(int(aliases.sure[index])) <= true
                assert true <= ball(int(aliases.sure[index] + aliases.spare[index]))


def drawing_without_replacement(entries, temperature, places):
    """Ordered places of successive exponential mechanisms on those that are left."""
    law = {}
    for order in permutations(range(len(entries)), places):
        weights, mass = weights_of(entries, temperature), 1.0
        for index in order:
            mass *= weights[index] / sum(weights)
            weights[index] = 0.0
        law[order] = mass
    return law


def permute_and_flip(entries, temperature):
    """All coins are flipped, and one of the heads is taken."""
    weights = weights_of(entries, temperature)
    law = dict.fromkeys(((index,) for index in range(len(entries))), 0.0)
    for coins in product((0, 1), repeat=len(entries)):
        if any(coins):
            mass = math.prod(weight if coin else 1 - weight for coin, weight in zip(coins, weights, strict=True))
            for index, coin in enumerate(coins):
                law[index,] += mass * coin / sum(coins)
    return {outcome: mass for outcome, mass in law.items() if mass > 0}


def races_have_their_law(outcomes):
    tuning = RaceTuning(word_bits=1, more_bits=1, step=1)
    entries, temperature = [0, -1], Fraction(1)
    scores = read_scores(entries)
    laws = {GUMBEL: drawing_without_replacement(entries, temperature, 1), EXPONENTIAL: permute_and_flip(entries, temperature)}
    for clock, law in laws.items():
        for run in (
            lambda tape, clock=clock: tuple(race(scores, temperature, clock, 1, tape, tuning)),
            lambda tape, clock=clock: tuple(races(scores, temperature, clock, 1, 1, tape, tuning)[0].tolist()),
        ):
            found, rest = outcomes(run, unassigned=Fraction(1, 2**6))
            assert [] == contradictions(found, rest, law)


def places_follow_the_numbers_drawn():
    entries, temperature = [0, Fraction(-1, 2), Fraction(-1, 4), -3, NEVER, Fraction(1, 8)], Fraction(2, 3)
    scores = read_scores(entries)
    gaps = np.array([math.inf if gap is None else float(gap / temperature) for gap in map(scores.gap, range(scores.size))])
    for seed in range(60):
        source = RecordingSource(source_from(np.random.default_rng(seed)))
        for clock, noise in ((GUMBEL, lambda u: -np.log(-np.log(u))), (EXPONENTIAL, lambda u: -np.log1p(-u))):
            first = race(scores, temperature, clock, 3, source)
            words = np.array(source.calls[0][1])
            assert is_possible_order(first, noise((words + 0.5) / 2**16) - gaps)
            source.calls.clear()
            rows = races(scores, temperature, clock, 3, 4, source)
            possible = np.flatnonzero(np.isfinite(gaps))
            words = np.array(source.calls[0][1]).reshape(4, possible.size)
            for row, drawn in zip(rows.tolist(), words, strict=True):
                values = np.full(gaps.size, -math.inf)
                values[possible] = noise((drawn + 0.5) / 2**16) - gaps[possible]
                assert is_possible_order(row, values)
            source.calls.clear()


def is_possible_order(order, values):
    """Whether the places go by the values, but for differences within what the first bits leave open."""
    near = 1e-2
    behind = [values[index] for index in range(values.size) if index not in order]
    ranked = [values[index] for index in order]
    return 3 == len(set(order)) == len(order) and all(
        one >= other - near for place, one in enumerate(ranked) for other in [*ranked[place + 1 :], *behind]
    )


def bins_of_noise_enclose_their_quantiles():
    for clock in (GUMBEL, EXPONENTIAL):
        for bits in (2, 8, 16):
            lower, upper = intervals(clock, bits)
            for word in {0, 1, 2, 2 ** (bits - 1), 2**bits - 2, 2**bits - 1, 3 * 2**bits // 7}:
                with working_precision(200):
                    first, last = clock.quantile(word, bits), clock.quantile(word + 1, bits)
                    assert lower[word] == -math.inf or arb(float(lower[word])) <= first
                    assert upper[word] == math.inf or arb(float(upper[word])) >= last
                    assert math.isinf(lower[word]) or arb(float(lower[word])) + 1 > first
            assert math.inf == upper[-1]
            assert lower[0] == (-math.inf if clock is GUMBEL else 0.0)


def coins_of_truth_are_exact(outcomes):
    for epsilon, bits in ((Fraction(1), 1), (Fraction(1, 3), 3), (Fraction(2), 2)):
        with working_precision(200):
            true = truth_probability(epsilon, 3)(200)
            for coin in (
                lambda tape, epsilon=epsilon, bits=bits: bool(draw_honesty(epsilon, 3, 1, tape, bits=bits, step=1)[0]),
                lambda tape, epsilon=epsilon, bits=bits: report(2, epsilon, 3, tape, bits=bits, step=1) == 2,
            ):
                found, rest = outcomes(coin, unassigned=Fraction(1, 2**10))
                assert ball(found[True]) <= true <= ball(found[True] + rest)
            assert ball(threshold(epsilon, 3, 64)) <= true * 2**64 <= ball(threshold(epsilon, 3, 64) + 1)
            assert (ball(epsilon).exp() / (ball(epsilon).exp() + 2)).overlaps(true)


def another_category_is_uniform(outcomes):
    for limit in (1, 2, 3, 5, 8):
        found, rest = outcomes(lambda tape, limit=limit: int(draw_many_below(limit, 1, tape)[0]), unassigned=Fraction(1, 2**8))
        assert [] == contradictions(found, rest, dict.fromkeys(range(limit), 1 / limit))
    found, rest = outcomes(lambda tape: tuple(draw_many_below(3, 2, tape).tolist()), unassigned=Fraction(1, 2**6))
    assert [] == contradictions(found, rest, dict.fromkeys(product(range(3), repeat=2), 1 / 9))


def a_lie_is_any_other_category():
    mechanism = RandomizedResponse(epsilon=1, categories=4)
    for truth in range(4):
        lie, honest = (2**64 - 1) << 2, 0
        for person in (truth, np.array([truth])):
            said = [np.asarray(mechanism.release(person, TapeSource(lie | other, 66))).item() for other in range(3)]
            assert sorted({0, 1, 2, 3} - {truth}) == sorted(said)
            assert truth == mechanism.release(person, TapeSource(honest, 66))


def flipped_coins_have_their_law(outcomes):
    entries, temperature = [0, -1, Fraction(-1, 2)], Fraction(1)
    scores, law = read_scores(entries), permute_and_flip(entries, temperature)
    found, rest = outcomes(
        lambda tape: (flip(scores, temperature, tape, FlipTuning(bits=3, step=1)),), unassigned=Fraction(1, 2**7)
    )
    assert [] == contradictions(found, rest, law)


def ties_are_broken_evenly(outcomes):
    for row, law in (([2, 5, 5, 1, 5], {1: 1 / 3, 2: 1 / 3, 4: 1 / 3}), ([7, 2, 7], {0: 0.5, 2: 0.5}), ([1, 2], {1: 1.0})):
        noisy = np.array([row, row])
        for place in (0, 1):
            chosen = lambda tape, noisy=noisy, place=place: int(greatest(noisy, tape, bits=1)[place])  # noqa: E731
            found, rest = outcomes(chosen, unassigned=Fraction(1, 2**6))
            assert [] == contradictions(found, rest, law)


def peeling_leaves_out_what_was_chosen():
    scores = read_scores([5.0, NEVER, 3.0, 4.0, 1.0])
    best_first = choose_in_turn(scores, 4, lambda left: int(np.argmin(left.gaps(0, left.size))))
    assert [0, 3, 2, 4] == best_first
    worst_first = choose_in_turn(scores, 3, lambda left: left.size - 1)
    assert [4, 3, 2] == worst_first


def large_fields_are_filtered_without_loss():
    """A race among more candidates than are read at a time: the winners go by the values, as in a small field."""
    rng = np.random.default_rng(9)
    entries = rng.integers(-40, 40, 3000)
    scores, temperature = read_scores(entries), Fraction(5)
    tuning = RaceTuning(chunk=256, sample=128)
    for seed in range(30):
        source = RecordingSource(source_from(np.random.default_rng(seed)))
        order = race(scores, temperature, GUMBEL, 3, source, tuning)
        values = -np.log(-np.log((np.array(source.calls[0][1]) + 0.5) / 2**16)) - (entries.max() - entries) / 5
        near = values[np.argsort(values)[-3:]].min() - 2.0
        assert 3 == len(set(order))
        assert all(values[index] > near for index in order)
        clear = [index for index in np.flatnonzero(values > np.sort(values)[-4] + 0.05) if values[index] < 9]
        assert set(clear) <= set(order)


def scores_are_read_exactly():
    for entries, gaps in (
        ([2**53, 2**53 + 1], [1, 0]),
        (np.array([2**64 - 1, 0], dtype=np.uint64), [0, 2**64 - 1]),
        (np.array([-(2**63), 2**63 - 1]), [2**64 - 1, 0]),
        ([0.1, 0.3], [Fraction(0.3) - Fraction(0.1), 0]),
        ([Fraction(1, 3), 1, 0.5, NEVER], [Fraction(2, 3), 0, Fraction(1, 2), None]),
        ([10**400, 0], [0, 10**400]),
        ([NEVER, -3.0, -1.0], [None, 2, 0]),
    ):
        scores = read_scores(entries)
        assert gaps == [scores.gap(index) for index in range(scores.size)]
        rounded = [math.inf if gap is None or gap > 2**1024 else float(gap) for gap in gaps]
        assert rounded == scores.gaps(0, scores.size).tolist()


ENUMERATIONS = {
    "trials of proposals": trials_of_proposals_have_their_law,
    "repeated draws": repeated_draws_have_their_law,
    "races": races_have_their_law,
    "coins of truth": coins_of_truth_are_exact,
    "another category": another_category_is_uniform,
    "flipped coins": flipped_coins_have_their_law,
    "ties": ties_are_broken_evenly,
}

CHECKS = [
    proposals_dominate_and_are_seldom_refused,
    proposals_dominate_beside_every_step_of_the_staircase,
    the_staircase_holds_powers_of_two_rounded_up,
    weights_of_all_candidates_fit_an_integer,
    a_place_is_found_in_whichever_group,
    columns_hold_the_masses,
    places_follow_the_numbers_drawn,
    peeling_leaves_out_what_was_chosen,
    large_fields_are_filtered_without_loss,
    bins_of_noise_enclose_their_quantiles,
    a_lie_is_any_other_category,
    scores_are_read_exactly,
]
