"""Tracing: whose record is in a released mean, by its correlation with the mean, on records drawn as fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.auditor.membership.user_arrays import finite_array
from dpaudit.claims import Claim
from dpaudit.errors import AdjacencyMismatch, InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, integer
from dpaudit.targets import Target

Vector: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int8]
Estimate: TypeAlias = Callable[[Rows, Generator], Any]

OUT: Final = "the traced record is out"
IN: Final = "the traced record is in"

_ROUNDING: Final = 1e-9
"""P-values are raised by this share: a sum over d signs changes the exponent by at most 6 d**2 / 2**53, less than this up to
d = 1,200 even if every term rounds the same way; against exact arithmetic it changed by 2e-13 at d = 10,000."""

_MOST_SIGNS: Final = 2**28
_SIGNS_AT_ONCE: Final = 2**20


def draw_fingerprints(
    records: int, dimension: int, rng: Generator, *, spread: Exact = 1, distinct: int | None = None
) -> tuple[Vector, Rows]:
    """Records of signs whose means were drawn at random, as in lower bounds for private means.

    Args:
      records: how many, at least 1.
      dimension: signs of each, at least 1.
      rng: where all randomness comes from.
      spread: means are uniform between -`spread` and `spread`, in (0, 1].
      distinct: if given, the records are drawn with repetition from so many, at least 1.
    Returns:
      The means, shape (dimension,), and the records, entries -1 and 1, shape (records, dimension).
    Raises:
      InvalidArgument: no integer (DPA105), or a number out of range (DPA101 to DPA103).
    Source: Dwork, Smith, Steinke, Ullman, Vadhan 2015; docs/membership.md, section 7.
    Example:
      >>> means, rows = draw_fingerprints(3, 2, np.random.default_rng(0))
      >>> means.shape, rows.shape
      ((2,), (3, 2))
    """
    instance_of(rng, Generator, "rng")
    shape = (integer(records, "records", lower=1), integer(dimension, "dimension", lower=1))
    limit = float(in_range(spread, "spread", lower=0, upper=1, lower_open=True))
    drawn = (shape[0] if distinct is None else integer(distinct, "distinct", lower=1), shape[1])
    _refuse_too_many(max(shape[0], drawn[0]), shape[1])
    means = rng.uniform(-limit, limit, size=shape[1])
    rows, share, step = np.empty(drawn, dtype=np.int8), (1 + means) / 2, max(1, _SIGNS_AT_ONCE // drawn[1])
    for start in range(0, drawn[0], step):
        block = rows[start : start + step]
        block[:] = np.where(rng.random(block.shape) < share, np.int8(1), np.int8(-1))
    return means, rows if distinct is None else rows[rng.integers(drawn[0], size=shape[0])]


def tracing_scores(estimate: Any, means: Any, rows: Any) -> Vector:
    """Compute how strongly each record correlates with the error of a released mean.

    Args:
      estimate: the released mean, shape (dimension,), finite; not clipped.
      means: the true means, or a reference that the records did not enter, of the same shape.
      rows: records to trace, shape (records, dimension).
    Returns:
      The inner product of (estimate - means) with (record - means), for each record; mean 0 for a record that is not in.
    Raises:
      InvalidArgument: shapes that do not fit, or numbers that are not finite (DPA105).
    Source: Dwork, Smith, Steinke, Ullman, Vadhan 2015; docs/membership.md, section 7.
    Example:
      >>> tracing_scores([0.5, 0.0], [0.0, 0.0], [[1, 1], [-1, 1]]).tolist()
      [0.5, -0.5]
    """
    released, reference, records = _check_shapes(estimate, means, rows)
    return np.asarray((records - reference) @ (released - reference))


def tracing_p_values(estimate: Any, means: Any, rows: Any) -> Vector:
    """Compute for each record a p-value of "it is not in", valid whatever the estimate is.

    Args:
      estimate: the released mean, shape (dimension,), finite.
      means: the true means of the signs.
      rows: records of signs -1 and 1, shape (records, dimension).
    Returns:
      P-values in (0, 1], rounded up: of a record drawn apart from the estimate, each is at most f with probability at most f.
    Raises:
      InvalidArgument: shapes that do not fit, or numbers that are not finite (DPA105).
    Source: Hoeffding 1963, Theorem 2; docs/membership.md, section 7.
    Example:
      >>> (tracing_p_values(np.ones(50), np.zeros(50), np.ones((2, 50))) < 1e-10).tolist()
      [True, True]
    """
    released, reference, _ = _check_shapes(estimate, means, rows)
    positive = np.maximum(tracing_scores(released, reference, rows), 0.0)
    square = float(np.sum((released - reference) ** 2))
    if square == 0:
        return np.ones(len(positive))
    return np.minimum(1.0, np.exp(-(positive**2) / (2 * square)) * (1 + _ROUNDING) + np.finfo(float).tiny)


def tracing_target(
    estimate: Estimate, *, records: int, dimension: int, claim: Claim, spread: Exact = 1, name: str = "tracing"
) -> Target:
    """Make tracing a target of an ordinary audit: every run draws new records, and one of them is in or not.

    Under `replace_one` a record that is out is replaced by another of the same law, under `add_remove` it is left out. A claim on
    every pair of neighbours holds on average over pairs, so that it bounds this test too.

    Args:
      estimate: function (rows, rng) -> estimated mean of the rows, shape (dimension,).
      records: rows when the traced record is in, at least 2.
      dimension: signs of each record.
      claim: the claim of `estimate`, under `replace_one` or `add_remove`.
      spread: as for `draw_fingerprints`.
      name: its name in reports.
    Returns:
      A target whose output is the tracing score over the distance of the estimate from the means.
    Raises:
      InvalidArgument: no integer (DPA105), a number out of range (DPA101 to DPA103), or a part of the wrong kind (DPA404).
      AdjacencyMismatch: the claim is about other neighbours (DPA201).
    Source: Dwork, Smith, Steinke, Ullman, Vadhan 2015; docs/membership.md, section 7.
    Example:
      >>> from dpaudit import Claim, GDP
      >>> claim = Claim(GDP(mu=1), adjacency="replace_one")
      >>> tracing_target(lambda rows, rng: rows.mean(axis=0), records=10, dimension=100, claim=claim).name
      'tracing'
    """
    if instance_of(claim, Claim, "claim").relation.kind not in {"replace_one", "add_remove"}:
        raise AdjacencyMismatch(
            "DPA201",
            f"tracing replaces a record or leaves it out, the claim is under {claim.relation}. Claim replace_one or add_remove.",
        )
    rows = integer(records, "records", lower=2)
    columns = integer(dimension, "dimension", lower=1)
    _refuse_too_many(rows + 1, columns)
    limit = in_range(spread, "spread", lower=0, upper=1, lower_open=True)
    run = _Tracing(estimate, rows, columns, limit, claim.relation.kind == "replace_one")
    return Target(
        run=run,
        claim=claim,
        neighbours=[(OUT, IN)],
        name=name,
        description="whether a record can be traced in a released mean",
        public_data=True,
    )


@dataclass(frozen=True)
class _Tracing:
    """One run: new records, the estimate with the traced record in or out, its score."""

    estimate: Estimate
    records: int
    dimension: int
    spread: Exact
    replaced: bool

    def __call__(self, data: str, rng: Generator) -> float:
        """Score the traced record; 0 where the estimate is the means themselves."""
        means, rows = draw_fingerprints(self.records + 1, self.dimension, rng, spread=self.spread)
        given = rows[1:] if data == IN else rows[: -1 if self.replaced else -2]
        released = np.asarray(self.estimate(given, rng), dtype=np.float64)
        distance = float(np.linalg.norm(released - means))
        return float(tracing_scores(released, means, rows[-1:])[0] / distance) if distance else 0.0


def _refuse_too_many(records: int, dimension: int) -> None:
    """Refuse to draw more signs than fit into memory."""
    if records * dimension > _MOST_SIGNS:
        raise InvalidArgument("DPA103", f"records times dimension must be at most {_MOST_SIGNS:,}. Ask for fewer of either.")


def _check_shapes(estimate: Any, means: Any, rows: Any) -> tuple[Vector, Vector, Vector]:
    """Return the three as arrays of numbers that fit each other."""
    released, reference = finite_array(estimate, "estimate"), finite_array(means, "means")
    records = finite_array(rows, "rows")
    if not (released.ndim == 1 and reference.shape == released.shape and records.ndim == 2 and records.shape[1:] == released.shape):
        raise InvalidArgument(
            "DPA105",
            "estimate and means must be vectors of one length and rows a matrix of that width, got shapes "
            f"{released.shape}, {reference.shape} and {records.shape}.",
        )
    return released, reference, records
