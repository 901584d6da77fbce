"""Many laws composed: powers and products of transforms, with a bound on what rounding did to every mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpaudit.accounting.engines.lattice import Lattice
from dpaudit.accounting.model.transform import ROOT_FIVE, UNIT, Complexes, Reals, error_constant, inverse, product, transform

NEGLIGIBLE: Final = 300.0  # Frequencies at which the transform is proved to be below e^-300 are set to 0
NEGLIGIBLE_ERROR: Final = 2.0**-400  # More than e^-300, which is what setting them to 0 costs on average
ROOM: Final = 1 + 1e-9  # Covers the rounding of the error bounds themselves: sums of at most 2^22 positive terms and a few products


@dataclass(frozen=True)
class Composed:
    """Tilted masses of a composition at consecutive places, modulo their number, each known up to the error of its side."""

    upper: Reals
    lower: Reals
    upper_error: float
    lower_error: float


@dataclass
class _Side:
    """Product of powers of transforms of upper or lower laws so far, with the bounds of the theorem on powers."""

    value: Complexes
    size: Reals
    ratio: Reals

    def take(self, factor: Complexes, size: Reals, count: int, error: float) -> None:
        """Multiply by the `count`-th power of a factor of absolute value at most `size`, known up to `error`."""
        power, grown = _power(factor, size, count)
        self.value, self.size = product(self.value, power), self.size * grown
        self.ratio = self.ratio + count * error / size

    def keep(self, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> None:
        """Forget the other frequencies."""
        self.value = self.value[0][chosen], self.value[1][chosen]
        self.size, self.ratio = self.size[chosen], self.ratio[chosen]

    def errors(self, releases: int) -> Reals:
        """Bound on the error at each frequency."""
        unit = float(UNIT)
        rounding = float(ROOT_FIVE) * unit * releases
        growth = rounding / (1 - rounding) if rounding < 0.5 else np.inf
        errors: Reals = self.size * (1 + 4 * releases * unit) * (self.ratio + growth) * ROOM + 2.0**-900
        return errors


def convolve_laws(lattices: Sequence[Lattice], first: int, size: int) -> Composed:
    """Masses of the sum of all losses at `size` consecutive indices from `first` on, everything else wrapped onto them."""
    ordered = sorted(lattices, key=lambda lattice: -lattice.count)
    transform_error = error_constant(size) + 4 * float(UNIT)
    frequencies = np.arange(size // 2 + 1)
    sides = [
        _Side((np.ones(frequencies.size), np.zeros(frequencies.size)), np.ones(frequencies.size), np.zeros(frequencies.size))
        for _ in (0, 1)
    ]
    decay = [np.zeros(frequencies.size), np.zeros(frequencies.size)]
    growth = sum(lattice.count * max(0.0, float(lattice.upper.sum()) * ROOM * (1 + 2.0**-40) + 2.0**-40 - 1) for lattice in ordered)
    for lattice in ordered:
        masses = lattice.folded(size)
        error = transform_error * float(masses[0].sum() + masses[1].sum()) * ROOM
        factors = _separate(transform(masses), frequencies)
        bounds = [np.sqrt(real * real + imaginary * imaginary) * (1 + 8 * float(UNIT)) + error for real, imaginary in factors]
        decay = [known + lattice.count * (1 - bound) for known, bound in zip(decay, bounds, strict=True)]
        chosen = ~(np.minimum(*decay) - growth >= NEGLIGIBLE + 10)
        frequencies, decay = frequencies[chosen], [known[chosen] for known in decay]
        for side, factor, bound in zip(sides, factors, bounds, strict=True):
            side.keep(chosen)
            side.take((factor[0][chosen], factor[1][chosen]), bound[chosen], lattice.count, error)
    releases = sum(lattice.count for lattice in ordered)
    spectrum = _join_spectra(sides, frequencies, size)
    upper, lower = inverse(spectrum)
    whole = sum(2 * float(side.size.sum()) / size for side in sides) * (1 + 4 * releases * float(UNIT))
    last = transform_error * (whole + 2 * NEGLIGIBLE_ERROR) * ROOM
    errors = [(2 * float(side.errors(releases).sum()) / size + NEGLIGIBLE_ERROR + last) * ROOM for side in sides]
    shift = -(first % size)
    return Composed(np.roll(np.maximum(upper, 0.0), shift), np.roll(np.maximum(lower, 0.0), shift), *errors)


def _separate(both: Complexes, at: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> list[Complexes]:
    """Transforms of the real and of the imaginary input, at some frequencies."""
    mirrored = (both[0].size - at) % both[0].size
    real, imaginary, mirror_real, mirror_imaginary = both[0][at], both[1][at], both[0][mirrored], both[1][mirrored]
    return [
        ((real + mirror_real) / 2, (imaginary - mirror_imaginary) / 2),
        ((imaginary + mirror_imaginary) / 2, (mirror_real - real) / 2),
    ]


def _join_spectra(sides: Sequence[_Side], at: np.ndarray[tuple[int, ...], np.dtype[np.int64]], size: int) -> Complexes:
    """Spectrum of upper + i lower, from their spectra at the frequencies that are left."""
    real, imaginary = np.zeros(size), np.zeros(size)
    (upper_real, upper_imaginary), (lower_real, lower_imaginary) = sides[0].value, sides[1].value
    mirrored = (size - at) % size
    real[mirrored], imaginary[mirrored] = upper_real + lower_imaginary, lower_real - upper_imaginary
    real[at], imaginary[at] = upper_real - lower_imaginary, upper_imaginary + lower_real
    return real, imaginary


def _power(factor: Complexes, size: Reals, count: int) -> tuple[Complexes, Reals]:
    """`count`-th powers of the factor and of its bound, by squaring."""
    value, grown = factor, size
    for digit in f"{count:b}"[1:]:
        value, grown = product(value, value), grown * grown
        if digit == "1":
            value, grown = product(value, factor), grown * size
    return value, grown
