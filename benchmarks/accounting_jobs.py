"""The jobs on which accountants are compared, and their true values from formulas and inversions that none of them uses.

A composition of Gaussian releases has a closed form, evaluated here with 60 digits of mpmath. Everything else is inverted along a
line in the plane of moments by tests/reference/composition_oracle.py, which knows no lattice and keeps 8 to 10 digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

from measuring import module_at

Part = tuple[str, dict[str, str], int]
"""Kind of release, its parameters as text, and how often it is made."""

ORACLE: Final = Path(__file__).resolve().parent.parent / "tests" / "reference" / "composition_oracle.py"


@dataclass(frozen=True)
class Job:
    """A composition and what is asked about it; `window` is the half width that prv-accountant is asked for."""

    name: str
    parts: tuple[Part, ...]
    asked: str
    at: tuple[str, ...]
    window: float = 1.0

    @property
    def questions(self) -> list[tuple[str, str]]:
        """Every question."""
        return [(self.asked, at) for at in self.at]


def gaussian(sigma: str, count: int) -> Part:
    """Gaussian releases."""
    return "gaussian", {"sigma": sigma}, count


def sampled(rate: str, sigma: str, count: int) -> Part:
    """Gaussian releases on Poisson samples."""
    return "sampled", {"sigma": sigma, "rate": rate}, count


def many() -> tuple[Part, ...]:
    """Fifty mechanisms: 20 Gaussian ones, 15 Laplace ones, 15 sampled Gaussian ones of 200 steps each."""
    return (
        *(gaussian(str(2 + index / 4), 1) for index in range(20)),
        *(("laplace", {"scale": str(2 + index / 2)}, 1) for index in range(15)),
        *(sampled(f"{0.01 + index / 200:.3f}", f"{0.9 + index / 20:.2f}", 200) for index in range(15)),
    )


DELTAS: Final = ("1e-6", "1e-12", "1e-20", "1e-30")

JOBS: Final = (
    Job("1,000 Gaussian, sigma 1", (gaussian("1", 1000),), "epsilon", DELTAS),
    Job("10^4 sampled Gaussian, q .01, sigma .8", (sampled("0.01", "0.8", 10**4),), "epsilon", DELTAS, 0.1),
    Job("10^6 sampled Gaussian, q .01, sigma .8", (sampled("0.01", "0.8", 10**6),), "epsilon", DELTAS),
    Job("500 Laplace, scale 1", (("laplace", {"scale": "1"}, 500),), "delta", ("250", "300", "400", "499"), 0.5),
    Job("50 different mechanisms", many(), "delta", ("25",), 0.1),
)
"""What is timed."""

DISTRIBUTION_DELTAS: Final = ("1e-6", "1e-8", "1e-9", "1e-10", "1e-11", "1e-12", "1e-14")

DISTRIBUTION_JOBS: Final = tuple(
    Job(f"sigma {sigma}, k {count:,}", (gaussian(sigma, count),), "epsilon", DISTRIBUTION_DELTAS)
    for sigma, count in (("1", 1), ("1", 100), ("10", 1000), ("5", 10**4), ("50", 10**4), ("100", 10**5))
)
"""Gaussian releases, where the truth has a closed form."""

ACCOUNTANT_JOBS: Final = tuple(
    Job(f"q {rate}, sigma {sigma}, k {count:,}", (sampled(rate, sigma, count),), "epsilon", ("1e-6", "1e-9", "1e-10", "1e-12"))
    for rate, sigma, count in (
        ("0.01", "0.8", 10**6),
        ("0.001", "1.1", 60_000),
        ("0.004", "1.0", 15_000),
        ("0.001", "2.0", 10**6),
        ("0.0005", "0.7", 10**6),
        ("0.01", "4.0", 10**5),
    )
)
"""Sampled Gaussian releases in the direction of removal, whose truth any valid answer has to reach."""


def exact(job: Job, at: str, near: tuple[float, float]) -> float:
    """The true answer; an epsilon is looked for around the interval `near`, which does not enter the value itself."""
    if all(kind == "gaussian" for kind, _, _ in job.parts):
        return _closed_form(job, at)
    if job.asked == "delta":
        return math.exp(_log_delta(job, float(at)))
    from scipy.optimize import brentq

    log_delta = math.log(float(at))
    low, high = near[0] * 0.98, near[1] * 1.02
    return float(brentq(lambda epsilon: _log_delta(job, epsilon) - log_delta, low, high, xtol=1e-13, rtol=1e-13))


def _log_delta(job: Job, epsilon: float) -> float:
    """Logarithm of delta by inversion of the moment function."""
    return float(_oracle().delta(epsilon, [_described(*part) for part in job.parts]))


def _described(kind: str, values: dict[str, str], count: int) -> tuple[str, dict[str, float], int]:
    """A part in the terms of the inversion."""
    exact_values: dict[str, Any] = {name: Fraction(value) for name, value in values.items()}
    if kind == "laplace":
        return kind, {"pure": float(1 / exact_values["scale"])}, count
    mu = float(1 / exact_values["sigma"])
    return (kind, {"mu": mu}, count) if kind == "gaussian" else (kind, {"mu": mu, "rate": float(exact_values["rate"])}, count)


@cache
def _oracle() -> Any:
    """The inversion that the reference tables of the tests come from."""
    return module_at(ORACLE)


def _closed_form(job: Job, at: str) -> float:
    """Epsilon of Gaussian releases from Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu) = delta, halving an interval in mpmath."""
    from mpmath import mp, mpf

    with mp.workdps(60):
        mu = mp.sqrt(sum(count / mpf(values["sigma"]) ** 2 for _, values, count in job.parts))

        def excess(epsilon: Any) -> Any:
            """Delta there over the one in question, less 1."""
            near = mp.erfc((epsilon / mu - mu / 2) / mp.sqrt(2))
            return (near - mp.exp(epsilon) * mp.erfc((epsilon / mu + mu / 2) / mp.sqrt(2))) / 2 / mpf(at) - 1

        low, high = mpf(0), mu * mu / 2 + 40 * mu + 40
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return float(high)
