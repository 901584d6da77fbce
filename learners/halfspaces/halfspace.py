"""HalfspaceClassifier: a halfspace for records with a margin, by noisy descent on unit records in few columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.exact import Exact, in_range, integer
from learners.estimator import Public
from learners.halfspaces.descent import Descent, descend, descent
from learners.halfspaces.literal import LiteralDescent, descend_literally, literal_descent
from learners.halfspaces.unit_records import UnitRecordClassifier, open_fraction
from learners.halfspaces.utility import (
    HalfspaceBound,
    descent_bound,
    kept_margin,
    literal_bound,
    needed_columns,
    projection_failure,
)
from learners.rows.labels import require_two
from learners.rows.signs import sign_map
from learners.solvers.phased import WEIGHT_BITS

if TYPE_CHECKING:
    from dpaudit.claims import Adjacency
    from learners.budget import Reserves
    from learners.record import Charge
    from learners.rows.rows import Rows
    from learners.rows.signs import SignMap
    from mechanisms.sampling.random import BitSource

LATTICE_BITS: Final = 20

_SPREAD: Final = 16
"""With 16 / gamma^2 columns, signs move a margin of gamma by a quarter of it in standard deviation."""

_MOST_COLUMNS: Final = 2048
_LITERAL_FRACTION: Final = Fraction(1, 100)
_LITERAL_HIGH: Final = Fraction(96, 100)
_MOST_RUNS: Final = 64


@dataclass(frozen=True)
class HalfspacePlan:
    """The plan of a fit (Nguyen, Ullman, Zakynthinou 2020, Algorithm 3)."""

    image: SignMap | None  # the map to fewer columns, or None
    distortion: Fraction  # by which part the map may change squared norms before margins are lost; 0 without a map
    runs: Descent | LiteralDescent  # the descent
    lattice_bits: int = LATTICE_BITS  # fineness of the lattice, of unit records and of their images
    intercept: int = 0  # 0, none

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        return self.runs.charges

    def bound(self, failure: Fraction) -> HalfspaceBound:
        """Bound the error on records that all have the margin."""
        records, columns, unmapped = self.runs.records, self.runs.release.dimension, 0.0
        if self.image is not None:
            unmapped = projection_failure(records=records, columns=columns, distortion=self.distortion)
        if isinstance(self.runs, LiteralDescent):
            return literal_bound(self.runs, failure=float(failure), unmapped=unmapped)
        return descent_bound(self.runs, failure=float(failure), unmapped=unmapped)


class HalfspaceClassifier(UnitRecordClassifier):
    """A halfspace through the origin, for two classes that some halfspace separates with a margin, in any number of features.

    Every record is divided by its norm, mapped to few columns by public random signs and divided by its norm again; there, noisy
    descent on a hinge loss learns. The price holds for all records; only the promised accuracy needs the margin. For a threshold
    other than zero, append a constant column to the features.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      margin: gamma, public, exact, above 0 and at most 1: of records of norm 1.
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      adjacency: "replace_one".
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      dimension: columns that are learned in, public; None takes 16 / gamma^2, at most 2048. Without fewer there is no map.
      jl_fraction: which part of the margin the map may take, exact, above 0 and below 1.
      seed: public, of the map, chosen before the records are seen.
      runs: how many runs of descent there are; of several, one is chosen privately by its errors.
      choice_share: part of epsilon for that choice, exact, between 0 and 1.
      failure: probability with which the promised accuracy may be missed, exact, between 0 and 1.
      faithful: the published algorithm with its own constants: a hundredth of the margin for the map, steps for single records, its
        noise, a choice by hinge loss; its sensitivities and its budget are put right. For at most 500 records.
    Source: Nguyen, Ullman, Zakynthinou 2020, Algorithms 1 and 3; docs/halfspaces.md, "Descent".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 500)
      >>> model = HalfspaceClassifier(epsilon=2, delta="1e-6", margin="1/2", classes=[0, 1]).fit(X, [1, 0] * 500)
      >>> model.predict([[7.0, 7.0]]).tolist(), model.privacy_.epsilon <= 2
      ([1], True)
    """

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters from here
        self,
        *,
        epsilon: Exact,
        delta: Exact,
        margin: Exact,
        classes: Any = None,
        adjacency: Adjacency | str = "replace_one",
        budget: Reserves | None = None,
        random_state: int | np.random.Generator | None = None,
        dimension: int | None = None,
        jl_fraction: Exact = "1/3",
        seed: int = 0,
        runs: int = 1,
        choice_share: Exact = "1/10",
        failure: Exact = "1/20",
        faithful: bool = False,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=1,
            adjacency=adjacency,
            classes=classes,
            budget=budget,
            random_state=random_state,
        )
        self.margin = margin
        self.dimension = dimension
        self.jl_fraction = jl_fraction
        self.seed = seed
        self.runs = runs
        self.choice_share = choice_share
        self.failure = failure
        self.faithful = faithful

    @property
    def utility_(self) -> HalfspaceBound:
        """The certified bound on the error of records that have the margin: a bound, vacuous, or void and why."""
        bound: HalfspaceBound = self.plan_.bound(open_fraction(self.failure, "failure"))
        return bound

    def _plan(self, public: Public) -> HalfspacePlan:
        """Columns, map, thresholds and runs, from public numbers."""
        require_two(public.classes)
        self._require_truth_values("faithful")
        margin = in_range(self.margin, "margin", lower=0, upper=1, lower_open=True)
        fraction = _LITERAL_FRACTION if self.faithful else open_fraction(self.jl_fraction, "jl_fraction")
        failure, share = open_fraction(self.failure, "failure"), open_fraction(self.choice_share, "choice_share")
        count = integer(self.runs, "runs", lower=1, upper=_MOST_RUNS)
        columns = min(public.features, self._columns(public, margin, fraction * margin, failure))
        image = None
        if columns < public.features:
            image = sign_map(dimension_in=public.features, dimension_out=columns, seed=self.seed)
        kept = kept_margin(margin, columns_in=public.features, columns=columns, jl_fraction=fraction, lattice_bits=LATTICE_BITS)
        bound, distortion = 2**LATTICE_BITS, Fraction(0) if image is None else fraction * margin
        if self.faithful:
            ends = min(_LITERAL_HIGH * margin, kept), margin / 10
            high, low = (math.floor(end * (bound << WEIGHT_BITS)) for end in ends)
            made = literal_descent(public, columns=columns, bound=bound, high=high, low=low, failure=failure)
            return HalfspacePlan(image, distortion, made)
        high = math.floor(kept * (bound << WEIGHT_BITS))
        runs = descent(public, columns=columns, bound=bound, high=high, low=high // 10, runs=count, choice_share=share)
        return HalfspacePlan(image, distortion, runs)

    def _columns(self, public: Public, margin: Fraction, distortion: Fraction, failure: Fraction) -> int:
        """Columns that are asked for."""
        if self.dimension is not None:
            return integer(self.dimension, "dimension", lower=1)
        if self.faithful:
            return needed_columns(records=public.records, distortion=distortion, failure=failure / 4)
        return min(_MOST_COLUMNS, math.ceil(_SPREAD / margin**2))

    def _facts(self, plan: HalfspacePlan, _public: Public) -> dict[str, Any]:
        """Columns, runs, and what is promised."""
        return {
            "columns": plan.runs.release.dimension,
            "runs": f"{plan.runs.runs} of {plan.runs.steps} steps",
            "utility": str(plan.bound(open_fraction(self.failure, "failure"))),
        }

    def _learn(self, rows: Rows, plan: HalfspacePlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The runs."""
        if isinstance(plan.runs, LiteralDescent):
            return {"embedded_weights_": descend_literally(rows, plan.runs, source)}
        return {"embedded_weights_": descend(rows, plan.runs, source)}
