"""Releases that treat as public what the dataset decides: its size, its order, its keys, its bounds, its people."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defects.defect import Defect, laplace, one_by_one
from dpaudit.claims import Adjacency

WANTED: Final = 24
KEYS: Final = ("asthma", "diabetes", "gout")
PEOPLE: Final = Adjacency("add_remove", unit="user:person")


def mean_of_however_many(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Means of values in [0, 1], with noise for the number of records that happens to be there."""
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=1 / len(data), size=count)


def batch_average(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Noisy sums of values in [0, 1], divided by the size of the batch, but by 1 at least."""
    return (np.clip(data, 0, 1).sum() + rng.laplace(size=count)) / max(1, len(data))


def skipped_when_empty(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Noisy sums of values in [0, 1]; nothing is added to the sum of no values."""
    return np.zeros(count) if len(data) == 0 else np.clip(data, 0, 1).sum() + rng.laplace(size=count)


def whole_pairs(data: Any) -> float:
    """Sum of values in [0, 1], pair by pair; a last value without a partner falls off."""
    values = np.clip(data, 0, 1)
    return float(values[: len(values) // 2 * 2].sum())


def alternating(data: Any) -> float:
    """Sum of values in [0, 1] with signs that alternate along the list."""
    values = np.clip(data, 0, 1)
    return float(values[0::2].sum() - values[1::2].sum())


def by_place(data: Any) -> NDArray[Any]:
    """Sums of values in [0, 1] in three buckets, dealt out by their place in the list."""
    values = [min(max(value, 0), 1) for _, value in data]
    return np.array([sum(values[bucket::3]) for bucket in range(3)])


def by_name(data: Any) -> NDArray[Any]:
    """Sums of values in [0, 1] in three buckets, dealt out by a number that each record has."""
    return np.array([sum(min(max(value, 0), 1) for name, value in data if name % 3 == bucket) for bucket in range(3)])


def shuffled_if_resized(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Rise along a list of values in [0, 2] with noise on each; only a list of another length is shuffled and cut."""
    values = np.tile(np.clip(data, 0, 2).astype(float), (count, 1))
    return rise(values if len(data) == WANTED else rng.permuted(values, axis=1)[:, :WANTED], rng)


def always_shuffled(data: Any, count: int, rng: Generator) -> NDArray[Any]:
    """Rise along a list of values in [0, 2] with noise on each, after it was shuffled and cut."""
    return rise(rng.permuted(np.tile(np.clip(data, 0, 2).astype(float), (count, 1)), axis=1)[:, :WANTED], rng)


def rise(values: NDArray[Any], rng: Generator) -> NDArray[Any]:
    """Sum of the second half of noisy values minus that of the first half."""
    noisy = values + rng.laplace(scale=2, size=values.shape)
    total: NDArray[Any] = noisy[:, WANTED // 2 :].sum(axis=1) - noisy[:, : WANTED // 2].sum(axis=1)
    return total


def counts_of_seen_keys(data: Any, rng: Generator) -> dict[str, float]:
    """Noisy counts of the keys that occur."""
    return {key: data.count(key) + rng.laplace() for key in sorted(set(data))}


def counts_of_public_keys(data: Any, rng: Generator) -> dict[str, float]:
    """Noisy counts of the keys of a public list."""
    return {key: data.count(key) + rng.laplace() for key in KEYS}


def histogram_up_to_the_largest(data: Any) -> NDArray[Any]:
    """Counts of the whole numbers from 0 to the largest that occurs."""
    return np.bincount(np.asarray(data, dtype=int))


def histogram_up_to_ten(data: Any) -> NDArray[Any]:
    """Counts of the whole numbers from 0 to 10, larger ones with the last."""
    return np.bincount(np.minimum(np.asarray(data, dtype=int), 10), minlength=11)


def scaled_by_own_range(data: Any) -> float:
    """Sum of values after the least and the greatest of them are mapped to 0 and 1."""
    values = np.asarray(data, dtype=float)
    return float(((values - values.min()) / (values.max() - values.min())).sum())


def scaled_by_public_range(data: Any) -> float:
    """Sum of values after the public bounds 0 and 1000 are mapped to 0 and 1."""
    return float((np.clip(data, 0, 1000) / 1000).sum())


def all_visits(data: Any) -> int:
    """How many visits there are."""
    return len(data)


def visitors(data: Any) -> int:
    """How many people came at least once."""
    return len({visit["person"] for visit in data})


def one_visit_a_ward(data: Any) -> list[int]:
    """For each of four wards how many people came."""
    return [len({visit["person"] for visit in data if visit["ward"] == ward}) for ward in range(4)]


def one_visit_a_person(data: Any) -> list[int]:
    """For each of four wards how many people came there first."""
    first = {visit["person"]: visit["ward"] for visit in reversed(data)}
    return [sum(seen == ward for seen in first.values()) for ward in range(4)]


VISITS: Final = [{"person": 1, "ward": 0}, {"person": 2, "ward": 3}]
FREQUENT: Final = [*VISITS, *({"person": 3, "ward": ward} for ward in range(4))]

DEFECTS: Final = (
    Defect(
        name="noise_for_the_true_size",
        kind="data-dependent n",
        wrong="a mean gets noise for the number of records, which is private",
        right="a noisy sum over a public number",
        pair=([1.0], [1.0, 1.0]),
        broken=mean_of_however_many,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum() / 10, scale=1 / 10),
    ),
    Defect(
        name="batch_of_at_least_one",
        kind="batch floor",
        wrong="a noisy sum is divided by the size of the batch, floored at 1",
        right="by the size that is expected",
        pair=([0.0], [0.0, 1.0]),
        broken=batch_average,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum() / 2, scale=1 / 2),
    ),
    Defect(
        name="nothing_without_noise",
        kind="empty special case",
        wrong="an empty dataset gives exactly 0",
        right="it gives noise like any other",
        pair=([], [0.5]),
        broken=skipped_when_empty,
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="odd_row_dropped",
        kind="odd-length special case drops a row",
        wrong="values are added up in pairs, and one without a partner falls off",
        right="every value counts",
        pair=([0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0]),
        broken=laplace(whole_pairs, scale=1),
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="signs_by_place",
        kind="order-dependent transform under an unordered claim",
        wrong="signs alternate along the list, so that one record less turns those behind it",
        right="no signs",
        pair=([1.0] + [1.0, 0.0] * 3, [1.0, 0.0] * 3),
        broken=laplace(alternating, scale=1),
        sound=laplace(lambda data: np.clip(data, 0, 1).sum(), scale=1),
    ),
    Defect(
        name="buckets_by_place",
        kind="order-dependent transform under an unordered claim",
        wrong="records are dealt out to buckets by place, so that one record less moves those behind it",
        right="by a number of their own",
        pair=([(0, 1.0), (1, 1.0), (2, 0.0), (3, 0.0), (4, 1.0)], [(1, 1.0), (2, 0.0), (3, 0.0), (4, 1.0)]),
        broken=laplace(by_place, scale=1),
        sound=laplace(by_name, scale=1),
    ),
    Defect(
        name="shuffled_if_resized",
        kind="shuffle inside a stable map",
        wrong="a list of the wanted length keeps its order, any other is shuffled",
        right="every list is shuffled",
        pair=([0.0] * 12 + [2.0] * 12, [0.0] * 12 + [2.0] * 12 + [1.0]),
        broken=shuffled_if_resized,
        sound=always_shuffled,
    ),
    Defect(
        name="keys_from_the_data",
        kind="keys taken from private data",
        wrong="a histogram has the keys that occur",
        right="those of a public list",
        pair=(["asthma", "asthma"], ["asthma", "asthma", "gout"]),
        broken=one_by_one(counts_of_seen_keys),
        sound=one_by_one(counts_of_public_keys),
    ),
    Defect(
        name="bins_up_to_the_largest",
        kind="keys taken from private data",
        wrong="a histogram is as long as the largest value asks for",
        right="as long as a public bound",
        pair=([0, 1, 1], [0, 1, 1, 9]),
        broken=laplace(histogram_up_to_the_largest, scale=1),
        sound=laplace(histogram_up_to_ten, scale=1),
    ),
    Defect(
        name="range_of_the_data",
        kind="bounds taken from private data",
        wrong="values are scaled by their own least and greatest value",
        right="by public bounds",
        pair=([0.0, 9.0, 10.0, 10.0], [0.0, 9.0, 10.0, 10.0, 1000.0]),
        broken=laplace(scaled_by_own_range, scale=1),
        sound=laplace(scaled_by_public_range, scale=1),
    ),
    Defect(
        name="visits_for_visitors",
        kind="wrong neighbour unit for grouped users",
        wrong="a count of visits gets noise for one visit, but a person has four",
        right="people are counted",
        adjacency=PEOPLE,
        pair=(VISITS, FREQUENT),
        broken=laplace(all_visits, scale=1),
        sound=laplace(visitors, scale=1),
    ),
    Defect(
        name="once_in_every_ward",
        kind="wrong neighbour unit for grouped users",
        wrong="a person counts once in each ward, and may be in all four",
        right="a person counts in one ward only",
        adjacency=PEOPLE,
        pair=(VISITS, FREQUENT),
        broken=laplace(one_visit_a_ward, scale=1),
        sound=laplace(one_visit_a_person, scale=1),
    ),
)
