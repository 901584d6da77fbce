"""Choices that are broken on purpose, each by a mistake that is easily made; an audit must refute every one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from dpaudit.targets import Target
from learners.choices.arcs import arcs_of, border_point
from learners.choices.counts import signs
from learners.choices.generalized import GeneralizedExponential
from learners.margins.label_private import candidates_of
from learners.rows.seeds import PublicBits
from learners.targets.choices import (
    ANTIPODES,
    ONE,
    Record,
    antipodal_errors,
    labelled_errors,
    law_of,
    rows_of,
)
from mechanisms.exponential import ExponentialMechanism
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

_PROMISED: Final = PureDP(epsilon=1)
_HALF_PROMISED: Final = PureDP(epsilon="1/2")
_EAST, _WEST = ((ONE, 0), 1), ((ONE, 0), 0)
_ALL_EAST: Final = (_EAST,) * 12
_ONE_WEST: Final = (*_ALL_EAST[1:], _WEST)
_HALF_SIDE: Final = 60

DOUBLED: Final = ExponentialMechanism(sensitivity=1, epsilon=1, monotonic=True, adjacency="replace_one")
SMALL: Final = ExponentialMechanism(sensitivity=1, epsilon="1/2", adjacency="replace_one")
RIGHT: Final = ExponentialMechanism(sensitivity=11, epsilon="1/2", adjacency="replace_one")
LABELS: Final = ExponentialMechanism(sensitivity=1, epsilon=1, adjacency="replace_one")
UNRAISED: Final = GeneralizedExponential(sensitivities=["1/1000", "1/1000"], epsilon=1)
RAISED: Final = GeneralizedExponential(sensitivities=["1/1000", "1/1000"], epsilon=1, grid="1/64")


def hinge_totals(records: Sequence[Record]) -> list[Fraction]:
    """Summed hinge losses of a direction and its opposite at the margin 1/10, in units of norm times norm."""
    rows = rows_of(records)
    margins = rows.margins(ANTIPODES.weights) * signs(rows.labels)[:, np.newaxis]
    return [
        sum((max(Fraction(0), 1 - Fraction(10 * margin, ONE)) for margin in column), Fraction(0)) for column in margins.T.tolist()
    ]


def law_of_cells(records: Sequence[Record]) -> dict[tuple[int, ...], Fraction]:
    """Every arc with the same weight, whatever its length, and a point of it evenly."""
    arcs = arcs_of(rows_of(records), _HALF_SIDE)
    shares = law_of(arcs.counts.tolist(), Fraction(2))
    points = [index for start, length in zip(arcs.starts, arcs.lengths, strict=True) for index in range(start, start + length)]
    cells = [share / int(arcs.lengths[cell]) for cell, share in shares.items() for _ in range(int(arcs.lengths[cell]))]
    return {tuple(border_point(index, _HALF_SIDE).tolist()): share for index, share in zip(points, cells, strict=True)}


def gridded(records: Sequence[Record]) -> list[Fraction]:
    """Two scores of sensitivity 1/1000, rounded to multiples of 1/64."""
    ones = Fraction(sum(label for _, label in records), 1000)
    return [Fraction(round(score * 64), 64) for score in (ones + Fraction(7, 1000), -ones - Fraction(15, 2000))]


def sample_doubled(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Counts at the temperature of zero_out, where a record is replaced: two counts move in opposite directions."""
    return DOUBLED.releases(-antipodal_errors(records), count, source_from(rng))


