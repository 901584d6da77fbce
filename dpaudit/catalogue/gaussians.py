"""Gaussian noise: right, a factor too narrow, and by a formula that holds for small epsilon only."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.specimen import Sampler, Specimen
from dpaudit.claims import GDP, ApproxDP

_FORMULA: Final = "Dwork and Roth 2014, Theorem A.1"


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """The specimens that claim mu = `epsilon`, or `epsilon` and a delta."""
    return (
        Specimen(
            name="gaussian",
            description="a number with Gaussian noise",
            source="Dong, Roth, Su 2022",
            guarantee=GDP(epsilon),
            pair=(0, 1),
            sample=with_gaussian(float(1 / epsilon)),
        ),
        Specimen(
            name="gaussian_narrow",
            description="a number with Gaussian noise that is too narrow by the square root of 2",
            source="a factor lost between variance and standard deviation",
            guarantee=GDP(epsilon),
            pair=(0, 1),
            sample=with_gaussian(float(1 / epsilon) / math.sqrt(2)),
            broken=True,
        ),
        Specimen(
            name="gaussian_classical",
            description="a number with Gaussian noise by the classical formula",
            source=_FORMULA,
            guarantee=ApproxDP(epsilon, "1e-5"),
            pair=(0, 1),
            sample=with_gaussian(classical_sigma(float(epsilon), 1e-5)),
        ),
    )


def published() -> tuple[Specimen, ...]:
    """The classical formula where it does not hold."""
    return (
        Specimen(
            name="gaussian_classical_beyond",
            description="a number with Gaussian noise by the classical formula, whose proof needs epsilon below 1",
            source=_FORMULA,
            guarantee=ApproxDP(8, "1/10"),
            pair=(0, 1),
            sample=with_gaussian(classical_sigma(8.0, 0.1)),
            broken=True,
        ),
    )


def classical_sigma(epsilon: float, delta: float) -> float:
    """The standard deviation sqrt(2 ln(1.25 / delta)) / epsilon."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def with_gaussian(sigma: float) -> Sampler:
    """A number with Gaussian noise."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(data + rng.normal(scale=sigma, size=count))

    return noisy
