"""The scale of a regressor's labels from a noisy histogram of them: where they lie, and where residuals are cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.rows.labels import TARGET_UNIT
from learners.solvers.slopes import UNIT, Slopes

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABEL_BINS: Final = 32
"""Bins of a regressor's labels."""

_REACH: Final = 1.25
"""Residuals are cut at so many deviations of the labels."""


def bin_targets(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of each label, which lies within its bound."""
    return (labels + TARGET_UNIT) * LABEL_BINS // (2 * TARGET_UNIT + 1)


@dataclass(frozen=True)
class LabelScale:
    """Where labels lie, as parts of their bound, and where residuals are cut, in whole parts of 1/4096 of it."""

    mean: float
    spread: float
    cut: int

    @classmethod
    def of(cls, counts: NDArray[np.float64], deviation: float) -> LabelScale:
        """From noisy counts of the bins, those below twice the deviation of their noise left out."""
        kept = np.where(counts > 2 * deviation, counts, 0.0)
        if not kept.any():
            kept = np.ones(LABEL_BINS)
        places = (np.arange(LABEL_BINS) + 0.5) * (2 / LABEL_BINS) - 1
        mean = float(np.einsum("i,i->", kept, places) / kept.sum())
        spread = math.sqrt(float(np.einsum("i,i->", kept, np.square(places - mean)) / kept.sum()) + (1 / LABEL_BINS) ** 2 / 3)
        return cls(mean, spread, min(max(round(_REACH * spread * TARGET_UNIT), 1), TARGET_UNIT))

    @property
    def curvature(self) -> float:
        """The second derivative of the squared loss, in units where the largest slope is 1."""
        return TARGET_UNIT / self.cut


def cut_residuals(cut: int) -> Slopes:
    """Downhill slopes of the squared loss: residuals as parts of where they are cut, rounded toward zero."""

    def slopes(margins: NDArray[np.int64], labels: NDArray[np.int64], margin_bits: int) -> NDArray[np.int64]:
        """None is longer than the unit."""
        residuals = labels - (margins >> (margin_bits - TARGET_UNIT.bit_length() + 1))
        return np.asarray(np.sign(residuals) * (np.minimum(np.abs(residuals), cut) * UNIT // cut))

    return slopes
