"""Strategy matrices of correlated noise, with the exact scalar products of their columns: Toeplitz, dense, and of trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from flint import fmpz_mat

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, kind_of, rational

MOST_BANDS: Final = 1 << 13  # Most coefficients of `prefix_root`
MOST_STEPS: Final = 1 << 12  # Most steps of a matrix whose columns have to be compared pair by pair
Matrix: TypeAlias = "Strategy | Sequence[Sequence[Exact]]"


@runtime_checkable
class Strategy(Protocol):
    """A matrix whose columns are steps; noise is drawn for its rows."""

    @property
    def steps(self) -> int:
        """Number of columns."""

    @property
    def bandwidth(self) -> int:
        """Columns that are at least as far apart have nothing in common."""

    def product(self, one: int, other: int) -> Fraction:
        """Scalar product of two columns."""


@dataclass(frozen=True)
class Toeplitz:
    """A lower triangular matrix that is constant along its diagonals; built by `toeplitz`.

    Args:
      coefficients: the entries of the first column, exact, the first one not 0, without zeros at the end.
      steps: how many rows and columns it has.
    Example:
      >>> from dpaudit.accounting import toeplitz
      >>> toeplitz([1, "1/2"], steps=100).falling
      True
    """

    coefficients: tuple[Fraction, ...]
    steps: int

    @property
    def bandwidth(self) -> int:
        """As many as its coefficients, or as its leaves."""
        return len(self.coefficients)

    @property
    def falling(self) -> bool:
        """True if no coefficient is negative and none exceeds the one before."""
        values = self.coefficients
        return values[-1] >= 0 and all(before >= after for before, after in pairwise(values))

    def product(self, one: int, other: int) -> Fraction:
        """A sum of products of coefficients that are as far apart as the columns."""
        first, last = min(one, other), max(one, other)
        scale, values = self._whole
        if last - first not in self._sums:
            products = (near * far for near, far in zip(values, values[last - first :], strict=False))
            self._sums[last - first] = list(accumulate(products, initial=0))
        sums = self._sums[last - first]
        return Fraction(sums[min(self.steps - last, len(sums) - 1)], scale**2)

    @cached_property
    def _whole(self) -> tuple[int, list[int]]:
        """A common denominator, and the numerators over it."""
        scale = math.lcm(*(value.denominator for value in self.coefficients))
        return scale, [int(value * scale) for value in self.coefficients]

    @cached_property
    def _sums(self) -> dict[int, list[int]]:
        """Sums of the first products of coefficients that are so far apart, kept."""
        return {}


@dataclass(frozen=True)
class Tree:
    """The complete nodes of a binary tree over the steps: noise for every node, for prefix sums from few of them.

    Args:
      leaves: number of steps, at least 1; nodes whose leaves are not all there get no noise and are not used.
    Raises:
      InvalidArgument: `leaves` is no integer (DPA105) or below 1 (DPA103).
    Source: Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Honaker 2015 for better sums, which are post-processing.
    Example:
      >>> from dpaudit.accounting import Single, sensitivity
      >>> print(sensitivity(Tree(256), Single()))
      3
    """

    leaves: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "leaves", integer(self.leaves, "leaves", lower=1))

    @property
    def steps(self) -> int:
        """One for each leaf."""
        return self.leaves

    @property
    def bandwidth(self) -> int:
        """As many as its coefficients, or as its leaves."""
        return self.leaves

    def product(self, one: int, other: int) -> Fraction:
        """Number of complete nodes above both leaves."""
        shared = (one ^ other).bit_length()
        heights = range(shared, self.leaves.bit_length())
        return Fraction(sum(((one >> height) + 1) << height <= self.leaves for height in heights))


@dataclass(frozen=True)
class Dense:
    """Any lower triangular matrix, entries as multiples of a unit."""

    rows: tuple[tuple[int, ...], ...]
    unit: Fraction

    @property
    def steps(self) -> int:
        """One for each column."""
        return len(self.rows)

    @cached_property
    def bandwidth(self) -> int:
        """One more than the largest distance of an entry from the diagonal."""
        return max(place - next(index for index, entry in enumerate(row) if entry) for place, row in enumerate(self.rows)) + 1

    @cached_property
    def _products(self) -> list[list[int]]:
        """Scalar products of all columns, in squared units."""
        matrix = fmpz_mat([list(row) for row in self.rows])
        return [[int(entry) for entry in row] for row in (matrix.transpose() * matrix).tolist()]

    def product(self, one: int, other: int) -> Fraction:
        """An entry of the Gram matrix."""
        return self._products[one][other] * self.unit**2

    def shares(self) -> list[list[float]]:
        """Sizes of all scalar products relative to the longest column, each the double nearest to it."""
        longest = max(self._products[step][step] for step in range(self.steps))
        return [[abs(product) / longest for product in row] for row in self._products]


def toeplitz(coefficients: Sequence[Exact], *, steps: int) -> Toeplitz:
    """The lower triangular matrix with these coefficients on its diagonals.

    Args:
      coefficients: entry on the diagonal, not 0, and on the diagonals below, exact; floats are the binary numbers they are.
      steps: number of rows and columns, at least 1.
    Returns:
      A strategy matrix for `matrix_mechanism` and `sensitivity`.
    Raises:
      InvalidArgument: no coefficient (DPA109), one that is no finite number (DPA101, DPA102), a first one of 0 (DPA103), or
        `steps` that is no integer (DPA105) or below 1 (DPA103).
    Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta, Xu 2023.
    Example:
      >>> toeplitz([1, "1/2"], steps=100).bandwidth
      2
    """
    if isinstance(coefficients, str) or not isinstance(coefficients, Sequence) or not coefficients:
        raise InvalidArgument("DPA109", "coefficients must list at least one number, such as prefix_root(bands=8).")
    values = [rational(value, f"coefficients[{index}]") for index, value in enumerate(coefficients)]
    if not values[0]:
        raise InvalidArgument("DPA103", "coefficients[0] must not be 0: the matrix must have an inverse.")
    size = integer(steps, "steps", lower=1)
    while not values[-1]:
        values.pop()
    return Toeplitz(tuple(values[:size]), size)


def prefix_root(*, bands: int) -> tuple[Fraction, ...]:
    """First coefficients of the square root of the matrix of all prefix sums.

    Args:
      bands: number of coefficients, from 1 to 2^13: their digits grow with them.
    Returns:
      Exact coefficients 1, 1/2, 3/8, 5/16, ... for `toeplitz`.
    Raises:
      InvalidArgument: `bands` is no integer (DPA105) or out of range (DPA103).
    Source: Fichtenberger, Henzinger, Upadhyay 2023.
    Example:
      >>> [str(value) for value in prefix_root(bands=3)]
      ['1', '1/2', '3/8']
    """
    count = integer(bands, "bands", lower=1, upper=MOST_BANDS)
    chosen = accumulate(range(1, count), lambda last, index: last * (4 * index - 2) // index, initial=1)
    return tuple(Fraction(ways, 1 << (2 * index)) for index, ways in enumerate(chosen))


def strategy_of(matrix: Any) -> Strategy:
    """A strategy from what users give: one of this module, or rows of numbers (a numpy array as well)."""
    if isinstance(matrix, (Toeplitz, Tree, Dense)):
        return matrix
    rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    if isinstance(rows, str) or not isinstance(rows, Sequence) or not rows:
        raise InvalidArgument("DPA105", f"a matrix is a toeplitz(...), a Tree or a list of rows, got {kind_of(matrix)}.")
    entries = []
    for place, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != len(rows):
            raise InvalidArgument("DPA105", f"a matrix must be square, with {len(rows)} entries in each row, see row {place}.")
        entries.append([rational(entry, f"matrix[{place}][{index}]") for index, entry in enumerate(row)])
        if any(entries[-1][place + 1 :]):
            raise InvalidArgument("DPA103", f"a matrix must be 0 above its diagonal, see row {place}: noise comes step by step.")
        if not entries[-1][place]:
            raise InvalidArgument("DPA103", f"a matrix must not be 0 on its diagonal, see row {place}: it must have an inverse.")
    scale = math.lcm(*(entry.denominator for row in entries for entry in row))
    return Dense(tuple(tuple(int(entry * scale) for entry in row) for row in entries), Fraction(1, scale))


def pattern_sum(matrix: Strategy, pattern: Sequence[int], change: Callable[[Fraction], Fraction] = lambda value: value) -> Fraction:
    """Sum of the scalar products of all pairs of columns of a pattern."""
    whole = sum((change(matrix.product(step, step)) for step in pattern), Fraction(0))
    for index, step in enumerate(pattern):
        for other in pattern[index + 1 :]:
            if other - step >= matrix.bandwidth:
                break
            whole += 2 * change(matrix.product(step, other))
    return whole
