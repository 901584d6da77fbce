"""Exact noise: laws that sample, and mechanisms that release and carry their own price and claim."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from mechanisms.additive import AdditiveMechanism as AdditiveMechanism
    from mechanisms.contributions import clipped_rows as clipped_rows
    from mechanisms.contributions import clipped_sum as clipped_sum
    from mechanisms.discrete_gaussian import DiscreteGaussianMechanism as DiscreteGaussianMechanism
    from mechanisms.euclidean import EuclideanLaplace as EuclideanLaplace
    from mechanisms.euclidean import EuclideanMechanism as EuclideanMechanism
    from mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
    from mechanisms.gaussian import GaussianMechanism as GaussianMechanism
    from mechanisms.histogram import HistogramMechanism as HistogramMechanism
    from mechanisms.laplace import LaplaceMechanism as LaplaceMechanism
    from mechanisms.lattice import to_lattice as to_lattice
    from mechanisms.laws import DiscreteGaussian as DiscreteGaussian
    from mechanisms.laws import DiscreteLaplace as DiscreteLaplace
    from mechanisms.laws import FiniteLaw as FiniteLaw
    from mechanisms.laws import Geometric as Geometric
    from mechanisms.laws import LawFromWeights as LawFromWeights
    from mechanisms.laws import RoundedGaussian as RoundedGaussian
    from mechanisms.laws import Staircase as Staircase
    from mechanisms.laws import Truncated as Truncated
    from mechanisms.noisy_max import NoisyMax as NoisyMax
    from mechanisms.partition_selection import PartitionSelection as PartitionSelection
    from mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from mechanisms.real_gaussian import RealGaussianMechanism as RealGaussianMechanism
    from mechanisms.real_laplace import RealLaplaceMechanism as RealLaplaceMechanism
    from mechanisms.response import RandomizedResponse as RandomizedResponse
    from mechanisms.sampling.random import InsecureSeededSourceForTestsOnly as InsecureSeededSourceForTestsOnly
    from mechanisms.sampling.random import OsBitSource as OsBitSource
    from mechanisms.sampling.random import source_from as source_from
    from mechanisms.sparse_vector import SparseVector as SparseVector
    from mechanisms.stability_histogram import StabilityHistogram as StabilityHistogram
    from mechanisms.top_k import TopK as TopK
    from mechanisms.vector import VectorMechanism as VectorMechanism

_HOMES: Final = {
    "GaussianMechanism": "mechanisms.gaussian",
    "LaplaceMechanism": "mechanisms.laplace",
    "to_lattice": "mechanisms.lattice",
    **dict.fromkeys(("clipped_rows", "clipped_sum"), "mechanisms.contributions"),
    **dict.fromkeys(("EuclideanLaplace", "EuclideanMechanism"), "mechanisms.euclidean"),
    "VectorMechanism": "mechanisms.vector",
    **dict.fromkeys(("DiscreteGaussian", "DiscreteLaplace", "FiniteLaw", "Geometric", "LawFromWeights"), "mechanisms.laws"),
    **dict.fromkeys(("RoundedGaussian", "Staircase", "Truncated"), "mechanisms.laws"),
    "AdditiveMechanism": "mechanisms.additive",
    **dict.fromkeys(("InsecureSeededSourceForTestsOnly", "OsBitSource", "source_from"), "mechanisms.sampling.random"),
    "RandomizedResponse": "mechanisms.response",
    "RealGaussianMechanism": "mechanisms.real_gaussian",
    "RealLaplaceMechanism": "mechanisms.real_laplace",
    "DiscreteGaussianMechanism": "mechanisms.discrete_gaussian",
    "ExponentialMechanism": "mechanisms.exponential",
    "NoisyMax": "mechanisms.noisy_max",
    "PermuteAndFlip": "mechanisms.permute_and_flip",
    "TopK": "mechanisms.top_k",
    "AboveThreshold": "mechanisms.above_threshold",
    "HistogramMechanism": "mechanisms.histogram",
    "PartitionSelection": "mechanisms.partition_selection",
    "SparseVector": "mechanisms.sparse_vector",
    "StabilityHistogram": "mechanisms.stability_histogram",
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
