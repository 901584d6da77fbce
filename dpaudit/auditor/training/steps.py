"""Evidence step by step: bets that canaries with fresh coins are seen more clearly than the claim of one step allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.membership.scores import DPSGD
from dpaudit.auditor.membership.user_arrays import finite_array
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, rational

Matrix: TypeAlias = NDArray[np.float64]

NO_ASSUMPTION: Final = "within a step, canaries do not influence one another's scores; steps may depend on earlier ones in any way"
EQUAL_STEPS: Final = NO_ASSUMPTION + "; and every step of the run has the same noise multiplier"

_MARKS: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Scores, in deviations of the claimed noise beyond the middle, above which a canary is said to be in."""

_STAKES: Final = (0.003, 0.01, 0.03, 0.1, 0.3, 0.9)
_LEAST_NOISE: Final = 0.05
_MOST_NOISE: Final = 1e3
_BISECTIONS: Final = 14
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class StepAudit:
    """What the steps of one run show.

    Args:
      law: what was claimed.
      wealth: what a bettor who began with 1 has after each step; if every step keeps its claim, it ever reaches 1 / alpha with
        probability at most alpha.
      worst: for each step, the wealth of a bettor who bets on that step alone.
      refuted: whether some step breaks its claim, by the bets on all steps or by those on one.
      refuted_steps: the steps that break their own claims, all of them right with probability 1 - alpha.
      noise_multiplier: not every step has a larger one; None where nothing is excluded.
      epsilon: what the accountant gives for that noise in every step, at `delta`; a bound on epsilon of the run only under
        `assumption`.
      delta: where epsilon is asked.
      alpha: error probability of each of these statements.
      holds_for: what `refuted`, `refuted_steps` and `noise_multiplier` rest on.
      assumption: what `epsilon` rests on.
    Example:
      >>> StepAudit.__name__
      'StepAudit'
    """

    law: DPSGD
    wealth: tuple[float, ...]
    worst: tuple[float, ...]
    refuted: bool
    refuted_steps: tuple[int, ...]
    noise_multiplier: float | None
    epsilon: Fraction
    delta: Fraction
    alpha: Fraction
    holds_for: str = NO_ASSUMPTION
    assumption: str = EQUAL_STEPS


def audit_steps(scores: Any, included: Any, *, law: DPSGD, delta: Exact, alpha: Exact = "0.05") -> StepAudit:
    """Test the claim of every step, and bound the noise multiplier, from canaries with a fresh fair coin in each step.

    Args:
      scores: one number for each step and canary, in clips, shape (steps, canaries); higher where it seems to be in.
      included: how the coins of each step fell, booleans of the same shape.
      law: the sampling rate, the number of steps of the whole run, and the noise multiplier that is claimed.
      delta: where epsilon is asked, in (0, 1).
      alpha: error probability, in (0, 1).
    Returns:
      The wealth of bets, steps that break their claim, and the epsilon that follows if all steps are alike.
    Raises:
      InvalidArgument: arrays of another shape or not finite, a law without noise multiplier (DPA105), a number out of range
        (DPA101 to DPA103), or more steps than the law has (DPA103).
    Source: Nasr, Hayes, Steinke, Balle, Tramer, Jagielski, Carlini, Terzis 2023, section 5; docs/membership.md, section 3.
    Example:
      >>> rng, law = np.random.default_rng(1), DPSGD(rate=1, steps=10, noise_multiplier=2)
      >>> coins = rng.random((10, 500)) < 0.5
      >>> found = audit_steps(coins + rng.normal(size=(10, 500)), coins, law=law, delta="1e-5")
      >>> found.refuted, found.noise_multiplier < 2
      (True, True)
    """
    instance_of(law, DPSGD, "law")
    if law.noise_multiplier is None:
        raise InvalidArgument("DPA105", "law needs the noise_multiplier that is claimed for each step.")
    seen, coins = finite_array(scores, "scores"), finite_array(included, "included")
    if seen.ndim != 2 or seen.shape != coins.shape or not seen.size or not np.isin(coins, (0.0, 1.0)).all():
        raise InvalidArgument("DPA105", "scores and included must have one shape (steps, canaries); included True or False.")
    if len(seen) > law.steps:
        raise InvalidArgument("DPA103", f"{len(seen)} steps were observed, the law has {law.steps}.")
    at = in_range(delta, "delta", lower=0, upper=1, lower_open=True, upper_open=True)
    level = in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True)
    claimed = float(rational(law.noise_multiplier))
    counts = _count(seen, coins != 0, claimed, float(rational(law.rate)))
    each = _log_wealth(counts, law, claimed, claimed)
    wealth, worst = _mix(np.cumsum(each, axis=0)), _mix(each)
    limit = -math.log(float(level))
    # Bets on a smaller noise win less at the same stakes: what refutes a noise multiplier refutes every larger one.
    found, low, high = None, math.log(_LEAST_NOISE), math.log(_MOST_NOISE)
    for _ in range(_BISECTIONS):
        middle = math.exp((low + high) / 2)
        if float(_mix(np.cumsum(_log_wealth(counts, law, claimed, middle), axis=0)).max()) >= limit:
            found, high = middle, math.log(middle)
        else:
            low = math.log(middle)
    return StepAudit(
        law=law,
        wealth=tuple(_shown(wealth)),
        worst=tuple(_shown(worst)),
        refuted=max(float(wealth.max()), float(worst.max()) - math.log(len(seen))) >= limit + math.log(2),
        refuted_steps=tuple(int(step) for step in np.flatnonzero(worst >= limit + math.log(len(seen)))),
        noise_multiplier=found,
        epsilon=Fraction(0) if found is None else law.epsilon(noise_multiplier=found, delta=at),
        delta=at,
        alpha=level,
    )


