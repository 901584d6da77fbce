"""Differentially private learners: scikit-learn estimators made of exact releases, each fit with a record of what it cost."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from learners.budget import Budget as Budget
    from learners.margins.erm import private_erm as private_erm
    from learners.margins.kernel import KernelMarginClassifier as KernelMarginClassifier
    from learners.margins.label_private import LabelPrivateClassifier as LabelPrivateClassifier
    from learners.margins.margin import MarginClassifier as MarginClassifier
    from learners.margins.margin_search import MarginSearch as MarginSearch
    from learners.margins.neural import NeuralMarginClassifier as NeuralMarginClassifier
    from learners.margins.polynomial_margin import PolynomialMarginClassifier as PolynomialMarginClassifier
    from learners.margins.pure_margin import PureMarginClassifier as PureMarginClassifier
    from learners.private import PrivateClassifier as PrivateClassifier
    from learners.record import PrivacyRecord as PrivacyRecord

_HOMES: Final = {
    "Budget": "learners.budget",
    "KernelMarginClassifier": "learners.margins.kernel",
    "LabelPrivateClassifier": "learners.margins.label_private",
    "MarginClassifier": "learners.margins.margin",
    "MarginSearch": "learners.margins.margin_search",
    "NeuralMarginClassifier": "learners.margins.neural",
    "PolynomialMarginClassifier": "learners.margins.polynomial_margin",
    "PrivacyRecord": "learners.record",
    "private_erm": "learners.margins.erm",
    "PrivateClassifier": "learners.private",
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
