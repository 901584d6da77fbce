"""diffprivlib 0.6.6, `nansum`: noise for a value that moves within the bounds, while a NaN counts as 0 outside them."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

import math
from functools import partial

import numpy as np
from _entry import expect, show
from diffprivlib.tools import nansum

from dpaudit.interop import from_diffprivlib

EPSILON, BOUNDS = 1.0, (10, 11)
MISSING, THERE = np.array([10.0, np.nan]), np.array([10.0, 11.0])

target = from_diffprivlib(
    partial(nansum, epsilon=EPSILON, bounds=BOUNDS),
    adjacency="replace_one",
    neighbours=[(MISSING, THERE)],
    name="nansum",
    public_data=True,
)


def confirm() -> None:
    """Compute the probability of the greatest sum: Laplace noise of scale (11 - 10) / epsilon, truncated to [20, 22]."""
    missing, there = (math.exp(-(22 - total) * EPSILON) / 2 for total in (10, 21))
    print(
        f"P(sum = 22 | NaN) = {missing:.2e}, P(sum = 22 | 11) = {there:.4f}: epsilon >= "
        f"{math.log(there / missing):.1f}, claimed {EPSILON}"
    )
    tops = sum(nansum(THERE, epsilon=EPSILON, bounds=BOUNDS, random_state=seed) == 22 for seed in range(20_000))
    expect(abs(tops - 20_000 * there) < 5 * math.sqrt(20_000 * there), "as often as computed")
    expect(
        all(nansum(MISSING, epsilon=EPSILON, bounds=BOUNDS, random_state=seed) < 22 for seed in range(5_000)),
        "and never without it",
    )


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
