"""Partition selection: which keys of the data may be shown, each with the largest probability that any private rule allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, ApproxDP, Claim
from dpaudit.exact import Exact, ball, ball_endpoints, in_range, integer, positive, shown, working_precision
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.noise import open_release, read_count, store
from mechanisms.people import Entries, Key, units
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import BitSource
from mechanisms.stability_histogram import count_keys

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class PartitionSelection:
    """Selects keys that come from the data: each with the largest probability, by how many people have it, that is private.

    No count is released. For one contribution under add_remove no private rule shows any key more often. A person counts at most
    once a key and for at most `contributions` of them: the first different ones among that person's records.

    Args:
      epsilon: privacy parameter in nats, exact and positive.
      delta: failure probability, exact, between 0 and 1.
      contributions: for how many keys one person counts, at least 1.
      adjacency: "add_remove" (a person with all records more or less) or "replace_one" (one person's records are others).
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), of the wrong type (DPA105) or out of
        range (DPA103).
    Source: Desfontaines, Voss, Gipson, Mandayam 2022; docs/selection_and_queries.md, "Optimal key selection".
    Example:
      >>> PartitionSelection(epsilon=1, delta="1e-6").release(["often"] * 50 + ["once"])
      ['often']
    """

    epsilon: Fraction
    delta: Fraction
    contributions: int
    adjacency: Adjacency

    to_dict = noise.to_dict

    def __init__(self, *, epsilon: Exact, delta: Exact, contributions: int = 1, adjacency: Adjacency | str = "add_remove") -> None:
        limit = Fraction(2) ** 64
        store(self, epsilon=in_range(positive(epsilon, "epsilon"), "epsilon", lower=1 / limit, upper=limit))
        store(self, delta=in_range(delta, "delta", lower=0, upper=1, lower_open=True, upper_open=True))
        store(self, contributions=integer(contributions, "contributions", lower=1, upper=2**32))
        store(self, adjacency=Adjacency.of(adjacency))
        _ = self._rule

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: approximate differential privacy."""
        return Claim(ApproxDP(epsilon=self.epsilon, delta=self.delta), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss that approximate differential privacy allows."""
        from dpaudit.accounting import approx_dp

        return approx_dp(self.epsilon, delta=self.delta, adjacency=self.adjacency)

    def release(self, values: Entries, source: BitSource | None = None, *, people: Entries | None = None) -> list[Key]:
        """The selected keys.

        Args:
          values: the key of each record, as for `StabilityHistogram.release`.
          source: random bits; None takes the operating system's.
          people: the person of each record, as for `StabilityHistogram.release`.
        Returns:
          Keys, ints in increasing order, then strings in theirs.
        Raises:
          InvalidArgument: not columns of equal length (DPA105), or `people` is missing (DPA106), before randomness is drawn.
        Source: Desfontaines, Voss, Gipson, Mandayam 2022.
        Example:
          >>> PartitionSelection(epsilon=1, delta="1e-6").release([3] * 100 + [1] * 100)
          [1, 3]
        """
        return self.releases(values, 1, source, people=people)[0]

    def releases(
        self, values: Entries, count: int, source: BitSource | None = None, *, people: Entries | None = None
    ) -> list[list[Key]]:
        """Independent selections from the same records, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          `count` results as `release` gives them.
        Example:
          >>> PartitionSelection(epsilon=1, delta="1e-6").releases(["a"] * 100, 2)
          [['a'], ['a']]
        """
        keys, people_with = count_keys(values, people, self.contributions)
        copies = read_count(count)
        bits, hold = open_release(self._record, source, count=copies)
        chosen = select_keys(self._rule, np.tile(people_with, copies), bits).reshape(copies, len(keys))
        result = [[keys[place] for place in np.flatnonzero(row).tolist()] for row in chosen]
        return result if hold is None else hold(dict(zip(keys, people_with.tolist(), strict=True)), result)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"optimal selection of keys from the data, a person for at most {self.contributions} of them, under {self.adjacency}; "
            f"epsilon {shown(self.epsilon)}, delta {shown(self.delta)}"
        )

    @cached_property
    def _rule(self) -> Rule:
        """The rule for one key: an equal part of the budget for each key that may differ between neighbours."""
        parts = units(self.adjacency) * self.contributions
        return Rule(self.epsilon / parts, self.delta / parts)

    @cached_property
    def _record(self) -> Release:
        """The entry of the release log for one release; nothing in it depends on which keys there are."""
        parameters = (("delta", self._rule.delta), ("epsilon", self._rule.epsilon))
        moves = units(self.adjacency) * self.contributions
        return Release("partition_selection", parameters, Fraction(moves), self.adjacency)


@dataclass(frozen=True)
class Rule:
    """The probability of selecting a key that n people have: (epsilon, delta)-private in n, and the largest such."""

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def turn(self) -> int:
        """The least number whose probability exceeds (1 - delta) / (1 + e^epsilon): up to it they grow as fast as may be."""
        bits = 192 + sum(abs(value.numerator.bit_length() - value.denominator.bit_length()) for value in (self.epsilon, self.delta))
        for precision in (bits, 4096 + bits):
            with working_precision(precision):
                rise = ball(self.epsilon).expm1()
                reached = (ball((1 - self.delta) / self.delta) * rise / (2 + rise)).log1p() / ball(self.epsilon)
                least, greatest = (floor(end) + 1 for end in ball_endpoints(reached))
            if least == greatest:
                return least
        raise AssertionError("e**epsilon is transcendental, so no power of it meets a rational function of it with other terms")

    @cached_property
    def sure(self) -> int:
        """A number from which on a key is always selected."""
        with working_precision(256):
            rest = 1 - self.probability(self.turn)
            steps = (rest * ball(self.epsilon).expm1() / ball(self.delta)).log1p() / ball(self.epsilon)
            return self.turn + max(1, ceil(ball_endpoints(steps)[1]))

    def probability(self, people: int) -> arb:
        """A ball around the probability for `people` >= 1, at the current precision; past 1 where it is 1."""
        if people == 1:
            return ball(self.delta)
        if 2 * self.delta >= 1:
            return ball(1)
        rise = ball(self.epsilon).expm1()
        first = min(people, self.turn)
        grown = ball(self.delta) * ball(self.epsilon * first).expm1() / rise
        shrunk = -ball(self.epsilon * (first - people)).expm1()
        return grown + shrunk * (1 - grown + ball(self.delta) / rise)


@lru_cache(maxsize=4096)
def border(rule: Rule, people: int, bits: int) -> int:
    """Floor of 2**bits times a key's probability, at most 2**bits: numbers of that many bits other than it decide by comparison."""
    for precision in (256, 8192):
        with working_precision(precision):
            lower, upper = (min(floor(end * 2**bits), 2**bits) for end in ball_endpoints(rule.probability(people)))
        if lower == upper:
            return int(lower)
    raise AssertionError("e**epsilon is transcendental, so 8192 bits separate the probability from a rational of 64")


def select_keys(rule: Rule, people: NDArray[np.int64], source: BitSource, *, bits: int = 62, step: int = 64) -> NDArray[np.bool_]:
    """Flip an exact, independent coin for each key: `bits` (at most 62) bits first, further ones where these are open."""
    different, places = np.unique(np.minimum(people, min(rule.sure, 2**62)), return_inverse=True)
    borders = np.array([border(rule, number, bits) for number in different.tolist()], dtype=np.int64)[places]
    words = source.uniform(bits, people.size).astype(np.int64)
    result: NDArray[np.bool_] = words < borders
    for position in np.flatnonzero(words == borders).tolist():
        uniform = LazyUniform.begun(source, int(words[position]), bits, step)
        result[position] = uniform.less(_ball_of(rule, int(people[position])))
    return result


def _ball_of(rule: Rule, people: int) -> Callable[[int], arb]:
    """The probability as `LazyUniform.less` asks for it."""
    return lambda _precision: rule.probability(people)
