"""Targets that choose a classifier: out of few candidates, on the border of a square, among networks, by label, and a margin."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from dpaudit.exact import ball, ball_endpoints, working_precision
from dpaudit.targets import Target
from learners.choices.arcs import arcs_of, border_point, choose_point
from learners.choices.counts import Listed, errors, ramps, totals
from learners.choices.generalized import GeneralizedExponential
from learners.choices.hinge_minimum import Scale, least_hinge
from learners.choices.levels import counts_mechanism
from learners.choices.networks import given_networks, network_errors
from learners.margins.label_private import candidates_of
from learners.rows.rows import Rows
from learners.rows.seeds import PublicBits
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


def law_of(gaps: Sequence[int | Fraction], temperature: Fraction) -> dict[int, Fraction]:
    """Probability of each candidate by its loss under an exponential mechanism, within 2**-190, as Fractions that sum to 1."""
    least = min(gaps)
    with working_precision(256):
        weights = [(-ball(Fraction(gap - least) / temperature)).exp() for gap in gaps]
        total = sum(weights[1:], start=weights[0])
        shares = [Fraction(round(Fraction(ball_endpoints(weight / total)[0]) * 2**200), 2**200) for weight in weights]
    law = dict(enumerate(shares))
    law[shares.index(max(shares))] += 1 - sum(shares)
    return law


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


def point_errors(records: Sequence[Record]) -> NDArray[np.int64]:
    """Errors of all points on the border of the square, one by one."""
    arcs = arcs_of(rows_of(records), HALF_SIDE)
    return np.repeat(arcs.counts, arcs.lengths)


def unequal_scores(records: Sequence[Record]) -> list[Fraction]:
    """Return what is compared of two scores of which one moves a thousand times as far as the other."""
    ones = sum(label for _, label in records)
    return UNEQUAL.normalised([Fraction(ones, 1000), 1 - ones])


def margin_scores(records: Sequence[Record]) -> list[Fraction]:
    """Return what is compared of the least hinge losses at two margins."""
    rows = rows_of(records)
    return MARGINS.normalised([least_hinge(rows, Scale(len(records), exponent)) for exponent in EXPONENTS])


def sample_antipodes(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Choices between a direction and its opposite."""
    return COUNTS.releases(-antipodal_errors(records), count, source_from(rng))


