"""PrivateKMeans: centres of clusters from noisy sums, after a noisy second moment says where to begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from sklearn.base import ClusterMixin, TransformerMixin

from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer, positive
from learners.record import Charge
from learners.rows.rows import as_array, row_bound
from learners.rows.seeds import PublicBits
from learners.solvers.plans import MOVES, gaussian_release, mechanism_of, noise_multiplier
from learners.solvers.quasi_newton import in_one_thread
from learners.structure.moments import Moments, release_moments
from learners.structure.pca import MomentPlan, moment_plan
from learners.structure.unlabelled import LATTICE_BITS, UnlabelledModel
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from dpaudit.releases import Release
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

ROUNDS: Final = 6
CONSTANT: Final = 1 << LATTICE_BITS
"""What counts records, as long as the longest of them: to change one's cluster then moves sums no farther than to stay can."""

_MOMENT_SHARE: Final = Fraction(1, 5)
_AVERAGED: Final = 3
"""Centres are those of the sums of the last rounds together."""

_POINTS: Final = 400
"""Public points of the normal law of the released moments, on which the first centres are found."""

_FEW: Final = 2.0
"""A cluster whose noisy count is below so many deviations of its noise is empty, and takes half of the largest one."""


@dataclass(frozen=True)
class ClusterPlan:
    """The plan of a fit: a second moment, then sums and counts of all clusters in each round."""

    first: MomentPlan
    clusters: int
    sums: Release

    @property
    def lattice_bits(self) -> int:
        """That of the rows."""
        return self.first.lattice_bits

    @property
    def intercept(self) -> int:
        """The constant that counts."""
        return self.first.intercept

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        return (Charge((self.first.moment, *[self.sums] * ROUNDS)),)


def cluster_sensitivity(moves: int) -> int:
    """Bound how far one record moves the sums and counts of all clusters in L2 norm, rounded up."""
    # A record is in one cluster. One that stays there moves its sum by at most 2 L, and no count. One that changes leaves one block
    # and enters another, each with a row of norm at most B, whose square is L**2 and that of the constant.
    square = 4**LATTICE_BITS + CONSTANT**2
    return whole_root_above(square if moves == 1 else max(4 * 4**LATTICE_BITS, 2 * square))


