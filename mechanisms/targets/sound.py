"""A target made of a mechanism: its claim, the place of its proof, and neighbours on which the claim is nearly met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim
from dpaudit.targets import Sensitivity, Target
from mechanisms.sampling.random import source_from

SCORES: Final = Adjacency("norm_ball", norm="linf", radius=1)
"""The relation where a data set is a row of scores or answers: each of them may move by 1, in either direction."""


class Sampled(Protocol):
    """A mechanism that says what it promises, and releases the same data many times."""

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test."""

    @property
    def releases(self) -> Callable[..., Any]:
        """Independent releases: (data, how many, source of bits)."""


@dataclass(frozen=True)
class Releases:
    """Independent releases of a mechanism on data that it takes as they are."""

    mechanism: Sampled

    def __call__(self, data: Any, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """So many of them, with the noise that an audit's generator stands for."""
        released: NDArray[Any] = self.mechanism.releases(data, count, source_from(rng))
        return released


class Compared(Protocol):
    """A mechanism that says what it promises, and compares the same answers with a threshold in many runs."""

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test."""

    @property
    def releases(self) -> Callable[..., Any]:
        """Independent runs: (threshold, data, how many, source of bits)."""


@dataclass(frozen=True)
class Above:
    """Independent runs of a mechanism that compares, with the public threshold 0, data that it takes as they are."""

    mechanism: Compared

    def __call__(self, data: Any, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """So many of them, with the noise that an audit's generator stands for."""
        compared: NDArray[Any] = self.mechanism.releases(0, data, count, source_from(rng))
        return compared


def sound(
    name: str,
    question: str,
    mechanism: Sampled,
    neighbours: list[tuple[Any, Any]],
    sample: Callable[[Any, int, np.random.Generator], NDArray[Any]] | None = None,
    *,
    sensitivity: Sensitivity | None = None,
    public_data: bool = True,
) -> Target:
    """A target with the claim of a mechanism and the proof of that claim; without `sample` the data are what it releases."""
    return Target(
        name=name,
        description=question,
        sample=sample or Releases(mechanism),
        claim=mechanism.claim,
        proof=f"proofs.chain#{type(mechanism).__name__}.claim",
        neighbours=neighbours,
        sensitivity=sensitivity,
        public_data=public_data,
    )
