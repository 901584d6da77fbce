"""Learners behind a public map: records are mapped one by one, and the learner sees nothing but their images."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, positive
from learners.estimator import PrivateEstimator
from learners.margins.erm import ErmPlan, Variant, erm_plan, run
from learners.margins.rivals import against_rivals, by_class, rival_bound
from learners.rows.labels import outputs_of
from learners.rows.rows import row_bound
from learners.solvers.gradient import WEIGHT_BITS, solve
from learners.solvers.phased import WEIGHT_BITS as BALL_BITS
from learners.solvers.plans import SolverPlan, default_plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from learners.estimator import Plan, Public
    from learners.record import Charge
    from learners.rows.images import PublicMap
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_LATTICE_BITS: Final = 16
"""Fineness of the lattice of records before they are mapped."""

_PHASED_BITS: Final = 20


class Learner(Protocol):
    """The protocol of a learner behind a map: a frozen value with its plan, its releases and its scores."""

    def plan(self, public: Public) -> Plan:
        """Plan a fit on rows of these public quantities."""
        ...

    def learn(self, rows: Rows, plan: Any, source: BitSource | None) -> NDArray[Any]:
        """Make the planned releases and nothing else; the weights."""
        ...

    def scores(self, rows: Rows, plan: Any, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Scores of rows, of shape (n,) for two classes and (n, K) for more."""
        ...


@dataclass(frozen=True)
class NoisyDescent:
    """The default rule of `PrivateClassifier`, as a value."""

    def plan(self, public: Public) -> SolverPlan:
        """The default rule."""
        return default_plan(public)

    def learn(self, rows: Rows, plan: SolverPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The planned sums, and weights from them."""
        return solve(rows, plan, source)

    def scores(self, rows: Rows, plan: SolverPlan, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Margins, exact up to their division by the units."""
        return rows.margins(weights) / float(1 << (WEIGHT_BITS + plan.lattice_bits))


@dataclass(frozen=True)
class PhasedDescent:
    """The passes of `MarginClassifier` in a secret order over images, as a value; several classes each against a rival.

    Args:
      margin: in units of the features of the images, public, exact, above 0.
      weight_norm: radius of the ball of weights, of all classes together, public, exact, positive.
      variant: direct, permutation or faithful, as for `private_erm`.
      intercept: part of the norm of images that is appended as a constant, public, exact, 0 to 1; none under zero_out.
      rival_seed: public seed of the rivals of several classes.
    Source: Bassily, Mohri, Suresh 2022, Algorithm 4.
    """

    margin: Exact
    weight_norm: Exact = 1
    variant: Variant = "direct"
    intercept: Exact = Fraction(1, 8)
    rival_seed: int = 0

    def plan(self, public: Public) -> PhasedPlan:
        """The passes, over rows that end in the constant."""
        part, outputs = in_range(self.intercept, "intercept", lower=0, upper=1), outputs_of(public.classes)
        integer(self.rival_seed, "rival_seed", lower=0)
        constant = 0 if public.adjacency.kind == "zero_out" else math.floor(part * 2**_PHASED_BITS)
        bound = row_bound(_PHASED_BITS, constant)
        bound = bound if outputs == 1 else rival_bound(bound)
        largest = positive(self.weight_norm, "weight_norm") * public.feature_norm * bound / 2**_PHASED_BITS
        made = erm_plan(
            records=public.records,
            columns=(public.features + (constant > 0)) * outputs,
            bound=bound,
            margin=positive(self.margin, "margin") / largest,
            epsilon=public.epsilon,
            delta=public.delta,
            adjacency=public.adjacency,
            variant=self.variant,
        )
        return PhasedPlan(_PHASED_BITS, constant, public.classes, made)

    def learn(self, rows: Rows, plan: PhasedPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The passes, and weights from them."""
        if plan.classes > 2:
            rows = against_rivals(rows, classes=plan.classes, seed=self.rival_seed)
        return by_class(run(rows, plan.erm, source), plan.classes)

    def scores(self, rows: Rows, plan: PhasedPlan, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Margins in units of the radius and of the norm of images."""
        return rows.margins(weights) / float(1 << (BALL_BITS + plan.lattice_bits))


@dataclass(frozen=True)
class PhasedPlan:
    """The plan of `PhasedDescent`."""

    lattice_bits: int  # images have at most 2**lattice_bits steps without the constant
    intercept: int  # a constant in steps that every image ends in; 0 for none
    classes: int
    erm: ErmPlan  # the passes

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Those of the passes."""
        return self.erm.charges


@dataclass(frozen=True)
class MappedPlan:
    """The plan of a fit behind a map."""

    public_map: PublicMap
    learner: Learner  # what sees the images
    inner: Plan  # its plan
    lattice_bits = _LATTICE_BITS
    intercept = 0

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Those of the learner: the map is fixed before any record is read and costs nothing."""
        return self.inner.charges

    def images(self, rows: Rows) -> Rows:
        """Images on the learner's own lattice, with its constant behind them."""
        return self.public_map.apply(rows, lattice_bits=self.inner.lattice_bits, intercept=self.inner.intercept)


def mapped_plan(public_map: PublicMap, learner: Learner | None, public: Public) -> MappedPlan:
    """The plan of a learner behind a map."""
    used = NoisyDescent() if learner is None else learner
    if not all(callable(getattr(used, part, None)) for part in ("plan", "learn", "scores")):
        kind = type(used).__name__
        raise InvalidArgument("DPA105", f"a learner behind a map has plan, learn and scores, such as NoisyDescent(), got a {kind}.")
    images = replace(public, features=public_map.dimension_out, feature_norm=public_map.image_norm(public.feature_norm))
    return MappedPlan(public_map, used, used.plan(images))


@dataclass(kw_only=True, eq=False, repr=False)
class MappedClassifier(PrivateEstimator):
    """A classifier whose plan is a `MappedPlan`; a subclass adds its map and the parameters of that."""

    released: ClassVar[tuple[str, ...]] = ("weights_",)

    delta: Exact = field()
    n_nominal: int | None = None
    columns: int | None = None
    map_seed: int = 0
    learner: Learner | None = None

    @abstractmethod
    def _map(self, public: Public) -> PublicMap:
        """Make the map from public quantities and parameters."""

    def _plan(self, public: Public) -> MappedPlan:
        """The learner's plan for images."""
        return mapped_plan(self._map(public), self.learner, public)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: MappedPlan) -> Rows:  # type: ignore[override]
        """Images of the records, for learning and for scores alike."""
        return plan.images(super()._rows(features, labels, plan))

    def _learn(self, rows: Rows, plan: MappedPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The learner's releases on images."""
        return {"weights_": plan.learner.learn(rows, plan.inner, source)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """The learner's scores of images."""
        plan: MappedPlan = self.plan_
        return plan.learner.scores(rows, plan.inner, self.weights_)

    def _plan_facts(self, _public: Public, plan: MappedPlan | None) -> dict[str, Any]:
        """The width of the images, and the learner that sees them."""
        return {} if plan is None else {"columns": str(plan.public_map.dimension_out), "images": str(plan.learner)}
