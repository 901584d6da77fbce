"""Integers uniform below a limit, from as many bits as the limit needs; a number beyond it is drawn again in its own place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechanisms.sampling.random import BitSource


def draw_below(limit: int, source: BitSource) -> int:
    """One integer, uniform below `limit`."""
    bits = (limit - 1).bit_length()
    while (number := source.bits(bits)) >= limit:
        pass
    return number


def draw_many_below(limit: int, size: int, source: BitSource) -> NDArray[np.int64]:
    """`size` independent integers, uniform below `limit`."""
    if limit == 1:
        return np.zeros(size, dtype=np.int64)
    bits = (limit - 1).bit_length()
    numbers = source.uniform(bits, size).astype(np.int64)
    while (beyond := np.nonzero(numbers >= limit)[0]).size:
        numbers[beyond] = source.uniform(bits, beyond.size).astype(np.int64)
    return numbers
