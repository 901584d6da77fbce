"""TensorSketch: fewer columns whose inner products are a polynomial kernel on average, by convolutions of integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.exact import Exact, integer, positive
from learners.rows.images import clip_images, map_blocks, require_columns
from learners.rows.polynomial import checked_polynomial, kernel_norm
from learners.rows.rows import Rows, as_array
from learners.rows.seeds import PublicBits
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_COLUMNS: Final = 2**20


@dataclass(frozen=True)
class SketchMap:
    """x to the convolution of `degree` count sketches of (x, sqrt(constant)); `sketch_map` makes one.

    Sketches have no bound on their norm: what they make of a record may be longer than anything the kernel knows, and is clipped.

    Source: Pham, Pagh 2013.
    """

    dimension_in: int  # columns of the rows
    dimension_out: int  # columns of the images
    degree: int  # of the kernel
    constant: Fraction  # of the kernel
    seed: int  # public integer

    def image_norm(self, feature_norm: Fraction) -> Fraction:
        """`kernel_norm`, to which longer images are clipped."""
        return kernel_norm(feature_norm, self.degree, self.constant)

    def apply(self, rows: Rows, *, clip: Exact | None = None, lattice_bits: int = 20, intercept: int = 0) -> Rows:
        """Images as integers, record by record; CSR is not made dense before it is sketched."""
        require_columns(rows, self.dimension_in)
        limit = self.image_norm(rows.bound * rows.step) if clip is None else positive(clip, "clip")
        constant, unit = int(root_above(self.constant) / rows.step), rows.step**self.degree
        sketches = [self._sketch(place) for place in range(self.degree)]

        def image(part: Rows) -> Rows:
            """Images of a few records; the last place of every sketch belongs to the constant."""
            parts = [part.steps.astype(np.int64) @ matrix + constant * last for matrix, last in sketches]
            values = np.array([_convolved(each) for each in zip(*(as_array(some).tolist() for some in parts), strict=True)])
            return clip_images(values, part.labels, unit=unit, clip=limit, lattice_bits=lattice_bits, intercept=intercept)

        return map_blocks(rows, 8 * self.dimension_out, image)

    def _sketch(self, place: int) -> tuple[Any, NDArray[np.int64]]:
        """A matrix with one sign in a public place of each row, and what it makes of a constant that follows the columns."""
        from scipy.sparse import csr_array

        count = self.dimension_in + 1
        stream = PublicBits(self.seed, "sketch", self.dimension_in, self.dimension_out, place)
        places, signs = stream.below(self.dimension_out, count), stream.signs(count).astype(np.int64)
        matrix = csr_array((signs, places, np.arange(count + 1)), shape=(count, self.dimension_out))
        return matrix[:-1], matrix[-1:].toarray()[0]


def sketch_map(*, dimension_in: int, dimension_out: int, degree: int, constant: Exact = 1, seed: int) -> SketchMap:
    """Features whose inner products are (<x, y> + constant)^degree on average (Pham, Pagh 2013, Algorithm 1)."""
    columns, power, added = checked_polynomial(dimension_in, degree, constant)
    out = integer(dimension_out, "dimension_out", lower=1, upper=_MOST_COLUMNS)
    return SketchMap(columns, out, power, added, integer(seed, "seed", lower=0))


def _convolved(sketches: tuple[list[int], ...]) -> NDArray[np.float64]:
    """Circular convolution of the sketches of one record: a product of integer polynomials, folded to their width."""
    # Each coefficient is rounded to a float once and folds are added in order, so that an image depends on its record alone.
    from flint import fmpz_poly

    product: Any = reduce(mul, map(fmpz_poly, sketches))
    coefficients = list(map(float, product.coeffs()))
    folds = np.zeros((len(sketches), len(sketches[0])))
    folds.ravel()[: len(coefficients)] = coefficients
    return np.asarray(reduce(np.add, folds))