def sample_zeroed(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """The same at half the temperature, where a record may become zero and nothing else."""
    return ZEROED.releases(-antipodal_errors(records), count, source_from(rng))


def sample_ramps(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """The same by ramp losses."""
    return RAMPS.releases(-antipodal_ramps(records), count, source_from(rng))


def sample_labelled(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Choices among candidates that follow the features."""
    return LABELS.releases(-labelled_errors(records), count, source_from(rng))


def sample_networks(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Choices among three networks."""
    return COUNTS.releases(-network_errors(rows_of(records), NETWORKS), count, source_from(rng))


def sample_points(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Points on the border of the square, chosen arc by arc; one pair of coordinates in each row."""
    rows, source = rows_of(records), source_from(rng)
    chosen = [choose_point(rows, COUNTS, source, half_side=HALF_SIDE) for _ in range(count)]
    return np.array(chosen, dtype=np.int64).reshape(count, 2)


def sample_unequal(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Choices between two scores of very different sensitivity."""
    return UNEQUAL.choice.releases([-score for score in unequal_scores(records)], count, source_from(rng))


def sample_margins(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """Choices between two margins by their least hinge losses."""
    return MARGINS.choice.releases([-score for score in margin_scores(records)], count, source_from(rng))


def law_of_points(records: Sequence[Record]) -> dict[tuple[int, ...], Fraction]:
    """The law of the point chosen."""
    law = law_of(point_errors(records).tolist(), COUNTS.temperature)
    return {tuple(border_point(index, HALF_SIDE).tolist()): share for index, share in law.items()}


_SHORT: Final = (((ONE // 8, 0), 1),) * 8
_CROSS: Final = (((ONE // 2, 0), 1), ((0, ONE // 2), 0), ((0, 1000), 1), ((-1000, 2), 0), ((17, -2000), 1))

TARGETS: Final = (
    Target(
        name="pure_margin_choice",
        description="a direction or its opposite by errors; one of ten records changes its label",
        sample=sample_antipodes,
        claim=COUNTS.claim,
        pmf=lambda records: law_of(antipodal_errors(records).tolist(), COUNTS.temperature),
        neighbours=[(_ALL_EAST, _ONE_WEST)],
        public_data=True,
        proof="proofs.chain#PureMarginClassifier.claim",
    ),
    Target(
        name="pure_margin_zeroed",
        description="the same at half the temperature; one record becomes zero, which every candidate gets wrong",
        sample=sample_zeroed,
        claim=ZEROED.claim,
        pmf=lambda records: law_of(antipodal_errors(records).tolist(), ZEROED.temperature),
        neighbours=[(_ALL_EAST[:4], (*_ALL_EAST[:3], ((0, 0), 1)))],
        public_data=True,
        proof="proofs.chain#PureMarginClassifier.claim",
    ),
    Target(
        name="ramp_choice",
        description="a direction or its opposite by ramp losses of a margin of 1/10",
        sample=sample_ramps,
        claim=RAMPS.claim,
        pmf=lambda records: law_of(antipodal_ramps(records).tolist(), RAMPS.temperature),
        neighbours=[(_ALL_EAST, _ONE_WEST)],
        public_data=True,
        proof="proofs.chain#MarginClassifier.claim",
    ),
    Target(
        name="arrangement_choice",
        description="one of 32 points on the border of a square, chosen arc by arc",
        sample=sample_points,
        claim=COUNTS.claim,
        pmf=law_of_points,
        neighbours=[(_CROSS, (*_CROSS[:4], ((-17, 2000), 1))), (_CROSS, (*_CROSS[:3], ((4, 3000), 0), _CROSS[4]))],
        public_data=True,
        proof="proofs.chain#PureMarginClassifier.claim",
        most_runs=10_000,
    ),
    Target(
        name="label_private_choice",
        description="one of six candidates that follow the features, by errors; one of six records changes its label",
        sample=sample_labelled,
        claim=LABELS.claim,
        pmf=lambda records: law_of(labelled_errors(records).tolist(), LABELS.temperature),
        neighbours=[((*_CROSS, _CROSS[0]), (*_CROSS, (_CROSS[0][0], 0)))],
        public_data=True,
        proof="proofs.chain#LabelPrivateClassifier.claim",
    ),
    Target(
        name="network_choice",
        description="one of three networks, by errors",
        sample=sample_networks,
        claim=COUNTS.claim,
        pmf=lambda records: law_of(network_errors(rows_of(records), NETWORKS).tolist(), COUNTS.temperature),
        neighbours=[(_CROSS, (*_CROSS[:4], ((17, -2000), 0)))],
        public_data=True,
        proof="proofs.chain#NeuralMarginClassifier.claim",
    ),
    Target(
        name="unequal_choice",
        description="one of two scores, of which one moves a thousand times as far as the other",
        sample=sample_unequal,
        claim=UNEQUAL.claim,
        pmf=lambda records: law_of(unequal_scores(records), UNEQUAL.choice.temperature),
        neighbours=[((_EAST,) * 16, (*(_EAST,) * 15, _WEST)), ((_WEST,), (_EAST,))],
        public_data=True,
        proof="proofs.chain#GeneralizedExponential.claim",
    ),
    Target(
        name="margin_choice",
        description="one of two margins by the least hinge loss; the record that moves it most changes its label",
        sample=sample_margins,
        claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
        pmf=lambda records: law_of(margin_scores(records), MARGINS.choice.temperature),
        neighbours=[((*_SHORT, _EAST), (*_SHORT, _WEST))],
        public_data=True,
        proof="proofs.chain#MarginSearch.claim",
    ),
)
"""Finite laws, each declared, so that they are compared exactly with their claims; the auditor's samples say the same."""
