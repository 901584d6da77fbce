"""How far a change of the minimiser moves its values at public points together: a certified bound on the largest eigenvalue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.exact import integer, positive
from learners.rows.rows import as_array
from learners.rows.seeds import PublicBits
from learners.solvers.minimum import IMAGE_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.rows import Rows

_LARGEST_SIDE: Final = 4096
"""Products of more points in more columns are bounded by their trace."""

_ABOVE: Final = 1 + 2.0**-10
_UNIT: Final = 2.0**-53


def largest_eigenvalue(rows: Rows) -> Fraction:
    """A number that no eigenvalue of the kernel's matrix of public points exceeds.

    A float estimate, a little enlarged, is certified by a Cholesky factor: if floats factor (c - e) 1 - K to the end, where e
    covers all their roundings, then c 1 - K is positive definite. If they do not, the trace is the bound.

    Source: Rump 2006, Theorem 2.3 (verification of positive definiteness).
    """
    count, width = rows.steps.shape
    trace = Fraction(count * rows.bound**2, 4**IMAGE_BITS)
    side = min(count, width)
    if side > _LARGEST_SIDE:
        return trace
    if count <= width:  # inner products of all points: integers below 2**53, so that no order of sums rounds
        floats = replace(rows).floats
        matrix = as_array(floats @ floats.T)
    else:
        matrix = rows.second_moment().astype(np.float64)
    # Entries of a second moment beyond 2**53 are rounded once; the error below covers that too.
    vector = np.ones(side)
    for _ in range(30):  # power iteration: its length is only the guess that is certified below
        vector = matrix @ vector
        length = float(np.sqrt(vector @ vector))
        if length == 0:
            return trace
        vector /= length
    for enlarged in (_ABOVE, 1.1, 2.0):  # the tightest that can be certified, as noise grows with its root
        bound = float(np.sqrt(np.square(matrix @ vector).sum())) * enlarged
        error = 4 * (side + 8) * _UNIT * (side * bound + float(np.abs(matrix).sum(axis=1).max()))
        if _positive_definite((bound - error) * np.eye(side) - matrix):
            return min(trace, Fraction(bound) / 4**IMAGE_BITS)
    return trace


@dataclass(kw_only=True, eq=False, repr=False)
class PublicPoints:
    """Parameters that say which public points a learner uses: given ones, or so many evenly spread ones of a public seed."""

    points: Any = None
    point_count: int = 1000
    point_seed: int = 0

    def _public_points(self, public: Public) -> Any:
        """The points that were given, or evenly spread ones."""
        count = integer(self.point_count, "point_count", lower=1)
        if self.points is not None:
            return self.points
        return public_points(public.features, count, public.feature_norm, self.point_seed)


def public_points(columns: int, count: int, feature_norm: Exact, seed: int) -> NDArray[np.float64]:
    """Points spread evenly over the sphere of the largest records, from a public seed."""
    normals = PublicBits(seed, "points of a sphere", columns, count).normals(columns * count).reshape(count, columns)
    lengths = np.sqrt(np.square(normals).sum(axis=1, keepdims=True))
    return np.asarray(normals / np.where(lengths == 0, 1.0, lengths) * float(positive(feature_norm, "feature_norm")))


def _positive_definite(matrix: NDArray[np.float64]) -> bool:
    """True if floats find a Cholesky factor."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
