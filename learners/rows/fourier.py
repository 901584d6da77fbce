"""Random Fourier features: cosine and sine of public random frequencies, from exact phases and a table of integers.

The phase of a record is an exact inner product of integers, reduced to one of 2**14 parts of a turn; its cosine and its sine
are looked up. So an image depends on its record alone, bit for bit, and its norm is at most 1 in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from flint import arb, fmpq

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, positive, working_precision
from learners.rows.hadamard import hadamard_transform, next_power
from learners.rows.images import dense, map_blocks, require_columns
from learners.rows.rows import Rows, row_bound
from learners.rows.seeds import PublicBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

PHASE_BITS: Final = 64
"""Phases are integers of 2**-64 turns, and what exceeds a turn is lost, as it should be."""

_PART_BITS: Final = 14
_PARTS: Final = 2**_PART_BITS
_TABLE_BITS: Final = 128
_NORMAL_BITS: Final = 10
_PRODUCT_BITS: Final = 52
_MOST_FREQUENCIES: Final = 2**24


class Frequencies(Protocol):
    """Public frequencies: what turns records into phases."""

    @property
    def dimension_in(self) -> int:
        """Columns of the rows."""
        ...

    @property
    def count(self) -> int:
        """Number of phases of a record."""
        ...

    def phases(self, step: Fraction, bound: int) -> Callable[[Rows], NDArray[np.uint64]]:
        """For rows of this step and bound: what gives their phases, (n, count) integers of 2**-64 turns, record by record."""
        ...


Kernel = Callable[[int, int, int], "NDArray[np.float64]"]
"""Frequencies of a shift-invariant kernel: (columns, count, seed) to an array of shape (columns, count), independent columns from
the kernel's spectral law in radians per unit of the features, a function of these three public numbers alone."""


@dataclass(frozen=True)
class GaussianKernel:
    """exp(-|x - y|^2 / (2 width^2)), whose frequencies are normal (Rahimi, Recht 2007)."""

    width: Exact  # public, exact, positive, in the units of the features

    def __post_init__(self) -> None:
        """Read the width."""
        object.__setattr__(self, "width", positive(self.width, "width"))

    def __call__(self, columns: int, count: int, seed: int) -> NDArray[np.float64]:
        """Normal numbers over the width."""
        normals = PublicBits(seed, "gaussian kernel", columns, count).normals(columns * count)
        return normals.reshape(columns, count) / float(self.width)


@dataclass(frozen=True)
class LaplacianKernel:
    """exp(-|x - y|_1 / width), whose frequencies are Cauchy in every column (Rahimi, Recht 2007)."""

    width: Exact  # public, exact, positive, in the units of the features

    def __post_init__(self) -> None:
        """Read the width."""
        object.__setattr__(self, "width", positive(self.width, "width"))

    def __call__(self, columns: int, count: int, seed: int) -> NDArray[np.float64]:
        """Ratios of normal numbers over the width; a zero below the line, one in 2**41, counts as one step."""
        above, below = PublicBits(seed, "laplacian kernel", columns, count).normals(2 * columns * count).reshape(2, columns, count)
        return np.asarray(above / np.where(below == 0, 2.0**-40, below) / float(self.width))


@dataclass(frozen=True)
class DrawnFrequencies:
    """Frequencies drawn one by one from the spectral law of a kernel (Rahimi, Recht 2007)."""

    dimension_in: int  # columns of the rows
    count: int  # how many frequencies
    kernel: Kernel  # their law, such as `GaussianKernel`
    seed: int  # public integer

    def phases(self, step: Fraction, bound: int) -> Callable[[Rows], NDArray[np.uint64]]:
        """Inner products with frequencies on a lattice of whole parts of a turn per step, one exact matrix product a block."""
        # |frequency| <= sqrt(d) 2**(bits - 1) and |row| <= bound: every partial sum of a phase is below 2**52, so floats are exact.
        bits = _PRODUCT_BITS + 1 - (bound * (math.isqrt(self.dimension_in) + 1)).bit_length()
        if bits < _PART_BITS:
            raise InvalidArgument("DPA108", "phases of these rows would not be exact. Use a coarser lattice.")
        drawn = np.asarray(self.kernel(self.dimension_in, self.count, self.seed), dtype=np.float64)
        if drawn.shape != (self.dimension_in, self.count) or not np.isfinite(drawn).all():
            raise InvalidArgument(
                "DPA105", f"a kernel gives finite frequencies of shape {(self.dimension_in, self.count)}, got shape {drawn.shape}."
            )
        turns = drawn * (float(step) / math.tau * 2.0**bits)
        lattice = np.rint(turns)
        lattice -= np.ldexp(np.rint(np.ldexp(lattice, -bits)), bits)  # whole turns per step change no phase

        def phases(rows: Rows) -> NDArray[np.uint64]:
            """Phases of a few records."""
            steps: Any = rows.steps
            turned = np.asarray(steps.astype(np.float64) @ lattice)
            return turned.astype(np.int64).view(np.uint64) << np.uint64(PHASE_BITS - bits)

        return phases


