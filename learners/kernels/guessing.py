"""A public guess of the minimiser's function that is compared with it, question by question, and moved where it is far off."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from learners.kernels.open_run import Answer
from learners.solvers.minimum import IMAGE_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.solvers.minimum import Minimum

MOVED: Final = 2**9
"""A record moves a value by at most so many steps, so that rounding to a step moves it by less than a thousandth of that."""


@dataclass(frozen=True)
class Grid:
    """Values of the minimiser at points as integer steps, and guesses of them on the same steps.

    A record moves an inner product by at most `moves` units, and a step is 1/512 of that: so a value, rounded, by at most `MOVED`
    steps, whatever the kernel, the ridge and the number of records are, and noise in steps has one price for all of them.
    """

    moves: int  # units of weights times images, at least 1
    unit_bits: int  # such a unit is 2**-unit_bits

    def rounded(self, product: int) -> int:
        """An inner product in steps, to the nearest: products no further than `moves` apart are no further than `MOVED` steps."""
        return (2 * product * MOVED + self.moves) // (2 * self.moves)

    def value(self, weights: NDArray[np.int64], image: NDArray[np.int64]) -> int:
        """The inner product in steps."""
        return self.rounded(int(weights @ image))

    def exact(self, steps: int) -> Fraction:
        """Steps in the units of the kernel's function."""
        return Fraction(steps * self.moves, MOVED << self.unit_bits)


def grid_of(found: Minimum) -> Grid:
    """The steps for a minimiser."""
    return Grid(found.sensitivity << IMAGE_BITS, found.weight_bits + IMAGE_BITS)


class Rounds(Protocol):
    """The noise of a run."""

    def difference(self, steps: int) -> int | None:
        """The noisy difference of value and guess where it counts as an update, None for silence."""
        ...


class GuessingTeller:
    """A private minimiser that is compared with a public guess; each of the updates moves the guess by a stride at its point.

    Source: Jain, Thakurta 2013, Algorithm 1.
    """

    __slots__ = ("_grid", "_rounds", "_stride", "_sum", "_weights", "left")

    def __init__(self, weights: NDArray[np.int64], grid: Grid, rounds: Rounds, updates: int, stride: int) -> None:
        self._weights, self._grid, self._rounds, self._stride, self.left = weights, grid, rounds, stride, updates
        self._sum = np.zeros_like(weights)

    @property
    def open(self) -> bool:
        """True if an update is left: without one, silence would have no price."""
        return self.left > 0

    def answer(self, image: NDArray[np.int64]) -> Answer:
        """The guess, or the noisy value that it missed."""
        guess = self._guess(image)
        found = self._rounds.difference(self._grid.value(self._weights, image) - guess)
        if found is None:
            return Answer(self._grid.exact(guess), read=False)
        self._sum += image if found > 0 else -image
        self.left -= 1
        return Answer(self._grid.exact(guess + found), read=True)

    def guess(self, image: NDArray[np.int64]) -> Fraction:
        """The stride times the signed kernels with all points of updates."""
        return self._grid.exact(self._guess(image))

    def _guess(self, image: NDArray[np.int64]) -> int:
        """The guess in steps, to the nearest."""
        return (self._stride * int(self._sum @ image) + (1 << (2 * IMAGE_BITS - 1))) >> (2 * IMAGE_BITS)
