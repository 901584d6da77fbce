"""TableEncoder: numbers, categories and text as one array, cell by cell by public rules, which cost no budget."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dpaudit.errors import InvalidArgument
from learners.rows.columns import Column, read_cells, read_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_USUAL_SQUARE = 0.25
"""Numbers count in the largest norm as if they were half way from the middle to an end of their range."""


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a table of pandas or polars, or an array, into numbers of norm about 1, for linear learners with feature_norm=1.

    Numbers are cut to their public range and scaled to -1 to 1; a category becomes a 1 in its own column; words are counted in
    buckets. A missing or unreadable cell becomes the middle of its range, or no category or word. Nothing is learned from records.

    Args:
      columns: what is public about each column: a tuple (low, high) for numbers, a list of categories, or `Text(buckets)`; as a
        mapping by name for a table, a sequence for an array, or one tuple for all columns.
    Raises:
      InvalidArgument: a column is not described, or its type holds no numbers where there is a range (DPA105), or a range or a
        list is none (DPA103, DPA105).
    Source: docs/boosting.md, "Tables".
    Example:
      >>> import numpy as np
      >>> TableEncoder([(0, 10), ["f", "m"]]).fit_transform([[10, "m"], [0, "f"]]).round(2).tolist()
      [[0.89, 0.0, 0.89], [-0.89, 0.89, 0.0]]
    """

    def __init__(self, columns: Any) -> None:
        """Keep the public columns."""
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - scikit-learn's names
        """Check the columns of the table against what is public; no cell is read."""
        described = read_columns(self.columns, X)
        self.n_features_in_, self.names_ = len(described), [name for column in described for name in _names(column)]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """The cells as numbers, each record by itself."""
        columns = read_columns(self.columns, X)
        if len(columns) != getattr(self, "n_features_in_", len(columns)):
            counts = f"{len(columns)} features, but TableEncoder is expecting {self.n_features_in_} features as input"
            raise InvalidArgument("DPA105", f"X has {counts}. Give the columns that it was fitted on, in their order.")
        blocks = [_encode(column, cells) for column, cells in zip(columns, read_cells(X, columns), strict=True)]
        square = sum(1.0 if column.ends is None else _USUAL_SQUARE for column in columns)
        return np.asarray(np.concatenate(blocks, axis=1) / math.sqrt(square))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002 - scikit-learn's name
        """Names of the columns of numbers, after `fit`."""
        check_is_fitted(self, "names_")  # named, since a transform needs no fit
        return np.array(self.names_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Missing cells, text and categories are read, and no fit is needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.sparse = True
        tags.requires_fit = False
        return tags


def _encode(column: Column, cells: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of a column's cells."""
    if column.ends is not None:
        return np.nan_to_num(column.scale(cells))[:, np.newaxis]
    if column.buckets:
        from sklearn.feature_extraction.text import HashingVectorizer

        words = [cell if isinstance(cell, str) else "" for cell in cells.tolist()]
        hashed = HashingVectorizer(n_features=column.buckets, alternate_sign=False, norm="l2").transform(words)
        return np.asarray(hashed.toarray())
    return np.eye(len(column.categories) + 1)[column.places(cells)][:, :-1]


def _names(column: Column) -> list[str]:
    """The names of a column's numbers."""
    if column.ends is not None:
        return [str(column.name)]
    return [f"{column.name}_{each}" for each in (range(column.buckets) if column.buckets else column.categories)]