@dataclass(frozen=True)
class FastfoodFrequencies:
    """Frequencies S H G P H B / (|G| sqrt(d') width) in stacks of d', the power of two that columns are filled up to.

    B are public signs, P is a permutation, G are normal numbers, H is the Hadamard matrix of signs, and S are lengths of normal
    vectors. Every sum is taken modulo one turn, where integers of 64 bits are exact whatever overflows.

    Source: Le, Sarlos, Smola 2013.
    """

    dimension_in: int  # columns of the rows
    count: int  # how many frequencies
    width: Fraction  # of the Gaussian kernel, in the units of the features
    seed: int  # public integer

    def phases(self, step: Fraction, bound: int) -> Callable[[Rows], NDArray[np.uint64]]:  # noqa: ARG002 - exact for any bound
        """Products with the factors, one after the other, modulo one turn."""
        columns = next_power(self.dimension_in)
        stacks = [self._stack(columns, step, place) for place in range(-(-self.count // columns))]

        def phases(rows: Rows) -> NDArray[np.uint64]:
            """Phases of a few records."""
            filled = np.zeros((rows.steps.shape[0], columns), dtype=np.int64)
            filled[:, : self.dimension_in] = dense(rows, np.int64)
            turned = [hadamard_transform(hadamard_transform(filled * b)[:, p] * g) * s for b, p, g, s in stacks]
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


@dataclass(frozen=True)
class FourierMap:
    """x to the cosines and sines of its phases over sqrt(count); `fourier_map` makes one (Rahimi, Recht 2007)."""

    frequencies: Frequencies  # what gives the phases

    @property
    def dimension_out(self) -> int:
        """Twice the number of frequencies: all cosines come first, then the sines."""
        return 2 * self.frequencies.count

    def image_norm(self, feature_norm: Fraction) -> Fraction:  # noqa: ARG002 - whatever the record
        """1, for every record."""
        return Fraction(1)

    def apply(self, rows: Rows, *, lattice_bits: int = 16, intercept: int = 0) -> Rows:
        """Images as integers, record by record; the values looked up keep each norm at most 1, so nothing is clipped."""
        require_columns(rows, self.frequencies.dimension_in)
        bits = integer(lattice_bits, "lattice_bits", lower=1, upper=26)
        constant = integer(intercept, "intercept", lower=0, upper=2**26)
        count, phases = self.frequencies.count, self.frequencies.phases(rows.step, rows.bound)
        cosines = _cosines(bits, count)
        sines = np.roll(cosines, _PARTS // 4)

        def image(part: Rows) -> Rows:
            """Images of a few records."""
            places = phases(part) >> np.uint64(PHASE_BITS - _PART_BITS)
            steps = np.empty((len(places), 2 * count + (constant > 0)), dtype=np.int32)
            steps[:, :count], steps[:, count : 2 * count], steps[:, 2 * count :] = cosines[places], sines[places], constant
            return Rows(steps, row_bound(bits, constant), Fraction(1, 2**bits), part.labels)

        return map_blocks(rows, count, image)


def fourier_map(*, dimension_in: int, frequencies: int, kernel: Kernel, seed: int) -> FourierMap:
    """Features whose inner products are a kernel within about 1 / sqrt(frequencies) (Rahimi, Recht 2007, Algorithm 1)."""
    columns = integer(dimension_in, "dimension_in", lower=1)
    count = integer(frequencies, "frequencies", lower=1, upper=_MOST_FREQUENCIES)
    return FourierMap(DrawnFrequencies(columns, count, kernel, integer(seed, "seed", lower=0)))


def fastfood_map(*, dimension_in: int, frequencies: int, width: Exact, seed: int) -> FourierMap:
    """Fourier features of the Gaussian kernel, with O(frequencies) memory and O(log d) operations each (Le, Sarlos, Smola 2013)."""
    columns = integer(dimension_in, "dimension_in", lower=1, upper=_MOST_FREQUENCIES)
    count = integer(frequencies, "frequencies", lower=1, upper=_MOST_FREQUENCIES)
    return FourierMap(FastfoodFrequencies(columns, count, positive(width, "width"), integer(seed, "seed", lower=0)))


def pairwise_error(*, records: int, frequencies: int, beta: Exact) -> float:
    """Bound how far all inner products of so many records are from the kernel, but for a public map in a fraction `beta` of them.

    Source: Hoeffding 1963; Bassily, Mohri, Suresh 2022, Theorem 4.1.
    """
    count, drawn = integer(records, "records", lower=1), integer(frequencies, "frequencies", lower=1)
    failure = in_range(beta, "beta", lower=0, upper=1, lower_open=True, upper_open=True)
    with working_precision(_TABLE_BITS):
        bound = ((arb(count**2) / arb(fmpq(failure.numerator, failure.denominator))).log() * 2 / drawn).sqrt()
        return math.nextafter(float(bound.upper()), math.inf)


@lru_cache(maxsize=8)  # 64 kilobytes each, from 4,096 balls; every fit and every prediction with a map reads one
def _cosines(bits: int, count: int) -> NDArray[np.int32]:
    """2**bits / sqrt(count) times the cosine in the middle of every part of a turn, truncated toward zero: exact, by balls."""
    with working_precision(_TABLE_BITS):
        size = (arb(4**bits) / count).sqrt()
        first = np.array([_floor(size * arb(fmpq(2 * part + 1, _PARTS)).cos_pi()) for part in range(_PARTS // 4)], dtype=np.int32)
    cosines = np.concatenate([first, -first[::-1], -first, first[::-1]])
    cosines.flags.writeable = False
    return cosines


def _floor(value: arb) -> int:
    """The integer part of a number whose square is irrational."""
    whole = value.floor().unique_fmpz()
    if whole is None:
        raise AssertionError("an entry of the table of cosines is indistinguishable from an integer at 128 bits")
    return int(whole)
