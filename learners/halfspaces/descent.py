"""Noisy descent on the hinge loss of unit records: full-batch steps, and a private choice among several runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from learners.choices.counts import Listed, choose, errors, signs
from learners.choices.levels import choice_release, counts_mechanism
from learners.record import Charge
from learners.solvers.phased import WEIGHT_BITS, on_ball
from learners.solvers.plans import gaussian_release, mechanism_of, noise_multiplier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.releases import Release
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from mechanisms.exponential import ExponentialMechanism
    from mechanisms.gaussian import GaussianMechanism
    from mechanisms.sampling.random import BitSource

FEWEST_STEPS: Final = 20
MOST_STEPS: Final = 200

_MOVES: Final = 2
"""Replacing a record takes one vector of norm one out of a sum and puts another one in."""

_MOST_RECORDS: Final = 2**32


@dataclass(frozen=True)
class Descent:
    """The plan of runs of noisy descent, decided from public numbers alone (Nguyen, Ullman, Zakynthinou 2020, Algorithm 1)."""

    records: int  # how many there are
    bound: int  # norm of a record in steps
    high: int  # a signed margin below this counts in a gradient, in steps times 2**-WEIGHT_BITS
    low: int  # a signed margin below this is an error for the choice among runs
    steps: int  # how many sums a run releases
    runs: int  # how many runs there are
    release: Release  # of one sum, as it will be logged
    choice: ExponentialMechanism | None  # the mechanism that chooses a run, or None for a single one

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of a sum, in units of a record's norm."""
        return float(self.release.parameter("sigma")) / self.bound

    @property
    def pace(self) -> float:
        """Step by which a sum moves the weights, in units of its own length: the step size that the bound on the loss asks for."""
        return 1 / math.sqrt(self.steps * (self.records**2 + self.release.dimension * self.deviation**2))

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        sums = Charge((self.release,) * (self.steps * self.runs))
        return (sums,) if self.choice is None else (sums, Charge((choice_release(self.choice),)))

    def noise(self, release: Release) -> GaussianMechanism:
        """The mechanism that makes a planned release."""
        return mechanism_of(release)


def descent(public: Public, *, columns: int, bound: int, high: int, low: int, runs: int, choice_share: Fraction) -> Descent:
    """Runs that together meet the budget (Nguyen, Ullman, Zakynthinou 2020, Algorithm 3)."""
    if public.records > _MOST_RECORDS:
        raise InvalidArgument("DPA108", f"sums over {public.records} records might not fit 64 bits. Fit on fewer.")
    chosen = choice_share * public.epsilon if runs > 1 else Fraction(0)
    variance = noise_multiplier(public.epsilon - chosen, public.delta) ** 2 * runs
    steps = min(MOST_STEPS, max(FEWEST_STEPS, math.ceil(public.records**2 / (4 * columns * variance))))
    release = gaussian_release(public, _MOVES * bound, variance * steps, columns)
    choice = counts_mechanism(epsilon=chosen, adjacency=public.adjacency) if runs > 1 else None
    return Descent(public.records, bound, high, low, steps, runs, release, choice)


def descend(rows: Rows, plan: Descent, source: BitSource | None = None) -> NDArray[np.int64]:
    """Learn weights in the unit ball from the planned releases alone (Nguyen, Ullman, Zakynthinou 2020, Algorithm 3)."""
    require_short(rows, plan.bound)
    side, noise, found = signs(rows.labels), plan.noise(plan.release), []
    for _ in range(plan.runs):
        weights, total = np.zeros(plan.release.dimension), np.zeros(plan.release.dimension)
        for _ in range(plan.steps):
            met = on_ball(weights)
            total += met
            pulled = noise.release(active_sum(rows, side, met, plan.high), source)
            weights = met / 2.0**WEIGHT_BITS + pulled * (plan.pace / plan.bound)
        found.append(np.rint(total / plan.steps).astype(np.int64))
    if plan.choice is None:
        return found[0]
    return choose(rows, Listed(np.stack(found, axis=1)), errors(plan.low - 1), plan.choice, source)


def active_sum(rows: Rows, side: NDArray[np.int64], weights: NDArray[np.int64], high: int) -> NDArray[np.int64]:
    """Sum of the records with the signs of their labels, over those whose signed margin is below a threshold."""
    return rows.weighted_sum(side * (side * rows.margins(weights) < high))


def require_short(rows: Rows, bound: int) -> None:
    """DPA103 for rows that may be longer than noise was made for."""
    if rows.bound > bound:
        raise InvalidArgument("DPA103", f"rows may have {rows.bound} steps, the plan allows {bound}. Use the plan's lattice.")
