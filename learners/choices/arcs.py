"""An implicit cover of the plane: all lattice points on the border of a square, their errors counted arc by arc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from learners.choices.counts import signs
from learners.choices.levels import choose_level
from learners.rows.images import dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from mechanisms.exponential import ExponentialMechanism
    from mechanisms.sampling.random import BitSource

HALF_SIDE: Final = 2**30
"""The square reaches this far from the origin, so that the cover has 2**33 points."""

_INTEGERS_HOLD: Final = 2**63
_SHOWN: Final = 512


@dataclass(frozen=True, eq=False)
class Arcs:
    """Runs of neighbouring points of a square that classify all records alike, in order.

    Source: Bassily, Mohri, Suresh 2022, Algorithm 1.
    """

    starts: NDArray[np.int64]  # the first point of each run, counted counterclockwise from (half_side, -half_side)
    lengths: NDArray[np.int64]  # int64 array, how many points each run has, at least 1
    counts: NDArray[np.int64]  # int64 array, how many records each point of the run gets wrong
    half_side: int  # G; the cover is the 8 G integer points (a, b) with max(|a|, |b|) = G

    def multiplicities(self) -> NDArray[np.int64]:
        """Count the points that get 0, 1, 2 and so on records wrong; they sum to 8 G."""
        numbers = np.zeros(int(self.counts.max()) + 1, dtype=np.int64)
        np.add.at(numbers, self.counts, self.lengths)
        return numbers

    def some_scores(self) -> NDArray[np.int64]:
        """Minus the counts of points that are spread evenly over the square, at most 4096 and the same whatever the records."""
        points = np.arange(0, 8 * self.half_side, max(1, self.half_side // _SHOWN))
        return -self.counts[np.searchsorted(self.starts, points, side="right") - 1]

    def point(self, count: int, place: int) -> NDArray[np.int64]:
        """The point at a place among those with a count: int64 array of shape (2,)."""
        alike = np.flatnonzero(self.counts == count)
        ends = np.cumsum(self.lengths[alike])
        run = int(np.searchsorted(ends, place, side="right"))
        index = int(self.starts[alike[run]] + place - (ends[run] - self.lengths[alike[run]]))
        return border_point(index, self.half_side)


def border_point(index: int, half_side: int) -> NDArray[np.int64]:
    """The integer point on the border of the square that has a number."""
    side, along = divmod(index, 2 * half_side)
    first, second = half_side, along - half_side
    for _ in range(side):
        first, second = -second, first
    return np.array([first, second], dtype=np.int64)


def arcs_of(rows: Rows, half_side: int = HALF_SIDE) -> Arcs:
    """Count the records that each point of the cover gets wrong, run by run (Bassily, Mohri, Suresh 2022, Algorithm 1)."""
    if rows.steps.shape[1] != 2:
        raise InvalidArgument("DPA105", f"arcs are of the plane, got rows in {rows.steps.shape[1]} dimensions. Project them first.")
    if half_side * (rows.bound + 1) >= _INTEGERS_HOLD:
        raise InvalidArgument("DPA108", "the square times a row might not fit 64 bits. Use a smaller square or a coarser lattice.")
    signed = dense(rows, np.int64) * signs(rows.labels)[:, np.newaxis]
    first, second = signed.T
    begins, ends = [], []
    for side in range(4):
        low, high = _right_points(first, second, half_side)
        begins.append(low + side * 2 * half_side)
        ends.append(np.maximum(low, high) + side * 2 * half_side)
        # The next side is this one turned left, and meets a record as this one meets the record turned right.
        first, second = second, -first
    return _runs(np.concatenate(begins), np.concatenate(ends), len(signed), half_side)


def choose_point(
    rows: Rows, mechanism: ExponentialMechanism, source: BitSource | None = None, *, half_side: int = HALF_SIDE
) -> NDArray[np.int64]:
    """Choose a point of the cover by its errors, however short its arc (Bassily, Mohri, Suresh 2022, Algorithm 1, step 5)."""
    arcs = arcs_of(rows, half_side)
    return choose_level(arcs.multiplicities(), arcs.point, mechanism, source, scores=arcs.some_scores)


def _right_points(
    first: NDArray[np.int64], second: NDArray[np.int64], half_side: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last but one of the points (G, s - G), s = 0 ... 2 G - 1, that give each record a positive margin."""
    # With s - G = t: G first + t second > 0 means t > -G first / second for a positive second, t < G first / |second| for a
    # negative one, and first > 0 for none; floor divisions of integers are exact.
    size = np.where(second == 0, 1, np.abs(second))
    bound = half_side * first
    low = np.where(second > 0, -bound // size + 1, -half_side)
    high = np.where(second < 0, -(-bound // size), half_side)
    high = np.where((second == 0) & (first <= 0), -half_side, high)
    return (np.clip(low, -half_side, half_side) + half_side, np.clip(high, -half_side, half_side) + half_side)


def _runs(begins: NDArray[np.int64], ends: NDArray[np.int64], records: int, half_side: int) -> Arcs:
    """The runs between the places where some record begins or ceases to be right."""
    places = np.concatenate([[0], begins, ends])
    changes = np.concatenate([[0], np.ones_like(begins), -np.ones_like(ends)])
    starts, position = np.unique(places, return_inverse=True)
    gains = np.zeros(len(starts), dtype=np.int64)
    np.add.at(gains, position, changes)
    right = np.cumsum(gains)
    lengths = np.diff(starts, append=8 * half_side)
    kept = lengths > 0
    return Arcs(starts[kept], lengths[kept], records - right[kept], half_side)
