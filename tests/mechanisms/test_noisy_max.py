"""Report noisy max on a lattice: pure for all neighbours of small score vectors, ties included; its law, log and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from mechanisms import NoisyMax
from mechanisms.noisy_max import greatest
from mechanisms.sampling.random import source_from
from tests.support.sources import TapeSource

NEVER = -math.inf
NOISES = ["geometric", "laplace"]
REACH = 60


def source(seed):
    """A stream of fixed bits."""
    return source_from(np.random.default_rng(seed))


def noise(name, ratio):
    """Masses of the noise by value, for a rational e^(-1 / scale); what lies beyond `REACH` is left out."""
    if name == "geometric":
        return {k: (1 - ratio) * ratio**k for k in range(REACH)}
    return {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-REACH, REACH)}


def enclosed_law(scores, masses, *, ties="even"):
    """Lower and upper end of each candidate's probability, in exact rational arithmetic."""
    size, values = len(scores), sorted({score + k for score in scores for k in masses})
    below = [[Fraction(0)] for _ in scores]
    for place, score in enumerate(scores):
        for value in values:
            below[place].append(below[place][-1] + masses.get(value - score, Fraction(0)))
    law = []
    for place, score in enumerate(scores):
        total = Fraction(0)
        for position, value in enumerate(values):
            own = masses.get(value - score, Fraction(0))
            equal = [Fraction(1)]
            for other in range(size):
                if other == place or not own:
                    continue
                less, same = below[other][position], masses.get(value - scores[other], Fraction(0))
                if ties == "first" and other > place:
                    less, same = less + same, Fraction(0)
                if ties == "first" and other < place:
                    same = Fraction(0)
                equal = [a * less + b * same for a, b in zip([*equal, Fraction(0)], [Fraction(0), *equal], strict=True)]
            total += own * sum(mass / (number + 1) for number, mass in enumerate(equal))
        law.append(total)
    return law, 1 - sum(law)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("ties", ["even", "first"])
@pytest.mark.parametrize("monotonic", [False, True])
def test_no_probability_moves_by_more_than_the_promise_on_any_neighbours(name, ties, monotonic):
    ratio = Fraction(1, 2)
    masses = noise(name, ratio)
    bound = 1 / ratio ** (1 if monotonic else 2)
    laws = {scores: enclosed_law(scores, masses, ties=ties) for scores in product(range(3), repeat=3)}
    worst = Fraction(0)
    for one, (law, rest) in laws.items():
        for shift in product((0, 1) if monotonic else (-1, 0, 1), repeat=3):
            other = tuple(map(sum, zip(one, shift, strict=True)))
            if other in laws:
                others, others_rest = laws[other]
                for p, q in zip(law, others, strict=True):
                    assert p <= bound * (q + others_rest)
                    assert q <= bound * (p + rest)
                    worst = max(worst, p / (q + others_rest), q / (p + rest))
    assert worst > bound * Fraction(6, 10), "the bound is not idle"


@pytest.mark.parametrize("name", NOISES)
def test_the_scale_of_monotonic_scores_breaks_the_promise_where_scores_move_against_each_other(name):
    """The same computation refutes a mechanism that is given too little noise."""
    ratio = Fraction(1, 2)
    masses = noise(name, ratio)
    (one, _), (other, rest) = enclosed_law((1, 4), masses), enclosed_law((0, 5), masses)
    assert one[0] > 1 / ratio * (other[0] + rest)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("entries", [[0], [0, 1, 1], [3.0, NEVER, 2.0], [Fraction(0), -2, 1]])
def test_single_and_repeated_choices_follow_the_law(name, entries, false_alarm_level):
    from scipy.stats import chisquare

    mechanism = NoisyMax(sensitivity=1, epsilon=1, noise=name)
    places = [index for index, entry in enumerate(entries) if entry != NEVER]
    ratio = Fraction(math.exp(-0.5))
    law, rest = enclosed_law([int(entries[index]) for index in places], noise(name, ratio))
    assert rest < 1e-9
    many, single = (
        mechanism.releases(entries, 100_000, source(1)),
        [mechanism.release(entries, source(seed)) for seed in range(300)],
    )
    assert set(places) >= set(single)
    counts = np.bincount(many, minlength=len(entries))
    assert 100_000 == counts[places].sum()
    if len(places) > 1:
        expected = np.array([float(mass) for mass in law])
        assert chisquare(counts[places], expected / expected.sum() * 100_000).pvalue > false_alarm_level


