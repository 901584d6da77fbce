"""Runs that are charged by their updates: one noisy comparison a question, and the price of the updates covers silence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpaudit.releases import Hold, Release, note
from learners.kernels.guessing import MOVED, Grid, GuessingTeller, grid_of
from learners.kernels.noise import find_noise_scale
from learners.record import Charge
from mechanisms.laws import DiscreteLaplace
from mechanisms.noise import bit_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from learners.estimator import Public
    from learners.solvers.minimum import Minimum
    from mechanisms.sampling.random import BitSource


@dataclass(frozen=True)
class UpdateRounds:
    """One noisy comparison a question, with a fixed public threshold; an update shows the very value that was compared.

    Source: Jain, Thakurta 2013, Algorithm 1.
    """

    law: DiscreteLaplace  # of the noise, in steps
    threshold: int  # silence up to here, in steps
    source: BitSource | None
    hold: Hold | None  # where answers are held while a function is checked

    def difference(self, steps: int) -> int | None:
        """The noisy difference beyond the threshold."""
        noisy = steps + int(self.law.sample(source=self.source, wide=True))
        shown = noisy if abs(noisy) > self.threshold else None
        return shown if self.hold is None else self.hold(steps, shown)


@dataclass(frozen=True)
class UpdatesTold:
    """A run that is charged by its updates; `update_release_plan` makes one."""

    grid: Grid
    release: Release  # the whole run, as it will be logged

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The run."""
        return (Charge((self.release,)),)

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """Open the run, which is paid for from here on."""
        bits = bit_source(source)
        hold = note(replace(self.release, secure=bits.secure))
        threshold, updates = (int(self.release.parameter(name)) for name in ("threshold", "updates"))
        rounds = UpdateRounds(DiscreteLaplace(self.release.parameter("scale")), threshold, bits, hold)
        return {"teller": GuessingTeller(weights, self.grid, rounds, updates, threshold)}


def update_release_plan(found: Minimum, public: Public, *, updates: int, spread: float) -> UpdatesTold:
    """The least noise of a run with so many updates that meets epsilon and delta, and the threshold that goes with it.

    Source: Jain, Thakurta 2013, Algorithm 1.
    """
    scale, threshold = _least_noise(updates, Fraction(spread), public.epsilon, public.delta)
    stated = {"lattice": 1, "scale": scale, "threshold": threshold, "updates": updates}
    parameters = tuple((name, Fraction(value)) for name, value in stated.items())
    return UpdatesTold(grid_of(found), Release("update_charged", parameters, Fraction(MOVED), public.adjacency))


@lru_cache(maxsize=64)
def _least_noise(updates: int, spread: Fraction, epsilon: Fraction, delta: Fraction) -> tuple[int, int]:
    """Scale and threshold in steps: the threshold is four times what the noise of all questions reaches."""
    from dpaudit.accounting import PrivacyLoss, update_charged

    def threshold(scale: int) -> int:
        """That of a run at a scale."""
        return max(MOVED, math.ceil(4 * scale * spread))

    def run(scale: int) -> PrivacyLoss:
        """The price of a run at a scale."""
        return update_charged(scale=scale, sensitivity=MOVED, threshold=threshold(scale), updates=updates, lattice=1)

    start = math.ceil(MOVED * 2 * math.sqrt(updates * -math.log(delta)) / float(epsilon))
    scale = find_noise_scale(run, start, epsilon=epsilon, delta=delta)
    return scale, threshold(scale)
