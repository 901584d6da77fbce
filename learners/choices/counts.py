"""Scores of candidates as integers: errors, and ramps on a grid, summed over records; and the choice by them.

A candidate for two classes has as many weights as a row has columns, and its signed margin with a record is the product, negative
for the first class. A candidate for K classes has K times as many, one class after the other, and its signed margin is by how much
the record's own class leads the best other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from mechanisms.exponential import ExponentialMechanism
    from mechanisms.sampling.random import BitSource

Loss = Callable[["NDArray[np.int64]"], "NDArray[np.int64] | NDArray[np.bool_]"]
"""From signed margins, each of one record and one candidate, to integers or truth values of the same shape."""

_CHUNK: Final = 2**21
"""Margins that are computed at once: 16 megabytes, however many records and candidates there are."""

_INTEGERS_HOLD: Final = 2**63
_HALF: Final = 2**62
"""Scores of classes stay below this, so that 64 bits hold the lead of one over another."""


class Cover(Protocol):
    """A finite set of candidates that depends on public numbers alone: linear classifiers with integer weights."""

    @property
    def size(self) -> int:
        """Number of candidates."""
        ...

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """All of them in order, in arrays of shape (dimension, some number)."""
        ...

    def candidate(self, place: int) -> NDArray[np.int64]:
        """The one at a place in that order, of shape (dimension,)."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Candidates that are written down."""

    weights: NDArray[np.int64]  # int64 array of shape (dimension, N), one candidate a column

    @property
    def size(self) -> int:
        """Number of candidates."""
        return int(self.weights.shape[1])

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """All of them."""
        yield self.weights

    def candidate(self, place: int) -> NDArray[np.int64]:
        """The one at a place."""
        return self.weights[:, place]


def signs(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """-1 for records of the first class, 1 for those of the second."""
    return 2 * labels - 1


def errors(threshold: int = 0) -> Loss:
    """The loss of 1 for a signed margin of at most a threshold; a tie, 0, is an error (Bassily, Mohri, Suresh 2022, section 2)."""
    limit = integer(threshold, "threshold")
    return lambda margins: margins <= limit


def ramps(*, margin: int, bits: int) -> Loss:
    """The ramp loss on a grid: 2**bits for a signed margin of at most 0, 0 from `margin` on, rounded up in between."""
    # Both ends of the range lie on the grid, so that the sensitivity of a sum over records is exactly 2**bits.
    end, fineness = integer(margin, "margin", lower=1), integer(bits, "bits", lower=0)
    if end << fineness >= _INTEGERS_HOLD:
        raise InvalidArgument("DPA108", "a ramp of this margin and fineness does not fit 64 bits. Use fewer bits.")
    return lambda margins: -((np.clip(margins, 0, end) - end << fineness) // end)


def totals(rows: Rows, cover: Cover, loss: Loss) -> NDArray[np.int64]:
    """The loss of every candidate, summed over all records."""
    parts = []
    for block in cover.blocks():
        width = max(1, _CHUNK // (len(rows.labels) * (len(block) // rows.steps.shape[1])))
        for start in range(0, block.shape[1], width):
            margins = _signed(rows, block[:, start : start + width])
            parts.append(loss(margins).sum(axis=0, dtype=np.int64))
    return np.concatenate(parts)


def leads(scores: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Compute the lead of each record's class over the best other one; 0 for a tie, which is an error (Crammer, Singer 2001)."""
    places = np.arange(len(labels))
    own = scores[places, labels]
    scores[places, labels] = -_HALF
    return np.asarray(own - scores.max(axis=1))


def choose(
    rows: Rows, cover: Cover, loss: Loss, mechanism: ExponentialMechanism, source: BitSource | None = None
) -> NDArray[np.int64]:
    """Choose a candidate by its summed loss (Bassily, Mohri, Suresh 2022, Algorithm 1, step 5)."""
    return cover.candidate(mechanism.release(-totals(rows, cover, loss), source))


def per_class(weights: NDArray[np.int64], columns: int) -> NDArray[np.int64]:
    """The weights of a candidate as `Rows.margins` takes them."""
    return weights if len(weights) == columns else weights.reshape(-1, columns).T


def _signed(rows: Rows, block: NDArray[np.int64]) -> NDArray[np.int64]:
    """Signed margins of all records with some candidates."""
    columns = rows.steps.shape[1]
    if len(block) == columns:
        margins = rows.margins(block)
        margins *= signs(rows.labels)[:, np.newaxis]
        return margins
    if rows.bound * columns * int(np.abs(block).max(initial=0)) >= _HALF:
        raise InvalidArgument("DPA108", "differences of margins might not fit 64 bits. Use smaller weights or a coarser lattice.")
    by_class = block.reshape(-1, columns, block.shape[1]).transpose(1, 0, 2)
    scores = rows.margins(by_class.reshape(columns, -1))
    return leads(scores.reshape(len(scores), *by_class.shape[1:]), rows.labels)
