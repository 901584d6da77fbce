"""Exact composition of laws with finitely many loss values: equal losses are gathered, masses stay rational or balls."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import arb, fmpq

from dpaudit.accounting.engines.grid import LONGEST_BINOMIAL, common_step, on_grid
from dpaudit.accounting.engines.tails import FiniteLoss
from dpaudit.accounting.model.coordinates import Coordinates
from dpaudit.accounting.model.law import Atoms, Mass
from dpaudit.accounting.model.tables import off_grid
from dpaudit.accounting.model.values import LossValue

LONGEST: Final = LONGEST_BINOMIAL
"""Most loss values that any composition may have."""

LONGEST_POWER: Final = 1 << 14
"""Bits of a power of a rational beyond which it becomes a ball."""


def compose_atoms(parts: Sequence[tuple[Atoms, int]], *, most: int = LONGEST) -> FiniteLoss | None:
    """The loss of independent draws, each law as often as stated; None when its values would be too many, or more than `most`.

    Call it inside `working_precision`.
    """
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
