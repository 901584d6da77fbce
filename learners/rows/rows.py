"""Records as integers: rows of bounded norm with a label each, and the three sums of them that solvers need, all exact."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

_FLOATS_HOLD: Final = 2**53
_INTEGERS_HOLD: Final = 2**63


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of whole steps, each of L2 norm at most `bound`, each with the position of its label among the public classes.

    The sums below do not depend on the order in which they are taken, on the number of threads, or on how the rows
    are stored: floats add only where every partial sum is an integer below 2**53, int64 adds elsewhere.
    """

    steps: NDArray[np.int32] | csr_array[Any, tuple[int, int]]  # (n, d) integers: an array, or CSR that is never made dense
    bound: int  # no row has a larger L2 norm, in steps; an integer, public
    step: Fraction  # size of a step in the units of the features, exact, public
    labels: NDArray[np.int64]  # int64 array of shape (n,), positions among the public classes
    weights: NDArray[np.int64] | None = None  # of the records, in 1/4096 of the largest; None where all are alike

    def margins(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Inner products of every row with weights on the lattice of integers."""
        # A part of a row has a norm of at most `bound` too, so that Cauchy and Schwarz bound every partial sum.
        largest = self.bound * _norm_above(weights)
        if largest < _FLOATS_HOLD:
            return _whole(self.floats @ weights.astype(np.float64))
        _require_room(largest)
        return _whole(self.steps.astype(np.int64) @ weights)

    def weighted_sum(self, slopes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum of the rows, each times its own slope: the gradient of a sum of losses."""
        total = np.zeros((self.steps.shape[1], *slopes.shape[1:]), dtype=np.int64)
        for rows, part in self._blocks(self.bound * _largest(slopes)):
            np.add(total, rows.T @ slopes[part].astype(rows.dtype), out=total, dtype=np.int64, casting="unsafe")  # whole floats
        return total

    def second_moment(self) -> NDArray[np.int64]:
        """Sum of the outer products of every row with itself."""
        width = self.steps.shape[1]
        total = np.zeros((width, width), dtype=np.int64)
        for rows, _ in self._blocks(self.bound**2):
            product = rows.T @ rows
            total += _whole(as_array(product))
        return total

    @cached_property
    def floats(self) -> Any:
        """The steps as floats, each exactly; CSR stays CSR and keeps its places."""
        steps = self.steps
        if isinstance(steps, np.ndarray):
            return steps.astype(np.float64)
        return type(steps)((steps.data.astype(np.float64), steps.indices, steps.indptr), shape=steps.shape)

    def _blocks(self, each: int) -> Iterator[tuple[Any, slice]]:
        """Rows and their places such that sums of terms of size `each`, one a row, are exact: floats if a term fits, or int64."""
        count = self.steps.shape[0]
        _require_room(each * count)
        height = (_FLOATS_HOLD - 1) // max(1, each)
        if height >= count:
            yield self.floats, slice(None)
        elif height:
            yield from ((self.floats[start : start + height], slice(start, start + height)) for start in range(0, count, height))
        else:
            yield self.steps.astype(np.int64), slice(None)


def row_bound(lattice_bits: int, constant: int) -> int:
    """Norm of a row of 2**lattice_bits steps with a constant behind it, in steps, rounded up; the constant is 0 for none."""
    return whole_root_above(4**lattice_bits + constant**2)


def as_array(matrix: Any) -> NDArray[Any]:
    """A matrix, dense or sparse, as an array."""
    filled: NDArray[Any] = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return filled


def _norm_above(weights: NDArray[np.int64]) -> int:
    """An integer that the norm of no column of the weights exceeds; d additions of floats err by less than d / 2**52."""
    floats = weights.astype(np.float64)
    squares = np.square(floats, out=floats).sum(axis=0)
    above: float = squares.max(initial=0.0) * (1 + (weights.shape[0] + 8) / 2**51)
    return math.ceil(math.sqrt(above))


def _largest(values: NDArray[np.int64]) -> int:
    """Largest size of an entry."""
    high, low = int(values.max(initial=0)), int(values.min(initial=0))
    return max(high, -low)


def _require_room(largest: int) -> None:
    """DPA108 for sums that int64 might not hold."""
    if largest >= _INTEGERS_HOLD:
        raise InvalidArgument("DPA108", "sums of rows might not fit 64 bits. Use a coarser lattice, or weights on a coarser one.")


def _whole(values: Any) -> NDArray[np.int64]:
    """Integers in another type, as int64."""
    return np.asarray(values, dtype=np.int64)
