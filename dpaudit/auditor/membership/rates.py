"""An operating point of an attacker: how many members are recognised at how many false alarms, with its error probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.membership.user_arrays import finite_array
from dpaudit.auditor.statistics.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball, ball_endpoints, float_outward, in_range, working_precision

_BITS = 128


@dataclass(frozen=True, kw_only=True)
class OperatingPoint:
    """Rates of one threshold, fixed before the scores that were counted.

    Args:
      threshold: a score of at least this much is taken for a member's.
      true_positives: members that were recognised.
      members: how many there were.
      false_positives: others that were taken for members.
      others: how many there were.
      alpha: probability that either of the two bounds is wrong.
    Source: Carlini, Chien, Nasr, Song, Terzis, Tramer 2022, section 3 (rates at few false alarms).
    Example:
      >>> point = OperatingPoint(
      ...     threshold=0.0, true_positives=90, members=100, false_positives=1, others=1000, alpha=Fraction(1, 20)
      ... )
      >>> float(point.epsilon(delta=0)) > 4
      True
    """

    threshold: float
    true_positives: int
    members: int
    false_positives: int
    others: int
    alpha: Fraction

    @property
    def true_positive_rate(self) -> Fraction:
        """Lower bound on the rate at which members are recognised."""
        return clopper_pearson_lower(self.true_positives, self.members, self.alpha / 2)

    @property
    def false_positive_rate(self) -> Fraction:
        """Upper bound on the rate of false alarms."""
        return clopper_pearson_upper(self.false_positives, self.others, self.alpha / 2)

    def epsilon(self, *, delta: Exact) -> Fraction | None:
        """Lower bound on epsilon at `delta`, in nats, rounded down; None where the rates bound nothing."""
        excess = self.true_positive_rate - in_range(delta, "delta", lower=0, upper=1, upper_open=True)
        if excess <= 0:
            return None
        with working_precision(_BITS):
            return Fraction(float_outward(ball_endpoints((ball(excess) / ball(self.false_positive_rate)).log())[0], up=False))


def threshold_at_false_positive_rate(other_scores: Any, *, rate: Exact) -> float:
    """Choose a threshold with about the given rate of false alarms, from pilot scores of those that are not members.

    Args:
      other_scores: pilot scores, finite, shape (runs,); not used again in the test.
      rate: wanted rate of false alarms, in (0, 1).
    Returns:
      The least pilot score that at most a share `rate` of the pilot scores reaches; above all of them where they are too few.
    Raises:
      InvalidArgument: scores that are not finite or none (DPA105, DPA109), or the rate out of range (DPA103).
    Source: Carlini, Chien, Nasr, Song, Terzis, Tramer 2022, section 3.
    Example:
      >>> threshold_at_false_positive_rate(range(100), rate="0.05")
      95.0
    """
    share = in_range(rate, "rate", lower=0, upper=1, lower_open=True, upper_open=True)
    scores = np.sort(_finite_vector(other_scores, "other_scores"))
    if not scores.size:
        raise InvalidArgument("DPA109", "other_scores is empty. Give the scores of pilot runs without the record.")
    allowed = math.floor(share * scores.size)
    above = np.nextafter(scores[-1], np.inf)
    candidates = np.append(scores, above)
    reached = scores.size - np.searchsorted(scores, candidates, side="left")
    return float(candidates[reached <= allowed].min())


def operating_point(member_scores: Any, other_scores: Any, *, threshold: float, alpha: Exact) -> OperatingPoint:
    """Count independent scores at a threshold that was fixed before them.

    Args:
      member_scores: scores of runs with the record, independent, shape (runs,).
      other_scores: scores of runs without it.
      threshold: from pilot runs, as by `threshold_at_false_positive_rate`; finite.
      alpha: probability that one of the two rates lies beyond its bound, in (0, 1).
    Returns:
      Counts, bounds on both rates, and on epsilon.
    Raises:
      InvalidArgument: scores (DPA105) or a threshold (DPA101, DPA102) that are not finite, or alpha out of range (DPA103).
    Source: Clopper, Pearson 1934; docs/membership.md, section 5.
    Example:
      >>> point = operating_point([3.0, 2.0, 1.0], [0.0, 1.0], threshold=2.0, alpha="0.05")
      >>> point.true_positives, point.false_positives
      (2, 0)
    """
    limit = float(in_range(threshold, "threshold", lower=-(2**1000), upper=2**1000))
    members, others = _finite_vector(member_scores, "member_scores"), _finite_vector(other_scores, "other_scores")
    return OperatingPoint(
        threshold=limit,
        true_positives=int(np.count_nonzero(members >= limit)),
        members=members.size,
        false_positives=int(np.count_nonzero(others >= limit)),
        others=others.size,
        alpha=in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True),
    )


def _finite_vector(scores: Any, name: str) -> NDArray[np.float64]:
    """Return one-dimensional finite scores."""
    array = finite_array(scores, name)
    if array.ndim != 1:
        raise InvalidArgument("DPA105", f"{name} must be a sequence of finite numbers, got shape {array.shape}.")
    return array
