"""Contributions of rows: each is clipped to a norm ball on a lattice, so that one of them moves a sum by an exact distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, kind_of, positive, word
from mechanisms.entries import name_contents

Norm: TypeAlias = Literal["l1", "l2", "linf"]

LARGEST_LATTICE_BITS: Final = 26
"""Finest lattice: squares of up to 2**26 steps are below 2**53, so that floats hold them exactly."""

_LARGEST_BOUND: Final = 2**500
_MOST_ROWS: Final = 2**34  # of at most 2**26 steps each: sums stay within the 2**60 that mechanisms add noise to
_CHUNK: Final = 2**16  # numbers at once; it changes no result, since a row's steps depend on that row alone
_FLUSH_ROWS: Final = 2**26
_SHRINKAGE: Final = 1.0 - 2.0**-20  # for a row that rounding left just outside the ball: shortened once, then dropped
_SMALLEST_SUM: Final = 2.0**-900  # outside these two a sum of squares may have overflowed or lost digits: the row is rescaled
_LARGEST_SUM: Final = 2.0**900


@dataclass(frozen=True)
class _Ball:
    """The rows of at most `radius` steps in a norm; `per_unit` is the number of steps in a unit of the rows."""

    norm: Norm
    radius: float
    per_unit: float

    def holds(self, steps: NDArray[np.float64]) -> NDArray[np.bool_]:
        """True for each row of integers that lies in the ball: exact, as floats add integers without error up to 2**53."""
        if self.norm == "l2":
            sizes, largest = np.einsum("ij,ij->i", steps, steps), self.radius**2
        else:
            sizes, largest = (np.sum if self.norm == "l1" else np.max)(np.abs(steps), axis=1), self.radius
        held: NDArray[np.bool_] = sizes <= largest
        return held


def clip_rows(rows: NDArray[Any], *, norm_bound: Exact, norm: Norm = "l2", lattice_bits: int = 21) -> NDArray[np.int64]:
    """Each row as whole steps of norm_bound / 2**lattice_bits, of norm at most 2**lattice_bits steps, whatever the row holds.

    A row within the bound is truncated toward zero, a longer one is scaled to the bound first. A row that is not finite becomes
    zero. The steps of a row depend on that row alone, not on the others, their number or their order in memory.

    Args:
      rows: array of shape (n, d), integers or floats, one row per person (all that the person contributes); n may be 0.
      norm_bound: largest norm of a row that is kept, public, exact, positive, at most 2**500, in the units of the rows.
      norm: "l2", "l1" or "linf".
      lattice_bits: fineness of the lattice, public, 1 to 26.
    Returns:
      int64 array of shape (n, d) in steps; exact arithmetic gives every row a norm of at most 2**lattice_bits.
    Raises:
      InvalidArgument: a public parameter is not a number (DPA101, DPA102), not positive (DPA104) or out of range (DPA103, DPA105),
        or `rows` is not such an array (DPA105, DPA109, DPA108). No number in it is ever refused.
    Source: docs/vectors.md, "Contributions".
    Example:
      >>> clip_rows(np.array([[3.0, 4.0], [0.25, 0.5], [np.nan, 1.0]]), norm_bound=1, lattice_bits=4).tolist()
      [[9, 12], [4, 8], [0, 0]]
    """
    ball = _ball(norm_bound, norm, lattice_bits)
    checked = check_rows(rows)
    result = np.empty(checked.shape, dtype=np.int64)
    height = _height(checked)
    for start in range(0, len(checked), height):
        result[start : start + height] = _steps(np.asarray(checked[start : start + height], dtype=np.float64), ball)
    return result


def clip_and_sum(rows: NDArray[Any], *, norm_bound: Exact, norm: Norm = "l2", lattice_bits: int = 21) -> NDArray[np.int64]:
    """Sum of the rows as `clip_rows` gives them, without keeping them; exact.

    Adding, removing or zeroing a row moves it by at most 2**lattice_bits steps in the norm, replacing one by at most twice that.

    Args:
      rows: as for `clip_rows`, like the others.
      norm_bound: largest norm of a row that is kept.
      norm: "l2", "l1" or "linf".
      lattice_bits: fineness of the lattice.
    Returns:
      int64 array of shape (d,) in steps of norm_bound / 2**lattice_bits.
    Source: docs/vectors.md, "Contributions".
    Example:
      >>> clip_and_sum(np.array([[3.0, 4.0], [0.25, 0.5]]), norm_bound=1, lattice_bits=4).tolist()
      [13, 20]
    """
    ball = _ball(norm_bound, norm, lattice_bits)
    checked = check_rows(rows)
    total = np.zeros(checked.shape[1], dtype=np.int64)
    partial, summed, height = np.zeros(checked.shape[1]), 0, _height(checked)
    for start in range(0, len(checked), height):
        steps = _steps(np.asarray(checked[start : start + height], dtype=np.float64), ball)
        # At most 2**26 rows of at most 2**26 steps: every partial sum is an integer of at most 2**52, which floats hold.
        if summed + len(steps) > _FLUSH_ROWS:
            total += partial.astype(np.int64)
            partial[:], summed = 0.0, 0
        partial += steps.sum(axis=0) if len(steps) > 1 else steps[0]
        summed += len(steps)
    return total + partial.astype(np.int64)


def check_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Check the type and shape of rows, never a number in them, and return the array."""
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "fiu":
        is_array = isinstance(rows, np.ndarray)
        kind = (
            f"an array of {name_contents(rows)} with {rows.ndim} dimension{'s' * (rows.ndim != 1)}" if is_array else kind_of(rows)
        )
        raise InvalidArgument(
            "DPA105",
            f"rows must be an array of numbers of shape (rows, columns), got {kind}. "
            "Convert it: numpy.array(rows, dtype=float).reshape(-1, columns).",
        )
    if rows.shape[1] == 0:
        raise InvalidArgument("DPA109", "rows must have at least one column. Give arrays of shape (rows, columns).")
    if rows.shape[0] > _MOST_ROWS:
        raise InvalidArgument(
            "DPA108", "sums of more than 2**34 rows might be too large to add noise to in 64 bits. Sum parts of them."
        )
    return rows


