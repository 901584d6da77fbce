"""The smoothed hinge loss: how far one record moves the weights, never further than a public limit, and scores by it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.choices.counts import Loss

_INTEGERS_HOLD: Final = 2**63
_STEEPEST: Final = 2
"""A step of a convex, b-smooth loss brings no two points further apart as long as its size times b is at most this."""


@dataclass(frozen=True)
class HingeStep:
    """A gradient step of the hinge loss with its corner smoothed: by `length(a)` along a record whose signed margin is a.

    The length is clip(pull (margin - a), 0, limit): the derivative of a convex loss that is the hinge loss where `limit` counts,
    a parabola next to the margin, and 0 beyond it. Floats stand for their exact values.

    Source: Bassily, Guzman, Menart 2021, section 4 (smoothing).
    """

    margin: float  # signed margins from here on cost nothing
    pull: float  # growth of the length with the distance to the margin: step size times curvature, positive
    limit: float  # the largest length, positive

    def length(self, margin: float) -> float:
        """How far a record of that signed margin moves the weights, in units of its own norm."""
        return min(max(self.pull * (self.margin - margin), 0.0), self.limit)

    def require_contraction(self, norm: Fraction) -> None:
        """Refuse steps that may bring two points further apart, decided in exact arithmetic."""
        steepness = Fraction(self.pull) * norm**2
        if steepness > _STEEPEST:
            raise InvalidArgument(
                "DPA103",
                f"the step size times the curvature of the loss must be at most 2, got {shown(steepness)}. "
                "Steeper steps bring iterates apart, and the noise would not cover that.",
            )


def hinges(*, margin: int, bits: int, largest: int) -> tuple[Loss, int]:
    """The hinge loss on a grid, as a score of candidates, with its exact sensitivity."""
    end, most = integer(margin, "margin", lower=1), integer(largest, "largest", lower=1)
    fineness = integer(bits, "bits", lower=0)
    if (end + most) << fineness >= _INTEGERS_HOLD:
        raise InvalidArgument("DPA108", "a hinge of this margin and fineness does not fit 64 bits. Use fewer bits.")

    def loss(margins: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rounded up to the grid, record by record."""
        return np.asarray(-((np.minimum(np.clip(margins, -most, most) - end, 0) << fineness) // end))

    ends = loss(np.array([-most, most], dtype=np.int64))
    return loss, int(ends[0] - ends[1])
