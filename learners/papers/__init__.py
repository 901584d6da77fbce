"""Reproductions of published learners, with certified prices and audits; docs/learners.md says which are useful today."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
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
    from learners.public_data.subspace_classifier import PublicSubspaceClassifier as PublicSubspaceClassifier
    from learners.public_data.subspace_regressor import PublicSubspaceRegressor as PublicSubspaceRegressor

HOMES: Final = {
    "GaussianProcessRelease": "kernels.gaussian_process",
    "HalfspaceClassifier": "halfspaces.halfspace",
    "InteractiveKernelPredictor": "kernels.interactive",
    "KernelMarginClassifier": "margins.kernel",
    "KernelRidgeRegressor": "kernels.gaussian_process",
    "LabelPrivateClassifier": "margins.label_private",
    "MarginClassifier": "margins.margin",
    "MarginSearch": "margins.margin_search",
    "NeuralMarginClassifier": "margins.neural",
    "NonInteractiveKernelClassifier": "kernels.non_interactive",
    "ObjectivePerturbation": "perturbation.objective",
    "OutputPerturbation": "perturbation.output",
    "PolynomialMarginClassifier": "margins.polynomial_margin",
    "private_erm": "margins.erm",
    "PrivateSVM": "perturbation.svm",
    "PublicCoverClassifier": "public_data.cover_classifier",
    "PublicSubspaceClassifier": "public_data.subspace_classifier",
    "PublicSubspaceRegressor": "public_data.subspace_regressor",
    "PureHalfspaceClassifier": "halfspaces.pure_halfspace",
    "PureMarginClassifier": "margins.pure_margin",
    "SemiInteractiveKernelClassifier": "kernels.semi_interactive",
    "SemiInteractiveKernelRegressor": "kernels.semi_interactive",
}

__all__ = [*sorted(HOMES)]

__getattr__, _ = lazily("learners", HOMES)


def __dir__() -> list[str]:
    """The names of the learners."""
    return __all__
