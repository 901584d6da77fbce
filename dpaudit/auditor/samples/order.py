"""What the order of rows shows: samples whose rows depend on each other cannot be judged."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.checks.independence import INDEPENDENT, LEVEL, check_independence, dependence
from dpaudit.auditor.events.predicates import Hits, row_codes
from dpaudit.auditor.reading.features import FeatureMap
from dpaudit.auditor.reading.leaves import stable_code
from dpaudit.auditor.reading.outputs import Matrix, Outputs
from dpaudit.auditor.samples.drawing import Pair
from dpaudit.auditor.scoring.table import Codes, mix_codes
from dpaudit.results import Property

_MOST_ROWS: Final = 2**13
"""Rows of each sample that are read to see whether they depend on each other."""

_MOST_CELLS: Final = 2**24
_MOST_COMPARED: Final = 2**18
"""Rows of each sample in which repeated blocks are looked for."""

_FEW: Final = 20
"""Coincidences that are added to those seen, so that luck does not make rows look as if they never repeated."""

_SORTED: Final = "rows are in sorted order, which hides whether they depended on each other"
_FOLLOWS: Final = "successive rows of one sample depend on each other, or their law drifts"
_SEEDS: Final = "rows at the same place of both samples depend on each other, as runs with the same seeds do"
_BLOCKS: Final = (
    "the same rows come again in the same order, as in a file that was written or given twice, or with seeds used again"
)


def check_order(samples: Pair, features: FeatureMap) -> Property:
    """Test that rows depend neither on earlier ones nor on those of the other sample; false alarms are as rare as `LEVEL`."""
    end = min(_MOST_ROWS, max(2, _MOST_CELLS // max(len(features.names), len(features.paths))))
    first, second = (features.matrix(sample.outputs[:end]) for sample in samples)
    if any(_is_sorted(column) for matrix in (first, second) for column in matrix.T):
        # Sorting is harmless, but of the checks only that for one sample given twice makes sense then.
        twice = np.array_equal(first, second) and len(np.unique(row_codes(first))) > len(first) // 2
        return Property(INDEPENDENT, "violated" if twice else "not run", len(first) // 2, _BLOCKS if twice else _SORTED)
    labels = np.repeat(np.arange(2, dtype=np.uint8), [len(first), len(second)])
    found = check_independence(np.concatenate([first, second]), labels)
    found = replace(found, detail=_FOLLOWS) if found.status == "violated" else found
    if _are_paired(first, second):
        found = replace(found, status="violated", detail=_SEEDS)
    return replace(found, status="violated", detail=_BLOCKS) if _repeat_blocks(samples) else found


def _is_sorted(column: NDArray[np.float64]) -> bool:
    """True if values are in an order that chance gives as rarely as `LEVEL`."""
    steps = np.diff(column)
    if not ((steps >= 0).all() or (steps <= 0).all()):
        return False
    counts = np.unique(column, return_counts=True)[1].tolist()
    orders = math.lgamma(len(column) + 1) - sum(math.lgamma(count + 1) for count in counts)
    return orders > math.log(2 / LEVEL)


def _are_paired(first: Matrix, second: Matrix) -> bool:
    """True if rows at the same place lie above the medians of their columns together, or apart, more often than by chance."""
    size, width = min(len(first), len(second)), first.shape[1]
    for column in range(width):
        one, other = (_is_high(matrix[:size, column]) for matrix in (first, second))
        gap, allowed, _ = dependence(one, other, LEVEL / width)
        if gap > allowed:
            return True
    return False


def _is_high(values: NDArray[np.float64]) -> Hits:
    """Mark values above the median, or those at it where there are none."""
    middle = np.median(values)
    above = np.asarray(values > middle)
    return above if above.any() else np.asarray(values >= middle)


def _repeat_blocks(samples: Pair) -> bool:
    """True if some rows in a row come again, in either sample, so many of them that chance does that as rarely as `LEVEL`."""
    parts = [_codes(sample.outputs) for sample in samples]
    coincidence, total = max(map(_coincidence, parts)), sum(map(len, parts))
    if coincidence >= 1:
        return False
    # The square root bounds the chance of the most common row, which decides how often a block follows itself.
    length = math.ceil(2 * (2 * math.log(total) - math.log(LEVEL)) / -math.log(coincidence))
    blocks = np.concatenate([_blocks(codes, length) for codes in parts])
    return np.unique(blocks).size < blocks.size


def _coincidence(codes: Codes) -> float:
    """Estimate from above how often two rows of a sample are equal."""
    counts = np.unique(codes, return_counts=True)[1].astype(np.float64)
    return (float((counts * (counts - 1)).sum()) + _FEW) / (len(codes) * (len(codes) - 1))


def _codes(outputs: Outputs) -> Codes:
    """Code each row in 64 bits; rows that Python writes alike have one code."""
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biuf":
        some = outputs[: min(_MOST_COMPARED, max(1, _MOST_CELLS * len(outputs) // outputs.size))]
        return row_codes(some.reshape(len(some), -1).astype(np.float64))
    return np.array([stable_code(repr(output)) for output in outputs[:_MOST_COMPARED]], dtype=np.uint64)


def _blocks(codes: Codes, length: int) -> Codes:
    """Code every block of so many rows in a row; none where there are fewer rows."""
    starts = max(0, len(codes) - length + 1)
    found = np.zeros(starts, dtype=np.uint64)
    for place in range(length if starts else 0):
        found = mix_codes(found, codes[place : place + starts])
    return found
