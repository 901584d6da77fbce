"""A composed loss with finitely many values: its tail sums answer delta at any epsilon without another convolution."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Final

from flint import arb, fmpq

from dpaudit.accounting.model.law import Mass
from dpaudit.exact import ball

LARGEST_LOSS: Final = Fraction(10**300)
"""Losses beyond this are not composed value by value, so that every value has a float next to it."""


@dataclass(frozen=True)
class FiniteLoss:
    """Values in increasing order with their P and Q masses, the mass `infinity` of the infinite loss, and tail sums.

    `above[i]` and `above_q[i]` are the P and Q masses of the values from number i on; `near[i]` is a float within `slack` of
    value number i.
    """

    losses: Sequence[arb]
    masses: Sequence[Mass]
    q_masses: Sequence[Mass]
    infinity: Mass
    above: Sequence[Mass]
    above_q: Sequence[Mass]
    near: Sequence[float]
    slack: float

    @classmethod
    def of(cls, atoms: Sequence[tuple[arb, Mass, Mass]], infinity: Mass) -> FiniteLoss | None:
        """Sort the values and add up the tails; None when a value is too large for a float."""
        ordered = sorted(((float(loss), loss, p_mass, q_mass) for loss, p_mass, q_mass in atoms), key=lambda atom: atom[0])
        near = [atom[0] for atom in ordered]
        if not all(abs(value) < LARGEST_LOSS for value in near):
            return None
        masses, q_masses = [atom[2] for atom in ordered], [atom[3] for atom in ordered]
        slack = max((abs(value) * 2**-40 + 2 * float(loss.rad()) for value, loss, _, _ in ordered), default=0.0) + 2**-1000
        return cls(
            [atom[1] for atom in ordered], masses, q_masses, infinity, _from_the_end(masses), _from_the_end(q_masses), near, slack
        )

    def delta(self, epsilon: Fraction) -> Mass:
        """P(L = infinity) plus the sum of P - e^epsilon Q over the values whose loss exceeds epsilon."""
        growth: Mass = fmpq(1) if epsilon == 0 else ball(epsilon).exp()
        target = float(min(epsilon, LARGEST_LOSS))
        reach = self.slack + abs(target) * 2**-40
        first = bisect_left(self.near, target - reach)
        last = bisect_left(self.near, math.nextafter(target + reach, math.inf))
        total = self.infinity + self.above[last] - growth * self.above_q[last]
        for index in range(first, last):  # too close to epsilon for floats: the sign of the gain decides
            total = total + _positive_part(self.masses[index] - growth * self.q_masses[index])
        return total

    def averaged(self, profile: Callable[[arb], arb], epsilon: Fraction) -> arb:
        """P(L = infinity) plus the mean of profile(epsilon - L): delta of this loss composed with the law of that profile."""
        target = ball(epsilon)
        terms = (mass * profile(target - loss) for loss, mass in zip(self.losses, self.masses, strict=True))
        return sum(terms, arb(0)) + self.infinity


def _from_the_end(masses: Sequence[Mass]) -> list[Mass]:
    """Sums of the masses from each position to the end, the last one 0."""
    return list(accumulate(reversed(masses), initial=fmpq(0)))[::-1]


def _positive_part(value: Mass) -> Mass:
    """max(value, 0)."""
    return value.nonnegative_part() if isinstance(value, arb) else max(value, fmpq(0))
