"""Natural logarithm with a proved error, from additions and multiplications, for numbers given as mantissa and exponent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import working_precision
from mechanisms.sampling.exactnum import exp_constants, nearest, only_integer, shift_ball
from mechanisms.sampling.limits import freeze

LARGEST_SHIFT: Final = 2**30
"""`certlog` takes exponents from -2**30 to 1, so that their product with the leading part of ln 2 is exact."""

LOG_ERROR: Final = 2.0**-52
"""`certlog` errs by less than this times (1 + size of the logarithm)."""

_TABLE_BITS: Final = 11
_INVERSE_BITS: Final = 12
_SPLITTER: Final = 2.0**26


@dataclass(frozen=True)
class LogConstants:
    """The constants of `certlog`: ln 2 in two parts, 1/3, and for each interval a short inverse and minus its logarithm."""

    high: float
    low: float
    third: float
    inverse: NDArray[np.float64]
    logarithm: NDArray[np.float64]


@cache
def log_constants() -> LogConstants:
    """Constants and tables of `certlog`, computed from balls; `exp_constants` checks this machine's float arithmetic first."""
    exp_constants()
    size = 2**_TABLE_BITS
    with working_precision(256):
        # `high` has 22 significant bits, each inverse 13, so that the products they stand in are exact.
        high = float(only_integer(shift_ball(arb.const_log2(), 22).floor())) / 2.0**22
        middles = [arb(2 * size + 2 * index + 1) / (4 * size) for index in range(size)]
        inverses = [only_integer((shift_ball(1 / middle, _INVERSE_BITS) + 0.5).floor()) for middle in middles]
        logarithms = [nearest(shift_ball(arb(inverse), -_INVERSE_BITS).log()) for inverse in inverses]
        inverse, logarithm = freeze(np.array(inverses, dtype=np.float64) * 2.0**-_INVERSE_BITS), freeze(-np.array(logarithms))
        return LogConstants(high, nearest(arb.const_log2() - high), nearest(arb(1) / 3), inverse, logarithm)


def certlog(mantissa: NDArray[np.float64], exponent: NDArray[np.int64]) -> NDArray[np.float64]:
    """ln(mantissa * 2**exponent), wrong by less than LOG_ERROR * (1 + its size), proved, from float additions and multiplications.

    Source: Tang 1990 for the method.
    """
    if mantissa.size and not (
        mantissa.min() >= 0.5 and mantissa.max() < 1.0 and exponent.min() >= -LARGEST_SHIFT and exponent.max() <= 1
    ):
        raise InvalidArgument("DPA103", "certlog takes mantissas in [1/2, 1) and exponents in [-2**30, 1].")
    constants = log_constants()
    index = ((mantissa - 0.5) * 2.0 ** (_TABLE_BITS + 1)).astype(np.int64)
    inverse = constants.inverse.take(index)
    leading = (mantissa + _SPLITTER) - _SPLITTER
    rest = (leading * inverse - 1.0) + (mantissa - leading) * inverse
    series = rest - rest * rest * (0.5 - rest * (constants.third - rest * 0.25))
    places = exponent.astype(np.float64)
    result: NDArray[np.float64] = places * constants.high + (places * constants.low + (constants.logarithm.take(index) + series))
    return result
