"""Projected descent: noisy gradients of the logistic loss over a ball of weights, whose excess risk is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.exact import Exact, positive
from learners.margins.mapped import NoisyDescent
from learners.rows.labels import require_two
from learners.solvers.gradient import WEIGHT_BITS, on_lattice
from learners.solvers.plans import SolverPlan, gaussian_release, noise_multiplier
from learners.solvers.slopes import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.estimator import Public
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_BITS: Final = 16
_FEWEST_STEPS: Final = 8
_MOST_STEPS: Final = 400
_MOST_DRAWS: Final = 2**21
_CELL_BITS: Final = 8
_CELLS: Final = 2**12
_SLOPES: Final = np.array(
    [round(UNIT / (1 + math.exp(cell / 2**_CELL_BITS))) for cell in range(-_CELLS, _CELLS + 1)], dtype=np.int64
)


@dataclass(frozen=True)
class ProjectedDescent(NoisyDescent):
    """Noisy gradient steps of the logistic loss, each followed by a projection on a ball; the iterates are averaged.

    There is no intercept, and there are two classes. It is a `learners.margins.mapped.Learner`.

    Args:
      weight_norm: D, radius of the ball of weights, public, exact, positive, in units of 1 over those of the features.
    Source: Bassily, Smith, Thakurta 2014.
    """

    weight_norm: Exact = 1

    def plan(self, public: Public) -> SolverPlan:
        """As many steps as let their number cost less than the noise: n^2 mu^2 / (4 k), up to 400."""
        require_two(public.classes)
        radius = float(positive(self.weight_norm, "weight_norm") * public.feature_norm)
        multiplier, moves = noise_multiplier(public.epsilon, public.delta), 1 + (public.adjacency.kind == "replace_one")
        useful = math.ceil((public.records / (float(multiplier) * moves)) ** 2 / public.features)
        steps = max(_FEWEST_STEPS, min(useful, _MOST_STEPS, _MOST_DRAWS // public.features))
        gradient = gaussian_release(public, moves * UNIT << _BITS, multiplier**2 * steps, public.features)
        noise = float(gradient.parameter("sigma")) / (UNIT * 2.0**_BITS * public.records)
        pace = radius / math.sqrt(steps * (1 + public.features * noise**2))
        return SolverPlan(public.records, 1, steps, Fraction(pace * steps), _BITS, 0, gradient, None)

    def learn(self, rows: Rows, plan: SolverPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The planned sums, and the mean of the weights that they lead to."""
        radius, pace = float(positive(self.weight_norm) * rows.bound * rows.step), float(plan.travel) / plan.steps
        weights, total, noise = np.zeros(rows.steps.shape[1]), np.zeros(rows.steps.shape[1]), plan.noise(plan.gradient)
        unit = float(plan.records * UNIT << plan.lattice_bits)
        for _ in range(plan.steps):
            slopes = descent_slopes(rows.margins(on_lattice(weights)), rows.labels, plan.lattice_bits + WEIGHT_BITS)
            weights += pace / unit * noise.release(rows.weighted_sum(slopes), source)
            weights *= min(1.0, radius / max(float(np.sqrt(np.square(weights).sum())), radius / 2))
            total += weights
        return on_lattice(total / plan.steps)


def descent_slopes(margins: NDArray[np.int64], labels: NDArray[np.int64], margin_bits: int) -> NDArray[np.int64]:
    """Downhill slopes of the logistic loss, from a table: `UNIT` far on the wrong side, half of it at the border."""
    signs = 2 * labels - 1
    cells = np.clip((signs * margins) >> (margin_bits - _CELL_BITS), -_CELLS, _CELLS)
    return np.asarray(signs * _SLOPES[cells + _CELLS])
