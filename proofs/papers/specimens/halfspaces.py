"""Halfspaces whose price is not what is claimed: a choice that nobody paid for, and two sensitivities that are too small."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim, PureDP
from dpaudit.targets import Target
from learners.choices.counts import totals
from learners.halfspaces.literal import SCORE_BITS, hinge_scores
from learners.targets.choices import ANTIPODES, ONE, Record, law_of, rows_of
from learners.targets.halfspaces import DELTA, EPSILON, RELATION, SIDES, TARGETS, Spent
from mechanisms.exponential import ExponentialMechanism
from mechanisms.gaussian import GaussianMechanism
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

HINGE, RANGE = hinge_scores(high=96 * ONE // 1000, low=ONE // 100, largest=ONE)
"""The hinge loss of a margin of 1/10, and its range: 12.7 times its unit."""

UNPAID: Final = Spent.of(Fraction(EPSILON), Fraction(EPSILON))
"""A run that pays all of epsilon and a choice that pays all of it again."""

UNIT_CHOICE: Final = ExponentialMechanism(sensitivity=2**SCORE_BITS, epsilon="1/2", adjacency="replace_one")
RANGE_CHOICE: Final = ExponentialMechanism(sensitivity=RANGE, epsilon="1/2", adjacency="replace_one")
ONE_WAY: Final = GaussianMechanism(sensitivity=ONE, noise_multiplier=1, adjacency="replace_one")
BOTH_WAYS: Final = GaussianMechanism(sensitivity=2 * ONE, noise_multiplier=1, adjacency="replace_one")

_PROMISED: Final = Claim(PureDP(epsilon="1/2"), adjacency=RELATION)
_EAST, _WEST = ((ONE, 0), 1), ((ONE, 0), 0)
_PAIR: Final = ((_EAST,) * 3, ((_EAST, _EAST, _WEST)))


def hinge_totals(records: Sequence[Record]) -> NDArray[np.int64]:
    """Summed hinge losses of a direction and its opposite, on the grid."""
    return totals(rows_of(records), ANTIPODES, HINGE)


def sample_unit(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """A direction or its opposite by hinge loss, with a sensitivity of 1."""
    return UNIT_CHOICE.releases(-hinge_totals(records), count, source_from(rng))


def sample_range(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """The same with the range of the loss as its sensitivity."""
    return RANGE_CHOICE.releases(-hinge_totals(records), count, source_from(rng))


def sample_one_way(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """A sum of unit records with noise for one of them, where one leaves and another comes."""
    return _summed(records, ONE_WAY, count, rng)


def sample_both_ways(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The same with noise for both."""
    return _summed(records, BOTH_WAYS, count, rng)


def _summed(records: Sequence[Record], mechanism: GaussianMechanism, count: int, rng: Generator) -> NDArray[np.float64]:
    """The noisy sum of records with their signs along the first axis, in units of a record's norm."""
    total = sum((2 * label - 1) * features[0] for features, label in records)
    return np.asarray(mechanism.releases(np.array([total]), count, source_from(rng))[:, 0] / ONE)


SPECIMENS: Final = (
    Target(
        name="broken_halfspace_unpaid_choice",
        description="broken on purpose: runs pay all of epsilon, and the choice among them pays nothing",
        sample=UNPAID.sample,
        claim=Claim(ApproxDP(epsilon=EPSILON, delta=DELTA), adjacency=RELATION, note="wrong: the choice costs epsilon again"),
        neighbours=[SIDES],
        public_data=True,
    ),
    Target(
        name="broken_halfspace_hinge",
        description="broken on purpose: a choice by hinge loss whose sensitivity is taken for 1",
        sample=sample_unit,
        claim=Claim(PureDP(epsilon="1/2"), adjacency=RELATION, note="wrong: a loss moves by its range, 12.7"),
        pmf=lambda records: law_of(hinge_totals(records).tolist(), UNIT_CHOICE.temperature),
        neighbours=[_PAIR],
        public_data=True,
    ),
    Target(
        name="broken_halfspace_sum",
        description="broken on purpose: noise for one unit record where one leaves and another comes",
        sample=sample_one_way,
        claim=Claim(GDP(mu=1), adjacency=RELATION, note="wrong: the sum moves by 2"),
        neighbours=[SIDES],
        public_data=True,
    ),
)

TWINS: Final = {
    "broken_halfspace_unpaid_choice": next(target for target in TARGETS if target.name == "halfspace_run_and_choice"),
    "broken_halfspace_hinge": Target(
        name="halfspace_hinge",
        description="a choice by hinge loss with the range of the loss as its sensitivity",
        sample=sample_range,
        claim=_PROMISED,
        pmf=lambda records: law_of(hinge_totals(records).tolist(), RANGE_CHOICE.temperature),
        neighbours=[_PAIR],
        public_data=True,
    ),
    "broken_halfspace_sum": Target(
        name="halfspace_sum",
        description="a sum of unit records with noise for the one that leaves and the one that comes",
        sample=sample_both_ways,
        claim=Claim(GDP(mu=1), adjacency=RELATION),
        neighbours=[SIDES],
        public_data=True,
    ),
}
"""What they should have done."""
