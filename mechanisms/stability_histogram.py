"""Stability histogram: keys that nobody listed beforehand, released with noisy counts where these reach a certified threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, ApproxDP, Claim
from dpaudit.exact import Exact, ball, ball_endpoints, in_range, integer, positive, shown, working_precision
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.laws import DiscreteLaplace
from mechanisms.noise import open_release, read_count, store
from mechanisms.people import Entries, Key, keys_of, limit_contributions, read_entries, read_people, units
from mechanisms.sampling.random import BitSource
from mechanisms.steps import format_of

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class StabilityHistogram:
    """Counts people by keys that come from the data: a key is released with its noisy count if that reaches a threshold.

    Only keys that somebody has get noise, so the set of released keys could reveal a single person; the threshold is the least
    integer at which that has probability at most delta. A person counts at most once a key and in at most `contributions` of them:
    the first different ones among that person's records.

    Args:
      epsilon: privacy parameter in nats, exact and positive.
      delta: failure probability, exact, between 0 and 1.
      contributions: for how many keys one person counts, at least 1.
      adjacency: "add_remove" (a person with all records more or less) or "replace_one" (one person's records are others).
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), of the wrong type (DPA105), out of range
        (DPA103), or the noise is more than arrays hold (DPA108).
    Source: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016; docs/selection_and_queries.md, stability theorem.
    Example:
      >>> mechanism = StabilityHistogram(epsilon=1, delta="1e-6")
      >>> mechanism.threshold, list(mechanism.release(["often"] * 5000 + ["once"]))
      (15, ['often'])
    """

    epsilon: Fraction
    delta: Fraction
    contributions: int
    adjacency: Adjacency

    to_dict = noise.to_dict

    def __init__(self, *, epsilon: Exact, delta: Exact, contributions: int = 1, adjacency: Adjacency | str = "add_remove") -> None:
        store(self, epsilon=positive(epsilon, "epsilon"), adjacency=Adjacency.of(adjacency))
        store(self, delta=in_range(delta, "delta", lower=0, upper=1, lower_open=True, upper_open=True))
        store(self, contributions=integer(contributions, "contributions", lower=1))
        format_of(Fraction(1)).require_room(self.scale)
        _ = self.threshold

    @property
    def scale(self) -> Fraction:
        """Scale of the noise, in people."""
        return self._moves / self.epsilon

    @cached_property
    def threshold(self) -> int:
        """The least noisy count that is released."""
        return 1 + least_shift(self.scale, self.delta, self.contributions)

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: approximate differential privacy."""
        return Claim(ApproxDP(epsilon=self.epsilon, delta=self.delta), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss that approximate differential privacy allows."""
        from dpaudit.accounting import approx_dp

        return approx_dp(self.epsilon, delta=self.delta, adjacency=self.adjacency)

    def release(self, values: Entries, source: BitSource | None = None, *, people: Entries | None = None) -> dict[Key, int]:
        """The keys that many people have, with noisy counts.

        Args:
          values: the key of each record; a sequence, or a 1-dimensional array. Ints and strings are keys (True is the key 1); a
            record of anything else counts nowhere and raises no error. May be empty.
          source: random bits; None takes the operating system's.
          people: the person of each record, anything that can be a dictionary's key; records whose person is None or NaN count
            nowhere. None where every record is another person's, which is possible for contributions=1 only.
        Returns:
          Noisy count, at least `threshold`, by key; ints in increasing order, then strings in theirs.
        Raises:
          InvalidArgument: not columns of equal length (DPA105), or `people` is missing (DPA106), before randomness is drawn.
        Source: Korolova, Kenthapadi, Mishra, Ntoulas 2009.
        Example:
          >>> StabilityHistogram(epsilon=1, delta="1e-6", contributions=2).release([7, 7, 8], people=["a", "a", "a"])
          {}
        """
        return self.releases(values, 1, source, people=people)[0]

    def releases(
        self, values: Entries, count: int, source: BitSource | None = None, *, people: Entries | None = None
    ) -> list[dict[Key, int]]:
        """Independent releases of the same records, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          `count` results as `release` gives them.
        Example:
          >>> StabilityHistogram(epsilon=1, delta="1e-6").releases([], 2)
          [{}, {}]
        """
        keys, people_with = count_keys(values, people, self.contributions)
        copies = read_count(count)
        bits, hold = open_release(self._record, source, count=copies)
        noisy = self._law.sample(copies * len(keys), source=bits).reshape(copies, len(keys)) + people_with
        result = [{keys[place]: int(row[place]) for place in np.flatnonzero(row >= self.threshold).tolist()} for row in noisy]
        return result if hold is None else hold(dict(zip(keys, people_with.tolist(), strict=True)), result)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"counts of keys from the data, a person for at most {self.contributions} of them, under {self.adjacency}; discrete "
            f"Laplace noise of scale {shown(self.scale)}, released from {self.threshold} up; epsilon {shown(self.epsilon)}, "
            f"delta {shown(self.delta)}"
        )

    @property
    def _moves(self) -> int:
        """The number of counts that may differ between neighbours, each by 1."""
        return units(self.adjacency) * self.contributions

    @cached_property
    def _law(self) -> DiscreteLaplace:
        """The noise of one count."""
        return DiscreteLaplace(self.scale)

    @cached_property
    def _record(self) -> Release:
        """The entry of the release log for one release; nothing in it depends on which keys there are."""
        parameters = (
            ("contributions", Fraction(self.contributions)),
            ("scale", self.scale),
            ("threshold", Fraction(self.threshold)),
        )
        return Release("stability_histogram", parameters, Fraction(self._moves), self.adjacency)


def count_keys(values: Entries, people: Entries | None, contributions: int) -> tuple[list[Key], NDArray[np.int64]]:
    """The keys that somebody has, in their public order, and how many people have each, every person bounded."""
    entries = read_entries(values, "values")
    persons = read_people(people, len(entries), contributions)
    places, keys = keys_of(entries)
    counts = np.bincount(limit_contributions(places, persons, contributions), minlength=len(keys)).astype(np.int64)
    present = sorted(np.flatnonzero(counts).tolist(), key=lambda place: (isinstance(keys[place], str), keys[place]))
    return [keys[place] for place in present], counts[present]


def least_shift(scale: Fraction, delta: Fraction, contributions: int) -> int:
    """The least m >= 1 for which noise reaches m with a probability t that the stability theorem allows.

    With q = exp(-1 / scale) that is t = q^m / (1 + q); allowed are 1 - (1 - t)^contributions <= delta and t <= 1 - q.
    """
    bits = 192 + sum(abs(value.numerator.bit_length() - value.denominator.bit_length()) for value in (scale, delta))
    with working_precision(bits + contributions.bit_length()):
        allowed = -((-ball(delta)).log1p() / contributions).expm1()
        shifts = (_shift_for(allowed, scale), _shift_for(-(ball(-1 / scale).expm1()), scale))
        # The upper end is on the safe side, and is the least shift itself unless a real number lies within 2**-128 of an integer.
        return max(1, *(ceil(ball_endpoints(shift)[1]) for shift in shifts))


def _shift_for(probability: arb, scale: Fraction) -> arb:
    """The real m at which q^m / (1 + q) is a probability."""
    return -ball(scale) * (probability.log() + ball(-1 / scale).exp().log1p())
