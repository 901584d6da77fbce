"""PrivateClassifier: a linear classifier by noisy sums over all records, whose default rule is the same for every problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import positive, rational
from learners.estimator import Public
from learners.probabilities import LikelyClasses, read_threshold
from learners.public_data.plans import map_rows, solver_of, subspace_facts, subspace_of
from learners.rows.labels import class_weights
from learners.rows.ranges import read_ranges, require_dense
from learners.solvers.gradient import WEIGHT_BITS, linear_rule, solve
from learners.solvers.plans import SolverPlan, default_plan
from learners.weights import BALANCED, WeightedModel, public_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.public_data.plans import AnyPlan
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource


_NO_BALANCE: Final = (
    'class_weight="balanced" needs two classes, fewer than 1024 columns, an intercept and no public_X: the share of the second '
    "class comes from the first release of that rule. Give public weights, such as class_weight={0: 1, 1: 10}."
)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateClassifier(WeightedModel, LikelyClasses):
    """A linear classifier that is (epsilon, delta)-differentially private, with nothing to tune.

    Solver, steps and noise follow from public quantities: the numbers of records, features and classes, epsilon, delta and the
    neighbouring relation. Several classes share one composition. Public records, if there are any, say in which directions
    records vary: the private ones are then projected on as many of these as their number and the privacy parameters allow.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one", "add_remove" (then `n_nominal` is needed) or "zero_out" (then there is no intercept).
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      public_X: public records without labels, an array or sparse matrix of shape (m, d), or a function of d that gives them; None
        for none. They must not depend on the private records: the guarantee holds for each choice of them.
      class_weight: a public positive weight for every class by name, such as {0: 1, 1: 10}, of which only ratios matter, down to
        1/4096; "balanced" for weights by a noisy share of the classes, which the budget covers, for two classes in fewer than 1024
        columns; None for equal ones. Scores and probabilities are then those of records so weighted.
      feature_ranges: a public pair (low, high) for every column: entries are cut to it and become numbers from -1 to 1, and
        `feature_norm` bounds these; None takes columns in their own units, where one of far larger values drowns the others.
      decision_threshold: for two classes, the public probability from which on the second is predicted; None for the likelier.
      sample_weight_bound: the public largest weight of a record, exact, positive; larger ones that `fit` is given are cut to it.
    Source: Bassily, Smith, Thakurta 2014; docs/linear_learners.md, "The default rule"; docs/public_data.md.
    Example:
      >>> import numpy as np
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 200)
      >>> model = PrivateClassifier(epsilon=5, delta="1e-6", feature_norm=1, classes=[0, 1]).fit(X, [1, 0] * 200)
      >>> model.predict([[1.0, 1.0]]).tolist(), model.privacy_.epsilon <= 5
      ([1], True)
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove", "zero_out")
    released: ClassVar[tuple[str, ...]] = ("weights_",)

    delta: Exact = field()
    n_nominal: int | None = None
    public_X: Any = None  # noqa: N815 - features, as in scikit-learn
    class_weight: Mapping[Any, Exact] | str | None = None
    feature_ranges: Any = None
    decision_threshold: Any = None

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features in their own units: shape (1, d) for two classes, (K, d) for more.

        With public records, those of what is projected, before it is clipped.
        """
        weights, image = self._weights(), subspace_of(self.plan_)
        if image is not None:
            return np.asarray(image.transpose(weights[:, : image.dimension_out].T).T)
        own = weights[:, : self.n_features_in_] / float(positive(self.feature_norm, "feature_norm"))
        return own if self.feature_ranges is None else own / read_ranges(self.feature_ranges, self.n_features_in_).halves

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constant added to the score of every record: shape (1,) for two classes, (K,) for more."""
        weights, image, plan = self._weights(), subspace_of(self.plan_), solver_of(self.plan_)
        width = self.n_features_in_ if image is None else image.dimension_out
        constants = weights[:, width:].sum(axis=1) * (plan.intercept / 2**plan.lattice_bits)
        if image is not None:
            return np.asarray(constants - image.centre_scores(weights[:, :width].T))
        if self.feature_ranges is None:
            return np.asarray(constants)
        return np.asarray(constants - self.coef_ @ read_ranges(self.feature_ranges, width).centres)

    def _weights(self) -> NDArray[np.float64]:
        """The released weights, one class a row, for rows in units of the largest norm."""
        return np.asarray(np.atleast_2d(self.weights_.T) / 2**WEIGHT_BITS)

    def _plan(self, public: Public) -> AnyPlan:
        """The default rule."""
        weights = self._weights_of_classes(public.classes)
        if self.decision_threshold is not None:
            read_threshold(self.decision_threshold, public.classes)
        if self.feature_ranges is not None:
            self._require_ranges(public)
        if public.weighted and (self.public_X is not None or public.adjacency.kind == "zero_out"):
            raise Unsupported("DPA604", "sample_weight is for fits without public_X and not under zero_out. Leave it out.")
        if self.public_X is None:
            plan = default_plan(public)
            if self.class_weight == BALANCED and plan.profile is None:
                raise Unsupported("DPA604", _NO_BALANCE)
            return plan
        if self.class_weight == BALANCED:
            raise Unsupported("DPA604", _NO_BALANCE)
        from learners.public_data.default_rule import public_plan

        return public_plan(self.public_X, public, weights)

    def _kinds(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The classes, each with a weight if there are any."""
        kinds = super()._kinds(labels)
        if self.class_weight not in (None, BALANCED):
            class_weights(self.class_weight, kinds)
        return kinds

    def _weights_of_classes(self, classes: int) -> tuple[int, ...] | None:
        """The public weights of the classes in their order."""
        return public_weights(self.class_weight, self.classes, classes)

    def _public(self, features: Features, classes: int) -> Public:
        """The public quantities; under ranges features have to be dense."""
        if self.feature_ranges is not None:
            require_dense(features)
        return super()._public(features, classes)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: AnyPlan) -> Rows:  # type: ignore[override]
        """Records, or their images under the map of the public records."""
        if self.feature_ranges is not None:
            features = read_ranges(self.feature_ranges, features.shape[1]).scale(features)
        return map_rows(super()._rows(features, labels, plan), plan)

    def _require_ranges(self, public: Public) -> None:
        """Refuse ranges that are none, or that go with nothing else that was given."""
        read_ranges(self.feature_ranges, public.features)
        if self.public_X is not None:
            raise InvalidArgument("DPA105", "feature_ranges and public_X are both given. Scale both tables by the ranges first.")
        if public.adjacency.kind == "zero_out":
            raise Unsupported(
                "DPA604", "under zero_out the null record must stay all zeros; feature_ranges move it. Scale columns first."
            )

    def _learn(self, rows: Rows, plan: AnyPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned sums; everything else is computed from them."""
        if isinstance(plan, SolverPlan):
            weights = self._weights_of_classes(max(2, plan.outputs))
            rule = linear_rule(plan.outputs, weights, balanced=self.class_weight == BALANCED)
            return {"weights_": solve(rows, plan, source, rule)}
        return {"weights_": plan.learner.learn(rows, plan.inner, source)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins, exact up to their division by the units."""
        return rows.margins(self.weights_) / float(1 << (WEIGHT_BITS + solver_of(self.plan_).lattice_bits))

    def _plan_facts(self, public: Public, plan: AnyPlan | None) -> dict[str, Any]:
        """The directions that records are projected on, the weights of the classes, and the ranges of the columns."""
        weights = self._weights_of_classes(public.classes)
        facts = subspace_facts(plan) | ({} if weights is None else {"class_weight": list(weights)}) | self._weight_facts(public)
        if self.class_weight == BALANCED:
            facts["class_weight"] = BALANCED
        if self.feature_ranges is not None:
            facts["feature_ranges"] = [[str(rational(end, "an end of a range")) for end in pair] for pair in self.feature_ranges]
        return facts
