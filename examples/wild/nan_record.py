"""diffprivlib 0.6.6, `mean`: one record that is NaN makes the mean NaN, with all its noise."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

import math
from functools import partial

import numpy as np
from _entry import expect, show
from diffprivlib.tools import mean

from dpaudit.interop import from_diffprivlib

NUMBERS, ONE_NAN = np.array([0.5] * 4), np.array([0.5] * 3 + [np.nan])

target = from_diffprivlib(
    partial(mean, epsilon=1.0, bounds=(0, 1)),
    adjacency="replace_one",
    neighbours=[(NUMBERS, ONE_NAN)],
    name="mean",
    public_data=True,
)


def confirm() -> None:
    """Release the mean of both datasets many times: always NaN for one, never for the other, without the auditor."""
    numbers, nan = (
        [mean(data, epsilon=1.0, bounds=(0, 1), random_state=seed) for seed in range(5_000)] for data in (NUMBERS, ONE_NAN)
    )
    print(f"NaN in {sum(map(math.isnan, numbers))} and {sum(map(math.isnan, nan))} of 5,000 releases: no finite epsilon holds")
    expect(not any(map(math.isnan, numbers)), "noise never makes a number NaN")
    expect(all(map(math.isnan, nan)), "noise never makes NaN a number")


if __name__ == "__main__":
    confirm()
    show(target, runs=5_000)
