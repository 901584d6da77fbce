"""Targets on regularised minimisers: worst pairs for noise in the weights, and whole fits of learners that draw more than once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from dpaudit.targets import Sensitivity
from learners.perturbation.objective import ObjectivePerturbation
from learners.perturbation.output import OutputPerturbation, noise_of, rounded_minimiser
from learners.perturbation.svm import PrivateSVM
from learners.selection.grid_search import PrivateGridSearchCV
from learners.targets.harness import make_target
from learners.targets.inside import Records, claim_of, plan_fit, read_rows
from learners.targets.outside import Outside
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.claims import Claim
    from dpaudit.targets import Target
    from learners.perturbation.weights import PerturbedPlan

_SAME: Final[dict[str, Any]] = {"feature_norm": 1, "classes": [0, 1], "fit_intercept": False}
_REST: Final[Records] = (((0.0,), 0),) * 3

SIDES: Final[tuple[Records, Records]] = ((((1.0,), 1), *_REST), (((1.0,), 0), *_REST))
"""A record of the largest norm with either label; all margins stay where the loss is steepest, so that nothing is further apart."""

_PAIR_REST: Final[Records] = (((1.0, 0.0), 1),) * 15
ACROSS: Final[tuple[Records, Records]] = ((((-0.96, -0.28), 1), *_PAIR_REST), (((0.96, -0.28), 1), *_PAIR_REST))
"""Records that pull on the side of the others' pull or against it, which is where the length of the random term shows it."""


@dataclass(frozen=True)
class Noised:
    """Fits of a learner that minimises once and draws once: the minimiser is the same in all fits, so that many are fast."""

    model: OutputPerturbation | PrivateSVM  # the learner, its classes named
    pair: tuple[Records, Records]  # neighbouring records

    def sample(self, records: Records, count: int, rng: Generator) -> NDArray[np.int64]:
        """The weights of `count` fits, one in each row."""
        noise = noise_of(self._plan.releases[0])
        return np.asarray(noise.releases(np.array(self.weights(records)), count, source_from(rng)))

    def weights(self, records: Records) -> list[int]:
        """The rounded minimiser before its noise."""
        plan = self._plan
        found: list[int] = rounded_minimiser(plan.unit(read_rows(self.model, records, plan)), plan).tolist()
        return found

    @property
    def claim(self) -> Claim:
        """The claim of a fit's record."""
        return claim_of(self._plan.charges)

    def target(self, name: str, description: str) -> Target:
        """The target on these fits, with the property that one record moves the minimiser no further than it is charged for."""
        metric, learner = "l1" if isinstance(self.model, PrivateSVM) else "l2", type(self.model).__name__
        moved = Sensitivity(query=self.weights, bound=self._plan.releases[0].sensitivity, metric=metric)
        return make_target(name, description, self.sample, self.claim, self.pair, learner=learner, sensitivity=moved)

    @cached_property
    def _plan(self) -> PerturbedPlan:
        """The plan of every fit."""
        return cast("PerturbedPlan", plan_fit(self.model, self.pair[0]))


NOISED: Final = {
    "output_perturbation": Noised(OutputPerturbation(epsilon=1, ridge=1, **_SAME), SIDES),
    "gaussian_output_perturbation": Noised(OutputPerturbation(epsilon=1, delta="1e-5", ridge=1, **_SAME), SIDES),
    "support_vector_machine": Noised(PrivateSVM(epsilon=1, C=1, **_SAME), SIDES),
}

_DEFAULTS: Final[dict[str, Any]] = {"epsilon": 1, "feature_norm": 1, "classes": [0, 1]}
WHOLE: Final = {
    "objective_perturbation": Outside(ObjectivePerturbation(epsilon=1, loss="logistic", **_SAME), ACROSS),
    "private_svm_features": Outside(PrivateSVM(**_DEFAULTS, kernel="gaussian", frequencies=2), ACROSS),
    "private_grid_search": Outside(PrivateGridSearchCV(OutputPerturbation(**_DEFAULTS), {"ridge": [1, 4]}, stop="1/3"), ACROSS),
}

TARGETS: Final = (
    *(
        noised.target(name, f"weights of {type(noised.model).__name__} on four records; one changes its label")
        for name, noised in NOISED.items()
    ),
    *(outside.target(name, "; one of sixteen records changes") for name, outside in WHOLE.items()),
)
