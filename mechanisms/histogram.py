"""Histogram: how many people are in each of some public categories, every count with exact noise, empty categories included."""

from __future__ import annotations

import json
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, Curve, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, shown
from mechanisms.gaussian import GaussianMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noise import as_text, one_of, read_flag, store
from mechanisms.people import Entries, Key, limit_contributions, places_of, read_entries, read_people, units
from mechanisms.roots import root_above
from mechanisms.sampling.random import BitSource

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

_MOST_CATEGORIES: Final = 2**24


@dataclass(frozen=True, init=False)
class HistogramMechanism:
    """Counts people by category, with independent noise in every category, whether anybody is in it or not.

    A person counts at most once in a category and in at most `contributions` of them: the first different ones among that person's
    records. Records of other categories, whatever they hold, count nowhere, or in one more category if `other` is set.

    Args:
      categories: all categories, public, in the order of the counts: a sequence of different ints and strings, at most 2**24.
      epsilon: privacy parameter in nats for discrete Laplace noise, exact; give this, `scale` or `sigma`.
      scale: scale of discrete Laplace noise, exact, in people.
      sigma: standard deviation of rounded Gaussian noise, exact, in people.
      contributions: in how many categories one person counts, at least 1.
      other: whether records of no listed category are counted, as the last category.
      adjacency: "add_remove" (a person with all records more or less) or "replace_one" (one person's records are others).
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), of the wrong type (DPA105), out of
        range or a category given twice (DPA103), there is no category (DPA109), or not exactly one noise is given (DPA106).
    Source: Dwork, McSherry, Nissim, Smith 2006, Example 1; docs/selection_and_queries.md, "Histogram".
    Example:
      >>> mechanism = HistogramMechanism(["a", "b", "c"], epsilon=1)
      >>> noisy = mechanism.release(["a"] * 5000 + ["b", None])
      >>> noisy.shape, bool(abs(noisy[0] - 5000) < 500)
      ((3,), True)
    """

    categories: tuple[Key, ...]
    spread: Fraction
    gaussian: bool
    contributions: int
    other: bool
    adjacency: Adjacency

    def __init__(
        self,
        categories: Sequence[Key] | NDArray[Any],
        *,
        epsilon: Exact | None = None,
        scale: Exact | None = None,
        sigma: Exact | None = None,
        contributions: int = 1,
        other: bool = False,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        read_flag(other, "other")
        store(self, categories=_read_categories(categories), other=other, adjacency=Adjacency.of(adjacency))
        store(self, contributions=integer(contributions, "contributions", lower=1))
        given = one_of(epsilon=epsilon, scale=scale, sigma=sigma)
        spread = given if epsilon is None else self.moves / given
        store(self, spread=spread, gaussian=sigma is not None)
        _ = self._mechanism

    @property
    def moves(self) -> int:
        """The number of counts that may differ between neighbours, each by 1: L1 sensitivity, and square of the L2 sensitivity."""
        return min(units(self.adjacency) * self.contributions, len(self.categories) + self.other)

    @property
    def scale(self) -> Fraction | None:
        """Scale of the discrete Laplace noise, in people; None where the noise is Gaussian."""
        return None if self.gaussian else self.spread

    @property
    def sigma(self) -> Fraction | None:
        """Standard deviation of the Gaussian noise before rounding, in people; None where the noise is discrete Laplace."""
        return self.spread if self.gaussian else None

    @property
    def labels(self) -> tuple[Key | None, ...]:
        """The categories of the counts, in their order; None for everything that is no category."""
        return (*self.categories, None) if self.other else self.categories

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy, for Gaussian noise the profile of the loss."""
        guarantee = Curve(self.loss) if self.gaussian else PureDP(epsilon=self.moves / self.spread)
        return Claim(guarantee, adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one release: that of `moves` counts which all move by 1, exact for discrete Laplace noise."""
        from dpaudit.accounting import discrete_laplace, gaussian

        if self.gaussian:
            return self.moves * gaussian(sigma=self.spread, adjacency=self.adjacency)
        return self.moves * discrete_laplace(scale=self.spread, adjacency=self.adjacency)

    def counts(self, values: Entries, people: Entries | None = None) -> NDArray[np.int64]:
        """The exact counts, which are not private: for tests and audits of the sensitivity.

        Args:
          values: the category of each record; a sequence, or a 1-dimensional array. What is no category raises no error.
          people: the person of each record, anything that can be a dictionary's key; records whose person is None or NaN count
            nowhere. None where every record is another person's, which is possible for contributions=1 only.
        Returns:
          int64 array, one count of people for each of `labels`.
        Raises:
          InvalidArgument: not columns of equal length (DPA105), or `people` is missing (DPA106).
        Source: docs/selection_and_queries.md, "Bounded contributions".
        Example:
          >>> HistogramMechanism([1, 2, 3], epsilon=1, contributions=2).counts([1, 1, 3, 2, 2], people=list("aaaab")).tolist()
          [1, 1, 1]
        """
        entries = read_entries(values, "values")
        persons = read_people(people, len(entries), self.contributions)
        places = places_of(entries, self._table)
        if self.other:
            places[places < 0] = len(self.categories)
        return np.bincount(limit_contributions(places, persons, self.contributions), minlength=len(self.labels)).astype(np.int64)

    def release(self, values: Entries, source: BitSource | None = None, *, people: Entries | None = None) -> NDArray[np.int64]:
        """Noisy counts of the people in every category.

        Args:
          values: as for `counts`; may be empty.
          source: random bits; None takes the operating system's.
          people: as for `counts`.
        Returns:
          int64 array, one count for each of `labels`; a count may be negative.
        Raises:
          InvalidArgument: as for `counts`, or more noise than arrays hold (DPA108), before randomness is drawn.
        Source: Dwork, McSherry, Nissim, Smith 2006, Example 1.
        Example:
          >>> HistogramMechanism(range(4), sigma=10).release([1, 2, 2]).dtype.name
          'int64'
        """
        return self._mechanism.release(self.counts(values, people), source)

    def releases(
        self, values: Entries, count: int, source: BitSource | None = None, *, people: Entries | None = None
    ) -> NDArray[np.int64]:
        """Independent noisy histograms of the same records, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          int64 array of shape (count, number of `labels`).
        Example:
          >>> HistogramMechanism(["a", "b"], epsilon=1).releases(["a"], 3).shape
          (3, 2)
        """
        return self._mechanism.releases(self.counts(values, people), count, source)

    def named(self, counts: NDArray[np.int64]) -> dict[Key | None, int]:
        """The counts of one histogram by category.

        Args:
          counts: what `release` returned, or one row of what `releases` did.
        Returns:
          One entry for each of `labels`, in their order; the key None for everything that is no category.
        Raises:
          InvalidArgument: not one count per category (DPA105).
        Source: it reads released numbers only, so it costs no privacy.
        Example:
          >>> HistogramMechanism(["a", "b"], epsilon=1).named(np.array([3, -1]))
          {'a': 3, 'b': -1}
        """
        if np.shape(counts) != (len(self.labels),):
            wrong = f"counts must hold {len(self.labels)} numbers, got shape {np.shape(counts)}"
            raise InvalidArgument("DPA105", f"{wrong}. Give one histogram, a row of what releases() returned.")
        return dict(zip(self.labels, np.asarray(counts).tolist(), strict=True))

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        if self.gaussian:
            noise = f"rounded Gaussian noise of deviation {shown(self.spread)}"
        else:
            noise = f"discrete Laplace noise of scale {shown(self.spread)}; epsilon {shown(self.moves / self.spread)}"
        rest = " and all others" if self.other else ""
        return (
            f"histogram over {len(self.categories)} categories{rest}; a person in at most {self.contributions}, "
            f"under {self.adjacency}; {noise}"
        )

    def to_dict(self) -> dict[str, str]:
        """The mechanism as plain text values, exact, from which it can be built again; the categories as a JSON list."""
        noise = "sigma" if self.gaussian else "scale"
        return {**as_text(self, noise, "contributions", "other", "adjacency"), "categories": json.dumps(self.categories)}

    @cached_property
    def _table(self) -> dict[Key, int]:
        """The place of each category."""
        return {category: place for place, category in enumerate(self.categories)}

    @cached_property
    def _mechanism(self) -> LaplaceMechanism | GaussianMechanism:
        """The additive noise on the array of counts."""
        if self.gaussian:
            return GaussianMechanism(sensitivity=root_above(Fraction(self.moves)), sigma=self.spread, adjacency=self.adjacency)
        return LaplaceMechanism(sensitivity=self.moves, scale=self.spread, adjacency=self.adjacency)


def _read_categories(categories: object) -> tuple[Key, ...]:
    """The public categories as plain ints and strings."""
    entries = categories.tolist() if isinstance(categories, np.ndarray) else categories
    if isinstance(entries, (str, bytes)) or not isinstance(entries, Sequence):
        kind = type(entries).__name__
        raise InvalidArgument("DPA105", f"categories must be a sequence of ints and strings, got a {kind}. Give a list.")
    if not entries:
        raise InvalidArgument("DPA109", "there is no category to count. Give at least one, public, whoever is in the data.")
    if len(entries) > _MOST_CATEGORIES:
        raise InvalidArgument("DPA103", f"there may be at most 2**24 categories, got {len(entries)}. Count coarser ones.")
    keys = tuple(map(_category, entries))
    if len(set(keys)) < len(keys):
        raise InvalidArgument("DPA103", "categories must differ, and at least two are the same. List each once.")
    return keys


def _category(entry: object) -> Key:
    """One category as a plain int or str."""
    if isinstance(entry, str):
        return str(entry)
    if isinstance(entry, bool) or not isinstance(entry, numbers.Integral):
        raise InvalidArgument("DPA105", f"categories must be ints and strings, got a {type(entry).__name__}. Name it by a string.")
    return int(entry)
