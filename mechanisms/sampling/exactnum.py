"""Certified comparisons of random with real numbers: a uniform number revealed bit by bit, and exp with a proved error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import working_precision
from mechanisms.sampling.limits import freeze
from mechanisms.sampling.random import BitSource

GUARD_BITS: Final = 64
"""A ball is asked for with this many bits more than the uniform number it is compared with."""

DEEPEST: Final = 2**16
"""Comparisons that need more bits than this are refused: the function compared with does not converge."""

LARGEST_EXPONENT: Final = 708.0
"""`certexp` takes arguments from 0 to this, so that every result is a normal float."""


class LazyUniform:
    """A uniform real number in [0, 1), of which only as many binary digits are drawn as the questions asked of it need.

    Args:
      source: where the digits come from.
      first_bits: how many digits are drawn first.
      step: how many more are drawn whenever a question is still open.
    """

    __slots__ = ("bits", "source", "step", "value")

    def __init__(self, source: BitSource, first_bits: int = 64, step: int = 64) -> None:
        if first_bits < 1 or step < 1:
            raise InvalidArgument("DPA103", f"first_bits and step must be at least 1, got {first_bits} and {step}.")
        self.source = source
        self.step = step
        self.bits = first_bits
        self.value = source.bits(first_bits)

    @classmethod
    def begun(cls, source: BitSource, value: int, bits: int, step: int = 64) -> LazyUniform:
        """The number whose first `bits` digits were drawn already and read `value`."""
        uniform = cls.__new__(cls)
        uniform.source, uniform.step, uniform.bits, uniform.value = source, step, bits, value
        return uniform

    @property
    def precision(self) -> int:
        """Working precision in bits at which the digits known so far are best compared."""
        return self.bits + GUARD_BITS

    def reveal(self) -> None:
        """Draw the next digits; raises Unsupported (DPA202) beyond `DEEPEST`."""
        if self.bits > DEEPEST:
            raise Unsupported("DPA202", f"a comparison is open after {self.bits} bits. Give it a function whose balls shrink.")
        self.value = self.value << self.step | self.source.bits(self.step)
        self.bits += self.step

    def less(self, value: Callable[[int], arb]) -> bool:
        """True if the number is below a real number, whose ball `value` gives at a working precision."""
        while True:
            with working_precision(self.precision):
                scaled = shift_ball(value(self.precision), self.bits)
                if scaled >= self.value + 1:
                    return True
                if scaled <= self.value:
                    return False
            self.reveal()


@dataclass(frozen=True)
class ExpConstants:
    """The constants of `certexp`, each a float64 rounded as its comment in `exp_constants` says."""

    bits: int
    inverse: float
    high: float
    low: float
    third: float
    table: NDArray[np.float64]
    entries: tuple[float, ...]


_TABLE_BITS: Final = 11
_TO_INTEGER: Final = 1.5 * 2.0**52


@cache
def exp_constants() -> ExpConstants:
    """Constants and table of `certexp`, computed from balls after a check of this machine's float arithmetic."""
    _require_ieee()
    size = 2**_TABLE_BITS
    with working_precision(256):
        step = arb.const_log2() / size
        # `high` has 32 significant bits, so that its product with an integer below 2**21 is exact.
        high = float(only_integer(shift_ball(step, 43).floor())) / 2.0**43
        entries = tuple(only_integer((shift_ball((-step * index).exp(), 53) + 0.5).floor()) / 2.0**53 for index in range(size))
        return ExpConstants(
            bits=_TABLE_BITS,
            inverse=nearest(1 / step),
            high=high,
            low=nearest(step - high),
            third=nearest(arb(1) / 6),
            table=freeze(np.array(entries)),
            entries=entries,
        )


def shift_ball(value: arb, bits: int) -> arb:
    """The ball times 2**bits, exactly."""
    return value * arb((1, bits))


def nearest(value: arb) -> float:
    """The float64 nearest to the positive real number in the ball; the ball must be narrow enough to decide it."""
    _, exponent = math.frexp(float(value))
    return math.ldexp(only_integer((shift_ball(value, 53 - exponent) + 0.5).floor()), exponent - 53)


def only_integer(value: arb) -> int:
    """The only integer in a ball."""
    whole = value.unique_fmpz()
    if whole is None:
        raise Unsupported("DPA202", "a constant could not be rounded at the working precision used for it.")
    return int(whole)


def _require_ieee() -> None:
    """Refuse machines whose float64 arithmetic is not IEEE 754: to nearest, unfused, with gradual underflow."""
    one, half_ulp, smallest = np.float64(1.0), np.float64(2.0**-53), np.float64(2.0**-1022)
    factors = 1.0 + np.arange(1.0, 9.0) / 3.0
    product = factors * factors
    to_nearest = one + half_ulp == one and one + half_ulp * 1.5 > one and one - half_ulp * 0.75 < one
    unfused = not np.any(factors * factors - product)
    gradual = smallest * 0.5 > 0.0
    if not (to_nearest and unfused and gradual):
        raise Unsupported(
            "DPA202",
            "float64 arithmetic here is not IEEE 754 (to nearest, unfused, gradual underflow). Use another machine.",
        )


def certexp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(-x) with a relative error below 2**-51, proved, from additions, multiplications and integer shifts only.

    Source: Tang 1989 for the method.
    """
    if x.size and not (x.min() >= 0.0 and x.max() <= LARGEST_EXPONENT):
        raise InvalidArgument("DPA103", f"certexp takes numbers from 0 to {LARGEST_EXPONENT:g}.")
    constants = exp_constants()
    sum_ = x * constants.inverse + _TO_INTEGER
    whole = sum_ - _TO_INTEGER
    index = sum_.view(np.int64) & 0xFFFFFFFF
    rest = (x - whole * constants.high) - whole * constants.low
    series = 1.0 - rest * (1.0 - rest * (0.5 - rest * constants.third))
    scale = constants.table.view(np.int64).take(index & (2**_TABLE_BITS - 1)) - ((index >> _TABLE_BITS) << 52)
    result: NDArray[np.float64] = series * scale.view(np.float64)
    return result


def certexp_one(x: float) -> float:
    """`certexp` of one number, by the same operations in the same order, so with the same result."""
    constants = exp_constants()
    whole = (x * constants.inverse + _TO_INTEGER) - _TO_INTEGER
    index = int(whole)
    rest = (x - whole * constants.high) - whole * constants.low
    series = 1.0 - rest * (1.0 - rest * (0.5 - rest * constants.third))
    return series * math.ldexp(constants.entries[index & (2**_TABLE_BITS - 1)], -(index >> _TABLE_BITS))
