"""Public ranges of columns: every entry is cut to its column's range and becomes a number from -1 to 1, by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import kind_of, rational

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST: Final = Fraction(2) ** 500
_WRITE: Final = "Write one pair (low, high) for each column in their order, such as feature_ranges=[(17, 90), (0, 99999)]."


@dataclass(frozen=True, eq=False)
class Ranges:
    """Centres of the ranges and half of their lengths, in the units of the columns."""

    centres: NDArray[np.float64]
    halves: NDArray[np.float64]

    def scale(self, features: Any) -> NDArray[np.float64]:
        """Entries as parts of half their range from its centre, cut to -1 and 1; what is not a number stays so."""
        require_dense(features)
        with np.errstate(all="ignore"):
            moved = (features.astype(np.float64) - self.centres) / self.halves
        return np.asarray(np.clip(moved, -1.0, 1.0))


def require_dense(features: Any) -> None:
    """DPA604 for a sparse matrix, by its type."""
    if not isinstance(features, np.ndarray):
        raise Unsupported("DPA604", "feature_ranges move zeros, so a sparse matrix would not stay sparse. Scale its columns.")


def read_ranges(given: Any, columns: int) -> Ranges:
    """Public ranges, one for each column, refused unless each is a pair of finite numbers in increasing order."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, (Sequence, np.ndarray)):
        raise InvalidArgument("DPA105", f"feature_ranges must be a sequence of pairs, got {kind_of(given)}. {_WRITE}")
    if len(given) != columns:
        raise InvalidArgument(
            "DPA103", f"feature_ranges must name {columns} ranges, one for each column, got {len(given)}. {_WRITE}"
        )
    pairs = []
    for place, pair in enumerate(given):
        if isinstance(pair, (str, bytes)) or not isinstance(pair, (Sequence, np.ndarray)) or len(pair) != 2:
            raise InvalidArgument("DPA105", f"the range of column {place} must be a pair, got {kind_of(pair)}. {_WRITE}")
        low, high = (rational(cast("Any", end), f"an end of the range of column {place}") for end in pair)
        if low >= high:
            raise InvalidArgument(
                "DPA103", f"the range of column {place} must end above its beginning, got {low} to {high}. {_WRITE}"
            )
        if max(abs(low), abs(high)) > _LARGEST or high - low < 1 / _LARGEST:
            raise InvalidArgument("DPA103", f"the range of column {place} is too wide or too narrow for floats. {_WRITE}")
        pairs.append((float((low + high) / 2), float((high - low) / 2)))
    ends = np.array(pairs)
    return Ranges(ends[:, 0], ends[:, 1])
