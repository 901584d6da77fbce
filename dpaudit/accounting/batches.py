"""Sampling schemes of batches whose size is bounded or fixed: truncated Poisson batches, and draws with replacement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.accounting.laws.batches import cut_law, redrawn_law
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Law
from dpaudit.claims import Adjacency
from dpaudit.errors import Unsupported
from dpaudit.exact import Exact, in_range, integer, rational


@dataclass(frozen=True)
class TruncatedPoisson:
    """A Poisson sample of which a uniformly chosen part of `cap` records is kept where it has more.

    Args:
      rate: the probability with which a record is drawn, exact, in [0, 1).
      cap: largest size of a batch, at least 1.
      records: number of records of the dataset that has the one in question, public, at least 1; the largest possible number where
        it is not known.
    Raises:
      InvalidArgument: a number is not finite (DPA101, DPA102), no integer (DPA105) or out of range (DPA103).
    Source: docs/sampling_schemes.md, "Truncated batches".
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> batch = TruncatedPoisson(rate="0.01", cap=15, records=1000)
      >>> gaussian(sigma=1).sampled(batch).delta(epsilon="1/2").upper < 4.61e-5
      True
    """

    rate: Exact
    cap: int
    records: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", in_range(self.rate, "rate", lower=0, upper=1, upper_open=True))
        for name in ("cap", "records"):
            object.__setattr__(self, name, integer(getattr(self, name), name, lower=1))

    def applied_to(self, loss: Composition) -> Composition:
        """The loss of Gaussian releases under add_remove; DPA202 elsewhere."""
        rate = rational(self.rate)
        if not rate:
            return loss * 0
        return _each(loss, "add_remove", "truncated batches", lambda law: cut_law(law, rate, self.cap, self.records))


@dataclass(frozen=True)
class SampledWithReplacement:
    """Every place of a batch draws any record of a dataset of public size, so that one record may be drawn several times.

    Args:
      size: number of draws for a batch, at least 1.
      of: number of records of the dataset, at least 2.
    Raises:
      InvalidArgument: a number is no integer (DPA105) or out of range (DPA103).
    Source: Balle, Barthe, Gaboardi 2018, Theorem 10; docs/sampling_schemes.md, "With replacement".
    Example:
      >>> from dpaudit.accounting import gaussian
      >>> release = gaussian(sigma=2, adjacency="replace_one")
      >>> release.sampled(SampledWithReplacement(size=10, of=1000)).delta(epsilon="1/10").upper < 3.35e-7
      True
    """

    size: int
    of: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", integer(self.size, "size", lower=1))
        object.__setattr__(self, "of", integer(self.of, "of", lower=2))

    def applied_to(self, loss: Composition) -> Composition:
        """The loss under replace_one; DPA202 elsewhere, and for laws that say nothing about several records."""
        return _each(loss, "replace_one", "sampling with replacement", lambda law: redrawn_law(law, self.size, self.of))


def _each(loss: Composition, kind: str, scheme: str, change: Callable[[Law], Law]) -> Composition:
    """Every law changed on its own; DPA202 for an adjacency that the proof does not cover."""
    if loss.adjacency != Adjacency(kind):
        raise Unsupported("DPA202", f"{scheme} is priced under {kind}, got {loss.adjacency}. State the loss of one release there.")
    return merge_parts([(change(law), count) for law, count in loss.parts], loss.adjacency)
