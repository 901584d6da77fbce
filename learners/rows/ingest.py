"""Features to integers, record by record: clipped to the public bound on a lattice, dense and sparse alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, kind_of, positive
from learners.rows.rows import Rows, row_bound
from learners.rows.schema import OBJECTS, as_numbers, require_number_columns, warn_of_objects
from mechanisms.contributions import clip_rows
from mechanisms.entries import name_contents

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

Features: TypeAlias = "NDArray[Any] | csr_array[Any, tuple[int, int]]"

_CHUNK: Final = 2**18
_LARGEST_INTERCEPT: Final = 2**26


def checked_features(features: Any, *, may_be_empty: bool = False) -> Features:
    """Features as an array or as CSR, refused for their type and shape only.

    Entries of a list or of an array of objects are read one by one, and count as NaN where they are not numbers that float64
    holds. An array of objects is warned of, whatever it holds.
    """
    from scipy import sparse

    if features is None:
        raise InvalidArgument("DPA105", "X must be an array of shape (records, features), got None. Pass the features: fit(X, y).")
    is_sparse = sparse.issparse(features)
    require_number_columns(features)
    read: Any = features if is_sparse else _as_array(features)
    if read.dtype.kind == "c":
        raise InvalidArgument("DPA105", "features must be real numbers. Complex data not supported: give their parts as columns.")
    if read.ndim != 2:
        raise _not_a_table(read)
    if read.dtype.kind not in ("biuf" if is_sparse else "biufO"):
        raise InvalidArgument(
            "DPA105",
            f"features must be numbers, got an array of {name_contents(read)}. Encode what is not a number by a public rule first, "
            "or convert numbers that came as text: X.astype(float).",
        )
    _require_entries(read.shape, may_be_empty=may_be_empty)
    if not is_sparse:
        warn_of_objects(features, OBJECTS)
        return as_numbers(read)
    rows = sparse.csr_array(read)
    try:
        rows.check_format(full_check=True)
    except ValueError as error:
        raise InvalidArgument("DPA105", f"features are no valid CSR matrix: {error}.") from error
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def to_rows(
    features: Features, labels: NDArray[np.int64], *, feature_norm: Exact, lattice_bits: int = 20, intercept: int = 0
) -> Rows:
    """Records as rows of whole steps of feature_norm / 2**lattice_bits, whatever they hold.

    A record within the bound is truncated toward zero, a longer one is scaled to the bound first, and the features of one that is
    not finite become zero. Each record is mapped independently; array and CSR give the same integers.
    """
    norm, constant = positive(feature_norm, "feature_norm"), integer(intercept, "intercept", lower=0, upper=_LARGEST_INTERCEPT)
    bits = integer(lattice_bits, "lattice_bits", lower=1, upper=26)
    clip_rows(np.zeros((0, 1)), norm_bound=norm, lattice_bits=bits)  # refuses the same parameters for all records
    ball = _Ball(norm, bits)
    steps = ball.array(features, constant) if isinstance(features, np.ndarray) else ball.sparse(features, constant)
    return Rows(steps, row_bound(bits, constant), norm / 2**bits, labels)


@dataclass(frozen=True)
class _Ball:
    """Public parameters of the clipping; what `clip_rows` reads of a record are its entries other than zero, in order."""

    norm: Fraction
    bits: int

    def array(self, features: NDArray[Any], constant: int) -> NDArray[np.int32]:
        """An array, a few records at a time."""
        count, width = features.shape
        steps = np.zeros((count, width + (constant > 0)), dtype=np.int32)
        steps[:, width:] = constant
        for part in _chunks(count, width):
            block = _as_floats(features[part])
            kept = block != 0
            if kept.all():
                steps[part, :width] = clip_rows(block, norm_bound=self.norm, lattice_bits=self.bits)
            else:
                steps[part, :width][kept] = self._entries(block[kept], kept.sum(axis=1), width)
        return steps

    def sparse(self, features: csr_array[Any, tuple[int, int]], constant: int) -> csr_array[Any, tuple[int, int]]:
        """CSR, a few records at a time; the places of the entries are the caller's own, which nothing here changes."""
        from scipy.sparse import csr_array

        count, width = features.shape
        starts, data = features.indptr, np.zeros(features.nnz, dtype=np.int32)
        for part in _chunks(count, max(1, features.nnz // max(1, count))):
            start, stop = int(starts[part.start]), int(starts[min(part.stop, count)])
            values = _as_floats(features.data[start:stop])
            kept = values != 0
            before = np.concatenate([[0], np.cumsum(kept)])
            counts = np.diff(before[starts[part.start : part.stop + 1] - start])
            data[start:stop][kept] = self._entries(values[kept], counts, width)
        steps = csr_array((data, features.indices, starts), shape=(count, width))
        return steps if constant == 0 else _with_constant(steps, constant)

    def _entries(self, values: NDArray[np.float64], counts: NDArray[np.int64], columns: int) -> NDArray[np.int64]:
        """Steps of the entries of some records, one record after the other, `counts` of them each.

        A record is widened with zeros to one of a few widths, which its own number of entries decides: `clip_rows` then sees
        the same row wherever the record stands and however it is stored. One without zeros keeps its width, as in an array.
        """
        steps = np.zeros(len(values), dtype=np.int64)
        starts, widths = np.cumsum(counts) - counts, np.minimum(_widened(counts), columns)
        for width in np.unique(widths[counts > 0]).tolist():
            chosen = np.flatnonzero(widths == width)
            for part in _chunks(len(chosen), width):
                some = chosen[part]
                inside = np.arange(width) < counts[some, np.newaxis]
                places = (starts[some, np.newaxis] + np.arange(width))[inside]
                rows = np.zeros((len(some), width))
                rows[inside] = values[places]
                steps[places] = clip_rows(rows, norm_bound=self.norm, lattice_bits=self.bits)[inside]
        return steps


def _widened(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each number rounded up to a power of two, or to three quarters of one."""
    above = np.left_shift(1, np.frexp(np.maximum(counts - 1, 0))[1].astype(np.int64))
    return np.where(4 * counts <= 3 * above, 3 * above // 4, above)


def _with_constant(steps: csr_array[Any, tuple[int, int]], constant: int) -> csr_array[Any, tuple[int, int]]:
    """CSR with one more column, which holds the constant in every row."""
    from scipy.sparse import csr_array

    (count, width), ends = steps.shape, steps.indptr[1:]
    kind = np.int32 if steps.nnz + count < 2**31 and width < 2**31 - 1 else np.int64
    indices = np.insert(steps.indices.astype(kind, copy=False), ends, width)
    starts = steps.indptr + np.arange(count + 1)
    return csr_array((np.insert(steps.data, ends, constant), indices, starts.astype(kind)), shape=(count, width + 1))


def _chunks(count: int, width: int) -> Iterator[slice]:
    """Runs of records that hold a bounded number of entries."""
    height = max(1, _CHUNK // width)
    return (slice(start, start + height) for start in range(0, count, height))


def _not_a_table(read: NDArray[Any]) -> InvalidArgument:
    """The refusal of another number of dimensions than two."""
    if read.shape == (0,):
        return InvalidArgument(
            "DPA105",
            "X must be an array of shape (records, features), got an empty list, which does not show how many features there are. "
            "Give numpy.zeros((0, d)) for no record with d features.",
        )
    return InvalidArgument(
        "DPA105",
        f"X must be an array of shape (records, features), got {read.ndim} dimension{'s' * (read.ndim != 1)}. "
        "Reshape your data: X.reshape(-1, 1) has one feature, X.reshape(1, -1) one record.",
    )


def _require_entries(shape: tuple[int, ...], *, may_be_empty: bool) -> None:
    """DPA109 for no feature, and for no record where their number is public."""
    if shape[1] == 0:
        where = "" if may_be_empty else f" (shape={shape})"
        raise InvalidArgument("DPA109", f"0 feature(s){where} while a minimum of 1 is required. Give X at least one column.")
    if shape[0] == 0 and not may_be_empty:
        raise InvalidArgument(
            "DPA109",
            f"0 sample(s) (shape={shape}) while a minimum of 1 is required. Give X at least one record, or fit with "
            'adjacency="add_remove", where the number of records is private and may be 0.',
        )


def _as_array(features: Any) -> NDArray[Any]:
    """The features as an array. A list has no type, so no single cell may decide whether all are refused."""
    listed = isinstance(features, (list, tuple))
    try:
        read = np.asarray(features)
    except Exception as error:  # a cell may fail in whatever way its own methods do
        cells = _cells(features) if listed else None
        if cells is None:
            raise InvalidArgument(
                "DPA105",
                f"X must be a table of numbers with rows of equal length, got {kind_of(features)} that is none. "
                "Give every record the same number of features.",
            ) from error
        return cells
    return np.array(features, dtype=object) if listed and read.size and read.dtype.kind not in "biuf" else read


def _cells(rows: Any) -> NDArray[Any] | None:
    """The cells of a list of rows of equal length as an array of objects, whatever they hold; None for other lists."""
    if not all(isinstance(row, (list, tuple)) for row in rows) or len(set(map(len, rows))) != 1:
        return None
    cells = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            cells[place, column] = cell
    return cells


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """The nearest float of each number, whatever its dtype; what float64 cannot hold silently becomes infinite."""
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(values, dtype=np.float64)
