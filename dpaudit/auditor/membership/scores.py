"""Scores of canaries that exist already, and who was in: every bound that they give, each with the assumption on which it rests."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.events.points import stated_point
from dpaudit.auditor.membership.experiments import Experiment, sampled_gaussian_experiment
from dpaudit.auditor.membership.guesses import CanaryGuesses
from dpaudit.auditor.membership.independent_guesses import weighted_p_value
from dpaudit.auditor.membership.nested_guesses import NestedGuesses, count_nested, join_blocks, nested_epsilon, nested_p_value
from dpaudit.auditor.membership.profile_guesses import canary_mu_bound, guesses_p_value_under_claim
from dpaudit.auditor.membership.user_arrays import finite_array
from dpaudit.claims import GDP, Claim
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, float_outward, in_range, instance_of, integer, positive, rational, word

Scores: TypeAlias = NDArray[np.float64]

FEWEST_CANARIES: Final = 16
SHARES_GUESSED: Final = Fraction(1, 16), Fraction(2, 11), Fraction(3, 7), Fraction(4, 5)
"""Shares of canaries whose guesses count four times, three times, twice, and at all. For small differences of Gaussian scores
this keeps 97 % of the efficiency of the best test; two shares keep 92 % at most, guesses that all count alike 81 %."""

SHARE_OF_SUREST: Final = Fraction(1, 4)

_UNFAIR: Final = 1e-9
"""Probability that fair coins fall as unevenly as they must before scores are refused."""

_SEARCHES: Final = 40
_NEAR: Final = 2.5
_CLOSE: Final = 1e-3
"""In normal quantiles of p-values, and as a share of the parameter: where a search ends."""

_LEAST_NOISE: Final = 0.05
_MOST_NOISE: Final = 1e4
_LARGEST_MU: Final = 16.0
_TO_DEVIATION: Final = 1.4826
"""Median distance from the median of a normal law, to its standard deviation."""

ANY_DEPENDENCE: Final = "none beyond fair coins: scores may depend on one another in any way"
INDEPENDENT: Final = "the canaries do not influence one another's scores"
BY_DESIGN: Final = "the runs are independent, one canary in each"


@dataclass(frozen=True, kw_only=True)
class DPSGD:
    """The family of laws of noisy gradient descent: Poisson samples, Gaussian noise, one unknown noise multiplier.

    Args:
      rate: sampling rate of every step, in (0, 1]; 1 where every record is in every step.
      steps: how many steps are observed, at least 1.
      noise_multiplier: what is claimed of the noise, over the clipping norm; it weights the steps of scores that have one
        for each step, and is never assumed in a bound.
    Raises:
      InvalidArgument: a number out of range (DPA101 to DPA104) or no integer (DPA105).
    Example:
      >>> DPSGD(rate="1/10", steps=50).rate
      Fraction(1, 10)
    """

    rate: Exact
    steps: int
    noise_multiplier: Exact | None = None

    def __post_init__(self) -> None:
        """Store the numbers exactly."""
        object.__setattr__(self, "rate", in_range(self.rate, "rate", lower=0, upper=1, lower_open=True))
        integer(self.steps, "steps", lower=1, upper=10**6)
        if self.noise_multiplier is not None:
            object.__setattr__(self, "noise_multiplier", positive(self.noise_multiplier, "noise_multiplier"))

    def epsilon(self, *, noise_multiplier: float, delta: Fraction) -> Fraction:
        """Price the family at a noise multiplier: epsilon at `delta`, rounded down."""
        from dpaudit.accounting import Poisson, gaussian

        step = gaussian(sigma=Fraction(noise_multiplier))
        rate = rational(self.rate)
        priced = self.steps * (step if rate == 1 else step.sampled(Poisson(rate)))
        return max(Fraction(0), Fraction(float_outward(priced.epsilon(delta=delta).lower, up=False)))

    def experiment(self, noise_multiplier: float) -> Experiment:
        """Return what one canary can show at a noise multiplier."""
        rate = rational(self.rate)
        if rate == 1:  # one step with less noise is the same law
            return sampled_gaussian_experiment(1.0, 1, noise_multiplier / math.sqrt(self.steps))
        return sampled_gaussian_experiment(float(rate), self.steps, noise_multiplier)


@dataclass(frozen=True, kw_only=True)
class FamilyBound:
    """A bound that holds where the law of the scores is in a named family, or shows less than one that is.

    Args:
      family: the family.
      noise_multiplier: the true one is below this, wrong with probability at most `alpha`; None where nothing is excluded.
      epsilon: lower bound on epsilon at `delta` that follows in the family, in nats.
      delta: where epsilon is asked.
      alpha: error probability.
      assumption: what else it rests on.
    Example:
      >>> inside = np.arange(400) % 2 == 0
      >>> found = audit_scores(inside + 0.1 * np.cos(np.arange(400)), inside, delta="1e-5").within(DPSGD(rate=1, steps=10))
      >>> found.epsilon > 5, found.assumption
      (True, "the canaries do not influence one another's scores")
    """

    family: DPSGD
    noise_multiplier: float | None
    epsilon: Fraction
    delta: Fraction
    alpha: Fraction
    assumption: str


@dataclass(frozen=True, kw_only=True)
class ScoreAudit:
    """What scores show; every bound alone is wrong with probability at most `alpha`, and each names its assumption.

    Args:
      design: "one_run" or "many_runs".
      claim: the claim under test, if any.
      delta: where epsilon is bounded.
      alpha: error probability of each bound, and of refuting a true claim.
      nested: right guesses among the surest few, more, and all.
      weighted: right guesses in four sets of the surest, each within the next, for independent scores.
      surest: right guesses among the surest quarter, which bounds curves best where scores may depend on one another.
      roc: false positives and true positives over all thresholds, as shares, from the strictest on; a picture, not a bound.
    Example:
      >>> inside = np.arange(200) % 2 == 0
      >>> audit_scores(inside * 1.0, inside, delta="1e-5").epsilon > 3
      True
    """

    design: str
    claim: Claim | None
    delta: Fraction
    alpha: Fraction
    nested: NestedGuesses
    weighted: NestedGuesses
    surest: CanaryGuesses
    roc: tuple[tuple[float, float], ...] = field(repr=False)

    @cached_property
    def epsilon(self) -> Fraction:
        """Lower bound on epsilon at `delta` in nats, for any mechanism, from every number of guesses at once."""
        return nested_epsilon(self.nested, float(self.delta), float(self.alpha))

    @cached_property
    def mu(self) -> Fraction:
        """Lower bound on mu, if the mechanism is mu-GDP: of one run for any dependence, of many runs by their independence."""
        if self.design == "one_run":
            return canary_mu_bound(self.surest, alpha=self.alpha)
        found = _last_refuted(lambda mu: self._p_value(sampled_gaussian_experiment(1.0, 1, 1 / mu)), 1e-3, _LARGEST_MU, self.alpha)
        return Fraction(0) if found is None else Fraction(found)

    @cached_property
    def p_value(self) -> float:
        """P-value of the claim, for any dependence of the scores; 1 where there is no claim."""
        if self.claim is None:
            return 1.0
        point = stated_point(self.claim)
        if point is not None:
            joined = join_blocks(self.nested, float(point.delta), float(self.alpha))
            return nested_p_value(joined, float(point.epsilon), float(point.delta))
        mu = self.claim.guarantee.mu if isinstance(self.claim.guarantee, GDP) else None
        if self.design == "many_runs" and mu is not None and rational(mu) > 0:
            return self._p_value(sampled_gaussian_experiment(1.0, 1, 1 / float(rational(mu))))
        return guesses_p_value_under_claim(self.surest, self.claim)

    @property
    def refuted(self) -> bool:
        """True if the claim is refuted at level `alpha`."""
        return Fraction(self.p_value) <= self.alpha

    @property
    def assumption(self) -> str:
        """What `epsilon`, and the p-value of a claim, rest on."""
        return ANY_DEPENDENCE if self.design == "one_run" else BY_DESIGN

    def within(self, family: DPSGD) -> FamilyBound:
        """Bound epsilon inside a named family; of one run only if canaries do not influence one another.

        Args:
          family: the sampling rate and the number of steps; the noise is what is bounded.
        Returns:
          A bound on the noise multiplier, and the epsilon that the accountant gives for it.
        Raises:
          InvalidArgument: no DPSGD (DPA105).
        """
        instance_of(family, DPSGD, "family")
        # Less noise shows more, so that whatever refutes a noise refutes every larger one.
        found = _last_refuted(
            lambda inverse: self._p_value(family.experiment(1 / inverse)), 1 / _MOST_NOISE, 1 / _LEAST_NOISE, self.alpha
        )
        noise = None if found is None else 1 / found
        return FamilyBound(
            family=family,
            noise_multiplier=noise,
            epsilon=Fraction(0) if noise is None else family.epsilon(noise_multiplier=noise, delta=self.delta),
            delta=self.delta,
            alpha=self.alpha,
            assumption=INDEPENDENT if self.design == "one_run" else BY_DESIGN,
        )

    def _p_value(self, experiment: Experiment) -> float:
        """P-value of "one canary shows no more than the experiment", for independent scores."""
        return weighted_p_value(self.weighted, experiment)


def audit_scores(
    scores: Any,
    included: Any,
    *,
    claim: Claim | None = None,
    design: str = "one_run",
    delta: Exact = 0,
    alpha: Exact = "0.05",
    law: DPSGD | None = None,
) -> ScoreAudit:
    """Bound privacy from the scores of canaries, each put in or left out by a fair coin of its own before training.

    Guesses are made without looking at `included`: the farther a score from the median, the surer; above it means in.

    Args:
      scores: one finite number for each canary, higher where it seems to be in; or steps by canaries, shape (steps, canaries).
      included: how the coins fell, booleans, shape (canaries,).
      claim: a claim to test, for one canary put in or left out.
      design: "one_run" for many canaries in one training; "many_runs" for a training of its own behind each score.
      delta: where epsilon is bounded, in [0, 1).
      alpha: error probability, in (0, 1).
      law: what is said of a training with scores of steps; with its noise multiplier, steps are weighted by their likelihood
        under it. A wrong law costs power only.
    Returns:
      Bounds on epsilon and mu, the p-value of the claim, bounds within families, and the ROC.
    Raises:
      InvalidArgument: scores that are not finite or of another shape (DPA105), fewer than 16 canaries, or coins that cannot have
        been fair (DPA103), or a number out of range (DPA101 to DPA103).
    Source: Steinke, Nasr, Jagielski 2023, Algorithm 1; docs/membership.md, sections 2 and 3.
    Example:
      >>> inside = np.arange(1000) % 2 == 0
      >>> noise = np.random.default_rng(1).normal(size=1000)
      >>> found = audit_scores(4 * inside + noise, inside, delta="1e-5")
      >>> float(found.epsilon) > 3, float(found.within(DPSGD(rate=1, steps=1)).epsilon) > 10
      (True, True)
    """
    if claim is not None:
        instance_of(claim, Claim, "claim")
    if law is not None:
        instance_of(law, DPSGD, "law")
    kind = word(design, "design", ("one_run", "many_runs"))
    values, inside = _checked(scores, included)
    combined = values[0] if len(values) == 1 else combine_steps(values, law)
    distance = combined - np.median(combined)
    # Among equal distances wrong guesses come first: counts are then at most those of any order that knows no coins, whereas the
    # order of a file often follows them.
    guessed = (distance > 0) == inside
    order = np.lexsort((guessed, -np.abs(distance)))
    right = guessed[order]
    counted = [_first(right, share) for share in SHARES_GUESSED]
    return ScoreAudit(
        design=kind,
        claim=claim,
        delta=in_range(delta, "delta", lower=0, upper=1, upper_open=True),
        alpha=in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True),
        nested=count_nested(right, len(right)),
        weighted=NestedGuesses(len(right), tuple(one.guessed for one in counted), tuple(one.correct for one in counted)),
        surest=_first(right, SHARE_OF_SUREST),
        roc=_roc(combined, inside),
    )


def _checked(scores: Any, included: Any) -> tuple[Scores, NDArray[np.bool_]]:
    """Return scores as steps by canaries and the coins; refuse what no experiment of this kind gives."""
    from scipy.special import bdtr

    values, coins = finite_array(scores, "scores"), finite_array(included, "included")
    if values.ndim == 1:
        values = values[None, :]
    if values.ndim != 2 or not len(values) or coins.shape != values.shape[1:]:
        raise InvalidArgument(
            "DPA105",
            f"scores must have shape (canaries,) or (steps, canaries) and included shape (canaries,), got {np.shape(scores)} and "
            f"{coins.shape}. Transpose scores that have a row for each canary.",
        )
    if not np.isin(coins, (0.0, 1.0)).all():
        raise InvalidArgument("DPA105", "included must hold True and False, or 1 and 0, and nothing else.")
    count, ins = len(coins), int(coins.sum())
    if count < FEWEST_CANARIES:
        raise InvalidArgument("DPA103", f"at least {FEWEST_CANARIES} canaries are needed, got {count}. Score more of them.")
    if 2 * float(bdtr(min(ins, count - ins), count, 0.5)) < _UNFAIR:
        raise InvalidArgument(
            "DPA103",
            f"{ins} of {count} canaries were in, which fair coins do not give. Decide about each canary by a coin of its own, and "
            "give the scores of all of them.",
        )
    return values, coins != 0


def _first(right: NDArray[np.bool_], share: Fraction) -> CanaryGuesses:
    """Count the right ones among the surest share of all guesses."""
    guessed = math.floor(share * len(right))
    return CanaryGuesses(canaries=len(right), guessed=guessed, correct=int(right[:guessed].sum()))


def combine_steps(values: Scores, law: DPSGD | None) -> Scores:
    """Make one score of many steps without looking at the coins: their sum, or the likelihood ratio of a law with known noise."""
    if law is None or law.noise_multiplier is None:
        return np.asarray(values.sum(axis=0))
    centre = np.median(values, axis=1, keepdims=True)
    deviation = _TO_DEVIATION * np.median(np.abs(values - centre), axis=1, keepdims=True)
    noise, rate = float(rational(law.noise_multiplier)), float(rational(law.rate))
    # In units of a canary's gradient, as the claimed noise has them; the spread of the scores gives the scale.
    places = (values - centre) / np.where(deviation > 0, deviation, 1.0) * noise
    shift = (places - 0.5) / noise**2
    if rate == 1:
        return np.asarray(shift.sum(axis=0))
    return np.asarray(np.logaddexp(math.log1p(-rate), math.log(rate) + shift).sum(axis=0))


def _last_refuted(p_value: Callable[[float], float], low: float, high: float, alpha: Fraction) -> float | None:
    """Return the largest parameter found that is refuted; larger ones show more. None where the least one survives.

    Bisection until the ends are near, then false position: normal quantiles of p-values are nearly linear in the parameter.
    """
    from scipy.special import ndtri

    def height(place: float) -> float:
        found = p_value(place)
        # The comparison decides on which side of the level a place is, whatever the quantiles round to.
        size = max(abs(float(ndtri(min(max(found, 1e-15), 1 - 1e-15))) - goal), 1e-12)
        return -size if found <= alpha else size

    goal = float(ndtri(float(alpha)))
    under, over, stayed = height(low), 10.0, 0
    if under > 0:
        return None
    for _ in range(_SEARCHES):
        if under > -_CLOSE or high < low * (1 + _CLOSE / 10):
            break
        # An end that stayed twice counts half, so that both of them move.
        left, right = under * 0.5 ** max(0, -stayed - 1), over * 0.5 ** max(0, stayed - 1)
        middle = math.sqrt(low * high) if high > _NEAR * low else low + (high - low) * left / (left - right)
        found = height(middle)
        if found < 0:
            low, under, stayed = middle, found, max(stayed, 0) + 1
        else:
            high, over, stayed = middle, found, min(stayed, 0) - 1
    return low


def _roc(scores: Scores, inside: NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    """Shares of false and true positives above every threshold at which they can change."""
    order = np.argsort(-scores, kind="stable")
    ranked = inside[order]
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    members, others = max(1, int(inside.sum())), max(1, int((~inside).sum()))
    hits, alarms = np.cumsum(ranked)[ends] / members, np.cumsum(~ranked)[ends] / others
    return ((0.0, 0.0), *((float(alarm), float(hit)) for alarm, hit in zip(alarms, hits, strict=True)))
