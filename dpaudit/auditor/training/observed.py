"""One observed step in numbers: what its noisy sum leaves once the clipped gradients are taken away, in which directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument

Array: TypeAlias = NDArray[np.float64]

KEPT: Final = 4096
"""Coordinates of the noise that are kept to compare steps; a model may have many more."""

_ROUNDINGS: Final = 16.0
_THOUSANDTH: Final = 1e-3

_LARGEST_GRAM: Final = 10**9
"""Multiplications that a step may cost to find the span of its gradients."""


@dataclass(frozen=True)
class Step:
    """What is kept of a step.

    Args:
      batch: positions of the records in it, as the loop gave them.
      size: how many parameters were released.
      energy: squared length of the noise, over the claimed variance.
      bare_energy: the same, had no gradient been clipped.
      scores: standard normal, in a sound loop, along each shift of the sum that a mistake would make, and along equal coordinates.
      shifts: how long these shifts are, over the claimed deviation: how clearly a mistake would show.
      span: squared length of the noise along the span of the gradients, over the claimed variance, and the dimension of that span.
      noise: some coordinates of the noise, over its claimed deviation.
      clipped: how many gradients were longer than the clip.
      longest: norm of the longest gradient after clipping, over the clip; None where the loop gave none.
      gap: how far the sum before noise is from that of the clipped gradients, over what rounding explains; None where not given.
      public: the numbers that may not depend on records, by name.
      traces: length and product with a fixed vector, to compare runs, of each gradient and at last of the clean and noisy sum.
      move: what the move of the parameters is made of, and the log of the probability that it only seems so.
    """

    batch: NDArray[np.int64]
    size: int
    energy: float
    bare_energy: float
    scores: dict[str, float]
    shifts: dict[str, float]
    span: tuple[float, int]
    noise: Array
    clipped: int
    longest: float | None
    gap: float | None
    public: dict[str, float]
    traces: Array
    move: tuple[str, float]


def observe(
    batch: NDArray[np.int64],
    rows: Array,
    kept: Array,
    total: Array,
    clean: Array,
    *,
    deviation: float,
    clip: float,
    expected: float,
) -> Any:
    """Return the parts of a step that follow from its gradients, before and after clipping, and its sum with and without noise."""
    noise = (total - clean) / deviation
    ways = {"excess": (rows - kept).sum(axis=0), "sum": clean, "equal": np.ones(len(total))}
    if len(batch):
        ways["divided"] = clean * (expected / len(batch) - 1)
    scores = {name: score for name, way in ways.items() if (score := direction_score(noise, way)) is not None}
    return {
        "batch": batch,
        "size": len(total),
        "energy": float(noise @ noise),
        "bare_energy": float(np.sum((total - rows.sum(axis=0)) ** 2)) / deviation**2,
        "scores": scores,
        "shifts": {name: float(np.linalg.norm(ways[name])) / deviation for name in scores},
        "span": _span(rows, noise),
        "noise": noise[:KEPT].copy(),
        "clipped": int(np.count_nonzero(np.linalg.norm(rows, axis=1) > clip)),
        "traces": _traces(np.vstack([rows, clean, total])),
    }


def _span(rows: Array, noise: Array) -> tuple[float, int]:
    """Squared length of the noise along the span of gradients, whatever a mistake makes of them, and the dimension of the span."""
    if not 0 < 2 * len(rows) <= len(noise) or len(rows) ** 2 * len(noise) > _LARGEST_GRAM:
        return 0.0, 0
    values, vectors = np.linalg.eigh(rows @ rows.T)
    real = values > 1e-9 * max(values[-1], np.finfo(np.float64).tiny)
    along = vectors[:, real].T @ (rows @ noise) / np.sqrt(values[real])
    return float(along @ along), int(real.sum())


def _traces(rows: Array) -> Array:
    """Two numbers for each row, by which runs are compared without keeping gradients."""
    return np.column_stack([np.linalg.norm(rows, axis=1), rows @ np.cos(np.arange(rows.shape[1]))])


def rows_of(given: Any, name: str, examples: int) -> Array:
    """Return gradients as a matrix with a row for each example, from one array or one for each layer."""
    parts = [array_of(part, name) for part in given] if _is_layers(given) else [array_of(given, name)]
    if any(part.ndim < 1 or part.shape[0] != examples for part in parts):
        raise InvalidArgument(
            "DPA105", f"{name} must have a row for each of the {examples} examples of the batch. Give per-example gradients."
        )
    return np.concatenate(
        [part.reshape(examples, part.size // examples if examples else int(np.prod(part.shape[1:]))) for part in parts], axis=1
    )


def vector_of(given: Any, name: str) -> Array:
    """Return numbers in one row, from one array or one for each layer."""
    parts = [array_of(part, name) for part in given] if _is_layers(given) else [array_of(given, name)]
    return np.concatenate([part.ravel() for part in parts])


def array_of(given: Any, name: str) -> Array:
    """Return finite numbers of an array of numpy, torch or JAX."""
    if hasattr(given, "detach"):  # a tensor that records gradients or lives on a device
        given = given.detach().cpu().double().numpy()
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("DPA105", f"{name} must be an array of numbers.") from error
    if not np.isfinite(found).all():
        raise InvalidArgument("DPA105", f"{name} must be finite numbers. Report the step before values overflow.")
    return found


def precision_of(given: Any) -> float:
    """Rounding of the numbers that were given, from the name of their type."""
    first = given[0] if isinstance(given, Sequence) and len(given) else given
    name = str(getattr(first, "dtype", "float64")).rpartition(".")[2]
    return {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}.get(name, 2.0**-52)


def gap_of(clean: Array, kept: Array, *, clip: float, precision: float) -> float:
    """Distance of a sum from that of the clipped gradients, over what rounding explains: at least a thousandth of the clip."""
    spent = float(np.linalg.norm(kept, axis=1).sum())
    return float(np.linalg.norm(clean - kept.sum(axis=0))) / (_ROUNDINGS * precision * spent + _THOUSANDTH * clip)


def _is_layers(given: Any) -> bool:
    """True for a list of arrays, one for each layer."""
    return isinstance(given, Sequence) and bool(given) and all(hasattr(part, "shape") and len(part.shape) for part in given)


def clipped_rows(gradients: Array, clip: float) -> Array:
    """Shorten rows to the clip."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return np.asarray(gradients * np.minimum(1.0, clip / np.maximum(norms, np.finfo(np.float64).tiny)))


def direction_score(noise: Array, direction: Array) -> float | None:
    """Return a standard normal number for how much noise of any scale points in a direction; None where that is not defined."""
    from scipy.special import ndtri, stdtr

    lengths = float(np.linalg.norm(noise)) * float(np.linalg.norm(direction))
    if len(noise) < 2 or lengths == 0:
        return None
    cosine = float(np.clip(noise @ direction / lengths, -1.0, 1.0))
    # In a sound loop the direction is independent of the noise, so this is Student's t with one degree less than coordinates.
    ratio = cosine * np.sqrt((len(noise) - 1) / max(1e-300, 1 - cosine**2))
    tail = float(np.clip(stdtr(len(noise) - 1, -abs(ratio)), 1e-300, 0.5))
    return float(-ndtri(tail) * np.sign(cosine))
