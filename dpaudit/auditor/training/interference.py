"""Two runs with the same randomness that differ in one record: before it is drawn nothing may differ, and the noise never."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dpaudit.auditor.training.findings import LoopCheck, holds
from dpaudit.auditor.training.observed import Array, Step
from dpaudit.auditor.training.separate import SEPARATE
from dpaudit.auditor.training.sums import CLIPPING

PUBLIC: Final = "public numbers"
DRAWN: Final = "records not drawn"

_ROUNDING: Final = 1e-4
_PUBLIC: Final = "Compute it from public numbers, or from what was released: not from statistics or losses of private records."


def check_drawn(first: Sequence[Step], other: Sequence[Step], place: int) -> LoopCheck:
    """Check a run against the same run with another record at a place.

    Until a step draws it every number must be the same, and in that step the gradients of other records. Noisy sums change by as
    much as clean ones in every step, as long as batches and public numbers are the same.
    """
    since = next((number for number, step in enumerate(first) if place in step.batch), len(first))
    for number, (one, two) in enumerate(zip(first, other, strict=False)):
        drawn = number >= since
        if number > since:
            if not np.array_equal(one.batch, two.batch) or one.public != two.public:
                break
            if not _moves_alike(one, two):
                return _beside(number)
            continue
        said = _difference(one, two, place, drawn=drawn)
        if said == _MIXED and drawn:
            remedy = "Compute the gradient of an example from its own record: no batch normalisation, no mean over the batch."
            return LoopCheck(
                SEPARATE, "violated", number + 1, "a gradient changes with another record of the batch", remedy, number
            )
        if said == _SUM and drawn:
            return _beside(number)
        if said:
            detail = f"{said} depends on a record that is in no batch so far"
            name = PUBLIC if said.removeprefix("the ").replace(" ", "_") in one.public else DRAWN
            return LoopCheck(name, "violated", number + 1, detail, _PUBLIC, number)
    if len(first) != len(other) and min(len(first), len(other)) <= since:
        detail = "when the loop ends depends on a record that is in no batch so far"
        return LoopCheck(DRAWN, "violated", min(len(first), len(other)), detail, _PUBLIC)
    return holds(DRAWN, len(first))


def _beside(number: int) -> LoopCheck:
    """The finding that a sum holds something else than clipped gradients and noise."""
    detail = "one record changes the sums by something else than clipped gradients"
    remedy = "Clip each gradient at the public clip, add them up, and add noise whose scale is public."
    return LoopCheck(CLIPPING, "violated", number + 1, detail, remedy, number)


_MIXED: Final = "the gradient of an example"
_SUM: Final = "a noisy sum"


def _difference(one: Step, two: Step, place: int, *, drawn: bool) -> str:
    """Name the first thing that differs between two runs in a step and must not."""
    if not np.array_equal(one.batch, two.batch):
        return "which records are drawn"
    for name in sorted({"clip", *(() if drawn else ("divisor", "learning_rate"))}):
        if one.public.get(name) != two.public.get(name):
            return f"the {name.replace('_', ' ')}"
    others = np.append(one.batch != place, [False, False])
    if not _is_close(one.traces[others], two.traces[others]):
        return _MIXED
    if drawn:
        return "" if _moves_alike(one, two) else _SUM
    return "" if _is_close(one.traces[-1:], two.traces[-1:]) else _SUM


def _moves_alike(one: Step, two: Step) -> bool:
    """True if the noisy sum changes as the clean one does."""
    change = (two.traces[-2:] - one.traces[-2:])[:, 1]
    scale = max(np.abs(one.traces[-2:]).max(), np.abs(two.traces[-2:]).max())
    return bool(abs(change[1] - change[0]) <= _ROUNDING * scale)


def is_same(first: Sequence[Step], other: Sequence[Step]) -> bool:
    """True if two runs drew the same batches and released the same sums."""
    return len(first) == len(other) and all(
        np.array_equal(one.batch, two.batch) and one.public == two.public and _is_close(one.traces, two.traces)
        for one, two in zip(first, other, strict=True)
    )


def _is_close(one: Array, two: Array) -> bool:
    """True if rows are the same up to rounding, of their length."""
    if one.shape != two.shape:
        return False
    return bool(np.all(np.abs(one - two) <= _ROUNDING * (np.maximum(one[:, :1], two[:, :1]) + np.finfo(np.float64).tiny)))
