"""Many draws from one score vector: an alias table of integers that decides all but one draw in 2^37, and exact rests.

Of every weight a sure part B <= w A is known as an integer, and a part U >= w A that it cannot exceed. A number uniform below
2^k falls into a sure part, which decides the draw, or into what is left over; there an index is drawn with probability
proportional to U - B and accepted with probability (w A - B) / (U - B). Both ways together give w A / 2^k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact import ball
from mechanisms.sampling.exactnum import LARGEST_EXPONENT, LazyUniform, certexp
from mechanisms.sampling.random import BitSource
from mechanisms.selection.proposals import true_weight
from mechanisms.selection.scores import Scores

_BATCH: Final = 2**16


@dataclass(frozen=True)
class Tuning:
    """Sizes that the law does not depend on: parameters, so that a test can go through all tapes of a small kernel.

    `bits` is k, at most 62. `slack` widens the float weights to certain bounds: the exponent has a relative error below 2^-51 and
    is at most 708, `certexp` adds 2^-51, together less than 2^-41. `rest` and `step` are the bits taken at once in the rest.
    """

    bits: int = 62
    slack: float = 2.0**-39
    rest: int = 192
    step: int = 64


SHIPPED: Final = Tuning()


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Whole masses in columns of equal height: below `own` a column returns itself, above it `other`.

    Column number `size` stands for what is left over: `spare` holds U - B of every candidate, `sure` holds B, and `unit` is A.
    """

    scores: Scores
    temperature: Fraction
    tuning: Tuning
    own: NDArray[np.int64]
    other: NDArray[np.intp]
    sure: NDArray[np.int64]
    spare: NDArray[np.int64]
    unit: Fraction

    @property
    def height(self) -> int:
        """Bits of a number below the height of a column."""
        return self.tuning.bits - (self.own.size - 1).bit_length()

    @property
    def left(self) -> int:
        """Mass that is in no sure part."""
        everything: int = 2**self.tuning.bits
        return everything - int(self.sure.sum())


def alias_table(scores: Scores, temperature: Fraction, tuning: Tuning = SHIPPED) -> AliasTable:
    """The table of a score vector, in a fixed number of passes over it."""
    with np.errstate(over="ignore", under="ignore"):
        exponents = scores.gaps(0, scores.size) * float(1 / temperature)
    weights = certexp(np.minimum(exponents, LARGEST_EXPONENT))
    # Rounding up adds less than one each, and the sum of floats is right to 2^-32 by far.
    unit = (2.0**tuning.bits - scores.size) * (1.0 - 2.0**-32) / (float(weights.sum()) * (1.0 + tuning.slack) ** 2)
    sure = (weights * (1.0 - tuning.slack) * unit).astype(np.int64)
    spare = (weights * (1.0 + tuning.slack) * unit).astype(np.int64) + 1 - sure
    left = 2**tuning.bits - int(sure.sum())
    if left < int(spare.sum()):  # no sum of floats that is right to 2^-32 leads here
        raise Unsupported("DPA202", "sums of floats are not exact enough here for weights of choices. Use another machine.")
    own, other = columns(np.append(sure, left), tuning.bits)
    return AliasTable(scores, temperature, tuning, own, other, sure, spare, Fraction(unit))


def columns(masses: NDArray[np.int64], bits: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Masses that sum to 2**bits, put into at least as many columns of equal height: what each keeps, and whose the rest is.

    Low columns are filled in their order from high ones in theirs; a high one that has given more than its surplus is filled from
    the next. Who fills whom can be read off the running totals of deficits and surpluses.
    """
    width = max(1, (masses.size - 1).bit_length())
    own = np.zeros(2**width, dtype=np.int64)
    own[: masses.size] = masses
    other = np.arange(own.size)
    full = np.int64(2 ** (bits - width))
    low, high = np.flatnonzero(own < full), np.flatnonzero(own > full)
    deficits, surpluses = np.cumsum(full - own[low]), np.cumsum(own[high] - full)
    before = deficits - (full - own[low])
    other[low] = high[np.searchsorted(surpluses, before, side="right")] if high.size else low
    filled = deficits[np.searchsorted(deficits, surpluses, side="left")] if low.size else surpluses
    own[high] = full + surpluses - filled
    other[high[:-1]] = high[1:]
    return own, other


def draw_many(table: AliasTable, count: int, source: BitSource) -> NDArray[np.int64]:
    """The indices of `count` independent draws, in the order of their trials."""
    drawn: list[NDArray[np.int64]] = []
    missing = count
    while missing:
        kept = trials(table, min(missing, _BATCH), source)
        drawn.append(kept)
        missing -= kept.size
    return np.concatenate(drawn)


def trials(table: AliasTable, size: int, source: BitSource) -> NDArray[np.int64]:
    """The accepted indices among `size` trials, in order."""
    words = source.uniform(table.tuning.bits, size).astype(np.uint64, copy=False).view(np.int64)
    indices = words >> table.height
    words &= 2**table.height - 1
    indices = np.where(words < table.own.take(indices), indices, table.other.take(indices))
    open_ = np.flatnonzero(indices == table.scores.size)
    for position in open_:
        indices[position] = _rest(table, source)
    return indices[indices >= 0] if open_.size else indices


def _rest(table: AliasTable, source: BitSource) -> int:
    """An index drawn from what the sure parts leave of the weights; -1 where that is nothing."""
    width, left = table.tuning.rest, table.left
    number = source.bits(width)
    while number >= (1 << width) // left * left:
        number = source.bits(width)
    index = int(np.searchsorted(np.cumsum(table.spare), number % left, side="right"))
    if index == table.scores.size:
        return -1
    coin = LazyUniform(source, table.tuning.step, table.tuning.step)
    return index if coin.less(_share(table, index)) else -1


def _share(table: AliasTable, index: int) -> Callable[[int], arb]:
    """Balls around (w A - B) / (U - B) of one candidate."""
    weight, sure, spare = true_weight(table.scores, index, table.temperature), int(table.sure[index]), int(table.spare[index])
    return lambda precision: (weight(precision) * ball(table.unit) - sure) / spare
