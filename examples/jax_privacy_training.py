"""Audit a training by jax_privacy 2.0.0: every step watched, and gradient canaries in what its privatizer adds noise to.

Run `pip install dpaudit jax_privacy==2.0.0`, then `python examples/jax_privacy_training.py TABLE.csv`: a minute. The table
has a header, numbers, and the number to predict in its last column; without one, invented records are used.
"""

import sys
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy import batch_selection, clipping, noise_addition
from jax_privacy.auditing import CanaryScoreAuditor

from dpaudit.auditor.membership import DPSGD
from dpaudit.auditor.training import DiracCanaries, JaxWatch, TrainingClaim, audit_steps, from_jax_privacy

HIDDEN, STEPS, RATE, NOISE, CLIP, LEARNING, DELTA = 40, 50, 0.1, 1.0, 1.0, 0.3, "1e-5"


def table() -> tuple[np.ndarray, np.ndarray]:
    """Features on a scale that looks at no record, and what to predict."""
    if len(sys.argv) < 2:
        features = np.random.default_rng(0).normal(size=(1000, 20))
        return features, features.mean(axis=1)
    rows = np.genfromtxt(sys.argv[1], delimiter=",", skip_header=1)
    rows = np.sign(rows) * np.log1p(np.abs(rows)) / 3
    return rows[:, :-1], rows[:, -1]


def loss(parameters: dict, features: jax.Array, label: jax.Array) -> jax.Array:
    """Squared error of a network with one hidden layer, for one example."""
    return (jnp.tanh(features @ parameters["first"]) @ parameters["last"] - label) ** 2


def train(features: np.ndarray, labels: np.ndarray, *, watched: bool = False, canaries: DiracCanaries | None = None) -> JaxWatch:
    """An ordinary loop: Poisson batches, clipped sums, noise, gradient descent; it takes all of them from the watch."""
    keys = jax.random.split(jax.random.key(0), 3)
    parameters = {
        "first": jax.random.normal(keys[0], (features.shape[1], HIDDEN)) / 5,
        "last": jax.random.normal(keys[1], (HIDDEN,)) / 5,
    }
    sums = clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2), keep_batch_dim=False)
    privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=keys[2])
    drawn = batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS).batch_iterator(len(features), rng=1)
    # Few sizes of batches, so that few have to be compiled; -1 stands for no record.
    batches = (batch_selection.pad_to_multiple_of(batch, 64) for batch in drawn)
    claim = TrainingClaim(
        noise_multiplier=1, clip=1, rate="1/10", steps=STEPS, records=len(features), divisor=Fraction(len(features), 10)
    )
    watch = from_jax_privacy(claim, batches=batches, sums=sums, privatizer=privatizer, batch_argnums=(1, 2))
    if watched:
        batches, sums, privatizer = watch.batches, watch.sums, watch.privatizer
    compiled = jax.jit(sums)
    state, add_noise = privatizer.init(parameters), privatizer.update
    if canaries is not None:
        add_noise = canaries.wrap(add_noise)
    for batch in batches:
        noisy, state = add_noise(compiled(parameters, features[batch], labels[batch], is_padding_example=batch < 0), state)
        parameters = jax.tree.map(lambda old, sum_: old - LEARNING * sum_ / (RATE * len(features)), parameters, noisy)
    return watch


def main() -> None:
    """Print the checks, then the bounds beside those of jax_privacy on the same scores."""
    records = table()
    for check in train(*records, watched=True).checks:
        print(f"{check.name:18} {check.status:11} {check.detail} {check.where}")

    law, size = DPSGD(rate="1/10", steps=STEPS, noise_multiplier=1), (records[0].shape[1] + 1) * HIDDEN
    canaries = DiracCanaries(size, clip=CLIP, rate="1/10", canaries=800, seed=1)
    train(*records, canaries=canaries)
    found, scores = canaries.audit(delta=DELTA, law=law), canaries.scores.sum(axis=0)
    theirs = CanaryScoreAuditor(scores[canaries.included], scores[~canaries.included])
    fresh = DiracCanaries(size, clip=CLIP, rate="1/10", canaries=800, fresh=True, seed=1)
    train(*records, canaries=fresh)
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
