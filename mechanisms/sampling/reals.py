"""Random real numbers of which no more is revealed than is asked for: normal ones by cells, uniform ones by digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact import working_precision
from mechanisms.sampling.envelope import EnvelopeTable
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.kernel import draw
from mechanisms.sampling.limits import require_sizes
from mechanisms.sampling.random import BitSource

DEEPEST: Final = 4096
"""Numbers of which this many bits do not suffice are refused; that has probability 2**-4000."""


@dataclass(frozen=True)
class Revealing:
    """The share of a random number that is revealed at once, without influence on its law; small sizes make refinement common.

    Args:
      normal_bits: normal numbers are first known to the nearest multiple of 2**-normal_bits, 0 to 56.
      uniform_bits: first digits of uniform numbers, 1 to 64.
      step: further digits of uniform numbers whenever some are wanted, 1 to 64.
    """

    normal_bits: int = 56
    uniform_bits: int = 64
    step: int = 64

    def __post_init__(self) -> None:
        require_sizes(self, normal_bits=(0, 56), uniform_bits=(1, 64), step=(1, 64))


SHIPPED: Final = Revealing()
"""The sizes that mechanisms draw with."""


@dataclass(frozen=True)
class Cell:
    """The interval in which a real number is known to lie: within 2**-bits of centre * 2**-bits."""

    centre: int
    bits: int

    @classmethod
    def around(cls, nearest: int, bits: int) -> Cell:
        """The numbers whose nearest multiple of 2**-bits is nearest * 2**-bits."""
        return cls(2 * nearest, bits + 1)

    def half(self, *, right: bool) -> Cell:
        """One half of the cell."""
        if self.bits >= DEEPEST:
            raise Unsupported("DPA202", f"a random number is not known well enough after {self.bits} bits. Draw again.")
        return Cell(2 * self.centre + (1 if right else -1), self.bits + 1)

    def ball(self) -> arb:
        """The cell as a ball, exactly where the working precision holds its centre."""
        return arb((self.centre, -self.bits), (1, -self.bits))


class DrawnReals:
    """Independent standard normal and uniform real numbers, each with a position, drawn from a bit source as they are revealed.

    Args:
      source: where the random bits come from.
      cells: the rounded Gaussian of deviation 2**normal_bits, which gives the first cells of normal numbers.
      revealing: how much is revealed at once.
    """

    __slots__ = ("_cells", "_source", "revealing")

    def __init__(self, source: BitSource, cells: EnvelopeTable, revealing: Revealing = SHIPPED) -> None:
        self._source, self._cells = source, cells
        self.revealing = revealing

    def normals(self, count: int) -> NDArray[np.int64]:
        """New normal numbers, each as its nearest multiple of 2**-normal_bits, in that unit: draws of the rounded Gaussian."""
        return draw(self._cells, self._source, count)

    def uniforms(self, count: int) -> NDArray[np.uint64]:
        """New uniform numbers in [0, 1): of each the first `uniform_bits` digits."""
        digits: NDArray[np.uint64] = self._source.uniform(self.revealing.uniform_bits, count).astype(np.uint64, copy=False)
        return digits

    def half(self, cell: Cell, position: int) -> Cell:  # noqa: ARG002 - a drawn number has no other memory than its cell
        """The half of its cell in which the normal number at a position lies; each half has its share of the cell's probability."""
        step = self.revealing.step
        return cell.half(right=not LazyUniform(self._source, step, step).less(lambda _: left_share(cell)))

    def digits(self, positions: range, known: int) -> list[int]:
        """The next `step` digits of the uniform numbers at some positions, of which `known` digits were revealed."""
        if known >= DEEPEST:
            raise Unsupported("DPA202", f"a random number is not known well enough after {known} bits. Draw again.")
        further: list[int] = self._source.uniform(self.revealing.step, len(positions)).tolist()
        return further


def left_share(cell: Cell) -> arb:
    """Ball around the share of a cell's standard normal probability that lies in its left half."""
    if cell.centre < 0:
        return 1 - left_share(Cell(-cell.centre, cell.bits))
    if cell.centre == 0:
        return arb(1) / 2
    # Right of 0 the complementary error function keeps its relative accuracy; the differences lose as many bits as the cell has.
    with working_precision(ctx.prec + cell.bits + 32):
        unit = arb((1, -cell.bits)) / arb(2).sqrt()
        left, middle, right = (((cell.centre + side) * unit).erfc() for side in (-1, 0, 1))
        return (left - middle) / (left - right)
