"""Audit a training by Opacus 1.6.0: every step watched, gradient canaries, and what its divisor reveals.

Run `pip install dpaudit opacus==1.6.0`, then `python examples/opacus_training.py TABLE.csv`: a minute on two cores. The table has a
header, numbers, and a class in its last column; without one, invented records are used.
"""

import math
import sys
from fractions import Fraction

import numpy as np
import torch
from opacus import PrivacyEngine
from scipy.special import chdtrc

from dpaudit.auditor.membership import DPSGD
from dpaudit.auditor.training import OpacusCanaries, from_opacus

BATCH, EPOCHS, NOISE, DELTA = 50, 4, 1.0, "1e-5"


def table() -> tuple[torch.Tensor, torch.Tensor]:
    """Features on a scale that looks at no record, and classes."""
    if len(sys.argv) < 2:
        features = torch.randn(1000, 20, generator=torch.Generator().manual_seed(0))
        return features, (features[:, 0] > 0).long()
    rows = np.genfromtxt(sys.argv[1], delimiter=",", skip_header=1)
    features = np.sign(rows[:, :-1]) * np.log1p(np.abs(rows[:, :-1])) / 3
    return torch.tensor(features, dtype=torch.float32), torch.tensor(rows[:, -1]).long()


def prepare(features: torch.Tensor, classes: torch.Tensor, batch: int = BATCH) -> tuple:
    """A small network for which Opacus is set up in the usual way."""
    inputs, outputs = features.shape[1], int(classes.max()) + 1
    model = torch.nn.Sequential(torch.nn.Linear(inputs, 40, bias=False), torch.nn.Tanh(), torch.nn.Linear(40, outputs, bias=False))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, classes), batch_size=batch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    return PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=NOISE, max_grad_norm=1.0
    )


def train(model: torch.nn.Module, optimizer: torch.optim.Optimizer, loader: torch.utils.data.DataLoader) -> None:
    """An ordinary training loop."""
    for _ in range(EPOCHS):
        for features, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()


def ratio_of_deviations(batch: int) -> float:
    """Deviation of released gradients without batch-th record over the one with it, for gradients that are all zero."""
    deviations = []
    for records in (20 * batch, 20 * batch - 1):
        # Of records that are all zero every gradient is zero too.
        model, optimizer, loader = prepare(torch.zeros(records, 20), torch.arange(records) % 2, batch)
        released = []
        optimizer.attach_step_hook(lambda one, kept=released: kept.extend(part.grad.ravel().clone() for part in one.params))
        train(model, optimizer, loader)
        deviations.append(float(torch.cat(released).std()))
    return deviations[1] / deviations[0]


def epsilon_of_divisor(batch: int, coordinates: int, delta: float) -> float:
    """Exact epsilon of telling divisors B and B - 1 apart by coordinates of pure noise, whatever the noise multiplier is."""
    ratio = batch / (batch - 1)

    def excess(epsilon: float) -> float:
        edge = 2 * (epsilon + coordinates * math.log(ratio)) / (1 - ratio**-2)
        return chdtrc(coordinates, edge / ratio**2) - math.exp(epsilon) * chdtrc(coordinates, edge) - delta

    low, high = 0.0, 400.0
    for _ in range(60):
        low, high = ((low + high) / 2, high) if excess((low + high) / 2) > 0 else (low, (low + high) / 2)
    return low


def main() -> None:
    """Print the checks, the bounds and the defect."""
    torch.set_num_threads(1)
    records = table()
    model, optimizer, loader = prepare(*records)
    watch = from_opacus(model, optimizer, loader, steps=EPOCHS * len(loader))
    train(model, optimizer, loader)
    for check in watch.checks:
        print(f"{check.name:18} {check.status:11} {check.detail} {check.where}")

    model, optimizer, loader = prepare(*records)
    canaries = OpacusCanaries(optimizer, rate=Fraction(loader.sample_rate), canaries=800, seed=1)
    train(model, optimizer, loader)
    law = DPSGD(rate=Fraction(loader.sample_rate), steps=EPOCHS * len(loader), noise_multiplier=Fraction(NOISE))
    found, claimed = canaries.audit(delta=DELTA, law=law), law.epsilon(noise_multiplier=NOISE, delta=Fraction(DELTA))
    print(f"\nepsilon at {DELTA}: told {float(claimed):.2f}; at least {float(found.epsilon):.2f} for any mechanism, "
          f"{float(found.within(law).epsilon):.2f} within DP-SGD")  # fmt: skip

    print("\nrecords kB and kB - 1 have divisors B and B - 1; coordinates that no gradient touches show it:")
    print(f"{'B':>4} {'coordinates':>11} {'seen ratio':>10} {'B/(B-1)':>8} {'epsilon of one step':>19}")
    for batch, coordinates in ((4, 20), (16, 880), (64, 1000), (256, 10**6)):
        seen = f"{ratio_of_deviations(batch):.4f}" if batch <= BATCH else ""
        print(
            f"{batch:4} {coordinates:11} {seen:>10} {batch / (batch - 1):8.4f} {epsilon_of_divisor(batch, coordinates, 1e-5):19.1f}"
        )


if __name__ == "__main__":
    main()
