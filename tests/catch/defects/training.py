"""Learning: stopping rules, choices among runs, votes of teachers, what a branch on private data shows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defects.defect import Defect, laplace

STEPS: Final = 6
SETTINGS: Final = 10
TEACHERS: Final = 8


def mean(data: Any) -> float:
    """Mean of eight values in [0, 1]."""
    return float(np.clip(data, 0, 1).mean())


def stopped_when_close(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """How many noisy steps were made until the model was close to the private mean, and the model."""
    model, steps, running = np.zeros(count), np.zeros(count), np.ones(count, dtype=bool)
    for _ in range(STEPS):
        running &= np.abs(model - mean(data)) > 1 / 2
        noisy = mean(data) + rng.laplace(scale=STEPS / TEACHERS, size=count)
        model, steps = np.where(running, noisy, model), steps + running
    return np.column_stack([steps, model])


def all_steps(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A fixed number of noisy steps, and the model."""
    noisy = mean(data) + rng.laplace(scale=STEPS / TEACHERS, size=(count, STEPS))
    return np.column_stack([np.full(count, STEPS), noisy[:, -1]])


def best_of_many(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """The one of ten noisy results that is largest, at the price of one."""
    return (np.clip(data, 0, 1).sum() + rng.laplace(size=(count, SETTINGS))).max(axis=1)


def best_of_paid(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """The one of ten noisy results that is largest, all of them paid for."""
    return (np.clip(data, 0, 1).sum() + rng.laplace(scale=SETTINGS, size=(count, SETTINGS))).max(axis=1)


def closest_of_many(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """The one of ten noisy results that is closest to the private sum."""
    total = np.clip(data, 0, 1).sum()
    noise = rng.laplace(size=(count, SETTINGS))
    return total + noise[np.arange(count), np.abs(noise).argmin(axis=1)]


def unanimous_without_noise(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """The noisy majority of teachers, or what they all say if they agree."""
    votes = np.bincount(data, minlength=3)
    noisy = np.argmax(votes + rng.laplace(scale=2, size=(count, 3)), axis=1)
    return np.full(count, votes.argmax()) if votes.max() == len(data) else noisy


def majority(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """The noisy majority of teachers among three classes."""
    return np.argmax(np.bincount(data, minlength=3) + rng.laplace(scale=2, size=(count, 3)), axis=1)


def majority_of_those_named(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """The noisy majority of teachers among the classes that some teacher named."""
    classes, votes = np.unique(data, return_counts=True)
    named: NDArray[Any] = classes[np.argmax(votes + rng.laplace(scale=2, size=(count, len(classes))), axis=1)]
    return named


def stepping_by_own_scale(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """A noisy sum whose noise is scaled to the largest value that occurs."""
    values = np.clip(data, 0, 1)
    return values.sum() + rng.laplace(scale=values.max(), size=count)


DEFECTS: Final = (
    Defect(
        name="stopped_on_the_private_loss",
        kind="early stopping on private loss",
        wrong="training stops as soon as the exact loss is small, and the number of steps shows",
        right="the number of steps is fixed",
        adjacency="replace_one",
        pair=([1.0] * 5 + [0.0] * 3, [1.0] * 4 + [0.0] * 4),
        broken=stopped_when_close,
        sound=all_steps,
    ),
    Defect(
        name="best_result_free",
        kind="hyper-parameter choice without cost",
        wrong="the largest of ten noisy results is shown at the price of one",
        right="all ten are paid for",
        pair=([0.5], [0.5, 1.0]),
        broken=best_of_many,
        sound=best_of_paid,
    ),
    Defect(
        name="closest_result_free",
        kind="hyper-parameter choice without cost",
        wrong="the noisy result that is closest to the private sum is shown",
        right="the first one is shown",
        pair=([0.5], [0.5, 1.0]),
        broken=closest_of_many,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="unanimous_teachers",
        kind="votes of teachers",
        wrong="a unanimous vote is shown without noise",
        right="every vote gets noise",
        adjacency="replace_one",
        pair=([0] * TEACHERS, [0] * (TEACHERS - 1) + [1]),
        broken=unanimous_without_noise,
        sound=majority,
    ),
    Defect(
        name="classes_from_the_votes",
        kind="votes of teachers",
        wrong="only classes that some teacher named can win",
        right="all classes of a public list can",
        adjacency="replace_one",
        pair=([0] * (TEACHERS - 1) + [0], [0] * (TEACHERS - 1) + [2]),
        broken=majority_of_those_named,
        sound=majority,
    ),
    Defect(
        name="noise_for_the_largest_value",
        kind="noise scaled by private data",
        wrong="noise is scaled to the largest value that occurs",
        right="to a public bound",
        pair=([0.25, 0.25], [0.25, 0.25, 1.0]),
        broken=stepping_by_own_scale,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
)
