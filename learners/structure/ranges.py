"""PrivateRanges: ranges that columns really fill, found within wide public ones from one noisy histogram of all columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from sklearn.base import TransformerMixin

from dpaudit.errors import InvalidArgument
from dpaudit.exact import in_range
from learners.boosting.plans import COUNT_STEPS, count_sensitivity
from learners.boosting.rounds import one_hot
from learners.pipeline.encoder import TableEncoder
from learners.record import Charge
from learners.rows.columns import Column, describe_columns, read_cells, read_columns
from learners.rows.ingest import checked_features
from learners.rows.schema import as_numbers
from learners.solvers.plans import MOVES, gaussian_release, mechanism_of, noise_multiplier
from learners.structure.unlabelled import UnlabelledModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from dpaudit.releases import Release
    from learners.estimator import Public
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_HALVINGS: Final = 40
"""Bins become shorter by the root of 2 towards zero, so many times: ranges may be a million times too wide."""

_NOISE: Final = 4.0
"""Bins whose noisy count is below so many deviations of the noise are empty."""


@dataclass(frozen=True)
class RangesPlan:
    """The plan of a fit: counts of all bins of all columns with a range."""

    described: tuple[Column, ...]
    counts: Release
    lattice_bits: int = 0
    intercept: int = 0

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entry that the release log will hold."""
        return (Charge((self.counts,)),)

    @property
    def spans(self) -> list[Column]:
        """The columns with a range."""
        return [column for column in self.described if column.ends is not None]


def ranges_plan(public: Public, described: tuple[Column, ...]) -> RangesPlan:
    """Plan the counts of all columns with a range, with the whole budget."""
    spans = [column for column in described if column.ends is not None]
    if not spans:
        raise InvalidArgument("DPA105", "columns has no range to narrow. Use TableEncoder.")
    moved = count_sensitivity(len(spans), 0, MOVES[public.adjacency.kind])
    multiplier = noise_multiplier(public.epsilon, public.delta)
    return RangesPlan(described, gaussian_release(public, moved, multiplier**2, sum(map(_bins, spans))))


def range_rows(features: NDArray[np.float64], labels: NDArray[np.int64], plan: RangesPlan) -> Rows:
    """A 1 in the bin of every column with a range, record by record."""
    kept = [place for place, column in enumerate(plan.described) if column.ends is not None]
    codes = [_code(column, features[:, place]) for place, column in zip(kept, plan.spans, strict=True)]
    return one_hot(np.stack(codes, axis=1), list(map(_bins, plan.spans)), labels)


def sum_bins(rows: Rows) -> NDArray[np.int64]:
    """What is released with noise: records in every bin of every column, each counted for its steps."""
    return rows.weighted_sum(np.full(rows.steps.shape[0], COUNT_STEPS, dtype=np.int64))


def narrow_ranges(noisy: NDArray[np.int64], plan: RangesPlan, outside: Fraction) -> NDArray[np.float64]:
    """The range of every column, from noisy counts alone."""
    least, starts = _NOISE * float(plan.counts.parameter("sigma")), np.cumsum([0, *map(_bins, plan.spans)])
    counts = np.where(noisy > least, noisy, 0).astype(np.float64)
    parts = zip(starts.tolist(), plan.spans, strict=False)
    return np.array(
        [_between(counts[start : start + _bins(column) - 1], bin_edges(_ends(column)), float(outside)) for start, column in parts]
    )


