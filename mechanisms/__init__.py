"""Exact noise: laws that sample, and mechanisms that release and carry their own price and claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from mechanisms.additive import AdditiveMechanism as AdditiveMechanism
    from mechanisms.contributions import clip_and_sum as clip_and_sum
    from mechanisms.contributions import clip_rows as clip_rows
    from mechanisms.discrete_gaussian import DiscreteGaussianMechanism as DiscreteGaussianMechanism
    from mechanisms.euclidean import EuclideanLaplace as EuclideanLaplace
    from mechanisms.euclidean import EuclideanMechanism as EuclideanMechanism
    from mechanisms.exponential import ExponentialMechanism as ExponentialMechanism
    from mechanisms.gaussian import GaussianMechanism as GaussianMechanism
    from mechanisms.histogram import HistogramMechanism as HistogramMechanism
    from mechanisms.laplace import LaplaceMechanism as LaplaceMechanism
    from mechanisms.lattice import clamp_to_lattice as clamp_to_lattice
    from mechanisms.laws import DiscreteGaussian as DiscreteGaussian
    from mechanisms.laws import DiscreteLaplace as DiscreteLaplace
    from mechanisms.laws import FiniteLaw as FiniteLaw
    from mechanisms.laws import Geometric as Geometric
    from mechanisms.laws import LawFromWeights as LawFromWeights
    from mechanisms.laws import RoundedGaussian as RoundedGaussian
    from mechanisms.laws import Staircase as Staircase
    from mechanisms.laws import TruncatedLaw as TruncatedLaw
    from mechanisms.noisy_max import NoisyMax as NoisyMax
    from mechanisms.partition_selection import PartitionSelection as PartitionSelection
    from mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from mechanisms.prefix_sums import PrefixSums as PrefixSums
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
    "GaussianMechanism": "gaussian",
    "LaplaceMechanism": "laplace",
    "clamp_to_lattice": "lattice",
    **dict.fromkeys(("clip_rows", "clip_and_sum"), "contributions"),
    **dict.fromkeys(("EuclideanLaplace", "EuclideanMechanism"), "euclidean"),
    "VectorMechanism": "vector",
    **dict.fromkeys(("DiscreteGaussian", "DiscreteLaplace", "FiniteLaw", "Geometric", "LawFromWeights"), "laws"),
    **dict.fromkeys(("RoundedGaussian", "Staircase", "TruncatedLaw"), "laws"),
    "AdditiveMechanism": "additive",
    **dict.fromkeys(("InsecureSeededSourceForTestsOnly", "OsBitSource", "source_from"), "sampling.random"),
    "PrefixSums": "prefix_sums",
    "RandomizedResponse": "response",
    "RealGaussianMechanism": "real_gaussian",
    "RealLaplaceMechanism": "real_laplace",
    "DiscreteGaussianMechanism": "discrete_gaussian",
    "ExponentialMechanism": "exponential",
    "NoisyMax": "noisy_max",
    "PermuteAndFlip": "permute_and_flip",
    "TopK": "top_k",
    "AboveThreshold": "above_threshold",
    "HistogramMechanism": "histogram",
    "PartitionSelection": "partition_selection",
    "SparseVector": "sparse_vector",
    "StabilityHistogram": "stability_histogram",
}

__all__ = [*sorted(_HOMES)]

__getattr__, __dir__ = lazily(__name__, _HOMES)
