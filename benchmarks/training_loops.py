"""Loops of torch, Opacus and jax_privacy as people write them, each with one mistake and without: is it found, and where.

Run in an environment with dpaudit and either torch and opacus, or jax_privacy: `python benchmarks/training_loops.py opacus`.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.auditor.training import TrainingClaim, audit_training, from_jax_privacy, from_opacus

RECORDS, FEATURES, BATCH, STEPS, NOISE, CLIP, LEARNING = 400, 12, 40, 60, 1.0, 1.0, 0.5
CLAIM = TrainingClaim(noise_multiplier=1, clip=1, rate="1/10", steps=STEPS, records=RECORDS, divisor=BATCH)


def table() -> tuple[np.ndarray, np.ndarray]:
    """Features and a target for each record."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(RECORDS, FEATURES)) * np.exp(rng.normal(size=(RECORDS, 1)))
    return features.astype(np.float32), (features @ np.linspace(-1, 1, FEATURES) > 0).astype(np.float32)


def opacus_pairs() -> dict[str, Callable[[bool], Any]]:
    """Pairs for torch and Opacus; each trains and returns its watch."""
    import torch
    from opacus import PrivacyEngine

    torch.set_num_threads(1)
    features, target = (torch.from_numpy(part) for part in table())

    class Centred(torch.nn.Module):
        """Subtract the mean over the batch, or a constant."""

        def __init__(self, *, over_batch: bool) -> None:
            super().__init__()
            self.over_batch = over_batch

        def forward(self, x: Any) -> Any:
            return x - (x.mean(dim=0, keepdim=True) if self.over_batch else 0.1)

    def prepare(middle: Any = None) -> Any:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 16), middle or torch.nn.Tanh(), torch.nn.Linear(16, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, target), batch_size=BATCH)
        private = PrivacyEngine().make_private(
            module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=NOISE, max_grad_norm=CLIP
        )
        private[1].expected_batch_size = BATCH
        return private

    def loss_of(model: Any, x: Any, y: Any) -> Any:
        return torch.nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y)

    def epochs(loader: Any) -> Any:
        for number in range(STEPS // 10):
            for x, y in loader:
                yield number, x, y

    def clip_grad_norm_of_the_batch(broken: bool) -> Any:
        """`clip_grad_norm_` after `backward` clips the gradient of the batch."""
        torch.manual_seed(0)
        model, rng = torch.nn.Linear(FEATURES, 1), np.random.default_rng(2)
        with audit_training(CLAIM) as watch:
            for _ in range(STEPS):
                batch = np.flatnonzero(rng.random(RECORDS) < 0.1)
                rows = []
                for place in batch:
                    model.zero_grad()
                    loss_of(model, features[place : place + 1], target[place : place + 1]).backward()
                    rows.append(torch.cat([part.grad.reshape(-1) for part in model.parameters()]))
                rows = torch.stack(rows)
                if broken:
                    for part, row in zip(model.parameters(), torch.split(rows.sum(dim=0), [FEATURES, 1]), strict=True):
                        part.grad = row.reshape(part.shape).clone()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP * len(batch))
                    total = torch.cat([part.grad.reshape(-1) for part in model.parameters()])
                else:
                    total = (rows * (CLIP / rows.norm(dim=1, keepdim=True).clamp(min=CLIP))).sum(dim=0)
                noisy = total + NOISE * CLIP * torch.randn(total.shape)
                watch.step(batch=batch, gradients=rows, noisy_sum=noisy, divisor=BATCH, clip=CLIP, learning_rate=LEARNING)
                with torch.no_grad():
                    for part, row in zip(model.parameters(), torch.split(noisy, [FEATURES, 1]), strict=True):
                        part -= LEARNING * row.reshape(part.shape) / BATCH
        return watch

    def head_in_an_optimizer_of_its_own(broken: bool) -> Any:
        """The last layer is trained by a plain optimizer beside the private one."""
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        body = [*model[0].parameters(), *(() if broken else model[2].parameters())]
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, target), batch_size=BATCH)
        plain = torch.optim.SGD(model[2].parameters(), lr=0.1)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model, optimizer=torch.optim.SGD(body, lr=LEARNING), data_loader=loader, noise_multiplier=NOISE, max_grad_norm=CLIP
        )
        optimizer.expected_batch_size = BATCH
        watch = from_opacus(model, optimizer, loader, steps=STEPS, divisor=BATCH)
        for _, x, y in epochs(loader):
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            optimizer.step()
            if broken:
                plain.step()
        return watch

    def step_of_the_optimizer_inside(broken: bool) -> Any:
        """Every second step calls the optimizer that is wrapped, without noise."""
        model, optimizer, loader = prepare()
        watch = from_opacus(model, optimizer, loader, steps=STEPS, divisor=BATCH)
        for number, x, y in epochs(loader):
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            if broken and number % 2:
                optimizer.original_optimizer.step()
            else:
                optimizer.step()
        return watch

    def centred_over_the_batch(broken: bool) -> Any:
        """A layer of one's own that looks at the whole batch."""
        model, optimizer, loader = prepare(Centred(over_batch=broken))
        watch = from_opacus(model, optimizer, loader, steps=STEPS, divisor=BATCH)
        for _, x, y in epochs(loader):
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            optimizer.step()
        return watch

    def generator_seeded_in_every_epoch(broken: bool) -> Any:
        """The generator of the noise is seeded again for reproducible epochs."""
        model, optimizer, loader = prepare()
        optimizer.generator = torch.Generator()
        watch = from_opacus(model, optimizer, loader, steps=STEPS, divisor=BATCH)
        last = -1
        for number, x, y in epochs(loader):
            if number != last:
                optimizer.generator.manual_seed(7 if broken else 7 + number)
                last = number
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            optimizer.step()
        return watch

    return {
        "tune": [clip_grad_norm_of_the_batch, head_in_an_optimizer_of_its_own, generator_seeded_in_every_epoch],
        "accept": [step_of_the_optimizer_inside, centred_over_the_batch],
    }


