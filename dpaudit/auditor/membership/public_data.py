"""A mean that is too accurate to be private: the least error that a claim forces, given public records, against the real one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator, SeedSequence

from dpaudit.auditor.events.points import lines_of
from dpaudit.auditor.membership.fingerprints import Rows, Vector, draw_fingerprints
from dpaudit.auditor.membership.user_arrays import result_of
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.claims import Claim
from dpaudit.errors import AdjacencyMismatch, TargetFailure
from dpaudit.exact import Exact, ball, ball_endpoints, float_outward, in_range, instance_of, integer, outward, working_precision
from dpaudit.results import Property
from dpaudit.targets import MOST_RUNS

PROPERTY: Final = "a mean is no more accurate than its claim allows"

_BITS: Final = 128
_STAKE: Final = 0.97
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class AccuracyTest:
    """The result of testing a claim by the accuracy of an estimated mean.

    Args:
      claim: the claim, about the private records.
      runs: how many runs were made; fewer than allowed where the claim was refuted before.
      floor: least mean squared distance from the true means that the claim allows.
      mean: mean squared distance over the runs, in [0, 4 dimension].
      p_value: for "the claim holds".
      alpha: probability of refuting a true claim.
    Source: docs/membership.md, section 8.
    Example:
      >>> from dpaudit import Claim, PureDP
      >>> claim = Claim(PureDP(epsilon="1/2"), adjacency="replace_one")
      >>> found = refute_by_accuracy(lambda rows, public, rng: rows.mean(axis=0), dimension=600, private=30, claim=claim)
      >>> found.refuted, found.finding.status
      (True, 'violated')
    """

    claim: Claim
    runs: int
    floor: Fraction
    mean: float
    p_value: float
    alpha: Fraction

    @property
    def refuted(self) -> bool:
        """True if the claim is refuted at level `alpha`."""
        return Fraction(self.p_value) <= self.alpha

    @property
    def finding(self) -> Property:
        """The finding as a line of a report; not applicable where the claim allows any accuracy."""
        status = "violated" if self.refuted else "holds" if self.floor else "not applicable"
        detail = (
            f"mean squared distance {self.mean:.4g} in {self.runs} runs, at least {outward(self.floor, digits=4, up=False)} under "
            f"the claim; p = {self.p_value:.3g}, refuted at {outward(self.alpha, digits=3, up=True)}"
        )
        return Property(PROPERTY, status, self.runs, detail)


def least_squared_distance(*, dimension: int, private: int, public: int = 0, epsilon: Exact, delta: Exact = 0) -> Fraction:
    """Compute the least mean squared distance of a private mean of fingerprints from their true means.

    Args:
      dimension: signs of each record, at least 1.
      private: private records, at least 1.
      public: public records, at least 0.
      epsilon: of the claim about one private record replaced by another, in nats, at least 0.
      delta: of the same claim, in [0, 1).
    Returns:
      A lower bound on the mean of |estimate - means|^2, for estimates with entries in [-1, 1] and means uniform in [-1, 1];
      rounded down, 0 where nothing follows.
    Raises:
      InvalidArgument: no integer (DPA105), or a number out of range (DPA101 to DPA103).
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Theorem 13; docs/membership.md, section 8 (constants and proof).
    Example:
      >>> float(least_squared_distance(dimension=2000, private=200, epsilon="1/2")) > 72
      True
    """
    size, count = integer(dimension, "dimension", lower=1), integer(private, "private", lower=1)
    others, point = integer(public, "public", lower=0), ClaimPoint(epsilon, delta)  # type: ignore[arg-type]
    with working_precision(_BITS):
        odds = ball(point.epsilon).exp()
        forced = ball(Fraction(2 * size, 3)) - ball(4 * size * count * point.delta) * (1 + 1 / odds)
        allowed = 2 * ball(Fraction(size, 3)).sqrt() + ball(Fraction(2 * size * others, 3)).sqrt() + count * (odds - 1 / odds) / 2
        if not forced > 0:
            return Fraction(0)
        return Fraction(float_outward(ball_endpoints((forced / allowed) ** 2)[0], up=False))


def refute_by_accuracy(
    estimate: Callable[[Rows, Rows, Generator], Any],
    *,
    dimension: int,
    private: int,
    public: int = 0,
    claim: Claim,
    runs: int = 1000,
    alpha: Exact = "0.05",
    seed: int = 0,
) -> AccuracyTest:
    """Refute the claim of an estimator of means that is more accurate than any private one can be.

    Every run draws new means and records, clips the estimate to [-1, 1], and bets that its squared distance from the means is below
    the floor that the claim forces. The bets may stop at any run.

    Args:
      estimate: function (private rows, public rows, rng) -> estimated means, shape (dimension,); entries that are nan count as 0.
      dimension: signs of each record.
      private: private records, which the claim is about.
      public: public records, of the same law.
      claim: a claim under `replace_one`, in the private rows.
      runs: most runs that are made, at least 1.
      alpha: probability of refuting a true claim, in (0, 1).
      seed: root of the random streams.
    Returns:
      Floor, mean squared distance, and p-value.
    Raises:
      InvalidArgument: no integer (DPA105), or a number out of range (DPA101 to DPA103).
      AdjacencyMismatch: the claim is about other neighbours (DPA201).
      TargetFailure: the estimate has another shape (DPA405).
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Theorem 13; docs/membership.md, section 8.
    Example:
      >>> from dpaudit import Claim, PureDP
      >>> claim = Claim(PureDP(epsilon=1), adjacency="replace_one")
      >>> refute_by_accuracy(lambda rows, public, rng: 0 * rows[0], dimension=60, private=6, claim=claim, runs=50).refuted
      False
    """
    if instance_of(claim, Claim, "claim").relation.kind != "replace_one":
        raise AdjacencyMismatch(
            "DPA201", f"the least error is known for replaced records, but the claim is under {claim.relation}. Claim replace_one."
        )
    level = in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True)
    most, root = integer(runs, "runs", lower=1, upper=MOST_RUNS), integer(seed, "seed", lower=0)
    sizes = {"dimension": dimension, "private": private, "public": public}
    floor = max(least_squared_distance(**sizes, epsilon=line.epsilon, delta=line.delta) for line in lines_of(claim))
    least = float(floor) * (1 - _ROUNDING)
    stake, wealth, peak, total, made = _STAKE / (4 * dimension - least), 0.0, 0.0, 0.0, 0
    while made < most and (floor > 0 or made == 0) and peak < -math.log(level):
        rng = np.random.default_rng(SeedSequence(root, spawn_key=(made,)))
        means, rows = draw_fingerprints(private + public, dimension, rng)
        released = result_of(estimate, rows[:private], rows[private:], rng)
        square = float(np.sum((_clip_estimate(released, dimension) - means) ** 2))
        made, total = made + 1, total + square
        wealth += math.log1p(stake * (least - square)) - _ROUNDING
        peak = max(peak, wealth)
    value = min(1.0, math.exp(-peak) * (1 + _ROUNDING)) if floor > 0 else 1.0
    return AccuracyTest(claim=claim, runs=made, floor=floor, mean=total / made, p_value=value, alpha=level)


def _clip_estimate(released: Any, dimension: int) -> Vector:
    """Return the estimate with entries in [-1, 1]."""
    array: Vector = result_of(np.asarray, released, np.float64)
    if array.shape != (dimension,):
        raise TargetFailure("DPA405", f"the estimate must have shape ({dimension},), got {array.shape}. Check what it returns.")
    clipped: Vector = np.clip(np.nan_to_num(array, nan=0.0), -1.0, 1.0)
    return clipped
