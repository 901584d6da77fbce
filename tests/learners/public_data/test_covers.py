"""Covers: every member of the class is near a candidate on public records, and one record moves scores by the range alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims import Adjacency
from learners import PublicCoverClassifier
from learners.estimator import Public
from learners.public_data.covers import LinearCover, NetworkCover, NormCover, well_separated
from learners.rows.ingest import checked_features, to_rows
from learners.solvers.hinge import hinges
from tests.reference.public_rates import choice_excess, descent_excess, smooth_approximation, useful_public_records

PUBLIC = Public(40, 3, 2, Fraction(1), Fraction(1), Fraction(0), Adjacency.of("replace_one"))
PUBLIC_X = np.random.default_rng(2).normal(size=(30, 3)) * [0.5, 0.3, 0.1]
COVERS = {
    "linear": LinearCover(resolution="1/3", dimension=2),
    "norms": NormCover(size=8, pool=32),
    "networks": NetworkCover(size=8, pool=32, width=3, dimension=2),
}
each_cover = pytest.mark.parametrize("name", COVERS)
entries = st.floats(allow_nan=True, allow_infinity=True)
record = st.tuples(st.tuples(entries, entries, entries), st.integers(0, 1))


def losses(candidates, records):
    """Summed hinge losses of all candidates."""
    margin = candidates.largest // 4
    loss, change = hinges(margin=margin, bits=10, largest=candidates.largest)
    features, labels = np.array([each for each, _ in records]), np.array([label for _, label in records])
    rows = to_rows(checked_features(features), labels, feature_norm=1, lattice_bits=16)
    return candidates.totals(candidates.map_rows(rows), loss), change


@each_cover
@given(st.lists(record, min_size=1, max_size=4), record)
@settings(max_examples=60, deadline=None)
def test_one_record_moves_every_score_by_no_more_than_the_range(name, records, other):
    candidates = COVERS[name].cover(PUBLIC_X, PUBLIC)
    before, change = losses(candidates, records)
    after, _ = losses(candidates, [other, *records[1:]])
    assert np.abs(after - before).max() <= change


@each_cover
def test_the_range_is_reached_up_to_a_few_parts(name):
    candidates = COVERS[name].cover(PUBLIC_X, PUBLIC)
    features = np.random.default_rng(0).normal(size=(50, 3))
    moved = [np.abs(losses(candidates, [(tuple(x), 1)])[0] - losses(candidates, [(tuple(x), 0)])[0]).max() for x in features]
    assert max(moved) > 0.7 * losses(candidates, [(tuple(features[0]), 1)])[1]


@given(st.floats(0, 2 * np.pi), st.floats(0, 1))
def test_every_weight_of_the_ball_is_near_a_candidate_on_public_records(angle, length):
    candidates = LinearCover(resolution="1/5", dimension=2).cover(PUBLIC_X, PUBLIC)
    rows = candidates.image.apply(to_rows(PUBLIC_X, np.zeros(30, dtype=np.int64), feature_norm=1, lattice_bits=16), lattice_bits=12)
    weights = np.rint(length * np.array([np.cos(angle), np.sin(angle)]) * 2**16).astype(np.int64)
    scores = rows.margins(np.column_stack([weights, candidates.weights])) / candidates.largest
    nearest = np.sqrt(np.square(scores[:, 1:] - scores[:, :1]).mean(axis=0)).min()
    assert nearest <= candidates.radius + 1e-4


def test_directions_in_which_public_records_hardly_vary_get_no_lattice():
    flat = PUBLIC_X * [1, 1, 2e-2]
    candidates = LinearCover(resolution="1/5", dimension=3).cover(flat, PUBLIC)
    assert not candidates.weights[2].any()
    assert candidates.weights[1].any()


def test_members_of_the_pool_are_within_the_stated_radius():
    values = np.random.default_rng(1).normal(size=(200, 5)) / 4
    chosen, radius = well_separated(values, size=30, resolution="1/1000")
    distances = np.sqrt(np.square(values[:, np.newaxis] - values[chosen]).mean(axis=2))
    assert radius == pytest.approx(distances.min(axis=1).max())
    assert 30 == len(set(chosen.tolist()))
    assert well_separated(values, size=200, resolution=1)[1] <= 1


@pytest.mark.parametrize("power", [1, "3/2", 2, 4])
def test_weights_have_the_norm_that_was_asked_for(power):
    candidates = NormCover(power=power, size=40, pool=100, resolution="1/1000").cover(np.eye(3), PUBLIC)
    exponent = float(Fraction(power))
    norms = (np.abs(candidates.weights / 2.0**16) ** exponent).sum(axis=0) ** (1 / exponent)
    assert (norms <= 1).all()
    assert norms.min() > 0.999


def test_the_law_of_the_choice_is_that_of_the_exponential_mechanism():
    model = PublicCoverClassifier(
        epsilon=1, feature_norm=1, classes=[0, 1], public_X=PUBLIC_X, hypotheses=LinearCover(resolution="1/2", dimension=1)
    )
    features = np.array([[0.9, 0.1, 0.0]] * 20)
    plan = model.fit(features, [1] * 20).plan_
    rows = plan.candidates.map_rows(to_rows(features, np.ones(20, dtype=np.int64), feature_norm=1, lattice_bits=16))
    loss, change = hinges(margin=plan.margin, bits=10, largest=plan.candidates.largest)
    scores = -plan.candidates.totals(rows, loss)
    weights = np.exp((scores - scores.max()) / (2 * change))
    chosen = np.array([model.set_params(random_state=seed).fit(features, [1] * 20).place_ for seed in range(200)])
    # Hoeffding: a share of 200 is off by 0.24 with probability 2e-10.
    assert np.abs(np.bincount(chosen, minlength=len(weights)) / 200 - weights / weights.sum()).max() < 0.24
    assert change == plan.mechanism.sensitivity


def test_bounds_move_as_their_theorems_say():
    known = {"records": 1000, "steps": 100, "mu": 0.2, "largest_margin": 2}
    assert descent_excess(**known, directions=10) < descent_excess(**known, directions=100)
    assert choice_excess(records=1000, epsilon=1, candidates=100, loss_range=2, beta=0.05) == pytest.approx(0.0304, abs=1e-4)
    assert 5000 == useful_public_records(records=10000, epsilon=0.5, realisable=False)


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_smooth_losses_grow_no_faster_than_their_bound(score, move):
    """Squared hinge: smoothness 2."""
    loss = lambda u: max(0.0, 1 - u) ** 2  # noqa: E731
    assert loss(score + move) <= loss(score) + smooth_approximation(smoothness=2, optimum=loss(score), distance=abs(move)) + 1e-9
