"""Noise that is not fresh for every number, or not drawn from what is secret."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defects.defect import Defect, gaussian, laplace
from dpaudit.claims import GDP, Adjacency, ApproxDP

COUNTS: Final = ([3, 5, 2], [3, 6, 2])
TOTALS: Final = ([0.5, 1.0], [0.5, 1.0, 1.0])


def seeded_by_the_data(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A noisy sum whose generator is seeded with the data."""
    own = np.random.default_rng([int(value) for value in data])
    return np.full(count, np.sum(data) + own.laplace())


def same_seed_again(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Count and sum of values in [0, 1], each with noise from a generator that starts from the same seed."""
    seeds = rng.integers(2**63, size=count).tolist()
    noise = np.array([[np.random.default_rng(seed).laplace(scale=2) for _ in range(2)] for seed in seeds])
    return np.array([len(data), np.clip(data, 0, 1).sum()]) + noise


def one_draw_for_all(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A histogram with one draw of noise, added to every count."""
    return np.asarray(data) + rng.laplace(size=(count, 1))


def drawn_once(data: Any, count: int, rng: Generator, noise: float = 0.625) -> NDArray[Any]:
    """A noisy sum whose noise was drawn when the program was loaded."""
    return np.full(count, np.clip(data, 0, 1).sum() + noise)


def bare_below_zero(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A noisy sum of values in [0, 1]; noise that would make it negative is left out."""
    total = np.clip(data, 0, 1).sum()
    noisy = total + rng.laplace(size=count)
    return np.where(noisy < 0, total, noisy)


def floored(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A noisy sum of values in [0, 1], 0 where it would be negative."""
    return np.maximum(np.clip(data, 0, 1).sum() + rng.laplace(size=count), 0)


def bare_now_and_then(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A noisy sum of values in [0, 1], without any noise once in twenty times."""
    noise = rng.laplace(size=count) * (rng.random(count) >= 0.05)
    return np.clip(data, 0, 1).sum() + noise


DEFECTS: Final = (
    Defect(
        name="seeded_by_the_data",
        kind="noise seeded by the data",
        wrong="the seed of the noise is made from the records",
        right="from nothing that an attacker knows",
        pair=([0, 1], [0, 1, 1]),
        broken=seeded_by_the_data,
        sound=laplace(np.sum, scale=1),
    ),
    Defect(
        name="same_seed_again",
        kind="seed reuse across releases",
        wrong="two releases start from the same seed, so that their difference has no noise",
        right="one stream goes on",
        pair=([0.5, 1.0], [0.5, 1.0, 0.25]),
        broken=same_seed_again,
        sound=laplace(lambda data: [len(data), np.clip(data, 0, 1).sum()], scale=2),
    ),
    Defect(
        name="one_draw_for_all_counts",
        kind="noise drawn once and shared",
        wrong="one draw of noise moves all counts of a histogram, whose differences it leaves as they are",
        right="each count has a draw of its own",
        adjacency=Adjacency("norm_ball", norm="l1", radius=1),
        pair=COUNTS,
        broken=one_draw_for_all,
        sound=laplace(np.array, scale=1),
    ),
    Defect(
        name="drawn_when_loaded",
        kind="noise drawn once and shared",
        wrong="noise is a default argument, drawn once for all releases",
        right="drawn for each release",
        pair=TOTALS,
        broken=drawn_once,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="noise_left_out_below_zero",
        kind="noise left out on a branch",
        wrong="where a noisy sum would be negative the sum itself is shown",
        right="0 is shown",
        pair=TOTALS,
        broken=bare_below_zero,
        sound=floored,
    ),
    Defect(
        name="bare_now_and_then",
        kind="noise left out on a branch",
        wrong="a path that runs once in twenty times adds no noise",
        right="every path adds it",
        guarantee=ApproxDP(epsilon=1, delta="1e-5"),
        pair=TOTALS,
        broken=bare_now_and_then,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="variance_for_deviation",
        kind="noise of the wrong width",
        wrong="Gaussian noise for a sensitivity of 2 has variance 2",
        right="standard deviation 2",
        guarantee=GDP(mu=1),
        adjacency="replace_one",
        pair=([0.5, -1.0], [0.5, 1.0]),
        broken=gaussian(lambda data: np.clip(data, -1, 1).sum(), sigma=math.sqrt(2)),
        sound=gaussian(lambda data: np.clip(data, -1, 1).sum(), sigma=2),
    ),
)
