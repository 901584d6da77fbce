"""Integer proposals for the exponential mechanism: weights that dominate the true ones, and exact acceptance of the one drawn.

With gaps x >= 0 (best score minus score, over the temperature) the true weights are w = e^-x. On a staircase of N steps per
halving, a = floor(x N / ln 2), rounded down whatever the floats do, gives the integer U = 2^(S - a/N) rounded up, which is at
least w 2^S. An index drawn with probability U / sum(U) and accepted with probability w 2^S / U is therefore drawn with
probability w 2^S / sum(U): proportional to w, although no exponential was computed but that of the accepted one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, working_precision
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.limits import freeze
from mechanisms.sampling.random import BitSource
from mechanisms.selection.scores import Scores

STEPS: Final = 2**6
CLAMP: Final = 63 * STEPS
TABLE_PRECISION: Final = 62
SURE_ACCEPTANCE: Final = 0.989
"""Below the least ratio 2^-(1/N + 2^-40) of w 2^S to U - 1, with room for the rounding of floats."""

FEW: Final = 64
"""Up to this many candidates plain numbers are quicker than arrays."""

CHUNK: Final = 2**15


@dataclass(frozen=True)
class Widths:
    """The numbers of random bits that a trial takes at once: parameters, so that a test can go through all tapes of a small kernel.

    At 192 bits for the index, a number beyond the last multiple of the total has probability below 2^-128, so that the time
    spent does not depend on the scores.
    """

    index: int = 192
    coin: int = 64
    step: int = 64


SHIPPED: Final = Widths()


@dataclass(frozen=True, eq=False)
class Proposal:
    """Scores with their integer weights of precision S = `precision`, summed in groups of `group` candidates.

    `sums` are the running totals of the groups; `only` holds the weights where there is one group, so that they need not be
    computed again.
    """

    scores: Scores
    temperature: Fraction
    precision: int
    sums: tuple[int, ...]
    group: int = 1
    only: NDArray[np.int64] | None = None

    @property
    def total(self) -> int:
        """Sum of all weights, below 2**63."""
        return self.sums[-1]

    def find(self, place: int) -> tuple[int, int]:
        """The candidate whose weight covers a number below the total, and that weight."""
        group = bisect_right(self.sums, place)
        before = self.sums[group - 1] if group else 0
        if self.group == 1:
            return group, self.sums[group] - before
        start = group * self.group
        if self.only is None:
            weights = staircase(self.scores.gaps(start, start + self.group), self.temperature, self.precision)
        else:
            weights = self.only
        running = np.cumsum(weights)
        assert int(running[-1]) == self.sums[group] - before, "both passes must see the same weights"  # noqa: S101
        offset = int(np.searchsorted(running, place - before, side="right"))
        return start + offset, int(weights[offset])


def finest_precision(size: int) -> int:
    """The largest S for which the weights of `size` candidates sum to less than 2**63."""
    return TABLE_PRECISION - (size - 1).bit_length()


def propose(scores: Scores, temperature: Fraction, precision: int) -> Proposal:
    """Weigh all candidates: one pass that keeps totals of groups only, and the weights where they are few."""
    size = scores.size
    if size <= FEW:
        return Proposal(scores, temperature, precision, tuple(accumulate(few_weights(scores, temperature, precision))))
    if size <= CHUNK:
        weights = staircase(scores.gaps(0, size), temperature, precision)
        return Proposal(scores, temperature, precision, (int(weights.sum()),), size, weights)
    starts = range(0, size, CHUNK)
    totals = (int(staircase(scores.gaps(start, start + CHUNK), temperature, precision).sum()) for start in starts)
    return Proposal(scores, temperature, precision, tuple(accumulate(totals)), CHUNK)


def staircase(gaps: NDArray[np.float64], temperature: Fraction, precision: int) -> NDArray[np.int64]:
    """The weights U of candidates by their gaps, which are overwritten.

    Only products, comparisons and integer operations, which give the same bits wherever a candidate stands.
    """
    with np.errstate(over="ignore"):
        np.multiply(gaps, slope(temperature), out=gaps)
    np.minimum(gaps, float(CLAMP), out=gaps)
    # No step lies outside the table: the mode only spares a check of every one of them.
    return table(precision).take(gaps.astype(np.intp), mode="clip")


def few_weights(scores: Scores, temperature: Fraction, precision: int) -> list[int]:
    """The weights U of few candidates, by the same operations on single numbers, so with the same result."""
    entries, factor = table(precision).data, slope(temperature)
    return [entries[int(min(gap * factor, CLAMP))] for gap in scores.gaps(0, scores.size).tolist()]


@lru_cache(maxsize=128)
def slope(temperature: Fraction) -> float:
    """N / (temperature ln 2), lowered by 2^-49 so that gap, slope and their product, rounded each, stay below the true product."""
    with working_precision(128):
        lower, upper = ball_endpoints(STEPS / (ball(temperature) * arb.const_log2()) * (1 - arb(2) ** -49))
    if (upper - lower) * 2**60 > upper:
        raise Unsupported("DPA202", "a rate could not be rounded at the working precision used for it.")
    return float(lower)


@lru_cache(maxsize=TABLE_PRECISION + 1)
def table(precision: int) -> NDArray[np.int64]:
    """2^(S - a/N) rounded up, for a = 0 ... 63 N; read-only."""
    halvings = np.arange(CLAMP // STEPS, dtype=np.int64)[:, None]
    # Rounding up twice is rounding up once.
    rows = -(-_one_halving()[None, :] >> (TABLE_PRECISION - precision + halvings).clip(max=63))
    return freeze(np.append(rows.reshape(-1), np.int64(1)))


@lru_cache(maxsize=1)
def _one_halving() -> NDArray[np.int64]:
    """2^(62 - j/N) rounded up, for j = 0 ... N - 1."""
    with working_precision(128):
        halving = arb.const_log2() / STEPS
        rounded = [(arb(2**TABLE_PRECISION) * (-halving * j).exp()).ceil().unique_fmpz() for j in range(1, STEPS)]
    entries = np.array([2**TABLE_PRECISION, *map(int, filter(None, rounded))], dtype=np.int64)
    assert entries.size == STEPS, "128 bits tell every irrational power from an integer"  # noqa: S101
    return entries


def draw_one(proposal: Proposal, source: BitSource) -> int:
    """The index of one candidate, by as many trials as it takes, which is one but for about 1 in 370."""
    while True:
        index = trial(proposal, source)
        if index is not None:
            return index


def trial(proposal: Proposal, source: BitSource, widths: Widths = SHIPPED) -> int | None:
    """One trial: the index proposed, or None when it is refused."""
    number = source.bits(widths.index)
    if number >= (1 << widths.index) // proposal.total * proposal.total:
        return None
    index, weight = proposal.find(number % proposal.total)
    coin = LazyUniform(source, widths.coin, widths.step)
    # What the certified bound leaves open is decided by balls.
    if coin.value + 1 < SURE_ACCEPTANCE * 2.0**coin.bits * (1.0 - 1.0 / weight):
        return index
    scaled = true_weight(proposal.scores, index, proposal.temperature)
    return index if coin.less(lambda precision: scaled(precision) * 2**proposal.precision / weight) else None


def true_weight(scores: Scores, index: int, temperature: Fraction) -> Callable[[int], arb]:
    """Balls around w = e^-x of one candidate; zero for one that is never chosen."""
    gap = scores.gap(index)
    return lambda _precision: arb(0) if gap is None else (-ball(gap / temperature)).exp()
