"""A lower bound for pure-DP learners of halfspaces: many halfspaces of which no classifier fits two, counted and generated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.exact import Enclosure, Exact, ball, ball_endpoints, in_range, integer, positive, working_precision
from learners.rows.seeds import PublicBits

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

ERROR: Final = Fraction(1, 10)
"""A classifier fits a halfspace if it errs on at most this share of its records."""

_BITS: Final = 128
_MOST_DIMENSIONS: Final = 2**14
_NODES: Final = 400


@dataclass(frozen=True, eq=False)
class Packing:
    """Halfspaces with the rows of a code of signs as normal vectors, and records with a margin.

    Source: Nguyen, Ullman, Zakynthinou 2020, Theorem 6.
    """

    code: NDArray[np.int8]  # int8 array of shape (K, d) of signs; the normal vectors are its rows over sqrt(d)
    margin: Fraction  # gamma, exact, above 0 and below 1

    @property
    def normals(self) -> NDArray[np.float64]:
        """Normal vectors of norm 1, of shape (K, d)."""
        return self.code / math.sqrt(self.code.shape[1])

    @cached_property
    def distance(self) -> Fraction:
        """Least share of places in which two rows differ."""
        signs = self.code.astype(np.int64)
        products = signs @ signs.T
        np.fill_diagonal(products, -signs.shape[1])
        return Fraction(int(signs.shape[1] - products.max()), 2 * signs.shape[1])

    @property
    def disjoint(self) -> bool:
        """True if it is certain that no classifier fits two of the halfspaces."""
        return _apart(self.distance, self.code.shape[1], self.margin)

    def sample(self, place: int, records: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Records of one of the halfspaces: uniform on the sphere but for those that are closer to its plane than the margin."""
        normal = self.normals[place]
        found = np.zeros((0, len(normal)))
        while len(found) < records:
            drawn = rng.normal(size=(records, len(normal)))
            drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
            found = np.concatenate([found, drawn[np.abs(drawn @ normal) >= float(self.margin)]])
        return found[:records], (found[:records] @ normal > 0).astype(np.int64)

    def fits(self, weights: NDArray[np.float64], place: int) -> bool:
        """True if weights err on at most a tenth of the records of a halfspace, in floats."""
        cosine = float(weights @ self.normals[place] / max(float(np.linalg.norm(weights)), 1e-300))
        return error_rate(cosine=cosine, dimension=len(weights), margin=float(self.margin)) <= ERROR


def random_packing(*, dimension: int, size: int, margin: Exact, seed: int = 0) -> Packing:
    """Halfspaces with random normal vectors of signs (Nguyen, Ullman, Zakynthinou 2020, Theorem 6)."""
    width, count = integer(dimension, "dimension", lower=2, upper=_MOST_DIMENSIONS), integer(size, "size", lower=2, upper=2**12)
    signs = PublicBits(seed, "packing", width).signs(count * width).reshape(count, width)
    return Packing(signs, in_range(margin, "margin", lower=0, upper=1, lower_open=True, upper_open=True))


def near_plane(*, dimension: int, margin: Exact) -> Enclosure:
    """Share of the unit sphere that is closer to a plane through the origin than a margin."""
    width = integer(dimension, "dimension", lower=2, upper=_MOST_DIMENSIONS)
    gamma = in_range(margin, "margin", lower=0, upper=1, lower_open=True, upper_open=True)
    with working_precision(_BITS):
        return Enclosure(*ball_endpoints(_near(width, gamma)))


def packing_size(*, dimension: int, margin: Exact) -> int:
    """Halfspaces that there are at least of which no classifier fits two (Gilbert 1952)."""
    width = integer(dimension, "dimension", lower=2, upper=_MOST_DIMENSIONS)
    gamma = in_range(margin, "margin", lower=0, upper=1, lower_open=True, upper_open=True)
    if not _apart(Fraction(1), width, gamma):
        return 1
    low, high = 0, width  # places that are too few, and enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _apart(Fraction(middle, width), width, gamma) else (middle, high)
    volume: int = sum(accumulate(range(1, high), lambda term, place: term * (width - place + 1) // place, initial=1))
    return -(-(1 << width) // volume)


def records_needed(*, dimension: int, margin: Exact, epsilon: Exact, success: Exact = "9/10") -> Fraction:
    """Bound the records that a pure-DP learner of halfspaces needs (Nguyen, Ullman, Zakynthinou 2020, Theorem 6)."""
    cost, size = positive(epsilon, "epsilon"), packing_size(dimension=dimension, margin=margin)
    return _implied(size, in_range(success, "success", lower=0, upper=1, lower_open=True, upper_open=True)) / cost


def implied_epsilon(*, size: int, success: Exact, records: int) -> Fraction:
    """Epsilon that a learner has at least which fits halfspaces, of which no classifier fits two, with some probability."""
    count = integer(records, "records", lower=1)
    chance = in_range(success, "success", lower=0, upper=1, lower_open=True, upper_open=True)
    return _implied(integer(size, "size", lower=2), chance) / count


def error_rate(*, cosine: float, dimension: int, margin: float) -> float:
    """Error of weights on the records of a halfspace, by their angle, in floats."""
    angle = math.acos(min(1.0, max(-1.0, cosine)))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = angle * (nodes + 1) / 2
    kept = (1 - (margin / np.maximum(np.sin(places), margin)) ** 2) ** (dimension / 2 - 1)
    wrong = float(weights @ kept) * angle / 2 / math.pi
    return min(1.0, wrong / (1 - float(near_plane(dimension=dimension, margin=margin).upper)))


def _implied(size: int, success: Fraction) -> Fraction:
    """ln((K - 1) p / (1 - p)), rounded down, at least 0."""
    odds = (size - 1) * success / (1 - success)
    if odds <= 1:
        return Fraction(0)
    with working_precision(_BITS):
        return Fraction(ball_endpoints(ball(odds).log())[0])


def _apart(distance: Fraction, dimension: int, margin: Fraction) -> bool:
    """True if arccos(1 - 2 distance) / pi is certainly more than 2 (error (1 - p) + p)."""
    from flint import arb

    with working_precision(_BITS):
        near = _near(dimension, margin)
        disagreement = ball(1 - 2 * distance).acos() / arb.pi()
        return bool(disagreement > 2 * (ball(ERROR) * (1 - near) + near))


def _near(dimension: int, margin: Fraction) -> arb:
    """The share of the sphere near a plane, as a ball."""
    from flint import arb

    return ball(margin**2).beta_lower(arb(1) / 2, arb(dimension - 1) / 2, regularized=True)
