"""Forms: what slopes are summed against in every column, few and smooth over a range, one for each category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from learners.boosting.plans import BITS, CONSTANT
from learners.solvers.quasi_newton import in_one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows

FORM_STEPS: Final = 2**8
"""The longest entry of a form, in steps."""

_LINEAR, _SMOOTH, _OWN, _LENGTH = 1.0, 0.3, 1e-2, 1.0
"""Variances of slopes of shapes over half a range, of smooth deviations and of single bins; how far smoothness reaches."""

_APART: Final = 0.7
"""The deviation of categories."""

_LEAN: Final = 0.75
"""Forms are as long as the root of this power of their variance: noise is least where shapes are likely to be."""

_USUAL: Final = 0.3
"""A category of more than this part of the records is the usual one: it has no slopes of its own, and costs nothing."""

_ROOM: Final = 0.5
"""Rows may be longer than the mean by so many times the root of the mean squared length."""

_MISSING, _LEAST = 0.02, 0.02
"""The part of the records that have no cell, beforehand; no bin counts for less than this part of what it is expected to hold."""

_VARIED, _NEAR, _ALONE, _REACH = 4.0, 0.8, 0.4, 0.3
"""How far counts vary: the variance in squares of an even share, its smooth and its own part, and how far the first reaches."""


@dataclass(frozen=True, eq=False)
class Form:
    """The forms of one column, and the shapes, amounts of which have variance 1 beforehand, that they tell apart."""

    table: NDArray[np.int64]  # (bins, forms), or (bins,) for forms of one bin each; no row is longer than `FORM_STEPS`
    shapes: NDArray[np.float64] | None  # (bins, forms); None for shapes of one bin each
    turn: NDArray[np.float64] | None  # turns sums over the forms into what the shapes pull, each alone
    bends: NDArray[np.float64]  # (forms,): how far these pulls change with the shapes where the second derivative is 1

    @classmethod
    def of_range(cls, counts: NDArray[np.float64], forms: int) -> Self:
        """For the bins of a range, and one for missing cells: directions in which shapes are likely to differ most."""
        parts, held = len(counts) - 1, counts[:-1] / counts[:-1].sum()
        # A mean of the place in the range and the place among the records: wide ranges hold most of these in few bins.
        places = (np.arange(parts) + 0.5) / parts * 2 - 1
        places = (places + (np.cumsum(held) - held / 2) * 2 - 1) / 2
        near = np.exp(-np.abs(places[:, np.newaxis] - places) / _LENGTH)
        centred = np.eye(parts) - held
        with in_one_thread():
            likely = centred @ (_LINEAR * np.outer(places, places) + _SMOOTH * near + _OWN * np.eye(parts)) @ centred.T
            values, vectors = np.linalg.eigh(likely)
            kept = np.argsort(-values, kind="stable")[:forms]
            values, vectors = np.maximum(values[kept], 0.0), vectors[:, kept]
            lengths = np.zeros((parts + 1, len(kept) + 1))
            shapes = lengths.copy()
            lengths[:-1, :-1] = vectors * values ** (_LEAN / 2)
            lengths /= math.sqrt(max(float(np.square(lengths).sum(axis=1).max()), 1e-12))
            shapes[:-1, :-1] = vectors * np.sqrt(values)
            lengths[-1, -1] = shapes[-1, -1] = 1.0
            table = np.trunc(lengths * FORM_STEPS).astype(np.int64)
            left, bends, right = np.linalg.svd(table.T / FORM_STEPS @ (counts[:, np.newaxis] * shapes))
            return cls(table, shapes @ right.T, left.T, bends)

    @classmethod
    def of_categories(cls, counts: NDArray[np.float64]) -> Self:
        """For categories: each has a form, but for the usual one."""
        table = np.full(len(counts), FORM_STEPS, dtype=np.int64)
        usual = int(counts.argmax())
        if counts[usual] > _USUAL * counts.sum():
            table[usual] = 0
        return cls(table, None, None, np.where(table > 0, _APART * counts, 0.0))

    @property
    def squares(self) -> NDArray[np.int64]:
        """Squared lengths of the rows of the table."""
        return np.square(self.table) if self.table.ndim == 1 else np.square(self.table).sum(axis=1)

    def sums(self, histogram: NDArray[np.int64]) -> NDArray[np.int64]:
        """From sums over bins to sums over forms, exactly."""
        return np.asarray(self.table[:, np.newaxis] * histogram if self.table.ndim == 1 else self.table.T @ histogram)

    def pulls(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """From sums over forms to the pulls of the shapes."""
        return sums if self.turn is None else np.einsum("ij,jk->ik", self.turn, sums)

    def shape(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The shape that is made of so much of each."""
        return _APART * amounts if self.shapes is None else np.einsum("ij,jk->ik", self.shapes, amounts)

    def amounts(self, shape: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much of each makes the shape that is nearest to a given one."""
        if self.shapes is None:
            return shape / _APART
        with in_one_thread():
            return np.asarray(np.linalg.lstsq(self.shapes, shape, rcond=1e-9)[0])


def likely_counts(counts: NDArray[np.float64], total: float, deviation: float, *, span: bool) -> NDArray[np.float64]:
    """What noisy counts of a column suggest: as good as even ones where noise hides them, smooth over a range."""
    size = len(counts)
    expected = np.full(size, 1 / max(size - 1, 1))
    expected[-1] = _MISSING
    expected *= total / expected.sum()
    if span:
        places = (np.arange(size - 1) + 0.5) * (2 / (size - 1))
        varied = np.eye(size)
        near = np.exp(-np.abs(places[:, np.newaxis] - places) / _REACH)
        varied[:-1, :-1] = _NEAR * near + _ALONE * np.eye(size - 1)
        varied *= _VARIED * np.outer(expected, expected)
        with in_one_thread():
            found = expected + varied @ np.linalg.solve(varied + deviation**2 * np.eye(size), counts - expected)
    else:
        varied = 2 * _VARIED * np.square(expected)
        found = expected + varied / (varied + deviation**2) * (counts - expected)
    found = np.maximum(found, _LEAST * expected)
    return np.asarray(found * (total / found.sum()))


def planned_length(forms: Sequence[Form], counts: Sequence[NDArray[np.float64]]) -> int:
    """How many times a record's forms are summed, if they are as long as most are by these counts."""
    mean = sum(float((own * form.squares).sum() / own.sum()) for form, own in zip(forms, counts, strict=True)) / FORM_STEPS**2
    room = min(max(mean + _ROOM * math.sqrt(mean), 1 / 16), len(forms))
    return max(math.isqrt(math.floor((4**BITS - CONSTANT**2) / room)) // FORM_STEPS, 1)


def row_lengths(rows: Rows, forms: Sequence[Form], planned: int) -> NDArray[np.int64]:
    """How many times each record's forms are summed: as planned, or fewer, so that with the constant none is longer than 2**20."""
    # A record's row is its length times the rows of the tables that belong to its bins, and the constant.
    squares = np.maximum(rows.steps.astype(np.int64) @ np.concatenate([form.squares for form in forms]), 1)
    most = (4**BITS - CONSTANT**2) // squares
    roots = np.sqrt(most.astype(np.float64)).astype(np.int64)  # below 2**53 a root is off by less than 1
    return np.asarray(np.minimum(planned, roots - (roots * roots > most)))


def sum_slopes(rows: Rows, forms: Sequence[Form], lengths: NDArray[np.int64], slopes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of slopes over all forms, each record's as often as its length says, and the constant times that of all slopes."""
    slopes = slopes.reshape(len(lengths), math.prod(slopes.shape[1:]))  # not -1, which says nothing where there is no record
    histogram, start, found = rows.weighted_sum(slopes * lengths[:, np.newaxis]), 0, []
    for form in forms:
        end = start + len(form.table)
        found.append(form.sums(histogram[start:end]))
        start = end
    return np.concatenate([*found, CONSTANT * slopes.sum(axis=0, keepdims=True)])
