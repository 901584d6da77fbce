"""Integer proposals for the exponential mechanism: weights that dominate the true ones, and exact acceptance of the one drawn.

With gaps x >= 0 (best score minus score, over the temperature) the true weights are w = e^-x. On a staircase of N steps per
halving, a = floor(x N / ln 2), rounded down whatever the floats do, gives the integer U = floor(2^(S - a/N) rounded up) + 1,
which is at least w 2^S. An index drawn with probability U / sum(U) and accepted with probability w 2^S / U is therefore drawn
with probability w 2^S / sum(U): proportional to w, although no exponential was computed but that of the accepted one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.exact import ball, ball_endpoints, working_precision
from mechanisms.sampling.exactnum import LazyUniform

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from flint import arb
    from numpy.typing import NDArray

    from mechanisms.sampling.random import BitSource
    from mechanisms.scores import Scores

STEP_BITS: Final = 12
STEPS: Final = 2**STEP_BITS
CLAMP: Final = 63 * STEPS
TABLE_PRECISION: Final = 62
SURE_ACCEPTANCE: Final = 0.9998
"""Below the least ratio 2^-(1/N + 2^-41) of w 2^S to U - 2, with room for the rounding of floats."""

_COIN_BITS: Final = 64
_CHUNK: Final = 2**15
_BATCH: Final = 2**17


@dataclass(frozen=True)
class Widths:
    """How many random bits a trial takes at once: parameters, so that a test can go through all tapes of a small kernel.

    At 192 bits for the index, a number beyond the last multiple of the total has probability below 2^-128, so that the time
    spent does not depend on the scores.
    """

    index: int = 192
    coin: int = 64
    step: int = 64


SHIPPED: Final = Widths()


@dataclass(frozen=True, eq=False)
class Proposal:
    """Scores with their integer weights of precision S = `precision`, summed in chunks.

    `sums` are the running totals of the chunks; `first` holds the weights of the first chunk where there is no other.
    """

    scores: Scores
    temperature: Fraction
    precision: int
    sums: tuple[int, ...] = ()
    first: NDArray[np.int64] | None = None

    @property
    def total(self) -> int:
        """Sum of all weights, below 2**63."""
        return self.sums[-1]

    def weights(self, start: int, stop: int) -> NDArray[np.int64]:
        """The weights U of a range of candidates."""
        return staircase(self.scores.gaps(start, stop), self.temperature, self.precision)

    def acceptance(self, index: int, weight: int) -> Callable[[int], arb]:
        """Balls around w 2^S / U of one candidate."""
        from flint import arb

        gap = self.scores.gap(index)

        def ratio(_precision: int) -> arb:
            """The ball at the current working precision; zero for a candidate that is never chosen."""
            if gap is None:
                return arb(0)
            return arb(2**self.precision) / weight * (-ball(gap / self.temperature)).exp()

        return ratio


def finest_precision(size: int) -> int:
    """The largest S for which the weights of `size` candidates sum to less than 2**63."""
    return TABLE_PRECISION - (size - 1).bit_length()


def repeated_precision(size: int) -> int:
    """An S for many draws: 64-bit words are seldom beyond the last multiple of the total, and proposals seldom refused."""
    width = (size - 1).bit_length()
    return max(50 - width, min(36, TABLE_PRECISION - width))


def propose(scores: Scores, temperature: Fraction, precision: int) -> Proposal:
    """Weigh all candidates: one pass that keeps chunk totals only, and the weights where they are few."""
    bare = Proposal(scores, temperature, precision)
    if scores.size <= _CHUNK:
        weights = bare.weights(0, scores.size)
        return replace(bare, sums=(int(weights.sum()),), first=weights)
    totals = (int(bare.weights(start, start + _CHUNK).sum()) for start in range(0, scores.size, _CHUNK))
    return replace(bare, sums=tuple(accumulate(totals)))


def staircase(gaps: NDArray[np.float64], temperature: Fraction, precision: int) -> NDArray[np.int64]:
    """The weights U of candidates by their gaps, which are overwritten.

    Only additions, products, comparisons and integer operations, which give the same bits wherever a candidate stands.
    """
    with np.errstate(over="ignore"):
        np.multiply(gaps, slope(temperature), out=gaps)
    np.minimum(gaps, float(CLAMP), out=gaps)
    steps = gaps.astype(np.int64)
    weights = table(precision).take(steps & (STEPS - 1))
    weights >>= steps >> STEP_BITS
    weights += 1
    return weights


@lru_cache(maxsize=128)
def slope(temperature: Fraction) -> float:
    """N / (temperature ln 2), lowered by 2^-49 so that gap, slope and their product, rounded each, stay below the true product."""
    from flint import arb

    with working_precision(128):
        lower, _ = ball_endpoints(STEPS / (ball(temperature) * arb.const_log2()) * (1 - arb(2) ** -49))
    return float(lower)


@lru_cache(maxsize=TABLE_PRECISION + 1)
def table(precision: int) -> NDArray[np.int64]:
    """2^(S - j/N) rounded up, for j = 0 ... N - 1; read-only."""
    if precision < TABLE_PRECISION:
        # Rounding up twice is rounding up once.
        entries = -(-table(TABLE_PRECISION) >> (TABLE_PRECISION - precision))
    else:
        from flint import arb

        with working_precision(128):
            halving = arb.const_log2() / STEPS
            rounded = [(arb(2**TABLE_PRECISION) * (-halving * j).exp()).ceil().unique_fmpz() for j in range(1, STEPS)]
        entries = np.array([2**TABLE_PRECISION, *map(int, filter(None, rounded))], dtype=np.int64)
        assert entries.size == STEPS, "128 bits tell every irrational power from an integer"  # noqa: S101
    entries.setflags(write=False)
    return entries


def draw_one(proposal: Proposal, source: BitSource) -> int:
    """The index of one candidate, by as many trials as it takes, which is one but for about 1 in 4000."""
    while True:
        index = trial(proposal, source)
        if index is not None:
            return index


def trial(proposal: Proposal, source: BitSource, widths: Widths = SHIPPED) -> int | None:
    """One trial: the index proposed, or None when it is refused."""
    number = source.bits(widths.index)
    if number >= (1 << widths.index) // proposal.total * proposal.total:
        return None
    place = number % proposal.total
    chunk = bisect_right(proposal.sums, place)
    start, before = chunk * _CHUNK, proposal.sums[chunk - 1] if chunk else 0
    weights = proposal.weights(start, start + _CHUNK) if proposal.first is None else proposal.first
    running = np.cumsum(weights)
    assert int(running[-1]) == proposal.sums[chunk] - before, "both passes must see the same weights"  # noqa: S101
    offset = int(np.searchsorted(running, place - before, side="right"))
    coin = LazyUniform(source, widths.coin, widths.step)
    return start + offset if _accepted(proposal, start + offset, int(weights[offset]), coin) else None


def draw_many(proposal: Proposal, count: int, source: BitSource) -> NDArray[np.int64]:
    """The indices of `count` independent draws, in the order of their trials."""
    weights = proposal.weights(0, proposal.scores.size)
    running = np.cumsum(weights)
    drawn: list[NDArray[np.int64]] = []
    missing = count
    while missing:
        kept = _trials(proposal, weights, running, min(missing + missing // 256 + 16, _BATCH), source)[:missing]
        drawn.append(kept)
        missing -= kept.size
    return np.concatenate(drawn)


def _trials(
    proposal: Proposal, weights: NDArray[np.int64], running: NDArray[np.int64], size: int, source: BitSource
) -> NDArray[np.int64]:
    """The accepted indices among `size` trials, in order."""
    total = np.uint64(proposal.total)
    words = source.uniform(64, size)
    if proposal.total & (proposal.total - 1):
        words = words[words < np.uint64(2**64 // proposal.total * proposal.total)]
    indices = np.searchsorted(running, (words % total).astype(np.int64), side="right")
    coins = source.uniform(_COIN_BITS, indices.size)
    chosen = weights.take(indices)
    accepted = coins < (SURE_ACCEPTANCE * 2.0**_COIN_BITS) * (1.0 - 2.0 / chosen)
    for position in np.nonzero(~accepted)[0]:
        coin = LazyUniform.begun(source, int(coins[position]), _COIN_BITS)
        accepted[position] = _accepted(proposal, int(indices[position]), int(chosen[position]), coin)
    return indices[accepted].astype(np.int64, copy=False)


def _accepted(proposal: Proposal, index: int, weight: int, coin: LazyUniform) -> bool:
    """Whether a uniform number is below w 2^S / U; what the certified bound leaves open is decided by balls."""
    if coin.value + 1 < SURE_ACCEPTANCE * 2.0**coin.bits * (1.0 - 2.0 / weight):
        return True
    return coin.less(proposal.acceptance(index, weight))
