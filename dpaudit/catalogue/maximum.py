"""Which score is the greatest: noisy maxima that show the place or, wrongly, the value; exponential mechanism, permute and flip."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.noise import laplace
from dpaudit.catalogue.specimen import Sampler, Specimen
from dpaudit.claims import PureDP

_APART: Final = ((1, 1, 1, 1, 1), (0, 2, 2, 2, 2))
_RAISED: Final = ((1, 1, 1, 1, 1), (2, 2, 2, 2, 2))


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """The specimens that claim `epsilon` or are made from it."""
    scale, slope = float(2 / epsilon), float(epsilon / 2)
    published = "Ding, Wang, Wang, Zhang, Kifer 2018"
    rows = (
        ("noisy_max1", "place of the greatest score with Laplace noise", "Dwork and Roth 2014", _APART, laplace_place(scale)),
        ("noisy_max2", "place of the greatest score with exponential noise", published, _APART, exponential_place(scale)),
        ("exponential", "the exponential mechanism", "McSherry and Talwar 2007", _APART, weighted_place(slope)),
        (
            "permute_and_flip",
            "candidates in random order, each accepted by a coin",
            "McKenna and Sheldon 2020",
            _APART,
            flips(slope),
        ),
    )
    wrong = (
        ("noisy_max3", "the greatest score with Laplace noise itself", _RAISED, laplace_value(scale)),
        ("noisy_max4", "the greatest score with exponential noise itself", _RAISED, exponential_value(scale)),
        ("exponential_doubled", "the exponential mechanism without the 2 in its exponent", _APART, weighted_place(2 * slope)),
    )
    return (
        *(
            Specimen(name=name, description=text, source=source, guarantee=PureDP(epsilon), pair=pair, sample=sample)
            for name, text, source, pair, sample in rows
        ),
        *(
            Specimen(
                name=name,
                description=text,
                source=published if name.startswith("noisy") else "a factor 2 forgotten",
                guarantee=PureDP(epsilon),
                pair=pair,
                sample=sample,
                broken=True,
            )
            for name, text, pair, sample in wrong
        ),
    )


def laplace_place(scale: float) -> Sampler:
    """Place of the greatest score with Laplace noise."""

    def place(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(np.argmax(data + laplace(rng, scale, (count, len(data))), axis=1))

    return place


def laplace_value(scale: float) -> Sampler:
    """The greatest score with Laplace noise."""

    def value(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(np.max(data + laplace(rng, scale, (count, len(data))), axis=1))

    return value


def exponential_place(scale: float) -> Sampler:
    """Place of the greatest score with one-sided exponential noise."""

    def place(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(np.argmax(data + rng.exponential(scale=scale, size=(count, len(data))), axis=1))

    return place


def exponential_value(scale: float) -> Sampler:
    """The greatest score with one-sided exponential noise."""

    def value(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return np.asarray(np.max(data + rng.exponential(scale=scale, size=(count, len(data))), axis=1))

    return value


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
