"""Vectors with density proportional to exp(-length / scale), rounded exactly: floats first, balls where they leave it open.

Such a vector is scale * sqrt(2 T) * g with g standard normal and T an independent Gamma variable of shape (dimension + 1) / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, prod
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact import ball, working_precision
from mechanisms.sampling.limits import LARGEST
from mechanisms.sampling.logarithm import LOG_ERROR, certlog
from mechanisms.sampling.reals import Cell, DrawnReals

CHUNK: Final = 2**20
"""Coordinates that are drawn at once, unless one vector has more."""

_ROUNDING: Final = 2.0**-53
_INFLATION: Final = 1.0 + 2.0**-20
_FACTOR_ERROR: Final = 2.0**-50
_FACTORS: Final = 512
_FACTORS_EXACT: Final = 16
_GUARD_BITS: Final = 128


def draw_vectors(scale: Fraction, dimension: int, count: int, reals: DrawnReals, *, chunk: int = CHUNK) -> NDArray[np.int64]:
    """Independent vectors with density proportional to exp(-length / scale), every coordinate rounded to the nearest integer.

    Source: Hardt, Talwar 2010 (the law).
    """
    result = np.empty((count, dimension), dtype=np.int64)
    rows = max(1, chunk // dimension)
    for start in range(0, count, rows):
        result[start : start + rows] = _draw_chunk(scale, dimension, min(rows, count - start), reals)
    return result


def _draw_chunk(scale: Fraction, dimension: int, count: int, reals: DrawnReals) -> NDArray[np.int64]:
    """A few vectors at once."""
    width = dimension + 1 - dimension % 2
    exponentials = (dimension + 1) // 2
    normals = reals.normals(count * width).reshape(count, width)
    digits = reals.uniforms(count * exponentials).reshape(count, exponentials)
    rounded, open_ = _estimate(scale, dimension, normals, digits, reals)
    for row in np.flatnonzero(open_.any(axis=1)).tolist():
        stretch = Stretch(scale, reals, row, digits[row].tolist(), normals[row, dimension:].tolist(), width)
        for column in np.flatnonzero(open_[row]).tolist():
            cell = Cell.around(int(normals[row, column]), reals.revealing.normal_bits)
            rounded[row, column] = _fitting(_round_exactly(stretch, cell, row * width + column, reals))
    return rounded


def _estimate(
    scale: Fraction, dimension: int, normals: NDArray[np.int64], digits: NDArray[np.uint64], reals: DrawnReals
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Every coordinate rounded in floats, and which of them the floats' proved error leaves open."""
    bits = reals.revealing.normal_bits
    with np.errstate(all="ignore"):
        twice, error = _twice_exponentials(digits, reals.revealing.uniform_bits)
        if normals.shape[1] > dimension:
            extra = np.abs(normals[:, dimension]) * 2.0**-bits
            twice = twice + extra * extra
            error = error + extra * 2.0**-bits + 4.0**-bits + 4 * _ROUNDING * twice
        relative = error / np.maximum(twice, 0.0) * _INFLATION
        relative = relative * (1.0 + relative) * 0.5 * _INFLATION + _FACTOR_ERROR
        factor = float(scale) * 2.0**-bits * np.sqrt(twice)
        value = factor[:, np.newaxis] * normals[:, :dimension]
        rounded = np.rint(value)
        margin = 0.5 - (factor * (1.0 + relative) * 0.5 + _FACTOR_ERROR)[:, np.newaxis]
        decided = np.abs(value - rounded) < margin - np.abs(value) * relative[:, np.newaxis]
        rounded[~decided] = 0.0
    return rounded.astype(np.int64), ~decided


