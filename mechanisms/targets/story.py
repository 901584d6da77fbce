"""The first targets that `dpaudit audit` shows: everyday releases of real records, each with a broken twin as people write them.

The sound ones use this library; the broken ones are plain numpy, with one common mistake each.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from dpaudit.claims import Claim, PureDP
from dpaudit.targets import Sensitivity, Target
from mechanisms.exponential import ExponentialMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.sampling.random import source_from
from mechanisms.targets.questions import DIAGNOSIS, RADIUS, cancer_records, quantile_scores
from mechanisms.top_k import TopK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

Tumour: TypeAlias = "tuple[float, int]"
"""A record: the tumour's mean radius in millimetres, and 1 if it is malignant, else 0."""

TUMOURS: Final[tuple[Tumour, ...]] = tuple((record[RADIUS], record[DIAGNOSIS]) for record in cancer_records())
EPSILON: Final = 1
LOWER, UPPER = 5, 30
"""Public bounds of a radius in millimetres, known before any record was seen."""
EDGES: Final = (10, 15, 20, 25)
CANDIDATES: Final = np.arange(LOWER, UPPER + 1)
"""What the median may be: whole millimetres."""

COUNT: Final = LaplaceMechanism(sensitivity=1, epsilon="1/2")
SUM: Final = LaplaceMechanism(sensitivity=UPPER - LOWER, epsilon=EPSILON, adjacency="replace_one")
HISTOGRAM: Final = LaplaceMechanism(sensitivity=1, epsilon=EPSILON)
MEDIAN: Final = ExponentialMechanism(sensitivity=1, epsilon=EPSILON)
TOP: Final = TopK(k=2, sensitivity=1, epsilon=EPSILON)


def radii(tumours: Sequence[Tumour]) -> NDArray[np.float64]:
    """Return the radii of the tumours."""
    return np.array([radius for radius, _ in tumours], dtype=np.float64)


def malignant(tumours: Sequence[Tumour]) -> int:
    """Count the malignant tumours."""
    return sum(tumour[1] for tumour in tumours)


def clipped_sum(tumours: Sequence[Tumour]) -> int:
    """Sum the radii in whole millimetres, each clipped to the public bounds."""
    return int(np.clip(np.rint(radii(tumours)), LOWER, UPPER).sum())


def bins(tumours: Sequence[Tumour]) -> NDArray[np.int64]:
    """Count the tumours in five public bins of the radius."""
    return np.bincount(np.searchsorted(EDGES, radii(tumours), side="right"), minlength=len(EDGES) + 1).astype(np.int64)


def median_scores(tumours: Sequence[Tumour]) -> NDArray[np.int64]:
    """Score each candidate for the median: how evenly it splits the radii."""
    return quantile_scores(np.rint(radii(tumours)).astype(np.int64), CANDIDATES, quantile="1/2")


def sample_count(tumours: Sequence[Tumour], count: int, rng: Generator) -> NDArray[Any]:
    """Noisy numbers of malignant tumours."""
    return COUNT.releases(malignant(tumours), count, source_from(rng))


def sample_mean(tumours: Sequence[Tumour], count: int, rng: Generator) -> NDArray[Any]:
    """Noisy mean radii; the number of records is public where records are replaced."""
    return SUM.releases(clipped_sum(tumours), count, source_from(rng)) / max(len(tumours), 1)


def sample_histogram(tumours: Sequence[Tumour], count: int, rng: Generator) -> NDArray[Any]:
    """Noisy histograms of the radii, one in each row."""
    return HISTOGRAM.releases(bins(tumours), count, source_from(rng))


def sample_median(tumours: Sequence[Tumour], count: int, rng: Generator) -> NDArray[np.int64]:
    """Private medians of the radii in millimetres."""
    return CANDIDATES[MEDIAN.releases(median_scores(tumours), count, source_from(rng))]


def sample_top_two(tumours: Sequence[Tumour], count: int, rng: Generator) -> NDArray[np.int64]:
    """The two bins with the most tumours, the fullest first, one pair in each row."""
    return TOP.releases(bins(tumours), count, source_from(rng))


# The mistakes. Each function is what somebody may write who knows the formula and misses one condition.


def count_with_swapped_scale(tumours: Sequence[Tumour], rng: Generator) -> float:
    """Mistake: the scale of the noise is epsilon, where 1 / epsilon is needed."""
    noise: float = rng.laplace(scale=0.5)
    return malignant(tumours) + noise


def mean_with_bounds_from_data(tumours: Sequence[Tumour], rng: Generator) -> float:
    """Mistake: the noise is scaled by the range of these very records, so that an outlier shows."""
    values = radii(tumours)
    noise: float = rng.laplace(scale=(values.max() - values.min()) / (len(values) * EPSILON))
    return float(values.mean()) + noise


