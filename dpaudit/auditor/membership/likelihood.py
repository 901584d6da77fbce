"""Likelihood-ratio scores: how much likelier a score is with a record than without it, by normal laws fitted on pilot runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.membership.user_arrays import finite_array
from dpaudit.errors import InvalidArgument

Matrix: TypeAlias = NDArray[np.float64]

FEWEST_FOR_OWN_SPREAD: Final = 32
"""With fewer pilot scores than this on either side, a record takes its spread from all records together."""

_LEAST_SPREAD: Final = 1e-12


@dataclass(frozen=True)
class LikelihoodRatio:
    """A score function: the log of the likelihood ratio of scores, for each record and over all of them.

    Args:
      centres: means of the scores of each record, out of the data and in it, shape (2, records).
      spreads: their standard deviations, positive, shape (2, records).
    Source: Carlini, Chien, Nasr, Song, Terzis, Tramer 2022, Algorithm 1.
    Example:
      >>> ratio = LikelihoodRatio(np.array([[0.0], [2.0]]), np.ones((2, 1)))
      >>> ratio([1.0]), ratio([3.0])
      (0.0, 4.0)
    """

    centres: Matrix
    spreads: Matrix

    def each(self, scores: Any) -> Matrix:
        """Return log-ratios in nats, one for each record: positive where a score suggests that it is in."""
        distances = (np.asarray(scores, dtype=np.float64) - self.centres) / self.spreads
        logs = -np.log(self.spreads) - distances**2 / 2
        return np.asarray(logs[1] - logs[0])

    def __call__(self, scores: Any) -> float:
        """Return their sum: for scores of several records or examples that are in together or out together."""
        return float(np.sum(self.each(scores)))


def fit_likelihood_ratio(scores: Any, included: Any) -> LikelihoodRatio:
    """Fit a likelihood-ratio score on pilot runs, which no later test may count.

    Args:
      scores: scores of pilot runs, shape (runs, records); finite.
      included: whether the record was in the data, booleans of the same shape; each record at least twice in and twice out.
    Returns:
      A score function, for `Target(score=...)` or as part of the scores of `audit_canaries`.
    Raises:
      InvalidArgument: shapes differ or scores are not finite (DPA105), or too few runs on a side (DPA103).
    Source: Carlini, Chien, Nasr, Song, Terzis, Tramer 2022, Algorithm 1; docs/membership.md, section 5.
    Example:
      >>> included = np.array([[True], [False]] * 20)
      >>> fit_likelihood_ratio(included + np.tile([[0.1], [0.1], [-0.1], [-0.1]], (10, 1)), included)([1.0]) > 0
      True
    """
    values, inside = finite_array(scores, "scores"), finite_array(included, "included") != 0
    if values.ndim != 2 or values.shape != inside.shape:
        raise InvalidArgument(
            "DPA105", f"scores and included must be of one shape (runs, records), got {values.shape} and {inside.shape}."
        )
    sides = np.stack([~inside, inside])
    counts = sides.sum(axis=1)
    if counts.size == 0 or counts.min() < 2:
        raise InvalidArgument("DPA103", "each record must be in the data in at least 2 pilot runs and out of it in at least 2.")
    centres = np.where(sides, values, 0.0).sum(axis=1) / counts
    squares = np.where(sides, (values - centres[:, None]) ** 2, 0.0).sum(axis=1)
    pooled = squares.sum(axis=1, keepdims=True) / (counts - 1).sum(axis=1, keepdims=True)
    variances = np.where(counts < FEWEST_FOR_OWN_SPREAD, pooled, squares / (counts - 1))
    return LikelihoodRatio(centres, np.maximum(np.sqrt(variances), _LEAST_SPREAD))
