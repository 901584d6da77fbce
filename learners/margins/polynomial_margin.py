"""PolynomialMarginClassifier: a private linear classifier of all monomials up to a degree, or of a sketch of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from dpaudit.errors import Unsupported
from learners.margins.mapped import Learner, MappedPlan, mapped_plan
from learners.margins.mapped_classifier import MappedClassifier, noted
from learners.rows.polynomial import PolynomialMap, polynomial_map
from learners.rows.sketch import SketchMap, sketch_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.budget import Reserves
    from learners.estimator import Public
    from learners.record import PrivacyRecord


class PolynomialMarginClassifier(MappedClassifier):
    """A classifier with the power of the kernel (<x, y> + constant)^degree, (epsilon, delta)-differentially private.

    A public map turns every record into its weighted monomials, or into a sketch of them; a private linear learner sees these
    images alone, clipped to the norm (feature_norm^2 + constant)^(degree / 2).

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one", "add_remove" (then `n_nominal` is needed), or "zero_out" where the constant is 0.
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      degree: of the kernel, public, 1 to 8.
      constant: of the kernel, public, exact, in squared units of the features; None takes `feature_norm` squared.
      columns: public number of columns of the sketch; None takes every monomial, of which there may be 2**20.
      map_seed: public integer that fixes the sketch.
      learner: a `learners.margins.mapped.Learner` for the images; None takes the default rule of `PrivateClassifier`.
    Source: Bassily, Mohri, Suresh 2022, section 4; docs/maps_and_experiments.md, "Learners behind maps".
    Example:
      >>> import numpy as np
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 200)
      >>> model = PolynomialMarginClassifier(epsilon=5, delta="1e-6", feature_norm=1, classes=[0, 1])
      >>> model.fit(X, [1, 0, 1, 0] * 200).predict(X[:4]).tolist()
      [1, 0, 1, 0]
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove", "zero_out")

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters from here
        self,
        *,
        epsilon: Exact,
        delta: Exact,
        feature_norm: Exact,
        adjacency: Adjacency | str = "replace_one",
        classes: Any = None,
        budget: Reserves | None = None,
        random_state: int | np.random.Generator | None = None,
        n_nominal: int | None = None,
        degree: int = 2,
        constant: Exact | None = None,
        columns: int | None = None,
        map_seed: int = 0,
        learner: Learner | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=feature_norm,
            adjacency=adjacency,
            classes=classes,
            budget=budget,
            random_state=random_state,
            n_nominal=n_nominal,
        )
        self.degree = degree
        self.constant = constant
        self.columns = columns
        self.map_seed = map_seed
        self.learner = learner

    def _plan(self, public: Public) -> MappedPlan:
        """The learner's plan for images."""
        public_map = self._map(public)
        if public.adjacency.kind == "zero_out" and public_map.constant:
            raise Unsupported(
                "DPA604", "under zero_out the image of the null record must be zero, which it is for constant=0 only. Give that."
            )
        return mapped_plan(public_map, self.learner, public)

    def _planned(self, public: Public, classes: NDArray[Any], plan: MappedPlan | None) -> PrivacyRecord:  # type: ignore[override]
        """The record says which map it was."""
        record = super()._planned(public, classes, plan)
        facts = {"degree": str(self.degree), "map_seed": str(self.map_seed)}
        if plan is not None:
            facts["constant"] = str(cast("PolynomialMap | SketchMap", plan.public_map).constant)
        return noted(record, plan, facts)

    def _map(self, public: Public) -> PolynomialMap | SketchMap:
        """The map, from public quantities and parameters."""
        constant = public.feature_norm**2 if self.constant is None else self.constant
        if self.columns is None:
            return polynomial_map(dimension_in=public.features, degree=self.degree, constant=constant)
        return sketch_map(
            dimension_in=public.features, dimension_out=self.columns, degree=self.degree, constant=constant, seed=self.map_seed
        )
