"""The classifier among the first targets that `dpaudit audit` shows, and its broken twin as people write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from dpaudit.targets import Target
from learners.perturbation.output import OutputPerturbation
from learners.targets.perturbation import Noised
from mechanisms.targets.questions import DIAGNOSIS, RADIUS, cancer_records

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from learners.targets.inside import Records

TEXTURE: Final = "mean texture"
EPSILON: Final = 1
RIDGE: Final = 0.1
"""Half of this times the squared norm of the weights is added to the mean loss."""

MEASURED: Final[Records] = tuple(((record[RADIUS], record[TEXTURE]), record[DIAGNOSIS]) for record in cancer_records())
"""Mean radius (mm) and texture of the tumours, and 1 for a malignant one."""

SCALED: Final[Records] = tuple(((radius / 45, texture / 60), label) for (radius, texture), label in MEASURED)
"""The same in public units in which a record has norm at most 1."""

MODEL: Final = OutputPerturbation(epsilon=EPSILON, feature_norm=1, ridge="1/10", classes=[0, 1])


def unscaled_classifier(tumours: Records, count: int, rng: Generator) -> NDArray[np.float64]:
    """Mistake: the noise is that for records of norm 1, and these are in millimetres."""
    features = np.array([features for features, _ in tumours], dtype=np.float64).reshape(-1, 2)
    signs = np.array([2 * label - 1 for _, label in tumours], dtype=np.float64)
    records = max(len(signs), 1)
    weights = np.linalg.solve(features.T @ features / records + RIDGE * np.eye(2), features.T @ signs / records)
    noisy: NDArray[np.float64] = weights + rng.laplace(scale=2 * np.sqrt(2) / (records * RIDGE * EPSILON), size=(count, 2))
    return noisy


def _with_first(records: Records, features: tuple[float, float], label: int) -> Records:
    """The records with another first one."""
    return ((features, label), *records[1:])


_PAIR: Final = (_with_first(SCALED, (0.6, 0.8), 1), _with_first(SCALED, (0.6, 0.8), 0))

TARGETS: Final = (
    Noised(MODEL, _PAIR).target("classifier", "which tumours are malignant? Weights of a linear classifier"),
    Target(
        name="classifier_unscaled",
        description="records in mm, though the noise assumes norm 1",
        sample=unscaled_classifier,
        claim=Claim(PureDP(epsilon=EPSILON), adjacency="replace_one"),
        data=MEASURED,
        most_runs=20_000,  # plenty for what is far from its claim
        public_data=True,
    ),
)
