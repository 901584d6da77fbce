"""Rounds of boosting: each releases the sums of slopes in all bins of all columns at once, and moves every shape by these alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from learners.boosting.plans import BITS, CONSTANT, COUNT_STEPS, LEVEL_ROUNDS
from learners.rows.labels import WEIGHT_UNIT
from learners.rows.rows import Rows
from learners.solvers.gradient import WEIGHT_BITS, on_lattice
from learners.solvers.newton import PLACES, SHARES
from learners.solvers.quasi_newton import in_one_thread
from learners.solvers.slopes import UNIT, weigh_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.boosting.losses import ScoreLoss
    from learners.boosting.plans import BoostingPlan
    from mechanisms.sampling.random import BitSource

_PACE: Final = 0.25
"""Part of a step that is taken: columns move at once, and those that go together would pass the goal together."""

_LEVEL_PACE: Final = 0.7
"""Part of a step of the level alone that is taken."""

_FIRST_KEPT: Final = 9
"""The shapes of the rounds from here on are averaged."""

_USUAL: Final = 0.3
"""A bin that holds more than this part of a column's records is its usual one: it has no slopes of its own, and costs nothing."""

_ROOM: Final = 0.5
"""Rows may be longer than the mean by so many times the root of the mean number of unusual bins."""

_LINEAR, _SMOOTH, _OWN, _LENGTH = 1.0, 0.3, 1e-3, 1.0
"""Variances of slopes of shapes over half a range, of smooth deviations and of single bins; how far smoothness reaches."""

_FLOOR: Final = 0.1
"""Curvatures count for no less than this part of the noise of all rounds together."""

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


