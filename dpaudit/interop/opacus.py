"""Histories of Opacus accountants as privacy losses: noise multipliers, sample rates and numbers of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.accounting import Poisson, PrivacyLoss, compose, gaussian, pure_dp
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import in_range, integer, positive


def from_opacus(history: Any, *, poisson_sampling: bool) -> PrivacyLoss:
    """The privacy loss of what Opacus trained, under add_remove.

    Opacus clips the gradient of every record, sums over a batch and adds Gaussian noise. Its accountants take batches as Poisson
    samples, in which each record is with the probability `sample_rate`, whatever the data loader did.

    Args:
      history: a list of (noise_multiplier, sample_rate, steps), an accountant that has such a `history`, its `state_dict()`, or a
        `PrivacyEngine`; floats are taken as the binary values they are.
      poisson_sampling: as it was given to `make_private`. A history does not tell, and no price is known here for batches that
        were shuffled, so False is refused.
    Returns:
      A loss under add_remove whose answers are certified: the composition of all steps.
    Raises:
      InvalidArgument: not such a history (DPA105), or numbers that no training has (DPA101 to DPA104).
      Unsupported: batches that were not Poisson samples (DPA202).
    Source: docs/adapters.md, "Opacus".
    Example:
      >>> loss = from_opacus([(1.0, 0.01, 100)], poisson_sampling=True)
      >>> print(loss.describe())
      100 * gaussian(sigma=1, sensitivity=1).sampled(Poisson(about 0.01))
    """
    if poisson_sampling is not True:
        raise Unsupported(
            "DPA202",
            "Opacus accounts for Poisson samples only. Shuffled batches of a fixed size are not: train with Poisson sampling.",
        )
    accountant = getattr(history, "accountant", history)
    steps = accountant.get("history") if isinstance(accountant, Mapping) else getattr(accountant, "history", accountant)
    if not isinstance(steps, Sequence) or any(not isinstance(entry, Sequence) or len(entry) != 3 for entry in steps):
        raise InvalidArgument("DPA105", "a history must list triples (noise_multiplier, sample_rate, steps).")
    return compose(0 * pure_dp(0), *(_steps(*entry) for entry in steps))


def _steps(noise_multiplier: float, sample_rate: float, steps: int) -> PrivacyLoss:
    """Return the loss of steps with the same noise and rate."""
    rate = in_range(sample_rate, "sample_rate", lower=0, upper=1)
    step = gaussian(sigma=positive(noise_multiplier, "noise_multiplier"))
    return integer(steps, "steps", lower=0) * (step if rate == 1 else step.sampled(Poisson(rate)))
