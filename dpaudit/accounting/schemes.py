"""Sampling schemes as values: which records a release sees, so that its loss after sampling cannot be mistaken for another's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from dpaudit.accounting.laws.allocation import allocate
from dpaudit.accounting.laws.random_order import multiplicity_distribution, multiplicity_squares, position_squares, random_order_law
from dpaudit.accounting.laws.sampled import subsample_poisson
from dpaudit.accounting.laws.shuffling import shuffle_law
from dpaudit.accounting.laws.without_replacement import subsample_without_replacement
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Law
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, in_range, instance_of, integer, rational


@runtime_checkable
class Scheme(Protocol):
    """A way in which the records of a release are chosen."""

    def applied_to(self, loss: Composition) -> Composition:
        """The loss when every release of `loss` is made on records that the scheme chooses again."""


@dataclass(frozen=True)
class Poisson:
    """Every record enters the sample of a release with the same probability, independently of everything else.

    Args:
      rate: the probability, exact, in [0, 1].
    Raises:
      InvalidArgument: `rate` is not a finite number (DPA101, DPA102) or outside [0, 1] (DPA103).
    Source: Zhu, Dong, Wang 2022, Theorem 11; docs/sampling_schemes.md.
    Example:
      >>> from dpaudit.accounting import pure_dp
      >>> (100 * pure_dp(1).sampled(Poisson("0.01"))).delta(epsilon=2).upper < 1e-5
      True
    """

    rate: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", in_range(self.rate, "rate", lower=0, upper=1))

    def applied_to(self, loss: Composition) -> Composition:
        """The loss under add_remove; DPA202 elsewhere, where sampling amplifies less."""
        return subsample_poisson(loss, rational(self.rate))


@dataclass(frozen=True)
class WithoutReplacement:
    """Every release sees a uniformly chosen subset of a public size, of a dataset whose size is public too.

    Args:
      size: number of records in the sample, from 0 to `of`.
      of: number of records in the dataset, at least 1.
    Raises:
      InvalidArgument: a number is no integer (DPA105) or out of range (DPA103).
    Source: Balle, Barthe, Gaboardi 2018, Theorem 11; docs/sampling_schemes.md.
    Example:
      >>> from dpaudit.accounting import pure_dp
      >>> loss = pure_dp(1, adjacency="replace_one").sampled(WithoutReplacement(size=10, of=1000))
      >>> loss.epsilon(delta=0).upper < 0.0171
      True
    """

    size: int
    of: int

    def __post_init__(self) -> None:
        whole = integer(self.of, "of", lower=1)
        object.__setattr__(self, "of", whole)
        object.__setattr__(self, "size", integer(self.size, "size", lower=0, upper=whole))

    def applied_to(self, loss: Composition) -> Composition:
        """The loss under replace_one; DPA202 elsewhere, and for promises that have no privacy profile."""
        return subsample_without_replacement(loss, Fraction(self.size, self.of))


@dataclass(frozen=True)
class RandomAllocation:
    """Every record takes part in exactly one of several steps, chosen uniformly and kept secret; one epoch of balls in bins.

    Args:
      steps: number of steps of an epoch, at least 1.
    Raises:
      InvalidArgument: `steps` is no integer (DPA105) or below 1 (DPA103).
    Source: Feldman and Shenfeld 2025 (random allocation); docs/sampling_schemes.md.
    Example:
      >>> from dpaudit.accounting import explicit_pair
      >>> step = explicit_pair(["3/4", "1/4"], ["1/4", "3/4"])
      >>> step.sampled(RandomAllocation(steps=3)).delta(epsilon=0).contains("9/32")
      True
    """

    steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", integer(self.steps, "steps", lower=1))

    def applied_to(self, loss: Composition) -> Composition:
        """The loss of whole epochs, one for each release of `loss`, under add_remove or zero_out; DPA202 elsewhere."""
        _require(loss, ("add_remove", "zero_out"), "random allocation")
        return loss if self.steps == 1 else _each(loss, lambda law: allocate(law, self.steps))


@dataclass(frozen=True)
class Shuffle:
    """Every record is reported once by a locally private randomiser, and the reports are published in random order.

    Args:
      reports: number of reports that are shuffled together, at least 1. The randomisers are fixed beforehand.
    Raises:
      InvalidArgument: `reports` is no integer (DPA105) or below 1 (DPA103).
    Source: Feldman, McMillan, Talwar 2021, Theorem 3.2; docs/sampling_schemes.md.
    Example:
      >>> from dpaudit.accounting import randomized_response
      >>> randomized_response(1).sampled(Shuffle(reports=10_000)).epsilon(delta="1e-6").upper < 0.0531
      True
    """

    reports: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "reports", integer(self.reports, "reports", lower=1))

    def applied_to(self, loss: Composition) -> Composition:
        """The loss of a shuffle for each release of `loss`, the law of one report, under replace_one; DPA202 elsewhere."""
        _require(loss, ("replace_one",), "shuffling")
        return _each(loss, lambda law: shuffle_law(law, self.reports))


@dataclass(frozen=True)
class RandomOrder:
    """A pass over batches in a secret random order, with one Gaussian release a batch at a noise multiplier common to all.

    The loss to be sampled is that of one release in which the record counts fully; the result covers the pass, or all `rounds`.

    Args:
      records: number of records, public, at least 2.
      batches: number of records that each batch takes; their sum is at most `records` unless `replacement`.
      replacement: False for a permutation, in which a record has one place at most; True where every place draws any
        record (a bootstrap), so that a record may have several.
      averaged: whether a release is the mean of the iterates before each step, so that a late place counts less; permutations only.
      rounds: number of passes, each in an order of its own, at least 1.
    Raises:
      InvalidArgument: a number is no integer (DPA105) or out of range (DPA103), or there is no batch (DPA109).
    Source: Balle, Barthe, Gaboardi 2018, Theorem 10 (multiplicities); docs/sampling_schemes.md.
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> release = gaussian(sigma="3.6", adjacency="replace_one")
      >>> order = RandomOrder(records=1000, batches=(500, 250, 125), averaged=True)
      >>> release.sampled(order).epsilon(delta="1e-6").upper < release.epsilon(delta="1e-6").lower
      True
    """

    records: int
    batches: Sequence[int]
    replacement: bool = False
    averaged: bool = False
    rounds: int = 1

    def __post_init__(self) -> None:
        records = integer(self.records, "records", lower=2)
        if isinstance(self.batches, str) or not isinstance(self.batches, Sequence) or not self.batches:
            raise InvalidArgument("DPA109", "batches must list the size of at least one batch, such as (500, 250).")
        sizes = tuple(integer(size, f"batches[{index}]", lower=1) for index, size in enumerate(self.batches))
        if not self.replacement and sum(sizes) > records:
            raise InvalidArgument(
                "DPA103", f"batches must add up to at most {records} records, got {sum(sizes)}. Give further passes as rounds."
            )
        if self.replacement and self.averaged:
            raise InvalidArgument(
                "DPA103", "averaged must be False with replacement: several places of one record are not averaged."
            )
        for name, value in (("records", records), ("batches", sizes), ("rounds", integer(self.rounds, "rounds", lower=1))):
            object.__setattr__(self, name, value)

    def applied_to(self, loss: Composition) -> Composition:
        """The loss of Gaussian releases where the number of records is public; DPA202 elsewhere."""
        _require(loss, ("replace_one", "zero_out", "label"), "random order")
        if self.replacement:
            squares, beyond = multiplicity_squares(self.records, self.batches, self.rounds)
        else:
            squares, beyond = position_squares(self.records, self.batches, self.rounds, averaged=self.averaged)
        if self.rounds == 1 and not self.replacement and not self.averaged:
            count = self.batches.count(max(self.batches))
            largest = count, Fraction(count * max(self.batches), self.records)
            return _each(loss, lambda law: random_order_law(law, squares, beyond, scheme=repr(self), largest=largest))
        times = multiplicity_distribution(
            self.records, self.batches, self.rounds, replacement=self.replacement, averaged=self.averaged
        )
        return _each(loss, lambda law: random_order_law(law, squares, beyond, scheme=repr(self), times=times))


def _each(loss: Composition, change: Callable[[Law], Law]) -> Composition:
    """Every law changed on its own."""
    return merge_parts([(change(law), count) for law, count in loss.parts], loss.adjacency)


def _require(loss: Composition, kinds: Sequence[str], scheme: str) -> None:
    """DPA202 for an adjacency that the proof of a scheme does not cover."""
    if instance_of(loss, Composition, "loss").adjacency not in {Adjacency(kind) for kind in kinds}:
        raise Unsupported(
            "DPA202", f"{scheme} is priced under {' or '.join(kinds)}, got {loss.adjacency}. State the loss of one release there."
        )
