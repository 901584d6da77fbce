"""Canaries: records that are in the data or not, as the model shows: many of them in one run, or one in many runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from dpaudit.auditor.membership.guesses import CanaryGuesses, canary_epsilon_bound
from dpaudit.auditor.membership.profile_guesses import curve_points, p_value_on
from dpaudit.auditor.membership.user_arrays import result_of
from dpaudit.auditor.request import require_executor
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.verdict.verdicts import summary_of
from dpaudit.claims import Claim
from dpaudit.errors import InvalidArgument, TargetFailure, class_name
from dpaudit.exact import Exact, in_range, integer, outward
from dpaudit.results import Property, Report, Settings, TargetResult, Verdict
from dpaudit.targets import MOST_RUNS, Target

Scores: TypeAlias = NDArray[np.float64]
Training: TypeAlias = Callable[[Any, Generator], Any]
Scoring: TypeAlias = Callable[[Any], Any]

_MOST_CANARIES: Final = 2**32
PROPERTY: Final = "canaries cannot be told apart"


@dataclass(frozen=True)
class ScoredTraining:
    """A learner and the score of its model, as one function (data, rng) -> scores that can be pickled if both can."""

    fit: Training
    score: Scoring

    def __call__(self, data: Any, rng: Generator) -> Any:
        """Scores of a model that was trained on `data`."""
        return self.score(self.fit(data, rng))


@dataclass(frozen=True, kw_only=True)
class CanaryAudit:
    """The result of an audit with canaries.

    Args:
      name: what was audited.
      claim: its claim.
      guesses: canaries, guesses and right guesses, over all runs together.
      runs: how many trainings there were.
      p_value: for "the claim holds".
      alpha: probability of refuting a true claim.
      point: point (epsilon, delta) of the claim, chosen before the run, at whose delta `epsilon` is a bound.
      epsilon: lower bound on the true epsilon there, in nats, wrong with probability at most `alpha`.
      seed: with the arguments it determines every number here.
    Source: docs/membership.md, section 3.
    Example:
      >>> from dpaudit import Claim, PureDP
      >>> found = audit_canaries(lambda put_in, rng: put_in, lambda model: model, canaries=200, claim=Claim(PureDP(epsilon=1)))
      >>> found.refuted, found.finding.status
      (True, 'violated')
    """

    name: str
    claim: Claim
    guesses: CanaryGuesses
    runs: int
    p_value: float
    alpha: Fraction
    point: ClaimPoint
    epsilon: Fraction
    seed: int

    @property
    def refuted(self) -> bool:
        """True if the claim is refuted at level `alpha`."""
        return Fraction(self.p_value) <= self.alpha

    @property
    def finding(self) -> Property:
        """The finding as a line of a report."""
        at = f" at delta = {outward(self.point.delta, digits=3, up=True)}" if self.point.delta else ""
        wrong = outward(self.alpha, digits=3, up=True)
        detail = (
            f"{self.guesses.correct} of {self.guesses.guessed} guesses about {self.guesses.canaries} canaries were right "
            f"in {self.runs} run{'s' if self.runs > 1 else ''}; epsilon{at} is at least "
            f"{outward(self.epsilon, digits=4, up=False)}, wrong with probability at most {wrong}; p = {self.p_value:.3g}"
        )
        status = "violated" if self.refuted else "holds" if self.guesses.guessed else "not run"
        return Property(PROPERTY, status, self.guesses.canaries if self.guesses.guessed else 0, detail)

    @property
    def report(self) -> Report:
        """The finding as a report of one target; not refuted is inconclusive, since such a test has no power statement."""
        result = TargetResult(
            name=self.name,
            description="canaries, each put into the data or left out by a fair coin",
            claim=summary_of(self.claim, self.point),
            verdict=Verdict.REFUTED if self.refuted else Verdict.INCONCLUSIVE,
            summary=f"{'Refuted' if self.refuted else 'Not refuted'}: {self.finding.detail}.",
            properties=(self.finding,),
            rejected_in_family=self.refuted,
        )
        return Report(Settings(self.alpha, self.runs, self.seed), (result,))


def audit_canaries(  # noqa: PLR0913 - every argument but the first two is an option given by name
    fit: Training,
    score: Scoring,
    *,
    canaries: int,
    claim: Claim,
    guessed: int | None = None,
    alpha: Exact = "0.05",
    runs: int = 1,
    seed: int = 0,
    executor: Executor | None = None,
    name: str = "canaries",
) -> CanaryAudit:
    """Audit a learner with many canaries in one run, or in a few.

    In every run each canary is put in or left out by a coin of its own. The canaries with the highest scores are guessed to be in,
    as many with the lowest to be out, and a claim limits how many guesses can be right. Of equal scores the earlier one is lower.

    Args:
      fit: function (included, rng) -> model, `included` a boolean array with an entry for each canary.
      score: function (model) -> one number for each canary, higher where it seems to be in; it sees the model only.
      canaries: how many there are, the same ones in every run.
      claim: the claim for putting one canary in or leaving it out.
      guessed: guesses in every run, fixed in advance; a quarter of the canaries, and at least two, unless given.
      alpha: probability of refuting a true claim, in (0, 1).
      runs: independent trainings; their guesses are pooled.
      seed: root of the random streams.
      executor: an executor as of `concurrent.futures`; the result does not depend on it.
      name: its name in reports.
    Returns:
      Counts, p-value, bound, and a report.
    Raises:
      InvalidArgument: no integer or no claim (DPA105), or a number out of range (DPA101 to DPA103).
      TargetFailure: the scores are not one finite number for each canary (DPA405), or a worker died (DPA408).
    Source: Steinke, Nasr, Jagielski 2023, Algorithm 1; docs/membership.md, section 3.
    Example:
      >>> from dpaudit import Claim, PureDP
      >>> def flip(included, rng):
      ...     return included ^ (rng.random(len(included)) < 0.25)
      >>> audit_canaries(flip, lambda model: model, canaries=400, claim=Claim(PureDP(epsilon="1/4")), guessed=400).refuted
      True
    """
    if not isinstance(claim, Claim):
        raise InvalidArgument(
            "DPA105", f"claim must be a Claim, got a {type(claim).__name__}. For instance Claim(PureDP(epsilon=1))."
        )
    require_executor(executor)
    count = integer(canaries, "canaries", lower=2, upper=_MOST_CANARIES)
    trainings = integer(runs, "runs", lower=1, upper=MOST_RUNS)
    each = integer(max(2, count // 4) if guessed is None else guessed, "guessed", lower=1, upper=count)
    level = in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True)
    tasks = [_Task(fit, score, count, each, integer(seed, "seed", lower=0), run) for run in range(trainings)]
    try:
        correct = sum(map(_right_guesses, tasks) if executor is None else executor.map(_right_guesses, tasks))
    except BrokenExecutor as error:
        kind = class_name(type(error))
        raise TargetFailure("DPA408", f"a worker died during a training ({kind}). Run it without executor=.") from error
    guesses = CanaryGuesses(canaries=count * trainings, guessed=each * trainings, correct=correct)
    points = curve_points(claim, guesses.canaries)
    # Where delta is small against 1 / canaries; at larger ones hardly any epsilon follows.
    point = next((one for one in points if guesses.canaries * one.delta <= level / 10), points[-1])
    return CanaryAudit(
        name=name,
        claim=claim,
        guesses=guesses,
        runs=trainings,
        p_value=p_value_on(guesses, points),
        alpha=level,
        point=point,
        epsilon=canary_epsilon_bound(guesses, delta=point.delta, alpha=level),
        seed=seed,
    )


def canary_target(
    fit: Training, score: Scoring, *, without: Any, including: Any, claim: Claim, name: str = "canary", public_data: bool = False
) -> Target:
    """One canary in many runs, as a target of an ordinary audit: its outputs are the scores.

    Args:
      fit: function (data, rng) -> model.
      score: function (model) -> a number, several, or a mapping: what an attacker can see of the model.
      without: a dataset without the canary.
      including: its neighbour, with the canary.
      claim: the claim under test; pure, approximate, or a curve.
      name: its name in reports.
      public_data: whether reports may show the datasets.
    Returns:
      A target; `audit` gives it bets, a bound, a report and replay.
    Raises:
      InvalidArgument: a part is of the wrong kind (DPA404).
    Source: Jagielski, Ullman, Oprea 2020; docs/membership.md, section 4.
    Example:
      >>> from dpaudit import Claim, PureDP
      >>> noisy = lambda data, rng: sum(data) + rng.laplace()
      >>> canary_target(noisy, float, without=[1], including=[1, 1], claim=Claim(PureDP(epsilon=1))).name
      'canary'
    """
    if not callable(fit) or not callable(score):
        raise InvalidArgument("DPA404", "a canary target needs two functions: fit (data, rng) and score (model).")
    return Target(
        run=ScoredTraining(fit, score),
        claim=claim,
        neighbours=[(without, including)],
        name=name,
        description="what a model tells about one record",
        public_data=public_data,
    )


@dataclass(frozen=True)
class _Task:
    """One training with canaries."""

    fit: Training
    score: Scoring
    canaries: int
    guessed: int
    seed: int
    run: int


def _right_guesses(task: _Task) -> int:
    """Count the right guesses about one training: a pure function of the task, in whatever process."""
    coins, training = (np.random.default_rng(SeedSequence(task.seed, spawn_key=(part, task.run))) for part in (0, 1))
    included = coins.integers(0, 2, size=task.canaries, dtype=np.uint8) == 1
    model = result_of(task.fit, included.copy(), training)
    scores = check_scores(result_of(task.score, model), task.canaries)
    ranked = np.argsort(scores, kind="stable")
    highest = (task.guessed + 1) // 2
    lowest = ranked[: task.guessed - highest]
    return int(np.count_nonzero(included[ranked[task.canaries - highest :]]) + np.count_nonzero(~included[lowest]))


def check_scores(scores: Any, canaries: int) -> Scores:
    """Return the scores as an array; refuse them unless they are one finite number for each canary (DPA405)."""
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape != (canaries,) or not np.isfinite(array).all():
        raise TargetFailure(
            "DPA405", f"the score function must give {canaries} finite numbers, one for each canary. Check its model."
        )
    return array
