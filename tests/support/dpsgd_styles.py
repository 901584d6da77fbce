"""Training loops in the styles that people write, each a mistake and its sound twin: `train(rows, watch, broken)`.

Noise comes from seeded numpy generators: nothing here protects anybody.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

RECORDS, FEATURES, HIDDEN, STEPS, BATCH = 240, 6, 5, 60, 24
RATE, NOISE, CLIP, LEARNING = 0.1, 2.0, 0.5, 0.4
SIZE = FEATURES * HIDDEN + HIDDEN

PAIRS: dict[str, Callable[..., None]] = {}
FIXED = {"sliding_window"}
"""Pairs whose accountant was told of batches of a fixed size."""


def pair(train: Callable[..., None]) -> Callable[..., None]:
    """List a pair under the name of its function."""
    PAIRS[train.__name__] = train
    return train


def people(seed: int = 8) -> np.ndarray:
    """Rows of features and a label of 0 or 1, some with long gradients."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(RECORDS, FEATURES)) * np.exp(rng.normal(size=(RECORDS, 1)))
    return np.column_stack([rows, rows @ np.linspace(-1, 1, FEATURES) + rng.normal(size=RECORDS) > 0])


def shorten(rows: np.ndarray, clip: float) -> np.ndarray:
    """Clip each row."""
    return rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True) / clip)


class Logistic:
    """Logistic regression without a bias."""

    def __init__(self, dtype: Any = np.float64) -> None:
        self.w = np.zeros(FEATURES, dtype=dtype)

    def per_example(self, rows: np.ndarray) -> np.ndarray:
        x, y = rows[:, :-1], rows[:, -1]
        return (self.probability(x) - y)[:, None] * x

    def probability(self, x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-np.clip(x @ self.w, -60, 60)))

    def loss(self, rows: np.ndarray) -> float:
        p = np.clip(self.probability(rows[:, :-1]), 1e-9, 1 - 1e-9)
        return float(-np.mean(rows[:, -1] * np.log(p) + (1 - rows[:, -1]) * np.log(1 - p)))


class Network:
    """A hidden layer and a linear one, for the squared error; `normalise` centres the hidden layer over the batch."""

    def __init__(self, *, normalise: bool = False) -> None:
        rng = np.random.default_rng(0)
        self.layers = [rng.normal(size=(FEATURES, HIDDEN)) / 2, rng.normal(size=HIDDEN) / 2]
        self.normalise = normalise

    def per_example(self, rows: np.ndarray) -> list[np.ndarray]:
        x, y = rows[:, :-1], rows[:, -1]
        before = x @ self.layers[0]
        if self.normalise and len(rows):
            before = before - before.mean(axis=0)
        hidden = np.tanh(before)
        error = hidden @ self.layers[1] - y
        back = error[:, None] * self.layers[1] * (1 - hidden**2)
        return [x[:, :, None] * back[:, None, :], error[:, None] * hidden]


def flat(layers: list[np.ndarray]) -> np.ndarray:
    """Per-example gradients of all layers side by side."""
    return np.concatenate([part.reshape(len(part), -1) for part in layers], axis=1)


def coins(rng: np.random.Generator, count: int) -> np.ndarray:
    """A Poisson sample."""
    return np.flatnonzero(rng.random(count) < RATE)


def plain_logistic(
    rows: np.ndarray, watch: Any, *, seed: int = 5, sample: Any = None, total: Any = None, noise: Any = None, rate: Any = None
) -> None:
    """Logistic regression, with functions in place of some of its parts."""
    rng, model = np.random.default_rng(seed), Logistic()
    for step in range(STEPS):
        batch = coins(rng, len(rows)) if sample is None else sample(rng, step)
        gradients = model.per_example(rows[batch])
        added = NOISE * CLIP * rng.normal(size=FEATURES) if noise is None else noise(rng, step)
        noisy = (shorten(gradients, CLIP).sum(axis=0) if total is None else total(gradients)) + added
        learning = LEARNING if rate is None else rate(step, batch, model)
        before = model.w
        model.w = before - learning * noisy / BATCH
        watch.step(
            batch=batch, gradients=gradients, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=learning,
            parameters=before, updated=model.w,
        )  # fmt: skip


