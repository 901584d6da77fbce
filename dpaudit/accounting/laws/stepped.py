"""Losses that rise with an integer output and take too many values to be listed: distribution functions that step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb

from dpaudit.accounting.laws.distributions import Normal
from dpaudit.accounting.model.distribution import Nodes, OnlyDiffuse, Sides
from dpaudit.exact import ball


class Rising(Protocol):
    """Symmetric noise on the integers around `sensitivity` and around 0, whose loss is nearly that of normal noise."""

    # The loss at an output lies between those that normal laws of this variance have half a step below it and half a step above.
    @property
    def sensitivity(self) -> int:
        """Distance of the two centres."""

    @property
    def variance(self) -> Fraction:
        """That of the normal law."""

    def loss_at(self, output: int) -> arb:
        """The loss of an output."""

    def tail(self, start: int) -> arb:
        """Probability that the noise is at least `start`, for start >= 1."""


@dataclass(frozen=True)
class Stepped(OnlyDiffuse):
    """The loss of a law on the integers, all of it counted as diffuse."""

    law: Rising

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Masses below and from the first output whose loss is not below each place."""
        found = []
        scale, middle = ball(self.law.variance / self.law.sensitivity), ball(Fraction(self.law.sensitivity, 2))
        for loss in losses:
            near = loss * scale + middle
            start = (near - 0.5).lower().floor().unique_fmpz()
            last = (near + 0.5).upper().ceil().unique_fmpz()
            if start is None or last is None or last - start > 4:
                found.append(Sides(*[arb(0).union(arb(1))] * 4))
                continue
            starts = self._first(int(start), int(last), loss)
            sides = [self._from(start) for start in starts]
            found.append(Sides(*(one.union(other) for one, other in zip(sides[0], sides[-1], strict=True))))
        return found

    def _first(self, start: int, last: int, loss: arb) -> list[int]:
        """The first output whose loss is not below a place, or the two ends of what the balls leave open."""
        possible = []
        for output in range(start, last + 1):
            at = self.law.loss_at(output)
            if not at < loss:
                possible.append(output)
            if at >= loss:
                break
        return possible or [last]

    def _from(self, start: int) -> Sides:
        """Masses below an output and from it on."""
        p_below, p_above = self._split(start - self.law.sensitivity)
        q_below, q_above = self._split(start)
        return Sides(p_below, p_above, q_below, q_above)

    def _split(self, start: int) -> tuple[arb, arb]:
        """Mass of the noise below a value and from it on; the smaller one is computed, the other is the rest."""
        if start > 0:
            above = self.law.tail(start)
            return 1 - above, above
        below = self.law.tail(1 - start)
        return below, 1 - below

    def nodes(self) -> Nodes:
        return Normal(self.law.sensitivity**2 / self.law.variance).nodes()

    def ends(self) -> tuple[bool, bool]:
        return False, False


def outputs_within(variance: Fraction, bits: int) -> int:
    """Bound how far from its centre noise no heavier than normal has all but 2^-bits of its mass."""
    return math.isqrt(int(2 * bits * variance)) + 2
