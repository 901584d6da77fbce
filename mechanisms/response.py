"""Randomized response: each person reports their own category with a known probability, else another one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Exact, Reason, ball, ball_endpoints, integer, positive, shown, working_precision
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.entries import name_contents
from mechanisms.noise import open_release, read_count
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import BitSource
from mechanisms.sampling.uniform import draw_below, draw_many_below

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

_ADJACENCIES: Final = ("replace_one", "label")
_LARGEST_CATEGORIES: Final = 2**24
_SMALLEST_USEFUL: Final = Fraction(1, 10**300)
_LARGEST_USEFUL: Final = Fraction(700)
_SHOWN_PRECISION: Final = 128


@dataclass(frozen=True, init=False)
class RandomizedResponse:
    """Reports a category truthfully with probability e^epsilon / (e^epsilon + categories - 1), else each other one equally often.

    An array holds one person's category per entry, and each entry is randomised on its own: a person stands in one entry only,
    so the whole array of reports costs each person epsilon once.

    Args:
      epsilon: privacy parameter in nats, exact and positive.
      categories: how many categories there are, 2 to 2**24; they are numbered from 0.
      adjacency: "replace_one" (the category changes) or "label" (the category is a label). The number of reports is public,
        so that adding or removing a person is not covered.
    Raises:
      InvalidArgument: `epsilon` is not a number (DPA101, DPA102) or not positive (DPA104), `categories` is no integer (DPA105)
        or out of range (DPA103), or the adjacency is not covered (DPA103).
    Source: Warner 1965; Kairouz, Oh, Viswanath 2016 (k-ary form).
    Example:
      >>> RandomizedResponse(epsilon=1, categories=3).release(2) in {0, 1, 2}
      True
    """

    epsilon: Fraction
    categories: int
    adjacency: Adjacency

    to_dict = noise.to_dict

    def __init__(self, *, epsilon: Exact, categories: int = 2, adjacency: Adjacency | str = "replace_one") -> None:
        relation = Adjacency.of(adjacency)
        if relation.kind not in _ADJACENCIES:
            raise InvalidArgument(
                "DPA103",
                f"adjacency must be {' or '.join(_ADJACENCIES)} for randomized response, got {relation}. "
                "Everybody's report is published, so who takes part is not hidden.",
            )
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "categories", integer(categories, "categories", lower=2, upper=_LARGEST_CATEGORIES))
        object.__setattr__(self, "adjacency", relation)

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy for each person."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact privacy loss of one report."""
        from dpaudit.accounting import randomized_response

        return randomized_response(epsilon=self.epsilon, categories=self.categories, adjacency=self.adjacency)

    @property
    def keep_probability(self) -> Enclosure:
        """The probability that a report is the truth, e^epsilon / (e^epsilon + categories - 1)."""
        with working_precision(_SHOWN_PRECISION):
            probability = truth_probability(self.epsilon, self.categories)(_SHOWN_PRECISION)
            return Enclosure.from_ball(probability, Reason("exponential in ball arithmetic"), lowest=0, highest=1)

    @overload
    def release(self, value: NDArray[Any], source: BitSource | None = None) -> NDArray[np.int64]: ...
    @overload
    def release(self, value: int, source: BitSource | None = None) -> int: ...
    def release(self, value: int | NDArray[Any], source: BitSource | None = None) -> int | NDArray[np.int64]:
        """One report for each person.

        Args:
          value: a category from 0 to categories - 1, or an integer array of any shape with one person's category per entry.
          source: random bits; None takes the operating system's.
        Returns:
          An int, or a new int64 array of the same shape.
        Raises:
          InvalidArgument: wrong type (DPA105), not a category (DPA103) or empty (DPA109), before randomness is drawn.
        Source: Warner 1965.
        Example:
          >>> RandomizedResponse(epsilon=1).release(np.array([0, 1, 1])).shape
          (3,)
        """
        truth = self._checked(value)
        bits, hold = open_release(self._record, source, dimension=truth.size if isinstance(truth, np.ndarray) else 1)
        if isinstance(truth, np.ndarray):
            many = np.asarray(reports(truth, 1, self.epsilon, self.categories, bits)[0])
            return many if hold is None else hold(truth, many)
        one = report(truth, self.epsilon, self.categories, bits)
        return one if hold is None else hold(truth, one)

    def releases(self, value: int | NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[np.int64]:
        """Independent reports on the same categories, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          int64 array of shape (count, *shape of the value).
        Example:
          >>> RandomizedResponse(epsilon=1).releases(1, 5).shape
          (5,)
        """
        truth, copies = np.asarray(self._checked(value)), read_count(count)
        bits, hold = open_release(self._record, source, count=copies, dimension=truth.size)
        answers = reports(truth, copies, self.epsilon, self.categories, bits)
        return answers if hold is None else hold(truth, answers)

    def estimate(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Unbiased estimate of how the true categories are distributed, from the reports alone.

        Args:
          reports: integer array of released reports.
        Returns:
          float64 array, one estimated share per category; the shares sum to 1, and may be below 0 or above 1 by chance.
        Raises:
          InvalidArgument: wrong type (DPA105), not a category (DPA103) or empty (DPA109).
        Source: Warner 1965; it reads released numbers only, so it costs no privacy.
        Example:
          >>> RandomizedResponse(epsilon=50).estimate(np.array([0, 1, 1, 1])).tolist()
          [0.25, 0.75]
        """
        lie, gap = self._odds()
        shares: NDArray[np.float64] = (self._shares(reports) - lie) / gap
        return shares

    def standard_error(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Standard errors of the estimate, relative to the true shares of those who reported, from the reports alone.

        Args:
          reports: integer array of released reports.
        Returns:
          float64 array, one standard error per category. Its square is on average at least the variance of the estimate: it counts
          the spread of the truth as well.
        Raises:
          InvalidArgument: wrong type (DPA105), not a category (DPA103), or fewer than two reports (DPA109).
        Source: Warner 1965; it reads released numbers only, so it costs no privacy.
        Example:
          >>> RandomizedResponse(epsilon=1).standard_error(np.arange(10_000) % 2).round(4).tolist()
          [0.0108, 0.0108]
        """
        shares, (_, gap), degrees = self._shares(reports), self._odds(), np.size(reports) - 1
        if not degrees:
            raise InvalidArgument("DPA109", "one report has no spread. Give at least two.")
        # Reports of different truths have a smaller variance than equally many from the mixture of their laws.
        errors: NDArray[np.float64] = np.sqrt(shares * (1 - shares) / degrees) / gap
        return errors

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"randomized response over {self.categories} categories; epsilon {shown(self.epsilon)} a person under {self.adjacency}"
        )

    @cached_property
    def _record(self) -> Release:
        """The entry of the release log for one report."""
        parameters = (("categories", Fraction(self.categories)), ("epsilon", self.epsilon))
        return Release("randomized_response", parameters, Fraction(1), self.adjacency)

    def _checked(self, value: int | NDArray[Any]) -> int | NDArray[np.int64]:
        """A category, or categories as an int64 array of the same shape, refused if any is none; the message shows no value."""
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in "iu":
                raise InvalidArgument(
                    "DPA105", f"categories must be integers, got an array of {name_contents(value)}. Number them from 0."
                )
            if value.size == 0:
                raise InvalidArgument("DPA109", "the array of categories is empty. Give at least one.")
            least, greatest = int(value.min()), int(value.max())
        else:
            least = greatest = integer(value, "the category")
        if least < 0 or greatest >= self.categories:
            raise InvalidArgument(
                "DPA103", f"categories must be from 0 to {self.categories - 1}, and at least one is not. Number them from 0."
            )
        return value.astype(np.int64) if isinstance(value, np.ndarray) else least

    def _shares(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Share of each category among the reports."""
        counts = np.bincount(np.asarray(self._checked(reports)).reshape(-1), minlength=self.categories)
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    def _odds(self) -> tuple[float, float]:
        """Probability of one particular lie, and how much likelier the truth is."""
        # Outside this range an estimate is all noise or none, and floats could not represent the difference.
        epsilon = float(min(max(self.epsilon, _SMALLEST_USEFUL), _LARGEST_USEFUL))
        total = 1.0 + (self.categories - 1) * math.exp(-epsilon)
        return math.exp(-epsilon) / total, -math.expm1(-epsilon) / total


def reports(
    truth: NDArray[np.int64], count: int, epsilon: Fraction, categories: int, source: BitSource, *, bits: int = 64, step: int = 64
) -> NDArray[np.int64]:
    """`count` reports on every entry, along a new first axis; whoever lies and whoever does not draws the same bits."""
    size = count * truth.size
    lies = ~draw_honesty(epsilon, categories, size, source, bits=bits, step=step).reshape(count, *truth.shape)
    other = draw_many_below(categories - 1, size, source).reshape(lies.shape)
    other += other >= truth
    return np.where(lies, other, truth)


def report(truth: int, epsilon: Fraction, categories: int, source: BitSource, *, bits: int = 64, step: int = 64) -> int:
    """One report, by the same steps as `reports`."""
    border, digits = threshold(epsilon, categories, bits), source.bits(bits)
    honest = digits < border
    if digits == border:
        honest = LazyUniform.begun(source, border, bits, step).less(truth_probability(epsilon, categories))
    other = draw_below(categories - 1, source)
    return truth if honest else other + (other >= truth)


def truth_probability(epsilon: Fraction, categories: int) -> Callable[[int], arb]:
    """Balls around the probability of a truthful report, for `LazyUniform.less`."""

    def probability(_precision: int) -> arb:
        """The ball at the current working precision, in a form that no epsilon overflows."""
        return 1 / (1 + (categories - 1) * (-ball(epsilon)).exp())

    return probability


@lru_cache(maxsize=64)
def threshold(epsilon: Fraction, categories: int, bits: int) -> int:
    """Floor of 2**bits times the probability of the truth: numbers of that many bits other than it decide by comparison."""
    probability = truth_probability(epsilon, categories)
    for precision in (256, 4096):
        with working_precision(precision):
            lower, upper = ball_endpoints(probability(precision) * 2**bits)
        floors = {min(math.floor(end), 2**bits - 1) for end in (lower, upper)}
        if len(floors) == 1:
            return int(floors.pop())
    raise AssertionError("e**epsilon is transcendental, so 4096 bits separate it from a rational of 64")


def draw_honesty(
    epsilon: Fraction, categories: int, size: int, source: BitSource, *, bits: int = 64, step: int = 64
) -> NDArray[np.bool_]:
    """`size` independent exact coins: `bits` bits decide each, and further ones the one number of 2**bits that leaves it open."""
    border = threshold(epsilon, categories, bits)
    words = source.uniform(bits, size)
    result: NDArray[np.bool_] = words < np.uint64(border)
    for position in np.nonzero(words == np.uint64(border))[0]:
        result[position] = LazyUniform.begun(source, border, bits, step).less(truth_probability(epsilon, categories))
    return result
