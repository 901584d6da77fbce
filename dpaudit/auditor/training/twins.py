"""Runs of one loop on neighbouring records: what must be public has to be the same in all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from dpaudit.auditor.membership.user_arrays import result_of
from dpaudit.auditor.training.findings import LoopCheck, holds, not_judged
from dpaudit.auditor.training.observed import array_of
from dpaudit.auditor.training.promises import TrainingClaim
from dpaudit.auditor.training.watching import TrainingWatch, audit_training
from dpaudit.errors import InvalidArgument
from dpaudit.exact import instance_of

PUBLIC: Final = "public numbers"

_EXTREME: Final = 1000.0


def compare_trainings(first: TrainingWatch, second: TrainingWatch) -> LoopCheck:
    """Check that divisor, clip, learning rate and number of steps are the same on neighbouring records.

    Args:
      first: what was watched of one run of the loop.
      second: the same for a run on a neighbour of its records: one removed, or one made extreme.
    Returns:
      A check that needs no probability: a number that differs was computed from records.
    Raises:
      InvalidArgument: no TrainingWatch (DPA105).
    Example:
      >>> import numpy as np
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=1, records=2, divisor=2)
      >>> with audit_training(claim) as one, audit_training(claim) as other:
      ...     one.step(batch=[0, 1], gradients=np.eye(2), noisy_sum=np.ones(2), divisor=2)
      ...     other.step(batch=[0], gradients=np.eye(2)[:1], noisy_sum=np.ones(2), divisor=1)
      >>> compare_trainings(one, other).status
      'violated'
    """
    left = instance_of(first, TrainingWatch, "first").observed
    right = instance_of(second, TrainingWatch, "second").observed
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        for name in sorted(set(one.public) | set(other.public)):
            if one.public.get(name) != other.public.get(name):
                remedy = f"Fix {name.replace('_', ' ')} in advance, from public numbers such as a declared number of records."
                return LoopCheck(
                    PUBLIC, "violated", number + 1, f"{name.replace('_', ' ')} differs between neighbours", remedy, number
                )
    if len(left) != len(right):
        detail = f"{len(left)} steps on one side, {len(right)} on the other"
        return LoopCheck(PUBLIC, "violated", min(len(left), len(right)), detail, "Fix the number of steps in advance.")
    if not left:
        return not_judged(PUBLIC, "no step was watched")
    if not any(step.public for step in left):
        return not_judged(PUBLIC, "the loops told no divisor, clip or learning rate. Give them to step.")
    return holds(PUBLIC, len(left))


def audit_loop(train: Callable[[Any, TrainingWatch], Any], claim: TrainingClaim, records: Any) -> tuple[LoopCheck, ...]:
    """Watch a loop on records, and on two neighbours of them, for numbers that it computes from records.

    Args:
      train: function (records, watch) that trains and calls `watch.step` once for every noisy sum.
      claim: what was told to an accountant about these records.
      records: an array of numbers with a row for each record, at least 2.
    Returns:
      Every check of the first run, and "public numbers" against the run without the last record and the run in which all numbers
      of the last record are a thousand times as large.
    Raises:
      InvalidArgument: records that are not as many as claimed (DPA105).
      TargetFailure: the loop raises (DPA405).
    Example:
      >>> import numpy as np
      >>> def train(records, watch):
      ...     scale = np.abs(records).max()
      ...     watch.step(batch=range(len(records)), gradients=records / scale, noisy_sum=np.zeros(2), learning_rate=1 / scale)
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=1, records=3, divisor=3)
      >>> audit_loop(train, claim, np.ones((3, 2)))[-1].detail
      'learning rate differs between neighbours'
    """
    rows = array_of(records, "records")
    if rows.ndim < 1 or len(rows) != claim.records or len(rows) < 2:
        raise InvalidArgument("DPA105", f"records must be the {claim.records} of the claim, at least 2, got {rows.shape[:1]}.")
    extreme = rows.copy()
    extreme[-1] *= _EXTREME
    watches = []
    for given in (rows, rows[:-1], extreme):
        with audit_training(replace(claim, records=len(given))) as watch:
            result_of(train, given, watch)
        watches.append(watch)
    compared = [compare_trainings(watches[0], other) for other in watches[1:]]
    return (*watches[0].checks, next((check for check in compared if check.status == "violated"), compared[0]))
