"""Halfspaces whose price is not what is claimed: a choice that nobody paid for, and one by a loss that moves too far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from learners.choices.counts import totals
from learners.halfspaces.literal import SCORE_BITS, hinge_scores
from learners.targets.choices import ANTIPODES, ONE, Record, rows_of
from learners.targets.halfspaces import EPSILON, PROMISED, SIDES, TARGETS, RunAndChoice
from learners.targets.harness import Choice, make_target
from mechanisms.exponential import ExponentialMechanism
from proofs.papers.specimens.pairs import Pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HINGE, RANGE = hinge_scores(high=96 * ONE // 1000, low=ONE // 100, largest=ONE)
"""The hinge loss of a margin of 1/10, and its range: 12.7 times its unit."""

UNPAID: Final = RunAndChoice.at(EPSILON, EPSILON)
"""A run that pays all of epsilon and a choice that pays all of it again."""

UNIT_CHOICE: Final = ExponentialMechanism(sensitivity=2**SCORE_BITS, epsilon="1/2", adjacency="replace_one")
RANGE_CHOICE: Final = ExponentialMechanism(sensitivity=RANGE, epsilon="1/2", adjacency="replace_one")
_EAST, _WEST = ((ONE, 0), 1), ((ONE, 0), 0)
_PAIR: Final = ((_EAST,) * 3, (_EAST, _EAST, _WEST))


def hinge_totals(records: Sequence[Record]) -> NDArray[np.int64]:
    """Summed hinge losses of a direction and its opposite, on the grid."""
    return totals(rows_of(records), ANTIPODES, HINGE)


PAIRS: Final[tuple[Pair, ...]] = (
    (
        make_target(
            "broken_halfspace_unpaid_choice",
            "broken on purpose: runs pay all of epsilon, and the choice among them pays nothing",
            UNPAID.sample,
            replace(PROMISED, note="wrong: the choice costs epsilon again"),
            SIDES,
        ),
        next(target for target in TARGETS if target.name == "halfspace_run_and_choice"),
    ),
    (
        Choice(hinge_totals, UNIT_CHOICE).target(
            "broken_halfspace_hinge",
            "broken on purpose: a choice by hinge loss whose sensitivity is taken for 1",
            _PAIR,
            claim=replace(UNIT_CHOICE.claim, note="wrong: a loss moves by its range, 12.7"),
        ),
        Choice(hinge_totals, RANGE_CHOICE).target(
            "halfspace_hinge", "a choice by hinge loss with the range of the loss as its sensitivity", _PAIR
        ),
    ),
)
