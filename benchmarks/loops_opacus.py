"""Loops of torch and Opacus as people write them, each with one mistake and without; each trains and returns its watch."""

from typing import Any

import numpy as np
import torch
from loops_table import BATCH, CLAIM, CLIP, FEATURES, LEARNING, NOISE, RECORDS, STEPS, table
from opacus import PrivacyEngine

from dpaudit.auditor.training import audit_training, from_opacus

torch.set_num_threads(1)
features, target = (torch.from_numpy(part) for part in table())


class Centred(torch.nn.Module):
    """Subtract the mean over the batch, or a constant."""

    def __init__(self, *, over_batch: bool) -> None:
        super().__init__()
        self.over_batch = over_batch

    def forward(self, x: Any) -> Any:
        """Centre."""
        return x - (x.mean(dim=0, keepdim=True) if self.over_batch else 0.1)


def prepare(middle: Any = None) -> Any:
    """A network, its private optimizer and its loader, as make_private returns them."""
    torch.manual_seed(0)  # dpaudit: ignore[DP103] a benchmark that repeats, of no records
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 16), middle or torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, target), batch_size=BATCH)
    private = PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=NOISE, max_grad_norm=CLIP
    )
    private[1].expected_batch_size = BATCH
    return private


def loss_of(model: Any, x: Any, y: Any) -> Any:
    """Logistic loss."""
    return torch.nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y)


def epochs(loader: Any) -> Any:
    """The batches of all epochs, with the number of each."""
    for number in range(STEPS // 10):
        for x, y in loader:
            yield number, x, y


def clip_grad_norm_of_the_batch(*, broken: bool) -> Any:
    """`clip_grad_norm_` after `backward` clips the gradient of the batch."""
    torch.manual_seed(0)  # dpaudit: ignore[DP103] a benchmark that repeats, of no records
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
                    part.sub_(LEARNING * row.reshape(part.shape) / BATCH)
    return watch


def head_in_an_optimizer_of_its_own(*, broken: bool) -> Any:
    """The last layer is trained by a plain optimizer beside the private one."""
    torch.manual_seed(0)  # dpaudit: ignore[DP103] a benchmark that repeats, of no records
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    body = [*model[0].parameters(), *(() if broken else model[2].parameters())]
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, target), batch_size=BATCH)
    plain = torch.optim.SGD(model[2].parameters(), lr=0.1)
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(body, lr=LEARNING),
        data_loader=loader,
        noise_multiplier=NOISE,
        max_grad_norm=CLIP,
    )
    optimizer.expected_batch_size = BATCH
    watch = from_opacus(model, optimizer, loader, steps=STEPS, divisor=BATCH)
    for _, x, y in epochs(loader):
        optimizer.zero_grad()
        model.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()
        if broken:
            plain.step()
    return watch


def step_of_the_optimizer_inside(*, broken: bool) -> Any:
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


def centred_over_the_batch(*, broken: bool) -> Any:
    """A layer of one's own that looks at the whole batch."""
    model, optimizer, loader = prepare(Centred(over_batch=broken))
    watch = from_opacus(model, optimizer, loader, steps=STEPS, divisor=BATCH)
    for _, x, y in epochs(loader):
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()
    return watch


def generator_seeded_in_every_epoch(*, broken: bool) -> Any:
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


TUNE = [clip_grad_norm_of_the_batch, head_in_an_optimizer_of_its_own, generator_seeded_in_every_epoch]
ACCEPT = [step_of_the_optimizer_inside, centred_over_the_batch]
