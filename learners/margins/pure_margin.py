"""PureMarginClassifier: a linear classifier of few errors out of public candidates, chosen at pure epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, in_range, integer, positive, shown, word
from learners.choices.arcs import choose_point
from learners.choices.counts import choose, errors, per_class
from learners.choices.covers import RandomCover, cap_mass, excess_error, lattice_cover
from learners.choices.levels import counts_mechanism
from learners.choices.planned import LATTICE_BITS, ChoicePlan
from learners.estimator import PrivateEstimator, Public
from learners.rows.labels import outputs_of, require_two
from learners.rows.signs import sign_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.choices.counts import Cover
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

COVERS: Final = ("random", "arrangement", "lattice")

_USUAL_DIMENSION: Final = 32
_MOST_CANDIDATES: Final = 2**24


@dataclass(kw_only=True, eq=False, repr=False)
class PureMarginClassifier(PrivateEstimator):
    """A linear classifier at pure epsilon: a public projection to few dimensions, and the exponential mechanism over a cover.

    Every candidate's errors on the records are counted exactly; a margin of 0 is an error. The candidates do not depend on the
    records. Candidates for K classes are K random directions each; the choice costs what it costs for two.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      delta: at which `privacy_` states epsilon, in [0, 1); the choice is pure whatever it is.
      adjacency: "replace_one" or "zero_out", which allows half the temperature.
      classes: the public classes, two unless `cover` is "random"; None reads them from the labels, which the guarantee does not
        cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      cover: "random" for `candidates` directions; "arrangement" for 2**33 directions in two dimensions; "lattice" for the paper's
        cover in at most four, which needs `margin`.
      dimension: k, of the projection, public; None takes 2 for arrangement and lattice, 32 for random. Records that have so few
        features are not projected.
      candidates: how many random directions.
      margin: rho for a comparator of norm 1, in the units of the features, public, exact, at most `feature_norm`; for the lattice,
        the other covers are the same for every margin.
      intercept: whether a constant of the size of `feature_norm` is appended to every record; refused under zero_out.
      seed: public, of the projection and the random directions.
    Source: Bassily, Mohri, Suresh 2022, Algorithm 1; docs/choices_and_perturbation.md, "Pure margin learner".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 200)
      >>> model = PureMarginClassifier(epsilon=1, feature_norm=1, classes=[0, 1], cover="arrangement").fit(X, [1, 0] * 200)
      >>> model.predict([[0.6, 0.8], [-0.8, 0.6]]).tolist(), model.privacy_.epsilon
      ([1, 0], Fraction(1, 1))
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "zero_out")
    released: ClassVar[tuple[str, ...]] = ("weights_",)

    cover: Literal["random", "arrangement", "lattice"] = "random"
    dimension: int | None = None
    candidates: int = 2**14
    margin: Exact | None = None
    intercept: bool = False
    seed: int = 0

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The direction in the features' own space, of norm 1 with the intercept: shape (1, d); all K of them: shape (K, d)."""
        return self._directions()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constant added to the product with a record, in the units of the features: shape (1,), or (K,)."""
        constants = self._directions()[:, self.n_features_in_ :].sum(axis=1)
        return np.asarray(constants * float(positive(self.feature_norm, "feature_norm")))

    def excess(self, *, chord: Exact, beta: Exact = "1/20") -> float:
        """Bound how much more often the chosen direction errs on the records than the best one that may be moved by `chord`.

        Args:
          chord: a distance on the unit sphere, above 0, at most 2**0.5, within which the comparator's errors may not change. For K
            classes the sphere is that of all K directions together, less their mean.
          beta: probability that the bound fails, exact, above 0 and below 1.
        Returns:
          A bound on the difference of error rates among the mapped records; infinite or at least 1 where it says nothing.
        Raises:
          InvalidArgument: a number that is none (DPA101, DPA102), not positive (DPA104) or out of range (DPA103).
          Unsupported: the candidates are no random directions in two dimensions or more (DPA202).
          NotFittedError: the estimator is not fitted.
        """
        check_is_fitted(self)
        distance, failing = positive(chord, "chord"), in_range(beta, "beta", lower=0, upper=1, lower_open=True, upper_open=True)
        if distance**2 > 2:
            raise InvalidArgument("DPA103", f"chord must be at most 2**0.5, which is a right angle, got {shown(distance)}.")
        cover = None if self.plan_ is None else self.plan_.cover
        contrasts = cover.dimension - (self.weights_.ndim - 1) * len(self.weights_) if isinstance(cover, RandomCover) else 0
        if not isinstance(cover, RandomCover) or contrasts < 2:
            raise Unsupported("DPA202", "excess is known for random directions in two dimensions or more. Give cover='random'.")
        mass = cap_mass(dimension=contrasts, chord=float(distance))
        epsilon, records = float(self.privacy_.epsilon), self.privacy_.public["records"]
        return excess_error(records=records, epsilon=epsilon, candidates=cover.size, beta=float(failing), mass=mass)

    def __sklearn_tags__(self) -> Any:
        """Two classes, but for random directions."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.cover == "random"
        return tags

    def _directions(self) -> NDArray[np.float64]:
        """The weights that were chosen, taken back through the projection, one class a row."""
        image, weights = self.plan_.image, self.weights_.astype(np.float64)
        back = weights if image is None else image.transpose(weights)
        return np.atleast_2d(back.T / max(float(np.sqrt(np.square(back).sum())), 1e-300))

    def _plan(self, public: Public) -> ChoicePlan:
        """Candidates and projection, from public numbers."""
        word(self.cover, "cover", COVERS)
        if self.cover != "random":
            require_two(public.classes)
        self._require_truth_values("intercept")
        columns = public.features + self.intercept
        default = _USUAL_DIMENSION if self.cover == "random" else 2
        wanted = default if self.dimension is None else integer(self.dimension, "dimension", lower=1)
        if self.cover == "arrangement" and (wanted != 2 or columns < 2):
            got = f"dimension {wanted} of n_features = {columns} columns"
            raise InvalidArgument("DPA103", f"an arrangement has dimension 2 and needs 2 columns, got {got}. Use cover='random'.")
        image = sign_map(dimension_in=columns, dimension_out=wanted, seed=self.seed) if columns > wanted else None
        return ChoicePlan(
            counts_mechanism(epsilon=public.epsilon, adjacency=public.adjacency),
            self._cover(min(wanted, columns), public),
            image,
            intercept=2**LATTICE_BITS if self.intercept else 0,
            outputs=outputs_of(public.classes),
        )

    def _cover(self, dimension: int, public: Public) -> Cover | None:
        """The candidates; None for those of the arrangement."""
        if self.cover == "arrangement":
            return None
        if self.cover == "random":
            size = integer(self.candidates, "candidates", lower=1, upper=_MOST_CANDIDATES)
            return RandomCover(dimension * outputs_of(public.classes), size, integer(self.seed, "seed", lower=0))
        if self.margin is None:
            raise InvalidArgument("DPA105", "cover='lattice' needs a margin. Give one, up to feature_norm: margin=...")
        return lattice_cover(dimension=dimension, margin=positive(self.margin, "margin") / public.feature_norm)

    def _learn(self, rows: Rows, plan: ChoicePlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """One choice."""
        mapped = plan.mapped(rows)
        if plan.cover is None:
            return {"weights_": choose_point(mapped, plan.mechanism, source)}
        return {"weights_": per_class(choose(mapped, plan.cover, errors(), plan.mechanism, source), mapped.steps.shape[1])}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins, exact but for a common unit."""
        mapped = self.plan_.mapped(rows)
        return np.asarray(mapped.margins(self.weights_) / (float(mapped.bound) * max(float(np.abs(self.weights_).max()), 1.0)))
