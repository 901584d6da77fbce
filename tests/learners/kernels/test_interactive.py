"""Open runs that compare with a public guess: their price, their end, what silence shows, the analyst who makes it tell most."""

from __future__ import annotations

import copy
import math
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import RDP, ZCDP
from dpaudit.accounting import update_charged
from dpaudit.claims import Adjacency
from dpaudit.errors import BudgetExceeded, InvalidArgument, Unsupported
from dpaudit.releases import recording
from learners import Budget, InteractiveKernelPredictor
from learners.estimator import Public
from learners.kernels.charged_updates import UpdateRounds
from learners.kernels.guessing import Grid, GuessingTeller
from learners.kernels.interactive import _usual_updates
from learners.solvers.minimum import IMAGE_BITS, minimum
from learners.targets.kernels import DELTA, MOVED, NEAR_EDGE, PRICED, SCALE, THRESHOLD, TOLD, UPDATES
from mechanisms import source_from
from mechanisms.laws import DiscreteLaplace

ONE = 2**IMAGE_BITS
X = [[0.6, 0.8], [-0.6, -0.8]] * 300
Y = [1, 0] * 300
SILENT = DiscreteLaplace("1/200")
"""Noise that is zero but with probability 1e-86."""


def predictor(**changed):
    return InteractiveKernelPredictor(
        **({"epsilon": 2, "delta": "1e-6", "feature_norm": 1, "classes": [0, 1], "updates": 3} | changed)
    )


@pytest.mark.parametrize("accounting", ["updates", "blocks"])
def test_a_run_is_paid_for_when_it_is_opened_and_nothing_it_is_asked_costs_more(accounting):
    with recording() as log:
        run = predictor(accounting=accounting).open(X, Y)
        opened = len(log)
        for _ in range(20):
            run.ask([0.6, 0.8])
    assert opened == len(log)
    assert 1.9 < float(run.privacy_.epsilon) <= 2
    assert run.privacy_.recompute().upper <= run.privacy_.epsilon
    assert "InteractiveKernelPredictor" == run.privacy_.public["learner"]


def test_a_run_is_priced_as_one_that_is_charged_by_its_updates():
    (release,) = [each for charge in predictor().open(X, Y).privacy_.charges for each in charge.releases]
    loss = update_charged(
        scale=release.parameter("scale"),
        sensitivity=release.sensitivity,
        threshold=release.parameter("threshold"),
        updates=3,
        lattice=1,
        adjacency="replace_one",
    )
    assert Fraction(197, 100) < loss.epsilon(delta="1e-6").upper <= 2
    assert release.parameter("threshold") >= 4 * release.parameter("scale") * Fraction(math.log(2 * 1000 * 20))


def test_a_budget_is_spent_when_a_run_is_opened_and_refuses_what_it_does_not_cover():
    wide = Budget(RDP({6: 1}))
    predictor(budget=wide).open(X, Y)
    budget = Budget(RDP({6: wide.spent["Renyi divergence of order 6"] * Fraction(3, 2)}))
    predictor(budget=budget).open(X, Y)
    with pytest.raises(BudgetExceeded, match="DPA204"):
        predictor(budget=budget).open(X, Y)
    with pytest.raises(Unsupported, match="DPA202"):
        predictor(budget=Budget(ZCDP(rho=1))).open(X, Y)


def teller(weights, threshold, *, updates=3, law=SILENT, shift=0):
    rounds = UpdateRounds(law, threshold, None, None)
    return GuessingTeller(np.array(weights), Grid(512 << shift, shift), rounds, updates, threshold)


