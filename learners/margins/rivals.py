"""Several classes as two: every record compares its own class with one other, which public bits choose by its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from learners.rows.rows import Rows
from learners.rows.seeds import PublicBits
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray


def against_rivals(rows: Rows, *, classes: int, seed: int) -> Rows:
    """Rows on which weights of all classes together are a classifier of two: positive where a record's class beats its rival.

    A record x of class y becomes x in the columns of y and -x in those of its rival, which is any other class with the same
    probability. Which one depends on its place and its class alone.

    Source: Kesler's construction (Duda, Hart, Stork 2001, section 5.12).
    """
    count, columns = rows.steps.shape
    steps = coo_array(rows.steps)
    places, entries = steps.coords
    rivals = (rows.labels + 1 + PublicBits(seed, "rivals", classes).below(classes - 1, count)) % classes
    own, other = (entries + columns * labels[places] for labels in (rows.labels, rivals))
    paired = coo_array(
        (np.concatenate([steps.data, -steps.data]), (np.tile(places, 2), np.concatenate([own, other]))),
        shape=(count, columns * classes),
    )
    return Rows(csr_array(paired), rival_bound(rows.bound), rows.step, np.ones(count, dtype=np.int64))


def rival_bound(bound: int) -> int:
    """Norm of a row of norm `bound` beside its negative, in steps, rounded up."""
    return whole_root_above(2 * bound**2)


def by_class(weights: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Weights of all classes together as one column for each, where there are more than two."""
    return weights if classes == 2 else weights.reshape(classes, -1).T
