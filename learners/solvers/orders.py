"""Random orders of records: exactly uniform permutations and draws with replacement, from the noise source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.exact import integer
from mechanisms.noise import bit_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.sampling.random import BitSource

_MOST_RECORDS: Final = 2**32


def random_order(count: int, source: BitSource | None = None) -> NDArray[np.int64]:
    """A uniformly random permutation: the order of independent random words, drawn again if two of them are equal."""
    size, bits = integer(count, "count", lower=0), bit_source(source)
    while True:
        words = bits.uniform(64, size)
        order = np.argsort(words, kind="stable")
        words = words[order]
        if not (words[1:] == words[:-1]).any():
            return order.astype(np.int64, copy=False)


def random_places(count: int, below: int, source: BitSource | None = None) -> NDArray[np.int64]:
    """Independent uniformly random positions, with repetitions: words of just enough bits, drawn again where they are too large."""
    size, limit = integer(count, "count", lower=0), integer(below, "below", lower=1, upper=_MOST_RECORDS)
    bits, width = bit_source(source), max(1, (limit - 1).bit_length())
    places = bits.uniform(width, size).astype(np.int64)
    while (wrong := np.flatnonzero(places >= limit)).size:
        places[wrong] = bits.uniform(width, wrong.size).astype(np.int64)
    return places
