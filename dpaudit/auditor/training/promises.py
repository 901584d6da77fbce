"""What an accountant was told about a training: the numbers that a loop is checked against."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpaudit.exact import Exact, in_range, integer, positive, rational, word

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, kw_only=True)
class TrainingClaim:
    """A training by noisy clipped gradients, as it was told to an accountant.

    Args:
      noise_multiplier: standard deviation of the noise on the sum of clipped gradients, over `clip`; positive.
      clip: largest norm of the gradient of one example; positive.
      rate: share of the records in a batch, in (0, 1].
      steps: how many noisy sums are released.
      records: how many there are in this run; it is known to whoever audits, and no number of the loop may depend on it.
      divisor: the public number by which each noisy sum is divided.
      sampling: "poisson" where each record is in a batch by a coin of its own, "fixed" for `rate` times `records` of them, drawn
        without replacement.
    Raises:
      InvalidArgument: a number out of range (DPA101 to DPA105) or another word (DPA105).
    Example:
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate="1/10", steps=50, records=1000, divisor=100)
      >>> claim.loss.epsilon(delta="1e-5").upper > 5
      True
    """

    noise_multiplier: Exact
    clip: Exact
    rate: Exact
    steps: int
    records: int
    divisor: Exact
    sampling: str = "poisson"

    def __post_init__(self) -> None:
        """Store the numbers exactly."""
        for name in ("noise_multiplier", "clip", "divisor"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        object.__setattr__(self, "rate", in_range(self.rate, "rate", lower=0, upper=1, lower_open=True))
        integer(self.steps, "steps", lower=1)
        integer(self.records, "records", lower=1)
        word(self.sampling, "sampling", ("poisson", "fixed"))

    @property
    def loss(self) -> PrivacyLoss:
        """The price of what was told, for one record added or removed; replaced, for batches of a fixed size."""
        return self.priced(steps=self.steps, sampled=True)

    def priced(self, *, steps: int, sampled: bool, noise_multiplier: Exact | None = None) -> PrivacyLoss:
        """Price steps with another noise, or without the gain of sampling."""
        from dpaudit.accounting import Poisson, WithoutReplacement, gaussian

        rate = rational(self.rate)
        noise = rational(self.noise_multiplier if noise_multiplier is None else noise_multiplier)
        if self.sampling == "poisson":
            step = gaussian(sigma=noise)
            return steps * (step.sampled(Poisson(rate)) if sampled and rate < 1 else step)
        # A replaced record moves the sum by two clips.
        step = gaussian(sigma=noise, sensitivity=2, adjacency="replace_one")
        size = round(rate * self.records)
        return steps * (step.sampled(WithoutReplacement(size, self.records)) if sampled and 0 < size < self.records else step)


def as_float(value: Exact) -> float:
    """Return an exact number of a claim as the float that a loop compares with."""
    return float(Fraction(rational(value)))