def sum_clusters(rows: Rows, centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sums of the rows of each cluster, with their constants: what is released with noise, of shape (columns, clusters)."""
    steps = as_array(rows.steps)[:, :-1].astype(np.float64)
    distances = np.square(centres).sum(axis=1) - 2 * np.einsum("ij,kj->ik", steps, centres)
    nearest = np.zeros((len(steps), len(centres)), dtype=np.int64)
    nearest[np.arange(len(steps)), distances.argmin(axis=1)] = 1
    return rows.weighted_sum(nearest)


def cluster_plan(public: Public, clusters: int) -> ClusterPlan:
    """Plan a fit: a fifth of mu^2 for the second moment, the rest for the rounds in equal parts."""
    multiplier = noise_multiplier(public.epsilon, public.delta)
    first = moment_plan(public, CONSTANT, _MOMENT_SHARE)
    variance = multiplier**2 * ROUNDS / (1 - _MOMENT_SHARE)
    size = (public.features + 1) * clusters
    sums = gaussian_release(public, cluster_sensitivity(MOVES[public.adjacency.kind]), variance, size)
    return ClusterPlan(first, clusters, sums)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateKMeans(ClusterMixin, TransformerMixin, UnlabelledModel):  # type: ignore[misc]
    """Centres of clusters that are (epsilon, delta)-differentially private, by noisy rounds of Lloyd's algorithm.

    There is no `labels_`: which cluster a training record belongs to is private. `predict` assigns records to released centres.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one", or "add_remove" (then `n_nominal` is needed).
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      n_clusters: how many, 1 to 1024.
    Source: Blum, Dwork, McSherry, Nissim 2005, section 5; docs/boosting.md, "Without labels".
    Example:
      >>> X = np.array([[0.5, 0.5], [-0.5, -0.5]] * 2000)
      >>> model = PrivateKMeans(epsilon=1, delta="1e-6", feature_norm=1, n_clusters=2, random_state=1).fit(X)
      >>> sorted(model.cluster_centers_.round(1).tolist()), len(set(model.predict(X).tolist()))
      ([[-0.5, -0.5], [0.5, 0.5]], 2)
    """

    released: ClassVar[tuple[str, ...]] = ("cluster_centers_", "counts_")

    delta: Exact = field()
    n_clusters: int = 8

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: N803 - scikit-learn's name
        """The nearest released centre of each record."""
        return np.asarray(self._scored(X).argmin(axis=1))

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:  # noqa: N803 - scikit-learn's name
        """Fit, and the nearest centre of each record, which shows as much of it as any prediction does."""
        return self.fit(X, y).predict(X)

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Distances of records from the centres."""
        return self._scored(X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002, N803 - scikit-learn's names
        """Minus the sum of squared distances from the nearest centre: of private records, a private number."""
        return -float(np.square(self._scored(X).min(axis=1)).sum())

    def _plan(self, public: Public) -> ClusterPlan:
        """Moment and rounds."""
        clusters = integer(self.n_clusters, "n_clusters", lower=1, upper=1024)
        if public.records * row_bound(LATTICE_BITS, CONSTANT) > 2**60:
            raise InvalidArgument("DPA108", f"sums over {public.records} records do not fit 64 bits. Fit on fewer.")
        return cluster_plan(public, clusters)

    def _learn(self, rows: Rows, plan: ClusterPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned releases; centres are computed from them."""
        unit, mechanism = float(1 << LATTICE_BITS), mechanism_of(plan.sums)
        moments = release_moments(rows, plan.first.moment, plan.intercept, plan.first.records, source)
        centres, least = first_centres(moments, plan.clusters), _FEW * float(plan.sums.parameter("sigma")) / plan.intercept
        total = np.zeros((rows.steps.shape[1], plan.clusters))
        for step in range(ROUNDS):
            noisy = mechanism.release(sum_clusters(rows, centres * unit), source).astype(np.float64)
            total = total + noisy if step > ROUNDS - _AVERAGED else noisy
            centres = _means(total, plan.intercept, least, centres)
        counts = np.maximum(total[-1] / (plan.intercept * _AVERAGED), 0.0)
        norm = float(positive(self.feature_norm, "feature_norm"))
        return {"cluster_centers_": centres * norm, "counts_": np.rint(counts).astype(np.int64)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Distances of rows from the centres."""
        features = as_array(rows.steps)[:, :-1] * float(rows.step)
        squares = np.square(features[:, np.newaxis, :] - self.cluster_centers_).sum(axis=2)
        return np.asarray(np.sqrt(squares))


def first_centres(moments: Moments, clusters: int) -> NDArray[np.float64]:
    """Centres of public points that have the normal law of the released moments: spread as the records are."""
    with in_one_thread():
        values, vectors = np.linalg.eigh(moments.covariance)
    width = len(values)
    drawn = PublicBits(0, "centres", width, clusters).normals(max(_POINTS, 8 * clusters) * width).reshape(-1, width)
    points = moments.mean + np.einsum("ij,kj->ik", drawn * np.sqrt(np.maximum(values, 0.0)), vectors)
    centres = points[:1]
    for _ in range(clusters - 1):  # each next one is the farthest but for a tenth of the points, which may be outliers
        distances = np.square(points[:, np.newaxis, :] - centres).sum(axis=2).min(axis=1)
        centres = np.concatenate([centres, points[np.argsort(distances, kind="stable")[[len(points) * 9 // 10]]]])
    for _ in range(20):
        nearest = np.square(points[:, np.newaxis, :] - centres).sum(axis=2).argmin(axis=1)
        centres = np.array(
            [points[nearest == each].mean(axis=0) if (nearest == each).any() else centres[each] for each in range(clusters)]
        )
    return _within(centres)


def _means(total: NDArray[np.float64], constant: int, least: float, before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Noisy means of the clusters; empty ones move beside the largest, which is then divided."""
    counts = total[-1] / constant
    filled = counts > least
    centres = before.copy()
    centres[filled] = (total[:-1] / (1 << LATTICE_BITS) / np.where(filled, counts, 1.0)).T[filled]
    if filled.any() and not filled.all():
        largest = int(counts.argmax())
        step = 0.25 * (before - before[largest])[~filled]
        centres[~filled] = centres[largest] + step
    return _within(centres)


def _within(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centres of norm at most 1."""
    norms = np.sqrt(np.square(centres).sum(axis=1, keepdims=True))
    return np.asarray(centres / np.maximum(norms, 1.0))
