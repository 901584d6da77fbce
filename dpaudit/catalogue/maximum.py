"""Selection of the greatest score: noisy maxima, right and wrong, the exponential mechanism, permute and flip."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.noise import laplace
from dpaudit.catalogue.released import Sampler, broken, sound
from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import PureDP

_APART: Final = ((1, 1, 1, 1, 1), (0, 2, 2, 2, 2))
_RAISED: Final = ((1, 1, 1, 1, 1), (2, 2, 2, 2, 2))


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """Return the specimens that claim `epsilon` or are made from it."""
    scale, slope, claim = float(2 / epsilon), float(epsilon / 2), PureDP(epsilon)
    place, value, tester = "place of the greatest score with", "the greatest score with", "Ding, Wang, Wang, Zhang, Kifer 2018"
    weights = "the exponential mechanism"

    def two_sided(rng: Generator, size: tuple[int, ...]) -> NDArray[Any]:
        return laplace(rng, scale, size)

    def one_sided(rng: Generator, size: tuple[int, ...]) -> NDArray[Any]:
        return rng.exponential(scale=scale, size=size)

    return (
        sound("noisy_max1", f"{place} Laplace noise", "Dwork and Roth 2014", claim, _APART, noisiest(np.argmax, two_sided)),
        sound("noisy_max2", f"{place} exponential noise", tester, claim, _APART, noisiest(np.argmax, one_sided)),
        sound("exponential", weights, "McSherry and Talwar 2007", claim, _APART, weighted_place(slope)),
        sound(
            "permute_and_flip", "candidates in random order, each accepted by a coin", "McKenna and Sheldon 2020", claim, _APART,
            flips(slope),
        ),
        broken("noisy_max3", f"{value} Laplace noise itself", tester, claim, _RAISED, noisiest(np.max, two_sided)),
        broken("noisy_max4", f"{value} exponential noise itself", tester, claim, _RAISED, noisiest(np.max, one_sided)),
        broken(
            "exponential_doubled", f"{weights} without the 2 in its exponent", "a factor 2 forgotten", claim, _APART,
            weighted_place(2 * slope),
        ),
    )  # fmt: skip


def noisiest(choose: Callable[..., Any], noise: Callable[[Generator, tuple[int, ...]], NDArray[Any]]) -> Sampler:
    """Return a sampler of the place (`np.argmax`) or the value (`np.max`) of the greatest score with noise."""

    def chosen(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(choose(data + noise(rng, (count, len(data))), axis=1))

    return chosen


def weighted_place(slope: float) -> Sampler:
    """A place with probability proportional to exp(slope times its score)."""

    def place(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        weights = np.exp(slope * (np.asarray(data) - max(data)))
        return rng.choice(len(data), size=count, p=weights / weights.sum())

    return place


def flips(slope: float) -> Sampler:
    """Places in random order; each is accepted with probability exp(slope times how far its score is below the best)."""

    def place(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        accepted = rng.random((count, len(data))) < np.exp(slope * (np.asarray(data) - max(data)))
        order = np.where(accepted, rng.random((count, len(data))), 2.0)
        return np.asarray(np.argmin(order, axis=1))

    return place
