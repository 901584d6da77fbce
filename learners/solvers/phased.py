"""Phased descent: one pass over the records in phases of falling step size, each ending in a noisy mean of its iterates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, in_range, integer, positive
from dpaudit.releases import Release
from learners.rows.rows import as_array
from learners.solvers.hinge import HingeStep
from learners.solvers.plans import mechanism_of
from mechanisms.roots import whole_root_above
from mechanisms.sampling.envelope import floor_log2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from mechanisms.gaussian import GaussianMechanism
    from mechanisms.sampling.random import BitSource

WEIGHT_BITS: Final = 30
"""Weights are multiples of 2**-30 of the radius of their ball."""

_MOVES: Final = {"replace_one": 2, "zero_out": 1}
"""How many records pull at the iterate in a step in which two neighbours differ: the old and the new, or one of them."""

_BIAS: Final = 1 / 6 + 1 / 16
_FINENESS: Final = 1024
_INTEGERS_HOLD: Final = 2**62
_FARTHEST: Final = 64
"""No noise is further off than so many standard deviations, but with a probability below 2**-2900."""

_ROUNDING: Final = Fraction(1, 2**53)
_MOST_COLUMNS: Final = 2**20
_MOST_RECORDS: Final = 2**32
_BLOCK: Final = 2**18


@dataclass(frozen=True)
class Phase:
    """One phase (Feldman, Koren, Talwar 2020, Algorithm 2)."""

    records: int  # how many it takes, n
    step: HingeStep  # the step of one record
    lattice: float  # distance of released numbers, a power of two, in units of the weights
    release: Release  # what the release log will hold, in steps of the lattice

    @property
    def mechanism(self) -> GaussianMechanism:
        """The mechanism that makes the release."""
        return _mechanism(self.release)


@dataclass(frozen=True)
class Schedule:
    """All phases of a pass in a ball of radius 1, decided by public numbers (Feldman, Koren, Talwar 2020, Algorithm 2)."""

    records: int  # how many there are, m
    columns: int  # k
    bound: int  # largest norm of a row in steps
    phases: tuple[Phase, ...]  # in order; they take at most m records together

    def __post_init__(self) -> None:
        """Lemma 1 needs every step to be a contraction."""
        for phase in self.phases:
            phase.step.require_contraction(self.norm)

    @property
    def unit(self) -> float:
        """Length of one step of a row: a power of two, which brings the bound to more than 1/2 and at most 1."""
        return 2.0 ** -((self.bound - 1).bit_length())

    @property
    def norm(self) -> Fraction:
        """Largest norm of a record in that unit, r."""
        return self.bound * Fraction(self.unit)

    @property
    def batches(self) -> tuple[int, ...]:
        """Number of records that each phase takes."""
        return tuple(phase.records for phase in self.phases)

    @property
    def releases(self) -> tuple[Release, ...]:
        """The entries that the release log will hold, in order."""
        return tuple(phase.release for phase in self.phases)


def batches(records: int) -> tuple[int, ...]:
    """Sizes of the phases of a pass: half of the records, a quarter, and so on (Feldman, Koren, Talwar 2020, Algorithm 2)."""
    count = integer(records, "records", lower=1, upper=_MOST_RECORDS)
    return tuple(count >> phase for phase in range(1, count.bit_length()))


def schedule(
    *,
    records: int,
    columns: int,
    bound: int,
    margin: Exact,
    noise_multiplier: Exact,
    adjacency: Adjacency | str = "replace_one",
) -> Schedule:
    """Plan the step sizes and the noise of every phase of a pass (Feldman, Koren, Talwar 2020, Algorithm 2)."""
    relation, sizes = Adjacency.of(adjacency), batches(records)
    if relation not in map(Adjacency, _MOVES):
        raise Unsupported("DPA604", f"phased descent is proved under {' and '.join(_MOVES)}, got {relation}.")
    width = integer(columns, "columns", lower=1, upper=_MOST_COLUMNS)
    empty = Schedule(records, width, integer(bound, "bound", lower=1, upper=2**31), ())
    reach = float(in_range(margin, "margin", lower=Fraction(1, 2**40), upper=1) * empty.norm)
    multiplier = positive(noise_multiplier, "noise_multiplier")
    first = _first_limit(records, width, float(empty.norm), float(multiplier))
    steepest = _float_below(2 / empty.norm**2)
    # Per step and iterate: docs/margins.md, Lemma 2.
    drift = (4 * width + 16) * _ROUNDING * (1 + Fraction(first) * empty.norm)
    phases = []
    for index, size in enumerate(sizes):
        step = HingeStep(reach, steepest / 4**index, first / 4**index)
        length, root = Fraction(step.limit) * empty.norm, whole_root_above(width)
        lattice = Fraction(2) ** floor_log2((length / size + drift) / (_FINENESS * root))
        moved = _MOVES[relation.kind] * length + 2 * size * drift + size * lattice * root
        sensitivity = math.ceil(moved / lattice)
        if 1 / lattice + _FARTHEST * multiplier * sensitivity >= _INTEGERS_HOLD:
            raise InvalidArgument(
                "DPA108", "the noise of the last phases does not fit 64 bits. Use fewer records or a larger budget."
            )
        parameters = (("lattice", Fraction(1)), ("sigma", multiplier * sensitivity))
        release = Release("rounded_gaussian", parameters, Fraction(sensitivity), relation, width)
        phases.append(Phase(size, step, float(lattice), release))
    return Schedule(records, width, empty.bound, tuple(phases))


def noisy_means(
    rows: Rows, plan: Schedule, order: NDArray[np.int64], source: BitSource | None = None
) -> Iterator[NDArray[np.int64]]:
    """Yield the noisy mean of each phase, in steps of its lattice (Feldman, Koren, Talwar 2020, Algorithm 2)."""
    if rows.bound > plan.bound or rows.steps.shape != (plan.records, plan.columns) or len(order) < sum(plan.batches):
        raise InvalidArgument(
            "DPA103",
            f"rows of shape {rows.steps.shape} and norm {rows.bound} were given to a plan for {plan.records} rows of "
            f"{plan.columns} columns and norm {plan.bound}. Make the plan for these rows.",
        )
    return _released(rows, plan, order, source)


def phased_sgd(rows: Rows, plan: Schedule, order: NDArray[np.int64], source: BitSource | None = None) -> NDArray[np.int64]:
    """The last noisy mean, projected to the ball of the weights (Feldman, Koren, Talwar 2020, Algorithm 2)."""
    weights: NDArray[Any] = np.zeros(plan.columns)
    for mean, phase in zip(noisy_means(rows, plan, order, source), plan.phases, strict=True):
        weights = mean * phase.lattice
    return on_ball(weights)


def on_ball(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as multiples of 2**-WEIGHT_BITS in the ball of radius 1: cut toward zero after a projection to a little less."""
    length = math.sqrt(float(np.square(weights).sum()))
    slack = 1 - (len(weights) + 16) * 2.0**-52
    return np.trunc(weights * (2.0**WEIGHT_BITS * slack / max(1.0, length))).astype(np.int64)


