"""A small learner for tests of what all learners share: the noisy difference of the sums of two classes, or of K."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.releases import Release
from learners.estimator import PrivateEstimator
from learners.record import Charge
from mechanisms import GaussianMechanism


@dataclass(frozen=True)
class MeanPlan:
    """One noisy sum."""

    mechanism: GaussianMechanism
    dimension: int
    intercept: int
    lattice_bits: int = 12

    @property
    def charges(self):
        sigma, sensitivity = self.mechanism.sigma, self.mechanism.sensitivity
        parameters = (("lattice", Fraction(1)), ("sigma", sigma))
        release = Release("rounded_gaussian", parameters, sensitivity, self.mechanism.adjacency, self.dimension)
        return (Charge((release,)),)


@dataclass(kw_only=True, eq=False, repr=False)
class MeanClassifier(PrivateEstimator):
    """The noisy sum of the records of each class, as its direction."""

    adjacencies = ("replace_one", "zero_out", "add_remove")
    released = ("sums_",)

    delta: Any = "1e-5"
    n_nominal: Any = None
    with_intercept: bool = False

    def _plan(self, public):
        moves = 2 if public.adjacency.kind == "replace_one" else 1
        constant = 4096 if self.with_intercept else 0
        bound = 4096 if constant == 0 else 5793
        # A record moves its own class by the bound, and the classes of the two records in replace_one may differ.
        mechanism = GaussianMechanism(sensitivity=moves * bound, noise_multiplier=4 / public.epsilon, adjacency=public.adjacency)
        return MeanPlan(mechanism, (public.features + (constant > 0)) * public.classes, constant)

    def _learn(self, rows, plan, source):
        slopes = (rows.labels[:, np.newaxis] == np.arange(plan.dimension // rows.steps.shape[1])).astype(np.int64)
        return {"sums_": plan.mechanism.release(rows.weighted_sum(slopes), source)}

    def _scores(self, rows):
        scores = (rows.steps @ self.sums_.astype(float)) / 2.0**24
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


@pytest.fixture(scope="session")
def mean_classifier():
    """The class of the small learner."""
    return MeanClassifier
