"""The published noisy descent: a step for one record at a time, as many as there are pairs of them, and a choice by hinge loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.accounting import WithoutReplacement
from dpaudit.errors import InvalidArgument
from dpaudit.releases import Release
from learners.choices.counts import Listed, choose, signs
from learners.choices.levels import choice_release
from learners.halfspaces.descent import require_short
from learners.record import Charge
from learners.rows.images import dense
from learners.solvers.orders import random_places
from learners.solvers.phased import WEIGHT_BITS, on_ball
from learners.solvers.plans import mechanism_of
from mechanisms.exponential import ExponentialMechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.choices.counts import Loss
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

MOST_RECORDS: Final = 500

SCORE_BITS: Final = 10
_BATCH: Final = 2**12
_UNIT: Final = 2.0**WEIGHT_BITS


@dataclass(frozen=True)
class LiteralDescent:
    """Runs of the published descent, and the choice among them (Nguyen, Ullman, Zakynthinou 2020, Algorithm 3)."""

    records: int  # n, at most 500
    bound: int  # norm of a record in steps
    high: int  # where the hinge loss ends, in steps times 2**-WEIGHT_BITS
    low: int  # where it is 1
    runs: int  # how many runs there are
    release: Release  # of one step, as it will be logged but for its count
    choice: ExponentialMechanism  # the mechanism that chooses a run by its hinge loss

    @property
    def steps(self) -> int:
        """Steps of a run: n^2 - 1, and one for a single record."""
        return max(1, self.records**2 - 1)

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of a step, in units of a record's norm."""
        return float(self.release.parameter("sigma")) / self.bound

    @property
    def pace(self) -> float:
        """Size of the first step, in units of a record's norm."""
        return 2 / math.sqrt(1 + self.release.dimension * self.deviation**2)

    @property
    def batches(self) -> tuple[Release, ...]:
        """A run as it will be logged: the noise of as many steps at once."""
        whole, rest = divmod(self.steps, _BATCH)
        return tuple(self._batch(count) for count in (*[_BATCH] * whole, rest) if count)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order; a step sees one record of all."""
        steps = Charge(self.batches * self.runs, WithoutReplacement(size=1, of=self.records))
        return steps, Charge((choice_release(self.choice),))

    def _batch(self, count: int) -> Release:
        """The release of some steps."""
        made = self.release
        return Release(made.kind, made.parameters, made.sensitivity, made.adjacency, made.dimension, count)


def literal_descent(public: Public, *, columns: int, bound: int, high: int, low: int, failure: Fraction) -> LiteralDescent:
    """Plan ceil(ln(8 / failure)) runs with the published noise (Nguyen, Ullman, Zakynthinou 2020, Algorithm 3)."""
    if public.records > MOST_RECORDS or public.epsilon > 1 or public.delta == 0:
        allowed = f"at most {MOST_RECORDS} records, epsilon at most 1 and delta above 0"
        raise InvalidArgument("DPA103", f"faithful=True is for {allowed}: it takes a step for every pair of records.")
    runs = math.ceil(math.log(8 / failure))
    share, risk = float(public.epsilon) / (2 * runs), float(public.delta) / runs
    noise = math.sqrt(32 * math.log(public.records / risk) * math.log(1 / risk)) / share
    parameters = (("lattice", Fraction(1)), ("sigma", Fraction(math.ceil(noise * bound))))
    release = Release("rounded_gaussian", parameters, Fraction(2 * bound), public.adjacency, columns)
    _, change = hinge_scores(high=high, low=low, largest=bound << WEIGHT_BITS)
    choice = ExponentialMechanism(sensitivity=change, epsilon=public.epsilon / 2, adjacency=public.adjacency)
    return LiteralDescent(public.records, bound, high, low, runs, release, choice)


def descend_literally(rows: Rows, plan: LiteralDescent, source: BitSource | None = None) -> NDArray[np.int64]:
    """The last weights of one of the runs, chosen by their hinge loss (Nguyen, Ullman, Zakynthinou 2020, Algorithm 3)."""
    require_short(rows, plan.bound)
    records: NDArray[np.float64] = dense(rows, np.float64) * signs(rows.labels)[:, np.newaxis]
    runs = [_last_weights(records, plan, source) for _ in range(plan.runs)]
    loss, _ = hinge_scores(high=plan.high, low=plan.low, largest=plan.bound << WEIGHT_BITS)
    return choose(rows, Listed(np.stack(runs, axis=1)), loss, plan.choice, source)


def hinge_scores(*, high: int, low: int, largest: int) -> tuple[Loss, int]:
    """The hinge loss between two margins on a grid, and its range (Nguyen, Ullman, Zakynthinou 2020, section 3)."""

    def loss(margins: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rounded up to the grid, record by record."""
        short = np.maximum(high - np.clip(margins, -largest, largest), 0)
        return np.asarray(-((-short << SCORE_BITS) // (high - low)))

    ends = loss(np.array([-largest, high], dtype=np.int64))
    return loss, int(ends[0] - ends[1])


def _last_weights(records: NDArray[np.float64], plan: LiteralDescent, source: BitSource | None) -> NDArray[np.int64]:
    """One run. Noise does not know the records, so that of a few thousand steps is drawn at once, before they are made."""
    release, step = plan.release, 0
    noise = mechanism_of(release)
    weights = np.zeros(release.dimension, dtype=np.int64)
    for batch in plan.batches:
        pushes = noise.releases(np.zeros(release.dimension, dtype=np.int64), batch.count, source)
        places = random_places(batch.count, plan.records, source)
        for push, place in zip(pushes, places.tolist(), strict=True):
            step += 1
            record = records[place]
            # Products of integers whose sums stay below 2**53.
            pulled = push + record if float(record @ weights) < plan.high else push
            weights = on_ball(weights / _UNIT + pulled * (plan.pace / math.sqrt(step) / plan.bound))
    return weights
