"""diffprivlib 0.6.6, `KMeans`: the shares of the budget for counts and for coordinates are returned in the wrong order."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

import math

import numpy as np
from _entry import expect, show
from diffprivlib.mechanisms import LaplaceBoundedDomain
from diffprivlib.models import KMeans

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

DIMS, N, EPSILON = 500, 4, 8.0
ZEROS = np.zeros((N, DIMS))
ONES = np.vstack([np.zeros((N - 1, DIMS)), np.ones((1, DIMS))])


def release(rows: np.ndarray) -> np.ndarray:
    """Find the centre of rows in [0, 1]^500 as the library does."""
    seed = int(np.random.randint(2**31))  # noqa: NPY002 - seeded by the audit
    return KMeans(n_clusters=1, epsilon=EPSILON, bounds=(0, 1), random_state=seed).fit(rows).cluster_centers_[0]


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=8), adjacency="replace_one"),
    neighbours=[(ZEROS, ONES)],
    name="KMeans",
    public_data=True,
    most_runs=2_000,
    score=lambda centre: float(np.sum(centre)),
)


def asked() -> list[tuple[str, float]]:
    """Return what the mechanisms of one fit were asked for: class and epsilon of each call."""
    from diffprivlib.mechanisms import GeometricFolded

    calls, kinds = [], (LaplaceBoundedDomain, GeometricFolded)
    originals = {kind: kind.randomise for kind in kinds}
    try:
        for kind, original in originals.items():
            kind.randomise = lambda self, value, original=original: (
                calls.append((type(self).__name__, self.epsilon)),
                original(self, value),
            )[1]
        release(ONES)
    finally:
        for kind, original in originals.items():
            kind.randomise = original
    return calls


def cost_of_a_coordinate(epsilon: float, count: float) -> float:
    """Return the log of the ratio of densities at the greatest sum, of Laplace noise that is drawn within [0, count]."""
    mechanism = LaplaceBoundedDomain(epsilon=epsilon, sensitivity=1.0, lower=0.0, upper=count)
    scale = mechanism._find_scale()  # noqa: SLF001 - the scale that it draws with

    def density(total: float) -> float:
        inside = 1 - (math.exp(-total / scale) + math.exp(-(count - total) / scale)) / 2
        return math.exp(-(count - total) / scale) / inside

    return math.log(density(1.0) / density(0.0))


def confirm() -> None:
    """Sum what the mechanisms of one fit were asked for, and compute the exact cost of its last step, without the auditor."""
    calls = asked()
    total, fits = sum(epsilon for _, epsilon in calls), sum(name == "GeometricFolded" for name, _ in calls)
    print(f"{len(calls)} calls in {fits} steps asked for epsilon {total:.3f} in all, of a budget of {EPSILON}")
    expect(total > 1.05 * EPSILON, "the budget is overspent")
    each = next(epsilon for name, epsilon in calls if name == "LaplaceBoundedDomain")
    for count in (3.0, 4.0, 5.0, 6.0):
        cost = DIMS * cost_of_a_coordinate(each, count)
        print(
            f"noisy count {count:.0f}: the centre (1, ..., 1) N / count alone costs {cost:.3f}{'  MORE' if cost > EPSILON else ''}"
        )
    expect(DIMS * cost_of_a_coordinate(each, 4.0) > EPSILON, "the last step alone costs more than the budget")


if __name__ == "__main__":
    confirm()
    show(target, runs=2_000)
