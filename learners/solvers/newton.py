"""Newton steps for records of a normal law with the released moments: curvature follows the margins, also of rare classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.solvers.plans import SolverPlan
    from learners.solvers.slopes import Bend, SlopeRule

Move = Callable[["NDArray[np.float64]", "NDArray[np.float64]"], "NDArray[np.float64]"]
"""From a noisy gradient and the weights that it was released at to a step."""

_PACE: Final = 0.85
"""Part of a Newton step that is taken: less than all, since every step carries noise of its own."""

_LEAST: Final = 0.3
"""Curvatures count for at least this part of the noise of all gradients together."""

_SMALL: Final = 2.0
"""Bends count for at least so many times the noise of all gradients together over the number of records."""

PLACES: Final = np.linspace(-6, 6, 49)
SHARES: Final = np.exp(-(PLACES**2) / 2) / np.exp(-(PLACES**2) / 2).sum()
"""Places of a standard normal law, and their shares; for smooth functions even spacing errs by less than the tails beyond 6."""


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of a noisy second moment of rows in units of the largest norm, and what is needed to take steps along them."""

    values: NDArray[np.float64]  # eigenvalues, raised to the floor
    vectors: NDArray[np.float64]  # eigenvectors, one a column
    noise: float  # deviation of a gradient's noise in one direction, times the root of the number of steps

    def inward(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates along the axes; sums of einsum's own loops, which no number of threads changes."""
        return np.asarray(np.einsum("ij,i...->j...", self.vectors, vectors))

    def outward(self, parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The vector of these coordinates, summed in the same way."""
        return np.asarray(np.einsum("ij,j...->i...", self.vectors, parts))


@dataclass(frozen=True, eq=False)
class NormalModel:
    """Curvature of a loss over `records` records whose coordinates along the axes are normal, with the noisy moments."""

    axes: Axes
    records: int
    constant: float  # what every row ends in, in units of the largest norm; 0 for nothing
    bend: Bend
    strength: float = 1.0  # mean weight of the records

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """The mean row along the axes; zero where rows have no constant, which would show it."""
        if not self.constant:
            return np.zeros_like(self.axes.values)
        one = self.axes.vectors[-1] / self.constant  # whose inner product with every row is 1
        products = self.axes.values * one
        return np.asarray(products / math.sqrt(self.records * _inner(one, products)))

    def margins(self, weights: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64]]:
        """Mean and deviation of the margins of weights along the axes, and the covariance of margins and rows."""
        centre = _inner(self.mean, weights)
        line = self.axes.values * weights / self.records - centre * self.mean
        return centre, math.sqrt(max(_inner(weights, line), 0.0)), line

    def bends(self, margins: NDArray[np.float64], slope: float = 0.0) -> NDArray[np.float64]:
        """Bends at the places of a normal law, each times the share of its place, no less than a mean slope of the records."""
        # Where noise is as large as all records together, margins are far from zero by noise alone, and show nothing.
        least = min(max(_SMALL * self.axes.noise / self.records, slope), 0.5)
        return np.asarray(np.maximum(self.strength * self.bend(margins), least) * SHARES)

    def step(self, pull: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide a noisy gradient by the curvature at some weights, both along the axes."""
        # Margins are normal too, and given a record's margin, its coordinates are normal around a line. So the mean of
        # bend(margin) q q^T is k0 times the second moment, and a correction in the span of the mean row and of that line.
        centre, spread, line = self.margins(weights)
        # Where a step went too far for records that are not normal, many pull one way, and the model shows too little curvature.
        excess = abs(_inner(self.axes.vectors[-1], pull)) - self.axes.noise if self.constant else 0.0
        bends = self.bends(centre + spread * PLACES, excess / (self.records * self.constant) if excess > 0 else 0.0)
        k0, k1, k2 = float(bends.sum()), float((bends * PLACES).sum()), float((bends * PLACES**2).sum())
        scales = 1 / np.maximum(k0 * self.axes.values, _LEAST * self.axes.noise)
        step = scales * pull
        if spread == 0:
            return step
        # (D + U K U^T)^-1 by Woodbury, U = (mean, line / spread). D is at least k0 times the moment, so the sum is positive.
        ends = np.stack([self.mean, line / spread]) * math.sqrt(self.records)
        inner = np.einsum("ik,jk->ij", ends * scales, ends)
        change = np.array([[0.0, k1], [k1, k2 - k0]])
        (a, b), (c, d) = np.eye(2) + np.einsum("ij,jk->ik", change, inner)
        x, y = np.einsum("ij,j->i", change, np.einsum("ik,k->i", ends, step))
        solved = np.array([d * x - b * y, a * y - c * x]) / (a * d - b * c)
        return np.asarray(step - scales * np.einsum("i,ik->k", solved, ends))


def normal_model(axes: Axes, plan: SolverPlan, loss: SlopeRule) -> NormalModel:
    """The model of records for a loss that has a curvature at a margin."""
    if loss.bend is None:
        raise ValueError("the loss has no curvature at a margin")
    return NormalModel(axes, plan.records, plan.intercept / 2.0**plan.lattice_bits, loss.bend, loss.strength)


def newton_steps(model: NormalModel, loss: SlopeRule) -> Move:
    """The map from noisy gradients and weights to steps; a function of what was released and of public numbers."""
    axes = model.axes
    first = 1 / np.maximum(loss.strength * loss.curvature * axes.values, _LEAST * axes.noise)

    def move(slope: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step; the first one, from zero, is for the largest curvature, as the margins there are past at once."""
        pull = axes.inward(slope)
        return axes.outward(_PACE * model.step(pull, axes.inward(weights)) if weights.any() else first * pull)

    return move


def _inner(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Inner product, summed by einsum's own loops, which no number of threads changes."""
    return float(np.einsum("i,i->", first, second))
