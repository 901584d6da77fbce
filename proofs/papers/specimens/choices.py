"""Choices that are broken on purpose, each by a mistake that is easily made; an audit must refute every one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from learners.choices.arcs import arcs_of, border_point
from learners.choices.counts import signs
from learners.choices.generalized import GeneralizedExponential
from learners.margins.label_private import candidates_of
from learners.rows.seeds import PublicBits
from learners.targets.choices import ANTIPODES, ONE, TARGETS, Record, antipodal_errors, labelled_errors, rows_of
from learners.targets.harness import Choice, law_of, make_target
from mechanisms.exponential import ExponentialMechanism
from mechanisms.sampling.random import source_from
from proofs.papers.specimens.pairs import Pair

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

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
    shares = law_of(arcs.counts, Fraction(2))
    points = [index for start, length in zip(arcs.starts, arcs.lengths, strict=True) for index in range(start, start + length)]
    cells = [share / int(arcs.lengths[cell]) for cell, share in shares.items() for _ in range(int(arcs.lengths[cell]))]
    return {tuple(border_point(index, _HALF_SIDE).tolist()): share for index, share in zip(points, cells, strict=True)}


def gridded(records: Sequence[Record]) -> list[Fraction]:
    """Two scores of sensitivity 1/1000, rounded to multiples of 1/64."""
    ones = Fraction(sum(label for _, label in records), 1000)
    return [Fraction(round(score * 64), 64) for score in (ones + Fraction(7, 1000), -ones - Fraction(15, 2000))]


def sample_cells(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """A point of an arc that is chosen as if all arcs were as long: arcs depend on the records."""
    law, source = law_of_cells(records), source_from(rng)
    limits = np.cumsum([float(share) for share in law.values()])
    drawn = source.uniform(53, count).astype(np.float64) / 2.0**53
    return np.array(list(law), dtype=np.int64)[np.minimum(np.searchsorted(limits, drawn, side="right"), len(law) - 1)]


def sample_label_cover(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Weights out of candidates that follow the features, where a whole record may change."""
    rows = rows_of(records)
    chosen = LABELS.releases(-labelled_errors(records), count, source_from(rng))
    return candidates_of(rows, 6, PublicBits(0, "audit")).weights.T[chosen]


def law_of_label_cover(records: Sequence[Record]) -> dict[tuple[int, ...], Fraction]:
    """The law of these weights."""
    weights = candidates_of(rows_of(records), 6, PublicBits(0, "audit")).weights.T.tolist()
    law: dict[tuple[int, ...], Fraction] = {}
    for place, share in law_of(labelled_errors(records), LABELS.temperature).items():
        law[tuple(weights[place])] = law.get(tuple(weights[place]), Fraction(0)) + share
    return law


_SOUND: Final = {target.name: target for target in TARGETS}
_FLIPPED: Final = (_ALL_EAST, _ONE_WEST)
_NEARLY: Final = (((4000, 500), 1), ((-4000, -620), 1))


def _claim(wrong: str, epsilon: int | str = 1) -> Claim:
    """A claim of pure epsilon that does not hold."""
    return Claim(PureDP(epsilon=epsilon), adjacency="replace_one", note=f"wrong: {wrong}")


PAIRS: Final[tuple[Pair, ...]] = (
    (
        Choice(antipodal_errors, DOUBLED).target(
            "broken_pure_margin",
            "broken on purpose: half the temperature that counts need where a record is replaced",
            _FLIPPED,
            claim=_claim("true of zero_out, where all counts move together"),
        ),
        _SOUND["pure_margin_choice"],
    ),
    (
        Choice(hinge_totals, SMALL).target(
            "broken_hinge_choice",
            "broken on purpose: hinge losses with a sensitivity that forgets the margin",
            _FLIPPED,
            claim=_claim("a loss moves by 1 + norm * norm / margin", "1/2"),
        ),
        Choice(hinge_totals, RIGHT).target(
            "hinge_choice", "hinge losses with the range of the loss as their sensitivity", _FLIPPED
        ),
    ),
    (
        make_target(
            "broken_arrangement",
            "broken on purpose: arcs that depend on the records are weighted alike, however short",
            sample_cells,
            _claim("the candidates are not what is weighted"),
            (_NEARLY, (_NEARLY[0], ((4000, 500), 1))),
            pmf=law_of_cells,
        ),
        _SOUND["arrangement_choice"],
    ),
    (
        Choice(lambda records: UNRAISED.normalised(gridded(records)), UNRAISED.choice).target(
            "broken_gridded_choice",
            "broken on purpose: scores rounded to a grid that is coarser than their sensitivity",
            ((_WEST,), (_EAST,)),
            claim=_claim("rounding moves scores by a step of the grid"),
        ),
        Choice(lambda records: RAISED.normalised(gridded(records)), RAISED.choice).target(
            "gridded_choice", "rounded scores whose sensitivity is raised by a step of the grid", ((_WEST,), (_EAST,))
        ),
    ),
    (
        make_target(
            "broken_label_cover",
            "broken on purpose: candidates from the features, where a record may be replaced with its features",
            sample_label_cover,
            _claim("only labels are private"),
            ((_EAST, _WEST), (_EAST, ((0, ONE), 0))),
            pmf=law_of_label_cover,
        ),
        _SOUND["label_private_choice"],
    ),
)
