"""Rounds of boosting: each releases the sums of slopes in all bins of all columns at once, and moves every shape by these alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.boosting.amounts import Amounts
from learners.boosting.forms import FORM_STEPS, Form, likely_counts, planned_length, row_lengths, sum_slopes
from learners.boosting.plans import CONSTANT, COUNT_STEPS, LEVEL_ROUNDS
from learners.rows.labels import WEIGHT_UNIT
from learners.rows.rows import Rows
from learners.solvers.gradient import WEIGHT_BITS, on_lattice
from learners.solvers.newton import PLACES, SHARES
from learners.solvers.slopes import UNIT, weigh_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.boosting.losses import ScoreLoss
    from learners.boosting.plans import BoostingPlan
    from mechanisms.sampling.random import BitSource

_PACE, _MOST_PACE = 2.0, 0.4
"""Round t goes `_PACE` / t of the way, which weighs its noise by t, and no further: alike columns would pass the goal."""

_LEVEL_PACE: Final = 0.7
"""Part of a step of the level alone that is taken."""

_LEVEL_SCALE: Final = 0.5
"""How far the level is expected to be from that of the released labels."""

_FLOOR: Final = 0.1
"""Curvatures of the level count for no less than this part of the noise."""

Tie = Callable[["NDArray[np.float64]", "NDArray[np.float64]"], "NDArray[np.float64]"]
"""From shapes, stacked, and noisy counts to shapes that keep the constraints."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """What a fit releases: shapes of all columns on a lattice, stacked, and noisy counts of records in each bin."""

    weights: NDArray[np.int64]  # (bins,) or (bins, outputs) in units of 2**-16; the start is part of the first column's
    counts: NDArray[np.int64]  # (bins,), in records


def one_hot(codes: NDArray[np.int64], sizes: Sequence[int], labels: NDArray[np.int64]) -> Rows:
    """Rows with a 1 in the bin of every column: as CSR, of norm root of the number of columns."""
    from scipy.sparse import csr_array

    count, columns = codes.shape
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = (codes + starts[:-1]).astype(np.int32).ravel()
    table = (np.ones(count * columns, dtype=np.int32), places, columns * np.arange(count + 1))
    steps = csr_array(table, shape=(count, int(starts[-1])))
    return Rows(steps, math.isqrt(columns - 1) + 1, Fraction(1), labels)


def release_counts(
    rows: Rows, kinds: NDArray[np.int64], plan: BoostingPlan, source: BitSource | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Noisy numbers of records in each bin of each column, and of each kind of label."""
    records = count_records(rows, kinds, plan)
    noisy = plan.noise(plan.counts).release(records, source).astype(np.float64)
    size = sum(plan.sizes)
    return noisy[:size] / COUNT_STEPS, noisy[size:] / plan.label_steps


