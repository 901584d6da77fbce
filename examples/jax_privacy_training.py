"""Audit a training by jax_privacy 2.0.0: every step watched, and gradient canaries in what its privatizer adds noise to.

Run `pip install dpaudit jax_privacy==2.0.0`, then `python examples/jax_privacy_training.py`: two minutes of processor time.
"""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy import batch_selection, clipping, noise_addition
from jax_privacy.auditing import CanaryScoreAuditor

from dpaudit.auditor.membership import DPSGD
from dpaudit.auditor.training import DiracCanaries, TrainingClaim, TrainingWatch, audit_steps, audit_training

RECORDS, FEATURES, HIDDEN, STEPS, RATE, NOISE, CLIP, LEARNING, DELTA = 1000, 20, 40, 50, 0.1, 1.0, 1.0, 0.3, "1e-5"
SIZE = FEATURES * HIDDEN + HIDDEN


def loss(parameters: dict, features: jax.Array, label: jax.Array) -> jax.Array:
    """Squared error of a network with one hidden layer, for one example."""
    return (jnp.tanh(features @ parameters["first"]) @ parameters["last"] - label) ** 2


def train(watch: TrainingWatch | None = None, canaries: DiracCanaries | None = None) -> None:
    """An ordinary loop: Poisson batches, clipped sums, noise, gradient descent."""
    rng, keys = np.random.default_rng(0), jax.random.split(jax.random.key(0), 3)
    features = rng.normal(size=(RECORDS, FEATURES))
    labels = features @ rng.normal(size=FEATURES)
    parameters = {
        "first": jax.random.normal(keys[0], (FEATURES, HIDDEN)) / 5,
        "last": jax.random.normal(keys[1], (HIDDEN,)) / 5,
    }
    sums = clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2), keep_batch_dim=False)
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
    privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=keys[2])
    state, add_noise = privatizer.init(parameters), privatizer.update
    if canaries is not None:
        add_noise = canaries.wrap(add_noise)
    for batch in batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS).batch_iterator(RECORDS, rng=1):
        chosen = features[batch], labels[batch]
        noisy, state = add_noise(sums(parameters, *chosen), state)
        updated = jax.tree.map(lambda old, sum_: old - LEARNING * sum_ / (RATE * RECORDS), parameters, noisy)
        if watch is not None:
            watch.step(
                batch=batch.astype(np.int64),
                gradients=jax.tree.leaves(each(parameters, *chosen)),
                noisy_sum=jax.tree.leaves(noisy),
                divisor=RATE * RECORDS,
                clip=CLIP,
                learning_rate=LEARNING,
                parameters=jax.tree.leaves(parameters),
                updated=jax.tree.leaves(updated),
            )
        parameters = updated


def main() -> None:
    """Print the checks, then the bounds beside those of jax_privacy on the same scores."""
    told = TrainingClaim(noise_multiplier=1, clip=1, rate="1/10", steps=STEPS, records=RECORDS, divisor=100)
    with audit_training(told) as watch:
        train(watch)
    for check in watch.checks:
        print(f"{check.name:18} {check.status:11} {check.detail}")

    law = DPSGD(rate="1/10", steps=STEPS, noise_multiplier=1)
    canaries = DiracCanaries(SIZE, clip=CLIP, rate="1/10", canaries=800, seed=1)
    train(canaries=canaries)
    found, scores = canaries.audit(delta=DELTA, law=law), canaries.scores.sum(axis=0)
    theirs = CanaryScoreAuditor(scores[canaries.included], scores[~canaries.included])
    fresh = DiracCanaries(SIZE, clip=CLIP, rate="1/10", canaries=800, fresh=True, seed=1)
    train(canaries=fresh)
    steps = audit_steps(fresh.scores, fresh.included, law=law, delta=DELTA)
    print(f"\nepsilon at {DELTA} is told as {float(law.epsilon(noise_multiplier=1.0, delta=Fraction(DELTA))):.2f}; at least")
    for said, bound in (
        ("for any mechanism, jax_privacy in one run", theirs.epsilon_one_run(0.05, float(DELTA))),
        ("for any mechanism", found.epsilon),
        ("within DP-SGD, canaries independent", found.within(law).epsilon),
        ("step by step, if all steps are alike", steps.epsilon),
    ):
        print(f"{float(bound):6.2f}  {said}")


if __name__ == "__main__":
    main()
