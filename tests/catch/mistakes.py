"""Releases with one mistake each, as people write them: one run at a time, with branches and dictionaries.

They were written before the diagnosis was, each beside the causes that may be named for it; none of them is in the catch list.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim, PureDP
from dpaudit.targets import Target

ONE: Final = Claim(PureDP(epsilon=1))
REPLACED: Final = Claim(PureDP(epsilon=1), adjacency="replace_one")
WORDS: Final = ("red", "green", "blue")


def shift(data, rng):
    return sum(min(max(value, -5), 5) for value in data) + rng.laplace(scale=5)


def colours(data, rng):
    return {word: data.count(word) + rng.laplace() for word in WORDS}


def three_moments(data, rng):
    values = np.clip(data, 0, 1)
    return [len(values) + rng.laplace(), values.sum() + rng.laplace(), (values**2).sum() + rng.laplace()]


def two_answers(data, rng):
    grown = [record for record in data if record["age"] >= 18]
    return {"grown": len(grown) + rng.laplace(), "all": len(data) + rng.laplace()}


def small_counts_bare(data, rng):
    total = sum(data)
    if total < 3:
        return float(total)
    return total + rng.laplace()


KNOWN: Final[dict[tuple[Any, ...], float]] = {}


def remembered(data, rng):
    key = tuple(data)
    if key not in KNOWN:
        KNOWN[key] = sum(data) + rng.laplace()
    return KNOWN[key]


def reproducible(data, rng):
    rng = np.random.default_rng(42)
    return sum(data) + rng.laplace()


def words_seen(data, rng):
    counts = {}
    for word in data:
        counts[word] = counts.get(word, 0) + 1
    return {word: count + rng.laplace() for word, count in sorted(counts.items())}


def shown_when_large(data, rng):
    return [value + rng.laplace(scale=100) for value in data if value > 50]


def as_wide_as_the_data(data, rng):
    spread = np.std(data)
    return float(np.clip(data, 0, 1).sum() + rng.laplace(scale=1 + spread))


def as_wide_as_the_largest(data, rng):
    bound = max(data)
    return sum(data) + rng.laplace(scale=bound)


def noisy_mean(data, rng):
    total = sum(min(max(value, 0), 1) for value in data)
    return (total + rng.laplace()) / len(data)


def kept_in_range(data, rng):
    noisy = float(np.clip(data, 0, 10).mean()) + rng.laplace(scale=10)
    return min(max(noisy, min(data)), max(data))


def needs_three(data, rng):
    if len(data) < 3:
        raise ValueError("too few records")
    return len(data) + rng.laplace()


def mean_of_some(data, rng):
    chosen = [value for value in data if value > 0.5]
    mean = sum(chosen) / len(chosen) if chosen else float("nan")
    return 0.0 * mean + len(data) + rng.laplace()


def one_noise(data, rng):
    noise = rng.laplace(scale=3)
    return [value + noise for value in np.bincount(data, minlength=3)]


def noise_in_whole_steps(data, rng):
    return float(np.clip(data, 0, 1).sum()) + round(rng.laplace(scale=2))


def as_paid(data, rng):
    return sum(data) + rng.laplace(scale=2)


def share_of_the_largest(data, rng):
    values = np.asarray(data, dtype=float)
    return float((values / values.max()).sum() + rng.laplace())


def half_of_sigma(data, rng):
    return float(np.clip(data, 0, 1).sum() + rng.normal(scale=0.5))


def noise_kept_small(data, rng):
    noise = min(max(rng.laplace(), -4), 4)
    return len(data) + noise


def sometimes_bare(data, rng):
    total = sum(min(max(value, 0), 1) for value in data)
    if rng.random() < 0.1:
        return total
    return total + rng.laplace()


def epsilon_for_its_inverse(data, rng):
    epsilon = 0.25
    return len(data) + rng.laplace(scale=epsilon)


def direction(data, rng):
    rows = np.reshape(data, (-1, 9))
    norms = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    return (rows / norms).sum(axis=0) + rng.laplace(size=9)


def balance(data, rng):
    total = 0.0
    for place, value in enumerate(data):
        total += min(max(value, 0), 1) * (1 if place % 2 else -1)
    return total + rng.laplace()


def honest_answer(data, rng):
    truth = data[0]
    return truth if rng.random() < 0.9 else 1 - truth


def preferred(data, rng):
    scores = np.exp(2.0 * np.bincount(data, minlength=3))
    return int(rng.choice(3, p=scores / scores.sum()))


def best_of_twenty(data, rng):
    total = float(np.clip(data, 0, 1).sum())
    return max(total + rng.laplace() for _ in range(20))


def half_noise_for_words(data, rng):
    return f"{len(data) + rng.laplace(scale=0.3):.6f} records"


def mistake(run, causes, pair, claim=ONE):
    return Target(run=run, neighbours=[pair], claim=claim), causes


MISTAKES: Final = (
    mistake(shift, {"replacement"}, ([1.0, -5.0], [1.0, 5.0]), REPLACED),
    mistake(colours, {"replacement"}, (["red", "red"], ["red", "blue"]), REPLACED),
    mistake(three_moments, {"each"}, ([0.2], [0.2, 1.0])),
    mistake(two_answers, {"each"}, ([{"age": 9}], [{"age": 9}, {"age": 40}])),
    mistake(small_counts_bare, {"still"}, ([1, 1], [1, 1, 1])),
    mistake(remembered, {"fixed"}, ([1, 1], [1, 1, 1])),
    mistake(reproducible, {"fixed"}, ([1, 1], [1, 1, 1])),
    mistake(words_seen, {"keys"}, (["red"], ["red", "blue"])),
    mistake(shown_when_large, {"length"}, ([10, 60], [10, 60, 80])),
    mistake(as_wide_as_the_data, {"scale"}, ([0.5, 0.5], [0.5, 0.5, 9.0])),
    mistake(as_wide_as_the_largest, {"scale"}, ([1.0, 2.0], [1.0, 2.0, 20.0])),
    mistake(noisy_mean, {"count"}, ([0.5], [0.5, 1.0])),
    mistake(kept_in_range, {"clamped"}, ([2.0, 4.0], [2.0, 4.0, 9.0])),
    mistake(needs_three, {"exception"}, ([1, 2], [1, 2, 3])),
    mistake(mean_of_some, {"not finite"}, ([0.1], [0.1, 0.9])),
    mistake(one_noise, {"shared noise"}, ([0, 1, 2], [0, 1, 2, 2])),
    mistake(noise_in_whole_steps, {"grid"}, ([0.5], [0.5, 0.3])),
    mistake(as_paid, {"unclipped", "narrow"}, ([1.0, 2.0], [1.0, 2.0, 50.0])),
    mistake(share_of_the_largest, {"range", "narrow"}, ([2.0] * 6, [*[2.0] * 6, 100.0])),
    mistake(half_of_sigma, {"narrow"}, ([0.5], [0.5, 1.0]), Claim(GDP(mu=1))),
    mistake(noise_kept_small, {"cut"}, ([1], [1, 1])),
    mistake(sometimes_bare, {"bare"}, ([0.5], [0.5, 0.75]), Claim(ApproxDP(epsilon=1, delta="1e-6"))),
    mistake(epsilon_for_its_inverse, {"narrow"}, ([1], [1, 1])),
    mistake(direction, {"norm", "narrow"}, ([[0.0] * 9], [[0.0] * 9, [1.0] * 9])),
    mistake(balance, {"order"}, ([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])),
    mistake(honest_answer, set(), ([0], [1]), REPLACED),
    mistake(preferred, set(), ([0, 1], [0, 1, 1])),
    mistake(best_of_twenty, {"one side", "narrow"}, ([0.5], [0.5, 1.0])),
    mistake(half_noise_for_words, {"narrow"}, ([1], [1, 1])),
)
"""Targets, each with the causes that may be named for it; where there are none, the diagnosis has to be silent."""
