"""The profile of rows, released first: noisy sums, sizes and squares of columns and a count of labels; rows are then standard."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from learners.rows.ingest import to_rows
from learners.rows.labels import WEIGHT_UNIT
from learners.rows.rows import as_array
from learners.solvers.plans import LABEL_TIMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan

_LENGTH: Final = 1.15
"""Standard rows are clipped where they are so many times longer than usual."""

_SMALLEST: Final = 0.02
"""Variances count for no less than this part of the mean over columns: a record of a rare category is clipped all the same."""

_TRUSTED: Final = 0.7
"""Rows stay as they are where noise of a column's moments is larger than the mean variance of columns."""

_SPARSE: Final = 1.5
"""Columns are divided by their deviation, and by more where this times the root of the share of unusual records is below 1."""

_LEAST_PART: Final = 1 / 16
"""No column counts for less than this part of its deviation, so that weights of columns that noise hides stay finite."""

_FEWEST: Final = 2.0
"""Shares of the second class count for at least so many deviations of their noise."""


def sum_profile(rows: Rows, bits: int, *, weighted: bool = False) -> NDArray[np.int64]:
    """What is released with noise: sums of the columns above and below zero, of their squares, the second labels, and weights."""
    count = rows.steps.shape[0]
    ones, weights = np.full(count, 1 << bits, dtype=np.int64), rows.weights
    above, below = (replace(rows, steps=_above_zero(side * rows.steps)) for side in (1, -1))
    squares = replace(rows, steps=_squared(rows.steps), bound=rows.bound**2)
    whole = np.full(count, WEIGHT_UNIT, dtype=np.int64) if weights is None else weights
    # weights are exact parts of the unit: 4096 divides L**2 for the lattices that plans have
    totals = [int(whole[rows.labels > 0].sum()), int(whole.sum())][: 1 + weighted]
    sums = np.array([total * (LABEL_TIMES << 2 * bits) // WEIGHT_UNIT for total in totals], dtype=np.int64)
    return np.concatenate(
        [above.weighted_sum(ones)[:-1], below.weighted_sum(ones)[:-1], squares.weighted_sum(ones >> bits)[:-1], sums]
    )


@dataclass(frozen=True, eq=False)
class Standard:
    """What a profile says of rows: where they are centred, how columns are scaled, and the share of the second class.

    A public map once the profile is released: each row is moved, scaled and clipped by itself.
    """

    centre: NDArray[np.float64]  # in steps
    factors: NDArray[np.float64]  # by column
    share: float
    weight: float = 1.0  # mean weight of the records
    known: bool = True  # whether noise leaves enough of the columns to be seen

    @classmethod
    def of(cls, noisy: NDArray[np.int64], plan: SolverPlan) -> Self:
        """Read a noisy profile; where noise hides how columns vary, rows stay as they are."""
        if plan.profile is None:
            raise ValueError("the plan has no profile")
        width, unit = (len(noisy) - 1) // 3, float(plan.records << 2 * plan.lattice_bits)
        deviation = float(plan.profile.parameter("sigma")) / unit
        above, below, square = noisy[: 3 * width].reshape(3, width) / unit
        mean = above - below
        seen, *total = (noisy[3 * width :] / (unit * LABEL_TIMES)).tolist()
        weight = min(max(total[0], 2.0**-12, deviation / LABEL_TIMES), 1.0) if total else 1.0
        least = min(0.5, _FEWEST * deviation / LABEL_TIMES / weight)
        share = min(max(seen / weight, least), 1 - least)
        # James and Stein: a mean of which noise is as long a part as of this one is zero.
        length = float(np.einsum("i,i->", mean, mean))
        mean = mean * max(0.0, 1 - 2 * width * deviation**2 / length) if length > 0 else mean
        usual = max(float((square - np.square(mean)).sum()), 0.0) / width + deviation / math.sqrt(width)
        trust = 1 / (1 + (deviation / usual) ** 2)
        if trust < _TRUSTED:
            return cls(np.zeros(width), np.ones(width), share, weight, known=False)
        variances = trust * (square - np.square(mean)) + (1 - trust) * usual
        floor = max(_SMALLEST * usual, deviation)
        deviations = np.sqrt(np.maximum(variances, floor))
        # A column that has one value but in few records makes these few very long; noise would then be for the longest.
        rare = _rarity(np.maximum(above, 0.0), np.maximum(below, 0.0), np.maximum(square, floor), np.square(deviations))
        parts = np.clip(_SPARSE * np.sqrt(rare), _LEAST_PART, 1.0)
        longest = _LENGTH * math.sqrt(float(np.einsum("i,i->", parts, parts)))
        return cls(mean * 2.0**plan.lattice_bits, parts / (longest * deviations), share, weight)

    def apply(self, rows: Rows, plan: SolverPlan) -> Rows:
        """Standard rows on the lattice of the plan, dense, each clipped by itself to its largest norm."""
        features = as_array(rows.steps)[:, :-1]
        moved = (features - self.centre) * (self.factors / 2.0**plan.lattice_bits)
        made = to_rows(moved, rows.labels, feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)
        return replace(made, weights=rows.weights)

    def undo(self, weights: NDArray[np.float64], plan: SolverPlan) -> NDArray[np.float64]:
        """The weights of rows as they came, which give the scores of their standard rows as far as none is clipped."""
        own = weights[:-1] * self.factors
        return np.append(own, weights[-1] - np.einsum("i,i->", own, self.centre) / plan.intercept)


def _rarity(
    above: NDArray[np.float64], below: NDArray[np.float64], square: NDArray[np.float64], variance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The share of records in which a column has not its usual value, if that is zero or one of two opposite ones; else about 1."""
    # Values u in a share p of records, else 0, have the mean size p u and the mean square p u^2. Values u and -u have the variance
    # 4 p (1 - p) u^2; by how much other columns vary more than that, so much are they taken for filled.
    size = above + below
    side = np.minimum(above, below) / np.maximum(size, 1e-300)
    opposite = np.minimum(4 * side * (1 - side) * square / variance, 1.0)
    return np.minimum(np.minimum(np.square(size) / square, 1.0), side + 1 - opposite)


def _above_zero(steps: Any) -> Any:
    """Steps above zero, and zero elsewhere, stored as these are."""
    return np.maximum(steps, 0) if isinstance(steps, np.ndarray) else steps.maximum(0)


def _squared(steps: Any) -> Any:
    """Squares of the steps, stored as these are; they are below 2**31."""
    return steps * steps if isinstance(steps, np.ndarray) else steps.multiply(steps)
