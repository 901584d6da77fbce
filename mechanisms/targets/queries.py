"""Targets that answer many questions at once: which answers exceed a threshold, and how many people share a category or a key."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.targets import Sensitivity
from mechanisms.above_threshold import AboveThreshold
from mechanisms.histogram import HistogramMechanism
from mechanisms.partition_selection import PartitionSelection
from mechanisms.sampling.random import source_from
from mechanisms.sparse_vector import SparseVector
from mechanisms.stability_histogram import StabilityHistogram
from mechanisms.targets.sound import SCORES, Above, sound

Visits: TypeAlias = "tuple[str, ...]"
"""The clinics that one person went to, in the order of the visits."""

CLINICS: Final = ("north", "east", "south", "west")
FIRST_ABOVE: Final = AboveThreshold(sensitivity=1, epsilon=1, adjacency=SCORES)
SPARSE: Final = SparseVector(sensitivity=1, epsilon=1, cutoff=2, adjacency=SCORES)
HISTOGRAM: Final = HistogramMechanism(CLINICS, epsilon=1)
STABILITY: Final = StabilityHistogram(epsilon=1, delta="1/50", contributions=2)
SELECTION: Final = PartitionSelection(epsilon=1, delta="1/50")


def columns(people: Sequence[Visits]) -> tuple[list[str], list[int]]:
    """The clinic of every visit, and the number of the person who made it."""
    persons = [(clinic, person) for person, visits in enumerate(people) for clinic in visits]
    return [clinic for clinic, _ in persons], [person for _, person in persons]


def sample_stability(people: Sequence[Visits], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Noisy numbers of people at the clinics that are shown, 0 for those that are not, one histogram in each row."""
    clinics, persons = columns(people)
    return as_rows(STABILITY.releases(clinics, count, source_from(rng), people=persons))


def sample_selection(clinics: Sequence[str], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The number of clinics that are shown: with a single one in the data, that says everything."""
    return np.fromiter(map(len, SELECTION.releases(clinics, count, source_from(rng))), np.int64, count)


def as_rows(shown: Collection[dict[Any, int]]) -> NDArray[np.int64]:
    """The count shown of each clinic, 0 for none: an array is read faster than dictionaries and says the same."""
    values = (counts.get(clinic, 0) for counts in shown for clinic in CLINICS)
    return np.fromiter(values, np.int64, len(shown) * len(CLINICS)).reshape(len(shown), len(CLINICS))


TARGETS: Final = (
    sound(
        "above_threshold",
        "which of seven answers is the first above a threshold? Each of them moves by 1",
        FIRST_ABOVE,
        [((-1,) * 6 + (1,), (0,) * 6 + (0,))],
        Above(FIRST_ABOVE),
    ),
    sound(
        "sparse_vector",
        "which of seven answers are the first two above a threshold? Each of them moves by 1",
        SPARSE,
        [((-2,) * 5 + (2,) * 2, (-1,) * 5 + (1,) * 2)],
        Above(SPARSE),
    ),
    sound(
        "histogram",
        "how many visits were there to each clinic, if everybody made one?",
        HISTOGRAM,
        [(("north",), ("north", "east"))],
        sensitivity=Sensitivity(query=HISTOGRAM.counts, bound=1),
    ),
    sound(
        "stability_histogram",
        "to which clinics, that nobody listed beforehand, do many people go?",
        STABILITY,
        [((), (CLINICS,)), ((("north", "east"),) * 9, (("north", "east"),) * 10)],
        sample_stability,
    ),
    sound(
        "partition_selection",
        "may a clinic, that nobody listed beforehand, be named?",
        SELECTION,
        [(("north",) * 2, ("north",) * 3), ((), ("north",))],
        sample_selection,
    ),
)
