"""Pairs of a broken learner and its sound twin, which differ in one step; and many noisy copies of a private vector, as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from learners.targets.harness import make_target
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.claims import Claim
    from dpaudit.targets import Target
    from mechanisms.gaussian import GaussianMechanism

Pair = tuple["Target", "Target"]
"""A broken learner, which an audit must refute, and its sound twin, which none may."""


def pair_up(
    broken: tuple[str, str, Callable[..., Any]],
    sound: tuple[str, str, Callable[..., Any]],
    claim: Claim,
    pair: tuple[Any, Any],
    *,
    wrong: str = "",
    **declared: Any,
) -> Pair:
    """Both of a pair from name, description and sampler of each, under one claim; a note on the broken one's says what is wrong."""
    name, description, sample = broken
    noted = replace(claim, note=f"wrong: {wrong}") if wrong else claim
    specimen = make_target(name, f"broken on purpose: {description}", sample, noted, pair, **declared)
    return specimen, make_target(*sound, claim, pair, **declared)


@dataclass(frozen=True)
class Noisy:
    """A Gaussian release of a vector, projected on the direction in which it differs for a pair."""

    value: Callable[[Any], NDArray[np.int64]]  # from a dataset to integers, shape (k,)
    pair: tuple[Any, Any]  # neighbouring datasets
    mechanism: GaussianMechanism  # adds the noise, whose sensitivity may be false

    def sample(self, data: Any, count: int, rng: Generator) -> NDArray[np.float64]:
        """How far each copy lies in that direction, in units of the noise."""
        first, second = (self.value(each) for each in self.pair)
        direction = (second - first) / (max(float(np.linalg.norm(second - first)), 1.0) * float(self.mechanism.sigma))
        copies = self.mechanism.releases(self.value(data), count, source_from(rng))
        return np.asarray(np.einsum("ij,j->i", copies, direction))
