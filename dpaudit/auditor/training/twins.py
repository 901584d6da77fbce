"""Runs of one loop on neighbouring records: public numbers are the same in all, and a record changes nothing before it is drawn."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dpaudit.auditor.membership.user_arrays import result_of
from dpaudit.auditor.training.findings import LoopCheck, holds, not_judged
from dpaudit.auditor.training.interference import DRAWN, PUBLIC, check_drawn, is_same
from dpaudit.auditor.training.observed import Array, Step, array_of
from dpaudit.auditor.training.promises import TrainingClaim
from dpaudit.auditor.training.watching import TrainingWatch, audit_training
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.exact import instance_of

_EXTREME: Final = 1000.0
_SEED: Final = 27


def compare_trainings(first: TrainingWatch, second: TrainingWatch) -> LoopCheck:
    """Check that divisor, clip, learning rate and number of steps are the same on neighbouring records.

    Args:
      first: what was watched of one run of the loop.
      second: the same for a run on a neighbour of its records: one removed, or one made extreme.
    Returns:
      A check that needs no probability: a number that differs was computed from records. A learning rate that differs after the
      first step is not judged, since it may follow what was released.
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
    adapted = False
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        for name in sorted(set(one.public) | set(other.public)):
            if one.public.get(name) == other.public.get(name):
                continue
            if name == "learning_rate" and number:
                adapted = True
                continue
            said = name.replace("_", " ")
            remedy = f"Fix {said} in advance, from public numbers such as a declared number of records."
            return LoopCheck(PUBLIC, "violated", number + 1, f"{said} differs between neighbours", remedy, number)
    if len(left) != len(right):
        detail = f"{len(left)} steps on one side, {len(right)} on the other"
        return LoopCheck(PUBLIC, "violated", min(len(left), len(right)), detail, "Fix the number of steps in advance.")
    if not left:
        return not_judged(PUBLIC, "no step was watched")
    if adapted:
        return not_judged(PUBLIC, "the learning rate is not the same after some steps; it may follow released sums, or records")
    if not any(step.public for step in left):
        return not_judged(PUBLIC, "the loops told no divisor, clip or learning rate. Give them to step.")
    return holds(PUBLIC, len(left))


def audit_loop(train: Callable[[Any, TrainingWatch], Any], claim: TrainingClaim, records: Any) -> tuple[LoopCheck, ...]:
    """Watch a loop on records and on neighbours of them, for numbers that it computes from records.

    The global generators of numpy, torch and Python are seeded for each run and restored after it; a loop with generators of its
    own should seed them, since runs with the same randomness are compared number by number.

    Args:
      train: function (records, watch) that trains and calls `watch.step` once for every noisy sum.
      claim: what was told to an accountant about these records.
      records: an array of numbers with a row for each record, at least 2.
    Returns:
      Every check of the first run; "public numbers" against the run without the last record; and "records not drawn" against runs
      with one record made extreme, which may change nothing before it is in a batch, and then the sum by its clipped gradient.
    Raises:
      InvalidArgument: records that are not as many as claimed (DPA105).
      TargetFailure: the loop raises (DPA405).
    Example:
      >>> import numpy as np
      >>> def train(records, watch):
      ...     scale = np.abs(records).max()
      ...     watch.step(
      ...         batch=range(len(records)), gradients=records / scale, noisy_sum=np.zeros(2), learning_rate=1 / len(records)
      ...     )
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=1, records=3, divisor=3)
      >>> [check.name for check in audit_loop(train, claim, np.ones((3, 2))) if check.status == "violated"][-2:]
      ['separate examples', 'public numbers']
    """
    rows = array_of(records, "records")
    if rows.ndim < 1 or len(rows) != claim.records or len(rows) < 2:
        raise InvalidArgument("DPA105", f"records must be the {claim.records} of the claim, at least 2, got {rows.shape[:1]}.")

    def run(given: Array) -> TrainingWatch:
        with _same_randomness(), audit_training(replace(claim, records=len(given))) as watch:
            result_of(train, given, watch)
        return watch

    first = run(rows)
    compared = compare_trainings(first, run(rows[:-1]))
    drawn: list[LoopCheck] = []
    for place in _first_and_last_drawn(first.observed, len(rows)):
        other = _run_extreme(run, rows, place)
        drawn.append(check_drawn(first.observed, other, place) if other else not_judged(DRAWN, "no neighbour could be trained on"))
    worst = next((check for check in drawn if check.status == "violated"), drawn[0])
    if worst.status == "violated" and not is_same(first.observed, run(rows).observed):
        worst = not_judged(DRAWN, "two runs on the same records differ. Seed the generators of the loop within it.")
    checks = (*first.checks, compared, holds(DRAWN, len(first.observed)))
    # A finding takes the place of the check that it is about, unless that has one of its own.
    found = (worst if check.name == worst.name and check.status != "violated" else check for check in checks)
    return tuple(map(first.locate, found))


def _first_and_last_drawn(steps: tuple[Step, ...], records: int) -> tuple[int, ...]:
    """Positions of a record that is drawn early and of one that is drawn as late as any, or never."""
    drawn = np.full(records, len(steps))
    for number in range(len(steps) - 1, -1, -1):
        drawn[steps[number].batch] = number
    return int(np.argmax(drawn)), int(np.argmin(drawn))


def _run_extreme(run: Callable[[Array], TrainingWatch], rows: Array, place: int) -> tuple[Step, ...]:
    """Run with one record that is a thousand times as long, or, where a loop cannot take that, like another record."""
    changed = rows.copy()
    changed[place] = _EXTREME * np.where(rows[place] == 0, 1.0, rows[place])
    try:
        return run(changed).observed
    except DpauditError:
        changed[place] = rows[np.argmax(np.abs(rows - rows[place]).reshape(len(rows), -1).sum(axis=1))]
    try:
        return run(changed).observed
    except DpauditError:
        return ()


@contextmanager
def _same_randomness() -> Iterator[None]:
    """Seed the global generators, of torch too where it is loaded, and restore them."""
    torch = sys.modules.get("torch")
    # The legacy generator is the one that loops without a generator of their own draw from.
    held = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None  # noqa: NPY002
    random.seed(_SEED)
    np.random.seed(_SEED)  # noqa: NPY002
    if torch:
        torch.manual_seed(_SEED)
    try:
        yield
    finally:
        random.setstate(held[0])
        np.random.set_state(held[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(held[2])
