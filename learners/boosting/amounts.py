"""How much of each form is in the shapes: what noisy pulls say, and what is likely beforehand in columns of that strength."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EVERY: Final = 4
"""After so many rounds each, the strengths of columns are found again."""

_WEIGHT: Final = 4.0
"""A strength of 1 is as likely beforehand as if so many forms had shown it."""

_LEAST, _MOST = 0.01, 4.0
_STEPS: Final = 30


@dataclass(frozen=True, eq=False)
class Amounts:
    """A state between rounds. All arrays have a row for each form of each column, or each column, and a column for each score."""

    bends: NDArray[np.float64]  # how far pulls change with amounts
    variance: float  # of the noise in the pulls of one round
    starts: NDArray[np.int64]  # the first form of each column
    planned: int  # rounds
    held: NDArray[np.float64]  # how much of each form the shapes hold
    seen: NDArray[np.float64]  # the sum over rounds of what pulls would be if shapes held nothing
    strengths: NDArray[np.float64]  # of columns: the variance of the amounts, about 1
    rounds: int = 0

    @classmethod
    def none(cls, bends: NDArray[np.float64], widths: Sequence[int], deviation: float, planned: int) -> Self:
        """Before the first round."""
        nothing, starts = np.zeros_like(bends), np.concatenate([[0], np.cumsum(widths)[:-1]])
        return cls(bends, deviation**2, starts, planned, nothing, nothing, np.ones((len(widths), bends.shape[1])))

    def after(self, pulls: NDArray[np.float64], pace: float) -> Self:
        """After a round: go a part of the way to the best guess by pulls as noisy as the mean over all rounds will be."""
        # Pulls are bends x (best amounts - held) + noise; the best amounts of a column are normal, its strength their variance.
        inverse = 1 / self._spread(self.strengths)
        noise = self.variance / self.planned
        step = (self.bends * pulls - noise * inverse * self.held) / (np.square(self.bends) + noise * inverse)
        seen, rounds = self.seen + pulls + self.bends * self.held, self.rounds + 1
        found = replace(self, held=self.held + pace * step, seen=seen, rounds=rounds)
        return found if rounds % _EVERY else replace(found, strengths=found.likely_strengths())

    def likely_strengths(self) -> NDArray[np.float64]:
        """The strengths for which what was seen is likely, found by expectation and maximization."""
        mean, noise, strengths = self.seen / self.rounds, self.variance / self.rounds, self.strengths
        widths = np.diff([*self.starts.tolist(), len(self.bends)])[:, np.newaxis]
        for _ in range(_STEPS):
            spread = self._spread(strengths)
            certain = np.square(self.bends) * spread + noise
            squares = np.square(spread * self.bends * mean / certain) + spread * noise / certain
            strengths = (np.add.reduceat(squares, self.starts, axis=0) + _WEIGHT) / (widths + _WEIGHT)
        return np.clip(strengths, _LEAST, _MOST)

    def _spread(self, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Strengths of columns, for each of their forms."""
        return np.repeat(strengths, np.diff([*self.starts.tolist(), len(self.bends)]), axis=0)
