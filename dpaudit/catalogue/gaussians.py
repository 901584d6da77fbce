"""Gaussian noise: right, a factor too narrow, and by a formula that holds for small epsilon only."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.released import Sampler, broken, sound
from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import GDP, ApproxDP

_FORMULA: Final = "Dwork and Roth 2014, Theorem A.1"


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """Return the specimens that claim mu = `epsilon`, or `epsilon` and a delta."""
    sigma, noise = float(1 / epsilon), "a number with Gaussian noise"
    return (
        sound("gaussian", noise, "Dong, Roth, Su 2022", GDP(epsilon), (0, 1), with_gaussian(sigma)),
        broken(
            "gaussian_narrow", f"{noise} that is too narrow by the square root of 2",
            "a factor lost between variance and standard deviation", GDP(epsilon), (0, 1), with_gaussian(sigma / math.sqrt(2)),
        ),
        sound(
            "gaussian_classical", f"{noise} by the classical formula", _FORMULA, ApproxDP(epsilon, "1e-5"), (0, 1),
            with_gaussian(classical_sigma(float(epsilon), 1e-5)),
        ),
    )  # fmt: skip


def published() -> tuple[Specimen, ...]:
    """Return the classical formula where it does not hold."""
    description = "a number with Gaussian noise by the classical formula, whose proof needs epsilon below 1"
    noisy = with_gaussian(classical_sigma(8.0, 0.1))
    return (broken("gaussian_classical_beyond", description, _FORMULA, ApproxDP(8, "1/10"), (0, 1), noisy),)


def classical_sigma(epsilon: float, delta: float) -> float:
    """The standard deviation sqrt(2 ln(1.25 / delta)) / epsilon."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def with_gaussian(sigma: float) -> Sampler:
    """A number with Gaussian noise."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(data + rng.normal(scale=sigma, size=count))

    return noisy
