"""Top k: one race and choices one after the other have one law, in order; what it costs, logs and refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from dpaudit.accounting import bounded_range, price_releases, pure_dp
from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from mechanisms import TopK
from mechanisms.sampling.random import source_from
from mechanisms.selection.proposals import Widths, propose, trial
from mechanisms.selection.scores import read_scores
from mechanisms.top_k import choose_in_turn

NEVER = -math.inf
METHODS = ["one_shot", "peeling", "permute_and_flip"]


def source(seed):
    """A stream of fixed bits."""
    return source_from(np.random.default_rng(seed))


def law(entries, temperature, k, *, flips):
    """Probability of every ordered choice: one choice after the other among what is left."""
    found = {}
    for order in permutations([index for index, entry in enumerate(entries) if entry != NEVER], k):
        mass, left = 1.0, [index for index, entry in enumerate(entries) if entry != NEVER]
        for index in order:
            best = max(entries[other] for other in left)
            heads = {other: math.exp(float((entries[other] - best) / temperature)) for other in left}
            mass *= first_head(heads, index) if flips else heads[index] / sum(heads.values())
            left.remove(index)
        found[order] = mass
    return found


def first_head(heads, index):
    """Permute-and-flip's probability of one candidate, by orders of the coins."""
    total, orders = 0.0, list(permutations(heads))
    for walk in orders:
        before = walk[: walk.index(index)]
        total += math.prod(1 - heads[other] for other in before) * heads[index]
    return total / len(orders)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("entries", "k"),
    [([0, -0.5, -1.5], 2), ([1, 1, 1, 0], 3), ([0.0, NEVER, -1.0], 2), ([Fraction(1, 3), 0, 1], 1), ([2**62, 2**62 - 1, 5], 2)],
)
def test_the_places_have_the_law_of_choices_without_replacement(method, entries, k, false_alarm_level):
    from scipy.stats import chisquare

    mechanism = TopK(k=k, sensitivity=1, epsilon=2 * k, method=method)
    assert Fraction(1) == mechanism.temperature
    count = 60_000 if method == "one_shot" else 6000
    rows = mechanism.releases(entries, count, source(1))
    assert (count, k) == rows.shape
    exact = [entry if entry == NEVER else Fraction(entry) for entry in entries]
    truth = law(exact, mechanism.temperature, k, flips=method == "permute_and_flip")
    counts = dict.fromkeys(truth, 0)
    for row in map(tuple, rows.tolist()):
        counts[row] += 1
    likely = [order for order, mass in truth.items() if mass > 1e-9]
    assert count == sum(counts[order] for order in likely)
    if len(likely) > 1:
        expected = np.array([truth[order] for order in likely])
        assert chisquare([counts[order] for order in likely], expected / expected.sum() * count).pvalue > false_alarm_level


