"""Subsampled Hadamard transforms: a public random rotation in O(d log d) additions a record, of which some coordinates are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.exact import Exact, integer
from learners.rows.images import clip_images, dense, map_blocks, require_columns, require_exact
from learners.rows.rows import Rows
from learners.rows.seeds import PublicBits
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_COLUMNS: Final = 2**30


@dataclass(frozen=True)
class HadamardMap:
    """x to R H D x / sqrt(k): public signs D, Hadamard matrix H, k of its d' rows R (Ailon, Chazelle 2009; Tropp 2011)."""

    dimension_in: int  # d, columns of the rows; d' is the next power of two
    dimension_out: int  # k, columns of the images, at most d'
    seed: int  # public integer

    @property
    def width(self) -> int:
        """d', the power of two that columns are filled up to."""
        return next_power(self.dimension_in)

    def image_norm(self, feature_norm: Fraction) -> Fraction:
        """sqrt(d' / k) times the norm of the rows: H / sqrt(d') is a rotation, and fewer coordinates are no longer."""
        return root_above(Fraction(self.width, self.dimension_out)) * feature_norm

    def apply(self, rows: Rows, *, clip: Exact | None = None, lattice_bits: int = 20, intercept: int = 0) -> Rows:
        """Images as integers, record by record; a few records at a time are made dense."""
        require_columns(rows, self.dimension_in)
        require_exact(rows, self.width)
        signs, kept = self._signs(), self._kept()
        limit = self.image_norm(rows.bound * rows.step) if clip is None else clip
        unit = rows.step / root_above(Fraction(self.dimension_out))

        def image(part: Rows) -> Rows:
            """Images of a few records."""
            filled = np.zeros((part.steps.shape[0], self.width), dtype=np.int64)
            filled[:, : self.dimension_in] = dense(part, np.int64) * signs
            values = hadamard_transform(filled)[:, kept].astype(np.float64)
            return clip_images(values, part.labels, unit=unit, clip=limit, lattice_bits=lattice_bits, intercept=intercept)

        return map_blocks(rows, self.width, image)

    def transpose(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Weights of the images as weights of the rows: D H R^T w / sqrt(k)."""
        values = np.asarray(weights, dtype=np.float64)
        spread = np.zeros((*values.shape[1:], self.width))
        spread[..., self._kept()] = values.T
        turned = hadamard_transform(spread.reshape(-1, self.width)).reshape(spread.shape)[..., : self.dimension_in] * self._signs()
        return np.asarray(turned.T / math.sqrt(self.dimension_out))

    def _signs(self) -> NDArray[np.int8]:
        """D."""
        return PublicBits(self.seed, "hadamard signs", self.dimension_in).signs(self.dimension_in)

    def _kept(self) -> NDArray[np.int64]:
        """R: which coordinates are kept, in increasing order."""
        return np.sort(PublicBits(self.seed, "hadamard rows", self.width).order(self.width)[: self.dimension_out])


def hadamard_map(*, dimension_in: int, dimension_out: int, seed: int) -> HadamardMap:
    """The map that keeps some coordinates of records rotated by signs and a Hadamard matrix (Ailon, Chazelle 2009; Tropp 2011)."""
    columns = integer(dimension_in, "dimension_in", lower=1, upper=_MOST_COLUMNS)
    kept = integer(dimension_out, "dimension_out", lower=1, upper=next_power(columns))
    return HadamardMap(columns, kept, integer(seed, "seed", lower=0))


def next_power(columns: int) -> int:
    """The least power of two that is at least a number of columns."""
    return 1 << (columns - 1).bit_length()


def hadamard_transform(values: NDArray[Any]) -> NDArray[Any]:
    """H x for every row x, in place: butterflies of additions and subtractions over a width that is a power of two."""
    count, width = values.shape
    half = 1
    while half < width:
        pairs = values.reshape(count, width // (2 * half), 2, half)
        low = pairs[:, :, 0].copy()
        pairs[:, :, 0] += pairs[:, :, 1]
        np.subtract(low, pairs[:, :, 1], out=pairs[:, :, 1])
        half *= 2
    return values
