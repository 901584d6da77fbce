"""smartnoise-synth 1.0.8, `DPLinearRegression`: noise scales stand in the order of one triangle, covariances in the other's."""

# requires: smartnoise-synth==1.0.8 --no-deps smartnoise-sql==1.0.10 faker scikit-learn

import math

import numpy as np
import pandas as pd
from _entry import expect, show
from snsynth.models.dp_covariance import DPcovariance

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

N, EPSILON = 10, 1.0
BOUNDS = [(0.0, 1.0), (0.0, 10.0), (0.0, 1.0)]
ZEROS = [[0.0, 0.0, 0.0]] * N
FAR = [*ZEROS[1:], [0.0, 10.0, 0.0]]


def covariance() -> DPcovariance:
    """Return what the library's linear regression releases first: the covariances of three columns."""
    ranges = pd.DataFrame({column: list(bounds) for column, bounds in enumerate(BOUNDS)})
    return DPcovariance(N, ["a", "b", "c"], ranges, EPSILON)


def release(rows: list[list[float]]) -> list[float]:
    """Release the covariances as the library does."""
    return [float(one) for one in covariance().release(pd.DataFrame(rows, columns=["a", "b", "c"]))]


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(ZEROS, FAR)],
    name="DPcovariance",
    public_data=True,
    most_runs=1_000,
)


def confirm() -> None:
    """Compare the scale of the third number's noise with how far one record moves it, the variance of the second column."""
    ranges, triangle = np.array([high - low for low, high in BOUNDS]), np.tril_indices(3)
    needed = [2 / N * ranges[i] * ranges[j] for i, j in zip(*triangle, strict=True)]
    given = [float(one) for one in covariance().sens]
    print(f"sensitivities by the library's own formula in the order of its covariances: {needed}")
    print(f"those that it uses: {given}")
    expect(given != needed and sorted(given) == sorted(needed), "the same numbers in another order")
    moved = float(np.cov(np.array(FAR).T)[1, 1])
    cost = moved / (given[2] / (EPSILON / len(given)))
    print(
        f"one record moves the variance of the second column by {moved:.2f}; noise of scale "
        f"{given[2] * len(given):.2f} makes this cost {cost:.2f}"
    )
    expect(cost > 5 * EPSILON, "more than five times the epsilon")
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    noise = [abs(release(ZEROS)[2]) for _ in range(300)]
    expect(
        abs(np.mean(noise) - given[2] * len(given)) < 0.4 * given[2] * len(given), "the noise of the third number has this scale"
    )
    expect(math.isclose(moved, 10.0), "moved by 10")


if __name__ == "__main__":
    confirm()
    show(target, runs=1_000)
