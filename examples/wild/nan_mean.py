"""diffprivlib 0.6.6, `nanmean`: noise for a mean over all cells, on a mean over those that are numbers."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

import math
from functools import partial

import numpy as np
from _entry import expect, show
from diffprivlib.tools import nanmean

from dpaudit.interop import from_diffprivlib

N, EPSILON = 10, 1.0
LOW, HIGH = (np.array([value] + [np.nan] * (N - 1)) for value in (0.0, 1.0))

target = from_diffprivlib(
    partial(nanmean, epsilon=EPSILON, bounds=(0, 1)),
    adjacency="replace_one",
    neighbours=[(LOW, HIGH)],
    name="nanmean",
    public_data=True,
)


def confirm() -> None:
    """Compute the probability of the least mean: truncated Laplace noise of scale 1 / (N epsilon) on the one number."""
    scale = 1 / (N * EPSILON)
    low, high = 1 / 2, math.exp(-1 / scale) / 2
    print(
        f"P(mean = 0 | a 0 and {N - 1} NaN) = {low}, P(mean = 0 | a 1 and {N - 1} NaN) = {high:.2e}: "
        f"epsilon >= {math.log(low / high):.1f}"
    )
    zeros = sum(nanmean(LOW, epsilon=EPSILON, bounds=(0, 1), random_state=seed) == 0 for seed in range(10_000))
    expect(abs(zeros - 5_000) < 5 * math.sqrt(2_500), "half of the means of a 0 are 0")
    tops = [nanmean(HIGH, epsilon=EPSILON, bounds=(0, 1), random_state=seed) for seed in range(10_000)]
    above = sum(one < 1 - scale for one in tops) / 10_000
    expect(abs(above - math.exp(-1) / 2) < 0.02, "the noise has this scale")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
