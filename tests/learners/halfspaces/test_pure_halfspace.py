"""PureHalfspaceClassifier: the net and its size, exact counts and law, refusals beyond its caps, its price and its promise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners.halfspaces.pure_halfspace import MOST_POINTS, PureHalfspaceClassifier, net_errors, shell_net, threshold
from learners.rows.unit import unit_rows
from mechanisms.sampling.random import source_from


def model(**parameters):
    return PureHalfspaceClassifier(**{"epsilon": 1, "margin": "3/10", "classes": [0, 1], "random_state": 0, **parameters})


def in_the_plane(records, margin=0.3, seed=0):
    """Unit records in three dimensions at least the margin away from a plane."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(4 * records, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows[np.abs(rows[:, 0]) >= margin][:records]
    return rows, (rows[:, 0] > 0).astype(int)


@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes():
    results = check_estimator(PureHalfspaceClassifier(epsilon=1, margin="3/10", dimension=2), on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)


@pytest.mark.parametrize(
    ("dimension", "margin", "size"),
    [(2, "3/10", 212), (3, "3/10", 18230), (3, "1/10", 163304), (4, "3/10", 1461984)],
)
def test_nets_have_as_many_points_as_were_counted(dimension, margin, size):
    net = shell_net(dimension=dimension, margin=margin)
    assert size == net.size
    assert size <= (1 + 20 / float(Fraction(margin))) ** dimension


@pytest.mark.parametrize("margin", ["3/10", "1/2", 1])
def test_a_small_net_is_the_shell_by_its_definition(margin):
    radius = Fraction(margin) / 10
    reach = math.ceil(2 / (2 * radius))
    # In two dimensions h^2 = 2 r^2, so that the squared norm of h p is a rational number.
    wanted = {
        point
        for point in itertools.product(range(-reach, reach + 1), repeat=2)
        if (1 - radius) ** 2 <= 2 * radius**2 * (point[0] ** 2 + point[1] ** 2) <= (1 + radius) ** 2
    }
    net = shell_net(dimension=2, margin=margin)
    assert wanted == {tuple(net.candidate(place).tolist()) for place in range(net.size)}


@pytest.mark.parametrize(("dimension", "margin"), [(2, 0.3), (3, 0.5), (4, 1)])
def test_every_point_of_the_sphere_is_near_a_point_of_the_net(dimension, margin):
    points = np.concatenate(list(shell_net(dimension=dimension, margin=margin).blocks()), axis=1) * margin / 5 / dimension**0.5
    asked = np.random.default_rng(0).normal(size=(300, dimension))
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    squares = 1 + np.square(points).sum(axis=0) - 2 * asked @ points
    assert squares.min(axis=1).max() <= (margin / 10) ** 2 * (1 + 1e-9)


@given(st.integers(1, 4), st.integers(1, 2**26))
def test_the_threshold_is_decided_in_integers(dimension, bound):
    largest = threshold(dimension=dimension, bound=bound)
    assert (2 * largest) ** 2 < dimension * bound**2 <= (2 * largest + 2) ** 2