def _twice_exponentials(digits: NDArray[np.uint64], bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Twice a sum of unit exponentials, -2 ln of the product of uniform numbers, for each row of digits; and its largest error.

    A number whose digits read u lies in [u, u + 1) * 2**-bits, which changes its logarithm by at most 1/u.
    """
    count = digits.shape[1]
    factors = np.maximum(digits, np.uint64(1)).astype(np.float64)
    unknown = (1.0 / digits).sum(axis=1) * _INFLATION
    mantissa, exponent = np.frexp(factors)
    shift = exponent.sum(axis=1, dtype=np.int64) - count * bits
    while mantissa.shape[1] > 1:
        mantissa, exponent = np.frexp(np.multiply.reduceat(mantissa, np.arange(0, mantissa.shape[1], _FACTORS), axis=1))
        shift += exponent.sum(axis=1, dtype=np.int64)
    negative = certlog(mantissa[:, 0], shift)
    error = unknown + (2 * count * _ROUNDING * _INFLATION + LOG_ERROR * (1.0 - negative)) * _INFLATION
    return -2.0 * negative, 2.0 * error


class Stretch:
    """The factor scale * sqrt(2 T) that all coordinates of a vector share, known as well as its random parts are.

    2 T is -2 ln of a product of uniform numbers and, where the dimension is even, the square of one more normal number.
    """

    __slots__ = ("_bits", "_digits", "_extra", "_known", "_position", "_range", "_reals", "_scale")

    def __init__(
        self, scale: Fraction, reals: DrawnReals, row: int, digits: Sequence[int], extra: Sequence[int], width: int
    ) -> None:
        self._scale, self._reals = scale, reals
        self._digits, self._bits = list(digits), reals.revealing.uniform_bits
        self._range = range(row * len(digits), (row + 1) * len(digits))
        self._extra = Cell.around(int(extra[0]), reals.revealing.normal_bits) if extra else None
        self._position = (row + 1) * width - 1
        self._known: arb | None = None

    @property
    def bits(self) -> int:
        """The most digits that any part of the factor is known to."""
        return max(self._bits, self._extra.bits if self._extra else 0)

    def ball(self) -> arb:
        """The factor as a ball, NaN or infinite as long as nothing bounds it; kept until more is revealed."""
        if self._known is None:
            with working_precision(self.bits + _GUARD_BITS):
                self._known = ball(self._scale) * (self._exponentials() + self._square()).sqrt()
        return self._known

    def reveal(self) -> None:
        """Reveal more of the part that leaves most open."""
        if self._extra and self._square_is_coarser():
            self._extra = self._reals.half(self._extra, self._position)
        else:
            step = self._reals.revealing.step
            further = self._reals.digits(self._range, self._bits)
            self._digits = [digits << step | more for digits, more in zip(self._digits, further, strict=True)]
            self._bits += step
        self._known = None

    def _square_is_coarser(self) -> bool:
        """True if the square leaves more open than the product."""
        with working_precision(self.bits + _GUARD_BITS):
            known = self._exponentials()
            return bool(known.is_finite()) and bool(self._square().rad() > known.rad())

    def _exponentials(self) -> arb:
        """-2 ln of the product of the uniform numbers."""
        beyond = max(0, self._bits - 64)
        leading = np.array([digits >> beyond for digits in self._digits] if beyond else self._digits, dtype=np.uint64)
        with np.errstate(divide="ignore"):
            unknown = 2.0 * float((1.0 / leading).sum()) * _INFLATION
        if unknown == inf:
            return arb("nan")
        product = _product(self._digits).log() - len(self._digits) * self._bits * arb.const_log2()
        return -2 * product + arb(0, unknown) * arb((1, -beyond))

    def _square(self) -> arb:
        """The square of the extra normal number, if there is one."""
        return self._extra.ball() ** 2 if self._extra else arb(0)


def _product(digits: Sequence[int]) -> arb:
    """Ball around the product of all digits."""
    result = arb(1)
    for start in range(0, len(digits), _FACTORS_EXACT):
        result *= prod(digits[start : start + _FACTORS_EXACT])
    return result


def _round_exactly(stretch: Stretch, cell: Cell, position: int, reals: DrawnReals) -> int:
    """The integer nearest to stretch * (number in cell), revealing the one that is known less well until there is only one."""
    while True:
        with working_precision(stretch.bits + cell.bits + _GUARD_BITS):
            factor = stretch.ball()
            whole = (factor * cell.ball() + 0.5).floor().unique_fmpz() if factor.is_finite() else None
            coarser = bool(factor.is_finite()) and bool(factor.rad() * abs(cell.centre) < factor)
        if whole is not None:
            return int(whole)
        if coarser:
            cell = reals.half(cell, position)
        else:
            stretch.reveal()


def _fitting(drawn: int) -> int:
    """The coordinate, refused when it does not fit the result array."""
    if abs(drawn) >= LARGEST:
        raise Unsupported("DPA108", "a coordinate is 2**62 or larger. Use less noise or a coarser lattice.")
    return drawn
