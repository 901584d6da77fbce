"""Numbers of a loop that must be public, against what was told and from step to step, and the update they lead to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from dpaudit.auditor.training.findings import FALSE_ALARM, LoopCheck, holds, not_judged
from dpaudit.auditor.training.moves import BETWEEN, CLEAN, NOISY
from dpaudit.auditor.training.observed import Step
from dpaudit.auditor.training.promises import TrainingClaim, as_float

DIVISOR: Final = "divisor"
CLIP: Final = "clip"
STEPS: Final = "steps"
UPDATE: Final = "update"

_ROUNDING: Final = 1e-6
_FEWEST: Final = 3
_EXPLANATIONS: Final = 16


def check_constants(steps: Sequence[Step], claim: TrainingClaim) -> list[LoopCheck]:
    """Check divisor, clip and number of steps against the claim, and parameters against the noisy gradient."""
    return [_divisor(steps, claim), _clip(steps, claim), _number(steps, claim), _update(steps)]


def _divisor(steps: Sequence[Step], claim: TrainingClaim) -> LoopCheck:
    """The public divisor, in every step; the actual size of the batch is the usual mistake."""
    told = as_float(claim.divisor)
    if _follows_the_batch([(step.public.get("learning_rate"), len(step.batch)) for step in steps]):
        detail = "the learning rate makes up for the actual size of the batch"
        return LoopCheck(DIVISOR, "violated", len(steps), detail, "Set the learning rate without looking at batches.")
    for number, step in enumerate(steps):
        seen = step.public.get("divisor")
        if seen is None:
            return not_judged(DIVISOR, "the loop did not say by what it divides. Give divisor= to step.")
        if not _is_close(seen, told):
            actual = all(_is_close(one.public.get("divisor", 0.0), max(1, len(one.batch))) for one in steps)
            detail = "it is the actual size of the batch" if actual else f"it is not the {told:.6g} that was told"
            remedy = "Divide by one public number, such as the expected size of a batch for a public number of records."
            return LoopCheck(DIVISOR, "violated", len(steps), detail, remedy, number)
    return holds(DIVISOR, len(steps))


def _clip(steps: Sequence[Step], claim: TrainingClaim) -> LoopCheck:
    """The clip in use."""
    told = as_float(claim.clip)
    for number, step in enumerate(steps):
        seen = step.public.get("clip")
        if seen is not None and not _is_close(seen, told):
            detail = f"the loop does not clip at the {told:.4g} that was told"
            return LoopCheck(
                CLIP, "violated", len(steps), detail, "Fix the clip before looking at records, or pay for choosing it.", number
            )
    if not all("clip" in step.public for step in steps):
        return not_judged(CLIP, "the loop did not say in every step at what it clips. Give clip= to step.")
    return holds(CLIP, len(steps))


def _number(steps: Sequence[Step], claim: TrainingClaim) -> LoopCheck:
    """How many sums were released; a skipped step shows that its batch was empty."""
    if len(steps) == claim.steps:
        return holds(STEPS, len(steps))
    detail = f"{len(steps)} sums were released, {claim.steps} were told"
    remedy = "Release noise for an empty batch too, and fix the number of steps in advance."
    return LoopCheck(STEPS, "violated", len(steps), detail, remedy)


def _update(steps: Sequence[Step]) -> LoopCheck:
    """Parameters move by noisy sums alone, or they follow gradients beside them."""
    clean = [(number, step.move[1]) for number, step in enumerate(steps) if step.move[0] == CLEAN]
    # Any of the steps, and any of the explanations, could have seemed clean by chance.
    if sum(odds + math.log(_EXPLANATIONS * len(steps)) for _, odds in clean) <= math.log(FALSE_ALARM):
        detail = "parameters follow the gradients without their noise"
        remedy = "Let every parameter move by the noisy gradient and nothing else."
        return LoopCheck(UPDATE, "violated", len(steps), detail, remedy, clean[0][0])
    judged = [step.move[0] for step in steps if step.move[0]]
    if not judged:
        return not_judged(UPDATE, "the loop did not give parameters= and updated= to step.")
    if BETWEEN in judged:
        return not_judged(UPDATE, "parameters also move between the steps, by something that the watch does not see")
    if set(judged) - {NOISY}:
        why = "parameters do not move as under gradient descent with momentum and weight decay, which is all that can be checked"
        return not_judged(UPDATE, why)
    return holds(UPDATE, len(judged))


def _is_close(seen: float, told: float) -> bool:
    """True up to rounding."""
    return abs(seen - told) <= _ROUNDING * abs(told)


def _follows_the_batch(seen: Sequence[tuple[float | None, int]]) -> bool:
    """True if a number changes from step to step in proportion to the size of the batch, or to its inverse."""
    known = [(value, max(1, size)) for value, size in seen if value]
    if len({value for value, _ in known}) < _FEWEST or len({size for _, size in known}) < _FEWEST:
        return False
    return any(
        all(_is_close(value * size**power, known[0][0] * known[0][1] ** power) for value, size in known) for power in (-1, 1)
    )
