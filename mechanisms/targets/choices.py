"""Targets that choose: a category of one person, one candidate out of several by its score, or the best two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency
from dpaudit.targets import Sensitivity, Target
from mechanisms.exponential import ExponentialMechanism
from mechanisms.noisy_max import NoisyMax
from mechanisms.permute_and_flip import PermuteAndFlip
from mechanisms.response import RandomizedResponse
from mechanisms.sampling.random import source_from
from mechanisms.top_k import TopK

# Where a data set is a row of scores, each of them may move by 1, in either direction.
_SCORES: Final = Adjacency("norm_ball", norm="linf", radius=1)
WARDS: Final = ("north", "east", "south")

RESPONSE: Final = RandomizedResponse(epsilon=1, categories=3)
EXPONENTIAL: Final = ExponentialMechanism(sensitivity=1, epsilon=1, adjacency=_SCORES)
PERMUTE_AND_FLIP: Final = PermuteAndFlip(sensitivity=1, epsilon=1, adjacency=_SCORES)
TOP_TWO: Final = TopK(k=2, sensitivity=1, epsilon=1, adjacency=_SCORES)
LARGEST: Final = NoisyMax(sensitivity=1, epsilon=1, monotonic=True)


def sample_response(category: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Reports of one person with a given category."""
    return RESPONSE.releases(category, count, source_from(rng))


def sample_choice(scores: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choices among candidates with given scores, by the exponential mechanism."""
    return EXPONENTIAL.releases(scores, count, source_from(rng))


def sample_flip(scores: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choices among candidates with given scores, by permute-and-flip."""
    return PERMUTE_AND_FLIP.releases(scores, count, source_from(rng))


def sample_top_two(scores: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """First and second choices among candidates with given scores, one pair in each row."""
    return TOP_TWO.releases(scores, count, source_from(rng))


def ward_sizes(patients: Sequence[str]) -> NDArray[np.int64]:
    """How many patients are in each ward: one size moves by 1 when a patient is added or removed, and none the other way."""
    return np.array([sum(ward == patient for patient in patients) for ward in WARDS], dtype=np.int64)


def sample_largest(patients: Sequence[str], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which ward seems to be the largest."""
    return LARGEST.releases(ward_sizes(patients), count, source_from(rng))


TARGETS: Final[tuple[Target, ...]] = (
    Target(
        name="randomized_response",
        description="one person's category out of three, reported truthfully now and then",
        sample=sample_response,
        claim=RESPONSE.claim,
        proof="proofs.chain#RandomizedResponse.claim",
        neighbours=[(0, 1)],
        public_data=True,
    ),
    Target(
        name="exponential_mechanism",
        description="a choice among three candidates whose scores move by 1 in opposite directions",
        sample=sample_choice,
        claim=EXPONENTIAL.claim,
        proof="proofs.chain#ExponentialMechanism.claim",
        neighbours=[((0, 5, 5), (1, 4, 4))],
        public_data=True,
    ),
    Target(
        name="permute_and_flip",
        description="a choice between two candidates whose scores move by 1 towards each other",
        sample=sample_flip,
        claim=PERMUTE_AND_FLIP.claim,
        proof="proofs.chain#PermuteAndFlip.claim",
        neighbours=[((2, 0), (1, 1))],
        public_data=True,
    ),
    Target(
        name="top_k",
        description="the best two of four candidates whose scores move by 1 in opposite directions",
        sample=sample_top_two,
        claim=TOP_TWO.claim,
        proof="proofs.chain#TopK.claim",
        neighbours=[((0, 0, 5, 5), (1, 1, 4, 4))],
        public_data=True,
    ),
    Target(
        name="noisy_max",
        description="which of three wards has the most patients?",
        sample=sample_largest,
        claim=LARGEST.claim,
        proof="proofs.chain#NoisyMax.claim",
        neighbours=[(("north", "north"), ("north", "north", "east"))],
        sensitivity=Sensitivity(query=ward_sizes, bound=1, metric="linf"),
        public_data=True,
    ),
)
