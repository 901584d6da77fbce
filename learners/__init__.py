"""Differentially private learners: scikit-learn estimators made of exact releases, each fit with a record of what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.extras import require
from dpaudit.lazy import lazily
from dpaudit.own_packages import require_own

if TYPE_CHECKING:
    from learners.budget import Budget as Budget
    from learners.halfspaces.halfspace import HalfspaceClassifier as HalfspaceClassifier
    from learners.halfspaces.pure_halfspace import PureHalfspaceClassifier as PureHalfspaceClassifier
    from learners.kernels.gaussian_process import GaussianProcessRelease as GaussianProcessRelease
    from learners.kernels.gaussian_process import KernelRidgeRegressor as KernelRidgeRegressor
    from learners.kernels.interactive import InteractiveKernelPredictor as InteractiveKernelPredictor
    from learners.kernels.non_interactive import NonInteractiveKernelClassifier as NonInteractiveKernelClassifier
    from learners.kernels.semi_interactive import SemiInteractiveKernelClassifier as SemiInteractiveKernelClassifier
    from learners.kernels.semi_interactive import SemiInteractiveKernelRegressor as SemiInteractiveKernelRegressor
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
    from learners.public_data.cover_classifier import PublicCoverClassifier as PublicCoverClassifier
    from learners.public_data.private_classifier import PrivateClassifier as PrivateClassifier
    from learners.public_data.subspace_classifier import PublicSubspaceClassifier as PublicSubspaceClassifier
    from learners.public_data.subspace_regressor import PublicSubspaceRegressor as PublicSubspaceRegressor
    from learners.record import PrivacyRecord as PrivacyRecord
    from learners.selection.grid_search import PrivateGridSearchCV as PrivateGridSearchCV

require("learners")  # every learner is an estimator of scikit-learn
require_own("mechanisms")

_HOMES: Final = {
    "Budget": "budget",
    "HalfspaceClassifier": "halfspaces.halfspace",
    "GaussianProcessRelease": "kernels.gaussian_process",
    "InteractiveKernelPredictor": "kernels.interactive",
    "KernelMarginClassifier": "margins.kernel",
    "KernelRidgeRegressor": "kernels.gaussian_process",
    "LabelPrivateClassifier": "margins.label_private",
    "MarginClassifier": "margins.margin",
    "MarginSearch": "margins.margin_search",
    "NeuralMarginClassifier": "margins.neural",
    "NonInteractiveKernelClassifier": "kernels.non_interactive",
    "SemiInteractiveKernelClassifier": "kernels.semi_interactive",
    "SemiInteractiveKernelRegressor": "kernels.semi_interactive",
    "ObjectivePerturbation": "perturbation.objective",
    "OutputPerturbation": "perturbation.output",
    "PolynomialMarginClassifier": "margins.polynomial_margin",
    "PrivacyRecord": "record",
    "private_erm": "margins.erm",
    "PrivateClassifier": "public_data.private_classifier",
    "PrivateGridSearchCV": "selection.grid_search",
    "PrivateSVM": "perturbation.svm",
    "PureHalfspaceClassifier": "halfspaces.pure_halfspace",
    "PublicCoverClassifier": "public_data.cover_classifier",
    "PublicSubspaceClassifier": "public_data.subspace_classifier",
    "PublicSubspaceRegressor": "public_data.subspace_regressor",
    "PureMarginClassifier": "margins.pure_margin",
}

__all__ = [*sorted(_HOMES)]

__getattr__, __dir__ = lazily(__name__, _HOMES)
