"""Laplace noise on numbers: right, too little, several times, sampled first, snapped to a grid, and now and then forgotten."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.noise import laplace
from dpaudit.catalogue.released import ONE_MOVES, Sampler, broken, rounded_up, sound
from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import ApproxDP, PureDP

PARTS: Final = 20
LEAK: Final = 1e-3
BOUND: Final = 100.0
SHARE: Final = Fraction(1, 2)

_CELLS: Final = ((1, 1, 1, 1, 1), (2, 1, 1, 1, 1))


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """Return the specimens that claim `epsilon` or are made from it."""
    scale, claim = float(1 / epsilon), PureDP(epsilon)
    tester, amplification = "Ding, Wang, Wang, Zhang, Kifer 2018", "Balle, Barthe, Gaboardi 2018"
    kept = "a person who counts with probability 1/2, Laplace noise;"
    once, twice = (PureDP(rounded_up(math.log1p(float(share) * math.expm1(epsilon)))) for share in (SHARE, SHARE**2))
    text = "cells with Laplace noise of scale epsilon instead of 1 / epsilon"
    inverted = broken("noisy_histogram_inverted", text, tester, claim, _CELLS, with_laplace(float(epsilon)), adjacency=ONE_MOVES)
    return (
        sound("laplace", "a number with Laplace noise", "Dwork, McSherry, Nissim, Smith 2006", claim, (0, 1), with_laplace(scale)),
        broken(
            "laplace_half", "a number with half the Laplace noise that it needs", "a sensitivity of 1 used where it is 2", claim,
            (0, 1), with_laplace(scale / 2),
        ),
        sound(
            "laplace_parallel", f"one number released {PARTS} times, each at a {PARTS}th of epsilon",
            "Bichsel, Steffen, Bogunovic, Vechev 2021", claim, (0, 1), with_laplace(PARTS * scale, copies=PARTS),
        ),
        sound(
            "laplace_snapped", "a number with Laplace noise, rounded to a grid as coarse as the noise", "Mironov 2012", claim,
            (0, 1), snapped(scale),
        ),
        sound("noisy_histogram", "cells with Laplace noise", tester, claim, _CELLS, with_laplace(scale), adjacency=ONE_MOVES),
        *((inverted,) if epsilon < 1 else ()),
        sound("sampled_laplace", f"{kept} no gain is claimed", amplification, claim, (0, 1), sampled(scale)),
        sound("sampled_laplace_amplified", f"{kept} the gain of sampling is claimed", amplification, once, (0, 1), sampled(scale)),
        broken(
            "sampled_laplace_twice", f"{kept} the gain of sampling is claimed twice",
            "an accountant given the sampling that the loader applies too", twice, (0, 1), sampled(scale),
        ),
        broken(
            "rare_leak", "a number with Laplace noise, without any noise once in a thousand times",
            "a fallback path that nobody tests", ApproxDP(epsilon, "1e-5"), (0, 1), leaking(scale),
        ),
    )  # fmt: skip


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
