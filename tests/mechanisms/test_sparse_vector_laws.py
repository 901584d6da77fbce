"""Sparse vector: exact output laws of runs on neighbours, as sums over the threshold's noise, and the classic broken variants."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpaudit.exact import ball, working_precision
from mechanisms import AboveThreshold, SparseVector, source_from
from mechanisms.comparisons import NOT_ASKED


def sparse(**changes):
    return SparseVector(**{"sensitivity": 1, "epsilon": 1, **changes})


def mass(scale, k):
    """P[X = k] of the discrete Laplace law, by its own formula."""
    ratio = (-ball(1 / Fraction(scale))).exp()
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def tail(scale, k):
    """P[X >= k]; a law without noise where the scale is None."""
    if scale is None:
        return arb(int(k <= 0))
    ratio = (-ball(1 / Fraction(scale))).exp()
    return ratio**k / (1 + ratio) if k >= 1 else 1 - ratio ** (1 - k) / (1 + ratio)


class Law:
    """Exact odds of what a run answers, with the threshold at 0: sums over the threshold's noise, `reach` scales far.

    What lies beyond is bounded.
    """

    def __init__(self, threshold_scale, query_scale, reach=40):
        self.query_scale = query_scale
        self.tails = {}
        if threshold_scale is None:
            self.borders, self.rest = {0: arb(1)}, arb(0)
        else:
            last = math.ceil(reach * Fraction(threshold_scale))
            self.borders = {place: mass(threshold_scale, place) for place in range(-last, last + 1)}
            beyond = tail(threshold_scale, last + 1)
            self.rest = arb(beyond, beyond.upper())

    def above(self, value, border):
        """P[value + noise >= border]."""
        step = border - value
        if step not in self.tails:
            self.tails[step] = tail(self.query_scale, step)
        return self.tails[step]

    def chance(self, pattern, values, *, least=None):
        """P[the answers are `pattern`]; with `least`, and the noisy threshold is at most that."""
        total = self.rest + 0
        for border, weight in self.borders.items():
            if least is None or border <= least:
                chance = weight
                for answer, value in zip(pattern, values, strict=False):
                    up = self.above(value, border)
                    chance *= up if answer else 1 - up
                total += chance
        return total


def patterns(length, cutoff):
    """All answers that a run of at most `length` questions can give."""
    for full in itertools.product((0, 1), repeat=length):
        places = [place for place, answer in enumerate(full) if answer]
        end = places[cutoff - 1] + 1 if len(places) >= cutoff else length
        if not any(full[end:]):
            yield full[:end]


def moved(values, moves):
    return tuple(value + move for value, move in zip(values, moves, strict=True))


def law_of(mechanism, reach=40):
    return Law(mechanism.threshold_scale / mechanism.lattice, mechanism.query_scale / mechanism.lattice, reach)


MECHANISMS = [
    sparse(),
    sparse(cutoff=2),
    sparse(cutoff=2, epsilon="7/3", threshold_share="9/10"),
    sparse(sensitivity=2, cutoff=1),
    sparse(sensitivity=1, lattice="1/2", epsilon=3),
    sparse(monotonic=True),
    sparse(monotonic=True, cutoff=3, epsilon=2),
    AboveThreshold(sensitivity=1, epsilon=2),
    AboveThreshold(sensitivity=1, epsilon="1/3", monotonic=True),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=map(str, range(len(MECHANISMS))))
def test_no_answers_of_short_runs_are_more_than_e_to_epsilon_times_likelier_on_any_neighbour(mechanism):
    steps = int(mechanism.sensitivity / mechanism.lattice)
    cutoff = getattr(mechanism, "cutoff", 1)
    moves = [tuple(side) for side in itertools.product(range(-steps, steps + 1), repeat=3)]
    if mechanism.monotonic:
        moves = [move for move in moves if min(move) >= 0 or max(move) <= 0]
    with working_precision(128):
        law, bound = law_of(mechanism), ball(mechanism.epsilon).exp()
        known = {}

        def chance(pattern, values):
            key = pattern, values[: len(pattern)]
            if key not in known:
                known[key] = law.chance(*key)
            return known[key]

        for values in itertools.combinations_with_replacement(range(2 + (steps == 1)), 3):
            total = sum((chance(pattern, values) for pattern in patterns(3, cutoff)), start=arb(0))
            assert total.contains(1)
            for move, pattern in itertools.product(moves, list(patterns(3, cutoff))):
                assert chance(pattern, values) <= bound * chance(pattern, moved(values, move))


def worst(law, *, above, monotonic=False):
    """Likelihood ratio where many answers below and some above the threshold speak most clearly against a neighbour.

    Those below force the noisy threshold far up, those above are far from it.
    """
    pattern, values = (0,) * 60 + (1,) * above, (20,) * 60 + (-20,) * above
    neighbour = (21,) * 60 + (-20 if monotonic else -21,) * above
    return law.chance(pattern, values) / law.chance(pattern, neighbour)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("cutoff", [1, 2])
def test_long_runs_come_as_near_to_epsilon_as_one_likes(monotonic, cutoff):
    mechanism = sparse(cutoff=cutoff, monotonic=monotonic, epsilon=2)
    with working_precision(256):
        ratio = worst(law_of(mechanism, 150), above=cutoff, monotonic=monotonic)
        assert abs(ratio / ball(2).exp() - 1) < ball(Fraction(1, 10**30))


def test_broken_twin_without_noise_in_the_comparisons():
    with working_precision(128):
        law = Law(2, None)
        assert law.chance((0, 1), (0, 1)) > ball(Fraction(1, 10))
        assert law.chance((0, 1), (1, 0)) < ball(Fraction(1, 10**15))


def test_broken_twin_whose_noise_does_not_grow_with_the_cutoff():
    with working_precision(256):
        law = Law(4, Fraction(4, 3), 150)  # a quarter of epsilon = 1 for the threshold, and the rest for each of 3 answers
        assert worst(law, above=3) > ball(Fraction(47, 10)).exp()


def test_broken_twin_without_noise_in_the_threshold():
    with working_precision(256):
        law = Law(None, 4)  # what the comparisons have in the correct mechanism with epsilon 1 of which they get half
        assert law.chance((0,) * 10, (90,) * 10) > ball(2).exp() * law.chance((0,) * 10, (91,) * 10)


def test_broken_twin_that_never_stops():
    with working_precision(256):
        assert worst(Law(2, 4, 150), above=5) > ball(Fraction(29, 10)).exp()  # right for one answer and epsilon = 1


def test_broken_twin_that_draws_a_new_threshold_for_every_question():
    with working_precision(256):
        law = Law(2, 4)
        each = law.chance((0,), (20,)) / law.chance((0,), (21,))
        assert each**8 > ball(Fraction(3, 2)).exp()


def test_broken_twin_that_draws_a_new_threshold_after_each_answer_but_pays_for_one():
    with working_precision(256):
        epsilon, cutoff = Fraction(2), 4
        law = Law(2 / epsilon, 4 * cutoff / epsilon, 150)  # correct noise of the comparisons, noise of one threshold only
        assert worst(law, above=1) ** cutoff > ball(2 * epsilon).exp()


def test_broken_twin_that_shows_the_number_it_compared():
    with working_precision(256):
        law, shown = Law(2, 2, 100), -20  # the number shown bounds the threshold from above, and many answers bound it from below
        chance, other = (law.chance((0,) * 30, (value,) * 30, least=shown) for value in (-20, -19))
        same = mass(2, shown)  # the last question, whose noisy value is shown, has the same answer on both
        assert chance * same > ball(3).exp() * other * same


def test_broken_twin_that_calls_answers_monotonic_that_are_not():
    mechanism = sparse(monotonic=True, epsilon=2)
    with working_precision(256):
        assert worst(law_of(mechanism, 150), above=1) > ball(Fraction(29, 10)).exp()


@pytest.mark.parametrize("cutoff", [1, 2])
def test_numbers_have_noise_of_their_own_and_cost_their_share(cutoff):
    mechanism = sparse(cutoff=cutoff, number_share="1/2", epsilon=2)
    with working_precision(256):
        answers = worst(law_of(mechanism, 150), above=cutoff)
        each = mass(mechanism.number_scale, 5) / mass(mechanism.number_scale, 6)  # shown at the value + 5 and + 6
        assert abs(each**cutoff / ball(1).exp() - 1) < ball(Fraction(1, 10**30))
        assert abs(answers * each**cutoff / ball(2).exp() - 1) < ball(Fraction(1, 10**30))


def asked_one_by_one(mechanism, threshold, values, tape):
    run = mechanism.start(threshold, tape)
    return tuple(int(run.ask(value)) if run.left else NOT_ASKED for value in values)


def odds_as_floats(mechanism, values):
    with working_precision(128):
        law = law_of(mechanism)
        cutoff = getattr(mechanism, "cutoff", 1)
        return {pattern: float(law.chance(pattern, values)) for pattern in patterns(len(values), cutoff)}


@pytest.mark.parametrize(
    "mechanism", [sparse(cutoff=2), sparse(monotonic=True, lattice="1/4", sensitivity="1/2", epsilon=3)], ids=["two", "monotonic"]
)
def test_shipped_runs_follow_their_exact_law(mechanism, false_alarm_level):
    from scipy.stats import chisquare

    steps = (1, -1, 2)
    values = [step * mechanism.lattice for step in steps]
    expected = odds_as_floats(mechanism, steps)
    rows = mechanism.releases(0, values, 300_000, source_from(np.random.default_rng(21)))
    source = source_from(np.random.default_rng(22))
    for drawn in (rows.tolist(), [asked_one_by_one(mechanism, 0, values, source) for _ in range(3000)]):
        found = dict.fromkeys(expected, 0)
        for row in drawn:
            found[tuple(answer for answer in row if answer != NOT_ASKED)] += 1
        counts = np.array([found[pattern] for pattern in expected])
        assert chisquare(counts, np.array(list(expected.values())) * len(drawn), sum_check=False).pvalue > false_alarm_level
