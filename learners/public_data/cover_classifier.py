"""PublicCoverClassifier: the classifier of least summed hinge loss out of a public cover, chosen at pure epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, integer, positive
from learners.choices.levels import choice_release
from learners.estimator import PrivateEstimator, Public
from learners.public_data.covers import Hypotheses, LinearCover
from learners.public_data.subspace import RECORD_BITS
from learners.record import Charge
from learners.rows.labels import require_two
from learners.solvers.hinge import hinges
from mechanisms.exponential import ExponentialMechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.public_data.covers import Candidates
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_LOSS_BITS: Final = 10


@dataclass(frozen=True, eq=False)
class CoverPlan:
    """One choice out of a public cover."""

    candidates: Candidates
    margin: int  # where the hinge loss ends, in the units of the candidates' scores
    penalties: NDArray[np.int64] | int  # added to the summed loss of each candidate, the same for all data
    mechanism: ExponentialMechanism  # its sensitivity is what one record can change of a summed loss, on the grid of the losses
    lattice_bits = RECORD_BITS
    intercept = 0

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold."""
        return (Charge((choice_release(self.mechanism),)),)


@dataclass(kw_only=True, eq=False, repr=False)
class PublicCoverClassifier(PrivateEstimator):
    """A classifier out of any class that a few public records cover, at pure epsilon.

    Candidates that look alike on the public records count as one; the exponential mechanism chooses by the hinge loss, whose range
    over all scores, and not its steepness alone, bounds what one record can change.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      public_X: public records without labels, an array or sparse matrix of shape (m, d), or a function of d that gives them. The
        guarantee holds for each choice of them that does not depend on the private records, however badly they cover.
      delta: at which `privacy_` states epsilon, in [0, 1); the choice is pure whatever it is.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      hypotheses: `LinearCover`, `NormCover` or `NetworkCover`; None takes the first with its defaults.
      margin: where the hinge loss ends, as a part of the largest margin, public, exact, above 0, at most 1.
      ridge: added to the loss of each record for weights of the largest norm, in proportion to the squared norm; public, exact,
        0 to 2**20, linear candidates only.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Algorithm 2; docs/public_data.md, "The choice".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 200)
      >>> model = PublicCoverClassifier(epsilon=1, feature_norm=1, classes=[0, 1], public_X=np.eye(2)).fit(X, [1, 0] * 200)
      >>> model.predict([[0.6, 0.2], [-0.8, 0.2]]).tolist(), model.privacy_.epsilon
      ([1, 0], Fraction(1, 1))
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one",)
    released: ClassVar[tuple[str, ...]] = ("place_",)
    multi_class: ClassVar[bool] = False

    public_X: Any  # noqa: N815 - features, as in scikit-learn
    hypotheses: Hypotheses | None = None
    margin: Exact = "1/4"
    ridge: Exact = 0

    def _plan(self, public: Public) -> CoverPlan:
        """The cover, and the noise for what one record can change."""
        require_two(public.classes)
        part = in_range(positive(self.margin, "margin"), "margin", lower=0, upper=1)
        hypotheses = instance_of(LinearCover() if self.hypotheses is None else self.hypotheses, Hypotheses, "hypotheses")
        candidates = hypotheses.cover(self.public_X, public)
        margin = max(1, int(part * candidates.largest))
        _, change = hinges(margin=margin, bits=_LOSS_BITS, largest=candidates.largest)
        mechanism = ExponentialMechanism(sensitivity=change, epsilon=public.epsilon, adjacency=public.adjacency)
        return CoverPlan(candidates, margin, self._penalties(public.records, candidates), mechanism)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: CoverPlan) -> Rows:  # type: ignore[override]
        """Records as the candidates read them."""
        return plan.candidates.map_rows(super()._rows(features, labels, plan))

    def _learn(self, rows: Rows, plan: CoverPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """One choice."""
        loss, _ = hinges(margin=plan.margin, bits=_LOSS_BITS, largest=plan.candidates.largest)
        losses = plan.candidates.totals(rows, loss) + plan.penalties
        return {"place_": plan.mechanism.release(-losses, source)}

    def _penalties(self, records: int, candidates: Candidates) -> NDArray[np.int64] | int:
        """Return what the ridge adds to summed losses: a function of public things, which no record changes."""
        ridge = in_range(self.ridge, "ridge", lower=0, upper=2**20)
        if ridge == 0:
            return 0
        weights = getattr(candidates, "weights", None)
        if weights is None:
            raise InvalidArgument("DPA103", "ridge needs linear candidates. Leave it out, or give hypotheses=LinearCover().")
        squares = np.square(weights / 2.0**16).sum(axis=0)
        return np.asarray(np.rint(float(ridge) * records * 2.0**_LOSS_BITS * squares).astype(np.int64))

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Scores as parts of the largest margin."""
        candidates = self.plan_.candidates
        return np.asarray(candidates.scores(rows, integer(self.place_, "place_")) / float(candidates.largest))

    def _plan_facts(self, _public: Public, plan: CoverPlan | None) -> dict[str, Any]:
        """How many candidates there were, and how well they cover."""
        if plan is None:
            return {}
        return {"candidates": plan.candidates.size, "cover_radius": round(plan.candidates.radius, 6)}
