"""All monomials up to a degree, weighted so that inner products are the polynomial kernel (<x, y> + constant)^degree."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer
from learners.rows.images import clip_images, dense, map_blocks, require_columns
from learners.rows.rows import Rows
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_MONOMIALS: Final = 2**20
"""As many columns as explicit monomials may have."""

LARGEST_DEGREE: Final = 8
LARGEST_CONSTANT: Final = 2**40


def kernel_norm(feature_norm: Fraction, degree: int, constant: Fraction) -> Fraction:
    """Norm of the image of a record of norm `feature_norm`: (feature_norm^2 + constant)^(degree / 2), rounded up."""
    return root_above((feature_norm**2 + constant) ** degree)


@dataclass(frozen=True)
class PolynomialMap:
    """x to every monomial up to a degree, times the root of its weight (Bassily, Mohri, Suresh 2022, section 4)."""

    dimension_in: int  # columns of the rows
    degree: int  # of the kernel
    constant: Fraction  # of the kernel

    @property
    def dimension_out(self) -> int:
        """Number of monomials: those of the degree itself, and the lower ones where the constant is not zero."""
        return _monomials(self.dimension_in, self.degree, self.constant)

    def image_norm(self, feature_norm: Fraction) -> Fraction:
        """`kernel_norm`: no longer, for a record within `feature_norm`."""
        return kernel_norm(feature_norm, self.degree, self.constant)

    def apply(self, rows: Rows, *, lattice_bits: int = 20, intercept: int = 0) -> Rows:
        """Images as integers, record by record, clipped at `image_norm`; a few records at a time are made dense."""
        require_columns(rows, self.dimension_in)
        limit, unit = self.image_norm(rows.bound * rows.step), rows.step**self.degree
        factors, roots = self._factors()
        one = float(root_above(self.constant) / rows.step)

        def image(part: Rows) -> Rows:
            """Images of a few records: products of columns from left to right, each a float operation of its own."""
            columns = dense(part, np.float64)
            if self.constant:
                columns = np.concatenate([columns, np.full((len(columns), 1), one)], axis=1)
            values = columns[:, factors[0]]
            for factor in factors[1:]:
                values *= columns[:, factor]
            values *= roots
            return clip_images(values, part.labels, unit=unit, clip=limit, lattice_bits=lattice_bits, intercept=intercept)

        return map_blocks(rows, 3 * len(roots), image)

    def _factors(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the columns of each monomial, shape (degree, monomials), and roots of how many orders they come in."""
        picks = list(combinations_with_replacement(range(self.dimension_in + (self.constant > 0)), self.degree))
        orders = [math.factorial(self.degree) // math.prod(map(math.factorial, Counter(pick).values())) for pick in picks]
        return np.array(picks, dtype=np.int64).T, np.sqrt(np.array(orders, dtype=np.float64))


def polynomial_map(*, dimension_in: int, degree: int, constant: Exact = 1) -> PolynomialMap:
    """Features whose inner products are (<x, y> + constant)^degree (Bassily, Mohri, Suresh 2022, section 4)."""
    columns, power, added = checked_polynomial(dimension_in, degree, constant)
    if _monomials(columns, power, added) > MOST_MONOMIALS:
        raise InvalidArgument("DPA103", f"{columns} columns have more than 2**20 monomials of degree {power}. Use sketch_map.")
    return PolynomialMap(columns, power, added)


def checked_polynomial(dimension_in: int, degree: int, constant: Exact) -> tuple[int, int, Fraction]:
    """The public parameters of a polynomial kernel."""
    return (
        integer(dimension_in, "dimension_in", lower=1),
        integer(degree, "degree", lower=1, upper=LARGEST_DEGREE),
        in_range(constant, "constant", lower=0, upper=LARGEST_CONSTANT),
    )


def _monomials(columns: int, degree: int, constant: Fraction) -> int:
    """Return the number of monomials of the kernel."""
    return math.comb(columns + degree - (constant == 0), degree)
