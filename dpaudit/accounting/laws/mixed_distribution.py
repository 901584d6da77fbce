"""The loss of a mixture of normal laws by its distribution functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from flint import arb

from dpaudit.accounting.laws.mixed_pair import NormalMixtures
from dpaudit.accounting.laws.normal_sums import Weights
from dpaudit.accounting.model.distribution import Nodes, OnlyDiffuse, Sides
from dpaudit.accounting.model.transform import Reals

LOWEST: Final = 14.0  # Standard deviations below all normal laws at which plans begin to look
HIGHEST: Final = 80.0  # Standard deviations above all of them at which they stop
FINENESS: Final = 0.2  # Standard deviations between two nodes
MOST_NODES: Final = 1 << 13  # Most nodes; where normal laws are very far apart they are looked at more coarsely


@dataclass(frozen=True)
class MixedLosses(OnlyDiffuse):
    """The loss of a law: its place in the output is found by Newton's method, and the masses beyond are normal tails."""

    law: NormalMixtures

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """All mass is on one side of losses beyond the range."""
        lowest, highest = self.law.range_of_losses()
        starts = self._starts([float(loss) for loss in losses])
        nothing, whole = (Sides(*(arb(mass) for mass in masses)) for masses in ((0, 1, 0, 1), (1, 0, 1, 0)))
        found = []
        for loss, start in zip(losses, starts, strict=True):
            if lowest is not None and not loss > lowest:
                inside = None if loss <= lowest else self._inside(loss.upper(), lowest, start)
                found.append(nothing if loss <= lowest else _either(nothing, inside))
            elif highest is not None and not loss < highest:
                inside = None if loss >= highest else self._inside(loss.lower(), highest, start)
                found.append(whole if loss >= highest else _either(whole, inside))
            else:
                found.append(self.law.sides_at(self.law.threshold(loss, start)))
        return found

    def _inside(self, loss: arb, edge: arb, start: float) -> Sides | None:
        """The sides at a loss, None where it may be the edge."""
        return None if loss.overlaps(edge) else self.law.sides_at(self.law.threshold(loss, start))

    def nodes(self) -> Nodes:
        """The trapezoidal rule, from below all normal laws to far above them."""
        places, up, down = self._table
        width = math.log((places[1] - places[0]) / math.sqrt(2 * math.pi))
        return Nodes(up - down, width + up - places**2 / 2, width + down - places**2 / 2)

    def ends(self) -> tuple[bool, bool]:
        return False, False

    @cached_property
    def _table(self) -> tuple[Reals, Reals, Reals]:
        """Outputs with logarithms of the sums of both sides."""
        unit = math.sqrt(self.law.unit_squared)
        low, high = -LOWEST - unit * float(self.law.reach[1]), unit * float(self.law.reach[0]) + HIGHEST
        places = np.arange(low, high, max(FINENESS, (high - low) / MOST_NODES))
        return places, _log_sums(self.law.up, unit, places), _log_sums(self.law.down, unit, -places)

    def _starts(self, losses: Sequence[float]) -> list[float]:
        """Outputs from which the search for each loss begins."""
        places, up, down = self._table
        heights = np.maximum.accumulate(up - down)
        inner = np.interp(losses, heights, places)
        unit = math.sqrt(self.law.unit_squared)
        rise = max(unit * float(self.law.reach[0] + self.law.down[0][0]), 1e-300)
        beyond = np.maximum(np.asarray(losses) - heights[-1], 0.0) / rise
        lowest, highest = self.law.range_of_losses()
        if lowest is not None or highest is not None:  # near the end of the range losses hardly move: bisection
            ends = [float(end) for end in (lowest, highest) if end is not None]
            inner = np.array(
                [
                    self.law.rough_threshold(loss) if min(abs(loss - end) for end in ends) < 1e-6 else start
                    for loss, start in zip(losses, inner, strict=True)
                ]
            )
        return [float(start) for start in inner + beyond]


def _either(edge: Sides, inside: Sides | None) -> Sides:
    """What a loss at the end of the range leaves open."""
    if inside is None:
        return Sides(*[arb(0).union(arb(1))] * 4)
    return Sides(*(one.union(other) for one, other in zip(edge, inside, strict=True)))


def _log_sums(side: Weights, unit: float, places: Reals) -> Reals:
    """Logarithms of the sums of weight e^(distance place - distance^2/2)."""
    terms = [math.log(weight) + unit * float(c) * places - (unit * float(c)) ** 2 / 2 for c, weight in side]
    found: Reals = np.logaddexp.reduce(np.array(terms), axis=0)
    return found
