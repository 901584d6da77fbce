"""Bounds from one run: how many guesses about m canaries an (epsilon, delta)-DP mechanism can let be right."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound
from dpaudit.exact import Exact, ball, ball_endpoints, float_outward, in_range, instance_of, integer, working_precision
from dpaudit.results import Counts

if TYPE_CHECKING:
    from flint import arb

_BITS: Final = 160
_BISECTIONS: Final = 32


@dataclass(frozen=True, kw_only=True)
class CanaryGuesses:
    """The outcome of one run with canaries, each of which was in the data or not by a fair coin of its own.

    Args:
      canaries: how many there were, at least 1.
      guessed: on how many of them a guess was made, from 1 to `canaries`; a number that was fixed before the run.
      correct: how many guesses were right, from 0 to `guessed`.
    Raises:
      InvalidArgument: not integers (DPA105) or impossible ones (DPA103).
    Source: Steinke, Nasr, Jagielski 2023, Algorithm 1.
    Example:
      >>> CanaryGuesses(canaries=1000, guessed=100, correct=80).correct
      80
    """

    canaries: int
    guessed: int
    correct: int

    def __post_init__(self) -> None:
        """Refuse numbers that no experiment gives."""
        integer(self.canaries, "canaries", lower=1)
        integer(self.guessed, "guessed", lower=1, upper=self.canaries)
        integer(self.correct, "correct", lower=0, upper=self.guessed)


def guesses_p_value(guesses: CanaryGuesses, *, epsilon: Exact, delta: Exact) -> float:
    """Largest probability of so many right guesses under any (epsilon, delta)-DP mechanism.

    Args:
      guesses: the outcome of the run.
      epsilon: the claimed epsilon in nats, at least 0, when one canary is put in or left out.
      delta: the claimed delta, in [0, 1).
    Returns:
      A p-value in (0, 1], rounded up. Where every canary is guessed a mechanism of the claim attains it: no smaller p-value holds.
    Raises:
      InvalidArgument: epsilon or delta is no finite number (DPA101, DPA102) or out of range (DPA103), or no CanaryGuesses (DPA105).
    Source: Steinke, Nasr, Jagielski 2023, section 5, for delta = 0; docs/membership.md, section 1, for the exact delta term.
    Example:
      >>> guesses_p_value(CanaryGuesses(canaries=100, guessed=100, correct=85), epsilon=1, delta="1e-5") < 0.01
      True
    """
    return p_value_at(instance_of(guesses, CanaryGuesses, "guesses"), ClaimPoint(epsilon, delta))  # type: ignore[arg-type]


def p_value_at(guesses: CanaryGuesses, point: ClaimPoint) -> float:
    """Compute the p-value of `guesses_p_value` at a point of a claim."""
    with working_precision(_BITS):
        return min(1.0, float_outward(ball_endpoints(_largest_probability(guesses, point))[1], up=True))


def canary_epsilon_bound(guesses: CanaryGuesses, *, delta: Exact, alpha: Exact) -> Fraction:
    """Lower confidence bound on epsilon from the guesses of one run.

    Args:
      guesses: the outcome of the run.
      delta: the delta at which epsilon is bounded, in [0, 1).
      alpha: error probability, in (0, 1).
    Returns:
      A number in nats, at least 0, that exceeds the true epsilon at `delta` with probability at most `alpha`; rounded down
      by at most 1e-9 of its size.
    Raises:
      InvalidArgument: delta or alpha is no finite number (DPA101, DPA102) or out of range (DPA103), or no CanaryGuesses (DPA105).
    Source: Steinke, Nasr, Jagielski 2023, section 5; docs/membership.md, section 1.
    Example:
      >>> round(float(canary_epsilon_bound(CanaryGuesses(canaries=1000, guessed=1000, correct=731), delta=0, alpha="0.05")), 2)
      0.88
    """
    failure = in_range(delta, "delta", lower=0, upper=1, upper_open=True)
    level = in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True)
    pure = epsilon_lower_bound(_as_counts(instance_of(guesses, CanaryGuesses, "guesses")), delta=0, alpha=level)
    low, high = Fraction(0), max(Fraction(0), pure or Fraction(0))
    if failure == 0 or high == 0:
        return high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _is_refuted(guesses, ClaimPoint(middle, failure), level) else (low, middle)
    return low


def _as_counts(guesses: CanaryGuesses) -> Counts:
    """Return guesses as hits of an event: the right ones stand for label 1."""
    return Counts(ones=guesses.correct, zeros=guesses.guessed - guesses.correct, runs=guesses.guessed)


def _is_refuted(guesses: CanaryGuesses, point: ClaimPoint, level: Fraction) -> bool:
    """True if so many right guesses have probability at most `level` under the point, certified."""
    with working_precision(_BITS):
        return bool(_largest_probability(guesses, point) <= ball(level))


def _largest_probability(guesses: CanaryGuesses, point: ClaimPoint) -> arb:
    """Compute formula (1) of docs/membership.md."""
    trials, right = guesses.guessed, guesses.correct
    if right == 0:
        return ball(1)
    odds = ball(point.epsilon).exp()
    tail = (odds / (1 + odds)).beta_lower(right, trials - right + 1, 1)
    if point.delta == 0:
        return tail
    ways = (ball(trials + 1).lgamma() - ball(right + 1).lgamma() - ball(trials - right + 1).lgamma()).exp()
    mass = ways * odds**right / (1 + odds) ** trials
    return tail + ball(guesses.canaries * point.delta) * tail * (1 - tail) / (right * mass)
