"""MarginClassifier: a linear classifier for data with a margin, learned in few columns by phased descent in a secret order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.exact import in_range, integer, positive, shown
from learners.estimator import PrivateEstimator, Public
from learners.margins.bounds import UtilityBound, utility_bound
from learners.margins.erm import ErmPlan, Variant, erm_plan, known_order_note, run
from learners.margins.rivals import against_rivals, by_class, rival_bound
from learners.rows.hadamard import HadamardMap, hadamard_map
from learners.rows.labels import outputs_of
from learners.rows.rows import row_bound
from learners.rows.signs import SignMap, sign_map
from learners.solvers.gradient import WEIGHT_BITS, on_lattice
from learners.solvers.phased import WEIGHT_BITS as BALL_BITS
from mechanisms.roots import root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.record import Charge, PrivacyRecord
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_BITS: Final = 20
_COARSE_BITS: Final = 16
_MANY_COLUMNS: Final = 10**5
_DENSE_COLUMNS: Final = 2**14
_INTERCEPT: Final = Fraction(1, 8)
_FEWEST_COLUMNS: Final = 32
_MOST_COLUMNS: Final = 2048
_DEVIATIONS: Final = 3
"""Standard deviations of the squared norm of an image that stay within the ball of the images."""


@dataclass(frozen=True)
class MarginPlan:
    """The plan of a fit (Bassily, Mohri, Suresh 2022, Algorithm 2)."""

    lattice_bits: int  # rows have at most 2**lattice_bits steps without the intercept
    intercept: int  # a constant in steps that every row ends in; 0 for none
    classes: int
    projection: HadamardMap | SignMap | None  # the map to fewer columns
    clip: Fraction  # largest norm of an image that is kept, in units of the features
    columns: int  # of the rows, with the intercept and before the map
    erm: ErmPlan  # the passes

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        return self.erm.charges


@dataclass(kw_only=True, eq=False, repr=False)
class MarginClassifier(PrivateEstimator):
    """A linear classifier whose accuracy depends on the margin and not on the number of features.

    Records are mapped to fewer columns by public random signs, clipped, and learned by phased descent on a smoothed hinge loss; the
    weights are brought back by the transposed map. Several classes are learned in one pass, each record against one rival class.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      margin: public, exact, above 0: by how much weights of norm `weight_norm` should classify most records correctly.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      weight_norm: radius of the ball of weights, of all classes together, public, exact, positive.
      adjacency: "replace_one" or "zero_out" (then without an intercept).
      classes: the public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws order and noise from the operating system; an integer or a numpy Generator fixes them, for tests.
      fit_intercept: whether a constant of 1/8 of `feature_norm` is appended to every record.
      dimension: columns that are learned in, public; None takes the rule of docs/margins.md. Without fewer there is no map.
      projection_seed: public seed of the map and of rival classes, chosen before any record is read.
      variant: direct, permutation or faithful, as for `private_erm`.
      calibration: exact or paper, as for `private_erm`.
      chosen_by: ramp or hinge, as for `private_erm`.
      failure: probability with which the guarantee of accuracy may not hold.
      by_place: as for `private_erm`.
      faithful: the paper's own steps, for two classes: balls of twice the norm, passes with replacement, hinge scores at their true
        sensitivity, the paper's constants, and columns for all inner products at once, at most 2048 of them.
    Source: Bassily, Mohri, Suresh 2022, Algorithm 2; docs/margins.md, "The classifier".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 500)
      >>> model = MarginClassifier(epsilon=2, delta="1e-6", margin="1/2", feature_norm=1, classes=[0, 1]).fit(X, [1, 0] * 500)
      >>> model.predict([[1.0, 1.0]]).tolist(), model.privacy_.epsilon <= 2
      ([1], True)
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "zero_out")
    released: ClassVar[tuple[str, ...]] = ("embedded_weights_", "weights_")

    delta: Exact = field()
    margin: Exact
    weight_norm: Exact = 1
    fit_intercept: bool = True
    dimension: int | None = None
    projection_seed: int = 0
    variant: Variant = "direct"
    calibration: Literal["exact", "paper"] = "exact"
    chosen_by: Literal["ramp", "hinge"] = "ramp"
    failure: Exact = "1/20"
    by_place: bool = True
    faithful: bool = False

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, in units of the radius of the ball that they were learned in: shape (1, d), or (K, d)."""
        return np.atleast_2d(self.weights_[: self.n_features_in_].T / 2.0**WEIGHT_BITS)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constant added to the score of every record: shape (1,), or (K,)."""
        step = float(positive(self.feature_norm, "feature_norm")) / 2**self.plan_.lattice_bits
        constants = np.atleast_1d(self.weights_[self.n_features_in_ :].sum(axis=0))
        return np.asarray(constants * (step * self.plan_.intercept / 2.0**WEIGHT_BITS))

    @property
    def utility_(self) -> UtilityBound:
        """The certified bound on the risk: an explicit bound, or vacuous."""
        return self._utility(self.plan_)

    def _utility(self, plan: MarginPlan) -> UtilityBound:
        """Return the certified bound of a plan."""
        width = None if plan.projection is None else plan.columns
        return utility_bound(plan.erm, failure=self.failure, dimension_in=width, classes=plan.classes)

    def _plan(self, public: Public) -> MarginPlan:
        """Columns, map, clip and passes."""
        if public.classes > 2 and self.faithful:
            raise InvalidArgument("DPA103", f"faithful=True is for two classes, got {public.classes}. Leave it out.")
        self._require_truth_values("fit_intercept", "by_place", "faithful")
        margin, radius = positive(self.margin, "margin"), positive(self.weight_norm, "weight_norm")
        bits = _BITS if public.features < _MANY_COLUMNS else _COARSE_BITS
        intercept = math.floor(2**bits * _INTERCEPT) if self.fit_intercept else 0
        width = public.features + (intercept > 0)
        bound = row_bound(bits, intercept)
        norm = public.feature_norm * bound / 2**bits
        if margin > radius * norm:
            largest = shown(radius * norm)
            raise InvalidArgument("DPA103", f"margin must be at most {largest}, got {shown(margin)}: records have none larger.")
        columns = self._columns(public, width, margin / (radius * norm))
        seed = integer(self.projection_seed, "projection_seed", lower=0)
        projection, stretch, clip = None, Fraction(1), norm
        if columns < width:
            make = hadamard_map if width <= _DENSE_COLUMNS else sign_map
            projection = make(dimension_in=width, dimension_out=columns, seed=seed)
            stretch = Fraction(2) if self.faithful else root_above(1 + _DEVIATIONS * root_above(Fraction(2, columns)))
            bound, clip = 2**bits, norm * stretch
        if public.classes > 2:
            columns, bound, unpaired = columns * public.classes, rival_bound(bound), bound
            norm = norm * bound / unpaired
        relative = margin / (radius * stretch * norm * stretch)
        passes = self._passes(public, columns, bound, relative)
        return MarginPlan(bits, intercept, public.classes, projection, clip, width, passes)

    def _columns(self, public: Public, width: int, relative: Fraction) -> int:
        """Columns that are learned in: those given, or the power of two that balances what the map and the noise cost."""
        if self.dimension is not None:
            return min(width, integer(self.dimension, "dimension", lower=1))
        if width <= _FEWEST_COLUMNS:
            return width
        if self.faithful:
            distortion = float(min(relative, Fraction(1))) / 3
            tails = math.log((3 * public.records + 1) / float(in_range(self.failure, "failure", lower=0, upper=1, lower_open=True)))
            return min(width, _MOST_COLUMNS, math.ceil(tails / (distortion**2 / 4 - distortion**3 / 6)))
        noise = self._passes(public, 1, 2**_BITS, Fraction(1)).schedule.releases
        multiplier = float(noise[0].parameter("sigma") / noise[0].sensitivity) if noise else 1.0
        balanced = public.records * math.sqrt(2 / outputs_of(public.classes)) / (16 * multiplier)
        rounded = 1 << max(0, round(math.log2(max(1.0, balanced))))
        return min(width, max(_FEWEST_COLUMNS, min(_MOST_COLUMNS, rounded)))

    def _passes(self, public: Public, columns: int, bound: int, relative: Fraction) -> ErmPlan:
        """The passes over rows of some width and norm."""
        return erm_plan(
            records=public.records,
            columns=columns,
            bound=bound,
            margin=relative,
            epsilon=public.epsilon,
            delta=public.delta,
            adjacency=public.adjacency,
            variant="faithful" if self.faithful else self.variant,
            calibration="paper" if self.faithful else self.calibration,
            chosen_by="hinge" if self.faithful else self.chosen_by,
            failure=self.failure,
            by_place=self.by_place,
        )

    def _plan_facts(self, _public: Public, plan: MarginPlan | None) -> dict[str, Any]:
        """The margin, what it was used for, and the certified utility."""
        if plan is None:
            return {}
        made = plan.erm
        return {
            "margin": str(positive(self.margin, "margin")),
            "weight_norm": str(positive(self.weight_norm, "weight_norm")),
            "columns": made.schedule.columns // outputs_of(plan.classes),
            "projection": "none" if plan.projection is None else f"{type(plan.projection).__name__} seed {self.projection_seed}",
            "passes": f"{made.rounds} over {'draws with replacement' if made.replacement else 'permutations'}",
            "utility": str(self._utility(plan)),
        }

    def _planned(self, public: Public, classes: NDArray[Any], plan: MarginPlan | None) -> PrivacyRecord:  # type: ignore[override]
        """Where a seed was given, the record also says what the run costs to those who know its order."""
        record = super()._planned(public, classes, plan)
        if plan is None or self.random_state is None:
            return record
        return record.stating({}, [known_order_note(plan.erm, public.delta)])

    def _learn(self, rows: Rows, plan: MarginPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """Images, passes, and the way back."""
        images = rows
        if plan.projection is not None:
            images = plan.projection.apply(rows, clip=plan.clip, lattice_bits=plan.lattice_bits)
        if plan.classes > 2:
            images = against_rivals(images, classes=plan.classes, seed=self.projection_seed)
        found = by_class(run(images, plan.erm, source), plan.classes)
        weights = found / 2.0**BALL_BITS
        back = weights if plan.projection is None else plan.projection.transpose(weights)
        return {"embedded_weights_": found, "weights_": on_lattice(back)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins of the records themselves, which are not mapped."""
        return np.asarray(rows.margins(self.weights_) * (float(rows.step) / 2.0**WEIGHT_BITS))
