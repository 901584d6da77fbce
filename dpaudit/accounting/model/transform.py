"""A Fourier transform whose rounding error is a theorem: additions, subtractions and products of doubles, nothing else.

Radix-4 passes on separate real and imaginary arrays, rows of one matrix, then its columns (the four-step scheme). The roots
of unity come from ball arithmetic. docs/engines.md, theorem on the transform, has the proof of `error_constant`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from flint import arb, fmpq

from dpaudit.exact import float_outward, working_precision

UNIT: Final = Fraction(1, 1 << 53)  # Largest relative error of one addition or product of doubles
# At least the square root of 5: a complex product of doubles is off by at most this many units (Brent, Percival, Zimmermann).
ROOT_FIVE: Final = Fraction(2237, 1000)
SMALLEST: Final = 2.0**-1000  # More than everything that underflow can change in one transform; positive masses are never below it
CHUNK: Final = 1 << 15  # Doubles that are worked on at a time
Reals: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]  # An array of doubles
Complexes: TypeAlias = tuple[Reals, Reals]  # Real and imaginary parts


@lru_cache(maxsize=64)
def error_constant(size: int) -> float:
    """E such that every output of `transform` is off by at most E times the sum of the absolute inputs."""
    bits = size.bit_length() - 1
    halves = (bits // 2, bits - bits // 2)
    passes = sum((half + 1) // 2 for half in halves)
    table = Fraction(708, 1000) * UNIT  # distance of a tabulated root from the true one
    twice = 2 * table + table**2 + ROOT_FIVE * UNIT * (1 + table) ** 2  # of a product of two tabulated roots
    once = ROOT_FIVE * UNIT * (1 + table) + table
    middle = ROOT_FIVE * UNIT * (1 + twice) + twice
    return float_outward((1 + UNIT) ** bits * (1 + once) ** passes * (1 + middle) - 1, up=True)


@lru_cache(maxsize=1)
def is_standard() -> bool:
    """True if operations on arrays round to nearest, ties to even, and keep subnormal numbers, by seven test values."""
    one, tiny, tenth = np.full(8, 1.0), np.full(8, 2.0**-1022), np.full(8, 0.1)
    half = 2.0**-53
    found = (
        one + half,
        one + 3 * half,
        one - half / 2,
        one * (1 + 2.0**-30) * (1 + 2.0**-30),
        tiny * 0.5,
        tenth * 3,
        np.sqrt(one * 2),
    )
    expected = (1.0, 1 + 4 * half, 1.0, 1 + 2.0**-29, 2.0**-1023, 0.30000000000000004, 1.4142135623730951)
    return all(bool((values == value).all()) for values, value in zip(found, expected, strict=True))


def transform(values: Complexes) -> Complexes:
    """Sum over n of value[n] exp(-2 pi i n w/N) for every w, N a power of two of at least 4."""
    size = values[0].size
    rows = 1 << ((size.bit_length() - 1) // 2)
    columns = size // rows
    matrix = values[0].reshape(rows, columns), values[1].reshape(rows, columns)
    turned = np.empty((columns, rows)), np.empty((columns, rows))
    for chunk in _chunks(columns, rows):
        inner = _down_the_columns((matrix[0][:, chunk], matrix[1][:, chunk]))
        twisted = product(inner, _twists(rows, columns, chunk))
        turned[0][chunk], turned[1][chunk] = twisted[0].T, twisted[1].T
    result = np.empty((columns, rows)), np.empty((columns, rows))
    for chunk in _chunks(rows, columns):
        result[0][:, chunk], result[1][:, chunk] = _down_the_columns((turned[0][:, chunk], turned[1][:, chunk]))
    return result[0].reshape(size), result[1].reshape(size)


def _chunks(columns: int, rows: int) -> list[slice]:
    """Slices of columns that fit into the fast memory of a processor; their number changes the time, not the result."""
    width = max(1, CHUNK // rows)
    return [slice(start, min(start + width, columns)) for start in range(0, columns, width)]


def inverse(values: Complexes) -> Complexes:
    """The inverse transform: conjugate, transform, conjugate, divide by N, which is a power of two."""
    size = values[0].size
    real, imaginary = transform((values[0], -values[1]))
    return real / size, imaginary / -size


def _down_the_columns(values: Complexes) -> Complexes:
    """The transform of every column: Stockham passes of radix 4 and one of radix 2 where the length asks for it."""
    length, width = values[0].shape
    stride, rest = width, length
    real, imaginary = np.ascontiguousarray(values[0]), np.ascontiguousarray(values[1])
    while rest > 1:
        radix = 2 if rest.bit_length() % 2 == 0 else 4
        rest //= radix
        shape = (radix, rest, stride)
        parts = _butterflies((real.reshape(shape), imaginary.reshape(shape)), rest)
        real, imaginary = parts
        stride *= radix
    return real.reshape(length, width), imaginary.reshape(length, width)


def _butterflies(values: Complexes, rest: int) -> Complexes:
    """One pass: short transforms over the first axis, turned by their twiddle factors; result axes (rest, radix, stride)."""
    real, imaginary = values
    radix, _, stride = real.shape
    out = np.empty((rest, radix, stride)), np.empty((rest, radix, stride))
    if radix == 2:
        sums = [(real[0] + real[1], imaginary[0] + imaginary[1]), (real[0] - real[1], imaginary[0] - imaginary[1])]
    else:
        even = real[0] + real[2], imaginary[0] + imaginary[2]
        uneven = real[0] - real[2], imaginary[0] - imaginary[2]
        odd = real[1] + real[3], imaginary[1] + imaginary[3]
        turned = imaginary[1] - imaginary[3], real[3] - real[1]  # -i times the difference
        sums = [
            (even[0] + odd[0], even[1] + odd[1]),
            (uneven[0] + turned[0], uneven[1] + turned[1]),
            (even[0] - odd[0], even[1] - odd[1]),
            (uneven[0] - turned[0], uneven[1] - turned[1]),
        ]
    for index, part in enumerate(sums):
        twiddled = part
        if index and rest > 1:
            cosines, sines = roots(rest * radix)
            places = np.arange(rest) * index
            twiddled = product(part, (cosines[places][:, None], sines[places][:, None]))
        out[0][:, index], out[1][:, index] = twiddled
    return out


def product(left: Complexes, right: Complexes) -> Complexes:
    """The textbook product, each operation its own array operation, so that nothing is fused."""
    return left[0] * right[0] - left[1] * right[1], left[0] * right[1] + left[1] * right[0]


@lru_cache(maxsize=64)
def roots(size: int, count: int | None = None) -> Complexes:
    """exp(-2 pi i n/size) for n below `count`, or `size`: each part the double nearest to a ball narrower than 2^-80."""
    with working_precision(128):
        angles = [fmpq(2 * index, size) for index in range(size if count is None else count)]
        cosines = np.array([float(arb.cos_pi_fmpq(angle)) for angle in angles])
        sines = np.array([-float(arb.sin_pi_fmpq(angle)) for angle in angles])
    return cosines, sines


def _twists(rows: int, columns: int, chunk: slice) -> Complexes:
    """exp(-2 pi i a b/(rows columns)) for every row a and the columns b of a chunk, as products of two tabulated roots."""
    steps = np.arange(rows)[:, None] * np.arange(chunk.start, chunk.stop)[None, :]
    coarse, fine = roots(rows), roots(rows * columns, columns)
    high, low = steps >> (columns.bit_length() - 1), steps & (columns - 1)
    return product((coarse[0][high], coarse[1][high]), (fine[0][low], fine[1][low]))
