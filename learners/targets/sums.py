"""Targets on every learner of noisy sums, seen from inside: two classes, several, and behind public maps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from dpaudit.targets import Target
from learners.margins.kernel import KernelMarginClassifier
from learners.margins.polynomial_margin import PolynomialMarginClassifier
from learners.public_data.private_classifier import PrivateClassifier
from learners.targets.inside import Inside, Records

if TYPE_CHECKING:
    from dpaudit.exact import Exact
    from learners.estimator import PrivateEstimator

COSINE: Final = 9 / 10
"""Between the features of two records of opposite labels: all releases move, gradients nearly all they can."""

_RECORDS: Final = 4
_INTERCEPT: Final = 1 / 8


def _pair(first: tuple[float, ...], second: tuple[float, ...], labels: tuple[int, int] = (1, 0)) -> tuple[Records, Records]:
    """A record that changes its features and its label; the rest is zero."""
    rest = (((0.0,) * len(first), 0),) * (_RECORDS - 1)
    return ((first, labels[0]), *rest), ((second, labels[1]), *rest)


def _turned(cosine: float) -> tuple[Records, Records]:
    """A record of norm 1 that gets the other label and features at an angle."""
    return _pair((1.0, 0.0), (cosine, math.sqrt(1 - cosine**2)))


PAIRS: Final[dict[str, tuple[Records, Records]]] = {
    "quasi_newton_releases": _turned(COSINE * (1 + _INTERCEPT**2) - _INTERCEPT**2),
    "softmax_releases": _pair((1.0,), (-1.0,), (0, 0)),
    "kernel_releases": _pair((0.5, 0.0), (0.5 + 0.2 * math.sqrt(-2 * math.log(COSINE)), 0.0)),
    "polynomial_releases": _turned(2 * math.sqrt(COSINE) - 1),
}
"""Neighbours by target: the Gaussian kernel of width 1/5 is 9/10 at the distance of the third pair, and so is (1 + <x, y>)^2 / 4,
which the polynomial kernel is on the unit sphere, for the last."""

_DESCRIPTIONS: Final = {
    "quasi_newton_releases": "profiles, moment and all gradients of a linear classifier; one record turns and changes its label",
    "softmax_releases": "all gradients of a linear classifier of three classes; one record changes its sign",
    "kernel_releases": "profiles, moment and all gradients on random Fourier features; one record moves and changes its label",
    "polynomial_releases": "profiles, moment and all gradients on monomials; one record turns and changes its label",
}


def models(epsilon: Exact) -> dict[str, PrivateEstimator]:
    """A learner for each name in `PAIRS`."""
    two: dict[str, Any] = {"epsilon": epsilon, "delta": "1e-5", "feature_norm": 1, "classes": [0, 1]}
    return {
        "quasi_newton_releases": PrivateClassifier(**two),
        "softmax_releases": PrivateClassifier(**{**two, "classes": [0, 1, 2]}),
        "kernel_releases": KernelMarginClassifier(**two, frequencies=1),
        "polynomial_releases": PolynomialMarginClassifier(**two),
    }


def inside_targets(epsilon: Exact) -> tuple[Target, ...]:
    """Targets on all releases of every learner of noisy sums."""
    return tuple(Inside(model, PAIRS[name]).target(name, _DESCRIPTIONS[name]) for name, model in models(epsilon).items())


TARGETS: Final = inside_targets(1)
