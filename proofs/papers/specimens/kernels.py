"""Kernel learners that are broken on purpose: silence for nothing, a float Gaussian process, updates from data, bare squares."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim
from dpaudit.targets import Target
from learners.rows.labels import TARGET_UNIT
from learners.solvers.losses import Loss
from learners.solvers.minimum import minimum
from learners.targets.kernels import (
    AWAY,
    DELTA,
    MOVED,
    NEAR_EDGE,
    ONE,
    RECORDS,
    RELATION,
    RIDGE,
    SCALE,
    TARGETS,
    UPDATES,
    Labelled,
    Record,
    least_squares,
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


BARE: Final = minimum(records=RECORDS, columns=2, ridge=RIDGE, loss=Loss("residual", 6))
"""Squares whose residuals are not cut in effect: no residual of this minimiser reaches 2**6 times the bound of the labels."""

FAR: Final[tuple[Labelled, Labelled]] = ((ONE * 3 // 5, ONE * 4 // 5, -TARGET_UNIT), (-ONE * 3 // 5, ONE * 4 // 5, -TARGET_UNIT))
"""A record that the others' steep line misses by several times the largest label, on either side of it."""


@cache
def bare(record: Labelled) -> NDArray[np.int64]:
    """The least-squares minimiser of a record among others, short ones that all have the largest label."""
    return least_squares(record, (0, ONE // 10, TARGET_UNIT), BARE)


def sample_squares(record: Labelled, count: int, rng: Generator) -> NDArray[np.float64]:
    """A coordinate of it with noise for slopes of at most the bound of the labels."""
    paid = Fraction(BARE.sensitivity, 2**6)
    noise = GaussianMechanism(sensitivity=math.ceil(paid), noise_multiplier=1, adjacency=RELATION)
    return np.asarray(noise.releases(bare(record), count, source_from(rng))[:, 0] / float(paid))


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
    Target(
        name="broken_kernel_squares",
        description="broken on purpose: least squares with noise for slopes that end at the bound of the labels",
        sample=sample_squares,
        claim=Claim(GDP(mu=1), adjacency=RELATION, note="wrong: squared losses are as steep as residuals are large"),
        neighbours=[FAR],
        public_data=True,
    ),
)

TWINS: Final[Mapping[str, Target]] = {
    "broken_kernel_silence": _NAMED["kernel_silence"],
    "broken_kernel_cholesky": _NAMED["kernel_span"],
    "broken_kernel_updates": _NAMED["kernel_coordinates"],
    "broken_kernel_squares": _NAMED["kernel_ridge"],
}
"""What they should have done."""