def histogram_of_bins_that_occur(tumours: Sequence[Tumour], rng: Generator) -> dict[int, float]:
    """Mistake: a bin is listed only if it holds a record, so that the list of bins has no noise."""
    counts = Counter(int(radius // 5) * 5 for radius, _ in tumours)
    return {edge: counts[edge] + rng.laplace(scale=1 / EPSILON) for edge in sorted(counts)}


def median_with_noise_of_a_mean(tumours: Sequence[Tumour], rng: Generator) -> float:
    """Mistake: one record is assumed to move a median by range / n, as it moves a mean."""
    return float(np.median(radii(tumours))) + rng.laplace(scale=(UPPER - LOWER) / (len(tumours) * EPSILON))


def top_two_with_counts(tumours: Sequence[Tumour], rng: Generator) -> list[tuple[int, float]]:
    """Mistake: epsilon is spent twice, once to choose the bins and once to count what is in them."""
    counts = bins(tumours)
    chosen = np.argsort(-(counts + rng.laplace(scale=1 / EPSILON, size=len(counts))))[:2]
    return [(int(place), float(counts[place] + rng.laplace(scale=1 / EPSILON))) for place in chosen]


_FEW_RUNS: Final = 20_000
"""Plenty for what is far from its claim; a function of plain Python takes a tenth of a millisecond a run."""

_SMALL: Final = ((11.0, 0), (14.0, 0))
_FIRST, _SECOND = TUMOURS[0], TUMOURS[1]

TARGETS: Final = (
    Target(
        name="count",
        description="how many of 569 tumours are malignant?",
        sample=sample_count,
        claim=COUNT.claim,
        proof="proofs.chain#LaplaceMechanism.claim",
        neighbours=[(TUMOURS[1:], TUMOURS)],
        sensitivity=Sensitivity(query=malignant, bound=1),
        public_data=True,
    ),
    Target(
        name="count_swapped_scale",
        description="a count with noise of scale epsilon, not 1 / epsilon",
        run=count_with_swapped_scale,
        claim=COUNT.claim,
        data=TUMOURS,
        most_runs=_FEW_RUNS,
        public_data=True,
    ),
    Target(
        name="mean",
        description="what is the mean radius of the tumours?",
        sample=sample_mean,
        claim=SUM.claim,
        proof="proofs.chain#LaplaceMechanism.claim",
        neighbours=[((*TUMOURS[1:], (0.0, 1)), (*TUMOURS[1:], (90.0, 1)))],
        sensitivity=Sensitivity(query=clipped_sum, bound=SUM.sensitivity),
        public_data=True,
    ),
    Target(
        name="mean_own_bounds",
        description="a mean whose bounds are the extremes of the data",
        run=mean_with_bounds_from_data,
        claim=Claim(PureDP(epsilon=EPSILON), adjacency="replace_one"),
        data=TUMOURS,
        most_runs=_FEW_RUNS,
        public_data=True,
    ),
    Target(
        name="histogram_fixed_bins",
        description="how are the radii distributed over five bins?",
        sample=sample_histogram,
        claim=HISTOGRAM.claim,
        proof="proofs.chain#LaplaceMechanism.claim",
        neighbours=[(TUMOURS[1:], TUMOURS)],
        sensitivity=Sensitivity(query=bins, bound=1),
        public_data=True,
    ),
    Target(
        name="histogram_own_bins",
        description="a histogram that lists only bins with records",
        run=histogram_of_bins_that_occur,
        claim=Claim(PureDP(epsilon=EPSILON)),
        data=TUMOURS,
        most_runs=_FEW_RUNS,
        public_data=True,
    ),
    Target(
        name="median",
        description="what is the median radius of the tumours?",
        sample=sample_median,
        claim=MEDIAN.claim,
        proof="proofs.chain#ExponentialMechanism.claim",
        neighbours=[(_SMALL[:1], _SMALL), (TUMOURS[1:], TUMOURS)],
        sensitivity=Sensitivity(query=median_scores, bound=1, metric="linf"),
        public_data=True,
    ),
    Target(
        name="median_as_mean",
        description="a median with the noise that a mean would need",
        run=median_with_noise_of_a_mean,
        claim=Claim(PureDP(epsilon=EPSILON), adjacency="replace_one"),
        data=TUMOURS,
        most_runs=_FEW_RUNS,
        public_data=True,
    ),
    Target(
        name="top_two",
        description="which two of the five bins hold the most tumours?",
        sample=sample_top_two,
        claim=TOP.claim,
        proof="proofs.chain#TopK.claim",
        neighbours=[(_SMALL, (*_SMALL, (17.0, 1)))],
        sensitivity=Sensitivity(query=bins, bound=1, metric="linf"),
        public_data=True,
    ),
    Target(
        name="top_two_with_counts",
        description="fullest bins with counts, epsilon spent twice",
        run=top_two_with_counts,
        claim=Claim(PureDP(epsilon=EPSILON)),
        neighbours=[((TUMOURS[0], TUMOURS[19]), TUMOURS[19:20])],
        public_data=True,
    ),
)
