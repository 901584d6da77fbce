"""Sums whose noise is scaled to a sensitivity that they do not have: bounds, clipping, units and norms."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defects.defect import Defect, Sampler, gaussian, laplace
from dpaudit.claims import GDP, Adjacency, ApproxDP
from dpaudit.targets import Sensitivity

LOWEST: Final = 0
HIGHEST: Final = 100
FEATURES: Final = 4
UNIT_GAUSSIAN: Final = ApproxDP(epsilon=1, delta="0.127")
"""What Gaussian noise as wide as the sensitivity keeps: its delta at epsilon 1 is 0.1269."""


def mean_between(lower: float, upper: float) -> Sampler:
    """Means of values between 0 and 100, with noise for values between `lower` and `upper`."""

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        clipped = np.clip(data, LOWEST, HIGHEST)
        return clipped.mean() + rng.laplace(scale=(upper - lower) / len(data), size=count)

    return sample


def second_moment(data: Any) -> float:
    """Sum of squares of values whose size is at most 3."""
    return float(np.square(np.clip(data, -3, 3)).sum())


def small_moment(data: Any) -> float:
    """Sum of squares of values whose size is at most 1/2."""
    return float(np.square(np.clip(data, -0.5, 0.5)).sum())


def rows_within(data: Any, radius: float, power: int, centre: float = 0.0) -> NDArray[Any]:
    """Rows pulled towards a centre until the norm of what is left is `radius`; the norm is compared to the given power."""
    rows = np.reshape(data, (-1, FEATURES)) - centre
    norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True) ** power, 1e-300)
    return centre + rows * np.minimum(1, radius / norms)


def rows_stretched(data: Any) -> NDArray[Any]:
    """Rows that are scaled where they are short instead of where they are long: the greater factor is taken for the less."""
    rows = np.reshape(data, (-1, FEATURES)).astype(float)
    return rows * np.maximum(1, 1 / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1))


def categories(data: Any) -> NDArray[Any]:
    """How many records are in each of four categories."""
    return np.bincount(np.asarray(data, dtype=int), minlength=4)


def moving_pairs(data: Any) -> float:
    """Sum over places of the greater of two neighbouring values in [0, 1], where a value belongs to two pairs."""
    values = np.clip(data, 0, 1)
    return float(np.maximum(values[1:], values[:-1]).sum())


def separate_pairs(data: Any) -> float:
    """Sum of the greater of two neighbouring values in [0, 1], each value in one pair."""
    values = np.clip(data, 0, 1)
    return float(np.maximum(values[0::2], values[1::2]).sum())


def clipped_after_noise(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Sums of whatever the values are, with noise for values in [0, 1], clipped to [0, 10] in the end."""
    return np.clip(np.sum(data) + rng.laplace(size=count), 0, 10)


