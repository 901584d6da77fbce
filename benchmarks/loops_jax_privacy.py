"""Loops of jax_privacy as people write them, each with one mistake and without; each trains and returns its watch."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy import batch_selection, clipping, noise_addition
from loops_table import BATCH, CLAIM, CLIP, FEATURES, LEARNING, NOISE, RECORDS, STEPS, table

from dpaudit.auditor.training import audit_training, from_jax_privacy

features, target = table()


def loss(parameters: Any, x: Any, y: Any) -> Any:
    """Logistic loss of a network with one hidden layer."""
    logit = jnp.tanh(x @ parameters["first"]) @ parameters["last"]
    return jnp.mean(jnp.logaddexp(0, -logit) + (1 - y) * logit)


def prepare() -> Any:
    """Parameters, a key for the noise, and batches."""
    keys = jax.random.split(jax.random.key(0), 3)
    parameters = {"first": jax.random.normal(keys[0], (FEATURES, 8)) / 3, "last": jax.random.normal(keys[1], (8,)) / 3}
    strategy = batch_selection.CyclicPoissonSampling(sampling_prob=0.1, iterations=STEPS)
    return parameters, keys[2], strategy.batch_iterator(RECORDS, rng=1)


def mean_over_the_actual_batch(*, broken: bool) -> Any:
    """`normalize_by` is the size of the batch at hand; told by the protocol."""
    parameters, key, batches = prepare()
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
    privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * CLIP / BATCH, prng_key=key)
    state = privatizer.init(parameters)
    with audit_training(CLAIM) as watch:
        for batch in batches:
            divisor = float(max(1, len(batch)) if broken else BATCH)
            sums = clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2), normalize_by=divisor)
            clean = sums(parameters, features[batch], target[batch])
            noisy, state = privatizer.update(clean, state)
            watch.step(
                batch=batch.astype(np.int64),
                gradients=jax.tree.leaves(each(parameters, features[batch], target[batch])),
                noisy_sum=[BATCH * part for part in jax.tree.leaves(noisy)],
                clean_sum=[BATCH * part for part in jax.tree.leaves(clean)],
                divisor=BATCH,
                clip=CLIP,
                learning_rate=LEARNING,
            )
            parameters = jax.tree.map(lambda old, step: old - LEARNING * step, parameters, noisy)
    return watch


def padding_without_a_mask(*, broken: bool) -> Any:
    """Batches are padded to shapes that compile once; the padding, index -1, is the last record."""
    parameters, key, batches = prepare()
    watch = from_jax_privacy(
        CLAIM,
        batches=(batch_selection.pad_to_multiple_of(batch, 16) for batch in batches),
        sums=clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2)),
        privatizer=noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=key),
        batch_argnums=(1, 2),
    )
    state = watch.privatizer.init(parameters)

    @jax.jit
    def step(parameters: Any, state: Any, x: Any, y: Any, padding: Any) -> Any:
        clean = watch.sums(parameters, x, y) if broken else watch.sums(parameters, x, y, is_padding_example=padding)
        noisy, state = watch.privatizer.update(clean, state)
        return jax.tree.map(lambda old, grad: old - LEARNING * grad / BATCH, parameters, noisy), state

    for batch in watch.batches:
        parameters, state = step(parameters, state, features[batch], target[batch], batch == -1)
    return watch


def state_of_the_noise_not_kept(*, broken: bool) -> Any:
    """The new state of the privatizer is thrown away."""
    parameters, key, batches = prepare()
    watch = from_jax_privacy(
        CLAIM,
        batches=batches,
        sums=clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2)),
        privatizer=noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=key),
        batch_argnums=(1, 2),
    )
    state = watch.privatizer.init(parameters)
    for batch in watch.batches:
        noisy, new = watch.privatizer.update(watch.sums(parameters, features[batch], target[batch]), state)
        state = state if broken else new
        parameters = jax.tree.map(lambda old, grad: old - LEARNING * grad / BATCH, parameters, noisy)
    return watch


TUNE = [padding_without_a_mask]
ACCEPT = [mean_over_the_actual_batch, state_of_the_noise_not_kept]