def test_counts_are_those_of_rational_arithmetic():
    """A record is short of a point p if 2 y <p, q> < bound sqrt(m): by sign and by squares, in Python's integers."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, size=12)
    rows, net = unit_rows(rng.normal(size=(12, 2)), labels, lattice_bits=6), shell_net(dimension=2, margin="1/2")
    found = net_errors(rows, net).tolist()
    for place, count in enumerate(found):
        point = net.candidate(place).tolist()
        margins = [
            (2 * y - 1) * 2 * sum(map(int.__mul__, point, q)) for q, y in zip(rows.steps.tolist(), labels.tolist(), strict=True)
        ]
        assert count == sum(margin < 0 or margin**2 < 2 * 64**2 for margin in margins)


@given(st.integers(0, 2**32), st.integers(0, 7))
def test_counts_move_by_one_when_a_record_is_replaced(seed, place):
    rng, net = np.random.default_rng(seed), shell_net(dimension=2, margin=1)
    features, labels = rng.normal(size=(8, 2)), rng.integers(0, 2, size=8)
    before = net_errors(unit_rows(features, labels), net)
    features[place], labels[place] = rng.normal(size=2), 1 - labels[place]
    assert np.abs(net_errors(unit_rows(features, labels), net) - before).max() <= 1


def test_choices_follow_the_exponential_mechanism_over_the_net():
    """1500 choices, by count: 8 standard deviations, a false alarm below 1e-14 for each count."""
    rows, net = unit_rows(np.array([[1.0, 0.0], [0.6, 0.8], [1.0, 0.1]]), np.array([1, 1, 0])), shell_net(dimension=2, margin=1)
    learner = model(margin=1, dimension=2, epsilon=2)
    plan = learner.fit(np.eye(2), [0, 1]).plan_
    counts = net_errors(rows, net)
    weights = np.exp(-counts.astype(float))
    source = source_from(np.random.default_rng(3))
    count_of = {tuple(net.candidate(place).tolist()): int(count) for place, count in enumerate(counts)}
    chosen = [count_of[tuple(learner._learn(rows, plan, source)["embedded_weights_"].tolist())] for _ in range(1500)]
    for count in set(counts.tolist()):
        share = float(weights[counts == count].sum() / weights.sum())
        assert abs(chosen.count(count) - 1500 * share) < 8 * (1500 * share * (1 - share)) ** 0.5


def test_a_thousand_records_with_the_margin_give_a_good_halfspace_at_pure_epsilon():
    rows, labels = in_the_plane(1134)
    fitted = model(random_state=None).fit(rows, labels)
    assert 0.97 < fitted.score(rows, labels)
    assert Fraction(1) == fitted.privacy_.epsilon == fitted.privacy_.recompute().upper
    assert 0.02 < fitted.utility_.learned < 0.026
    assert 18230 == fitted.privacy_.public["candidates"]
    assert np.abs(np.abs(fitted.coef_).max() - np.abs(fitted.coef_[0, 0])) == 0


def test_after_a_map_nothing_is_promised_and_the_price_is_the_same():
    rows, labels = in_the_plane(60)
    fitted = model(dimension=2).fit(rows, labels)
    assert str(fitted.utility_).startswith("void: the map has too few columns")
    assert fitted.plan_.image is not None
    assert fitted.privacy_.epsilon == 1


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("DPA103", {"dimension": 5}),
        ("DPA103", {"dimension": 0}),
        ("DPA103", {"dimension": 4, "margin": "15/100"}),
        ("DPA103", {"dimension": 4, "margin": "1/1000000"}),
        ("DPA103", {"margin": "1/1000"}),
        ("DPA103", {"margin": 0}),
        ("DPA103", {"margin": 2}),
        ("DPA103", {"failure": 1}),
        ("DPA103", {"classes": [0, 1, 2]}),
        ("DPA103", {"seed": -1}),
        ("DPA604", {"adjacency": "zero_out"}),
        ("DPA104", {"epsilon": 0}),
    ],
    ids=str,
)
def test_what_is_not_allowed_or_too_large_is_refused_before_a_record_is_read(monkeypatch, code, options):
    monkeypatch.setattr(PureHalfspaceClassifier, "_learn", None)
    with recording() as log, pytest.raises(DpauditError) as caught:
        model(**options).fit(np.eye(6), [0, 1] * 3)
    assert (code, []) == (caught.value.code, log)


def test_more_margins_than_the_cap_are_refused(monkeypatch):
    monkeypatch.setattr("learners.halfspaces.pure_halfspace.MOST_WORK", 212 * 5)
    model(dimension=2).fit(np.eye(5), [0, 1, 0, 1, 0])
    with pytest.raises(DpauditError, match="DPA103 212 points and 6 records are more than 1060 margins"):
        model(dimension=2).fit(np.eye(6), [0, 1] * 3)
    assert 5 * 10**6 == MOST_POINTS
