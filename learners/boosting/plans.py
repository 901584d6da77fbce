"""The plan of boosting: a noisy histogram of records and labels, then one of slopes a round, then sums of all slopes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.errors import InvalidArgument
from dpaudit.releases import Release
from learners.boosting.interactions import join_columns
from learners.record import Charge
from learners.rows.labels import outputs_of
from learners.solvers.plans import MOVES, gaussian_release, mechanism_of, noise_multiplier
from learners.solvers.slopes import UNIT
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from learners.estimator import Public
    from learners.rows.columns import Column
    from mechanisms.gaussian import GaussianMechanism

BITS: Final = 20
"""Rows that slopes are summed over have at most 2**20 steps."""

COUNT_STEPS: Final = 16
"""A record counts for 16 steps in its bin of every column, so that a sensitivity rounded up is close."""

CONSTANT: Final = 209_715
"""What every row ends in, in steps: a fifth of the longest row."""

FORMS: Final = 3
"""Shapes over a range are made of so many: more of them fit more shapes and hold more noise."""

ROUNDS: Final = 16
LEVEL_ROUNDS: Final = 4
"""Rounds that move the level of all scores alone, once shapes are averaged."""

_COUNT_SHARE: Final = Fraction(6, 100)
_LEVEL_SHARE: Final = Fraction(4, 100)
_LARGEST: Final = 2**60


@dataclass(frozen=True)
class BoostingPlan:
    """The plan of a fit."""

    described: tuple[Column, ...]  # what is public about each column
    bins: int  # parts of a range
    kinds: int  # classes, or bins of labels
    outputs: int  # scores of a record: 1 for two classes and for regressors, else one for each class
    forms: int  # of a range
    rounds: int
    label_steps: int  # what a record counts for in the bin of its label
    counts: Release
    gradient: Release
    level: Release
    pairs: tuple[tuple[int, int], ...] = ()  # positions of the columns that are read together as well, described last
    lattice_bits: int = BITS
    intercept: int = CONSTANT

    @property
    def columns(self) -> int:
        """Their number, pairs included."""
        return len(self.described)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of bins."""
        return tuple(column.size(self.bins) for column in self.described)

    @property
    def widths(self) -> tuple[int, ...]:
        """Numbers of forms."""
        return tuple(_width(column, self.bins, self.forms) for column in self.described)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        return (Charge((self.counts, *[self.gradient] * self.rounds, *[self.level] * LEVEL_ROUNDS)),)

    def noise(self, release: Release) -> GaussianMechanism:
        """The mechanism that makes a planned release."""
        return mechanism_of(release)


def boosting_plan(
    public: Public,
    own: tuple[Column, ...],
    bins: int,
    kinds: int,
    *,
    regression: bool,
    pairs: tuple[tuple[int, int], ...] = (),
) -> BoostingPlan:
    """Plan a fit: 6 % of mu^2 for the counts, 4 % for the level, the rest for the rounds in equal parts."""
    described = (*own, *join_columns(own, pairs))
    multiplier, moves = noise_multiplier(public.epsilon, public.delta), MOVES[public.adjacency.kind]
    outputs, columns = 1 if regression else outputs_of(kinds), len(described)
    label_steps = math.isqrt(COUNT_STEPS**2 * max(columns, 2) // 2)
    if public.records * max(UNIT << BITS, label_steps) > _LARGEST:
        raise InvalidArgument("DPA108", f"sums over {public.records} records do not fit 64 bits. Fit on fewer.")
    size = sum(column.size(bins) for column in described)
    width = sum(_width(column, bins, FORMS) for column in described)
    counts = gaussian_release(public, count_sensitivity(columns, label_steps, moves), multiplier**2 / _COUNT_SHARE, size + kinds)
    variance = multiplier**2 * ROUNDS / (1 - _COUNT_SHARE - _LEVEL_SHARE)
    gradient = gaussian_release(public, moves * UNIT << BITS, variance, (width + 1) * outputs)
    level = gaussian_release(public, moves * UNIT, multiplier**2 * LEVEL_ROUNDS / _LEVEL_SHARE, outputs)
    return BoostingPlan(described, bins, kinds, outputs, FORMS, ROUNDS, label_steps, counts, gradient, level, pairs)


def _width(column: Column, bins: int, forms: int) -> int:
    """Number of forms of a column: one for each category, few for a range, and one for what is neither."""
    return column.size(bins) if column.ends is None else min(forms, bins) + 1


def count_sensitivity(columns: int, label_steps: int, moves: int) -> int:
    """Bound how far one record moves the counts in L2 norm: an entry a column and one for the label, two of each if replaced."""
    return whole_root_above(moves * (columns * COUNT_STEPS**2 + label_steps**2))