def count_records(rows: Rows, kinds: NDArray[np.int64], plan: BoostingPlan) -> NDArray[np.int64]:
    """What is released with noise first: records in each bin, and those of each kind of label by their weight, in steps."""
    bins = rows.weighted_sum(np.full(len(kinds), COUNT_STEPS, dtype=np.int64))
    labels = np.zeros(plan.kinds, dtype=np.int64)
    if rows.weights is None:
        np.add.at(labels, kinds, plan.label_steps)
    else:
        np.add.at(labels, kinds, rows.weights * plan.label_steps // WEIGHT_UNIT)
    return np.concatenate([bins, labels])


def boost(
    rows: Rows,
    kinds: NDArray[np.int64],
    plan: BoostingPlan,
    spans: Sequence[bool],
    loss_of: Callable[[NDArray[np.float64], float], ScoreLoss],
    tie: Tie | None,
    source: BitSource | None,
) -> Shapes:
    """Learn shapes from the planned releases alone; `spans` says which columns have ordered bins, before one for missing cells."""
    counts, labels = release_counts(rows, kinds, plan, source)
    loss = loss_of(labels, float(plan.counts.parameter("sigma")) / plan.label_steps)
    parts = _parts(plan.sizes)
    total = max(float(labels.sum() if rows.weights is None else counts.sum() / plan.columns), 1.0)
    if rows.weights is not None:
        loss = loss.weakened(float(labels.sum()) / total)
    deviation = float(plan.counts.parameter("sigma")) / COUNT_STEPS
    present = [likely_counts(counts[part], total, deviation, span=span) for part, span in zip(parts, spans, strict=True)]
    forms = [
        Form.of_range(own, width - 1) if span else Form.of_categories(own)
        for own, width, span in zip(present, plan.widths, spans, strict=True)
    ]
    planned = planned_length(forms, present)
    lengths = row_lengths(rows, forms, planned)
    noise, sigma = plan.noise(plan.gradient), float(plan.gradient.parameter("sigma")) / UNIT
    unit = float(planned * FORM_STEPS)
    bends = np.concatenate([form.bends for form in forms])[:, np.newaxis] * (loss.bends * loss.scale)
    amounts = Amounts.none(bends, plan.widths, sigma / unit, plan.rounds)
    stiff, doubt = total * loss.bends * CONSTANT, sigma**2 / plan.rounds / (_LEVEL_SCALE * loss.scale) ** 2
    whole, shapes, start = np.concatenate(present), np.zeros((len(counts), plan.outputs)), loss.start.copy()
    for done in range(plan.rounds):
        pulled = loss.slopes(rows.margins(_stacked(shapes, start, parts[0])), rows.labels, WEIGHT_BITS)
        sums = sum_slopes(rows, forms, lengths, weigh_records(pulled, rows.weights))
        pull = noise.release(sums, source).reshape(-1, plan.outputs) / UNIT
        if plan.outputs > 1:
            pull -= pull.mean(axis=1, keepdims=True)  # a record's slopes sum to zero, but for roundings: this is noise
        pace = min(_MOST_PACE, _PACE / (done + 1))
        pulls = [form.pulls(part) for form, part in zip(forms, np.split(pull[:-1] / unit, amounts.starts[1:]), strict=True)]
        amounts = amounts.after(np.concatenate(pulls), pace)
        start += pace * (stiff * pull[-1] - doubt * (start - loss.start)) / (np.square(stiff) + doubt)
        held = np.split(loss.scale * amounts.held, amounts.starts[1:])
        shapes = np.concatenate([form.shape(part) for form, part in zip(forms, held, strict=True)])
        if tie is not None:
            shapes = tie(shapes, whole)
            tied = [form.amounts(shapes[part]) for form, part in zip(forms, parts, strict=True)]
            amounts = replace(amounts, held=np.concatenate(tied) / loss.scale)
    start += _centre(shapes, whole, parts)
    start = _find_level(rows, plan, loss, shapes, start, whole, source)
    return Shapes(_stacked(shapes, start, parts[0]), np.rint(counts).astype(np.int64))


def _find_level(
    rows: Rows,
    plan: BoostingPlan,
    loss: ScoreLoss,
    shapes: NDArray[np.float64],
    start: NDArray[np.float64],
    present: NDArray[np.float64],
    source: BitSource | None,
) -> NDArray[np.float64]:
    """Move the level until slopes sum to zero: a level that came with the shapes holds the noise of few rounds."""
    parts, noise = _parts(plan.sizes), plan.noise(plan.level)
    total = max(float(present[parts[0]].sum()), 1.0)
    spread = math.sqrt(
        float(np.einsum("i,ij,ij->", present, shapes, shapes)) / total / plan.outputs
    )  # as if columns were independent
    least = _FLOOR * float(plan.level.parameter("sigma")) / UNIT
    for _ in range(LEVEL_ROUNDS):
        pulled = loss.slopes(rows.margins(_stacked(shapes, start, parts[0])), rows.labels, WEIGHT_BITS)
        slopes = weigh_records(pulled, rows.weights)
        pull = noise.release(slopes.sum(axis=0).reshape(-1), source) / UNIT
        if plan.outputs > 1:
            pull -= pull.mean()
        bends = loss.bends if loss.bend is None else np.array([float((loss.bend(start[0] + spread * PLACES) * SHARES).sum())])
        start = start + _LEVEL_PACE * pull / np.maximum(total * bends, least)
    return start


def _parts(sizes: Sequence[int]) -> list[slice]:
    """The places of each column's bins."""
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def _centre(shapes: NDArray[np.float64], present: NDArray[np.float64], parts: Sequence[slice]) -> NDArray[np.float64]:
    """Take the mean over the noisy counts out of each shape, in place, and return what was taken."""
    taken = np.zeros(shapes.shape[1])
    for part in parts:
        mean = np.einsum("i,ij->j", present[part], shapes[part]) / max(float(present[part].sum()), 1.0)
        shapes[part] -= mean
        taken += mean
    return taken


def _stacked(shapes: NDArray[np.float64], start: NDArray[np.float64], first: slice) -> NDArray[np.int64]:
    """Shapes on the lattice, the start added to those of the first column; of shape (bins,) for one output."""
    whole = shapes.copy()
    whole[first] += start
    return on_lattice(whole if whole.shape[1] > 1 else whole[:, 0])
