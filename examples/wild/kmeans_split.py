"""diffprivlib 0.6.6, `KMeans`: the shares of the budget for counts and for coordinates are returned in the wrong order."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

import math

import numpy as np
from _entry import expect
from diffprivlib.mechanisms import LaplaceBoundedDomain
from diffprivlib.models import KMeans

from dpaudit.interop import from_diffprivlib
from dpaudit.releases import recording

DIMS, N, EPSILON = 500, 4, 8.0
ZEROS = np.zeros((N, DIMS))
ONES = np.vstack([np.zeros((N - 1, DIMS)), np.ones((1, DIMS))])

target = from_diffprivlib(
    KMeans(n_clusters=1, epsilon=EPSILON, bounds=(0, 1)),
    neighbours=[(ZEROS, ONES)],
    released=["cluster_centers_"],
    labels=False,
    name="KMeans",
    public_data=True,
)


def cost_of_a_coordinate(epsilon: float, count: float) -> float:
    """Return the log of the ratio of densities at a sum of 0, of Laplace noise that is drawn within [0, count]."""
    mechanism = LaplaceBoundedDomain(epsilon=epsilon, sensitivity=1.0, lower=0.0, upper=count)
    scale = mechanism._find_scale()  # noqa: SLF001 - the scale that it draws with

    def density(total: float) -> float:
        inside = 1 - (math.exp(-total / scale) + math.exp(-(count - total) / scale)) / 2
        return math.exp(-total / scale) / inside

    return math.log(density(0.0) / density(1.0))


def confirm() -> None:
    """Sum what the mechanisms of one fit were asked for, and compute the exact cost of its last step, without the auditor."""
    with recording() as log:
        target.run(ONES, np.random.default_rng(1))
    asked = [float(release.parameter("epsilon")) for release in log]
    steps = len(asked) // (DIMS + 1)
    print(f"{len(asked)} calls of mechanisms in {steps} steps were asked for {sum(asked):.3f} in all, of a budget of {EPSILON}")
    expect(sum(asked) > 4 * EPSILON, "the budget is overspent")
    each = asked[-1]
    for count in (3.0, 4.0, 5.0, 6.0):
        cost = DIMS * cost_of_a_coordinate(each, count)
        print(f"noisy count {count:.0f}: all sums equal to 0 in the last step cost {cost:.3f}{'  MORE' if cost > EPSILON else ''}")
    expect(DIMS * cost_of_a_coordinate(each, 4.0) > EPSILON, "the last step alone costs more than the budget")


if __name__ == "__main__":
    confirm()
    print("refuted by its densities: 500 numbers near a corner are too rare an event to be sampled")
