"""Profiles of rows, released first: noisy sums, sizes and squares of columns and a count of labels; rows are then standard."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from learners.rows.ingest import to_rows
from learners.rows.labels import WEIGHT_UNIT
from learners.rows.rows import as_array
from learners.solvers.plans import LABEL_TIMES
from learners.solvers.pooling import NoisyShare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan
    from learners.solvers.slopes import Bend

_LENGTH: Final = 1.15
"""Standard rows are clipped where they are so many times longer than usual."""

_ROOM: Final = 1.5
"""And here before the last profile, which is to see how columns vary, not how rows are clipped."""

_SMALLEST: Final = 0.02
"""Variances count for no less than this part of the mean over columns: a record of a rare category is clipped all the same."""

_TRUSTED: Final = 0.7
"""Rows stay as they are where noise of a column's moments is larger than the mean variance of columns."""

_WORTH: Final = 1.5
"""Where columns are hidden, rows are centred and scaled alike if that makes them so many times longer."""

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
    """What profiles say of rows: where they are centred, how columns are scaled, and the share of the second class.

    A public map once the profiles are released: each row is moved, scaled and clipped by itself.
    """

    centre: NDArray[np.float64]  # in steps
    factors: NDArray[np.float64]  # by column
    parts: NDArray[np.float64]  # of its deviation that each column is scaled to
    share: float = 0.5
    weight: float = 1.0  # mean weight of the records
    known: bool = False  # whether noise leaves enough of the columns to be seen
    profiles: int = 0  # how many it comes from

    @classmethod
    def unread(cls, width: int) -> Self:
        """The map before the first profile, which leaves rows as they are."""
        return cls(np.zeros(width), np.ones(width), np.ones(width))

    def refine(self, noisy: NDArray[np.int64], plan: SolverPlan) -> Self:
        """Read a noisy profile of the rows that this map makes; where noise hides how columns vary, all are scaled alike."""
        # Noise is for the longest row. Once rows are centred and scaled, later profiles see what was small beside it
        # (Biswas, Dong, Kamath, Ullman 2020, CoinPress).
        if plan.profile is None:
            raise ValueError("the plan has no profile")
        width, unit = len(self.centre), float(plan.records << 2 * plan.lattice_bits)
        deviation = float(plan.profile.parameter("sigma")) / unit
        above, below, square = noisy[: 3 * width].reshape(3, width) / unit
        mean = above - below
        # James and Stein: a mean of which noise is as long a part as of this one is zero.
        square_mean = float(np.einsum("i,i->", mean, mean))
        mean = mean * max(0.0, 1 - 2 * width * deviation**2 / square_mean) if square_mean > 0 else mean
        variances = square - np.square(mean)
        usual = max(float(variances.sum()), 0.0) / width + deviation / math.sqrt(width)
        share, weight = self._labels(noisy[3 * width :] / (unit * LABEL_TIMES), deviation / LABEL_TIMES)
        length = _LENGTH if self.profiles + 1 >= plan.profiles else _ROOM
        same = replace(self, share=share, weight=weight, profiles=self.profiles + 1)
        moved = replace(same, centre=self.centre + mean * 2.0**plan.lattice_bits / self.factors)
        if _trust(deviation, usual) < _TRUSTED:
            # How long rows can be around this mean, with room for the noise of both.
            square = width * usual + 2 * deviation * math.sqrt(width) + 2 * width * deviation**2
            longer = 1 / (length * math.sqrt(square))
            return replace(moved, factors=self.factors * longer, known=False) if longer > _WORTH else replace(same, known=False)
        expected = np.square(self.parts) * (usual * width / float(np.einsum("i,i->", self.parts, self.parts)))
        trust = _trust(deviation, expected)
        floor = np.maximum(_SMALLEST * expected, np.minimum(deviation, expected))
        variances = np.maximum(trust * variances + (1 - trust) * expected, floor)
        # A column that has one value but in few records makes these few very long; noise would then be for the longest.
        rare = _rarity(np.maximum(above, 0.0), np.maximum(below, 0.0), np.maximum(square, floor), variances)
        parts = self.parts if self.known else np.clip(_SPARSE * np.sqrt(rare), _LEAST_PART, 1.0)
        longest = length * math.sqrt(float(np.einsum("i,i->", parts, parts)))
        return replace(moved, factors=self.factors * parts / (longest * np.sqrt(variances)), parts=parts, known=True)

    def _labels(self, sums: NDArray[np.float64], deviation: float) -> tuple[float, float]:
        """The share of the second class and the mean weight, by the profiles so far."""
        old = self.profiles / (self.profiles + 1)
        least, (seen, *total) = deviation / math.sqrt(self.profiles + 1), sums.tolist()
        weight = min(max(old * self.weight + (1 - old) * total[0], 2.0**-12, least), 1.0) if total else 1.0
        share, least = (old * self.share * self.weight + (1 - old) * seen) / weight, min(0.5, _FEWEST * least / weight)
        return min(max(share, least), 1 - least), weight

    def released_share(self, plan: SolverPlan, likely: Bend) -> NoisyShare:
        """The share of the second class with the deviation of its noise."""
        if plan.profile is None:
            raise ValueError("the plan has no profile")
        times = float((plan.records * LABEL_TIMES) << 2 * plan.lattice_bits) * math.sqrt(self.profiles) * self.weight
        return NoisyShare(self.share, float(plan.profile.parameter("sigma")) / times, likely)

    def apply(self, rows: Rows, plan: SolverPlan, reach: int = 0) -> Rows:
        """Standard rows on the lattice of the plan, dense, each clipped by itself to 2**reach times its largest norm."""
        features = as_array(rows.steps)[:, :-1]
        moved = (features - self.centre) * (self.factors / 2.0**plan.lattice_bits)
        bits = plan.lattice_bits + reach
        made = to_rows(moved, rows.labels, feature_norm=2**reach, lattice_bits=bits, intercept=plan.intercept)
        return replace(made, weights=rows.weights)

    def undo(self, weights: NDArray[np.float64], plan: SolverPlan) -> NDArray[np.float64]:
        """The weights of rows as they came, which give the scores of their standard rows as far as none is clipped."""
        own = weights[:-1] * self.factors
        return np.append(own, weights[-1] - np.einsum("i,i->", own, self.centre) / plan.intercept)


def _trust(deviation: float, variances: Any) -> Any:
    """The part of a noisy variance to believe beside the one that was expected."""
    return 1 / (1 + (deviation / variances) ** 2)


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
