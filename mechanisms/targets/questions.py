"""Questions about real people, answered privately: a count, a mean, a histogram and a median of breast-cancer records.

The records are the Wisconsin diagnostic data: 569 tumours, 30 measurements each, and the diagnosis. Each question is a query
(exact, no noise) and a mechanism with its price. All bounds, bins and candidates are public: they come from what such measurements
can be, never from these records.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import TargetFailure
from dpaudit.exact import Exact, in_range
from mechanisms.exponential import ExponentialMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.lattice import clamp_to_lattice

Record: TypeAlias = dict[str, Any]
"""One person: column name -> int, float, text or None, the same form that a CSV file gives."""

RADIUS: Final = "mean radius"
DIAGNOSIS: Final = "diagnosis"
LOWER: Final = 5
UPPER: Final = 30
STEP: Final = Fraction(1, 100)
EDGES: Final = (10, 15, 20, 25)
CANDIDATE_STEP: Final = Fraction(1, 20)
CANDIDATES: Final = tuple(LOWER + CANDIDATE_STEP * index for index in range(int((UPPER - LOWER) / CANDIDATE_STEP) + 1))

_MEASURES: Final = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
_COLUMNS: Final = (
    *(f"mean {measure}" for measure in _MEASURES),
    *(f"{measure} error" for measure in _MEASURES),
    *(f"worst {measure}" for measure in _MEASURES),
)

COUNT: Final = LaplaceMechanism(sensitivity=1, epsilon=1)
MEAN: Final = LaplaceMechanism(sensitivity=int((UPPER - LOWER) / STEP), epsilon=1, adjacency="replace_one")
HISTOGRAM: Final = LaplaceMechanism(sensitivity=1, epsilon=1)
MEDIAN: Final = ExponentialMechanism(sensitivity=1, epsilon=1)


def cancer_records() -> tuple[Record, ...]:
    """The bundled breast-cancer records: 30 measurements in millimetres or ratios, and `diagnosis`, 1 for malignant.

    Source: Street, Wolberg, Mangasarian 1993; the same values as sklearn.datasets.load_breast_cancer, where 0 is malignant.
    """
    return tuple({**dict(zip(_COLUMNS, row[:-1], strict=True)), DIAGNOSIS: 1 - int(row[-1])} for row in _rows())


@cache
def _rows() -> tuple[tuple[float, ...], ...]:
    """The numbers in the bundled file, without its header."""
    try:
        text = (files("mechanisms") / "data" / "breast_cancer.csv").read_text(encoding="utf-8")
        header, *rows = csv.reader(text.splitlines())
        numbers = tuple(tuple(float(entry) for entry in row) for row in rows)
    except (OSError, ValueError) as error:
        kind = type(error).__name__
        raise TargetFailure(
            "DPA406", f"mechanisms/data/breast_cancer.csv cannot be read ({kind}). Install dpaudit again."
        ) from error
    if header[:2] != [str(len(numbers)), str(len(_COLUMNS))]:
        raise TargetFailure("DPA406", "mechanisms/data/breast_cancer.csv has an unknown layout. Install dpaudit again.")
    return numbers


def column(records: Sequence[Record], name: str) -> list[Any]:
    """One column of the records; None where a record lacks it."""
    return [record.get(name) for record in records]


def malignant_count(records: Sequence[Record]) -> int:
    """The number of malignant tumours: moves by at most 1 when a record is added or removed."""
    return sum(value == 1 for value in column(records, DIAGNOSIS))


def radius_sum(records: Sequence[Record]) -> int:
    """Sum of the radii in steps of 1/100 mm, each clamped to 5 to 30 mm: moves by at most 2500 when a record is replaced."""
    return int(clamp_to_lattice(column(records, RADIUS), lower=LOWER, upper=UPPER, lattice=STEP).sum())


def radius_histogram(records: Sequence[Record]) -> NDArray[np.int64]:
    """Tumours by radius, bins below 10, 10, 15, 20 and from 25 mm up: one entry moves by 1 when a record is added or removed."""
    steps = clamp_to_lattice(column(records, RADIUS), lower=LOWER, upper=UPPER, lattice=STEP)
    bins = np.searchsorted(np.array([int(edge / STEP) for edge in EDGES]), steps, side="right")
    return np.bincount(bins, minlength=len(EDGES) + 1).astype(np.int64)


def median_scores(records: Sequence[Record]) -> NDArray[np.int64]:
    """Score of each candidate as the median radius: moves by at most 1 when a record is added or removed."""
    steps = clamp_to_lattice(column(records, RADIUS), lower=LOWER, upper=UPPER, lattice=STEP)
    candidates = np.array([int(candidate / STEP) for candidate in CANDIDATES])
    return quantile_scores(steps, candidates, quantile="1/2")


def quantile_scores(values: NDArray[np.int64], candidates: NDArray[np.int64], *, quantile: Exact) -> NDArray[np.int64]:
    """Integer scores of candidates: how well each splits the values at a quantile.

    With the quantile p / r in lowest terms, the score of a candidate c is -|r #(values below c) - p n|, 0 for a perfect split.

    Source: Smith 2011 (quantiles by the exponential mechanism).
    """
    share = in_range(quantile, "quantile", lower=0, upper=1)
    below = np.searchsorted(np.sort(values), candidates, side="left")
    scores: NDArray[np.int64] = -np.abs(share.denominator * below - share.numerator * values.size).astype(np.int64)
    return scores
