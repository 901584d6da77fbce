"""Kernel learners that are broken on purpose: silence for nothing, a float Gaussian process, a number of updates from the data."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim
from dpaudit.targets import Target
from learners.audits.kernels import (
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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

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


SPECIMENS: Final = (
    Target(
        name="broken_kernel_silence",
        description="broken on purpose: an interactive kernel predictor that charges its updates only, as if silence told nothing",
        sample=silent_rounds,
        claim=Claim(
            ApproxDP(epsilon=Fraction(UPDATES * MOVED, SCALE), delta=DELTA), adjacency=RELATION, note="wrong: silence tells more"
        ),
        neighbours=[NEAR_EDGE],
        public_data=True,
    ),
    Target(
        name="broken_kernel_cholesky",
        description="broken on purpose: a Gaussian process release point by point, whose noise comes from a float Cholesky factor",
        sample=sample_cholesky,
        claim=Claim(GDP(mu=_SMALL), adjacency=RELATION, note="wrong: nearly equal points get no noise between them"),
        neighbours=[(1, -1)],
        public_data=True,
    ),
    Target(
        name="broken_kernel_updates",
        description="broken on purpose: a number of updates that is computed from the norm of the private minimiser",
        sample=sample_norm,
        claim=Claim(ApproxDP(epsilon=1, delta=DELTA), adjacency=RELATION, note="wrong: the norm is private"),
        neighbours=[(AWAY[0], ((0, ONE),))],
        public_data=True,
    ),
)

TWINS: Final[Mapping[str, Target]] = {
    "broken_kernel_silence": _NAMED["kernel_silence"],
    "broken_kernel_cholesky": _NAMED["kernel_span"],
    "broken_kernel_updates": _NAMED["kernel_coordinates"],
}
"""What they should have done."""
