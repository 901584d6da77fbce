"""Targets that choose: a category of one person, one candidate out of several by its score, or the best two."""

from __future__ import annotations

from typing import Final

from dpaudit.targets import Target
from mechanisms.exponential import ExponentialMechanism
from mechanisms.noisy_max import NoisyMax
from mechanisms.permute_and_flip import PermuteAndFlip
from mechanisms.response import RandomizedResponse
from mechanisms.targets.sound import SCORES, sound
from mechanisms.top_k import TopK

RESPONSE: Final = RandomizedResponse(epsilon=1, categories=3)
EXPONENTIAL: Final = ExponentialMechanism(sensitivity=1, epsilon=1, adjacency=SCORES)
PERMUTE_AND_FLIP: Final = PermuteAndFlip(sensitivity=1, epsilon=1, adjacency=SCORES)
TOP_TWO: Final = TopK(k=2, sensitivity=1, epsilon=1, adjacency=SCORES)
LARGEST: Final = NoisyMax(sensitivity=1, epsilon=1, adjacency=SCORES)


TARGETS: Final[tuple[Target, ...]] = (
    sound("randomized_response", "one person's category out of three, reported truthfully now and then", RESPONSE, [(0, 1)]),
    sound(
        "exponential_mechanism",
        "a choice among three candidates whose scores move by 1 in opposite directions",
        EXPONENTIAL,
        [((0, 5, 5), (1, 4, 4))],
    ),
    sound(
        "permute_and_flip",
        "a choice between two candidates whose scores move by 1 towards each other",
        PERMUTE_AND_FLIP,
        [((2, 0), (1, 1))],
    ),
    sound(
        "top_k",
        "the best two of four candidates whose scores move by 1 in opposite directions",
        TOP_TWO,
        [((0, 0, 5, 5), (1, 1, 4, 4))],
    ),
    sound(
        "noisy_max",
        "the place of the largest of two noisy scores that move by 1 towards each other",
        LARGEST,
        [((2, 0), (1, 1))],
    ),
)