def test_peeling_by_trials_has_the_law_of_the_race_on_every_tape(outcomes):
    scores, temperature, widths = read_scores([0, -1]), Fraction(1), Widths(index=5, coin=1, step=1)

    def kernel(tape):
        def choose(left):
            index = trial(propose(left, temperature, 3), tape, widths)
            if index is None:
                raise Refused
            return index

        try:
            return tuple(choose_in_turn(scores, 2, choose))
        except Refused:
            return None

    found, rest = outcomes(kernel, unassigned=Fraction(1, 2**9))
    assert {None, (0, 1), (1, 0)} == set(found)
    # The first trial returns i with probability usable w_i 2^S, and the second, with one candidate left, returns it for sure.
    usable = Fraction(2**5 // propose(scores, temperature, 3).total * 2**3, 2**5)
    for order, weight in (((0, 1), 1.0), ((1, 0), math.exp(-1))):
        assert found[order] <= usable * Fraction(weight) + Fraction(1, 2**40)
        assert usable * Fraction(weight) <= found[order] + rest + Fraction(1, 2**40)


class Refused(Exception):
    """A trial was refused."""


@pytest.mark.parametrize("method", METHODS)
def test_far_better_candidates_come_in_their_order(method):
    entries = np.zeros(40_000)
    entries[[70, 39_999, 5]] = 9000.0, 6000.0, 3000.0
    assert [70, 39_999, 5] == TopK(k=3, sensitivity=1, epsilon=6, method=method).release(entries, source(2))


@pytest.mark.parametrize("method", METHODS)
def test_all_candidates_can_be_asked_for(method):
    mechanism = TopK(k=4, sensitivity=1, epsilon=1, method=method)
    assert [0, 1, 2, 3] == sorted(mechanism.release([3, 1.5, 2, 0], source(3)))
    assert [[0, 2, 3, 4]] * 5 == np.sort(mechanism.releases([3, NEVER, 1.5, 2, 0], 5, source(4))).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_the_log_holds_every_choice_and_its_price_is_the_mechanisms_loss(method):
    mechanism = TopK(k=3, sensitivity="1/2", epsilon="3/2", method=method, adjacency="replace_one")
    with recording() as log:
        mechanism.release([1, 2, 3, 4])
        mechanism.releases([1, 2, 3, 4], 5, source(1))
    assert [("top_k", 3, True), ("top_k", 15, False)] == [(release.kind, release.count, release.secure) for release in log]
    choice = pure_dp if method == "permute_and_flip" else bounded_range
    expected = 3 * choice(epsilon="1/2", adjacency="replace_one")
    for epsilon in ("1/2", "1", "3/2"):
        assert expected.delta(epsilon=epsilon).upper == mechanism.loss.delta(epsilon=epsilon).upper
        assert mechanism.loss.delta(epsilon=epsilon) == price_releases(log[:1]).delta(epsilon=epsilon)
    assert Fraction(3, 2) == mechanism.loss.epsilon(delta=0).upper == mechanism.claim.guarantee.epsilon


def test_monotonic_scores_allow_half_the_temperature():
    assert 2 * TopK(k=2, sensitivity=1, epsilon=1, monotonic=True).temperature == TopK(k=2, sensitivity=1, epsilon=1).temperature


@pytest.mark.parametrize(
    ("code", "entries"),
    [
        ("DPA109", []),
        ("DPA109", [NEVER] * 3),
        ("DPA102", [1.0, math.nan]),
        ("DPA103", [1, 2]),
        ("DPA103", [1.0, 2.0, NEVER]),
        ("DPA105", "123"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_bad_scores_are_refused_before_bits_are_drawn_or_anything_is_logged(code, entries, method, unasked):
    mechanism = TopK(k=3, sensitivity=1, epsilon=1, method=method)
    with recording() as log:
        for call in (lambda: mechanism.release(entries, unasked), lambda: mechanism.releases(entries, 2, unasked)):
            with pytest.raises(DpauditError, match=code):
                call()
    assert [] == log


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("DPA103", {"k": 0, "sensitivity": 1, "epsilon": 1}),
        ("DPA105", {"k": 1.5, "sensitivity": 1, "epsilon": 1}),
        ("DPA103", {"k": 1, "sensitivity": 1, "epsilon": 1, "method": "sorting"}),
        ("DPA104", {"k": 1, "sensitivity": 1, "epsilon": 0}),
        ("DPA105", {"k": 1, "sensitivity": 1, "epsilon": 1, "monotonic": "yes"}),
    ],
)
def test_bad_parameters_are_refused(code, arguments):
    with pytest.raises(DpauditError, match=code):
        TopK(**arguments)


def test_a_mechanism_is_a_value_and_says_what_it_is():
    mechanism = TopK(k=2, sensitivity="1/3", epsilon=1, method="peeling")
    text = mechanism.to_dict()
    assert ("TopK", "2", "False") == (text.pop("mechanism"), text.pop("k"), text.pop("monotonic"))
    assert mechanism == TopK(k=2, **text)
    assert "top 2 (peeling)" in mechanism.describe()
