"""Differentially private learners: scikit-learn estimators made of exact releases, each fit with a record of what it cost."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from learners.budget import Budget as Budget
    from learners.halfspaces.halfspace import HalfspaceClassifier as HalfspaceClassifier
    from learners.halfspaces.pure_halfspace import PureHalfspaceClassifier as PureHalfspaceClassifier
    from learners.kernels.gaussian_process import GaussianProcessRelease as GaussianProcessRelease
    from learners.kernels.interactive import InteractiveKernelPredictor as InteractiveKernelPredictor
    from learners.kernels.kernel_ridge import KernelRidgeRegressor as KernelRidgeRegressor
    from learners.kernels.non_interactive import NonInteractiveKernelClassifier as NonInteractiveKernelClassifier
    from learners.kernels.semi_interactive import SemiInteractiveKernelClassifier as SemiInteractiveKernelClassifier
    from learners.kernels.semi_interactive_regressor import SemiInteractiveKernelRegressor as SemiInteractiveKernelRegressor
    from learners.margins.erm import private_erm as private_erm
    from learners.margins.kernel import KernelMarginClassifier as KernelMarginClassifier
    from learners.margins.label_private import LabelPrivateClassifier as LabelPrivateClassifier
    from learners.margins.margin import MarginClassifier as MarginClassifier
    from learners.margins.margin_search import MarginSearch as MarginSearch
    from learners.margins.neural import NeuralMarginClassifier as NeuralMarginClassifier
    from learners.margins.polynomial_margin import PolynomialMarginClassifier as PolynomialMarginClassifier
    from learners.margins.pure_margin import PureMarginClassifier as PureMarginClassifier
    from learners.perturbation.objective import ObjectivePerturbation as ObjectivePerturbation
    from learners.perturbation.output import OutputPerturbation as OutputPerturbation
    from learners.perturbation.svm import PrivateSVM as PrivateSVM
    from learners.private import PrivateClassifier as PrivateClassifier
    from learners.public_data.cover_classifier import PublicCoverClassifier as PublicCoverClassifier
    from learners.public_data.subspace_classifier import PublicSubspaceClassifier as PublicSubspaceClassifier
    from learners.public_data.subspace_regressor import PublicSubspaceRegressor as PublicSubspaceRegressor
    from learners.record import PrivacyRecord as PrivacyRecord
    from learners.selection.grid_search import PrivateGridSearchCV as PrivateGridSearchCV

_HOMES: Final = {
    "Budget": "learners.budget",
    "HalfspaceClassifier": "learners.halfspaces.halfspace",
    "GaussianProcessRelease": "learners.kernels.gaussian_process",
    "InteractiveKernelPredictor": "learners.kernels.interactive",
    "KernelMarginClassifier": "learners.margins.kernel",
    "KernelRidgeRegressor": "learners.kernels.kernel_ridge",
    "LabelPrivateClassifier": "learners.margins.label_private",
    "MarginClassifier": "learners.margins.margin",
    "MarginSearch": "learners.margins.margin_search",
    "NeuralMarginClassifier": "learners.margins.neural",
    "NonInteractiveKernelClassifier": "learners.kernels.non_interactive",
    "SemiInteractiveKernelClassifier": "learners.kernels.semi_interactive",
    "SemiInteractiveKernelRegressor": "learners.kernels.semi_interactive_regressor",
    "ObjectivePerturbation": "learners.perturbation.objective",
    "OutputPerturbation": "learners.perturbation.output",
    "PolynomialMarginClassifier": "learners.margins.polynomial_margin",
    "PrivacyRecord": "learners.record",
    "private_erm": "learners.margins.erm",
    "PrivateClassifier": "learners.private",
    "PrivateGridSearchCV": "learners.selection.grid_search",
    "PrivateSVM": "learners.perturbation.svm",
    "PureHalfspaceClassifier": "learners.halfspaces.pure_halfspace",
    "PublicCoverClassifier": "learners.public_data.cover_classifier",
    "PublicSubspaceClassifier": "learners.public_data.subspace_classifier",
    "PublicSubspaceRegressor": "learners.public_data.subspace_regressor",
    "PureMarginClassifier": "learners.margins.pure_margin",
}

__all__ = [*sorted(_HOMES)]


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562), so that a caller pays only for what it uses."""
    if name not in _HOMES:
        raise AttributeError(f"module 'learners' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, loaded or not."""
    return sorted(__all__)