def test_a_run_ends_with_exactly_its_updates():
    run = teller([40, 40], 10, updates=3, shift=IMAGE_BITS)
    answers = [run.answer(np.array(point)) for point in ([ONE, 0], [0, ONE], [ONE // 2, 0], [ONE, 0])[: 2 + 1]]
    assert [True, True, True] == [answer.read for answer in answers]
    assert (0, False) == (run.left, run.open)


@settings(max_examples=50)
@given(
    st.lists(st.integers(-60, 60), min_size=2, max_size=2),
    st.lists(st.lists(st.integers(-ONE, ONE), min_size=2, max_size=2), max_size=8),
    st.randoms(use_true_random=False),
)
def test_silent_answers_are_what_everyone_can_compute(weights, questions, random):
    """A second run with other private weights but the same updates gives the same guesses: they depend on what was shown alone."""
    run = teller(weights, 20, updates=4, law=DiscreteLaplace(3), shift=IMAGE_BITS)
    run._rounds = UpdateRounds(DiscreteLaplace(3), 20, source_from(np.random.default_rng(random.randint(0, 2**32))), None)
    shown, sums = [], np.zeros(2, dtype=np.int64)
    for question in questions:
        if not run.open:
            break
        image = np.array(question)
        expected = Fraction((20 * int(sums @ image) + ONE**2 // 2) // ONE**2)
        guess, answer = run.guess(image), run.answer(image)
        assert expected == guess
        if answer.read:
            assert abs(answer.value - guess) > 20
            sums += image if answer.value > guess else -image
        else:
            assert guess == answer.value
        shown.append(answer)
    assert run.left == 4 - sum(answer.read for answer in shown)


def test_an_accurate_run_stays_within_its_threshold_and_within_the_updates_of_the_geometry():
    """Without noise no answer errs by more than the threshold, and 2 (norm / threshold)^2 updates are enough."""
    weights, threshold = np.array([300, -500, 400]), 100
    most = math.ceil(2 * (weights @ weights) / threshold**2)
    run = teller(weights, threshold, updates=most + 1, shift=IMAGE_BITS)
    rng = np.random.default_rng(1)
    for _ in range(2000):
        image = rng.normal(size=3)
        image = (image / np.linalg.norm(image) * ONE).astype(np.int64)
        assert abs(run.answer(image).value - Fraction(int(weights @ image), ONE)) <= threshold + 1
    assert most + 1 - run.left <= most


def test_an_analyst_can_keep_every_question_at_the_edge():
    """Weights that are far longer than the threshold: questions tilt a little further after each update, for all five of them."""
    far = 2 * 10**7
    for shift in (0, 1):
        near, distances = np.array([MOVED * shift, far]), []
        run = GuessingTeller(near, Grid(512 << IMAGE_BITS, 2 * IMAGE_BITS), _Fixed(distances), UPDATES, THRESHOLD)
        for update in range(UPDATES):
            low, high = 0.0, 0.1
            sums = run._sum
            for _ in range(60):  # the angle at which the public guess is so far off a value of far * sin
                middle = (low + high) / 2
                point = np.array([math.cos(middle), math.sin(middle)])
                off = far * point[1] - THRESHOLD * float(sums @ point) / ONE
                low, high = (middle, high) if off < NEAR_EDGE[0] else (low, middle)
            run.answer(np.array([int(ONE * math.cos(low)), int(ONE * math.sin(low))]))
            assert update + 1 == len(distances)
        assert max(abs(distance - NEAR_EDGE[shift]) for distance in distances) <= far / ONE + 2


class _Fixed:
    """Every question is an update upwards; how far its value lies from the guess is kept."""

    def __init__(self, seen):
        self.seen = seen

    def difference(self, steps):
        self.seen.append(steps)
        return THRESHOLD + 1


def test_the_worst_run_is_priced_above_what_its_silence_tells():
    loss = update_charged(scale=SCALE, sensitivity=MOVED, threshold=THRESHOLD, updates=UPDATES, lattice=1, adjacency="replace_one")
    found = loss.epsilon(delta=DELTA)
    assert Fraction("9.8") < found.lower < found.upper <= PRICED < found.upper + Fraction(1, 50)
    assert TOLD.charges[0].loss.epsilon(delta=DELTA).upper == found.upper


def test_a_run_stays_where_it_was_opened(monkeypatch):
    run = predictor().open(X, Y)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            attempt(run)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(BudgetExceeded, match="DPA204"):
        run.ask([0.1, 0.1])


def test_after_its_end_a_run_guesses_and_reads_nothing():
    run = predictor(random_state=3).open(X, Y)
    run._teller.left = 0
    with pytest.raises(BudgetExceeded, match="DPA204"):
        run.ask([0.6, 0.8])
    assert 0 == run.guess([0.6, 0.8])
    assert [0, 0] == run.predict([[0.6, 0.8], [0.1, 0.2]]).tolist()
    assert not run.privacy_.secure


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"accounting": "free"}, "DPA103"),
        ({"delta": 0}, "DPA103"),
        ({"updates": 0}, "DPA103"),
        ({"questions": 1.5}, "DPA105"),
        ({"failure": 1}, "DPA103"),
        ({"ridge": -1}, "DPA104"),
        ({"classes": [1]}, "DPA109"),
        ({"classes": [1, 2, 3]}, "DPA103"),
        ({"adjacency": "add_remove"}, "DPA604"),
    ],
)
def test_what_is_public_is_refused_before_anything_is_drawn(changed, code):
    with recording() as log, pytest.raises((InvalidArgument, Unsupported), match=code):
        predictor(**changed).open(X, Y)
    assert [] == list(log)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.lists(st.floats(allow_nan=True), min_size=2, max_size=2), min_size=5, max_size=5))
def test_no_private_value_is_refused(records):
    run = predictor(random_state=1).open(records, ["?", 0, 1, math.nan, None])
    assert (1,) == run.predict([[0.3, math.nan]]).shape


def test_the_usual_number_of_updates_grows_with_the_records_and_is_that_of_the_geometry():
    """About records * epsilon * share / (4 sqrt(2) log(questions) sqrt(log(1/delta))) where the norm is slope over ridge."""
    found = []
    for records in (1000, 10**6):
        public = Public(records, 2, 2, Fraction(1), Fraction(1), Fraction(1, 10**6), Adjacency.of("replace_one"))
        found.append(_usual_updates(public, minimum(records=records, columns=2, ridge=8), math.log(40_000)))
    assert found[0] <= 2
    assert 10**6 * 0.35 / (math.sqrt(32) * math.log(40_000) * math.sqrt(math.log(10**6))) == pytest.approx(found[1], rel=0.02)
