"""Kernel learners that are broken on purpose: silence for nothing, a float Gaussian process, updates counted from data."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim
from learners.targets.harness import make_target
from learners.targets.kernels import (
    AWAY,
    DELTA,
    MOVED,
    NEAR_EDGE,
    ONE,
    RELATION,
    SCALE,
    TARGETS,
    UPDATES,
    Record,
    silent_rounds,
    weights_of,
)
from mechanisms.gaussian import GaussianMechanism
from mechanisms.sampling.random import source_from
from proofs.papers.specimens.pairs import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.claims import Guarantee
    from dpaudit.targets import Target

ANGLE: Final = 1e-8
FINE: Final = GaussianMechanism(sensitivity=1, noise_multiplier=4, lattice=Fraction(1, 2**40), adjacency=RELATION)
"""The claim would hold if the answers were what the float Cholesky factor says they are."""

_NAMED: Final = {target.name: target for target in TARGETS}
_SMALL: Final = Fraction(1, 4)


def sample_cholesky(side: int, count: int, rng: Generator) -> NDArray[np.float64]:
    """Second answer less the first, at two points at an angle of 1e-8, with noise from the Cholesky factor of their kernel.

    The minimiser is half a sensitivity along or against what the second point adds to the first.
    """
    cosine, sine = math.cos(ANGLE), math.sin(ANGLE)
    left = math.sqrt(max(0.0, 1 - cosine * cosine))  # 0 in floats: the factor says that the second answer needs no noise of its own
    noise = FINE.releases(np.zeros(2), count, source_from(rng))
    first = noise[:, 0]
    second = side / 2 * sine + cosine * noise[:, 0] + left * noise[:, 1]
    return np.asarray(second - cosine * first)


def updates_for(norm: float) -> int:
    """As many updates as weights of a norm can need, which is public for a public bound only."""
    return math.ceil(norm**2)


def sample_norm(records: tuple[Record, ...], count: int, rng: Generator) -> NDArray[np.int64]:
    """Updates with which runs end whose number was computed from the norm of the minimiser itself."""
    del rng
    weights = weights_of(records)
    return np.full(count, updates_for(float(np.sqrt(weights @ weights)) / 2**10))


def _broken(name: str, description: str, sample: Callable[..., Any], guarantee: Guarantee, pair: Any, wrong: str) -> Target:
    """A broken kernel learner."""
    claim = Claim(guarantee, adjacency=RELATION, note=f"wrong: {wrong}")
    return make_target(name, f"broken on purpose: {description}", sample, claim, pair)


PAIRS: Final[tuple[Pair, ...]] = (
    (
        _broken(
            "broken_kernel_silence",
            "an interactive kernel predictor that charges its updates only, as if silence told nothing",
            silent_rounds,
            ApproxDP(epsilon=Fraction(UPDATES * MOVED, SCALE), delta=DELTA),
            NEAR_EDGE,
            "silence tells more",
        ),
        _NAMED["kernel_silence"],
    ),
    (
        _broken(
            "broken_kernel_cholesky",
            "a Gaussian process release point by point, whose noise comes from a float Cholesky factor",
            sample_cholesky,
            GDP(mu=_SMALL),
            (1, -1),
            "nearly equal points get no noise between them",
        ),
        _NAMED["kernel_span"],
    ),
    (
        _broken(
            "broken_kernel_updates",
            "a number of updates that is computed from the norm of the private minimiser",
            sample_norm,
            ApproxDP(epsilon=1, delta=DELTA),
            (AWAY[0], ((0, ONE),)),
            "the norm is private",
        ),
        _NAMED["kernel_coordinates"],
    ),
)
