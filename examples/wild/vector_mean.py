"""eeprivacy 0.0.5, `PrivateVectorClampedMeanLaplace`: all coordinates get the same noise, so their differences have none."""

# requires: eeprivacy==0.0.5

import numpy as np
from _entry import expect, show
from eeprivacy.operations import PrivateVectorClampedMeanLaplace

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

N = 10
ZEROS = [[0.0, 0.0]] * N
ONE = [*ZEROS[1:], [1.0, 0.0]]


def release(vectors: list[list[float]]) -> list[float]:
    """Release the mean of vectors of two numbers from 0 to 1 as the library does."""
    mean = PrivateVectorClampedMeanLaplace(lower_bound=0, upper_bound=1, k=2, N=N)
    return [float(one) for one in mean.execute(vectors=vectors, epsilon=1.0, delta=0.0)]


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(ZEROS, ONE)],
    name="PrivateVectorClampedMeanLaplace",
    public_data=True,
)


def confirm() -> None:
    """Take the difference of two coordinates, in which the common noise cancels up to rounding, without the auditor."""
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    found = {
        name: [first - second for first, second in (release(data) for _ in range(5_000))]
        for name, data in (("zeros", ZEROS), ("one", ONE))
    }
    for name, differences in found.items():
        print(f"{name}: the difference of the two coordinates is between {min(differences):.12f} and {max(differences):.12f}")
    expect(max(map(abs, found["zeros"])) < 1e-9, "no noise is in the difference")
    expect(max(abs(one - 1 / N) for one in found["one"]) < 1e-9, "no noise is in the difference")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
