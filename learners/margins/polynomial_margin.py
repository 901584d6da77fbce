"""PolynomialMarginClassifier: a private linear classifier of all monomials up to a degree, or of a sketch of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from dpaudit.errors import Unsupported
from learners.margins.mapped import MappedClassifier, MappedPlan
from learners.rows.polynomial import PolynomialMap, polynomial_map
from learners.rows.sketch import SketchMap, sketch_map

if TYPE_CHECKING:
    from dpaudit.exact import Exact
    from learners.estimator import Public


@dataclass(kw_only=True, eq=False, repr=False)
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

    degree: int = 2
    constant: Exact | None = None

    def _plan_facts(self, public: Public, plan: MappedPlan | None) -> dict[str, Any]:
        """Which map and which learner it was."""
        facts = {"degree": str(self.degree), "map_seed": str(self.map_seed)}
        if plan is not None:
            facts["constant"] = str(cast("PolynomialMap | SketchMap", plan.public_map).constant)
        return facts | super()._plan_facts(public, plan)

    def _map(self, public: Public) -> PolynomialMap | SketchMap:
        """The map, from public quantities and parameters."""
        constant = public.feature_norm**2 if self.constant is None else self.constant
        width, degree, columns, seed = public.features, self.degree, self.columns, self.map_seed
        public_map: PolynomialMap | SketchMap
        if columns is None:
            public_map = polynomial_map(dimension_in=width, degree=degree, constant=constant)
        else:
            public_map = sketch_map(dimension_in=width, dimension_out=columns, degree=degree, constant=constant, seed=seed)
        if public.adjacency.kind == "zero_out" and public_map.constant:
            raise Unsupported("DPA604", "under zero_out the null record must have a zero image. Give constant=0.")
        return public_map
