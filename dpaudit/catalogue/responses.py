"""Discrete answers: randomized response, reports of Bloom filters, and geometric noise on few values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.catalogue.released import Sampler, broken, rounded_up, sound
from dpaudit.catalogue.specimen import Specimen
from dpaudit.claims import ZCDP, Adjacency, PureDP

CATEGORIES: Final = 4
BITS: Final = 20
HASHES: Final = 4

_ANYTHING: Final = Adjacency("replace_one")
_VALUES: Final = (((0, 4, 9, 15),), ((4, 11, 13, 18),))
_DISJOINT: Final = (((0, 4, 9, 15),), ((2, 6, 11, 18),))
_LIMIT: Final = 5


def family(epsilon: Fraction) -> tuple[Specimen, ...]:
    """Return the specimens that claim `epsilon` or are made from it."""
    exponent, claim = math.ceil(math.log(2 / epsilon)), PureDP(epsilon)
    real, truncated = math.log1p(2.0**-exponent), "a count of at most five with noise made from one uniform integer"
    # The rounding of the exponent does not keep the epsilon before it.
    rounded = broken(
        "truncated_geometric_rounded",
        f"{truncated}; epsilon before rounding is claimed",
        "Bichsel, Steffen, Bogunovic, Vechev 2021",
        claim,
        (2, 3),
        truncated_geometric(exponent),
    )
    return (
        sound(
            "randomized_response", "a category, told truthfully with some probability and else any other", "Warner 1965", claim,
            ((0,), (1,)), randomized(float(epsilon)), adjacency=_ANYTHING,
        ),
        sound(
            "geometric", "a count with discrete Laplace noise", "Ghosh, Roughgarden, Sundararajan 2009", claim, (0, 1),
            geometric(float(epsilon)),
        ),
        sound(
            "discrete_gaussian", "a count with discrete Gaussian noise", "Canonne, Kamath, Steinke 2020", ZCDP(epsilon**2 / 2),
            (0, 1), discrete_gaussian(float(1 / epsilon)),
        ),
        sound(
            "truncated_geometric", f"{truncated}, at the epsilon that it has", "Balcer and Vadhan 2018", PureDP(rounded_up(real)),
            (2, 3), truncated_geometric(exponent),
        ),
        *((rounded,) if real > epsilon else ()),
    )  # fmt: skip


def published() -> tuple[Specimen, ...]:
    """Return the reports of Bloom filters with their published parameters."""
    specimens: list[Specimen] = []
    for name, steps, sample, bit in (
        ("rappor", "both steps", rappor(0.75, 0.45, 0.55), math.log(0.5125 / 0.4875)),
        ("one_time_rappor", "the permanent step only", rappor(0.95), math.log(0.525 / 0.475)),
    ):
        text, source = f"noisy Bloom filter of a value, {steps}", "Erlingsson, Pihur, Korolova 2014"
        right, wrong = (PureDP(rounded_up(bits * bit)) for bits in (2 * HASHES, 2))
        specimens += (
            sound(name, text, source, right, _DISJOINT, sample, adjacency=_ANYTHING),
            broken(
                f"{name}_one_hash", f"{text}, priced as if it had one hash", source, wrong, _VALUES, sample, adjacency=_ANYTHING
            ),
        )
    return tuple(specimens)


def randomized(epsilon: float) -> Sampler:
    """The true category with odds e^epsilon against each other one."""

    def report(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        lie = rng.random(count) * (math.exp(epsilon) + CATEGORIES - 1) >= math.exp(epsilon)
        other = (data[0] + rng.integers(1, CATEGORIES, size=count)) % CATEGORIES
        return np.asarray(np.where(lie, other, data[0]))

    return report


def geometric(epsilon: float) -> Sampler:
    """Discrete Laplace noise as a difference of two geometric numbers."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        first, second = rng.geometric(-math.expm1(-epsilon), size=(2, count))
        return np.asarray(data + first - second)

    return noisy


def discrete_gaussian(sigma: float) -> Sampler:
    """Discrete Gaussian noise from a table of its weights, which ends where they are below 1e-30."""
    reach = math.ceil(12 * sigma)
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    steps = np.cumsum(weights / weights.sum())

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        places = np.searchsorted(steps, rng.random(count), side="right")
        return np.asarray(data + support[np.minimum(places, 2 * reach)])

    return noisy


def truncated_law(exponent: int, value: int) -> list[Fraction]:
    """Exact law of the truncated geometric mechanism on 0 to 5."""
    up, down = 2 ** (exponent + 1) + 1, 2**exponent
    ratio = Fraction(down, down + 1)
    inner = Fraction(1, up)
    tail = Fraction(down + 1, up)
    law = [inner * ratio ** abs(place - value) for place in range(_LIMIT + 1)]
    law[0], law[_LIMIT] = tail * ratio**value, tail * ratio ** (_LIMIT - value)
    return law


def truncated_geometric(exponent: int) -> Sampler:
    """Inverse of the distribution function at one uniform integer, as many of them as the common denominator says."""

    def noisy(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        law = truncated_law(exponent, data)
        whole = math.lcm(*(mass.denominator for mass in law))
        steps = np.cumsum([int(mass * whole) for mass in law])
        return np.searchsorted(steps, rng.integers(whole, size=count), side="right")

    return noisy


def rappor(flip: float, told_if_clear: float = 0.0, told_if_set: float = 1.0) -> Sampler:
    """A Bloom filter whose bits are replaced by coins with probability `flip`, then reported with the given probabilities.

    The value is given by the places of its bits, since the hash functions are public. Both steps treat bits apart, so that one
    coin for each, of the odds that the steps have together, gives the same report.
    """

    def report(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        bits = np.zeros(BITS)
        bits[list(data[0])] = 1
        permanent = flip / 2 + (1 - flip) * bits
        told = permanent * told_if_set + (1 - permanent) * told_if_clear
        return (rng.random((count, BITS)) < told).view(np.int8)

    return report
