"""Targets that choose a classifier: out of few candidates, on the border of a square, among networks, by label, and a margin."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.choices.arcs import arcs_of, border_point, choose_point
from learners.choices.counts import Listed, errors, ramps, totals
from learners.choices.generalized import GeneralizedExponential
from learners.choices.hinge_minimum import Scale, least_hinge
from learners.choices.levels import counts_mechanism
from learners.choices.networks import given_networks, network_errors
from learners.margins.label_private import candidates_of
from learners.rows.rows import Rows
from learners.rows.seeds import PublicBits
from learners.targets.harness import Choice, law_of, make_target
from mechanisms.exponential import ExponentialMechanism
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

Record = tuple[tuple[int, int], int]
"""Two features in steps of 1/4096, together of norm at most 1, and a label, 0 or 1."""

ONE: Final = 4096
HALF_SIDE: Final = 4
EXPONENTS: Final = (0, 3)
"""Of the two margins that are chosen from: 1 and 1/8."""

_RAMP_BITS: Final = 6
_EAST, _WEST = ((ONE, 0), 1), ((ONE, 0), 0)
_ALL_EAST: Final = (_EAST,) * 10
_ONE_WEST: Final = (*_ALL_EAST[1:], _WEST)

ANTIPODES: Final = Listed(np.array([[1, -1], [0, 0]]))
NETWORKS: Final = given_networks(
    [([[1, 0], [0, 1]], [1, 1]), ([[1, 1], [-1, 1]], [1, -1]), ([[-2, 0], [0, 0]], [1, 0])], columns=2, feature_norm=1
)

COUNTS: Final = counts_mechanism(epsilon=1, adjacency="replace_one")
ZEROED: Final = counts_mechanism(epsilon=1, adjacency="zero_out")
LABELS: Final = counts_mechanism(epsilon=1, adjacency="label")
RAMPS: Final = ExponentialMechanism(sensitivity=2**_RAMP_BITS, epsilon="1/2", adjacency="replace_one")
UNEQUAL: Final = GeneralizedExponential(sensitivities=["1/1000", 1], epsilon=1, grid="1/64")
MARGINS: Final = GeneralizedExponential(
    sensitivities=[Scale(9, exponent).sensitivity for exponent in EXPONENTS], epsilon=1, grid=Fraction(1, 2**20)
)


def rows_of(records: Sequence[Record]) -> Rows:
    """Records as rows."""
    steps = np.array([features for features, _ in records], dtype=np.int32).reshape(-1, 2)
    return Rows(steps, ONE, Fraction(1, ONE), np.array([label for _, label in records], dtype=np.int64))


def antipodal_errors(records: Sequence[Record]) -> NDArray[np.int64]:
    """Errors of a direction and its opposite."""
    return totals(rows_of(records), ANTIPODES, errors())


def antipodal_ramps(records: Sequence[Record]) -> NDArray[np.int64]:
    """Ramp losses of the two, for the margin 1/10."""
    return totals(rows_of(records), ANTIPODES, ramps(margin=ONE // 10, bits=_RAMP_BITS))


def labelled_errors(records: Sequence[Record]) -> NDArray[np.int64]:
    """Errors of candidates that follow the features."""
    rows = rows_of(records)
    return totals(rows, candidates_of(rows, 6, PublicBits(0, "audit")), errors())


def errors_of_networks(records: Sequence[Record]) -> NDArray[np.int64]:
    """Errors of the three networks."""
    return network_errors(rows_of(records), NETWORKS)


def unequal_scores(records: Sequence[Record]) -> list[Fraction]:
    """Two normalised scores, of which one moves a thousand times as far as the other."""
    ones = sum(label for _, label in records)
    return UNEQUAL.normalised([Fraction(ones, 1000), 1 - ones])


def margin_scores(records: Sequence[Record]) -> list[Fraction]:
    """The normalised least hinge losses at two margins."""
    rows = rows_of(records)
    return MARGINS.normalised([least_hinge(rows, Scale(len(records), exponent)) for exponent in EXPONENTS])


def sample_points(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Points on the border of the square, chosen arc by arc; one pair of coordinates in each row."""
    rows, source = rows_of(records), source_from(rng)
    chosen = [choose_point(rows, COUNTS, source, half_side=HALF_SIDE) for _ in range(count)]
    return np.array(chosen, dtype=np.int64).reshape(count, 2)


def law_of_points(records: Sequence[Record]) -> dict[tuple[int, ...], Fraction]:
    """The law of the point chosen: every point of the border is a candidate by its errors."""
    arcs = arcs_of(rows_of(records), HALF_SIDE)
    law = law_of(np.repeat(arcs.counts, arcs.lengths), COUNTS.temperature)
    return {tuple(border_point(index, HALF_SIDE).tolist()): share for index, share in law.items()}


_SHORT: Final = (((ONE // 8, 0), 1),) * 8
_CROSS: Final = (((ONE // 2, 0), 1), ((0, ONE // 2), 0), ((0, 1000), 1), ((-1000, 2), 0), ((17, -2000), 1))

TARGETS: Final = (
    Choice(antipodal_errors, COUNTS).target(
        "pure_margin_choice",
        "a direction or its opposite by errors; one of ten records changes its label",
        (_ALL_EAST, _ONE_WEST),
        learner="PureMarginClassifier",
    ),
    Choice(antipodal_errors, ZEROED).target(
        "pure_margin_zeroed",
        "the same at half the temperature; one record becomes zero, which every candidate gets wrong",
        (_ALL_EAST[:4], (*_ALL_EAST[:3], ((0, 0), 1))),
        learner="PureMarginClassifier",
    ),
    Choice(antipodal_ramps, RAMPS).target(
        "ramp_choice",
        "a direction or its opposite by ramp losses of a margin of 1/10",
        (_ALL_EAST, _ONE_WEST),
        learner="MarginClassifier",
    ),
    make_target(
        "arrangement_choice",
        "one of 32 points on the border of a square, chosen arc by arc",
        sample_points,
        COUNTS.claim,
        (_CROSS, (*_CROSS[:4], ((-17, 2000), 1))),
        (_CROSS, (*_CROSS[:3], ((4, 3000), 0), _CROSS[4])),
        learner="PureMarginClassifier",
        pmf=law_of_points,
        most_runs=10_000,
    ),
    Choice(labelled_errors, LABELS).target(
        "label_private_choice",
        "one of six candidates that follow the features, by errors; one of six records changes its label",
        ((*_CROSS, _CROSS[0]), (*_CROSS, (_CROSS[0][0], 0))),
        learner="LabelPrivateClassifier",
    ),
    Choice(errors_of_networks, COUNTS).target(
        "network_choice",
        "one of three networks, by errors",
        (_CROSS, (*_CROSS[:4], ((17, -2000), 0))),
        learner="NeuralMarginClassifier",
    ),
    Choice(unequal_scores, UNEQUAL.choice).target(
        "unequal_choice",
        "one of two scores, of which one moves a thousand times as far as the other",
        ((_EAST,) * 16, (*(_EAST,) * 15, _WEST)),
        ((_WEST,), (_EAST,)),
        learner="GeneralizedExponential",
    ),
    Choice(margin_scores, MARGINS.choice).target(
        "margin_choice",
        "one of two margins by the least hinge loss; the record that moves it most changes its label",
        ((*_SHORT, _EAST), (*_SHORT, _WEST)),
        learner="MarginSearch",
    ),
)
"""Finite laws, each declared, so that they are compared exactly with their claims; the auditor's samples say the same."""
