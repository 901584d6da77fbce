"""diffprivlib 0.6.6, `LinearRegression`: the noise on a square is scaled by the lower bound of the feature, twice."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

import math

import numpy as np
from _entry import expect, show
from diffprivlib.models import LinearRegression

from dpaudit.interop import from_diffprivlib

EPSILON, UPPER = 1.0, 100
NEAR, FAR = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [100.0, 1.0]])


def regression(seed: int | None = None) -> LinearRegression:
    """Return a regression without intercept on a feature from 0 to 100."""
    return LinearRegression(epsilon=EPSILON, bounds_X=(0, UPPER), bounds_y=(0, 1), fit_intercept=False, random_state=seed)


target = from_diffprivlib(
    regression(),
    adjacency="replace_one",
    neighbours=[(NEAR, FAR)],
    released=["coef_"],
    name="LinearRegression",
    public_data=True,
    most_runs=3_000,
)


def confirm() -> None:
    """Compute tails of the coefficient, Laplace noise of scale 100 / (epsilon / 3) on the sum of x y over the exact sum of x^2."""
    scale = UPPER / (EPSILON / 3)
    (near, far), squares = (2.0, 101.0), (2.0, 10001.0)
    for bound in (1, 10, 100):
        first, second = ((bound * square - total) / scale for total, square in zip((near, far), squares, strict=True))
        print(f"P(coefficient > {bound}) is exp(-{first:.3f}) / 2 and exp(-{second:.3f}) / 2: epsilon >= {second - first:.2f}")
    print("the ratio grows without end: no finite epsilon holds")
    found = [float(regression(seed).fit(NEAR[:, :1], NEAR[:, 1]).coef_[0]) for seed in range(1_000)]
    many = sum(one > 100 for one in found) / 1_000
    expect(abs(many - 0.5 * math.exp(-(200 - near) / scale)) < 0.05, "the coefficient follows this law")
    expect(
        all(abs(float(regression(seed).fit(FAR[:, :1], FAR[:, 1]).coef_[0])) < 1 for seed in range(1_000)),
        "the other one hardly moves",
    )


if __name__ == "__main__":
    confirm()
    show(target, runs=3_000)