def _ball(norm_bound: Exact, norm: Norm, lattice_bits: int) -> _Ball:
    """The ball of the public parameters."""
    word(norm, "norm", ("l1", "l2", "linf"))
    bits = integer(lattice_bits, "lattice_bits", lower=1, upper=LARGEST_LATTICE_BITS)
    bound = in_range(
        positive(norm_bound, "norm_bound"), "norm_bound", lower=Fraction(1, _LARGEST_BOUND), upper=Fraction(_LARGEST_BOUND)
    )
    return _Ball(norm, 2.0**bits, float(2**bits / bound))


def _height(rows: NDArray[Any]) -> int:
    """How many rows are read at a time."""
    height: int = max(1, _CHUNK // rows.shape[1])
    return height


def _steps(rows: NDArray[np.float64], ball: _Ball) -> NDArray[np.float64]:
    """Rows in integer steps: floats clip and scale, the exact test of the ball decides what counts."""
    with np.errstate(all="ignore"):
        tame, sizes, per_unit = _measure(rows, ball)
        factor = np.minimum(per_unit, ball.radius / sizes)
        steps = tame * factor[:, np.newaxis]
        np.trunc(steps, out=steps)
        for row in np.flatnonzero(~ball.holds(steps)).tolist():
            again = np.trunc(steps[row] * _SHRINKAGE)
            steps[row] = again if ball.holds(again[np.newaxis])[0] else 0.0
    return steps


def _measure(rows: NDArray[np.float64], ball: _Ball) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Rows, their norms in floats and the steps in a unit; rows with extreme entries are rescaled, those not finite are zero."""
    sums = _NORM_POWERS[ball.norm](rows)
    per_unit = np.full(len(rows), ball.per_unit)
    extreme = np.flatnonzero(~((sums > _SMALLEST_SUM) & (sums < _LARGEST_SUM)))
    if extreme.size:
        rows = rows.copy()
        for row in extreme.tolist():
            _, exponent = np.frexp(np.abs(rows[row]).max())
            rows[row] = np.ldexp(rows[row], -exponent) if np.isfinite(rows[row]).all() else 0.0
            per_unit[row] = np.ldexp(ball.per_unit, exponent)
            sums[row] = _NORM_POWERS[ball.norm](rows[row : row + 1])[0]
    return rows, np.sqrt(sums) if ball.norm == "l2" else sums, per_unit


def _fold(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of each row by halving it again and again, in place: elementwise additions, whose results depend on that row alone."""
    width = values.shape[1]
    while width > 1:
        half = width // 2
        values[:, :half] += values[:, width - half : width]
        width -= half
    return values[:, 0]


_NORM_POWERS: Final[dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
    "l1": lambda rows: _fold(np.abs(rows)),
    "l2": lambda rows: _fold(rows * rows),
    "linf": lambda rows: np.abs(rows).max(axis=1),
}
"""For each norm, a power of it (the square for "l2") in floats, row by row."""
