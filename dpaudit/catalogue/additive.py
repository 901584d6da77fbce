"""Laplace noise on numbers: right, too little, several times, sampled first, snapped to a grid, and now and then forgotten."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.noise import laplace
from dpaudit.catalogue.specimen import ONE_MOVES, Sampler, Specimen, rounded_up
from dpaudit.claims import ApproxDP, PureDP

PARTS: Final = 20
LEAK: Final = 1e-3
BOUND: Final = 100.0
SHARE: Final = Fraction(1, 2)

_CELLS: Final = ((1, 1, 1, 1, 1), (2, 1, 1, 1, 1))


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """The specimens that claim `epsilon` or are made from it."""
    scale = float(1 / epsilon)
    amplified = [rounded_up(math.log1p(float(share) * math.expm1(epsilon))) for share in (SHARE, SHARE**2)]
    specimens = (
        Specimen(
            name="laplace",
            description="a number with Laplace noise",
            source="Dwork, McSherry, Nissim, Smith 2006",
            guarantee=PureDP(epsilon),
            pair=(0, 1),
            sample=with_laplace(scale),
        ),
        Specimen(
            name="laplace_half",
            description="a number with half the Laplace noise that it needs",
            source="a sensitivity of 1 used where it is 2",
            guarantee=PureDP(epsilon),
            pair=(0, 1),
            sample=with_laplace(scale / 2),
            broken=True,
        ),
        Specimen(
            name="laplace_parallel",
            description=f"one number released {PARTS} times, each at a {PARTS}th of epsilon",
            source="Bichsel, Steffen, Bogunovic, Vechev 2021",
            guarantee=PureDP(epsilon),
            pair=(0, 1),
            sample=with_laplace(PARTS * scale, copies=PARTS),
        ),
        Specimen(
            name="laplace_snapped",
            description="a number with Laplace noise, rounded to a grid as coarse as the noise",
            source="Mironov 2012",
            guarantee=PureDP(epsilon),
            pair=(0, 1),
            sample=snapped(scale),
        ),
        Specimen(
            name="noisy_histogram",
            description="cells with Laplace noise",
            source="Ding, Wang, Wang, Zhang, Kifer 2018",
            guarantee=PureDP(epsilon),
            adjacency=ONE_MOVES,
            pair=_CELLS,
            sample=with_laplace(scale),
        ),
        Specimen(
            name="noisy_histogram_inverted",
            description="cells with Laplace noise of scale epsilon instead of 1 / epsilon",
            source="Ding, Wang, Wang, Zhang, Kifer 2018",
            guarantee=PureDP(epsilon),
            adjacency=ONE_MOVES,
            pair=_CELLS,
            sample=with_laplace(float(epsilon)),
            broken=True,
        ),
        Specimen(
            name="sampled_laplace",
            description="a person who counts with probability 1/2, Laplace noise; no gain is claimed",
            source="Balle, Barthe, Gaboardi 2018",
            guarantee=PureDP(epsilon),
            pair=(0, 1),
            sample=sampled(scale),
        ),
        Specimen(
            name="sampled_laplace_amplified",
            description="a person who counts with probability 1/2, Laplace noise; the gain of sampling is claimed",
            source="Balle, Barthe, Gaboardi 2018",
            guarantee=PureDP(amplified[0]),
            pair=(0, 1),
            sample=sampled(scale),
        ),
        Specimen(
            name="sampled_laplace_twice",
            description="a person who counts with probability 1/2, Laplace noise; the gain of sampling is claimed twice",
            source="an accountant given the sampling that the loader applies too",
            guarantee=PureDP(amplified[1]),
            pair=(0, 1),
            sample=sampled(scale),
            broken=True,
        ),
        Specimen(
            name="rare_leak",
            description="a number with Laplace noise, without any noise once in a thousand times",
            source="a fallback path that nobody tests",
            guarantee=ApproxDP(epsilon, "1e-5"),
            pair=(0, 1),
            sample=leaking(scale),
            broken=True,
        ),
    )
    return tuple(one for one in specimens if one.name != "noisy_histogram_inverted" or epsilon < 1)


def with_laplace(scale: float, *, copies: int = 1) -> Sampler:
    """Every answer with its own Laplace noise; a number `copies` times."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        answers = np.asarray(data, dtype=float)
        shape = answers.shape or ((copies,) if copies > 1 else ())
        return np.asarray(answers + laplace(rng, scale, (count, *shape)))

    return noisy


def snapped(scale: float) -> Sampler:
    """Laplace noise, rounded to the least power of two from the scale on, within bounds."""
    scale *= 1 + BOUND * 2.0**-49
    step = 2.0 ** math.ceil(math.log2(scale))

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        value = np.clip(data, -BOUND, BOUND) + laplace(rng, scale, count)
        return np.asarray(np.clip(step * np.round(value / step), -BOUND, BOUND))

    return noisy


def sampled(scale: float) -> Sampler:
    """Each unit of the count is kept with a fixed probability before the noise."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return rng.binomial(data, float(SHARE), size=count) + laplace(rng, scale, count)

    return noisy


def leaking(scale: float) -> Sampler:
    """Laplace noise, but for a small share of the outputs."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(data + np.where(rng.random(count) < LEAK, 0.0, laplace(rng, scale, count)))

    return noisy
