"""eeprivacy 0.0.5, `PrivateClampedMean`: values are never clamped, so one record moves the mean as far as it likes."""

# requires: eeprivacy==0.0.5

import math

import numpy as np
from _entry import expect, show
from eeprivacy.operations import PrivateClampedMean

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

N, EPSILON = 10, 1.0


def release(values: list[float]) -> float:
    """Release the mean of values from 0 to 1 as the library does."""
    return float(PrivateClampedMean(lower_bound=0, upper_bound=1).execute(values=values, epsilon=EPSILON))


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[([0.0] * N, [0.0] * (N - 1) + [1000.0])],
    name="PrivateClampedMean",
    public_data=True,
)


def confirm() -> None:
    """Compute the probability of the greatest mean: over 1 when noise of scale 1 / epsilon is over N - sum."""
    without = math.exp(-N * EPSILON) / 2
    with_it = 1 - math.exp(-(1000 - N) * EPSILON) / 2
    print(
        f"P(mean = 1 | zeros) = {without:.2e}, P(mean = 1 | a record of 1000) = {with_it:.6f}: epsilon >= "
        f"{math.log(with_it / without):.3f}"
    )
    expect(math.log(with_it / without) > EPSILON, "more than claimed")
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    expect(all(release([0.0] * (N - 1) + [1000.0]) == 1 for _ in range(5_000)), "a record of 1000 is not clamped to 1")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
