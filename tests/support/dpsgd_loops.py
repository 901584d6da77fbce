"""DP-SGD in numpy for linear and two-layer networks, exact per example, and broken variants that differ in one step.

Noise comes from a seeded numpy generator: nothing here protects anybody. Every loop is a function (records, watch, seed); it tells
the watch what it did, as a user's loop would, and never what it should have done.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

RECORDS, FEATURES, HIDDEN, STEPS = 240, 6, 4, 60
RATE, NOISE, CLIP, BATCH = 0.1, 1.0, 0.5, 24


def records(count: int = RECORDS, seed: int = 3) -> np.ndarray:
    """Rows of features and a target, with gradients far beyond the clip for some."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, FEATURES))
    return np.column_stack([rows, rows @ np.linspace(-1, 1, FEATURES) + rng.normal(size=count)])


def linear_gradients(parameters: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Gradient of the squared error of a linear model, a row for each example."""
    return (rows[:, :-1] @ parameters - rows[:, -1])[:, None] * rows[:, :-1]


def network_gradients(parameters: np.ndarray, rows: np.ndarray, *, normalised: bool = False) -> np.ndarray:
    """Gradient of the squared error of a network with one hidden layer; with batch normalisation of its inputs if asked."""
    first, last = parameters[: FEATURES * HIDDEN].reshape(FEATURES, HIDDEN), parameters[FEATURES * HIDDEN :]
    inputs = rows[:, :-1]
    if normalised and len(rows):
        inputs = (inputs - inputs.mean(axis=0)) / (inputs.std(axis=0) + 1e-3)
    hidden = np.tanh(inputs @ first)
    error = hidden @ last - rows[:, -1]
    back = error[:, None] * last * (1 - hidden**2)
    return np.column_stack([(inputs[:, :, None] * back[:, None, :]).reshape(len(rows), -1), error[:, None] * hidden])


def network_start() -> np.ndarray:
    """Parameters from which a network learns."""
    return np.random.default_rng(0).normal(size=FEATURES * HIDDEN + HIDDEN) / 2


def clip_rows(gradients: np.ndarray, clip: float) -> np.ndarray:
    """Rows shortened to the clip where they are longer."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1.0, clip / np.maximum(norms, 1e-12))


def poisson(rng: np.random.Generator, count: int, step: int) -> np.ndarray:
    """Each record by a coin of its own."""
    return np.flatnonzero(rng.random(count) < RATE)


@dataclass(frozen=True)
class Loop:
    """A training loop in replaceable parts; the defaults are sound."""

    gradients: Callable[..., np.ndarray] = linear_gradients
    start: Callable[[], np.ndarray] = lambda: np.zeros(FEATURES)
    sample: Callable[..., np.ndarray] = poisson
    combine: Callable[[np.ndarray, float], np.ndarray] = lambda gradients, clip: clip_rows(gradients, clip).sum(axis=0)
    noise: Callable[..., np.ndarray] = lambda rng, size, clip, step: NOISE * clip * rng.normal(size=size)
    divisor: Callable[[int, int], float] = lambda batch, count: float(BATCH)
    clip: Callable[[np.ndarray], float] = lambda rows: CLIP
    rate: Callable[[np.ndarray], float] = lambda rows: 0.5
    move: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda parameters, gradients: np.zeros_like(parameters)
    skips_empty: bool = False
    steps: Callable[[int], int] = lambda count: STEPS

    def __call__(self, rows: np.ndarray, watch: Any, seed: int = 1) -> np.ndarray:
        """Train, and tell the watch about every step."""
        rng, parameters = np.random.default_rng(seed), self.start()
        clip, rate = self.clip(rows), self.rate(rows)
        for step in range(self.steps(len(rows))):
            batch = self.sample(rng, len(rows), step)
            if self.skips_empty and not len(batch):
                continue
            gradients = self.gradients(parameters, rows[batch])
            noisy = self.combine(gradients, clip) + self.noise(rng, len(parameters), clip, step)
            divisor = self.divisor(len(batch), len(rows))
            after = parameters - rate * noisy / divisor + self.move(parameters, gradients)
            watch.step(
                batch=batch, gradients=gradients, noisy_sum=noisy, divisor=divisor, clip=clip, learning_rate=rate,
                parameters=parameters, updated=after,
            )  # fmt: skip
            parameters = after
        return parameters


SOUND = Loop()
NETWORK = Loop(gradients=network_gradients, start=network_start)


def _shuffled(rng: np.random.Generator, count: int, step: int) -> np.ndarray:
    """Batches of one size, each record once an epoch, as data loaders make them."""
    order = np.random.default_rng([7, step * BATCH // count]).permutation(count)
    place = step * BATCH % count
    return order[place : place + BATCH]


def _fixed(rng: np.random.Generator, count: int, step: int) -> np.ndarray:
    """Batches of one size without replacement, fresh in every step."""
    return rng.permutation(count)[:BATCH]


def _norm_without_the_last(gradients: np.ndarray, clip: float) -> np.ndarray:
    """Clip by the norm of all layers but the last, which is frozen in the optimiser's list and not in the release."""
    norms = np.linalg.norm(gradients[:, :-HIDDEN], axis=1, keepdims=True)
    return (gradients * np.minimum(1.0, clip / np.maximum(norms, 1e-12))).sum(axis=0)


def _micro_batches(gradients: np.ndarray, clip: float) -> np.ndarray:
    """Accumulate sums of four examples that are clipped as one."""
    parts = [gradients[place : place + 4].sum(axis=0) for place in range(0, len(gradients), 4)]
    return clip_rows(np.array(parts).reshape(-1, gradients.shape[1]), clip).sum(axis=0)


def _quiet_last(rng: np.random.Generator, size: int, clip: float, step: int) -> np.ndarray:
    """Noise for all layers but the last."""
    return NOISE * clip * rng.normal(size=size) * (np.arange(size) < size - HIDDEN)


def _capped(rng: np.random.Generator, count: int, step: int) -> np.ndarray:
    """Poisson samples cut to the memory of the device."""
    return poisson(rng, count, step)[:BATCH]


# name: the broken loop, its sound twin, words of which one must be in the check that finds it, and what the accountant was told
TUNE: dict[str, tuple[Loop, Loop, set[str], str]] = {
    "unclipped": (replace(SOUND, combine=lambda gradients, clip: gradients.sum(axis=0)), SOUND, {"clipping"}, "poisson"),
    "noise_without_the_clip": (
        replace(SOUND, noise=lambda rng, size, clip, step: NOISE / 2 * CLIP * rng.normal(size=size)),
        SOUND,
        {"noise"},
        "poisson",
    ),
    "noise_of_the_mean_on_the_sum": (
        replace(NETWORK, noise=lambda rng, size, clip, step: NOISE * clip / BATCH * rng.normal(size=size)),
        NETWORK,
        {"noise"},
        "poisson",
    ),
    "shuffled_epochs": (replace(SOUND, sample=_shuffled), SOUND, {"sampling"}, "poisson"),
    "capped_batches": (replace(SOUND, sample=_capped), SOUND, {"sampling"}, "poisson"),
    "divided_by_the_batch": (replace(SOUND, divisor=lambda batch, count: float(max(1, batch))), SOUND, {"divisor"}, "poisson"),
    "one_seed_for_every_step": (
        replace(NETWORK, noise=lambda rng, size, clip, step: NOISE * clip * np.random.default_rng(9).normal(size=size)),
        NETWORK,
        {"fresh noise"},
        "poisson",
    ),
    "batch_normalisation": (
        replace(NETWORK, gradients=lambda parameters, rows: network_gradients(parameters, rows, normalised=True)),
        NETWORK,
        {"separate examples"},
        "poisson",
    ),
}
ACCEPT: dict[str, tuple[Loop, Loop, set[str], str]] = {
    "clipped_by_coordinate": (
        replace(NETWORK, combine=lambda gradients, clip: np.clip(gradients, -clip, clip).sum(axis=0)),
        NETWORK,
        {"clipping"},
        "poisson",
    ),
    "sum_clipped": (
        replace(SOUND, combine=lambda gradients, clip: clip_rows(gradients.sum(axis=0, keepdims=True), clip * BATCH)[0]),
        SOUND,
        {"clipping"},
        "poisson",
    ),
    "micro_batches_clipped": (replace(SOUND, combine=_micro_batches), SOUND, {"clipping"}, "poisson"),
    "layer_outside_the_norm": (replace(NETWORK, combine=_norm_without_the_last), NETWORK, {"clipping"}, "poisson"),
    "layer_without_noise": (replace(NETWORK, noise=_quiet_last), NETWORK, {"noise"}, "poisson"),
    "layer_moved_without_noise": (
        replace(
            NETWORK,
            move=lambda parameters, gradients: (
                -0.01 * gradients.sum(axis=0) * (np.arange(len(parameters)) >= len(parameters) - HIDDEN)
            ),
        ),
        NETWORK,
        {"update"},
        "poisson",
    ),
    "poisson_where_fixed_was_told": (SOUND, replace(SOUND, sample=_fixed), {"sampling"}, "fixed"),
    "repeated_examples": (
        replace(SOUND, sample=lambda rng, count, step: rng.integers(count, size=rng.binomial(count, RATE))),
        SOUND,
        {"repeated examples"},
        "poisson",
    ),
    "last_records_dropped": (
        replace(SOUND, sample=lambda rng, count, step: np.flatnonzero(rng.random(count - 24) < RATE * count / (count - 24))),
        SOUND,
        {"sampling"},
        "poisson",
    ),
    "rate_twice_the_stated": (
        replace(NETWORK, sample=lambda rng, count, step: np.flatnonzero(rng.random(count) < 2 * RATE)),
        NETWORK,
        {"sampling"},
        "poisson",
    ),
    "divisor_from_the_private_size": (
        replace(SOUND, divisor=lambda batch, count: float(int(count * RATE))),
        SOUND,
        {"public numbers"},
        "poisson",
    ),
    "clip_at_the_median_norm": (
        replace(SOUND, clip=lambda rows: float(np.median(np.linalg.norm(rows, axis=1))) / 6),
        SOUND,
        {"public numbers", "clip"},
        "poisson",
    ),
    "learning_rate_from_the_data": (
        replace(SOUND, rate=lambda rows: 1 / float(np.abs(rows).max())),
        SOUND,
        {"public numbers"},
        "poisson",
    ),
    "epochs_from_the_private_size": (replace(SOUND, steps=lambda count: count // 4), SOUND, {"public numbers", "steps"}, "poisson"),
    "same_batch_again": (
        replace(NETWORK, sample=lambda rng, count, step: poisson(np.random.default_rng([5, step // 2]), count, step)),
        NETWORK,
        {"sampling"},
        "poisson",
    ),
    "empty_batches_skipped": (
        replace(
            SOUND, sample=lambda rng, count, step: np.flatnonzero(rng.random(count) < RATE * (step % 12 > 0)), skips_empty=True
        ),
        SOUND,
        {"steps", "sampling"},
        "poisson",
    ),
}
