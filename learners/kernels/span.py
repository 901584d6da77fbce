"""The Gaussian process release point by point: only what a point adds to the span of the earlier ones is read from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from learners.kernels.noise import whole_budget_release
from learners.kernels.open_run import Answer
from learners.record import Charge
from learners.solvers.minimum import IMAGE_BITS
from learners.solvers.plans import mechanism_of
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dpaudit.releases import Release
    from learners.estimator import Public
    from learners.solvers.minimum import Minimum
    from mechanisms.sampling.random import BitSource

SLACK: Final = Fraction(1, 64)
"""By how much the directions that are read may fail to be orthonormal, in eigenvalues of their products."""

_UNIT: Final = 1 << IMAGE_BITS


@dataclass(frozen=True)
class SpanTold:
    """As many values along new directions as a run may read, with noise for all of them together; `span_release_plan` makes one.

    Source: Hall, Rinaldo, Wasserman 2013, section 4.
    """

    found: Minimum
    release: Release  # of all values, as it will be logged
    tolerance: Fraction  # part of a point's norm that is left unread

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All values together."""
        return (Charge((self.release,)),)

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """Open the run; its noise is drawn at once, since it does not depend on what will be asked."""
        noise = mechanism_of(self.release).release(np.zeros(self.release.dimension, dtype=np.int64), source)
        return {"teller": SpanTeller(weights, noise, self.found.weight_bits, float(self.tolerance))}


def span_release_plan(found: Minimum, public: Public, *, values: int, tolerance: Fraction) -> SpanTold:
    """Plan a run that reads so many values at most."""
    sensitivity = math.ceil((found.sensitivity << IMAGE_BITS) * root_above(1 + SLACK))
    return SpanTold(found, whole_budget_release(public, sensitivity, values), tolerance)


class SpanTeller:
    """A private minimiser that is read along directions at right angles to each other, each with its own noise.

    A direction is a vector of integers, made from public points in floats. How far the directions are from being orthonormal
    is computed exactly, and nothing is read where it would exceed `SLACK`: floats decide how good the answers are, nothing else.
    """

    __slots__ = ("_answers", "_directions", "_floats", "_noise", "_sums", "_tolerance", "_unit", "_weights")

    def __init__(self, weights: NDArray[np.int64], noise: NDArray[np.int64], weight_bits: int, tolerance: float) -> None:
        self._weights, self._noise, self._tolerance = weights, noise.tolist(), tolerance
        self._unit = 2.0 ** -(weight_bits + IMAGE_BITS)
        self._directions = np.zeros((0, len(weights)), dtype=np.int64)
        self._floats, self._answers = np.zeros((0, len(weights))), np.zeros(0)
        self._sums: list[int] = []

    @property
    def left(self) -> int:
        """Number of values that may still be read."""
        return len(self._noise)

    @property
    def open(self) -> bool:
        """Always: what is not read is computed from what was."""
        return True

    def answer(self, image: NDArray[np.int64]) -> Answer:
        """The value of the noisy function, read where the point points somewhere new."""
        along, rest = self._parts(image)
        length, whole = _length(rest), float(_length(image / _UNIT))
        read = bool(self._noise) and whole > 0 and length >= self._tolerance * whole
        if read:
            read = self._read(np.rint(rest * (_UNIT / length)).astype(np.int64))
            along = np.append(along, length) if read else along
        return Answer(Fraction(float(along @ self._answers)), read)

    def guess(self, image: NDArray[np.int64]) -> Fraction:
        """The value along the directions that were read."""
        return Fraction(float(self._parts(image)[0] @ self._answers))

    def _parts(self, image: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coordinates along the directions, and what is left; done twice, since floats cancel."""
        rest, along = image / _UNIT, np.zeros(len(self._floats))
        for _ in range(2):
            more = self._floats @ rest
            along, rest = along + more, rest - more @ self._floats
        return along, rest

    def _read(self, direction: NDArray[np.int64]) -> bool:
        """Read the value along a direction, unless it is too close to others: decided in integers, all of them public."""
        products = [abs(product) for product in (self._directions @ direction).tolist()]
        sums = [before + product for before, product in zip(self._sums, products, strict=True)]
        sums.append(sum(products) + int(direction @ direction))
        if max(sums) * SLACK.denominator > (SLACK.denominator + SLACK.numerator) * _UNIT**2:
            return False
        value = int(self._weights @ direction) + self._noise.pop()
        self._sums = sums
        self._directions = np.vstack([self._directions, direction])
        self._floats = np.vstack([self._floats, direction / _UNIT])
        self._answers = np.append(self._answers, value * self._unit)
        return True


def _length(vector: NDArray[np.float64]) -> float:
    """Its norm."""
    return float(np.sqrt(vector @ vector))