@pytest.mark.parametrize(("row", "winners"), [([3, 1, 2], {0}), ([5, 7, 7], {1, 2}), ([4, 4, 4], {0, 1, 2}), ([-9], {0})])
def test_ties_are_broken_evenly(outcomes, row, winners):
    found, rest = outcomes(lambda tape: int(greatest(np.array([row]), tape, bits=1)[0]))
    assert winners == set(found)
    assert all(mass <= Fraction(1, len(winners)) <= mass + rest for mass in found.values())


def test_rows_are_decided_on_their_own():
    rows = np.array([[1, 1], [2, 1], [1, 1], [0, 5]])
    assert [1, 0, 0, 1] == greatest(rows, TapeSource(0b10, 2), bits=1).tolist()


@pytest.mark.parametrize(
    ("entries", "lattice"),
    [
        (np.array([0.0, 200.5, 3.25]), "1/4"),
        ([0, 200, Fraction(1, 3)], "1/3"),
        ([NEVER, 0.5, -400.0], "1/2"),
        (np.array([2**59, -(2**59)]), 1),
        ([7, 900, 0], "1/3"),
    ],
)
def test_scores_on_any_lattice_are_read_exactly(entries, lattice):
    mechanism = NoisyMax(sensitivity=1, epsilon=1, lattice=lattice)
    assert int(np.argmax([float(entry) for entry in entries])) == mechanism.release(entries, source(1))


@pytest.mark.parametrize(("monotonic", "scale"), [(False, Fraction(4)), (True, Fraction(2))])
def test_the_log_holds_what_was_done_and_its_price_is_the_mechanisms_loss(monotonic, scale):
    mechanism = NoisyMax(sensitivity=1, epsilon="1/2", monotonic=monotonic, adjacency="replace_one")
    assert scale == mechanism.scale
    with recording() as log:
        mechanism.release([1, 2, 3])
        mechanism.releases([1, 2, 3], 5, source(1))
    assert [("noisy_max", 1, True), ("noisy_max", 5, False)] == [(release.kind, release.count, release.secure) for release in log]
    assert scale == log[0].parameter("temperature")
    assert Fraction(1, 2) == mechanism.loss.epsilon(delta=0).upper == price_releases(log[:1]).epsilon(delta=0).upper
    assert Fraction(1, 2) == mechanism.claim.guarantee.epsilon


@pytest.mark.parametrize(
    ("code", "entries"),
    [
        ("DPA109", []),
        ("DPA109", [NEVER]),
        ("DPA102", [1.0, math.nan]),
        ("DPA102", [1, math.inf]),
        ("DPA105", "12"),
        ("DPA107", [0.5, 1]),
        ("DPA107", np.array([0.5, 1.0])),
        ("DPA108", [10**30, 0]),
        ("DPA108", np.array([2**63], dtype=np.uint64)),
    ],
)
def test_bad_scores_are_refused_before_bits_are_drawn_or_anything_is_logged(code, entries, unasked):
    mechanism = NoisyMax(sensitivity=1, epsilon=1)
    with recording() as log:
        for call in (lambda: mechanism.release(entries, unasked), lambda: mechanism.releases(entries, 2, unasked)):
            with pytest.raises(DpauditError, match=code):
                call()
    assert [] == log


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("DPA107", {"sensitivity": "1/2", "epsilon": 1}),
        ("DPA103", {"sensitivity": 1, "epsilon": 1, "noise": "uniform"}),
        ("DPA103", {"sensitivity": 1, "epsilon": "1e-20"}),
        ("DPA104", {"sensitivity": 1, "epsilon": 1, "lattice": 0}),
        ("DPA105", {"sensitivity": 1, "epsilon": 1, "monotonic": 0}),
    ],
)
def test_bad_parameters_are_refused(code, arguments):
    with pytest.raises(DpauditError, match=code):
        NoisyMax(**arguments)


def test_a_mechanism_is_a_value_and_says_what_it_is():
    mechanism = NoisyMax(sensitivity="2/3", epsilon=1, lattice="1/3", noise="laplace")
    text = mechanism.to_dict()
    assert ("NoisyMax", "False") == (text.pop("mechanism"), text.pop("monotonic"))
    assert mechanism == NoisyMax(**text)
    assert "laplace noise of scale 4/3 on multiples of 1/3" in mechanism.describe()
