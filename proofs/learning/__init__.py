"""Proofs about the learners: lemmas on what one record moves, and the nodes that join them to the code and to the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from proofs.learning import (
    boosting,
    candidates,
    halfspaces,
    kernels,
    minimisers,
    noisy_sums,
    passes,
    perturbed,
    phased,
    public_data,
    records,
    scores,
    searches,
    structure,
    sums,
)

LEARNERS: Final = (
    *records.NODES,
    *noisy_sums.NODES,
    *phased.NODES,
    *candidates.NODES,
    *halfspaces.NODES,
    *perturbed.NODES,
    *kernels.NODES,
    *public_data.NODES,
    *searches.NODES,
    *boosting.NODES,
    *structure.NODES,
)
"""The chains of all learners."""
LEMMAS: Final = (*sums.LEMMAS, *passes.LEMMAS, *scores.LEMMAS, *minimisers.LEMMAS)
"""The lemmas that they lean on, besides those of the verifier and of the mechanisms."""

_SUMS: Final = ("rounded_gaussian",)
_CHOICE: Final = ("exponential_mechanism",)
LOGGED: Final[Mapping[str, tuple[str, ...]]] = {
    "GaussianProcessRelease": _SUMS,
    "GeneralizedExponential": _CHOICE,
    "HalfspaceClassifier": _SUMS + _CHOICE,
    "InteractiveKernelPredictor": ("above_threshold", "discrete_laplace", "update_charged"),
    "KernelMarginClassifier": _SUMS + _CHOICE,
    "KernelRidgeRegressor": _SUMS,
    "LabelPrivateClassifier": _CHOICE,
    "MarginClassifier": _SUMS + _CHOICE,
    "MarginSearch": _CHOICE + _SUMS,
    "NeuralMarginClassifier": _CHOICE,
    "NonInteractiveKernelClassifier": ("discrete_laplace", "exponential_mechanism"),
    "ObjectivePerturbation": ("euclidean_laplace", "objective_perturbation"),
    "OutputPerturbation": ("euclidean_laplace", "rounded_gaussian"),
    "PolynomialMarginClassifier": _SUMS + _CHOICE,
    "PrivateBoostingClassifier": _SUMS,
    "PrivateBoostingRegressor": _SUMS,
    "PrivateClassifier": _SUMS,
    "PrivateGridSearchCV": ("best_of_runs",),
    "PrivateKMeans": _SUMS,
    "PrivateLinearRegression": _SUMS,
    "PrivatePCA": _SUMS,
    "PrivateSVM": ("discrete_laplace",),
    "PrivateRanges": _SUMS,
    "PublicCoverClassifier": _CHOICE,
    "PublicSubspaceClassifier": _SUMS + _CHOICE,
    "PublicSubspaceRegressor": _SUMS,
    "PureHalfspaceClassifier": _CHOICE,
    "PureMarginClassifier": _CHOICE,
    "SemiInteractiveKernelClassifier": ("discrete_laplace", "rounded_gaussian"),
    "SemiInteractiveKernelRegressor": ("discrete_laplace", "rounded_gaussian"),
}
"""The kinds of release that each learner logs."""
