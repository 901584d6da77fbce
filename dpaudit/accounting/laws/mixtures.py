"""Distribution functions of losses under sampling schemes: a half of two directions, and mixtures whose component is public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import arb

from dpaudit.accounting.laws.distributions import NOTHING, Distribution, Nodes, Point, Points, Sides, Thinned
from dpaudit.exact import ball


@dataclass(frozen=True)
class Halved:
    """Above 0 the loss when a record is removed from a Poisson sample of `base`, below 0 that when one is added, the rest at 0.

    `base` must be the same in both directions; then so is this.
    """

    base: Distribution
    rate: Fraction

    def _directions(self) -> tuple[Thinned, Thinned]:
        """Removal and addition."""
        return Thinned(self.base, self.rate, removing=True), Thinned(self.base, self.rate, removing=False)

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Those of the direction that the sign chooses, on the far side of 0 with all that lies between."""
        removed, added = self._directions()
        rises, falls = removed.sides([arb(0)])[0], added.sides([arb(0)])[0]
        positive = removed.sides([loss.nonnegative_part() for loss in losses])
        negative = added.sides([-((-loss).nonnegative_part()) for loss in losses])
        nothing, found = Sides(*[arb(0)] * 4), []
        for loss, high, low in zip(losses, positive, negative, strict=True):
            over = nothing if loss <= 0 else _less(rises, high)  # between 0 and the place; exactly nothing on its other side
            under = nothing if loss >= 0 else _less(falls, low)
            found.append(
                Sides(
                    low.p_below + over.p_above,
                    high.p_above + under.p_below,
                    low.q_below + over.q_above,
                    high.q_above + under.q_below,
                )
            )
        return found

    def points(self, tail: int) -> Points:
        """The points of either direction on its side of 0; what is left of the masses is at 0."""
        removed, added = self._directions()
        rises, falls = removed.points(tail), added.points(tail)
        if not all(loss > 0 or loss < 0 or loss.is_zero() for side in (rises, falls) for loss, _, _ in side.finite):
            return Points((), arb(1), arb(1))
        above = [point for point in rises.finite if point[0] > 0]
        below = [point for point in falls.finite if point[0] < 0]
        high, low = removed.sides([arb(0)])[0], added.sides([arb(0)])[0]
        p_rest = 1 - high.p_above - low.p_below - rises.p_infinity - sum((point[1] for point in above + below), arb(0))
        q_rest = 1 - high.q_above - low.q_below - falls.q_only - sum((point[2] for point in above + below), arb(0))
        rest = p_rest.intersection(q_rest).nonnegative_part()
        return Points((*below, (arb(0), rest, rest), *above), rises.p_infinity, falls.q_only)

    def nodes(self) -> Nodes:
        """Those of each direction on its side."""
        high, low = (direction.nodes() for direction in self._directions())
        over, under = high.losses > 0, low.losses < 0
        return Nodes(*(np.concatenate((one[under], other[over])) for one, other in zip(low, high, strict=True)))

    def ends(self) -> tuple[bool, bool]:
        """Those of the base."""
        return self.base.ends()

    def gap(self) -> Fraction | None:
        """Nothing is known."""
        return None


def _less(sides: Sides, others: Sides) -> Sides:
    """Differences of masses."""
    return Sides(*(mass - other for mass, other in zip(sides, others, strict=True)))


@dataclass(frozen=True)
class Blend:
    """One of several losses, chosen by public chance; with probability `beyond` everything is revealed."""

    components: tuple[tuple[Distribution, Fraction], ...]
    beyond: Fraction

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Weighted sums."""
        totals = [[arb(0)] * 4 for _ in losses]
        for base, weight in self.components:
            share = ball(weight)
            for total, sides in zip(totals, base.sides(losses), strict=True):
                total[:] = [known + share * mass for known, mass in zip(total, sides, strict=True)]
        return [Sides(*total) for total in totals]

    def points(self, tail: int) -> Points:
        """Weighted points of all components."""
        finite: list[Point] = []
        infinity = q_only = ball(self.beyond)
        for base, weight in self.components:
            share, points = ball(weight), base.points(tail)
            finite += [(loss, share * p_mass, share * q_mass) for loss, p_mass, q_mass in points.finite]
            infinity, q_only = infinity + share * points.p_infinity, q_only + share * points.q_only
        return Points(tuple(finite), infinity, q_only)

    def nodes(self) -> Nodes:
        """All nodes in order."""
        parts = [(base.nodes(), np.log(float(weight))) for base, weight in self.components]
        losses = np.concatenate([nodes.losses for nodes, _ in parts])
        order = np.argsort(losses)
        log_p, log_q = (np.concatenate([nodes[side] + weight for nodes, weight in parts])[order] for side in (1, 2))
        return Nodes(losses[order], log_p, log_q)

    def ends(self) -> tuple[bool, bool]:
        """True if all components end."""
        ends = [base.ends() for base, _ in self.components]
        return all(first for first, _ in ends), all(last for _, last in ends)

    def gap(self) -> Fraction | None:
        """Nothing is known."""
        return None


class Pointed(Protocol):
    """A law that knows points which dominate it."""

    def points(self, tail: int) -> Points:
        """The points, and what is left of P beside an infinite loss and of Q beside none."""
        ...


@dataclass(frozen=True)
class Scattered:
    """The points of a law and nothing else."""

    law: Pointed

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Nothing."""
        return [NOTHING] * len(losses)

    def points(self, tail: int) -> Points:
        """Those of the law."""
        return self.law.points(tail)

    def nodes(self) -> Nodes:
        """None: all mass is in points."""
        return Nodes(*(np.empty(0) for _ in range(3)))

    def ends(self) -> tuple[bool, bool]:
        """None."""
        return True, True

    def gap(self) -> Fraction | None:
        """Nothing is known."""
        return None
