"""One public map after another, a few records at a time, so that the wide images in between never exist together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from learners.rows.images import PublicMap, map_blocks
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from learners.rows.hadamard import HadamardMap
    from learners.rows.rows import Rows
    from learners.rows.signs import SignMap

_BETWEEN_BITS: Final = 16


@dataclass(frozen=True)
class ProjectedMap:
    """A map and a linear map of its images to fewer columns (Bassily, Mohri, Suresh 2022, Algorithm 3)."""

    first: PublicMap  # map with columns enough for a linear map to save
    second: HadamardMap | SignMap  # linear map that reads as many columns as the first one gives

    @property
    def dimension_out(self) -> int:
        """Columns of the second map."""
        return self.second.dimension_out

    def image_norm(self, feature_norm: Fraction) -> Fraction:
        """Norm of the first images times sqrt(1 + 3 sqrt(2 / k)): three standard deviations above their squared norm."""
        return self.first.image_norm(feature_norm) * usual_growth(self.dimension_out)

    def apply(self, rows: Rows, *, lattice_bits: int = 16, intercept: int = 0) -> Rows:
        """Images as integers, record by record, clipped at `image_norm`."""
        clip = self.image_norm(rows.bound * rows.step)

        def image(part: Rows) -> Rows:
            """Images of a few records."""
            between = self.first.apply(part, lattice_bits=_BETWEEN_BITS, intercept=0)
            return self.second.apply(between, clip=clip, lattice_bits=lattice_bits, intercept=intercept)

        return map_blocks(rows, self.first.dimension_out, image)


def usual_growth(columns: int) -> Fraction:
    """sqrt(1 + 3 sqrt(2 / k)): longer than most images of unit vectors under a random linear map with k columns."""
    return root_above(1 + 3 * root_above(Fraction(2, columns)))
