"""Permute-and-flip by coins: every candidate flips one that shows heads with probability e^-x, and one of the heads is drawn.

The textbook walks through the candidates in a random order and stops at the first head. The order is independent of the coins, so
the first head in it is uniform among all heads; with all coins flipped, the number of steps no longer depends on the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpaudit.exact import Enclosure, Reason, working_precision
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import BitSource
from mechanisms.selection.clocks import EXPONENTIAL
from mechanisms.selection.proposals import FEW, SURE_ACCEPTANCE, few_weights, staircase, true_weight
from mechanisms.selection.race import race
from mechanisms.selection.scores import Scores


@dataclass(frozen=True)
class Tuning:
    """Sizes that the law does not depend on: `bits`, from 1 to 62, of a coin and of the place drawn; `step` for more."""

    bits: int = 62
    step: int = 64


SHIPPED: Final = Tuning()

_COINS: Final = 1000
"""Up to this many candidates coins are quicker than a race."""


def first_head(scores: Scores, temperature: Fraction, source: BitSource) -> int:
    """The candidate chosen by permute-and-flip, in one of two ways to the same law; the number of candidates decides which."""
    if scores.size <= _COINS:
        return flip(scores, temperature, source)
    return race(scores, temperature, EXPONENTIAL, 1, source)[0]


def flip(scores: Scores, temperature: Fraction, source: BitSource, tuning: Tuning = SHIPPED) -> int:
    """The candidate chosen by permute-and-flip."""
    heads = _heads(scores, temperature, source, tuning)
    return heads[below(len(heads), LazyUniform(source, tuning.bits, tuning.step))]


def _heads(scores: Scores, temperature: Fraction, source: BitSource, tuning: Tuning) -> list[int]:
    """Candidates whose coin shows heads; the best is always one of them.

    With the staircase weights U of precision S, w 2^S lies between (U - 1) SURE_ACCEPTANCE and U, and a coin of S bits that lies
    outside is decided by comparison.
    """
    coins = source.uniform(tuning.bits, scores.size)
    if scores.size <= FEW:
        pairs = enumerate(zip(coins.tolist(), few_weights(scores, temperature, tuning.bits), strict=True))
        close = [(index, coin + 1 < (weight - 1) * SURE_ACCEPTANCE) for index, (coin, weight) in pairs if coin < weight]
    else:
        numbers = coins.astype(np.int64)
        weights = staircase(scores.gaps(0, scores.size), temperature, tuning.bits)
        positions = np.flatnonzero(numbers < weights)
        sure = numbers[positions] + 1 < (weights[positions] - 1) * SURE_ACCEPTANCE
        close = list(zip(positions.tolist(), sure.tolist(), strict=True))
    return [index for index, sure in close if sure or _shows(scores, temperature, index, int(coins[index]), source, tuning)]


def _shows(scores: Scores, temperature: Fraction, index: int, coin: int, source: BitSource, tuning: Tuning) -> bool:
    """True if a coin that the staircase leaves open shows heads."""
    return LazyUniform.begun(source, coin, tuning.bits, tuning.step).less(true_weight(scores, index, temperature))


def below(count: int, uniform: LazyUniform) -> int:
    """The integer part of `count` times a uniform number: uniform below `count`, and nothing is drawn again."""
    while True:
        least, most = (uniform.value * count) >> uniform.bits, ((uniform.value + 1) * count - 1) >> uniform.bits
        if least == most:
            return least
        uniform.reveal()


def head_probabilities(scores: Scores, temperature: Fraction) -> list[Enclosure]:
    """The probability of each candidate: that its coin shows heads, times the expectation of 1 / (1 + heads among the others)."""
    reason = Reason("P(i) = w_i E[1 / (1 + H)], H the number of heads among the other candidates (docs/selection_and_queries.md)")
    with working_precision(256):
        weights = [true_weight(scores, index, temperature)(256) for index in range(scores.size)]
        found = [weight * _share(weights[:index] + weights[index + 1 :]) for index, weight in enumerate(weights)]
        return [Enclosure.from_ball(probability, reason, lowest=Fraction(0), highest=Fraction(1)) for probability in found]


def _share(weights: list[arb]) -> arb:
    """E[1 / (1 + H)] for the number H of heads among independent coins."""
    counts = [arb(1)]
    for weight in weights:
        tails = [count * (1 - weight) for count in counts]
        heads = [count * weight for count in counts]
        counts = [left + right for left, right in zip([*tails, arb(0)], [arb(0), *heads], strict=True)]
    return sum((count / (number + 1) for number, count in enumerate(counts)), start=arb(0))
