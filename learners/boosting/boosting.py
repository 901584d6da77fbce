"""Explainable boosting: a classifier and a regressor whose score is a sum of one shape function a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.isotonic import isotonic_regression

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, integer
from learners.boosting.interactions import join_codes, read_pairs
from learners.boosting.losses import class_loss, square_loss
from learners.boosting.plans import boosting_plan
from learners.boosting.rounds import boost, one_hot
from learners.estimator import Public
from learners.probabilities import LikelyClasses, read_threshold
from learners.regression import PrivateRegressor
from learners.rows.columns import Column, describe_columns, read_cells, read_columns
from learners.rows.ingest import checked_features
from learners.rows.labels import class_weights
from learners.solvers.gradient import WEIGHT_BITS
from learners.solvers.label_scale import LABEL_BINS, bin_targets
from learners.weights import BALANCED, WeightedModel, public_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.boosting.plans import BoostingPlan
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_MOST_BINS = 256


@dataclass(frozen=True)
class Shape:
    """The part of a score that one column decides."""

    name: Any  # of the column; its position in an array
    scores: tuple[float, ...]  # log odds, or in units of the label, 0 in the mean over records; the last for missing cells
    counts: tuple[int, ...]  # noisy numbers of records in the bins
    edges: tuple[float, ...]  # ends of the bins of a range, one more than there are bins; empty for categories
    categories: tuple[Any, ...]  # empty for a range

    def draw(self, axes: Any) -> None:
        """Draw the shape into axes of matplotlib: steps over a range, bars for categories."""
        axes.set_title(str(self.name))
        if self.edges:
            axes.stairs(self.scores[:-1], self.edges, baseline=None)
        else:
            axes.bar([*map(str, self.categories), "other"], self.scores)


class Boosting(WeightedModel):
    """What classifier and regressor share: the public columns, rounds, and shapes."""

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove")
    released: ClassVar[tuple[str, ...]] = ("weights_", "counts_")

    columns: Any
    bins: int
    monotone: Mapping[Any, int] | None
    interactions: Sequence[tuple[Any, Any]] | None

    def shapes(self, output: int = 0) -> tuple[Shape, ...]:
        """The shape functions, which were released and cost nothing; `output` is the position of a class if there are several."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if self.plan_ is None:
            return ()
        weights = self.weights_.reshape(len(self.weights_), -1)[:, output] / 2**WEIGHT_BITS * self._unit()
        found, start = [], 0
        for column, size in zip(self.plan_.described, self.plan_.sizes, strict=True):
            counts, values = self.counts_[start : start + size], weights[start : start + size]
            present = np.maximum(counts, 0)
            mean = float(np.einsum("i,i->", present, values)) / max(int(present.sum()), 1)
            edges = () if column.ends is None else tuple(np.linspace(float(column.ends[0]), float(column.ends[1]), size).tolist())
            found.append(Shape(column.name, tuple((values - mean).tolist()), tuple(counts.tolist()), edges, column.categories))
            start += size
        return tuple(found)

    def _unit(self) -> float:
        """What a score of 1 is in the units of shapes."""
        return 1.0

    def _read_features(self, X: Any, *, may_be_empty: bool) -> Features:  # noqa: N803 - scikit-learn's name
        """The bin of every cell."""
        columns = read_columns(self.columns, X)
        if any(column.buckets for column in columns):
            raise Unsupported("DPA604", "text has no bins for shapes. Encode it for a linear learner by TableEncoder, or drop it.")
        cells = read_cells(X, columns)
        codes = np.stack([column.bins(part, self._bins()) for column, part in zip(columns, cells, strict=True)], axis=1)
        return checked_features(codes, may_be_empty=may_be_empty)

    def _planned_rounds(self, public: Public, kinds: int, *, regression: bool) -> BoostingPlan:
        """The default rule, once the parameters are checked."""
        described = describe_columns(self.columns, public.features)
        read_monotone(self.monotone, described)
        pairs = read_pairs(self.interactions, described)
        return boosting_plan(public, described, self._bins(), kinds, regression=regression, pairs=pairs)

    def _bins(self) -> int:
        """Parts of a range."""
        return integer(self.bins, "bins", lower=2, upper=_MOST_BINS)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: BoostingPlan) -> Rows:  # type: ignore[override]
        """A 1 in the bin of every column."""
        codes = np.asarray(features, dtype=np.int64)
        joined = join_codes(codes, plan.described[: codes.shape[1]], plan.pairs, plan.bins)
        return one_hot(joined, plan.sizes, labels)

    def _tie(self, plan: BoostingPlan) -> Any:
        """The monotone constraints, as a map of shapes; None for none."""
        signs = read_monotone(self.monotone, plan.described)
        if not signs:
            return None
        ends = np.cumsum([0, *plan.sizes])
        parts = [(slice(ends[place], ends[place + 1] - 1), sign) for place, sign in signs.items()]

        def tie(shapes: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
            """Nearest shapes that rise or fall, with the noisy counts as weights."""
            for part, sign in parts:
                shapes[part, 0] = isotonic_regression(shapes[part, 0], sample_weight=counts[part] + 1, increasing=sign > 0)
            return shapes

        return tie

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Sums of the shapes."""
        return np.asarray(rows.margins(self.weights_) / 2.0**WEIGHT_BITS)

    def _plan_facts(self, public: Public, plan: BoostingPlan | None) -> dict[str, Any]:
        """The columns and their bins."""
        described = describe_columns(self.columns, public.features)
        facts: dict[str, Any] = {"columns": [column.fact for column in described], "bins": self._bins()}
        if self.interactions:
            facts["interactions"] = [list(map(str, pair)) for pair in self.interactions]
        return {**super()._plan_facts(public, plan), **facts, **self._weight_facts(public)}

    def _learn_with(
        self, rows: Rows, kinds: NDArray[np.int64], plan: BoostingPlan, loss: Any, source: BitSource | None
    ) -> dict[str, Any]:
        """The planned releases."""
        spans = [column.ends is not None for column in plan.described]
        shapes = boost(rows, kinds, plan, spans, loss, self._tie(plan), source)
        return {"weights_": shapes.weights, "counts_": shapes.counts}


def read_monotone(given: Any, columns: tuple[Column, ...]) -> dict[int, int]:
    """The columns whose shapes shall rise (1) or fall (-1), by their position."""
    if given is None:
        return {}
    places = {column.name: place for place, column in enumerate(columns)}
    if not isinstance(given, Mapping) or not set(given) <= set(places):
        raise InvalidArgument("DPA105", "monotone must map names of columns to 1 or -1, such as monotone={'age': 1}.")
    for name, sign in given.items():
        if sign not in (1, -1) or columns[places[name]].ends is None:
            raise InvalidArgument("DPA103", f"monotone is 1 or -1 for a column with a range, got something else for {name!r}.")
    return {places[name]: int(sign) for name, sign in given.items()}


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateBoostingClassifier(Boosting, LikelyClasses):
    """An explainable boosting machine that is (epsilon, delta)-differentially private: log odds are a sum of shapes, one a column.

    Numbers are cut into equal bins of their public ranges, categories and missing cells have bins of their own. One noisy histogram
    of records and classes, and then noisy sums of slopes in all bins, round after round, share one budget. Shapes are read,
    plotted and constrained after noise, at no cost.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      columns: what is public about each column: a tuple (low, high) for numbers, which are cut to it, or a list of categories; as
        a mapping by name for a table of pandas or polars, a sequence for an array, or one tuple for all columns.
      adjacency: "replace_one", or "add_remove" (then `n_nominal` is needed).
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      bins: equal parts of every range, 2 to 256.
      monotone: for two classes, a mapping of columns with a range to 1 for a shape that rises or -1 for one that falls.
      interactions: public pairs of columns that are read together as well, such as [("age", "hours")]; each costs as a column does.
      decision_threshold: for two classes, the public probability from which on the second is predicted; None for the likelier.
      class_weight: a public positive weight for every class by name, "balanced" for weights by noisy counts of the classes, which
        the budget covers, or None for equal ones.
      sample_weight_bound: the public largest weight of a record, exact, positive; larger ones that `fit` is given are cut to it.
    Source: Nori, Caruana, Bu, Shen, Kulkarni 2021; docs/boosting.md.
    Example:
      >>> import numpy as np
      >>> X = np.linspace(-1, 1, 4000)[:, np.newaxis]
      >>> model = PrivateBoostingClassifier(epsilon=5, delta="1e-6", columns=(-1, 1), classes=[0, 1])
      >>> model.fit(X, (np.abs(X[:, 0]) > 0.5).astype(int)).predict([[-0.9], [0.0], [0.9]]).tolist()
      [1, 0, 1]
    """

    feature_norm: Exact = field(default=1, init=False)  # ranges and bins take its place
    delta: Exact = field()
    columns: Any = field()
    n_nominal: int | None = None
    bins: int = 32
    monotone: Mapping[Any, int] | None = None
    interactions: Sequence[tuple[Any, Any]] | None = None
    decision_threshold: Any = None
    class_weight: Mapping[Any, Exact] | str | None = None

    def _kinds(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The classes, each with a weight if there are any."""
        kinds = super()._kinds(labels)
        if self.class_weight not in (None, BALANCED):
            class_weights(self.class_weight, kinds)
        return kinds

    def _plan(self, public: Public) -> BoostingPlan:
        """The default rule."""
        if self.monotone and public.classes > 2:
            raise InvalidArgument("DPA103", f"monotone is for two classes, got {public.classes}. Leave it out.")
        if self.decision_threshold is not None:
            read_threshold(self.decision_threshold, public.classes)
        public_weights(self.class_weight, self.classes, public.classes)
        return self._planned_rounds(public, public.classes, regression=False)

    def _plan_facts(self, public: Public, plan: BoostingPlan | None) -> dict[str, Any]:
        """The columns, and the weights of the classes."""
        weights = public_weights(self.class_weight, self.classes, public.classes)
        given = {} if self.class_weight is None else {"class_weight": BALANCED if weights is None else list(weights)}
        return {**super()._plan_facts(public, plan), **given}

    def _learn(self, rows: Rows, plan: BoostingPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned releases, labels counted by class."""
        weights = public_weights(self.class_weight, self.classes, plan.kinds)
        loss = partial(class_loss, weights=weights, balanced=self.class_weight == BALANCED)
        return self._learn_with(rows, rows.labels, plan, loss, source)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateBoostingRegressor(Boosting, PrivateRegressor):
    """An explainable boosting machine for numbers, as `PrivateBoostingClassifier` for classes: predictions are a sum of shapes.

    Residuals are cut where a noisy histogram of the labels, part of the first release, suggests.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      columns: what is public about each column, as for `PrivateBoostingClassifier`.
      label_bound: largest size of a label, public, exact, positive; others are cut to it, and what is no number counts as 0.
      adjacency: "replace_one", or "add_remove" (then `n_nominal` is needed).
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      bins: equal parts of every range, 2 to 256.
      monotone: a mapping of columns with a range to 1 for a shape that rises or -1 for one that falls.
      interactions: public pairs of columns that are read together as well, such as [("age", "hours")]; each costs as a column does.
      sample_weight_bound: the public largest weight of a record, exact, positive; larger ones that `fit` is given are cut to it.
    Source: Nori, Caruana, Bu, Shen, Kulkarni 2021; docs/boosting.md.
    Example:
      >>> import numpy as np
      >>> X = np.linspace(-1, 1, 4000)[:, np.newaxis]
      >>> model = PrivateBoostingRegressor(epsilon=5, delta="1e-6", columns=(-1, 1), label_bound=2, random_state=1)
      >>> model.fit(X, X[:, 0] ** 2).predict([[0.0], [0.9]]).round(1).tolist()
      [0.0, 0.8]
    """

    feature_norm: Exact = field(default=1, init=False)  # ranges and bins take its place
    delta: Exact = field()
    columns: Any = field()
    n_nominal: int | None = None
    bins: int = 32
    monotone: Mapping[Any, int] | None = None
    interactions: Sequence[tuple[Any, Any]] | None = None

    def _unit(self) -> float:
        """The bound of the labels."""
        return float(Fraction(self.label_bound))

    def _plan(self, public: Public) -> BoostingPlan:
        """The default rule."""
        return self._planned_rounds(public, LABEL_BINS, regression=True)

    def _learn(self, rows: Rows, plan: BoostingPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned releases, labels counted by bins of their range."""
        return self._learn_with(rows, bin_targets(rows.labels), plan, square_loss, source)
