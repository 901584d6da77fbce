"""More training loops as people write them, each a mistake and its sound twin: `train(rows, watch, broken=...)`.

Noise comes from seeded numpy generators: nothing here protects anybody.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from dpsgd_styles import BATCH, CLIP, FEATURES, HIDDEN, LEARNING, NOISE, RATE, SIZE, STEPS, Logistic, Network, flat, shorten

PAIRS: dict[str, Callable[..., None]] = {}


def pair(train: Callable[..., None]) -> Callable[..., None]:
    """List a pair under the name of its function."""
    PAIRS[train.__name__] = train
    return train


@pair
def squared_norm_in_the_clip(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """The root of the sum of squares is forgotten."""
    rng = np.random.default_rng(21)
    theta = np.zeros(FEATURES)
    for _t in range(STEPS):
        idx = np.flatnonzero(rng.random(len(rows)) < RATE)
        x, y = rows[idx, :-1], rows[idx, -1]
        g = (1 / (1 + np.exp(-np.clip(x @ theta, -60, 60))) - y)[:, None] * x
        sq = (g**2).sum(axis=1)
        factor = np.minimum(1.0, CLIP / np.maximum(sq if broken else np.sqrt(sq), 1e-12))
        summed = (g * factor[:, None]).sum(axis=0)
        noised = summed + rng.normal(0.0, NOISE * CLIP, FEATURES)
        new_theta = theta - LEARNING * noised / BATCH
        watch.step(
            batch=idx, gradients=g, noisy_sum=noised, divisor=BATCH, clip=CLIP, learning_rate=LEARNING,
            parameters=theta, updated=new_theta,
        )  # fmt: skip
        theta = new_theta


@pair
def head_thawed_halfway(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """A head is frozen at first; once it learns, its gradient is still left out of the norm."""
    rng, net = np.random.default_rng(22), Network()
    for epoch in range(6):
        frozen = epoch < 3
        for _ in range(STEPS // 6):
            chosen = np.flatnonzero(rng.random(len(rows)) < RATE)
            body, head = net.per_example(rows[chosen])
            if frozen:
                head = np.zeros_like(head)
            counted = [body] if broken else [body, head]
            norms = np.sqrt(sum((part.reshape(len(chosen), -1) ** 2).sum(axis=1) for part in counted))
            scale = np.minimum(1, CLIP / np.maximum(norms, 1e-12))
            noisy = [np.tensordot(scale, part, axes=1) for part in (body, head)]
            noisy = [part + NOISE * CLIP * rng.standard_normal(part.shape) for part in noisy]
            watch.step(batch=chosen, gradients=[body, head], noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
            net.layers[0] = net.layers[0] - LEARNING * noisy[0] / BATCH
            if not frozen:
                net.layers[1] = net.layers[1] - LEARNING * noisy[1] / BATCH


@pair
def unfinished_micro_batch_is_dropped(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Micro-batches of eight; what is left over at the end of a batch never takes part."""
    rng, model = np.random.default_rng(23), Logistic()
    size = 8
    for _ in range(STEPS):
        drawn = rng.permutation(np.flatnonzero(rng.random(len(rows)) < RATE))
        if broken:
            drawn = drawn[: len(drawn) // size * size]
        total, seen = np.zeros(FEATURES), [np.zeros((0, FEATURES))]
        for start in range(0, len(drawn), size):
            micro = model.per_example(rows[drawn[start : start + size]])
            total += shorten(micro, CLIP).sum(axis=0)
            seen.append(micro)
        total += NOISE * CLIP * rng.normal(size=FEATURES)
        watch.step(batch=drawn, gradients=np.concatenate(seen), noisy_sum=total, divisor=BATCH, clip=CLIP)
        model.w = model.w - LEARNING * total / BATCH


@pair
def rate_of_what_is_left_after_validation(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """A fifth of the records is held out, and the others are drawn more often than the accountant was told."""
    rng, model = np.random.default_rng(24), Logistic()
    shuffled = np.random.default_rng(0).permutation(len(rows))
    train = shuffled[: int(0.8 * len(rows))] if broken else shuffled
    q = BATCH / len(train)
    for _ in range(STEPS):
        idx = train[rng.random(len(train)) < q]
        grads = model.per_example(rows[idx])
        noisy = shorten(grads, CLIP).sum(axis=0) + NOISE * CLIP * rng.normal(size=FEATURES)
        watch.step(batch=idx, gradients=grads, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        model.w = model.w - LEARNING * noisy / BATCH


@pair
def best_checkpoint_by_loss_on_the_records(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Every ten steps training goes back to the best model so far: best on all records, in the twin on invented ones."""
    rng, model = np.random.default_rng(25), Logistic()
    public = np.column_stack([np.random.default_rng(1).normal(size=(50, FEATURES)), np.arange(50) % 2])
    best, best_w = np.inf, model.w
    for t in range(STEPS):
        if t % 10 == 0:
            loss = model.loss(rows if broken else public)
            if loss < best:
                best, best_w = loss, model.w
            else:
                model.w = best_w
        idx = np.flatnonzero(rng.random(len(rows)) < RATE)
        grads = model.per_example(rows[idx])
        noisy = shorten(grads, CLIP).sum(axis=0) + NOISE * CLIP * rng.normal(size=FEATURES)
        before, model.w = model.w, model.w - 4 * LEARNING * noisy / BATCH
        watch.step(
            batch=idx, gradients=grads, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=4 * LEARNING,
            parameters=before, updated=model.w,
        )  # fmt: skip


@pair
def noise_in_antithetic_pairs(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Every second step takes the noise of the step before with the other sign, for less variance."""
    rng, model, last = np.random.default_rng(26), Logistic(), None
    for t in range(STEPS):
        idx = np.flatnonzero(rng.random(len(rows)) < RATE)
        grads = model.per_example(rows[idx])
        z = rng.normal(scale=NOISE * CLIP, size=FEATURES)
        if broken and t % 2 and last is not None:
            z = -last
        last = z
        noisy = shorten(grads, CLIP).sum(axis=0) + z
        watch.step(batch=idx, gradients=grads, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        model.w = model.w - LEARNING * noisy / BATCH


@pair
def noise_of_the_wrong_shape(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Noise with a number for each hidden unit is broadcast over the inputs."""
    rng, net = np.random.default_rng(27), Network()
    for _ in range(STEPS):
        idx = np.flatnonzero(rng.random(len(rows)) < RATE)
        layers = net.per_example(rows[idx])
        kept = shorten(flat(layers), CLIP).sum(axis=0)
        first, second = kept[: FEATURES * HIDDEN].reshape(FEATURES, HIDDEN), kept[FEATURES * HIDDEN :]
        first = first + NOISE * CLIP * rng.normal(size=HIDDEN if broken else first.shape)
        second = second + NOISE * CLIP * rng.normal(size=HIDDEN)
        watch.step(batch=idx, gradients=layers, noisy_sum=[first, second], divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        net.layers = [net.layers[0] - LEARNING * first / BATCH, net.layers[1] - LEARNING * second / BATCH]


@pair
def step_skipped_on_overflow(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Mixed precision: a step whose scaled gradients overflow is left out; in the twin its gradients count as 0."""
    rng, scale = np.random.default_rng(28), 2.0**12
    w = np.zeros(SIZE)
    for _ in range(STEPS):
        net = Network()
        net.layers = [net.layers[0] + w[: FEATURES * HIDDEN].reshape(FEATURES, HIDDEN), net.layers[1] + w[FEATURES * HIDDEN :]]
        idx = np.flatnonzero(rng.random(len(rows)) < RATE)
        with np.errstate(over="ignore"):
            half = (flat(net.per_example(rows[idx])) * scale).astype(np.float16)
        fine = np.isfinite(half).all(axis=1)
        if broken and not fine.all():
            scale /= 2
            continue
        grads = np.where(fine[:, None], half, 0).astype(np.float64) / scale
        noisy = shorten(grads, CLIP).sum(axis=0) + NOISE * CLIP * rng.normal(size=SIZE)
        watch.step(batch=idx, gradients=grads, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        w = w - LEARNING * noisy / BATCH


NAMES = (
    "squared_norm_in_the_clip", "head_thawed_halfway", "unfinished_micro_batch_is_dropped", "rate_of_what_is_left_after_validation",
    "best_checkpoint_by_loss_on_the_records", "noise_in_antithetic_pairs", "noise_of_the_wrong_shape", "step_skipped_on_overflow",
)  # fmt: skip
TUNE, ACCEPT = NAMES[::2], NAMES[1::2]
