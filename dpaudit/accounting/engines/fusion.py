"""The lower law: half cells kept at their left end or moved to their right end, so that no place lacks P mass.

A place with P mass A and Q mass B at loss g may carry the loss g with mass e^g B, as long as A is at least e^g B. Half cells
kept on the left bring an excess of P, half cells moved right a deficit. One pass from the right spends what it has, one
from the left pays what it owes, and the two are joined where that costs least. docs/engines.md has the proof.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dpaudit.accounting.engines.cells import SLACK, Cells, Halves
from dpaudit.accounting.model.transform import SMALLEST, Reals

RESERVE: Final = 2.0**-40  # Part of every excess that is not spent: it covers the rounding of the two passes
UNMOVED: Final = 0.02  # Part of every half cell that is never moved in the pass from the right, so that the excess does not run out
LENDABLE: Final = 0.95  # Part of the next cell's excess that the pass from the left may count on


def lower_law(cells: Cells, price: float) -> tuple[Reals, int]:
    """Mass of the better lower law at every end, and the width in steps of the widest cell whose points it spreads, 0 for none."""
    # Either everything is fused, or the diffuse part is, and points are spread: for that a share `price` * width^2 of delta is lost
    # elsewhere, each time the law is used.
    whole = fuse_halves(cells.halves)
    if not cells.points.any():
        return whole, 0
    apart = fuse_halves(cells.diffuse) + cells.points
    better = apart.sum() - whole.sum() > price * cells.spread_width**2 * cells.upper.sum()
    return (apart, cells.spread_width) if better else (whole, 0)


def fuse_halves(cells: Halves) -> Reals:
    """Mass of the lower law at every end, at or below the true one, when half cells are fused."""
    # Kept and moved parts may add up to 1 + 2^-52: the passes compare sums that are linear in them, so both could be scaled back
    # together, and `SLACK` covers the mass.
    kept, moved = _join_passes(cells)
    lower = np.zeros(len(cells.kept) + 1)
    lower[:-1] += (cells.kept * kept).sum(axis=1)
    lower[1:] += (cells.moved * moved).sum(axis=1)
    lower *= 1 - SLACK
    lower[lower < SMALLEST] = 0.0
    return lower


def _join_passes(cells: Halves) -> tuple[Reals, Reals]:
    """Parts of every half cell that are kept and moved: from the left pass up to the best join, from the right pass beyond."""
    right, spare, right_loss = _from_the_right(cells)
    left, owed, left_loss = _from_the_left(cells)
    before = np.concatenate(([0.0], np.cumsum(left_loss)[:-1]))
    beyond = np.cumsum(right_loss[::-1])[::-1][1:]
    payable = spare * (1 - RESERVE) >= owed
    cost = np.where(payable, before + np.maximum(spare - owed, 0.0) + beyond, np.inf)
    join = int(np.argmin(cost))
    kept, moved = np.concatenate((left[:join], right[join:])).transpose(2, 0, 1)
    return kept, moved


def _from_the_right(cells: Halves) -> tuple[Reals, Reals, Reals]:
    """Parts kept and moved; excess at each cell's left end; excess at each right end that was not spent."""
    count = len(cells.excess)
    parts, spare, lost = np.zeros((count, 2, 2)), np.zeros(count), np.zeros(count + 1)
    excess, deficit = cells.excess.tolist(), cells.deficit.tolist()
    available = 0.0
    for cell in range(count - 1, -1, -1):
        budget = available * (1 - RESERVE)
        (over_1, over_2), (under_1, under_2) = excess[cell], deficit[cell]
        part_2 = min(1 - UNMOVED, budget / under_2) if under_2 > 0 else 0.0
        budget = max(budget - part_2 * under_2, 0.0)
        part_1 = min(1 - UNMOVED, budget / under_1) if under_1 > 0 else 0.0
        lost[cell + 1] = max(available - part_1 * under_1 - part_2 * under_2, 0.0)
        available = (1 - part_1) * over_1 + (1 - part_2) * over_2
        parts[cell] = (1 - part_1, part_1), (1 - part_2, part_2)
        spare[cell] = available
    return parts, spare, lost


def _from_the_left(cells: Halves) -> tuple[Reals, Reals, Reals]:
    """Parts kept and moved; deficit owed at each cell's left end; excess there beyond what was owed."""
    count = len(cells.excess)
    parts, owed, lost = np.zeros((count, 2, 2)), np.zeros(count), np.zeros(count)
    excess, deficit = cells.excess.tolist(), cells.deficit.tolist()
    owing = 0.0
    for cell in range(count):
        owed[cell] = owing
        (over_1, over_2), (under_1, under_2) = excess[cell], deficit[cell]
        cap = LENDABLE * sum(excess[cell + 1]) if cell + 1 < count else 0.0
        needed = owing * (1 + RESERVE)
        if needed <= (1 - UNMOVED) * over_1:
            keep_1, keep_2 = (needed / over_1 if over_1 > 0 else 0.0), 0.0
        else:
            keep_1 = 1 - UNMOVED
            keep_2 = min(1.0, (needed - keep_1 * over_1) / over_2) if over_2 > 0 else 1.0
        if over_1 + over_2 == 0 or keep_1 * over_1 + keep_2 * over_2 < owing * (1 + RESERVE / 2):
            keep_1 = keep_2 = 1.0
        if (1 - keep_1) * under_1 + (1 - keep_2) * under_2 > cap:
            first = (1 - keep_1) * under_1
            if first <= cap:
                keep_2 = max(keep_2, 1 - (cap - first) / under_2)
            else:
                keep_1, keep_2 = max(keep_1, 1 - cap / under_1), 1.0
        parts[cell] = (keep_1, 1 - keep_1), (keep_2, 1 - keep_2)
        lost[cell] = max(keep_1 * over_1 + keep_2 * over_2 - owing, 0.0)
        owing = (1 - keep_1) * under_1 + (1 - keep_2) * under_2
    return parts, owed, lost
