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


@dataclass(frozen=True)
class Step:
    """What is kept of a step.

    Args:
      batch: positions of the records in it, as the loop gave them.
      size: how many parameters were released.
      energy: squared length of the noise, over the claimed variance.
      bare_energy: the same, had no gradient been clipped.
      scores: standard normal, in a sound loop, along the clipped sum, what clipping takes away, and equal coordinates.
      noise: some coordinates of the noise, over its claimed deviation.
      clipped: how many gradients were longer than the clip.
      excess: length of what clipping takes from the sum, over the claimed deviation: how clearly its lack would show.
      longest: norm of the longest gradient after clipping, over the clip; None where the loop gave none.
      public: the numbers that may not depend on records, by name.
      strayed: how far parameters moved beside the noisy gradient, over how far they moved; None where that was not given.
    """

    batch: NDArray[np.int64]
    size: int
    energy: float
    bare_energy: float
    scores: dict[str, float]
    noise: Array
    clipped: int
    excess: float
    longest: float | None
    public: dict[str, float]
    strayed: float | None


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
        given = given.detach().cpu().numpy()
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("DPA105", f"{name} must be an array of numbers.") from error
    if not np.isfinite(found).all():
        raise InvalidArgument("DPA105", f"{name} must be finite numbers. Report the step before values overflow.")
    return found


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
