"""The stability of a transformation, made testable: a release that is private if outputs stay as close as its map says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import Unsupported

if TYPE_CHECKING:
    from numpy.random import Generator

NORMS: Final = {"AbsoluteDistance": "l1", "L1Distance": "l1", "L2Distance": "l2", "LInfDistance": "linf"}
"""Metrics of OpenDP for numbers and vectors, with the norm in which a sensitivity is declared."""

EPSILON: Final = 2
"""Cost of the probe where the map is right: small violations still show, and outputs far apart are not too rare."""

_POWERS: Final = {"l1": 1, "l2": 2, "linf": np.inf}


def probe(operation: Callable[[Any], Any], metric: str, d_out: float, anchor: Any) -> Callable[[Any, Generator], float]:
    """A release that costs at most `EPSILON` if outputs of the operation on neighbours are, or can be coupled, `d_out` close.

    The distance to a fixed output moves by no more than the output itself does, whatever the metric.
    """
    apart = _DISTANCES.get(metric) or _norm(metric)
    unit = d_out or 1.0
    return lambda rows, rng: float(apart(operation(rows), anchor)) / unit + float(rng.laplace(scale=1 / EPSILON))


def _norm(metric: str) -> Callable[[Any, Any], float]:
    """The distance of numbers or vectors; infinite between vectors of different lengths."""
    if metric not in NORMS:
        raise Unsupported(
            "DPA202", f"outputs in the metric {metric} cannot be compared. Metrics that can: {', '.join(_DISTANCES)}."
        )
    power = _POWERS[NORMS[metric]]

    def apart(first: Any, second: Any) -> float:
        one, other = np.atleast_1d(first).astype(object), np.atleast_1d(second).astype(object)
        return float(np.linalg.norm((one - other).astype(float), power)) if one.shape == other.shape else np.inf

    return apart


def _missing(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Count the records of the first dataset that the second lacks."""
    return (Counter(first) - Counter(second)).total()


def _edits(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Count the fewest insertions and deletions between two lists, by their longest common subsequence."""
    common = [0] * (len(second) + 1)
    for record in first:
        before = list(common)
        for place, other in enumerate(second):
            common[place + 1] = before[place] + 1 if record == other else max(common[place], before[place + 1])
    return len(first) + len(second) - 2 * common[-1]


def _places(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Count the places at which two lists differ; infinite for lists of different lengths."""
    return sum(map(lambda one, other: bool(one != other), first, second)) if len(first) == len(second) else np.inf


_DISTANCES: Final[dict[str, Callable[[Any, Any], float]]] = {
    "SymmetricDistance": lambda first, second: _missing(first, second) + _missing(second, first),
    "InsertDeleteDistance": _edits,
    "ChangeOneDistance": lambda first, second: max(_missing(first, second), _missing(second, first)),
    "HammingDistance": _places,
}