def mean_of_iterates(records: NDArray[np.float64], start: NDArray[np.float64], step: HingeStep) -> NDArray[np.float64]:
    """Mean of the iterates before each step, of a pass over records that are given with the sign of their label."""
    return _Pass(start, step, len(records)).through(records)


def rounded_mean(
    rows: Rows, plan: Schedule, phase: Phase, places: NDArray[np.int64], start: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The mean of the iterates of a phase on its lattice: what noise is added to."""
    walk = _Pass(start, phase.step, phase.records)
    for block in _signed(rows, places, plan.unit):
        walk.add(block)
    return np.rint(walk.total / walk.count / phase.lattice).astype(np.int64)


class _Pass:
    """The iterate of one phase and the sum of all so far.

    The norm of the iterate is computed only where steps since may have brought it out of the ball: `room` is what it has left at
    least, and below `_near` it is computed again. Elsewhere a projection would change nothing.
    """

    def __init__(self, start: NDArray[np.float64], step: HingeStep, count: int) -> None:
        """Begin at the start."""
        self.iterate, self.total, self._spare = start.copy(), np.zeros_like(start), np.empty_like(start)
        self.step, self.count, self._room = step, count, 0.0
        self._near = 2.0**-30 + 2 * count * (4 * len(start) + 16) * 2.0**-53

    def through(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean after all records of the phase."""
        self.add(records)
        return self.total / self.count

    def add(self, records: NDArray[np.float64]) -> None:
        """One step for each record, in order. Every operation has a fixed shape and no operand but this record and the iterate."""
        iterate, total, spare, room, near = self.iterate, self.total, self._spare, self._room, self._near
        margin, pull, limit = self.step.margin, self.step.pull, self.step.limit
        dot, multiply, add = iterate.dot, np.multiply, np.add
        for record in records:
            add(total, iterate, total)
            length = pull * (margin - float(dot(record)))
            if length <= 0.0:
                continue
            length = min(length, limit)
            multiply(record, length, spare)
            add(iterate, spare, iterate)
            room -= length
            if room < near:
                squares = float(dot(iterate))
                if squares > 1.0:
                    multiply(iterate, 1.0 / math.sqrt(squares), iterate)
                room = 1.0 - math.sqrt(min(squares, 1.0))
        self._room = room


def _released(rows: Rows, plan: Schedule, order: NDArray[np.int64], source: BitSource | None) -> Iterator[NDArray[np.int64]]:
    """The releases, in turn; each is used before the next is asked for."""
    start: NDArray[Any] = np.zeros(plan.columns)
    taken = 0
    for phase in plan.phases:
        places = order[taken : taken + phase.records]
        taken += phase.records
        mean = rounded_mean(rows, plan, phase, places, start)
        released: NDArray[np.int64] = phase.mechanism.release(mean, source)
        yield released
        start = released * phase.lattice
        start /= max(1.0, math.sqrt(float(np.square(start).sum())) * (1 + plan.columns * 2.0**-52))


@lru_cache(maxsize=128)
def _mechanism(release: Release) -> GaussianMechanism:
    """Return the mechanism of a planned release, made once for all runs."""
    return mechanism_of(release)


def _signed(rows: Rows, places: NDArray[np.int64], unit: float) -> Iterator[NDArray[np.float64]]:
    """The records at some places, each with the sign of its label, as exact floats, a few at a time; CSR becomes dense only so."""
    height = max(1, _BLOCK // rows.steps.shape[1])
    for start in range(0, len(places), height):
        some = places[start : start + height]
        yield as_array(rows.steps[some]) * ((2 * rows.labels[some] - 1) * unit)[:, np.newaxis]


def _first_limit(records: int, columns: int, norm: float, multiplier: float) -> float:
    """Longest step of the first phase: a quarter of the step size that is best for the bound of Theorem 2, over the margin."""
    noise = 4 * columns * (2 * multiplier) ** 2
    return 1 / (2 * norm * math.sqrt(records * _BIAS + noise))


def _float_below(value: Fraction) -> float:
    """The largest float that is not above a positive number."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, 0.0)
