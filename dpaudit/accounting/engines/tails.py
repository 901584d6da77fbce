"""Exact composition of laws with finitely many loss values, whose tail sums answer delta at any epsilon."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Final

from flint import arb, fmpq

from dpaudit.accounting.engines.grid import LONGEST_BINOMIAL, common_step, off_grid, on_grid
from dpaudit.accounting.model.coordinates import Coordinates
from dpaudit.accounting.model.law import Atoms, LossValue, Mass
from dpaudit.exact import ball

# Losses beyond this are not composed value by value, so that every value has a float next to it.
LARGEST_LOSS: Final = Fraction(10**300)


@dataclass(frozen=True)
class FiniteLoss:
    """Values in increasing order with their P and Q masses, the mass `infinity` of the infinite loss, and tail sums."""

    # `above[i]` and `above_q[i]` are the P and Q masses of the values from number i on; `near[i]` is a float within `slack` of
    # value number i.
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
        first, last = self._around(epsilon, Fraction(0), Fraction(0))
        total = self.infinity + self.above[last] - growth * self.above_q[last]
        for index in range(first, last):  # too close to epsilon for floats: the sign of the gain decides
            gain = self.masses[index] - growth * self.q_masses[index]
            total = total + (gain.nonnegative_part() if isinstance(gain, arb) else max(gain, fmpq(0)))
        return total

    def averaged(self, profile: Callable[[arb], arb], epsilon: Fraction, within: tuple[Fraction, Fraction] | None) -> arb:
        """P(L = infinity) plus the mean of profile(epsilon - L): delta of this loss composed with the law of that profile."""
        # `within` are the least and the greatest loss of that law, None where one of them is not known: values that both leave on
        # one side of epsilon are in the tail sums.
        first, last = (0, len(self.losses)) if within is None else self._around(epsilon, *within)
        target, total = ball(epsilon), arb(0) + self.infinity
        if last < len(self.losses):
            total += self.above[last] - target.exp() * self.above_q[last]
        for index in range(first, last):
            total += self.masses[index] * profile(target - self.losses[index])
        return total

    def _around(self, epsilon: Fraction, least: Fraction, greatest: Fraction) -> tuple[int, int]:
        """The values that, added to losses between two others, may be on both sides of epsilon, as far as floats decide."""
        target = float(min(epsilon, LARGEST_LOSS))
        low, high = target - float(min(greatest, LARGEST_LOSS)), target - float(max(least, -LARGEST_LOSS))
        room = self.slack + (abs(target) + abs(low) + abs(high)) * 2**-40
        return bisect_left(self.near, low - room), bisect_left(self.near, math.nextafter(high + room, math.inf))


def _from_the_end(masses: Sequence[Mass]) -> list[Mass]:
    """Sums of the masses from each position to the end, the last one 0."""
    return list(accumulate(reversed(masses), initial=fmpq(0)))[::-1]


LONGEST: Final = LONGEST_BINOMIAL  # Most loss values that any composition may have
LONGEST_POWER: Final = 1 << 14  # Bits of a power of a rational beyond which it becomes a ball


def compose_atoms(parts: Sequence[tuple[Atoms, int]], *, most: int = LONGEST) -> FiniteLoss | None:
    """The loss of independent draws, each law as often as stated; None when its values would be too many, or more than `most`."""
    # Call it inside `working_precision`.
    if not all(law.atoms for law, _ in parts):  # a law without a finite loss reveals everything
        return FiniteLoss.of([], fmpq(1))
    if sum(count for _, count in parts) == 1:  # nothing to add up
        only = parts[0][0].atoms
        found = [(atom.loss.ball(), atom.p_mass, atom.q_mass) for atom in only]
        return FiniteLoss.of(found, _infinity(parts)) if len(only) <= most else None
    coordinates = Coordinates.of(atom.loss for law, _ in parts for atom in law.atoms)
    if coordinates is None:
        return None
    tables = [({coordinates.place(atom.loss): (atom.p_mass, atom.q_mass) for atom in law.atoms}, count) for law, count in parts]
    step, origin = common_step([table for table, _ in tables]), coordinates.place(LossValue())
    composed = off_grid(tables, len(origin)) if step is None else on_grid(tables, origin, step or origin, most)
    if composed is None or len(composed) > most:
        return None
    loss_at = coordinates.balls()
    found = []
    for place, p_mass, q_mass in composed:
        loss = loss_at(place)
        found.append((loss, p_mass, p_mass * (-loss).exp() if q_mass is None else q_mass))
    return FiniteLoss.of(found, _infinity(parts))


def _infinity(parts: Sequence[tuple[Atoms, int]]) -> Mass:
    """1 - product of (1 - infinity)^count, rational where that stays small."""
    exact = Fraction(1)
    for law, count in parts:
        if not isinstance(law.infinity, fmpq) or count * int(law.infinity.q).bit_length() > LONGEST_POWER:
            break
        exact *= (1 - Fraction(int(law.infinity.p), int(law.infinity.q))) ** count
    else:
        return fmpq((1 - exact).numerator, (1 - exact).denominator)
    logarithm = sum(((-(arb(0) + law.infinity)).log1p() * count for law, count in parts), arb(0))
    return -logarithm.expm1()
