"""Dense random signs: fewer columns by sums of every column with fair public signs, which CSR never becomes dense for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.exact import Exact, integer
from learners.rows.images import clip_images, require_columns, require_exact
from learners.rows.rows import Rows
from learners.rows.seeds import PublicBits
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RUN: Final = 2**12
_MOST_COLUMNS: Final = 2**40


@dataclass(frozen=True)
class SignMap:
    """x to S x / sqrt(k) with a k x d matrix S of public signs; `sign_map` makes one (Achlioptas 2003)."""

    dimension_in: int  # d, columns of the rows
    dimension_out: int  # k, columns of the images
    seed: int  # public integer

    def image_norm(self, feature_norm: Fraction) -> Fraction:
        """sqrt(d) times the norm of the rows: the most that signs can do, which a `clip` replaces by what they usually do."""
        return root_above(Fraction(self.dimension_in)) * feature_norm

    def apply(self, rows: Rows, *, clip: Exact | None = None, lattice_bits: int = 20, intercept: int = 0) -> Rows:
        """Images as integers, record by record."""
        require_columns(rows, self.dimension_in)
        require_exact(rows, self.dimension_in)
        limit = self.image_norm(rows.bound * rows.step) if clip is None else clip
        unit = rows.step / root_above(Fraction(self.dimension_out))
        return clip_images(self._sums(rows), rows.labels, unit=unit, clip=limit, lattice_bits=lattice_bits, intercept=intercept)

    def transpose(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Weights of the images as weights of the rows: S^T w / sqrt(k)."""
        values = np.asarray(weights, dtype=np.float64)
        # Loops of einsum's own, whose sums no number of threads changes.
        turned = [np.einsum("ij,j...->i...", signs, values) for _, signs in self._runs()]
        return np.asarray(np.concatenate(turned) / math.sqrt(self.dimension_out))

    def _sums(self, rows: Rows) -> NDArray[np.float64]:
        """S x for every row x of integers: exact, as `require_exact` demands."""
        steps: Any = rows.steps if isinstance(rows.steps, np.ndarray) else rows.steps.tocsc()
        sums = np.zeros((rows.steps.shape[0], self.dimension_out))
        for part, signs in self._runs():
            some = steps[:, part]
            if isinstance(some, np.ndarray) or some.nnz:
                sums += some.astype(np.float64) @ signs
        return sums

    def _runs(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """The transpose of S, a few of its rows at a time, each run from a stream of its own."""
        for start in range(0, self.dimension_in, _RUN):
            height = min(_RUN, self.dimension_in - start)
            signs = PublicBits(self.seed, "signs", self.dimension_out, start).signs(height * self.dimension_out)
            yield slice(start, start + height), signs.reshape(height, self.dimension_out).astype(np.float64)


def sign_map(*, dimension_in: int, dimension_out: int, seed: int) -> SignMap:
    """The map of public signs, which keeps inner products up to about sqrt(2 / dimension_out) (Achlioptas 2003, Theorem 1.1)."""
    return SignMap(
        integer(dimension_in, "dimension_in", lower=1, upper=_MOST_COLUMNS),
        integer(dimension_out, "dimension_out", lower=1, upper=_MOST_COLUMNS),
        integer(seed, "seed", lower=0),
    )