def jax_pairs() -> dict[str, Callable[[bool], Any]]:
    """Pairs for jax_privacy; each trains and returns its watch."""
    import jax
    import jax.numpy as jnp
    from jax_privacy import batch_selection, clipping, noise_addition

    features, target = table()

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        logit = jnp.tanh(x @ parameters["first"]) @ parameters["last"]
        return jnp.mean(jnp.logaddexp(0, -logit) + (1 - y) * logit)

    def prepare() -> Any:
        keys = jax.random.split(jax.random.key(0), 3)
        parameters = {"first": jax.random.normal(keys[0], (FEATURES, 8)) / 3, "last": jax.random.normal(keys[1], (8,)) / 3}
        strategy = batch_selection.CyclicPoissonSampling(sampling_prob=0.1, iterations=STEPS)
        return parameters, keys[2], strategy.batch_iterator(RECORDS, rng=1)

    def mean_over_the_actual_batch(broken: bool) -> Any:
        """`normalize_by` is the size of the batch at hand; told by the protocol."""
        parameters, key, batches = prepare()
        each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
        privatizer = noise_addition.gaussian_privatizer(stddev=NOISE * CLIP / BATCH, prng_key=key)
        state = privatizer.init(parameters)
        with audit_training(CLAIM) as watch:
            for batch in batches:
                divisor = float(max(1, len(batch)) if broken else BATCH)
                sums = clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2), normalize_by=divisor)
                noisy, state = privatizer.update(sums(parameters, features[batch], target[batch]), state)
                watch.step(
                    batch=batch.astype(np.int64),
                    gradients=jax.tree.leaves(each(parameters, features[batch], target[batch])),
                    noisy_sum=[BATCH * part for part in jax.tree.leaves(noisy)],
                    divisor=BATCH,
                    clip=CLIP,
                    learning_rate=LEARNING,
                )
                parameters = jax.tree.map(lambda old, step: old - LEARNING * step, parameters, noisy)
        return watch

    def padding_without_a_mask(broken: bool) -> Any:
        """Batches are padded to shapes that compile once; the padding, index -1, is the last record."""
        parameters, key, batches = prepare()
        watch = from_jax_privacy(
            CLAIM,
            batches=(batch_selection.pad_to_multiple_of(batch, 16) for batch in batches),
            sums=clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2)),
            privatizer=noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=key),
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

    def state_of_the_noise_not_kept(broken: bool) -> Any:
        """The new state of the privatizer is thrown away."""
        parameters, key, batches = prepare()
        watch = from_jax_privacy(
            CLAIM,
            batches=batches,
            sums=clipping.clipped_grad(loss, l2_clip_norm=CLIP, batch_argnums=(1, 2)),
            privatizer=noise_addition.gaussian_privatizer(stddev=NOISE * CLIP, prng_key=key),
        )
        state = watch.privatizer.init(parameters)
        for batch in watch.batches:
            noisy, new = watch.privatizer.update(watch.sums(parameters, features[batch], target[batch]), state)
            state = state if broken else new
            parameters = jax.tree.map(lambda old, grad: old - LEARNING * grad / BATCH, parameters, noisy)
        return watch

    return {"tune": [padding_without_a_mask], "accept": [mean_over_the_actual_batch, state_of_the_noise_not_kept]}


def main() -> None:
    """Run the pairs of one library and print what was found of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("library", choices=["opacus", "jax_privacy"])
    parser.add_argument("--half", choices=["tune", "accept"], action="append")
    asked = parser.parse_args()
    pairs = {"opacus": opacus_pairs, "jax_privacy": jax_pairs}[asked.library]()
    for half in asked.half or ["tune", "accept"]:
        for train in pairs[half]:
            for broken in (True, False):
                start = time.process_time()
                found = [(check.name, check.where) for check in train(broken).violations]
                spent = time.process_time() - start
                print(f"{half:6} {train.__name__:34} {'broken' if broken else 'sound':6} {spent:5.1f} s  {found}", flush=True)


if __name__ == "__main__":
    main()
