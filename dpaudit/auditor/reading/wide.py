"""Wide outputs: measures of all their numbers together, and scores and pairs of them that a screening has found worth a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.leaves import LARGEST
from dpaudit.auditor.reading.outputs import Matrix

Floats: TypeAlias = NDArray[np.float64]

FARTHEST: Final = 6.0
"""Standardised numbers are cut here, so that one wild number does not outweigh thousands in a score."""

NORMS: Final[dict[str, Callable[[Matrix], NDArray[Any]]]] = {
    "L1 norm": lambda values: np.abs(values).sum(axis=1),
    "L2 norm": lambda values: np.sqrt(np.einsum("ij,ij->i", values, values)),
    "largest size": lambda values: np.abs(values).max(axis=1),
    "smallest": lambda values: values.min(axis=1),
    "position of smallest": lambda values: values.argmin(axis=1),
    "deviation": lambda values: values.std(axis=1),
    "numbers other than 0": lambda values: np.count_nonzero(values, axis=1),
    "different numbers": lambda values: 1 + np.count_nonzero(np.diff(np.sort(values, axis=1), axis=1), axis=1),
    "ascents": lambda values: np.count_nonzero(values[:, 1:] > values[:, :-1], axis=1),
}
"""Measures of the numbers of an output, by name; ascents are numbers larger than the one before."""

_BLOCK: Final = 2**18
"""Numbers that are standardised at a time: as many as a cache holds."""


@dataclass(frozen=True)
class Couple:
    """Two numbers of an output, by position, whose "difference", "sum" or "product" is a column."""

    first: int
    second: int
    kind: str

    def of(self, values: Matrix, lens: Lens) -> Floats:
        """Compute the column; the product is of standardised numbers."""
        one, other = values[:, self.first], values[:, self.second]
        if self.kind == "product":
            places = np.array([self.first, self.second])
            return np.asarray(np.prod(standardised(values[:, places], lens.centre[places], lens.scale[places]), axis=1))
        return np.nan_to_num(other - one if self.kind == "difference" else one + other)


@dataclass(frozen=True, eq=False)
class Lens:
    """What a screening has found: weights of standardised numbers and of their squares, one for each place, and couples.

    Weights are None where nothing spoke for a score of that kind; `centre` and `scale` standardise.
    """

    centre: Floats
    scale: Floats
    linear: Floats | None = None
    square: Floats | None = None
    couples: tuple[Couple, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores."""
        found = (("learned score", self.linear), ("learned score of squares", self.square))
        return tuple(name for name, weights in found if weights is not None)

    def scores(self, values: Matrix) -> list[Callable[[], Floats]]:
        """Return a function for each score, which computes it."""
        given = ((self.linear, 1), (self.square, 2))
        return [partial(self._score, values, weights, power) for weights, power in given if weights is not None]

    def moved(self, places: Sequence[int], width: int) -> Lens:
        """Return the lens for outputs of more places, where the known ones have moved to `places`; others have no weight."""

        def moved(weights: Floats | None, fill: float = 0.0) -> Floats | None:
            if weights is None:
                return None
            wider = np.full(width, fill)
            wider[list(places)] = weights
            return wider

        centre, scale = moved(self.centre), moved(self.scale, 1.0)
        assert centre is not None, "given"  # noqa: S101
        assert scale is not None, "given"  # noqa: S101
        couples = tuple(Couple(places[one.first], places[one.second], one.kind) for one in self.couples)
        return Lens(centre, scale, moved(self.linear), moved(self.square), couples)

    def _score(self, values: Matrix, weights: Floats, power: int) -> Floats:
        """Sum up weighted powers of the standardised numbers with a weight, row by row."""
        used = np.flatnonzero(weights)
        every = used.size == weights.size
        # Not by a matrix product: its rounding of one row would depend on how many others there are.
        found, step = np.zeros(len(values)), max(1, _BLOCK // max(1, used.size))
        for start in range(0, len(values), step):
            part = values[start : start + step]
            part = standardised(part if every else part[:, used], self.centre[used], self.scale[used])
            found[start : start + step] = np.einsum("ij,j->i", part * part if power == 2 else part, weights[used])
        return found


def standardised(values: Matrix, centre: Floats, scale: Floats) -> Matrix:
    """Centre and scale numbers, cut what is far out, and put missing ones at the centre."""
    found = (values - centre) / scale
    np.clip(found, -FARTHEST, FARTHEST, out=found)
    np.nan_to_num(found, copy=False)
    return found


def norms(values: Matrix, places: slice) -> Matrix | float:
    """Compute the measures that stand at `places`; zero where there are no numbers."""
    if values.shape[1] == 0:
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.column_stack([measure(values) for measure in list(NORMS.values())[places]])
    return np.clip(np.nan_to_num(found.astype(np.float64), nan=LARGEST), -LARGEST, LARGEST)
