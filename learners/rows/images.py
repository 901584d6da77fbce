"""Images of public maps: computed a few records at a time, clipped to integers of a bounded norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, positive
from learners.rows.ingest import to_rows
from learners.rows.rows import Rows, as_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ENTRIES: Final = 2**21
_FLOATS_HOLD: Final = 2**53


class PublicMap(Protocol):
    """A map of records that is fixed before any record is read; a record's image depends on that record alone."""

    @property
    def dimension_out(self) -> int:
        """Columns of the images, without an intercept."""
        ...

    def image_norm(self, feature_norm: Fraction) -> Fraction:
        """No image of a record of at most `feature_norm` has a larger L2 norm, in units of the images."""
        ...

    def apply(self, rows: Rows, *, lattice_bits: int, intercept: int) -> Rows:
        """Images as integers of norm at most 2**lattice_bits, and a constant behind each."""
        ...


def map_blocks(rows: Rows, width: int, image: Callable[[Rows], Rows]) -> Rows:
    """Images of runs of records, each run so short that `width` numbers for each of its records take a few megabytes."""
    count, height = rows.steps.shape[0], max(1, _ENTRIES // width)
    first = image(_part(rows, slice(0, height)))
    steps = np.empty((count, first.steps.shape[1]), dtype=np.int32)
    steps[:height] = dense(first, np.int32)
    for start in range(height, count, height):
        part = slice(start, start + height)
        steps[part] = dense(image(_part(rows, part)), np.int32)
    return Rows(steps, first.bound, first.step, rows.labels)


def clip_images(
    values: NDArray[np.float64], labels: NDArray[np.int64], *, unit: Fraction, clip: Exact, lattice_bits: int, intercept: int
) -> Rows:
    """Images in units of `unit` as rows of whole steps of clip / 2**lattice_bits: exact arithmetic keeps each within the clip."""
    limit = positive(clip, "clip")
    rows = to_rows(values, labels, feature_norm=limit / unit, lattice_bits=lattice_bits, intercept=intercept)
    return replace(rows, step=limit / 2**lattice_bits)


def dense(rows: Rows, dtype: Any) -> NDArray[Any]:
    """The steps of a few rows as an array."""
    return as_array(rows.steps).astype(dtype, copy=False)


def require_columns(rows: Rows, dimension_in: int) -> None:
    """DPA105 for rows of another width than the map was made for."""
    if rows.steps.shape[1] != dimension_in:
        raise InvalidArgument(
            "DPA105", f"the map reads {dimension_in} columns, got rows of {rows.steps.shape[1]}. Make one for these."
        )


def require_exact(rows: Rows, columns: int) -> None:
    """DPA108 where the inner product of a row, or of a part of it, with as many signs might not be an integer of a float."""
    if rows.bound * (math.isqrt(columns) + 1) >= _FLOATS_HOLD:
        raise InvalidArgument("DPA108", "sums of these rows might not be exact. Use a coarser lattice.")


def _part(rows: Rows, part: slice) -> Rows:
    """Some of the rows."""
    return replace(rows, steps=rows.steps[part], labels=rows.labels[part])
