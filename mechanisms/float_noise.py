"""Continuous noise added to float64 numbers and rounded once: the part that the mechanisms for floats share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, kind_of, rational
from dpaudit.releases import Release
from mechanisms.entries import name_contents
from mechanisms.noise import open_release, read_count
from mechanisms.sampling.cells import Cells
from mechanisms.sampling.random import BitSource
from mechanisms.sampling.real_noise import RealNoise, noisy_sum, noisy_sums, real_noise

FloatValue: TypeAlias = "Exact | NDArray[np.float64]"
"""The value that these mechanisms add noise to: a number that float64 holds exactly, or a float64 array."""


@dataclass(frozen=True)
class FloatNoise:
    """Noise of a family of laws at a scale, and what the release log keeps of one noisy number."""

    family: Callable[[Fraction], Cells]
    scale: Fraction
    record: Release

    def __post_init__(self) -> None:
        """Build the sampler's table, so that a scale out of range is refused when the mechanism is made."""
        _ = self._law

    def __reduce__(self) -> tuple[type[FloatNoise], tuple[object, ...]]:
        """Copies and pickles leave the sampler's table behind."""
        return FloatNoise, (self.family, self.scale, self.record)

    @cached_property
    def _law(self) -> RealNoise:
        """The noise with its table."""
        return real_noise(self.family, self.scale)

    def once(self, value: FloatValue, source: BitSource | None) -> float | NDArray[np.float64]:
        """One noisy copy: a float of a number, an array of an array."""
        if isinstance(value, np.ndarray):
            return np.asarray(self.often(value, 1, source)[0])
        number = _number(value)
        bits, hold = open_release(self.record, source)
        result = noisy_sum(self._law, number, bits)
        return result if hold is None else hold(number, result)

    def often(self, value: FloatValue, count: int, source: BitSource | None) -> NDArray[np.float64]:
        """Independent noisy copies, along a new first axis."""
        copies = read_count(count)
        numbers = _numbers(value) if isinstance(value, np.ndarray) else np.array(_number(value))
        bits, hold = open_release(self.record, source, count=copies, dimension=numbers.size)
        spread = np.broadcast_to(numbers, (copies, *numbers.shape))
        result = noisy_sums(self._law, spread.reshape(-1), bits).reshape(spread.shape)
        return result if hold is None else hold(numbers, result)


class AddsFloatNoise(Protocol):
    """A mechanism for floats, with its noise; `release` and `releases` become its methods in the class body."""

    @property
    def _noise(self) -> FloatNoise:
        """The noise, and its entry in the release log."""


@overload
def release(self: AddsFloatNoise, value: NDArray[np.float64], source: BitSource | None = None) -> NDArray[np.float64]: ...
@overload
def release(self: AddsFloatNoise, value: Exact, source: BitSource | None = None) -> float: ...
def release(self: AddsFloatNoise, value: FloatValue, source: BitSource | None = None) -> float | NDArray[np.float64]:
    """One noisy copy of a value: a float of a number, a new float64 array of an array; finite, without negative zeros.

    `value` is a number that float64 holds exactly, or a float64 array of any shape; every finite float is accepted, however large,
    small or near zero. Anything else is refused before randomness is drawn: DPA101, DPA102, DPA103, DPA105 or DPA109. `source` None
    takes the operating system's bits.

    Source: docs/laws_and_real_noise.md, "The rounding test".
    """
    return self._noise.once(value, source)


def releases(self: AddsFloatNoise, value: FloatValue, count: int, source: BitSource | None = None) -> NDArray[np.float64]:
    """Independent noisy copies of one value, each paid for, along a new first axis; `count` is from 1 to 2**32."""
    return self._noise.often(value, count, source)


def _number(value: Exact) -> float:
    """The number to release as the float64 that it is."""
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    try:
        exact = rational(value, "the value to release")
        number = float(exact)
    except InvalidArgument as error:
        raise InvalidArgument(
            error.code,
            f"the value to release must be a finite number or a float64 array, got {kind_of(value)}. "
            "Convert several numbers with numpy.array(), and clamp every contribution before summing.",
        ) from None
    except OverflowError:
        raise _no_float() from None
    if number != exact:
        raise _no_float()
    return number


def _no_float() -> InvalidArgument:
    """The refusal of numbers that float64 does not hold; the number itself is private and not shown."""
    return InvalidArgument(
        "DPA103",
        "the value to release must be a float64 number exactly, and it is not. Round it with float() where it is computed, "
        "and declare the sensitivity of the rounded value.",
    )


def _numbers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The array to release, if it is a float64 array of finite numbers."""
    if values.dtype != np.float64:
        raise InvalidArgument(
            "DPA105", f"arrays must hold float64, got {name_contents(values)}. Convert with astype(numpy.float64)."
        )
    if values.size == 0:
        raise InvalidArgument("DPA109", "the array to release is empty. Give at least one number.")
    if not np.isfinite(values).all():
        raise InvalidArgument("DPA102", "the array to release holds NaN or infinity. Clamp every contribution before summing.")
    return values
