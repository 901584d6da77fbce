"""Exponential mechanism over counts, by level: which count, then which of the candidates that have it, however many there are."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact
from dpaudit.releases import Release, note
from mechanisms.exponential import ExponentialMechanism
from mechanisms.noise import bit_source
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.selection.proposals import SURE_ACCEPTANCE, TABLE_PRECISION, staircase, true_weight
from mechanisms.selection.scores import Scores, read_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mechanisms.sampling.random import BitSource

Candidate = TypeVar("Candidate")

LARGEST_SIZE: Final = 2**60
"""More candidates would make trials fail often, however far behind the candidates are."""


@dataclass(frozen=True)
class Widths:
    """Random bits of a trial: `spare` more than the total has, and those of the coin, so that a test can go through all tapes."""

    spare: int = 128
    coin: int = 64
    step: int = 64


SHIPPED: Final = Widths()


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels that have candidates: their counts as scores, how many candidates each has, and a weight above that of each candidate.

    `weights` holds integers of at least e^-(gap / temperature) 2^precision, `sums` the running totals over all candidates.
    """

    scores: Scores
    temperature: Fraction
    precision: int
    weights: tuple[int, ...]
    sums: tuple[int, ...]

    def find(self, number: int) -> tuple[int, int]:
        """The level, by position, and the place in it whose weight covers a number below the total."""
        position = bisect_right(self.sums, number)
        before = self.sums[position - 1] if position else 0
        return position, (number - before) // self.weights[position]


def counts_mechanism(*, epsilon: Exact, adjacency: Adjacency | str) -> ExponentialMechanism:
    """The exponential mechanism for a number of errors, whose sensitivity is 1 (McSherry and Talwar 2007)."""
    relation = Adjacency.of(adjacency)
    return ExponentialMechanism(sensitivity=1, epsilon=epsilon, monotonic=relation.kind == "zero_out", adjacency=relation)


def choice_release(mechanism: ExponentialMechanism) -> Release:
    """The entry of the release log for one choice by a mechanism."""
    parameters = (("monotonic", Fraction(int(mechanism.monotonic))), ("temperature", mechanism.temperature))
    return Release("exponential_mechanism", parameters, mechanism.sensitivity, mechanism.adjacency)


def choose_level(
    multiplicities: Sequence[int] | NDArray[np.int64],
    candidate: Callable[[int, int], Candidate],
    mechanism: ExponentialMechanism,
    source: BitSource | None = None,
    *,
    scores: Callable[[], Any],
) -> Candidate:
    """Choose a candidate, with the law of `mechanism.release` on minus all counts (McSherry and Talwar 2007)."""
    numbers = _checked(multiplicities)
    levels = weigh(numbers, mechanism.temperature)
    bits = bit_source(source)
    hold = note(replace(choice_release(mechanism), secure=bits.secure))
    found = None
    while found is None:
        found = trial(levels, bits)
    present = [level for level, number in enumerate(numbers) if number]
    chosen = candidate(present[found[0]], found[1])
    return chosen if hold is None else hold(scores(), chosen)


def weigh(numbers: Sequence[int], temperature: Fraction, precision: int = TABLE_PRECISION) -> Levels:
    """Levels with a weight above that of each of their candidates, from the table that choices among scores use."""
    present = np.flatnonzero(np.array(numbers, dtype=np.int64))
    scores = read_scores(-present)
    weights = staircase(scores.gaps(0, scores.size), temperature, precision).tolist()
    sums = accumulate(numbers[level] * weight for level, weight in zip(present.tolist(), weights, strict=True))
    return Levels(scores, temperature, precision, tuple(weights), tuple(sums))


def trial(levels: Levels, source: BitSource, widths: Widths = SHIPPED) -> tuple[int, int] | None:
    """One trial: the position of a level and a place in it, or None when the proposal is refused."""
    total = levels.sums[-1]
    width = total.bit_length() + widths.spare
    number = source.bits(width)
    if number >= (1 << width) // total * total:
        return None
    position, place = levels.find(number % total)
    weight, coin = levels.weights[position], LazyUniform(source, widths.coin, widths.step)
    # What the certified bound leaves open is decided by balls.
    if coin.value + 1 < SURE_ACCEPTANCE * 2.0**coin.bits * (1.0 - 1.0 / weight):
        return position, place
    scaled = true_weight(levels.scores, position, levels.temperature)
    return (position, place) if coin.less(lambda precision: scaled(precision) * 2**levels.precision / weight) else None


def _checked(multiplicities: Any) -> list[int]:
    """Multiplicities as Python's integers."""
    read = np.asarray(multiplicities)
    if read.ndim != 1 or read.dtype.kind not in "iu":
        raise InvalidArgument("DPA105", f"multiplicities must be integers in one dimension, got {read.dtype} in {read.ndim}.")
    numbers: list[int] = read.tolist()
    if min(numbers, default=0) < 0 or sum(numbers) > LARGEST_SIZE:
        raise InvalidArgument(
            "DPA103", "multiplicities must be at least 0 and sum to at most 2**60. Choose among fewer candidates."
        )
    if not any(numbers):
        raise InvalidArgument("DPA109", "multiplicities must hold at least one candidate, got none. Give a level that has one.")
    return numbers
