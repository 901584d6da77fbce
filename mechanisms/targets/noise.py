"""Targets that add noise to a number or a vector; a data set is itself the query's value, and neighbours are near in a norm."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import GDP, Adjacency, ApproxDP, Claim, PureDP
from dpaudit.targets import Target
from mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from mechanisms.euclidean import EuclideanMechanism
from mechanisms.gaussian import GaussianMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.laws import FiniteLaw, Staircase
from mechanisms.real_gaussian import RealGaussianMechanism
from mechanisms.real_laplace import RealLaplaceMechanism
from mechanisms.sampling.random import source_from
from mechanisms.targets.sound import sound
from mechanisms.vector import VectorMechanism

if TYPE_CHECKING:
    from mechanisms.additive import AdditiveMechanism
    from mechanisms.prefix_sums import PrefixSums

_L1: Final = Adjacency("norm_ball", norm="l1", radius=1)
_L2: Final = Adjacency("norm_ball", norm="l2", radius=1)
_FOUR: Final = Adjacency("norm_ball", norm="l1", radius=4)

LAPLACE: Final = LaplaceMechanism(sensitivity=1, epsilon=1, adjacency=_L1)
GAUSSIAN: Final = GaussianMechanism(sensitivity=1, sigma=1, lattice="1/256", adjacency=_L2)
DISCRETE_GAUSSIAN: Final = DiscreteGaussianMechanism(sensitivity=1, sigma=1, adjacency=_L2)
REAL_LAPLACE: Final = RealLaplaceMechanism(sensitivity=1, epsilon=1, adjacency=_L1)
REAL_GAUSSIAN: Final = RealGaussianMechanism(sensitivity=1, sigma=1, adjacency=_L2)
EUCLIDEAN: Final = EuclideanMechanism(sensitivity=1, epsilon=1, lattice="1/64", adjacency=_L2)
VECTOR: Final = VectorMechanism(norm_bound=1, noise_multiplier=1, adjacency="replace_one")
DAYS: Final = 8
RUNNING: Final = Fraction(24181277086986705937, 48362554173973411873)  # mu of the running sums, 1/2 rounded up
STAIRCASE: Final = Staircase(sensitivity=4, epsilon=1)
# Weights that halve with each step, up to a last one whose next neighbour would be impossible.
BOUNDED: Final = FiniteLaw({-2: 1, -1: 2, 0: 4, 1: 2, 2: 1})


@cache
def _prefix_sums() -> PrefixSums:
    """Running sums; made when they are first used, since a matrix is priced when it is made."""
    from mechanisms.prefix_sums import PrefixSums

    return PrefixSums(steps=DAYS, sensitivity=1, noise_multiplier=2)


@cache
def _staircase() -> AdditiveMechanism:
    """Staircase noise; made when it is first used, since a mechanism of any law is priced when it is made."""
    from mechanisms.additive import AdditiveMechanism

    return AdditiveMechanism(STAIRCASE, sensitivity=4, adjacency=_FOUR)


@cache
def _bounded() -> AdditiveMechanism:
    """Noise of five values; made when it is first used, as above."""
    from mechanisms.additive import AdditiveMechanism

    return AdditiveMechanism(BOUNDED, sensitivity=1, adjacency=_L1)


def sample_staircase(value: int, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Copies of an integer with noise that is level over the sensitivity."""
    return _staircase().releases(value, count, source_from(rng))


def sample_bounded(value: int, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Copies of an integer that are never further off than 2."""
    return _bounded().releases(value, count, source_from(rng))


def law_of_bounded(value: int) -> dict[int, Fraction]:
    """The exact law of a copy that is never further off than 2."""
    return {value + noise: mass for noise, mass in zip(BOUNDED.values, BOUNDED.probabilities, strict=True)}


def sample_euclidean(value: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Noisy copies of a vector, one in each row."""
    return EUCLIDEAN.releases(np.array(value, dtype=np.float64), count, source_from(rng))


def sample_running_counts(days: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Running counts of records, each of which is the number of its day, in a row for each copy."""
    counts = np.bincount(days, minlength=DAYS) if days else np.zeros(DAYS, np.int64)
    return _prefix_sums().releases(counts, count, source_from(rng))


def sample_vector(rows: Sequence[Sequence[int]], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Noisy sums of clipped rows, one in each row."""
    return VECTOR.in_units(VECTOR.releases(np.array(rows), count, source_from(rng)))


TARGETS: Final = (
    sound("laplace", "discrete Laplace noise on an integer that moves by 1", LAPLACE, [(0, 1)]),
    sound("gaussian", "rounded Gaussian noise on an integer that moves by 1", GAUSSIAN, [(0, 1)]),
    sound("discrete_gaussian", "discrete Gaussian noise on an integer that moves by 1", DISCRETE_GAUSSIAN, [(0, 1)]),
    Target(
        name="staircase",
        description="staircase noise on an integer that moves by 4",
        sample=sample_staircase,
        claim=Claim(PureDP(STAIRCASE.epsilon), adjacency=_FOUR),
        proof="proofs.chain#AdditiveMechanism.claim",
        neighbours=[(0, 4)],
        public_data=True,
    ),
    Target(
        name="bounded_noise",
        description="noise of at most 2 on an integer that moves by 1, which one time in ten tells all",
        sample=sample_bounded,
        claim=Claim(ApproxDP(epsilon="7/10", delta=BOUNDED.probabilities[0]), adjacency=_L1),
        neighbours=[(0, 1)],
        pmf=law_of_bounded,
        public_data=True,
    ),
    sound("real_laplace", "continuous Laplace noise on a float that moves by 1, rounded once", REAL_LAPLACE, [(0.0, 1.0)]),
    sound("real_gaussian", "continuous Gaussian noise on a float that moves by 1, rounded once", REAL_GAUSSIAN, [(0.0, 1.0)]),
    sound(
        "euclidean_laplace",
        "Euclidean Laplace noise on a vector of two numbers that moves by 1",
        EUCLIDEAN,
        [((0, 0), (1, 0))],
        sample_euclidean,
    ),
    Target(
        name="running_counts",
        description="counts of records up to each of eight days, with noise that is correlated over the days",
        sample=sample_running_counts,
        claim=Claim(GDP(mu=RUNNING), adjacency="add_remove"),
        proof="proofs.chain#PrefixSums.claim",
        neighbours=[((0,), ()), ((2, 5), (5,))],
        public_data=True,
    ),
    sound(
        "clipped_sum",
        "Gaussian noise on a sum of rows that are clipped to length 1 and may turn round",
        VECTOR,
        [(((3, 4), (1, 0)), ((-3, -4), (1, 0)))],
        sample_vector,
    ),
)
