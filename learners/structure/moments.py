"""The noisy second moment of rows with a constant: number, mean and covariance of the records, all from one release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from learners.solvers.plans import DIAGONAL, OFF_DIAGONAL, mechanism_of
from learners.structure.unlabelled import LATTICE_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.releases import Release
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource


@dataclass(frozen=True, eq=False)
class Moments:
    """What a noisy second moment says, in units of the largest norm."""

    count: float
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


def moment_triangle(rows: Rows) -> NDArray[np.int64]:
    """What is released with noise: the upper triangle, its diagonal times 5 and the rest times 7."""
    upper = np.triu_indices(rows.steps.shape[1])
    return np.asarray(rows.second_moment()[upper] * np.where(upper[0] == upper[1], DIAGONAL, OFF_DIAGONAL))


def release_moments(rows: Rows, release: Release, constant: int, records: int | None, source: BitSource | None) -> Moments:
    """Release the second moment; the number of records is read from it where it is not public."""
    noisy = mechanism_of(release).release(moment_triangle(rows), source)
    width = rows.steps.shape[1]
    upper = np.triu_indices(width)
    matrix = np.zeros((width, width))
    matrix[upper] = noisy / np.where(upper[0] == upper[1], DIAGONAL, OFF_DIAGONAL)
    matrix = matrix + np.triu(matrix, 1).T
    count = max(float(matrix[-1, -1]) / constant**2 if records is None else float(records), 1.0)
    unit = 1 << LATTICE_BITS
    mean = matrix[:-1, -1] / (constant * unit * count)
    return Moments(count, mean, matrix[:-1, :-1] / (unit**2 * count) - np.multiply.outer(mean, mean))
