"""Checks of kernel learners: steps, directions, eigenvalues, open runs and points of the ball keep what their price supposes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from learners.kernels.charged_blocks import BlockRounds
from learners.kernels.charged_updates import UpdateRounds
from learners.kernels.guessing import MOVED, Grid, GuessingTeller
from learners.kernels.half_balls import draw_from_half_balls
from learners.kernels.semi_interactive import noisy_values
from learners.kernels.span import SLACK, SpanTeller
from learners.kernels.spectrum import largest_eigenvalue
from learners.rows.labels import TARGET_UNIT
from learners.rows.rows import Rows
from learners.solvers.losses import Loss
from learners.solvers.minimum import minimise, minimum
from mechanisms import AboveThreshold, source_from
from mechanisms.laws import DiscreteLaplace

ONE = 2**20
SILENT = DiscreteLaplace("1/200")


def points_of(steps):
    """Images of norm at most 1."""
    return Rows(np.asarray(steps, dtype=np.int32), ONE, Fraction(1, ONE), np.zeros(len(steps), dtype=np.int64))


def rounded_values_move_by_no_more_steps_than_are_paid():
    grid = Grid(1000, 0)
    values = [grid.rounded(product) for product in range(-3000, 3001)]
    assert max(abs(values[place + 1000] - values[place]) for place in range(5001)) == MOVED
    assert grid.exact(MOVED) == 1000


def weights_pay_for_the_solver_and_for_rounding():
    found = minimum(records=50, columns=4000, ridge="1/10")
    assert found.sensitivity >= found.objective.sensitivity * 2**found.weight_bits + math.isqrt(4000)
    small = minimum(records=4, columns=1, ridge="1/10")
    ends = [minimise(Rows(np.array([[ONE]] * 4), ONE, Fraction(1), np.array([1, 1, 0, y])), small)[0] for y in (0, 1)]
    assert abs(int(ends[0]) - int(ends[1])) <= small.sensitivity
    assert small.longest <= Fraction("3.7234")


def regressors_pay_for_the_slope_of_their_cut():
    """All labels at the bound pull the line to 10/11 of it; one that changes moves it by no more than is paid."""
    found = minimum(records=4, columns=1, ridge="1/10", loss=Loss("residual", 1))
    fits = []
    for last in (TARGET_UNIT, -TARGET_UNIT):
        labels = np.array([TARGET_UNIT] * 3 + [last])
        fits.append(int(minimise(Rows(np.array([[ONE]] * 4), ONE, Fraction(1), labels), found)[0]))
    assert abs(fits[0] / 2**found.weight_bits - 10 / 11) < 1 / 20
    assert abs(fits[1] / 2**found.weight_bits - 5 / 11) < 1 / 20
    assert abs(fits[0] - fits[1]) <= found.sensitivity
    assert 3 < found.longest < Fraction(317, 100)
    assert found.sensitivity >= 2 * 2 * 10 / 4 * 2**found.weight_bits


def points_remember_nothing_of_private_weights():
    from dpaudit.claims import Adjacency
    from learners.estimator import Public

    public = Public(100, 2, 2, Fraction(1), Fraction(1), Fraction(1, 10**6), Adjacency.of("replace_one"))
    told = noisy_values(points_of(np.eye(2) * ONE), public, minimum(records=100, columns=2, ridge="1/10"))
    held = set(vars(told.points))
    for size in (1, 2**40):
        told.values(np.full(2, size))
        assert held == set(vars(told.points))


def runs_end_with_their_updates_and_silence_shows_nothing():
    run = GuessingTeller(np.array([900]), Grid(MOVED << 20, 20), UpdateRounds(SILENT, 100, None, None), 2, 100)
    answers = [run.answer(np.array([place])) for place in (ONE // 10, ONE, ONE)]
    assert [False, True, True] == [answer.read for answer in answers]
    assert (0, 900, 900) == tuple(answer.value for answer in answers)
    assert not run.open
    assert run.guess(np.array([ONE])) == 200
    edge = UpdateRounds(SILENT, 100, None, None)
    assert [None, None, 101, -101] == [edge.difference(steps) for steps in (100, -100, 101, -101)]


def blocks_use_their_noise_once():
    search = AboveThreshold(sensitivity=1, epsilon=9)
    rounds = BlockRounds([search.start(100) for _ in range(2)], [5, 7])
    assert [-893, 905] == [rounds.difference(steps) for steps in (-900, 900)]


def directions_stay_orthonormal_within_the_slack():
    rng = np.random.default_rng(1)
    run = SpanTeller(np.ones(40, dtype=np.int64), np.zeros(60, dtype=np.int64), 0, 1e-7)
    for image in rng.normal(size=(60, 40)):
        length = math.sqrt(image @ image)
        run.answer((image / length * ONE).astype(np.int64))
        run.answer(((image + 1e-5 * rng.normal(size=40)) / length * ONE).astype(np.int64))
    products = [[abs(int(one @ other)) for other in run._directions] for one in run._directions]
    assert max(map(sum, products)) <= (1 + SLACK) * ONE**2
    assert run._sums == list(map(sum, products))
    assert run.left == 60 - len(products)


def points_are_charged_by_their_largest_eigenvalue():
    points = points_of([[ONE, 0], [ONE, 0], [0, ONE]])
    assert 2 <= largest_eigenvalue(points) <= Fraction(201, 100)
    assert largest_eigenvalue(points_of(np.eye(3) * ONE)) >= 1
    from dpaudit.claims import Adjacency
    from learners.estimator import Public

    public = Public(100, 2, 2, Fraction(1), Fraction(1), Fraction(1, 10**6), Adjacency.of("replace_one"))
    found = minimum(records=100, columns=2, ridge="1/10")
    told = noisy_values(points, public, found)
    moved = np.array([found.sensitivity, 0])
    apart = (told.values(moved) - told.values(np.zeros(2, dtype=np.int64))).tolist()
    assert sum(gap**2 for gap in apart) <= told.release.sensitivity**2
    assert told.release.parameter("sigma") >= 4 * told.release.sensitivity


def points_of_the_ball_stay_in_it_and_lean_along_the_direction():
    source = source_from(np.random.default_rng(4))
    drawn = np.array([draw_from_half_balls([3, 4], Fraction(20), source) for _ in range(12)])
    assert (np.square(drawn).sum(axis=1) <= 4**20).all()
    assert (np.abs(drawn @ [3, 4]) > 4.2 * ONE).all()
    assert len(set(np.sign(drawn @ [3, 4]).tolist())) == 2


CHECKS = (
    rounded_values_move_by_no_more_steps_than_are_paid,
    weights_pay_for_the_solver_and_for_rounding,
    regressors_pay_for_the_slope_of_their_cut,
    points_remember_nothing_of_private_weights,
    runs_end_with_their_updates_and_silence_shows_nothing,
    blocks_use_their_noise_once,
    directions_stay_orthonormal_within_the_slack,
    points_are_charged_by_their_largest_eigenvalue,
    points_of_the_ball_stay_in_it_and_lean_along_the_direction,
)
