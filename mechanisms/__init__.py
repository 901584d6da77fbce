"""Exact noise: laws that sample, and mechanisms that release and carry their own price and claim."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
    from mechanisms.gaussian import GaussianMechanism as GaussianMechanism
    from mechanisms.laplace import LaplaceMechanism as LaplaceMechanism
    from mechanisms.lattice import to_lattice as to_lattice
    from mechanisms.laws import DiscreteGaussian as DiscreteGaussian
    from mechanisms.laws import DiscreteLaplace as DiscreteLaplace
    from mechanisms.laws import RoundedGaussian as RoundedGaussian
    from mechanisms.response import RandomizedResponse as RandomizedResponse
    from mechanisms.sampling.random import InsecureSeededSourceForTestsOnly as InsecureSeededSourceForTestsOnly
    from mechanisms.sampling.random import OsBitSource as OsBitSource
    from mechanisms.sampling.random import source_from as source_from

_HOMES: Final = {
    "GaussianMechanism": "mechanisms.gaussian",
    "LaplaceMechanism": "mechanisms.laplace",
    "to_lattice": "mechanisms.lattice",
    **dict.fromkeys(("DiscreteGaussian", "DiscreteLaplace", "RoundedGaussian"), "mechanisms.laws"),
    **dict.fromkeys(("InsecureSeededSourceForTestsOnly", "OsBitSource", "source_from"), "mechanisms.sampling.random"),
    "RandomizedResponse": "mechanisms.response",
    "ExponentialMechanism": "mechanisms.exponential",
}

__all__ = [*sorted(_HOMES)]


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562), so that a caller pays only for what it uses."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mechanisms' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, loaded or not."""
    return sorted(__all__)
