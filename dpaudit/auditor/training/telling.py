"""An audit of a training in words: the loop, its price, every bound with what it rests on, and what was not checked."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.auditor.membership.scores import DPSGD, ScoreAudit
from dpaudit.auditor.training.findings import LoopCheck
from dpaudit.auditor.training.steps import StepAudit
from dpaudit.auditor.training.watching import TrainingWatch
from dpaudit.exact import Exact, outward, rational

if TYPE_CHECKING:
    from dpaudit.exact import Enclosure

UNCHECKED: Final = (
    "Not checked: what the loop did not report, or reported falsely; losses and metrics of private records that were printed or "
    "kept; choices among several trainings; the quality of the random numbers."
)


def training_report(
    watch: TrainingWatch | None = None,
    *,
    delta: Exact,
    scores: ScoreAudit | None = None,
    family: DPSGD | None = None,
    steps: StepAudit | None = None,
) -> str:
    """Write what an audit of a training found, for a person.

    Args:
      watch: what was watched of the loop, if anything was.
      delta: where the price is told, in (0, 1).
      scores: bounds from canaries with one coin for the run, if any.
      family: the family within which these scores also bound epsilon.
      steps: bets on canaries with fresh coins in every step, if any.
    Returns:
      Lines of text: violations first, each with its place and remedy; each bound and test with its own assumption.
    Example:
      >>> from dpaudit.auditor.training import TrainingClaim, audit_training
      >>> watch = audit_training(TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=1, records=1, divisor=1))
      >>> training_report(watch, delta="1e-5").splitlines()[0]
      'The loop: no mistake was seen. Not judged: loop (no step was watched).'
    """
    parts = [*(() if watch is None else (*_loop(watch.checks), _price(watch.price(delta=delta), delta)))]
    parts += [*_bounds(scores, family), *_steps(steps), UNCHECKED]
    return "\n".join(parts) + "\n"


def _loop(checks: tuple[LoopCheck, ...]) -> Iterator[str]:
    """Violations, then what holds and what was not judged."""
    violations = [check for check in checks if check.status == "violated"]
    unknown = [f"{check.name} ({check.detail.rstrip('.')})" for check in checks if check.status == "not judged"]
    held = [f"{check.name} ({check.detail})" if check.detail else check.name for check in checks if check.status == "holds"]
    found = [f"{len(violations)} mistakes." if len(violations) != 1 else "one mistake."] if violations else ["no mistake was seen."]
    found += [f"Evidence for: {', '.join(held)}."] if held else []
    found += [f"Not judged: {'; '.join(unknown)}."] if unknown else []
    yield f"The loop: {' '.join(found)}"
    for check in violations:
        at = f" Where: {check.where}." if check.where else ""
        yield f"  {check.name}: {check.detail}.{at} {check.remedy}"


def _price(price: dict[str, Enclosure | None], delta: Exact) -> str:
    """What was told, and what was seen."""
    told, seen = (None if one is None else outward(one.upper, digits=4, up=True) for one in (price["told"], price["seen"]))
    ran = (
        "no price is known for the loop that ran"
        if seen is None
        else f"epsilon {seen} for the noise, rate and steps that were seen"
    )
    return f"Price at delta {delta}: epsilon {told} as told; {ran}."


def _bounds(scores: ScoreAudit | None, family: DPSGD | None) -> Iterator[str]:
    """Bounds from one coin for the run."""
    if scores is None:
        return
    at = f"at delta {float(scores.delta):g}, wrong with probability at most {float(scores.alpha):g}"
    yield f"Epsilon >= {outward(scores.epsilon, digits=4, up=False)} {at}, for any mechanism. Assumes: {scores.assumption}."
    if family is not None:
        inside = scores.within(family)
        kind = f"DP-SGD of rate {float(rational(family.rate)):g} and {family.steps} steps"
        yield f"Epsilon >= {outward(inside.epsilon, digits=4, up=False)} {at}, within {kind}. Assumes also: {inside.assumption}."


def _steps(steps: StepAudit | None) -> Iterator[str]:
    """The test of each step, then the bound on the run, which assumes more."""
    if steps is None:
        return
    level = f"wrong with probability at most {float(steps.alpha):g}"
    which = (
        f"steps {', '.join(map(str, steps.refuted_steps))} break" if steps.refuted_steps else "no single step was shown to break"
    )
    verdict = "some step breaks its claim" if steps.refuted else "no claim of a step is refuted, which proves none"
    yield f"Step by step: {verdict}; {which} its own claim, {level}. Assumes: {steps.holds_for}."
    bound = outward(Fraction(steps.epsilon), digits=4, up=False)
    yield f"Composed: epsilon >= {bound} of the run at delta {float(steps.delta):g}, {level}. Assumes: {steps.assumption}."