def sample_hinge(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Hinge losses at a margin of 1/10 with the sensitivity of norm times norm, which is 11 times too small."""
    return SMALL.releases([-total for total in hinge_totals(records)], count, source_from(rng))


def sample_hinge_rightly(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """The same with the range of the loss, 1 + 10, as its sensitivity."""
    return RIGHT.releases([-total for total in hinge_totals(records)], count, source_from(rng))


def sample_cells(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """A point of an arc that is chosen as if all arcs were as long: arcs depend on the records."""
    law, source = law_of_cells(records), source_from(rng)
    limits = np.cumsum([float(share) for share in law.values()])
    drawn = source.uniform(53, count).astype(np.float64) / 2.0**53
    return np.array(list(law), dtype=np.int64)[np.minimum(np.searchsorted(limits, drawn, side="right"), len(law) - 1)]


def sample_gridded(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Rounded scores with the sensitivity that they had before."""
    return UNRAISED.choice.releases([-score for score in UNRAISED.normalised(gridded(records))], count, source_from(rng))


def sample_gridded_rightly(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Rounded scores with a sensitivity that is raised by a step of the grid."""
    return RAISED.choice.releases([-score for score in RAISED.normalised(gridded(records))], count, source_from(rng))


def sample_label_cover(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Weights out of candidates that follow the features, where a whole record may change."""
    rows = rows_of(records)
    chosen = LABELS.releases(-labelled_errors(records), count, source_from(rng))
    return candidates_of(rows, 6, PublicBits(0, "audit")).weights.T[chosen]


def law_of_label_cover(records: Sequence[Record]) -> dict[tuple[int, ...], Fraction]:
    """The law of these weights."""
    weights = candidates_of(rows_of(records), 6, PublicBits(0, "audit")).weights.T.tolist()
    law: dict[tuple[int, ...], Fraction] = {}
    for place, share in law_of(labelled_errors(records).tolist(), LABELS.temperature).items():
        law[tuple(weights[place])] = law.get(tuple(weights[place]), Fraction(0)) + share
    return law


_NEARLY: Final = (((4000, 500), 1), ((-4000, -620), 1))

SPECIMENS: Final = (
    Target(
        name="broken_pure_margin",
        description="broken on purpose: half the temperature that counts need where a record is replaced",
        sample=sample_doubled,
        claim=Claim(_PROMISED, adjacency="replace_one", note="wrong: true of zero_out, where all counts move together"),
        pmf=lambda records: law_of(antipodal_errors(records).tolist(), DOUBLED.temperature),
        neighbours=[(_ALL_EAST, _ONE_WEST)],
        public_data=True,
    ),
    Target(
        name="broken_hinge_choice",
        description="broken on purpose: hinge losses with a sensitivity that forgets the margin",
        sample=sample_hinge,
        claim=Claim(_HALF_PROMISED, adjacency="replace_one", note="wrong: a loss moves by 1 + norm * norm / margin"),
        pmf=lambda records: law_of(hinge_totals(records), SMALL.temperature),
        neighbours=[(_ALL_EAST, _ONE_WEST)],
        public_data=True,
    ),
    Target(
        name="broken_arrangement",
        description="broken on purpose: arcs that depend on the records are weighted alike, however short",
        sample=sample_cells,
        claim=Claim(_PROMISED, adjacency="replace_one", note="wrong: the candidates are not what is weighted"),
        pmf=law_of_cells,
        neighbours=[(_NEARLY, (_NEARLY[0], ((4000, 500), 1)))],
        public_data=True,
    ),
    Target(
        name="broken_gridded_choice",
        description="broken on purpose: scores rounded to a grid that is coarser than their sensitivity",
        sample=sample_gridded,
        claim=Claim(_PROMISED, adjacency="replace_one", note="wrong: rounding moves scores by a step of the grid"),
        pmf=lambda records: law_of(UNRAISED.normalised(gridded(records)), UNRAISED.choice.temperature),
        neighbours=[((_WEST,), (_EAST,))],
        public_data=True,
    ),
    Target(
        name="broken_label_cover",
        description="broken on purpose: candidates from the features, where a record may be replaced with its features",
        sample=sample_label_cover,
        claim=Claim(_PROMISED, adjacency="replace_one", note="wrong: only labels are private"),
        pmf=law_of_label_cover,
        neighbours=[((_EAST, _WEST), (_EAST, ((0, ONE), 0)))],
        public_data=True,
    ),
)

TWINS: Final = (
    Target(
        name="hinge_choice",
        description="hinge losses with the range of the loss as their sensitivity",
        sample=sample_hinge_rightly,
        claim=Claim(_HALF_PROMISED, adjacency="replace_one"),
        pmf=lambda records: law_of(hinge_totals(records), RIGHT.temperature),
        neighbours=[(_ALL_EAST, _ONE_WEST)],
        public_data=True,
    ),
    Target(
        name="gridded_choice",
        description="rounded scores whose sensitivity is raised by a step of the grid",
        sample=sample_gridded_rightly,
        claim=RAISED.claim,
        pmf=lambda records: law_of(RAISED.normalised(gridded(records)), RAISED.choice.temperature),
        neighbours=[((_WEST,), (_EAST,))],
        public_data=True,
    ),
)
"""What two of them should have done; the others have their twins among `learners.targets.choices.TARGETS`."""
