"""Fastfood: frequencies of the Gaussian kernel as products of Hadamard matrices, in O(log d) operations each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.exact import Exact, integer, positive
from learners.rows.fourier import PHASE_BITS, FourierMap
from learners.rows.hadamard import next_power, transformed
from learners.rows.images import dense
from learners.rows.seeds import PublicBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows

_NORMAL_BITS: Final = 10
_MOST_COLUMNS: Final = 2**24


@dataclass(frozen=True)
class FastfoodFrequencies:
    """Frequencies S H G P H B / (|G| sqrt(d') width) in stacks of d', the power of two that columns are filled up to.

    B are public signs, P is a permutation, G are normal numbers, H is the Hadamard matrix of signs, and S are lengths of normal
    vectors. Every sum is taken modulo one turn, where integers of 64 bits are exact whatever overflows.

    Args:
      dimension_in: columns of the rows.
      count: how many frequencies.
      width: of the Gaussian kernel, in the units of the features.
      seed: public integer.
    Source: Le, Sarlos, Smola 2013.
    """

    dimension_in: int
    count: int
    width: Fraction
    seed: int

    def phases(self, step: Fraction, bound: int) -> Callable[[Rows], NDArray[np.uint64]]:  # noqa: ARG002 - exact for any bound
        """Products with the factors, one after the other, modulo one turn."""
        columns = next_power(self.dimension_in)
        stacks = [self._stack(columns, step, place) for place in range(-(-self.count // columns))]

        def phases(rows: Rows) -> NDArray[np.uint64]:
            """Phases of a few records."""
            filled = np.zeros((rows.steps.shape[0], columns), dtype=np.int64)
            filled[:, : self.dimension_in] = dense(rows, np.int64)
            turned = [transformed(transformed(filled * b)[:, p] * g) * s for b, p, g, s in stacks]
            return np.concatenate(turned, axis=1)[:, : self.count].view(np.uint64)

        return phases

    def _stack(self, columns: int, step: Fraction, place: int) -> tuple[NDArray[Any], ...]:
        """The factors B, P, G and S of a stack, the last in 2**-64 turns per step and unit of what it is multiplied by."""
        # Lengths of normal vectors by Wilson and Hilferty: cubes of normal numbers are nearly chi-squared.
        stream = PublicBits(self.seed, "fastfood", self.dimension_in, place)
        signs, order = stream.signs(columns), stream.order(columns)
        normals = np.rint(np.ldexp(stream.normals(columns), _NORMAL_BITS)).astype(np.int64)
        spread = 2 / (9 * columns)
        roots = np.maximum(1 - spread + stream.normals(columns) * math.sqrt(spread), 0)
        lengths = np.sqrt(roots * roots * roots)  # over sqrt(d')
        turns = lengths * (float(step / self.width) / math.tau / math.sqrt(max(1, int(normals @ normals))))
        return signs, order, normals, np.rint(np.ldexp(turns - np.rint(turns), PHASE_BITS - 2)).astype(np.int64) << 2


def fastfood_map(*, dimension_in: int, frequencies: int, width: Exact, seed: int) -> FourierMap:
    """Fourier features of the Gaussian kernel, with O(frequencies) memory and O(log d) operations each (Le, Sarlos, Smola 2013)."""
    columns = integer(dimension_in, "dimension_in", lower=1, upper=_MOST_COLUMNS)
    count = integer(frequencies, "frequencies", lower=1, upper=_MOST_COLUMNS)
    return FourierMap(FastfoodFrequencies(columns, count, positive(width, "width"), integer(seed, "seed", lower=0)))
