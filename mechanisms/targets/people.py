"""Targets that answer questions about real people, with neighbours made from their records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.targets import Sensitivity
from mechanisms.sampling.random import source_from
from mechanisms.targets import questions
from mechanisms.targets.questions import DIAGNOSIS, RADIUS, Record
from mechanisms.targets.sound import sound

_VALUES: Final = np.array([float(candidate) for candidate in questions.CANDIDATES])
_STEP: Final = float(questions.STEP)


def sample_count(records: Sequence[Record], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Noisy numbers of malignant tumours."""
    return questions.COUNT.releases(questions.malignant_count(records), count, source_from(rng))


def sample_mean(records: Sequence[Record], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Noisy mean radii in millimetres."""
    return questions.MEAN.releases(questions.radius_sum(records), count, source_from(rng)) * _STEP / max(len(records), 1)


def sample_histogram(records: Sequence[Record], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Noisy histograms of the radii, one in each row."""
    return questions.HISTOGRAM.releases(questions.radius_histogram(records), count, source_from(rng))


def sample_median(records: Sequence[Record], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Private median radii in millimetres."""
    return _VALUES[questions.MEDIAN.releases(questions.median_scores(records), count, source_from(rng))]


def replace_record(records: tuple[Record, ...], position: int, **values: object) -> tuple[Record, ...]:
    """Return the records with other values in one of them."""
    return (*records[:position], {**records[position], **values}, *records[position + 1 :])


def _removed(records: tuple[Record, ...], position: int) -> tuple[Record, ...]:
    """The records without one of them."""
    return records[:position] + records[position + 1 :]


def find_first(records: tuple[Record, ...], diagnosis: int) -> int:
    """Return the position of the first record with a diagnosis."""
    return next(position for position, record in enumerate(records) if record[DIAGNOSIS] == diagnosis)


RECORDS: Final = questions.cancer_records()
_MALIGNANT: Final = find_first(RECORDS, 1)
_WITHOUT: Final = _removed(RECORDS, _MALIGNANT)
# With two tumours a tenth of the range apart, few candidates gain what all others lose: the worst case for a median.
_SMALL: Final = next(record for record in RECORDS if 11.9 < record[RADIUS] < 12)
_LARGE: Final = next(record for record in RECORDS if 13.9 < record[RADIUS] < 14)
_LEAST: Final = replace_record(RECORDS, _MALIGNANT, **{RADIUS: float(questions.LOWER)})
_GREATEST: Final = replace_record(RECORDS, _MALIGNANT, **{RADIUS: float(questions.UPPER)})
_BENIGN: Final = find_first(RECORDS, 0)

TARGETS: Final = (
    sound(
        "cancer_count",
        "how many of 569 tumours are malignant?",
        questions.COUNT,
        [(_WITHOUT, RECORDS), (_removed(RECORDS, _BENIGN), RECORDS)],
        sample_count,
        sensitivity=Sensitivity(query=questions.malignant_count, bound=1),
        public_data=False,
    ),
    sound(
        "cancer_mean",
        "what is the mean radius of 569 tumours?",
        questions.MEAN,
        [(_LEAST, _GREATEST), (RECORDS, replace_record(RECORDS, _MALIGNANT, **RECORDS[_BENIGN]))],
        sample_mean,
        sensitivity=Sensitivity(query=questions.radius_sum, bound=questions.MEAN.sensitivity),
        public_data=False,
    ),
    sound(
        "cancer_histogram",
        "how are the radii of 569 tumours distributed over five bins?",
        questions.HISTOGRAM,
        [(_WITHOUT, RECORDS)],
        sample_histogram,
        sensitivity=Sensitivity(query=questions.radius_histogram, bound=1),
        public_data=False,
    ),
    sound(
        "cancer_quantile",
        "what is the median radius of the tumours?",
        questions.MEDIAN,
        [((_SMALL,), (_SMALL, _LARGE)), (_WITHOUT, RECORDS)],
        sample_median,
        sensitivity=Sensitivity(query=questions.median_scores, bound=1, metric="linf"),
        public_data=False,
    ),
)
"""Each list of neighbours holds a pair on which the claim is met as nearly as can be."""
