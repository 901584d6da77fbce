"""What releases cost together: splits, logarithms, sampling, delta, filters."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defects.defect import Defect, Law, Sampler, laplace
from dpaudit.claims import Adjacency, ApproxDP, PureDP
from dpaudit.targets import Sensitivity
from mechanisms import LaplaceMechanism, source_from

TRUTH: Final = 1 + Fraction(19, 11)
"""Odds of a true answer; its logarithm is just above 1."""

BATCHES: Final = 8
EPOCHS: Final = 16
SIGMA: Final = 2
KEPT: Final = 5
DELTA: Final = 0.01


def size(data: Any) -> int:
    """How many records there are."""
    return len(data)


def repeated(query: Any, times: int, scale: float) -> Sampler:
    """One number released several times."""
    return laplace(lambda data: [query(data)] * times, scale)


def answer_of_a_sample(data: Any, rate: Fraction) -> dict[Any, Fraction]:
    """Law of a yes-or-no answer that is told truthfully with odds e, if the person is sampled; else of a fair coin."""
    truthful = rate * TRUTH / (1 + TRUTH) + (1 - rate) / 2
    return {data[0]: truthful, 1 - data[0]: 1 - truthful}


def law_of_a_sample(rate: Fraction) -> Law:
    """The law for one rate of sampling."""
    return lambda data: answer_of_a_sample(data, rate)


def told(rate: Fraction) -> Sampler:
    """Answers by that law."""

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        return (rng.random(count) < float(answer_of_a_sample(data, rate)[1])).astype(int)

    return sample


def dealt_out_once(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Noisy sums of batches, added up over epochs; each record is dealt into a batch once and stays there."""
    sums = np.zeros((count, EPOCHS, BATCHES))
    for value in data:
        sums[np.arange(count), :, rng.integers(BATCHES, size=count)] += value
    return (sums + rng.normal(scale=SIGMA, size=sums.shape)).sum(axis=1)


def sampled_each_time(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Noisy sums of batches, added up over epochs; each record is in each batch with probability 1/8."""
    sums = np.zeros((count, EPOCHS, BATCHES))
    for value in data:
        sums += value * (rng.random(sums.shape) < 1 / BATCHES)
    return (sums + rng.normal(scale=SIGMA, size=sums.shape)).sum(axis=1)


def shown_keys(delta: float) -> Sampler:
    """Noisy counts of five keys that one person may have, where above a threshold that a count of 1 passes with `delta`."""

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        counts = np.asarray(data, dtype=float)
        threshold = 1 + KEPT * math.log(1 / (2 * delta))
        noisy = counts + rng.laplace(scale=KEPT, size=(count, KEPT))
        return np.where((counts > 0) & (noisy > threshold), noisy, 0)

    return sample


def logged(epsilon: str) -> Sampler:
    """Two counts by a mechanism that logs what it draws."""
    mechanism = LaplaceMechanism(sensitivity=1, epsilon=epsilon)

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        source = source_from(rng)
        return np.column_stack([mechanism.releases(len(data), count, source) for _ in range(2)])

    return sample


def cut_noise(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A count with Laplace noise cut to [-3, 3]."""
    return len(data) + np.clip(rng.laplace(size=count), -3, 3)


def fractions_of_it(scale: float, slack: float, asked: int) -> Sampler:
    """The average of noisy counts, as many as a filter for epsilon 1/2 admits at 1/25 each.

    The sum of k Laplace numbers is the difference of two gamma numbers of shape k.
    """

    def sample(data: Any, count: int, rng: Generator) -> NDArray[Any]:
        left, answers = 0.5, 0
        while answers < asked and 1 / scale <= left + slack:
            left, answers = max(left - 1 / scale, 0), answers + 1
        noise = rng.gamma(answers, size=count) - rng.gamma(answers, size=count)
        return len(data) + scale * noise / answers

    return sample


DEFECTS: Final = (
    Defect(
        name="budget_not_split",
        kind="composition forgets a split",
        wrong="two releases of one count spend the whole budget each",
        right="half of it each",
        pair=([0], [0, 0]),
        broken=repeated(size, times=2, scale=1),
        sound=repeated(size, times=2, scale=2),
        declared=(Sensitivity(query=size, bound=1), Sensitivity(query=size, bound=1)),
    ),
    Defect(
        name="spent_twice_in_the_log",
        kind="composition forgets a split",
        wrong="two logged releases spend the whole budget each",
        right="half of it each",
        pair=([0], [0, 0]),
        broken=logged("1"),
        sound=logged("1/2"),
    ),
    Defect(
        name="logarithm_forgotten",
        kind="composition forgets the log term",
        wrong="ten releases of epsilon 1/2 are priced as sqrt(2 * 10) / 2, without the log of 1 / delta",
        right="ten releases of epsilon 4/25, priced by the theorem of advanced composition",
        guarantee=ApproxDP(epsilon="2.236", delta="0.001"),
        pair=([0], [0, 0]),
        broken=repeated(size, times=10, scale=2),
        sound=repeated(size, times=10, scale=25 / 4),
    ),
    Defect(
        name="batches_dealt_out_once",
        kind="Poisson accounting with shuffled batches",
        wrong="records stay in one of eight batches for all epochs, priced as if drawn anew for each",
        right="drawn anew for each",
        guarantee=ApproxDP(epsilon=2, delta="0.0031"),
        pair=([], [1.0]),
        broken=dealt_out_once,
        sound=sampled_each_time,
    ),
    Defect(
        name="sampled_once_counted_twice",
        kind="subsampling amplification applied twice",
        wrong="an answer of epsilon 1, asked of a person with probability 1/4, is priced as if with probability 1/16",
        right="asked with probability 1/16",
        guarantee=PureDP(epsilon="0.102"),
        adjacency="replace_one",
        pair=([0], [1]),
        broken=told(Fraction(1, 4)),
        sound=told(Fraction(1, 16)),
        laws=(law_of_a_sample(Fraction(1, 4)), law_of_a_sample(Fraction(1, 16))),
    ),
    Defect(
        name="delta_of_one_key",
        kind="delta spent but not counted",
        wrong="each of a person's five keys is shown with probability delta, and delta is counted once",
        right="with a fifth of delta each",
        guarantee=ApproxDP(epsilon=1, delta=DELTA),
        adjacency=Adjacency("add_remove", unit="user:person"),
        pair=([0] * KEPT, [1] * KEPT),
        broken=shown_keys(DELTA),
        sound=shown_keys(DELTA / KEPT),
    ),
    Defect(
        name="noise_cut_off",
        kind="delta spent but not counted",
        wrong="noise is cut off at 3, and the outputs that only one dataset can give are not counted",
        right="noise is not cut off",
        pair=([0], [0, 0]),
        broken=cut_noise,
        sound=laplace(size, scale=1),
    ),
    Defect(
        name="slack_larger_than_a_cost",
        kind="budget compare with a float slack",
        wrong="a filter compares with a slack of 1/20, and what costs less is free once the budget is spent",
        right="without any slack",
        guarantee=PureDP(epsilon="1/2"),
        pair=([0], [0, 0]),
        broken=fractions_of_it(scale=25, slack=0.05, asked=2500),
        sound=fractions_of_it(scale=25, slack=0, asked=2500),
    ),
)