def slope_rows(rows: Rows, usual: NDArray[np.bool_], room: float, columns: int) -> tuple[Rows, int]:
    """Rows of at most 2**12 steps: equal entries in unusual bins, shorter if there are many, and a constant; and that entry."""
    from scipy.sparse import csr_array

    rest = 4**BITS - CONSTANT**2
    entry = math.isqrt(math.floor(rest / room))
    lengths = np.array([entry, *(min(entry, math.isqrt(rest // unusual)) for unusual in range(1, columns + 1))], dtype=np.int32)
    steps: Any = rows.steps
    places = steps.indices.reshape(-1, columns)
    kept = ~usual[places]
    entries = np.where(kept, lengths[kept.sum(axis=1)][:, np.newaxis], 0).astype(np.int32)
    count, width = steps.shape
    data = np.column_stack([entries, np.full(count, CONSTANT, dtype=np.int32)]).ravel()
    indices = np.column_stack([places, np.full(count, width, dtype=places.dtype)]).ravel()
    table = csr_array((data, indices, (columns + 1) * np.arange(count + 1)), shape=(count, width + 1))
    return Rows(table, 1 << BITS, rows.step, rows.labels), entry


def boost(
    rows: Rows,
    kinds: NDArray[np.int64],
    plan: BoostingPlan,
    spans: Sequence[bool],
    loss_of: Callable[[NDArray[np.float64], float], ScoreLoss],
    tie: Tie,
    source: BitSource | None,
) -> Shapes:
    """Learn shapes from the planned releases alone; `spans` says which columns have ordered bins, before one for missing cells."""
    counts, labels = release_counts(rows, kinds, plan, source)
    present = np.maximum(counts, 0.0)
    loss = loss_of(labels, float(plan.counts.parameter("sigma")) / plan.label_steps)
    parts = _parts(plan.sizes)
    if rows.weights is not None:
        loss = loss.weakened(float(labels.sum()) / max(float(present[parts[0]].sum()), 1.0))
    usual, room = _usual_bins(present, parts)
    sums, entry = slope_rows(rows, usual, room, plan.columns)
    noise, sigma = plan.noise(plan.gradient), float(plan.gradient.parameter("sigma"))
    deviation = sigma / (UNIT * entry) / math.sqrt(plan.rounds)
    solvers = [
        [
            _Solver.of(present[part] * bend, ~usual[part], span=spans[place], noise=deviation, scale=loss.scale)
            for bend in loss.bends
        ]
        for place, part in enumerate(parts)
    ]
    stiff = np.maximum(present[parts[0]].sum() * loss.bends, _FLOOR * sigma / (UNIT * CONSTANT))
    shapes, start = np.zeros((len(present), plan.outputs)), loss.start.copy()
    kept, kept_start = np.zeros_like(shapes), np.zeros_like(start)
    for step in range(plan.rounds):
        pulled = loss.slopes(rows.margins(_stacked(shapes, start, parts[0])), rows.labels, WEIGHT_BITS)
        slopes = weigh_records(pulled, rows.weights)
        pull = noise.release(sums.weighted_sum(slopes), source).reshape(-1, plan.outputs) / UNIT
        if plan.outputs > 1:
            pull -= pull.mean(axis=1, keepdims=True)  # a record's slopes sum to zero, but for roundings: this is noise
        for part, each in zip(parts, solvers, strict=True):
            for output, solver in enumerate(each):
                shapes[part, output] += _PACE * solver.step(pull[:-1][part, output] / entry, shapes[part, output])
        start += _PACE * pull[-1] / CONSTANT / stiff
        shapes = tie(shapes, present)
        start += _centre(shapes, present, parts)
        if step >= _FIRST_KEPT:
            kept, kept_start = kept + shapes, kept_start + start
    times = plan.rounds - _FIRST_KEPT
    shapes, start = kept / times, kept_start / times
    start = _find_level(rows, plan, loss, shapes, start, present, source)
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
    """Move the level until slopes sum to zero: shapes averaged over rounds hold less noise than those that set their level."""
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


@dataclass(frozen=True, eq=False)
class _Solver:
    """Steps of one shape: slopes and what pulls to shapes that are likely beforehand, over the curvature of both."""

    free: NDArray[np.bool_]
    prior: NDArray[np.float64]
    inverse: NDArray[np.float64]

    @classmethod
    def of(cls, curvature: NDArray[np.float64], free: NDArray[np.bool_], *, span: bool, noise: float, scale: float) -> Self:
        """For curvatures of the bins, and noise of this deviation in the mean over all rounds."""
        # A normal prior of covariance C, seen through D w + noise, has its best guess where D w = sums - noise^2 D^-1 C^-1 w.
        roots = 1 / np.sqrt(np.maximum(curvature, _FLOOR * noise))
        with in_one_thread():
            precision = np.asarray(np.linalg.inv(_covariance(len(curvature), span=span) * scale**2), dtype=np.float64)
            prior = noise**2 * precision * np.outer(roots, roots)
            chosen = np.ix_(free, free)
            inverse = np.asarray(np.linalg.inv((np.diag(curvature) + prior)[chosen]), dtype=np.float64)
        return cls(free, prior, inverse)

    def step(self, pull: NDArray[np.float64], shape: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step; the usual bin stays."""
        moved = np.zeros_like(shape)
        rest = (pull - np.einsum("ij,j->i", self.prior, shape))[self.free]
        moved[self.free] = np.einsum("ij,j->i", self.inverse, rest)
        return moved


def _covariance(size: int, *, span: bool) -> NDArray[np.float64]:
    """How shapes are expected to vary: nearly linear over a range, independent over categories; missing cells are one."""
    covariance = np.eye(size)
    if span:
        places = (np.arange(size - 1) + 0.5) * (2 / (size - 1)) - 1
        near = np.exp(-np.abs(places[:, np.newaxis] - places) / _LENGTH)
        covariance[:-1, :-1] = _LINEAR * np.outer(places, places) + _SMOOTH * near + _OWN * np.eye(size - 1)
    return covariance


def _usual_bins(present: NDArray[np.float64], parts: Sequence[slice]) -> tuple[NDArray[np.bool_], float]:
    """Bins that get no slopes, and the squared length of rows that is planned for, in entries."""
    usual, unusual = np.zeros(len(present), dtype=bool), 0.0
    for part in parts:
        own, total = present[part], max(float(present[part].sum()), 1.0)
        largest = int(own.argmax())
        if own[largest] > _USUAL * total:
            usual[part.start + largest] = True
            unusual += 1 - float(own[largest]) / total
        else:
            unusual += 1
    return usual, min(len(parts), max(1.0, unusual + _ROOM * math.sqrt(unusual)))


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
