"""Checks of learners with public records: the clip after the map, exact images, slopes and choices within what they are charged."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from learners.estimator import Public
from learners.public_data.cover_classifier import PublicCoverClassifier
from learners.public_data.covers import LinearCover
from learners.public_data.default_rule import directions_for, public_plan
from learners.public_data.descent import ProjectedDescent, descent_slopes
from learners.public_data.subspace import public_rows, public_subspace
from learners.public_data.subspace_regressor import residuals
from learners.rows.ingest import to_rows
from learners.rows.labels import targets
from learners.solvers.hinge import hinges
from learners.solvers.slopes import UNIT
from tests.reference.public_rates import choice_excess

PUBLIC_X = np.array([[0.9, 0.1, 0.0], [0.1, 0.6, 0.0], [-0.7, 0.3, 0.1], [0.2, -0.5, 0.2]])


def public_of(records=4, features=3, epsilon=1, adjacency="replace_one"):
    """Public quantities of two classes."""
    return Public(records, features, 2, Fraction(1), Fraction(epsilon), Fraction(1, 10**5), Adjacency.of(adjacency))


def images_end_at_the_clip_and_depend_on_their_record():
    made = public_subspace(PUBLIC_X, columns=3, feature_norm=1, reach="1/4")
    rows = public_rows([[1, 0, 0], [0, 1, 0], [np.nan, 0, 1], [-1, 1, 1]], 3, 1)
    found = made.apply(rows, lattice_bits=12).steps
    assert (np.square(found.astype(np.int64)).sum(axis=1) <= 4**12).all()
    exact = [[int(a @ b) - int(c) for b, c in zip(made.basis.T, made.offset, strict=True)] for a in rows.steps.astype(np.int64)]
    assert exact == made.exact(rows).tolist()
    other = to_rows(np.ones((1, 3)), np.zeros(1, dtype=np.int64), feature_norm=2, lattice_bits=16)
    try:
        made.apply(other, lattice_bits=12)
    except InvalidArgument:
        return
    raise AssertionError("rows of another lattice were mapped")


def public_records_are_cut_and_needed():
    long = public_rows(100 * PUBLIC_X, 3, 1)
    assert (np.square(long.steps.astype(np.int64)).sum(axis=1) <= long.bound**2).all()
    flat = np.array([[(3 * i) % 7, (5 * i) % 11, 0] for i in range(1, 20)]) @ np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]) / 20
    assert 2 == public_subspace(flat, columns=3, feature_norm=2, centred=False).dimension_out
    for refused in (np.zeros((0, 3)), np.zeros((2, 3)), np.ones((2, 3)), np.ones((2, 4))):
        try:
            public_subspace(refused, columns=3, feature_norm=1)
        except InvalidArgument:
            continue
        raise AssertionError("public records that show nothing were taken")


def null_records_stay_where_they_are():
    plan = public_plan(PUBLIC_X, public_of(adjacency="zero_out"))
    assert not plan.images(public_rows(np.zeros((1, 3)), 3, 1)).steps.any()


def directions_follow_from_public_numbers():
    assert [12, 51, 97, 260] == [directions_for(public_of(9051, 2**17, epsilon)) for epsilon in ("0.1", "0.5", 1, 3)]


def residuals_and_labels_end_at_their_bounds():
    assert [UNIT, -UNIT, 0, UNIT, UNIT // 2] == targets(np.array([9.0, -9.0, np.nan, np.inf, 1.0]), Fraction(2)).tolist()
    assert [UNIT, -UNIT, 7] == residuals(np.array([-(2**30), 2**30, 0]), np.array([UNIT, -UNIT, 7]), 20).tolist()


def descents_pay_for_the_longest_slope():
    plan = ProjectedDescent(4).plan(public_of(1000))
    slopes = descent_slopes(np.array([2**40, 2**40]), np.array([0, 1]), 20)
    assert [-UNIT, 0] == slopes.tolist()
    assert 2 * UNIT << plan.lattice_bits == plan.gradient.sensitivity
    squares = plan.steps * (plan.gradient.sensitivity / plan.gradient.parameter("sigma")) ** 2
    assert squares <= Fraction(72, 1000)
    assert ProjectedDescent(4).plan(public_of(1000, adjacency="zero_out")).gradient.sensitivity == UNIT << plan.lattice_bits


def choices_from_covers_pay_for_the_range():
    model = PublicCoverClassifier(
        epsilon=1, feature_norm=1, classes=[0, 1], public_X=PUBLIC_X, hypotheses=LinearCover("1/2", 2), ridge=1
    )
    fits = [model.fit(PUBLIC_X, labels).plan_ for labels in ([0, 1, 0, 1], [1, 1, 0, 1])]
    loss, change = hinges(margin=fits[0].margin, bits=10, largest=fits[0].candidates.largest)
    sums = []
    for label in (0, 1):
        rows = to_rows(np.array([[1.0, 0.2, 0.0]]), np.array([label]), feature_norm=1, lattice_bits=16)
        sums.append(fits[0].candidates.totals(fits[0].candidates.map_rows(rows), loss))
    moved = np.abs(sums[1] - sums[0]).max()
    assert moved <= change == fits[0].mechanism.sensitivity
    assert moved > change / 2
    assert np.array_equal(fits[0].penalties, fits[1].penalties)
    assert 0 == fits[0].penalties[np.abs(fits[0].candidates.weights).sum(axis=0) == 0].item()


def covers_are_as_fine_as_they_say():
    candidates = LinearCover("1/5", 2).cover(PUBLIC_X, public_of())
    rows = candidates.map_rows(public_rows(PUBLIC_X, 3, 1))
    angles = np.linspace(0, 2 * np.pi, 60)
    weights = np.rint(np.stack([np.cos(angles), np.sin(angles)]) * 2.0**16).astype(np.int64)
    scores = rows.margins(np.concatenate([weights, candidates.weights], axis=1)) / candidates.largest
    distances = np.sqrt(np.square(scores[:, :60, np.newaxis] - scores[:, np.newaxis, 60:]).mean(axis=0)).min(axis=1)
    assert distances.max() <= candidates.radius + 1e-4
    assert choice_excess(records=100, epsilon=1, candidates=10, loss_range=2, beta=0.1) > 0.18


CHECKS = (
    images_end_at_the_clip_and_depend_on_their_record,
    public_records_are_cut_and_needed,
    null_records_stay_where_they_are,
    directions_follow_from_public_numbers,
    residuals_and_labels_end_at_their_bounds,
    descents_pay_for_the_longest_slope,
    choices_from_covers_pay_for_the_range,
    covers_are_as_fine_as_they_say,
)