def _count(scores: Matrix, inside: NDArray[np.bool_], claimed: float, rate: float) -> Matrix:
    """Count canaries above each mark: those that are in, those that are out, and the rest; shape (steps, marks, 3)."""
    # What a canary that is out scores, by the step before, as a bet must be made beforehand.
    outside = np.concatenate([[0.0], np.median(scores[:-1], axis=1) - rate / 2])
    counts = np.zeros((len(scores), len(_MARKS), 3))
    for number, mark in enumerate(_MARKS):
        above = scores - outside[:, None] - 0.5 > mark * claimed
        counts[:, number, 0], counts[:, number, 1] = (above & inside).sum(axis=1), (above & ~inside).sum(axis=1)
    counts[:, :, 2] = scores.shape[1] - counts[:, :, 0] - counts[:, :, 1]
    return counts


def _log_wealth(counts: Matrix, law: DPSGD, claimed: float, noise: float) -> Matrix:
    """Log of what each bet makes of 1 in each step, if the step is claimed to have that noise; shape (steps, bets).

    A canary is in by a fair coin. Whoever pays odds r for those out above a mark, to win 1 for those in, gains at most
    delta(log r) / 2 in the mean.
    """
    rate = float(rational(law.rate))
    odds = np.array([1 - rate + rate * math.exp(min(mark / claimed, 20.0)) for mark in _MARKS])
    prices = np.array([_price(rate, noise, one) for one in odds]) / 2
    gains = np.stack([1 - prices, -odds - prices, -prices])
    stakes = np.array(_STAKES)[:, None] / (odds + 1)
    each = np.log1p(stakes * gains[:, None, :])
    return np.asarray(np.einsum("smk,kbm->smb", counts, each).reshape(len(counts), -1))


def _price(rate: float, noise: float, odds: float) -> float:
    """Largest P[A | in] - odds P[A | out] of one step over all events A, for odds of at least 1; rounded up.

    It is delta at log(odds) of the sampled Gaussian, whose other direction is never larger.
    """
    from scipy.special import ndtr

    place = noise**2 * math.log((odds - 1 + rate) / rate) + 0.5
    return float(rate * ndtr((1 - place) / noise) - (odds - 1 + rate) * ndtr(-place / noise)) + _ROUNDING


def _mix(logs: Matrix) -> NDArray[np.float64]:
    """Log of the mean wealth of all bets."""
    from scipy.special import logsumexp

    return np.asarray(logsumexp(logs, axis=1) - math.log(logs.shape[1]))


def _shown(logs: NDArray[np.float64]) -> list[float]:
    """Wealth as finite floats."""
    return [float(value) for value in np.exp(np.minimum(logs, 700.0))]
