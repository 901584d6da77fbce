"""Quasi-Newton descent: one noisy second moment of the records turns every noisy gradient into a step."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from learners.solvers.newton import Axes, newton_steps, normal_model
from learners.solvers.plans import DIAGONAL, OFF_DIAGONAL
from learners.solvers.slopes import LOGISTIC, UNIT, SlopeRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from learners.solvers.newton import Move
    from learners.solvers.plans import SolverPlan
    from mechanisms.sampling.random import BitSource

_CAREFUL: Final = 4.0
"""A careful loss wants no margin of a longest record to move by more than a quarter, by the noise of all its gradients."""


def preconditioner(rows: Rows, plan: SolverPlan, source: BitSource | None, loss: SlopeRule = LOGISTIC) -> Move:
    """Releases the second moment of the rows, and gives the map from gradients and weights to steps that its curvature suggests."""
    axes = release_axes(rows, plan, source, loss)
    return _constant(axes, loss) if loss.bend is None else newton_steps(normal_model(axes, plan, loss), loss)


def release_axes(rows: Rows, plan: SolverPlan, source: BitSource | None, loss: SlopeRule) -> Axes:
    """Releases the second moment of the rows: its axes."""
    if plan.moment is None:
        raise ValueError("the plan has no second moment")
    upper = np.triu_indices(rows.steps.shape[1])
    times = np.where(upper[0] == upper[1], DIAGONAL, OFF_DIAGONAL)
    noisy = plan.noise(plan.moment).release(rows.second_moment()[upper] * times, source)
    unit = float(1 << 2 * plan.lattice_bits)
    matrix = np.zeros((rows.steps.shape[1],) * 2)
    matrix[upper] = noisy / (times * unit)
    deviation = float(plan.moment.parameter("sigma") / Fraction(OFF_DIAGONAL)) / unit
    values, vectors = eigen(matrix.T)
    floor = loss.floor * 2 * math.sqrt(len(values)) * deviation
    noise = float(plan.gradient.parameter("sigma")) / float(UNIT << plan.lattice_bits) * math.sqrt(plan.steps)
    return Axes(np.maximum(values, floor), vectors, noise)


def _constant(axes: Axes, loss: SlopeRule) -> Move:
    """Steps for the largest curvature of a loss, wherever the weights are."""
    least = _CAREFUL * axes.noise if loss.careful else 0.0
    scales = 1.0 / (loss.curvature * np.maximum(axes.values, least))

    def move(slope: NDArray[np.float64], _weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step."""
        return axes.outward((scales * axes.inward(slope).T).T)

    return move


def eigen(lower: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues and eigenvectors, by one thread."""
    with in_one_thread():
        values, vectors = np.linalg.eigh(lower, UPLO="L")
    return values, vectors


def in_one_thread() -> Any:
    """Linear algebra inside the block runs in one thread: with several its last bits would depend on how many there are."""
    return _threads().limit(limits=1, user_api="blas")


@cache
def _threads() -> Any:
    """The libraries of linear algebra that are loaded, numpy's among them; finding them takes longer than a small fit."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
