"""OutputPerturbation: the certified minimiser of a regularised objective, with noise in the weights themselves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.releases import Release
from learners.perturbation.weights import Design, PerturbedClassifier, PerturbedPlan, ridge_of
from learners.solvers.certified import minimise
from learners.solvers.minimum import minimum
from learners.solvers.plans import gaussian_release, mechanism_of, noise_multiplier
from mechanisms.euclidean import EuclideanLaplace, EuclideanMechanism
from mechanisms.gaussian import GaussianMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from learners.solvers.losses import Loss
    from mechanisms.sampling.random import BitSource

_MARGIN_NOISE: Final = Fraction(1, 4)
_GAUSSIAN_TAIL: Final = 16


@dataclass(kw_only=True, eq=False, repr=False)
class OutputPerturbation(PerturbedClassifier):
    """A linear classifier of two classes that is private by noise added to its weights.

    Weights minimise a regularised mean loss up to a certified distance, and are released once with noise for how far one record
    moves them: spherical Laplace noise at delta 0, Gaussian noise at a positive delta. It is the simplest private classifier, and
    seldom the best: `PrivateClassifier` needs less noise.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      delta: failure probability, exact, in [0, 1); 0 for pure differential privacy.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      ridge: factor of half the squared norm of the weights, for records of norm at most 1, public, exact, positive; None makes
        the noise in the margin of a record of the largest norm 1/4 in standard deviation.
      loss: "huber", "logistic", or a `learners.solvers.losses.Loss`.
      fit_intercept: whether a constant of 1/4 of `feature_norm` is appended to every record; its weight is regularised too.
    Source: Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 1; docs/choices_and_perturbation.md, "Output perturbation".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 500)
      >>> model = OutputPerturbation(epsilon=5, feature_norm=1, classes=[0, 1]).fit(X, [1, 0] * 500)
      >>> model.predict([[1.0, 1.0]]).tolist(), model.privacy_.epsilon
      ([1], Fraction(5, 1))
    """

    ridge: Exact | None = None

    def _design(self, public: Public, columns: int, loss: Loss) -> Design:
        """Noise for the sensitivity of the rounded weights."""
        multiplier = noise_multiplier(public.epsilon, public.delta) if public.delta else None
        # Without Gaussian noise: the deviation of one coordinate of spherical Laplace noise of scale 1 is the root of d + 1.
        spread = Fraction(multiplier or whole_root_above(columns + 1) / public.epsilon)
        weight = ridge_of(self.ridge, 2 * loss.steepest * spread / (public.records * _MARGIN_NOISE))
        found = minimum(records=public.records, columns=columns, ridge=weight, loss=loss)
        if multiplier is not None:
            release = gaussian_release(public, found.sensitivity, multiplier**2, columns)
            tail = _GAUSSIAN_TAIL * int(release.parameter("sigma")) * whole_root_above(columns)
        else:
            release = spherical_release(found.sensitivity, public.epsilon, public.adjacency, columns)
            tail = int(release.parameter("scale") * (2 * columns + 64)) + 1
        return Design(found.objective, found.weight_bits, (release,), found.largest + tail)

    def _perturb(self, rows: Rows, plan: PerturbedPlan, source: BitSource | None) -> NDArray[np.int64]:
        """Rounded weights and their noise."""
        return noisy_minimiser(rows, plan, source)


def noisy_minimiser(rows: Rows, plan: PerturbedPlan, source: BitSource | None) -> NDArray[np.int64]:
    """The rounded minimiser with the noise of its only release."""
    return noise_of(plan.releases[0]).release(rounded_minimiser(rows, plan), source)


def rounded_minimiser(rows: Rows, plan: PerturbedPlan) -> NDArray[np.int64]:
    """The certified minimiser in units of 2**-weight_bits, rounded: private numbers until they get their noise."""
    return np.rint(minimise(rows, plan.objective) * 2.0**plan.weight_bits).astype(np.int64)


def spherical_release(distance: int, epsilon: Fraction, adjacency: Adjacency, columns: int) -> Release:
    """A release of weights that may be so far apart, with spherical Laplace noise, as it will be logged."""
    noise = EuclideanMechanism(sensitivity=distance, epsilon=epsilon, adjacency=adjacency)
    parameters = (("lattice", Fraction(1)), ("scale", EuclideanLaplace(noise.scale, dimension=columns).scale))
    return Release("euclidean_laplace", parameters, noise.sensitivity, adjacency, columns)


def noise_of(release: Release) -> EuclideanMechanism | GaussianMechanism | LaplaceMechanism:
    """The mechanism that makes a planned release of weights."""
    distance, relation = release.sensitivity, release.adjacency
    if release.kind == "discrete_laplace":
        return LaplaceMechanism(sensitivity=distance, scale=release.parameter("scale"), adjacency=relation)
    if release.kind == "rounded_gaussian":
        return mechanism_of(release)
    return EuclideanMechanism(sensitivity=distance, scale=release.parameter("scale"), adjacency=relation)
