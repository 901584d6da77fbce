"""Targets on learners with public records: all their releases from inside, whole fits from outside, the first of a regressor."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import GDP, Adjacency, Claim
from dpaudit.targets import Sensitivity
from learners.estimator import Public
from learners.public_data.cover_classifier import PublicCoverClassifier
from learners.public_data.covers import LinearCover, NetworkCover
from learners.public_data.private_classifier import PrivateClassifier
from learners.public_data.subspace_classifier import PublicSubspaceClassifier
from learners.public_data.subspace_regressor import SQUARES, LeastSquares
from learners.rows.ingest import to_rows
from learners.rows.labels import targets
from learners.targets.harness import make_target
from learners.targets.inside import Inside, mu_of
from learners.targets.outside import RELABELLED, TURNED, Outside
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from dpaudit.targets import Target

PUBLIC_X: Final = ((0.8, 0.6), (-0.8, -0.6), (0.3, -0.4))
"""Public records whose leading direction is that of the pairs."""

LABELLED = tuple[tuple[float, float], ...]
"""Records of a regressor: one feature and a label each."""

OUTLIERS: Final[tuple[LABELLED, LABELLED]] = (((1.0, 1.0), (0.5, 0.0), (0.0, 0.0)), ((1.0, -1.0), (0.5, 0.0), (0.0, 0.0)))
"""A record of the largest norm whose label goes from the one bound to the other."""


def first_gradient(records: Sequence[tuple[float, float]]) -> NDArray[np.int64]:
    """The sum of features times clipped residuals at weights of zero, with the intercept."""
    features, labels = np.array([[feature] for feature, _ in records]), np.array([label for _, label in records])
    wanted = targets(labels, Fraction(1))
    rows = to_rows(features, wanted, feature_norm=1, lattice_bits=PLAN.lattice_bits, intercept=PLAN.intercept)
    return rows.weighted_sum(SQUARES.slopes(np.zeros(len(labels), dtype=np.int64), rows.labels, 30))


def sample_gradients(records: Sequence[tuple[float, float]], count: int, rng: Generator) -> NDArray[np.float64]:
    """How far a fit's noisy gradients, at weights of zero, pull along the record that changes, in units of the noise."""
    noise = PLAN.noise(PLAN.gradient)
    copies = noise.releases(first_gradient(records), count * PLAN.steps, source_from(rng)).reshape(count, PLAN.steps, -1)
    along = np.array([2.0**PLAN.lattice_bits, PLAN.intercept]) / PLAN.bound / float(noise.sigma)
    return np.asarray(np.einsum("ijk,k->i", copies, along))


PLAN: Final = LeastSquares().plan(Public(3, 1, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency.of("replace_one")))


def public_targets(epsilon: Exact) -> tuple[Target, ...]:
    """Targets on classifiers with public records."""
    pure: dict[str, Any] = {"epsilon": epsilon, "feature_norm": 1, "classes": [0, 1], "public_X": PUBLIC_X}
    both = {**pure, "delta": "1e-5"}
    inside = {
        "public_subspace_releases": (PublicSubspaceClassifier(**both, centred=False), TURNED),
        "public_rule_releases": (PrivateClassifier(**both), RELABELLED),
    }
    outside = {
        "public_subspace_fits": (PublicSubspaceClassifier(**both), TURNED),
        "public_cover_choice": (PublicCoverClassifier(**pure, hypotheses=LinearCover(resolution="1/2", dimension=2)), TURNED),
        "public_network_choice": (PublicCoverClassifier(**pure, hypotheses=NetworkCover(size=8, pool=32)), RELABELLED),
    }
    change = " with public records; one private record changes"
    return (
        *(Inside(*seen).target(name, f"all releases of {type(seen[0]).__name__}{change}") for name, seen in inside.items()),
        *(Outside(*seen).target(name, change) for name, seen in outside.items()),
    )


TARGETS: Final = (
    *public_targets(1),
    make_target(
        "regressor_gradients",
        "all noisy gradients of least squares with clipped residuals; one label goes from the one bound to the other",
        sample_gradients,
        Claim(GDP(mu=mu_of([PLAN.gradient] * PLAN.steps)), adjacency=PLAN.gradient.adjacency),
        OUTLIERS,
        learner="PublicSubspaceRegressor",
        sensitivity=Sensitivity(lambda records: first_gradient(records).tolist(), PLAN.gradient.sensitivity, "l2"),
    ),
)
