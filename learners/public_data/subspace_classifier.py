"""PublicSubspaceClassifier: a private linear classifier in the span of public records, with every parameter of the map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dpaudit.errors import InvalidArgument, Unsupported
from learners.margins.mapped import Learner, MappedPlan, mapped_plan
from learners.probabilities import read_threshold
from learners.public_data.default_rule import SpanDescent
from learners.public_data.private_classifier import PrivateClassifier
from learners.public_data.subspace import public_subspace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.rows import Rows


@dataclass(kw_only=True, eq=False, repr=False)
class PublicSubspaceClassifier(PrivateClassifier):
    """A linear classifier that learns from the projections of private records on the span of public ones.

    The basis is made from the public records alone, so that the projection costs nothing; it is exact, and images are clipped after
    it. The weights lie in the span.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      public_X: public records without labels, an array or sparse matrix of shape (m, d), or a function of d that gives them, such
        as `numpy.eye`. The guarantee holds for each choice of them that does not depend on the private records.
      adjacency: "replace_one", "add_remove" (then `n_nominal` is needed) or "zero_out" (which needs centred=False).
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      dimension: most directions, public; None takes the whole span.
      centred: whether the mean of the public records is subtracted first.
      whitening: 0 to 1, by how much directions in which public records vary more are shortened.
      reach: the norm that images are clipped to, over the median norm of the public images.
      learner: a `learners.margins.mapped.Learner` for the images, such as `ProjectedDescent`; None takes the default rule.
      class_weight: a public positive weight for every class by name, for the default rule alone; None for equal ones.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Algorithm 1; docs/public_data.md, "In the span".
    Example:
      >>> import numpy as np
      >>> X = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]] * 200)
      >>> model = PublicSubspaceClassifier(epsilon=5, delta="1e-6", feature_norm=1, classes=[0, 1], public_X=[[1, 0, 0], [0, 1, 0]])
      >>> model.set_params(centred=False).fit(X, [1, 0] * 200).predict([[1, 1, 0]]).tolist(), model.coef_[0, 2]
      ([1], np.float64(0.0))
    """

    public_X: Any = field()  # noqa: N815 - features, as in scikit-learn
    dimension: int | None = None
    centred: bool = True
    whitening: Exact = 0
    reach: Exact = "1/2"
    learner: Learner | None = None

    def _plan(self, public: Public) -> MappedPlan:
        """The learner's plan for images in the span."""
        if self.feature_ranges is not None:
            self._require_ranges(public)
        found = public_subspace(
            self.public_X,
            columns=public.features,
            feature_norm=public.feature_norm,
            dimension=self.dimension,
            centred=self.centred,
            whitening=self.whitening,
            reach=self.reach,
        )
        if self.centred and public.adjacency.kind == "zero_out":
            raise Unsupported(
                "DPA604", "under zero_out the null record must stay all zeros; centring moves it. Give centred=False."
            )
        if self.decision_threshold is not None:
            read_threshold(self.decision_threshold, public.classes)
            if self.learner is not None:
                raise InvalidArgument("DPA105", "decision_threshold is for the default learner. Give one of both.")
        weights = self._weights_of_classes(public.classes)
        if weights is not None and self.learner is not None:
            raise InvalidArgument(
                "DPA105", "class_weight is for the default learner, and learner=... has its own loss. Give one of both."
            )
        return mapped_plan(found, SpanDescent(weights) if self.learner is None else self.learner, public)

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """The learner's scores of images."""
        plan: MappedPlan = self.plan_
        return plan.learner.scores(rows, plan.inner, self.weights_)
