"""Weights by all noisy gradients of a fit together, each counted by what the model of normal records expects of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.solvers.newton import PLACES, SHARES
from learners.solvers.quasi_newton import in_one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.solvers.newton import Move, NormalModel
    from learners.solvers.slopes import Bend

_SPREAD: Final = 2.8
"""Least deviation of weights before gradients are seen, for rows of usual length 1: margins vary by about that much."""

_CONSTANT_SPREAD: Final = 8.0
"""That of the constant's part of margins."""

_MODEL_ERROR: Final = 0.3
"""Part of an expected gradient by which records that are not normal may differ from it."""

_SHARE_ERROR: Final = 0.3
"""And of the share of the second class."""

_LOGISTIC: Final = math.pi / 8
"""A logistic function of a normal number has about the mean of one whose slope this much of the variance makes less steep."""

_LEAST_BEND: Final = 1e-5
_SURE: Final = 2.0
"""Deviations by which a gradient is told from noise."""

_ROUNDS: Final = 6
_FARTHEST: Final = 1.0
_CLOSE: Final = 0.02
"""Weights are sought in so many rounds that each move margins by at most 1 in deviation, or until they move by less than .02."""

_NODES: Final = ((0.1127016653792583, 5 / 18), (0.5, 8 / 18), (0.8872983346207417, 5 / 18))
"""Places and shares of Gauss's rule on the way from one point to another."""


@dataclass(frozen=True)
class NoisyShare:
    """The released share of the second class, the deviation of its noise, and the probability for which a margin is best."""

    value: float
    deviation: float
    likely: Bend


@dataclass(frozen=True, eq=False)
class Curvature:
    """A symmetric matrix: a diagonal, and a small one between a few vectors."""

    diagonal: NDArray[np.float64]
    vectors: NDArray[np.float64]  # one a row
    inner: NDArray[np.float64]

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product with a vector."""
        return np.asarray(self.diagonal * vector + self.vectors.T @ (self.inner @ (self.vectors @ vector)))

    def square(self) -> NDArray[np.float64]:
        """The product with itself."""
        # (D + V' K V)^2 = D^2 + V' F + F' V with F = K V D + K V V' K V / 2
        mixed = self.inner @ self.vectors
        half = mixed * self.diagonal + mixed @ self.vectors.T @ mixed / 2
        product = self.vectors.T @ half
        return np.asarray(np.diag(np.square(self.diagonal)) + product + product.T)


def curvature(
    model: NormalModel, likely: Bend, first: NDArray[np.float64], last: NDArray[np.float64], least: float = _LEAST_BEND
) -> Curvature:
    """Mean curvature on the way between two points, for labels that the last is best for: times the way, how far gradients fall.

    Bends count for no less than given.
    """
    end, end_spread, end_line = model.margins(last)
    diagonal, vectors, inner = 0.0, [], np.zeros((2 * len(_NODES),) * 2)
    for place, (part, share) in enumerate(_NODES):
        here = first + part * (last - first)
        centre, spread, line = model.margins(here)
        # Margins here and at the end are normal together: given one, the mean of the other is on a line, with a spread around it.
        common = float(end_line @ here) / max(spread, 1e-6)
        rest = max(end_spread**2 - common**2, 0.0)
        second = likely((end + common * PLACES) / math.sqrt(1 + _LOGISTIC * rest))
        bends = np.maximum(model.strength * model.bend(centre + spread * PLACES, second=second), least) * SHARES * share
        k0, k1, k2 = float(bends.sum()), float((bends * PLACES).sum()), float((bends * PLACES**2).sum())
        diagonal += k0
        vectors += [model.mean, line / max(spread, 1e-6)]  # the line shrinks with the spread
        inner[2 * place : 2 * place + 2, 2 * place : 2 * place + 2] = [[0.0, k1], [k1, k2 - k0]]
    return Curvature(diagonal * model.axes.values, np.stack(vectors) * math.sqrt(model.records), inner)


@dataclass(frozen=True, eq=False)
class Pool:
    """What is known of the best weights before the first gradient, along the axes of the model."""

    model: NormalModel
    start: NDArray[np.float64]
    share: NoisyShare
    deviation: float  # of a gradient's noise in one direction

    def estimate(
        self, seen: list[tuple[NDArray[np.float64], NDArray[np.float64]]], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The likeliest weights given the gradients seen and where, sought from some weights."""
        last = self.model.axes.vectors[-1]
        constant = (self.model.constant / _CONSTANT_SPREAD) ** 2
        for _ in range(_ROUNDS):
            # Where margins are seen to vary more than was expected, weights are expected to be as large.
            spread = 1 / max(_SPREAD, self.model.margins(weights)[1]) ** 2
            left = spread * np.eye(len(last)) + (constant - spread) * np.multiply.outer(last, last)
            right = left @ self.start
            for place, pull in seen:
                fall = curvature(self.model, self.share.likely, place, weights, self._least(pull))
                # Records that are not normal spoil what long gradients say; near the end gradients are noise, which alone counts.
                variance = self.deviation**2 + _MODEL_ERROR**2 * max(float(pull @ pull) / len(last) - self.deviation**2, 0.0)
                left += fall.square() / variance
                right += fall.times(pull + fall.times(place)) / variance
            slope, gap, variance = self._share_at(weights)
            left += np.multiply.outer(slope, slope) / variance
            right += slope * ((gap + float(slope @ weights)) / variance)
            way = np.linalg.solve(left, right) - weights
            length = math.sqrt(max(float(way @ (self.model.axes.values * way)) / self.model.records, 0.0))
            weights = weights + way * min(1.0, _FARTHEST / max(length, _CLOSE))
            if length < _CLOSE:
                break
        return weights

    def _least(self, pull: NDArray[np.float64]) -> float:
        """The least bend where a noisy gradient was seen."""
        # Where a step went too far for records that are not normal, many pull one way, and the model shows too little curvature.
        excess = abs(float(self.model.axes.vectors[-1] @ pull)) - _SURE * self.deviation
        return min(max(excess / (self.model.records * self.model.constant), _LEAST_BEND), 0.5)

    def _share_at(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float, float]:
        """How the logarithm of the expected share moves with weights, how far it is from the released one, and its variance."""
        centre, spread, line = self.model.margins(weights)
        spread = max(spread, 1e-6)
        small = 1e-4

        def expected(centre: float, spread: float) -> float:
            """The share of the second class."""
            return max(float((self.share.likely(centre + spread * PLACES) * SHARES).sum()), 1e-9)

        here = expected(centre, spread)
        moved, wider = (expected(centre + small, spread) - here) / small, (expected(centre, spread + small) - here) / small
        slope = (moved * self.model.mean + (wider / spread) * line) / here
        gap = min(max(math.log(self.share.value / here), -1.0), 1.0)
        return slope, gap, (self.share.deviation / self.share.value) ** 2 + _SHARE_ERROR**2


def pooled_steps(pool: Pool) -> Move:
    """Steps to the best weights by all noisy gradients so far; a function of what was released and of public numbers."""
    axes, seen = pool.model.axes, []

    def move(slope: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step."""
        with in_one_thread():
            here = axes.vectors.T @ weights
            seen.append((here, axes.vectors.T @ slope))
            return np.asarray(axes.vectors @ (pool.estimate(seen, here) - here))

    return move