def clipped_before_noise(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Sums of values clipped to [0, 1], with noise for them, clipped to [0, 10] in the end."""
    return np.clip(np.clip(data, 0, 1).sum() + rng.laplace(size=count), 0, 10)


LONG: Final = ((0.0,) * FEATURES, (1.5,) * FEATURES)
SIGNED: Final = ([0.5, -1.0, 2.0], [0.5, -1.0, 2.0, 4.0])

DEFECTS: Final = (
    Defect(
        name="range_of_one_bound",
        kind="lower bound used twice",
        wrong="the range of the values is computed as lower - lower, so that a mean gets no noise",
        right="upper - lower",
        adjacency="replace_one",
        pair=([20, 50, 70, 0], [20, 50, 70, 100]),
        broken=mean_between(LOWEST, LOWEST),
        sound=mean_between(LOWEST, HIGHEST),
    ),
    Defect(
        name="size_of_one_bound",
        kind="lower bound used twice",
        wrong="a sum of values in [-1, 4] gets noise for the size of its lower bound, which stands there for both",
        right="for the size of the larger of the two",
        pair=SIGNED,
        broken=laplace(lambda data: np.clip(data, -1, 4).sum(), scale=max(abs(-1), abs(-1))),
        sound=laplace(lambda data: np.clip(data, -1, 4).sum(), scale=max(abs(-1), abs(4))),
        declared=(
            Sensitivity(query=lambda data: np.clip(data, -1, 4).sum(), bound=1),
            Sensitivity(query=lambda data: np.clip(data, -1, 4).sum(), bound=4),
        ),
    ),
    Defect(
        name="bound_not_squared",
        kind="bound not squared",
        wrong="a sum of squares of values up to 3 gets noise for 3",
        right="noise for 9",
        pair=([1.0, 2.0], [1.0, 2.0, 3.0]),
        broken=laplace(second_moment, scale=3),
        sound=laplace(second_moment, scale=9),
        declared=(Sensitivity(query=second_moment, bound=3), Sensitivity(query=second_moment, bound=9)),
    ),
    Defect(
        name="bound_squared_twice",
        kind="bound squared twice",
        wrong="a sum of squares of values up to 1/2 gets noise for 1/16",
        right="noise for 1/4",
        pair=([0.25], [0.25, -0.5]),
        broken=laplace(small_moment, scale=1 / 16),
        sound=laplace(small_moment, scale=1 / 4),
    ),
    Defect(
        name="norm_compared_squared",
        kind="bound squared twice",
        wrong="rows are clipped to norm 1/4 by comparing their squared norm with 1/4",
        right="the norm itself is compared",
        guarantee=UNIT_GAUSSIAN,
        pair=([], [(0.25,) * FEATURES]),
        broken=gaussian(lambda data: rows_within(data, 0.25, power=2).sum(axis=0), sigma=0.25),
        sound=gaussian(lambda data: rows_within(data, 0.25, power=1).sum(axis=0), sigma=0.25),
    ),
    Defect(
        name="replacement_of_a_value",
        kind="add-remove claimed, replace happens",
        wrong="a sum of values in [-1, 1] of which one is replaced gets noise for one that is added",
        right="noise for twice as much",
        adjacency="replace_one",
        pair=([0.5, -1.0], [0.5, 1.0]),
        broken=laplace(lambda data: np.clip(data, -1, 1).sum(), scale=1),
        sound=laplace(lambda data: np.clip(data, -1, 1).sum(), scale=2),
    ),
    Defect(
        name="replacement_in_a_histogram",
        kind="add-remove claimed, replace happens",
        wrong="a histogram of which one record is replaced gets noise for one count that moves by 1",
        right="noise for two counts",
        adjacency="replace_one",
        pair=([0, 1, 1, 3], [0, 1, 1, 2]),
        broken=laplace(categories, scale=1),
        sound=laplace(categories, scale=2),
        declared=(Sensitivity(query=categories, bound=1), Sensitivity(query=categories, bound=2)),
    ),
    Defect(
        name="group_counted_once",
        kind="group size counted as distance",
        wrong="three records that change count as distance 3 in a histogram",
        right="as distance 6: three leave a count and three join another",
        adjacency=Adjacency("hamming", radius=3),
        pair=([0, 0, 0, 1], [3, 3, 3, 1]),
        broken=laplace(categories, scale=3),
        sound=laplace(categories, scale=6),
    ),
    Defect(
        name="deviation_moves_like_variance",
        kind="sensitivity of another statistic",
        wrong="a standard deviation of 16 values in [0, 1] gets noise for 1/16, which a variance needs",
        right="the variance is shown",
        adjacency="replace_one",
        pair=([0.0] * 16, [0.0] * 15 + [1.0]),
        broken=laplace(lambda data: np.clip(data, 0, 1).std(), scale=1 / 16),
        sound=laplace(lambda data: np.clip(data, 0, 1).var(), scale=1 / 16),
    ),
    Defect(
        name="value_in_two_pairs",
        kind="pairwise stability off by a factor",
        wrong="a sum over overlapping pairs gets noise for one pair, but a value is in two",
        right="pairs do not overlap",
        adjacency="replace_one",
        pair=([0, 0, 0, 0], [0, 1, 0, 0]),
        broken=laplace(moving_pairs, scale=1),
        sound=laplace(separate_pairs, scale=1),
    ),
    Defect(
        name="laplace_for_the_l2_norm",
        kind="L1 noise for an L2 query",
        wrong="rows of L2 norm 1 get Laplace noise of scale 1, but their L1 norm may be 2",
        right="Laplace noise of scale 2",
        pair=([], [(1.0,) * FEATURES]),
        broken=laplace(lambda data: rows_within(data, 1, power=1).sum(axis=0), scale=1),
        sound=laplace(lambda data: rows_within(data, 1, power=1).sum(axis=0), scale=2),
        declared=(
            Sensitivity(query=lambda data: rows_within(data, 1, power=1).sum(axis=0), bound=1),
            Sensitivity(query=lambda data: rows_within(data, 1, power=1).sum(axis=0), bound=2),
        ),
    ),
    Defect(
        name="gaussian_for_the_largest_coordinate",
        kind="L2 noise for another norm",
        wrong="coordinates are clipped to [-1, 1] each and get Gaussian noise for an L2 norm of 1, but it may be 2",
        right="Gaussian noise for 2",
        guarantee=GDP(mu=1),
        pair=([], [(5.0,) * FEATURES]),
        broken=gaussian(lambda data: np.clip(np.reshape(data, (-1, FEATURES)), -1, 1).sum(axis=0), sigma=1),
        sound=gaussian(lambda data: np.clip(np.reshape(data, (-1, FEATURES)), -1, 1).sum(axis=0), sigma=2),
    ),
    Defect(
        name="sum_clipped_as_a_whole",
        kind="clipping after instead of before",
        wrong="the sum is clipped to what the values could add up to, not each value",
        right="each value is clipped to [0, 1]",
        pair=([0.25, 0.5], [0.25, 0.5, 30.0]),
        broken=laplace(lambda data: np.clip(np.sum(data), 0, 20), scale=1),
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="answer_clipped",
        kind="clipping after instead of before",
        wrong="only the noisy answer is clipped",
        right="the values are",
        pair=([0.25, 0.5], [0.25, 0.5, 5.0]),
        broken=clipped_after_noise,
        sound=clipped_before_noise,
    ),
    Defect(
        name="no_lower_clip",
        kind="missing clip",
        wrong="values are cut at their upper bound only",
        right="at both bounds",
        pair=([1.0, 0.5], [1.0, 0.5, -4.0]),
        broken=laplace(lambda data: np.minimum(data, 1).sum(), scale=1),
        sound=laplace(lambda data: np.clip(data, -1, 1).sum(), scale=1),
    ),
    Defect(
        name="long_rows_kept",
        kind="missing clip",
        wrong="the clipping factor is the greater of 1 and bound / norm, so that long rows stay long",
        right="the less of the two",
        guarantee=UNIT_GAUSSIAN,
        pair=(LONG[:1], LONG),
        broken=gaussian(lambda data: rows_stretched(data).sum(axis=0), sigma=1),
        sound=gaussian(lambda data: rows_within(data, 1, power=1).sum(axis=0), sigma=1),
    ),
    Defect(
        name="origin_dropped",
        kind="origin or centre dropped",
        wrong="rows in a ball around 2 are added up with noise for the ball's radius",
        right="the centre is taken off each row first",
        guarantee=UNIT_GAUSSIAN,
        pair=([(2.0,) * FEATURES], [(2.0,) * FEATURES, (2.5,) * FEATURES]),
        broken=gaussian(lambda data: rows_within(data, 1, power=1, centre=2).sum(axis=0), sigma=1),
        sound=gaussian(lambda data: (rows_within(data, 1, power=1, centre=2) - 2).sum(axis=0), sigma=1),
    ),
    Defect(
        name="products_clipped_one_by_one",
        kind="missing clip",
        wrong="entries of a matrix of products are clipped to [-1, 1] each, with noise for a Frobenius norm of 1",
        right="the row is clipped to norm 1, and with it its matrix",
        guarantee=UNIT_GAUSSIAN,
        pair=([], [(1.0,) * FEATURES]),
        broken=gaussian(lambda data: np.clip(_products(np.reshape(data, (-1, FEATURES))), -1, 1), sigma=1),
        sound=gaussian(lambda data: _products(rows_within(data, 1, power=1)), sigma=1),
    ),
)


def _products(rows: NDArray[Any]) -> NDArray[Any]:
    """Sums of products of columns, as one row of numbers."""
    return (rows.T @ rows).reshape(-1)
