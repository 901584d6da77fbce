"""Records of norm one: every record divided by its own norm, on the lattice; what has no direction becomes the first axis."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from learners.rows.images import dense
from learners.rows.ingest import to_rows
from learners.rows.rows import Rows
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.ingest import Features
    from learners.rows.signs import SignMap

_ENTRIES: Final = 2**23
_SHORT: Final = Fraction(1, 4)
"""Records are scaled to a largest entry of 1/2 to 1 first: all of them are longer than this, and so are scaled to it exactly."""


def unit_rows(features: Features, labels: NDArray[np.int64], *, lattice_bits: int = 20) -> Rows:
    """Records divided by their norms, in steps of 2**-lattice_bits; one that is zero or not finite becomes the first axis."""
    with np.errstate(all="ignore"):
        rows = to_rows(_scaled(features), labels, feature_norm=_SHORT, lattice_bits=lattice_bits)
    return _directed(replace(rows, step=Fraction(1, rows.bound)))


def unit_images(features: Features, labels: NDArray[np.int64], image: SignMap | None, *, lattice_bits: int = 20) -> Rows:
    """Unit records mapped by public signs, and divided by their norms again (Nguyen, Ullman, Zakynthinou 2020, section 3)."""
    # Of an array, a few records at a time: wide records need not all exist as floats at once.
    if image is None:
        return unit_rows(features, labels, lattice_bits=lattice_bits)
    count, width = features.shape
    height = max(1, _ENTRIES // width) if isinstance(features, np.ndarray) else count
    steps = np.empty((count, image.dimension_out), dtype=np.int32)
    for start in range(0, count, height):
        part = slice(start, start + height)
        rows = unit_rows(features[part], labels[part], lattice_bits=lattice_bits)
        # Signed sums of integers are integers: all but zero are longer than half of their unit, and are scaled to it.
        clip = rows.step / root_above(Fraction(image.dimension_out)) / 2
        steps[part] = dense(_directed(image.apply(rows, clip=clip, lattice_bits=lattice_bits)), np.int32)
    return Rows(steps, 2**lattice_bits, Fraction(1, 2**lattice_bits), labels)


def _scaled(features: Features) -> Features:
    """Every record times a power of two of its own, which brings its largest entry to 1/2 to 1; what is not finite stays so."""
    scaled: Any = features.astype(np.float64)
    if isinstance(scaled, np.ndarray):
        largest = np.maximum(scaled.max(axis=1), -scaled.min(axis=1))
        np.ldexp(scaled, -np.frexp(largest)[1][:, np.newaxis], out=scaled)
    elif scaled.nnz:
        counts = np.diff(scaled.indptr)
        present = np.flatnonzero(counts)
        largest = np.maximum.reduceat(np.abs(scaled.data), scaled.indptr[present])
        scaled.data = np.ldexp(scaled.data, -np.repeat(np.frexp(largest)[1], counts[present]))
    return cast("Features", scaled)


def _directed(rows: Rows) -> Rows:
    """The same rows, but for those that are zero, which become the first axis."""
    steps: Any = rows.steps
    if isinstance(steps, np.ndarray):
        steps[~steps.any(axis=1), 0] = rows.bound
        return rows
    from scipy.sparse import csr_array

    before = np.concatenate([[0], np.cumsum(steps.data != 0)])
    places = np.flatnonzero(np.diff(before[steps.indptr]) == 0)
    entries = (np.full(len(places), rows.bound, dtype=np.int32), (places, np.zeros(len(places), dtype=np.int64)))
    return replace(rows, steps=csr_array(steps + csr_array(entries, shape=steps.shape)))
