"""Real noise made from few random bits: its values are so sparse that the ones around one answer miss those around another."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.released import Sampler, broken
from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import GDP, PureDP

LAPLACE_BITS: Final = 10
POROUS_BITS: Final = 20
NORMAL_BITS: Final = 5

Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.int64]
Transform: TypeAlias = Callable[[Words, int], Floats]
"""From words, one row for each value and columns of that many bits, to noise of unit scale."""


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """The specimens that would keep `epsilon`, or mu = `epsilon`, with real noise."""
    scale, pure, gaussian = float(1 / epsilon), PureDP(epsilon), GDP(rounded_root(2 * epsilon**2))
    uniform, step = "Laplace noise by inversion of a uniform number of", "both Gaussian values of one"
    few, many = from_words(inversion, 2, LAPLACE_BITS, scale), from_words(inversion, 2, POROUS_BITS, scale)
    return (
        broken("coarse_laplace", f"{uniform} 10 bits", "Mironov 2012", pure, (0, 1), few),
        broken(
            "porous_laplace", f"{uniform} 20 bits, and an attacker who inverts it", "Mironov 2012", pure, (0, 1), many,
            score=inverted(scale),
        ),
        broken(
            "box_muller", f"{step} Box-Muller step, from two words of 5 bits", "Jin and others 2022", gaussian, (0, 1),
            from_words(box_muller, 2, NORMAL_BITS, scale),
        ),
        broken(
            "polar", f"{step} step of the polar method, from two words of 5 bits", "Jin and others 2022", gaussian, (0, 1),
            from_words(polar, 2, NORMAL_BITS, scale),
        ),
    )  # fmt: skip


def rounded_root(square: Fraction) -> Fraction:
    """The square root, rounded up to a millionth."""
    return Fraction(math.isqrt(int(square * 10**12)) + 1, 10**6)


def from_words(transform: Transform, words: int, bits: int, scale: float) -> Sampler:
    """Noise that a transform makes of random words."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        noise = transform(rng.integers(2**bits, size=(count, words)), bits)
        missing = np.isnan(noise).reshape(count, -1).any(axis=1)
        while missing.any():  # the polar method rejects some words
            noise[missing] = transform(rng.integers(2**bits, size=(int(missing.sum()), words)), bits)
            missing = np.isnan(noise).reshape(count, -1).any(axis=1)
        return np.asarray(data + scale * noise)

    return noisy


def inversion(words: Words, bits: int) -> Floats:
    """Laplace noise: minus the logarithm of the first word, with the lowest bit of the second as its sign."""
    size = -np.log((words[:, 0] + 1) / 2.0**bits)
    return np.where(words[:, 1] & 1, -size, size)


def box_muller(words: Words, bits: int) -> Floats:
    """Two Gaussian values, the coordinates of a point of random radius and angle."""
    radius = np.sqrt(-2 * np.log((words[:, 0] + 1) / 2.0**bits))
    angle = 2 * np.pi * words[:, 1] / 2.0**bits
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def polar(words: Words, bits: int) -> Floats:
    """Two Gaussian values from a point in the square; NaN for those outside of the unit circle."""
    point = (2 * words + 1) / 2.0**bits - 1
    square = (point**2).sum(axis=1, keepdims=True)
    inside = np.where(square < 1, square, np.nan)
    return np.asarray(point * np.sqrt(-2 * np.log(inside) / inside))


def inverted(scale: float) -> Callable[[Any], float]:
    """Return the distance from an integer of the word that would have given an output, had the answer been 0."""

    def score(output: Any) -> float:
        word = 2.0**POROUS_BITS * math.exp(-abs(float(output)) / scale)
        return abs(word - round(word))

    return score