def bin_edges(ends: tuple[Fraction, Fraction]) -> NDArray[np.float64]:
    """Ends of public bins of a range, the shorter the nearer to zero, or to the end that is nearest to it."""
    low, high = map(float, ends)
    anchor = min(max(0.0, low), high)
    parts = 2.0 ** (-np.arange(_HALVINGS, -1, -1) / 2)
    below, above = anchor + (low - anchor) * parts[::-1], anchor + (high - anchor) * parts
    return np.unique(np.concatenate([below, [anchor], above]))


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRanges(TransformerMixin, UnlabelledModel):  # type: ignore[misc]
    """Ranges of numeric columns between two quantiles, (epsilon, delta)-differentially private; then as `TableEncoder` with these.

    Give wide public ranges; `columns_` has narrow ones, for boosting or a `TableEncoder`. In a `PrivatePipeline` its price
    is part of the pipeline's.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      columns: what is public about each column, as for `TableEncoder`; tuples (low, high) are narrowed.
      adjacency: "replace_one", or "add_remove" (then `n_nominal` is needed).
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      outside: share of the records that may lie below, and above, a range, exact, 0 to below 1/2.
    Source: docs/boosting.md, "Private ranges".
    Example:
      >>> X = np.random.default_rng(0).normal(50, 10, size=(5000, 1))
      >>> model = PrivateRanges(epsilon="1/2", delta="1e-6", columns=(0, 10**6), random_state=1).fit(X)
      >>> low, high = model.columns_[0]
      >>> 0 <= low < 40 and 70 < high < 140
      True
    """

    feature_norm: Exact = field(default=1, init=False)  # ranges take its place
    released: ClassVar[tuple[str, ...]] = ("ranges_",)

    delta: Exact = field()
    columns: Any = field()
    outside: Exact = "1/200"

    @property
    def columns_(self) -> Any:
        """What was public about each column, with the released ranges in place of the wide ones."""
        found = iter(map(tuple, self.ranges_.tolist()))
        described = describe_columns(self.columns, self.n_features_in_)
        specs = _specs(self.columns, self.n_features_in_)
        narrow = [spec if column.ends is None else next(found) for column, spec in zip(described, specs, strict=True)]
        return dict(zip(self.columns, narrow, strict=True)) if isinstance(self.columns, Mapping) else narrow

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Cells as numbers of rows of norm about 1, by the released ranges."""
        self._scored(X)
        return TableEncoder(self.columns_).fit(X).transform(X)

    def _read_features(self, X: Any, *, may_be_empty: bool) -> Features:  # noqa: N803 - scikit-learn's name
        """Numbers of the columns with a range, NaN elsewhere."""
        columns = read_columns(self.columns, X)
        cells = read_cells(X, columns)
        numbers = [
            as_numbers(part).astype(np.float64) if column.ends is not None else np.full(len(part), np.nan)
            for column, part in zip(columns, cells, strict=True)
        ]
        return checked_features(np.stack(numbers, axis=1), may_be_empty=may_be_empty)

    def _plan(self, public: Public) -> RangesPlan:
        """Counts of all columns with a range, with the whole budget."""
        in_range(self.outside, "outside", lower=0, upper=Fraction(1, 2), upper_open=True)
        return ranges_plan(public, describe_columns(self.columns, public.features))

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: RangesPlan) -> Rows:  # type: ignore[override]
        """A 1 in the bin of every column with a range."""
        return range_rows(np.asarray(features), labels, plan)

    def _learn(self, rows: Rows, plan: RangesPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned counts; ranges are computed from them."""
        noisy = mechanism_of(plan.counts).release(sum_bins(rows), source)
        return {"ranges_": narrow_ranges(noisy, plan, Fraction(self.outside))}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Nothing: records are encoded from their cells."""
        return np.zeros(rows.steps.shape[0])


def _between(counts: NDArray[np.float64], edges: NDArray[np.float64], outside: float) -> tuple[float, float]:
    """Ends of the bins that hold both quantiles; the whole range where noise shows no record."""
    total = float(counts.sum())
    if total <= 0:
        return float(edges[0]), float(edges[-1])
    below = np.cumsum(counts) / total
    first, last = int(np.argmax(below > outside)), int(np.argmax(below >= 1 - outside))
    return float(edges[first]), float(edges[max(first, last) + 1])


def _ends(column: Column) -> tuple[Fraction, Fraction]:
    """The range of a column that has one."""
    if column.ends is None:
        raise ValueError("the column has no range")
    return column.ends


def _bins(column: Column) -> int:
    """Number of bins, that of missing cells included."""
    return len(bin_edges(_ends(column)))


def _code(column: Column, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin of every number, cut to the range; the last for what is no number."""
    edges = bin_edges(_ends(column))
    inside = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    return np.where(np.isnan(values), len(edges) - 1, inside).astype(np.int64)


def _specs(given: Any, count: int) -> Sequence[Any]:
    """What was said of each column."""
    if isinstance(given, Mapping):
        return list(given.values())
    return [given] * count if isinstance(given, tuple) and not any(isinstance(end, tuple | list) for end in given) else list(given)
