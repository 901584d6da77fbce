"""Quasi-Newton descent: one noisy second moment of the records turns every noisy gradient into a step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from learners.solvers.plans import DIAGONAL, OFF_DIAGONAL
from learners.solvers.slopes import LOGISTIC, UNIT, SlopeRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan
    from mechanisms.sampling.random import BitSource

    Move = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

_CAREFUL: Final = 4.0
"""A careful loss wants no margin of a longest record to move by more than a quarter, by the noise of all its gradients."""


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of a noisy second moment of rows in units of the largest norm, and what is needed to take steps along them."""

    values: NDArray[np.float64]  # eigenvalues, raised to the floor
    vectors: NDArray[np.float64]  # eigenvectors, one a column
    floor: float  # the part of the spectral norm of the noise that the loss asks for
    noise: float  # deviation of a gradient's noise in one direction, times the root of the number of steps

    def inward(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates along the axes; sums of einsum's own loops, which no number of threads changes."""
        return np.asarray(np.einsum("ij,i...->j...", self.vectors, vectors))

    def outward(self, parts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The vector of these coordinates, summed in the same way."""
        return np.asarray(np.einsum("ij,j...->i...", self.vectors, parts))


def preconditioner(rows: Rows, plan: SolverPlan, source: BitSource | None, loss: SlopeRule = LOGISTIC) -> Move:
    """Releases the second moment of the rows, and gives the map from gradients and weights to steps that its curvature suggests."""
    if plan.moment is None:
        raise ValueError("the plan has no second moment")
    upper = np.triu_indices(rows.steps.shape[1])
    times = np.where(upper[0] == upper[1], DIAGONAL, OFF_DIAGONAL)
    noisy = plan.noise(plan.moment).release(rows.second_moment()[upper] * times, source)
    unit = float(1 << 2 * plan.lattice_bits)
    matrix = np.zeros((rows.steps.shape[1],) * 2)
    matrix[upper] = noisy / (times * unit)
    deviation = float(plan.moment.parameter("sigma") / Fraction(OFF_DIAGONAL)) / unit
    values, vectors = _eigen(matrix.T)
    floor = loss.floor * 2 * math.sqrt(len(values)) * deviation
    noise = float(plan.gradient.parameter("sigma")) / float(UNIT << plan.lattice_bits) * math.sqrt(plan.steps)
    axes = Axes(np.maximum(values, floor), vectors, floor, noise)
    if loss.bend is None:
        return _constant(axes, loss)
    from learners.solvers.newton import newton_steps

    return newton_steps(axes, plan, loss)


def _constant(axes: Axes, loss: SlopeRule) -> Move:
    """Steps for the largest curvature of a loss, wherever the weights are."""
    least = _CAREFUL * axes.noise if loss.careful else 0.0
    scales = 1.0 / (loss.curvature * np.maximum(axes.values, least))

    def move(slope: NDArray[np.float64], _weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step."""
        return axes.outward((scales * axes.inward(slope).T).T)

    return move


def _eigen(lower: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues and eigenvectors, by one thread: with several their last bits would depend on how many there are."""
    with _threads().limit(limits=1, user_api="blas"):
        values, vectors = np.linalg.eigh(lower, UPLO="L")
    return values, vectors


@cache
def _threads() -> Any:
    """The libraries of linear algebra that are loaded, numpy's among them; finding them takes longer than a small fit."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