@pair
def one_bound_for_each_layer(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Each layer is clipped at the bound of all of them together."""
    rng, net = np.random.default_rng(1), Network()
    for _ in range(STEPS):
        batch = coins(rng, len(rows))
        layers = net.per_example(rows[batch])
        if broken:
            kept = [shorten(part.reshape(len(batch), -1), CLIP).reshape(part.shape) for part in layers]
        else:
            shrink = np.minimum(1, CLIP / np.maximum(1e-12, np.linalg.norm(flat(layers), axis=1)))
            kept = [part * shrink.reshape([-1] + [1] * (part.ndim - 1)) for part in layers]
        sums = [part.sum(axis=0) + NOISE * CLIP * rng.normal(size=part.shape[1:]) for part in kept]
        watch.step(batch=batch, gradients=layers, noisy_sum=sums, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        net.layers = [w - LEARNING * g / BATCH for w, g in zip(net.layers, sums, strict=True)]


@pair
def clipped_after_the_mean(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """The mean gradient is clipped instead of each."""

    def total(gradients: np.ndarray) -> np.ndarray:
        return BATCH * shorten(gradients.mean(axis=0, keepdims=True), CLIP)[0]

    plain_logistic(rows, watch, total=total if broken else None)


@pair
def root_of_the_multiplier(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """A multiplier is taken for a variance."""
    plain_logistic(rows, watch, noise=lambda rng, step: (np.sqrt(NOISE) if broken else NOISE) * CLIP * rng.normal(size=FEATURES))


@pair
def noise_of_a_worker(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Each of four workers adds a quarter of the deviation, not half of it."""

    def noise(rng: np.random.Generator, step: int) -> np.ndarray:
        return (NOISE * CLIP / (4 if broken else 2) * rng.normal(size=(4, FEATURES))).sum(axis=0)

    plain_logistic(rows, watch, noise=noise)


@pair
def loader_with_a_short_last_batch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """A shuffled loader that keeps its last, shorter batch."""
    rng, steps = np.random.default_rng(2), iter(range(STEPS))
    model = Logistic()

    def batches() -> Any:
        while True:
            order = rng.permutation(len(rows))
            if broken:
                yield from (order[place : place + 23] for place in range(0, len(rows), 23))
            else:
                yield coins(rng, len(rows))

    for batch, _ in zip(batches(), steps, strict=False):
        gradients = model.per_example(rows[batch])
        noisy = shorten(gradients, CLIP).sum(axis=0) + rng.normal(scale=NOISE * CLIP, size=FEATURES)
        model.w = model.w - LEARNING / BATCH * noisy
        watch.step(batch=batch, gradients=gradients, noisy_sum=noisy, divisor=BATCH, clip=CLIP)


@pair
def each_record_once_an_epoch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Records fall into batches of random sizes, once an epoch each."""
    rng = np.random.default_rng(3)
    bins = np.concatenate([rng.integers(10, size=(1, len(rows))) + 10 * epoch for epoch in range(6)])

    def sample(generator: np.random.Generator, step: int) -> np.ndarray:
        return np.flatnonzero((bins == step).any(axis=0)) if broken else coins(generator, len(rows))

    plain_logistic(rows, watch, sample=sample)


@pair
def mean_of_the_batch_before_the_noise(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """The clipped mean over the actual batch is scaled up to a sum."""

    def total(gradients: np.ndarray) -> np.ndarray:
        kept = shorten(gradients, CLIP).sum(axis=0)
        return kept * BATCH / max(1, len(gradients)) if broken else kept

    plain_logistic(rows, watch, total=total)


@pair
def accumulated_with_a_share_of_the_noise(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Micro-batches of six, the noise divided by their number."""
    rng, model = np.random.default_rng(4), Logistic(np.float32)
    for _ in range(STEPS):
        batch, held, parts = coins(rng, len(rows)), np.zeros(FEATURES, dtype=np.float32), []
        for place in range(0, len(batch), 6):
            parts.append(model.per_example(rows[batch[place : place + 6]]).astype(np.float32))
            held += shorten(parts[-1], CLIP).sum(axis=0)
        gradients = np.concatenate(parts) if parts else np.zeros((0, FEATURES))
        held += np.float32(NOISE * CLIP) * rng.normal(size=FEATURES).astype(np.float32) / (max(1, len(parts)) if broken else 1)
        before, model.w = model.w, model.w - np.float32(LEARNING / BATCH) * held
        watch.step(
            batch=batch, gradients=gradients, noisy_sum=held, divisor=BATCH, clip=CLIP, learning_rate=LEARNING,
            parameters=before, updated=model.w,
        )  # fmt: skip


@pair
def standardised_by_the_records(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Features are scaled by the mean and spread of all records."""
    x = rows[:, :-1]
    centre, spread = (x.mean(axis=0), x.std(axis=0)) if broken else (0.0, 2.0)
    plain_logistic(np.column_stack([(x - centre) / spread, rows[:, -1]]), watch)


@pair
def centred_over_the_batch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """A layer that subtracts the mean of the batch, in a loop that never calls `check_examples`."""
    rng, net = np.random.default_rng(6), Network(normalise=broken)
    for _ in range(STEPS):
        batch = coins(rng, len(rows))
        gradients = flat(net.per_example(rows[batch]))
        noisy = shorten(gradients, CLIP).sum(axis=0) + NOISE * CLIP * rng.normal(size=SIZE)
        watch.step(batch=batch, gradients=gradients, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        parts = np.split(LEARNING * noisy / BATCH, [FEATURES * HIDDEN])
        net.layers = [w - part.reshape(w.shape) for w, part in zip(net.layers, parts, strict=True)]


@pair
def rate_lowered_on_a_plateau(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """The learning rate falls when the loss on the records does; in the twin, when the released sums are short."""
    held = {"rate": LEARNING, "best": np.inf}

    def rate(step: int, batch: np.ndarray, model: Logistic) -> float:
        seen = model.loss(rows) if broken else -float(np.linalg.norm(model.w))
        if step % 5 == 4:
            held["rate"] *= 1.0 if seen < held["best"] - 1e-3 else 0.7
            held["best"] = min(held["best"], seen)
        return held["rate"]

    plain_logistic(rows, watch, rate=rate)


@pair
def stopped_by_the_loss_on_the_records(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Training ends once the loss on all records is small."""
    rng, model = np.random.default_rng(9), Logistic()
    for _ in range(STEPS):
        batch = coins(rng, len(rows))
        gradients = model.per_example(rows[batch])
        noisy = shorten(gradients, CLIP).sum(axis=0) + NOISE * CLIP * rng.normal(size=FEATURES)
        watch.step(batch=batch, gradients=gradients, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        model.w = model.w - LEARNING * noisy / BATCH
        if broken and model.loss(rows) < 0.55:
            break


@pair
def noise_seeded_anew_in_each_epoch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """The generator of the noise begins again with every epoch."""
    own = [np.random.default_rng(11)]

    def noise(rng: np.random.Generator, step: int) -> np.ndarray:
        if broken and step % 10 == 0:
            own[0] = np.random.default_rng(11)
        return NOISE * CLIP * own[0].normal(size=FEATURES)

    plain_logistic(rows, watch, noise=noise)


@pair
def noise_once_an_epoch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Nine of ten sums have no noise."""
    plain_logistic(rows, watch, noise=lambda rng, step: NOISE * CLIP * rng.normal(size=FEATURES) * (not broken or step % 10 == 9))


@pair
def momentum_before_the_clip(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Each example's own momentum is clipped; the twin has momentum of the noisy mean, weight decay and reports its parameters."""
    rng, w, velocity, own = np.random.default_rng(12), np.zeros(FEATURES), np.zeros(FEATURES), np.zeros((len(rows), FEATURES))
    for _ in range(STEPS):
        batch = coins(rng, len(rows))
        model = Logistic()
        model.w = w
        gradients = model.per_example(rows[batch])
        own[batch] = 0.9 * own[batch] + gradients
        noisy = shorten(own[batch] if broken else gradients, CLIP).sum(axis=0) + NOISE * CLIP * rng.normal(size=FEATURES)
        velocity = noisy / BATCH + (0 if broken else 0.9 * velocity)
        after = w - LEARNING * (velocity + 0.01 * w)
        watch.step(
            batch=batch, gradients=gradients, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING,
            parameters=w, updated=after,
        )  # fmt: skip
        w = after


@pair
def adam_beside_the_noise(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Adam on released means; the mistake adds the clean mean to them."""
    rng, net = np.random.default_rng(13), Network()
    w = np.concatenate([part.ravel() for part in net.layers])
    first, second = np.zeros(SIZE), np.zeros(SIZE)
    for step in range(1, STEPS + 1):
        batch = coins(rng, len(rows))
        net.layers = [w[: FEATURES * HIDDEN].reshape(FEATURES, HIDDEN), w[FEATURES * HIDDEN :]]
        gradients = flat(net.per_example(rows[batch]))
        kept = shorten(gradients, CLIP).sum(axis=0)
        noisy = kept + NOISE * CLIP * rng.normal(size=SIZE)
        mean = noisy / BATCH
        first, second = 0.9 * first + 0.1 * mean, 0.999 * second + 0.001 * mean**2
        move = 0.01 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        if broken:
            move = np.where(np.arange(SIZE) < FEATURES * HIDDEN, LEARNING * mean, LEARNING * kept / BATCH)
        watch.step(
            batch=batch, gradients=gradients, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING if broken else 0.01,
            parameters=w, updated=w - move,
        )  # fmt: skip
        w = w - move


@pair
def augmentations_as_examples(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Both views of a record are clipped on their own; the twin clips their mean."""
    rng, model = np.random.default_rng(14), Logistic()
    for _ in range(STEPS):
        batch = coins(rng, len(rows))
        views = [model.per_example(rows[batch] * ([sign] * FEATURES + [1])) for sign in (1.0, 0.9)]
        mean = (views[0] + views[1]) / 2
        kept = sum(shorten(view, CLIP).sum(axis=0) for view in views) if broken else shorten(mean, CLIP).sum(axis=0)
        noisy = kept + NOISE * CLIP * rng.normal(size=FEATURES)
        model.w = model.w - LEARNING * noisy / BATCH
        watch.step(batch=batch, gradients=mean, noisy_sum=noisy, divisor=BATCH, clip=CLIP)


@pair
def uniform_noise(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Noise of the right deviation that is uniform."""

    def noise(rng: np.random.Generator, step: int) -> np.ndarray:
        return NOISE * CLIP * (rng.uniform(-np.sqrt(3), np.sqrt(3), size=FEATURES) if broken else rng.normal(size=FEATURES))

    plain_logistic(rows, watch, noise=noise)


@pair
def tied_weights_counted_once(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Weights that are used twice: their gradient has two parts, and the norm sees one of them."""
    rng, w = np.random.default_rng(15), np.ones(FEATURES) / 3
    for _ in range(STEPS):
        batch = coins(rng, len(rows))
        x, y = rows[batch, :-1], rows[batch, -1]
        inner = np.tanh(x @ w)
        error = inner * w.sum() - y
        parts = error[:, None] * (w.sum() * (1 - inner**2))[:, None] * x, (error * inner)[:, None] * np.ones(FEATURES)
        whole = parts[0] + parts[1]
        seen = parts[0] if broken else whole
        kept = whole * np.minimum(1, CLIP / np.maximum(1e-12, np.linalg.norm(seen, axis=1, keepdims=True)))
        noisy = kept.sum(axis=0) + NOISE * CLIP * rng.normal(size=FEATURES)
        watch.step(batch=batch, gradients=whole, noisy_sum=noisy, divisor=BATCH, clip=CLIP)
        w = w - LEARNING * noisy / BATCH


@pair
def a_head_that_learns_beside_the_noise(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """A head with a learning rate of its own, in floats of 32 bits; the mistake lets it follow the clean sum."""
    rng, net = np.random.default_rng(16), Network()
    w = np.concatenate([part.ravel() for part in net.layers]).astype(np.float32)
    head, rates = np.arange(SIZE) >= FEATURES * HIDDEN, np.where(np.arange(SIZE) >= FEATURES * HIDDEN, 0.001, 0.01)
    for _ in range(STEPS):
        batch = coins(rng, len(rows))
        net.layers = [w[~head].reshape(FEATURES, HIDDEN), w[head]]
        gradients = flat(net.per_example(rows[batch]))
        kept = shorten(gradients, CLIP).sum(axis=0)
        noisy = kept + NOISE * CLIP * rng.normal(size=SIZE)
        used = np.where(head & broken, kept, noisy)
        after = (w - (rates * used / BATCH).astype(np.float32)).astype(np.float32)
        watch.step(
            batch=batch, gradients=gradients, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=0.01,
            parameters=w, updated=after,
        )  # fmt: skip
        w = after


@pair
def balanced_classes(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """The rarer label is drawn four times as often."""
    chance = np.where(rows[:, -1] == 1, 1.6, 0.4) * RATE if broken else np.full(len(rows), RATE)
    plain_logistic(rows, watch, sample=lambda rng, step: np.flatnonzero(rng.random(len(rows)) < chance))


@pair
def hardest_half_of_the_batch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Only the longer half of the gradients is summed."""

    def total(gradients: np.ndarray) -> np.ndarray:
        norms = np.linalg.norm(gradients, axis=1)
        taken = gradients[norms >= np.median(norms)] if broken and len(norms) else gradients
        return shorten(taken, CLIP).sum(axis=0)

    plain_logistic(rows, watch, total=total)


@pair
def layers_share_their_noise(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Each layer draws its noise from a generator with the seed of the step."""
    rng, net = np.random.default_rng(17), Network()
    for step in range(STEPS):
        batch = coins(rng, len(rows))
        layers = net.per_example(rows[batch])
        shrink = np.minimum(1, CLIP / np.maximum(1e-12, np.linalg.norm(flat(layers), axis=1)))
        sums = []
        for number, part in enumerate(layers):
            own = np.random.default_rng([step] if broken else [step, number])
            kept = np.tensordot(shrink, part, axes=1)
            sums.append(kept + NOISE * CLIP * own.normal(size=kept.shape))
        watch.step(batch=batch, gradients=layers, noisy_sum=sums, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
        net.layers = [w - LEARNING * g / BATCH for w, g in zip(net.layers, sums, strict=True)]


@pair
def rate_over_the_size_of_the_batch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """The learning rate makes up for large batches."""
    plain_logistic(rows, watch, rate=lambda step, batch, model: LEARNING * (BATCH / max(1, len(batch)) if broken else 0.99**step))


@pair
def clip_at_the_median_of_the_batch(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Each batch is clipped at its own median norm, while the fixed clip is reported."""

    def total(gradients: np.ndarray) -> np.ndarray:
        norms = np.linalg.norm(gradients, axis=1)
        return shorten(gradients, float(np.median(norms)) if broken and len(norms) else CLIP).sum(axis=0)

    plain_logistic(rows, watch, total=total)


@pair
def expected_batch_of_the_private_size(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """An engine that computes its divisor from the length of the dataset."""

    class Engine:
        def __init__(self, dataset: np.ndarray) -> None:
            self.expected = int(len(dataset) * RATE) if broken else BATCH
            self.generator = np.random.default_rng(18)

        def step(self, model: Logistic, dataset: np.ndarray) -> None:
            batch = coins(self.generator, len(dataset))
            gradients = model.per_example(dataset[batch])
            noisy = shorten(gradients, CLIP).sum(axis=0) + self.generator.normal(0, NOISE * CLIP, FEATURES)
            watch.step(batch=batch, gradients=gradients, noisy_sum=noisy, divisor=self.expected, clip=CLIP)
            model.w = model.w - LEARNING * noisy / self.expected

    engine, model = Engine(rows), Logistic()
    for _ in range(STEPS):
        engine.step(model, rows)


@pair
def normalised_sum_of_private_lengths(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """Records are divided by the longest of them; in the twin each by its own length."""
    lengths = np.linalg.norm(rows[:, :-1], axis=1, keepdims=True)
    plain_logistic(np.column_stack([3 * rows[:, :-1] / (lengths.max() if broken else lengths), rows[:, -1]]), watch)


@pair
def sliding_window(rows: np.ndarray, watch: Any, *, broken: bool) -> None:
    """A batch is a window of neighbouring rows from a random place, told as a random set of fixed size."""

    def sample(rng: np.random.Generator, step: int) -> np.ndarray:
        if broken:
            return (int(rng.integers(len(rows))) + np.arange(BATCH)) % len(rows)
        return rng.permutation(len(rows))[:BATCH]

    plain_logistic(rows, watch, sample=sample)


NAMES = sorted(PAIRS)
TUNE, ACCEPT = NAMES[::2], NAMES[1::2]
