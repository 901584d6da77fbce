"""Quasi-Newton descent: one noisy second moment of the records turns every noisy gradient into a step."""

from __future__ import annotations

import math
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

_CAREFUL: Final = 4.0
"""A careful loss wants no margin of a longest record to move by more than a quarter, by the noise of all its gradients."""


def preconditioner(
    rows: Rows, plan: SolverPlan, source: BitSource | None, loss: SlopeRule = LOGISTIC
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Releases the second moment of the rows, and gives the map from gradients to steps that its curvature suggests."""
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
    if loss.careful:
        noise = float(plan.gradient.parameter("sigma")) / float(UNIT << plan.lattice_bits) * math.sqrt(plan.steps)
        floor = max(floor, _CAREFUL * noise)
    scales = 1.0 / (loss.curvature * np.maximum(values, floor))

    def turn(slope: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step; sums of einsum's own loops, which no number of threads changes."""
        parts = np.einsum("ij,i...->j...", vectors, slope)
        return np.asarray(np.einsum("ij,j...->i...", vectors, (scales * parts.T).T))

    return turn


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
