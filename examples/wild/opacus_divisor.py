"""Opacus 1.6.0, `PrivacyEngine.make_private`: gradients are divided by a number computed from the private number of records."""

# requires: opacus==1.6.0

import logging
import math
import warnings

import torch
from _entry import expect, show
from opacus import PrivacyEngine
from scipy.stats import chi2
from torch.utils.data import DataLoader, TensorDataset

from dpaudit import ApproxDP, Claim
from dpaudit.interop import from_function

DIMS, DELTA, BATCH = 1000, 1e-5, 4
logging.disable()  # a batch may be empty, and the library says so each time
FEWER, MORE = [0.0] * 8, [0.0] * 9


def engine_of(records: list[float]) -> tuple:
    """Return the library's engine, optimizer, model and loader for records whose gradients are 0."""
    model = torch.nn.Linear(DIMS, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    data = TensorDataset(torch.zeros(len(records), DIMS))
    engine = PrivacyEngine(accountant="rdp")
    parts = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        data_loader=DataLoader(data, batch_size=BATCH),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    return engine, *parts


def train(records: list[float], *, ask: bool = False) -> tuple[torch.Tensor, float]:
    """Make one step as the library's tutorials do; return the weights and, if asked, the epsilon that the engine states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        engine, model, optimizer, loader = engine_of(records)
        (rows,) = next(iter(loader))
        optimizer.zero_grad()
        model(rows).sum().backward()
        optimizer.step()
        return next(model.parameters()).detach().flatten(), engine.get_epsilon(DELTA) if ask else 0.0


CLAIMED = max(train(records, ask=True)[1] for records in (FEWER, MORE))

target = from_function(
    lambda records: float(train(records)[0].norm()),
    claim=Claim(ApproxDP(CLAIMED, DELTA), adjacency="add_remove"),
    neighbours=[(FEWER, MORE)],
    name="make_private",
    public_data=True,
    most_runs=2_500,
)


def confirm() -> None:
    """Compute how well the length of the weights tells the two divisors apart: a chi-squared law, scaled by one or the other."""
    divisors = {len(records): engine_of(records)[2].expected_batch_size for records in (FEWER, MORE)}
    print(f"divisors by number of records: {divisors}; the noise before the division has scale 1")
    expect(divisors == {8: 4, 9: 3}, "the divisor depends on the number of records")
    middle = DIMS / 2 * (1 / 4**2 + 1 / 3**2)
    fewer, more = float(chi2.sf(middle * 4**2, DIMS)), float(chi2.sf(middle * 3**2, DIMS))
    delta = more - math.exp(CLAIMED) * fewer
    print(
        f"P(squared length > {middle:.1f}) = {fewer:.1e} with 8 records, {more:.6f} with 9: delta at "
        f"epsilon {CLAIMED:.3f} is at least {delta:.6f}"
    )
    expect(delta > 0.999, "nearly everything is told")
    lengths = [[float(train(records)[0].square().sum()) > middle for _ in range(30)] for records in (FEWER, MORE)]
    expect(sum(lengths[0]) == 0 and sum(lengths[1]) == 30, "the engine follows this law")


if __name__ == "__main__":
    confirm()
    show(target, runs=2_500)
