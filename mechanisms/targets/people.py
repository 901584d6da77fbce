"""Targets that answer questions about real people, with neighbours made from their records, and releases that go wrong on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from dpaudit.targets import Sensitivity, Target
from mechanisms.sampling.random import source_from
from mechanisms.targets import questions, specimens
from mechanisms.targets.questions import DIAGNOSIS, RADIUS, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

_VALUES: Final = np.array([float(candidate) for candidate in questions.CANDIDATES])
_STEP: Final = float(questions.STEP)


def sample_count(records: Sequence[Record], count: int, rng: Generator) -> NDArray[Any]:
    """Noisy numbers of malignant tumours."""
    return questions.COUNT.releases(questions.malignant_count(records), count, source_from(rng))


def sample_mean(records: Sequence[Record], count: int, rng: Generator) -> NDArray[Any]:
    """Noisy mean radii in millimetres."""
    return questions.MEAN.releases(questions.radius_sum(records), count, source_from(rng)) * _STEP / max(len(records), 1)


def sample_histogram(records: Sequence[Record], count: int, rng: Generator) -> NDArray[Any]:
    """Noisy histograms of the radii, one in each row."""
    return questions.HISTOGRAM.releases(questions.radius_histogram(records), count, source_from(rng))


def sample_median(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """Private median radii in millimetres."""
    return _VALUES[questions.MEDIAN.releases(questions.median_scores(records), count, source_from(rng))]


def _replaced(records: tuple[Record, ...], position: int, **values: object) -> tuple[Record, ...]:
    """The records with other values in one of them."""
    return (*records[:position], {**records[position], **values}, *records[position + 1 :])


def _removed(records: tuple[Record, ...], position: int) -> tuple[Record, ...]:
    """The records without one of them."""
    return records[:position] + records[position + 1 :]


def _first(records: tuple[Record, ...], diagnosis: int) -> int:
    """Position of the first record with a diagnosis."""
    return next(position for position, record in enumerate(records) if record[DIAGNOSIS] == diagnosis)


def _bundle() -> tuple[Target, ...]:
    """All targets, with neighbours made from the records: each list holds a pair on which the claim is met as nearly as can be."""
    records = questions.cancer_records()
    malignant, benign = _first(records, 1), _first(records, 0)
    without = _removed(records, malignant)
    # With two tumours a tenth of the range apart, few candidates gain what all others lose: the worst case for a median.
    small = next(record for record in records if 11.9 < record[RADIUS] < 12)
    large = next(record for record in records if 13.9 < record[RADIUS] < 14)
    least = _replaced(records, malignant, **{RADIUS: float(questions.LOWER)})
    greatest = _replaced(records, malignant, **{RADIUS: float(questions.UPPER)})
    slipped = _replaced(records, malignant, **{RADIUS: 10 * records[malignant][RADIUS]})
    return (
        Target(
            name="cancer_count",
            description="how many of 569 tumours are malignant?",
            sample=sample_count,
            claim=questions.COUNT.claim,
            proof="proofs.chain#LaplaceMechanism.claim",
            neighbours=[(without, records), (_removed(records, benign), records)],
            sensitivity=Sensitivity(query=questions.malignant_count, bound=1),
        ),
        Target(
            name="cancer_mean",
            description="what is the mean radius of 569 tumours?",
            sample=sample_mean,
            claim=questions.MEAN.claim,
            proof="proofs.chain#LaplaceMechanism.claim",
            neighbours=[(least, greatest), (records, _replaced(records, malignant, **records[benign]))],
            sensitivity=Sensitivity(query=questions.radius_sum, bound=questions.MEAN.sensitivity),
        ),
        Target(
            name="cancer_histogram",
            description="how are the radii of 569 tumours distributed over five bins?",
            sample=sample_histogram,
            claim=questions.HISTOGRAM.claim,
            proof="proofs.chain#LaplaceMechanism.claim",
            neighbours=[(without, records)],
            sensitivity=Sensitivity(query=questions.radius_histogram, bound=1),
        ),
        Target(
            name="cancer_quantile",
            description="what is the median radius of the tumours?",
            sample=sample_median,
            claim=questions.MEDIAN.claim,
            proof="proofs.chain#ExponentialMechanism.claim",
            neighbours=[((small,), (small, large)), (without, records)],
            sensitivity=Sensitivity(query=questions.median_scores, bound=1, metric="linf"),
        ),
        Target(
            name="broken_mean",
            description="broken on purpose: a mean whose bounds are taken from the data",
            sample=specimens.mean_with_data_bounds,
            claim=Claim(PureDP(epsilon=1), adjacency="replace_one", note="wrong: the bounds and the noise depend on the records"),
            neighbours=[(records, slipped)],
        ),
        Target(
            name="broken_noise",
            description="broken on purpose: a difference of counts with half the noise it needs",
            sample=specimens.surplus_with_half_noise,
            claim=Claim(PureDP(epsilon=1), adjacency="replace_one", note="wrong: replacing a record moves the difference by 2"),
            proof="mechanisms.targets.programs:surplus_with_half_noise(epsilon=1)",
            neighbours=[(records, _replaced(records, malignant, **{DIAGNOSIS: 0}))],
        ),
    )


TARGETS: Final = _bundle()
