"""Differentially private learners: scikit-learn estimators made of exact releases, each fit with a record of what it cost.

Listed are those to use; `learners.papers` has reproductions of published ones, which this package loads by name as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.extras import require
from dpaudit.lazy import lazily
from dpaudit.own_packages import require_own
from learners.papers import HOMES

if TYPE_CHECKING:
    from learners.boosting.boosting import PrivateBoostingClassifier as PrivateBoostingClassifier
    from learners.boosting.boosting import PrivateBoostingRegressor as PrivateBoostingRegressor
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
    from learners.pipeline.encoder import TableEncoder as TableEncoder
    from learners.pipeline.pipeline import PrivatePipeline as PrivatePipeline
    from learners.pipeline.pipeline import make_private_pipeline as make_private_pipeline
    from learners.public_data.cover_classifier import PublicCoverClassifier as PublicCoverClassifier
    from learners.public_data.linear_regression import PrivateLinearRegression as PrivateLinearRegression
    from learners.public_data.private_classifier import PrivateClassifier as PrivateClassifier
    from learners.public_data.subspace_classifier import PublicSubspaceClassifier as PublicSubspaceClassifier
    from learners.public_data.subspace_regressor import PublicSubspaceRegressor as PublicSubspaceRegressor
    from learners.record import PrivacyRecord as PrivacyRecord
    from learners.rows.columns import Text as Text
    from learners.selection.grid_search import PrivateGridSearchCV as PrivateGridSearchCV
    from learners.structure.kmeans import PrivateKMeans as PrivateKMeans
    from learners.structure.pca import PrivatePCA as PrivatePCA
    from learners.structure.ranges import PrivateRanges as PrivateRanges

require("learners")  # every learner is an estimator of scikit-learn
require_own("mechanisms")

_HOMES: Final = {
    "Budget": "budget",
    "make_private_pipeline": "pipeline.pipeline",
    "PrivacyRecord": "record",
    "PrivateBoostingClassifier": "boosting.boosting",
    "PrivateBoostingRegressor": "boosting.boosting",
    "PrivateClassifier": "public_data.private_classifier",
    "PrivateGridSearchCV": "selection.grid_search",
    "PrivateKMeans": "structure.kmeans",
    "PrivateLinearRegression": "public_data.linear_regression",
    "PrivatePCA": "structure.pca",
    "PrivatePipeline": "pipeline.pipeline",
    "PrivateRanges": "structure.ranges",
    "TableEncoder": "pipeline.encoder",
    "Text": "rows.columns",
}

__all__ = [*sorted(_HOMES)]

__getattr__, __dir__ = lazily(__name__, {**HOMES, **_HOMES})
