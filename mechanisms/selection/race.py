"""Races: the candidates with the greatest score plus noise, in order; the noise is a real number that is never written down.

Every candidate i has A_i = G_i - x_i with its gap x_i >= 0 (best score minus score, over the temperature) and noise G_i, a quantile
function of a uniform number of which the first bits are drawn. They give an interval for A_i; in floats, rounded outward, nearly
all candidates are seen to lie below k others. The rest draw further bits until balls decide the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.exact import ball, ball_endpoints, working_precision
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import BitSource
from mechanisms.selection.clocks import Clock, intervals
from mechanisms.selection.scores import Scores

_LARGEST_FLOAT: Final = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Tuning:
    """Sizes that the law does not depend on: parameters, so that a test can go through all tapes of a small race.

    `word_bits` are drawn for every candidate, `more_bits` for those that may come first, together at most 53, and `step` at a time
    where the order is open even then. Candidates are read `chunk` at a time; where there are more, `sample` of them drawn at
    random, and 64 for every place, give the level that all are compared with.
    """

    word_bits: int = 16
    more_bits: int = 37
    step: int = 64
    chunk: int = 2**15
    sample: int = 2**12


SHIPPED: Final = Tuning()


class Runner:
    """One candidate whose place is not yet known: its gap exactly, and its uniform number so far."""

    __slots__ = ("clock", "index", "lower", "shift", "uniform", "upper")

    def __init__(self, index: int, shift: Fraction, uniform: LazyUniform, clock: Clock) -> None:
        self.index, self.shift, self.uniform, self.clock = index, shift, uniform, clock
        self._place()

    def advance(self) -> None:
        """Draw further bits of the uniform number."""
        self.uniform.reveal()
        self._place()

    def _place(self) -> None:
        """Numbers on both sides of A_i; the precision grows with the bits, and with the size of the gap."""
        size = self.shift.numerator.bit_length() - self.shift.denominator.bit_length()
        value, bits = self.uniform.value, self.uniform.bits
        with working_precision(self.uniform.precision + max(size, 0)):
            shift = ball(self.shift)
            self.lower: arb = (self.clock.quantile(value, bits) - shift).lower()
            self.upper: arb = (self.clock.quantile(value + 1, bits) - shift).upper()


def race(
    scores: Scores, temperature: Fraction, clock: Clock, places: int, source: BitSource, tuning: Tuning = SHIPPED
) -> list[int]:
    """The candidates on the first places, greatest first; at least as many must be possible."""
    words = source.uniform(tuning.word_bits, scores.size)
    field = _Field(scores, temperature, *intervals(clock, tuning.word_bits))
    sample = tuning.sample + 64 * places
    some = np.arange(scores.size) if scores.size <= max(tuning.chunk, sample) else _spread(scores.size, sample, source)
    level = field.level(some, words[some], places)
    starts = range(0, scores.size, tuning.chunk)
    kept = np.concatenate([field.above(level, start, words[start : start + tuning.chunk]) for start in starts])
    if some.size < scores.size:
        level = field.level(kept, words[kept], places)
        kept = kept[field.greatest(scores.gaps_at(kept), words[kept]) >= level]
    return _rank_exactly(field, clock, kept, words[kept], places, source, tuning)


def races(
    scores: Scores, temperature: Fraction, clock: Clock, places: int, count: int, source: BitSource, tuning: Tuning = SHIPPED
) -> NDArray[np.int64]:
    """Independent races on the same scores, in a row each: int64 array of shape (count, places)."""
    possible = scores.possible()
    entrants = scores.only(possible)
    field = _Field(entrants, temperature, *intervals(clock, tuning.word_bits))
    results = np.empty((count, places), dtype=np.int64)
    rows = max(1, 4 * tuning.chunk // entrants.size)
    for start in range(0, count, rows):
        part = results[start : start + rows]
        words = source.uniform(tuning.word_bits, part.shape[0] * entrants.size).reshape(-1, entrants.size)
        gaps = np.broadcast_to(entrants.gaps(0, entrants.size), words.shape)
        part[:], decided = _ranks(field.smallest(gaps.copy(), words), field.greatest(gaps.copy(), words), places)
        for row in np.flatnonzero(~decided):
            kept = field.above(field.level(np.arange(entrants.size), words[row], places), 0, words[row])
            part[row] = _rank_exactly(field, clock, kept, words[row, kept], places, source, tuning)
    return possible[results]


@dataclass(frozen=True, eq=False)
class _Field:
    """All candidates at once, in floats: `least` and `most` noise by the bits drawn."""

    scores: Scores
    temperature: Fraction
    least: NDArray[np.float64]
    most: NDArray[np.float64]

    def smallest(self, gaps: NDArray[np.float64], words: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
        """Lower ends of A, but for a rounding and underflow that `_lowered` makes good; the gaps are overwritten."""
        return np.subtract(self.least.take(words, mode="clip"), self._far(gaps), out=gaps)

    def greatest(self, gaps: NDArray[np.float64], words: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
        """Upper ends of A, but for the same; the gaps are overwritten."""
        return np.subtract(self.most.take(words, mode="clip"), self._near(gaps), out=gaps)

    def _far(self, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gaps turned into what they are at most over the temperature."""
        with np.errstate(over="ignore"):
            return np.multiply(gaps, _rates(self.temperature)[1], out=gaps)

    def _near(self, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gaps turned into what they are at least; one that no float holds is at least the largest float."""
        rate = _rates(self.temperature)[0]
        with np.errstate(over="ignore"):
            np.multiply(gaps, rate, out=gaps)
        return np.minimum(gaps, _LARGEST_FLOAT * min(rate, 1.0), out=gaps)

    def ends(
        self, clock: Clock, positions: NDArray[np.intp], first: NDArray[np.int64], bits: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends of some candidates, with the noise from more bits than the tables know."""
        least, most = clock.between(first, bits)
        gaps = self.scores.gaps_at(positions)
        return least - self._far(gaps.copy()), most - self._near(gaps)

    def level(self, positions: NDArray[np.intp], words: NDArray[np.unsignedinteger], places: int) -> float:
        """A number that as many of these candidates exceed as there are places; minus infinity where none is known."""
        if positions.size < places:
            return -np.inf
        ends = self.smallest(self.scores.gaps_at(positions), words)
        return float(_lowered(np.partition(ends, -places)[-places]))

    def above(self, level: float, start: int, words: NDArray[np.unsignedinteger]) -> NDArray[np.intp]:
        """Positions in a range of candidates that may exceed the level."""
        return np.flatnonzero(self.greatest(self.scores.gaps(start, start + words.size), words) >= level) + start


def _ranks(lower: NDArray[np.float64], upper: NDArray[np.float64], places: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The order of each row by lower ends, and whether it is certain that A has the same."""
    if places == 1:
        first = lower.argmax(axis=1)[:, None]
        level = _lowered(np.take_along_axis(lower, first, axis=1))
        return first, np.count_nonzero(upper < level, axis=1) == upper.shape[1] - 1
    ranks = np.argsort(-lower, axis=1, kind="stable")
    level = _lowered(np.take_along_axis(lower, ranks[:, :places], axis=1))
    upper = np.take_along_axis(upper, ranks, axis=1)
    behind = np.maximum.accumulate(upper[:, ::-1], axis=1)[:, ::-1][:, 1 : places + 1]
    return ranks[:, :places], np.all(behind < level[:, : behind.shape[1]], axis=1)


def _rank_exactly(
    field: _Field,
    clock: Clock,
    positions: NDArray[np.intp],
    words: NDArray[np.unsignedinteger],
    places: int,
    source: BitSource,
    tuning: Tuning,
) -> list[int]:
    """The candidates on the first places among those that may be there: by more bits in floats, and by balls if need be."""
    gaps = [field.scores.gap(position) for position in positions.tolist()]
    possible = np.array([gap is not None for gap in gaps])
    positions, bits = positions[possible], tuning.word_bits + tuning.more_bits
    more = source.uniform(tuning.more_bits, positions.size).astype(np.int64)
    first = words[possible].astype(np.int64) << tuning.more_bits | more
    lower, upper = field.ends(clock, positions, first, bits)
    ranks, decided = _ranks(lower[None], upper[None], places)
    if decided[0]:
        return [int(position) for position in positions[ranks[0]]]
    shifts = [gap / field.temperature for gap in gaps if gap is not None]
    runners = [
        Runner(position, shift, LazyUniform.begun(source, value, bits, tuning.step), clock)
        for position, shift, value in zip(positions.tolist(), shifts, first.tolist(), strict=True)
    ]
    return order(runners, places)


def _lowered(ends: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """Numbers below by more than what one rounding and products too small for a float can make of an end."""
    return np.nextafter(np.asarray(ends) - 2.0**-100, -np.inf)


def _spread(size: int, count: int, source: BitSource) -> NDArray[np.intp]:
    """One random position in each of `count` stretches of equal length."""
    stretch = size // count
    inside = (source.uniform(32, count).astype(np.uint64) * np.uint64(stretch)) >> np.uint64(32)
    return np.arange(0, stretch * count, stretch) + inside.astype(np.intp)


@lru_cache(maxsize=128)
def _rates(temperature: Fraction) -> tuple[float, float]:
    """1 / temperature lowered and raised by 2^-49, more than gap, rate and product are rounded by."""
    with working_precision(128):
        rate, margin = 1 / ball(temperature), arb((1, -49))
        lower, upper = (ball_endpoints(rate * factor) for factor in (1 - margin, 1 + margin))
    return float(lower[0]), float(upper[1])


def order(runners: list[Runner], places: int) -> list[int]:
    """Indices of the greatest, in order; while a place is open, the one it is open for that drew the fewest bits draws more."""
    while True:
        runners.sort(key=lambda runner: runner.lower, reverse=True)
        doubtful = _doubtful(runners, places)
        if not doubtful:
            return [runner.index for runner in runners[:places]]
        min(doubtful, key=lambda runner: runner.uniform.bits).advance()


def _doubtful(runners: list[Runner], places: int) -> list[Runner]:
    """Those of the runners, sorted by lower ends, whose intervals leave a place open that counts."""
    doubtful, highest = [], arb.neg_inf()
    for position in reversed(range(len(runners))):
        runner, last = runners[position], min(position, places) - 1
        overtaken = position < places and highest > runner.lower
        overtakes = last >= 0 and runner.upper > runners[last].lower
        if overtaken or overtakes:
            doubtful.append(runner)
        highest = highest.max(runner.upper)
    return doubtful
