"""The span of public records as a public map: records are projected on it in exact arithmetic, and clipped after that."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, positive
from learners.rows.images import clip_images, map_blocks, require_columns
from learners.rows.ingest import checked_features, to_rows
from learners.rows.rows import Rows, as_array
from mechanisms.noise import read_flag

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECORD_BITS: Final = 16
"""Records, public and private, are multiples of 2**-16 of the largest norm before they are projected."""

BASIS_BITS: Final = 20
"""Entries of the basis are multiples of 2**-20."""

_TOLERANCE: Final = 2.0**-12
_ROUNDING: Final = 1e-13
"""Directions below either are taken to be rounding: relative to the largest singular value, and to the trace of squares."""

_FLOOR: Final = 1e-3
_MOST_SIDE: Final = 2**13
MOST_DIRECTIONS: Final = 2**12


@dataclass(frozen=True, eq=False)
class PublicSubspace:
    """x to B^T (x - c) with a basis B and a centre c made from public records alone; `public_subspace` makes one.

    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Algorithm 1.
    """

    dimension_in: int  # d, columns of the records
    columns: NDArray[np.int64]  # those that some public record uses; the others are not read
    basis: NDArray[np.int64]  # of shape (len(columns), k) in units of 2**-20
    offset: NDArray[np.int64]  # of shape (k,): the image of the centre, in the units of exact images
    step: Fraction  # of the rows that are mapped, in the units of the features
    clip: Fraction  # largest norm of an image that is kept, in the units of the features
    public_records: int  # how many there were

    @property
    def dimension_out(self) -> int:
        """k, the number of directions."""
        return int(self.basis.shape[1])

    def image_norm(self, feature_norm: Fraction) -> Fraction:  # noqa: ARG002 - whatever the record
        """The clip, for every record."""
        return self.clip

    def apply(self, rows: Rows, *, lattice_bits: int, intercept: int = 0) -> Rows:
        """Images as integers, record by record, clipped after the projection."""
        require_columns(rows, self.dimension_in)
        if rows.step != self.step:
            raise InvalidArgument("DPA103", "rows and map have different lattices. Give both the same feature_norm and bits.")

        def image(part: Rows) -> Rows:
            """Images of a few records."""
            values = self.exact(part).astype(np.float64)
            unit = self.step / 2**BASIS_BITS
            return clip_images(values, part.labels, unit=unit, clip=self.clip, lattice_bits=lattice_bits, intercept=intercept)

        return map_blocks(rows, self.dimension_out, image)

    def transpose(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Weights of images in units of the clip as weights of the features: B w / clip."""
        values = np.asarray(weights, dtype=np.float64) / (2.0**BASIS_BITS * float(self.clip))
        spread = np.zeros((self.dimension_in, *values.shape[1:]))
        spread[self.columns] = np.einsum("ij,j...->i...", self.basis.astype(np.float64), values)
        return spread

    def centre_scores(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return what the centre adds to every score: the product of its image and the weights."""
        image = self.offset * (float(self.step) / 2.0**BASIS_BITS / float(self.clip))
        return np.asarray(np.einsum("j,j...->...", image, np.asarray(weights, dtype=np.float64)))

    def exact(self, rows: Rows) -> NDArray[np.int64]:
        """Images before the clip, without a rounding error."""
        read = rows if len(self.columns) == self.dimension_in else replace(rows, steps=rows.steps[:, self.columns])
        values = read.margins(self.basis)
        values -= self.offset
        return values


def public_subspace(
    public_X: Any,  # noqa: N803 - as the estimators name it
    *,
    columns: int,
    feature_norm: Exact,
    dimension: int | None = None,
    centred: bool = True,
    whitening: Exact = 0,
    reach: Exact = Fraction(1, 2),
) -> PublicSubspace:
    """The directions in which public records vary most (Ullah, Menart, Bassily, Guzman, Arora 2024, Algorithm 1)."""
    width = integer(columns, "columns", lower=1)
    power = float(in_range(whitening, "whitening", lower=0, upper=1))
    most = MOST_DIRECTIONS if dimension is None else integer(dimension, "dimension", lower=1, upper=MOST_DIRECTIONS)
    read_flag(centred, "centred")
    rows, times = public_rows(public_X, width, feature_norm), positive(reach, "reach")
    used, steps = _used_columns(rows)
    means = np.asarray(steps.mean(axis=0)).ravel() if centred else np.zeros(len(used))
    directions, scales = _directions(steps, means, most)
    directions *= np.where(directions.max(axis=0) < -directions.min(axis=0), -1.0, 1.0)
    directions *= (scales[-1] / np.maximum(scales, _FLOOR * scales[0])) ** power
    basis = np.rint(directions * 2.0**BASIS_BITS).astype(np.int64)
    offset = np.rint(means @ basis).astype(np.int64)
    made = PublicSubspace(width, used, basis, offset, rows.step, Fraction(1), rows.steps.shape[0])
    return replace(made, clip=_median_norm(made.exact(rows), rows.step) * times)


def public_rows(public_X: Any, columns: int, feature_norm: Exact) -> Rows:  # noqa: N803 - as the estimators name it
    """Public records on the lattice of private ones."""
    given = checked_features(public_X(columns) if callable(public_X) else public_X)
    if given.shape[1] != columns:
        raise InvalidArgument("DPA105", f"public_X must have the {columns} columns of the records, got {given.shape[1]}.")
    return to_rows(given, np.zeros(given.shape[0], dtype=np.int64), feature_norm=feature_norm, lattice_bits=RECORD_BITS)


def _used_columns(rows: Rows) -> tuple[NDArray[np.int64], Any]:
    """Columns that are not all zero, and the rows in those, as floats."""
    steps: Any = rows.steps
    if isinstance(steps, np.ndarray):
        used = np.flatnonzero(steps.any(axis=0))
    else:
        used = np.unique(steps.indices[steps.data != 0]).astype(np.int64)
    return used, steps[:, used].astype(np.float64)


def _directions(steps: Any, means: NDArray[np.float64], most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Orthonormal directions of the rows around their means, one a column, and singular values, the largest first."""
    from scipy.linalg import eigh
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    count, width = steps.shape
    side = min(count, width)
    if side > _MOST_SIDE:
        raise InvalidArgument("DPA108", f"public_X has {count} records in {width} columns; give at most {_MOST_SIDE} records.")
    if side == 0:
        raise InvalidArgument("DPA109", "all public records are zero. Give some that are not.")
    with threadpool_limits(limits=1, user_api="blas"):  # the same basis for any number of threads
        gram = as_array(steps @ steps.T if count <= width else steps.T @ steps)
        least = _ROUNDING * float(np.trace(gram))
        if count <= width:
            along = np.asarray(steps @ means)
            gram = gram - along[:, np.newaxis] - along + means @ means
        else:
            gram = gram - count * np.outer(means, means)
        values, vectors = eigh(gram, subset_by_index=[max(0, side - most), side - 1])
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = values > max(float(values[0]) * _TOLERANCE**2, least)
        if not kept.any():
            raise InvalidArgument("DPA109", "all public records are equal, so they have no directions. Give some that differ.")
        scales = np.sqrt(values[kept])
        if count > width:
            return vectors[:, kept], scales
        chosen = vectors[:, kept]
        return (np.asarray(steps.T @ chosen) - np.outer(means, chosen.sum(axis=0))) / scales, scales


def _median_norm(images: NDArray[np.int64], step: Fraction) -> Fraction:
    """The median norm of those public images that are not zero, in the units of the features."""
    values = images.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", values, values))
    return Fraction(math.ceil(np.median(norms[norms > 0]))) * step / 2**BASIS_BITS
