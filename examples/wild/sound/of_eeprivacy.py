"""Operations of eeprivacy 0.0.5 in which nothing was found."""

# requires: eeprivacy==0.0.5

from collections.abc import Callable

import numpy as np
from _entry import show_table
from eeprivacy.mechanisms import GaussianMechanism, LaplaceMechanism
from eeprivacy.operations import PrivateClampedSum, PrivateHistogram, PrivateVectorClampedMeanGaussian

from dpaudit import ApproxDP, Claim, PureDP
from dpaudit.interop import from_function

PURE, APPROXIMATE = PureDP(epsilon=1), ApproxDP(1, "0.01")
VECTORS = ([[0.0, 0.0]] * 3, [[0.0, 0.0]] * 2 + [[1.0, 1.0]])
MEAN = PrivateVectorClampedMeanGaussian(lower_bound=0, upper_bound=1, k=2, N=3)
PARTS: dict[str, tuple[Callable[[list], object], tuple[list, list], object, str]] = {
    "LaplaceMechanism": (
        lambda data: LaplaceMechanism.execute(value=data[0], epsilon=1.0, sensitivity=1.0),
        ([0], [1]),
        PURE,
        "replace_one",
    ),
    "GaussianMechanism": (
        lambda data: GaussianMechanism.execute(value=data[0], epsilon=1.0, delta=0.01, sensitivity=1.0),
        ([0], [1]),
        APPROXIMATE,
        "replace_one",
    ),
    "PrivateClampedSum": (
        lambda data: PrivateClampedSum(lower_bound=0, upper_bound=1).execute(values=data, epsilon=1.0),
        ([0.0, 0.5], [5.0, 0.5]),
        PURE,
        "replace_one",
    ),
    "PrivateHistogram": (
        lambda data: PrivateHistogram(bins=[0, 1, 2]).execute(values=data, epsilon=1.0),
        ([0.5, 1.5], [0.5, 1.5, 1.5]),
        PURE,
        "add_remove",
    ),
    "PrivateVectorClampedMeanGaussian": (
        lambda data: MEAN.execute(vectors=data, epsilon=1.0, delta=0.01),
        VECTORS,
        APPROXIMATE,
        "replace_one",
    ),
}

TARGETS = [
    from_function(
        lambda data, release=release: tuple(float(one) for one in np.atleast_1d(release(data))),
        claim=Claim(guarantee, adjacency=adjacency),
        neighbours=[pair],
        name=name,
        public_data=True,
    )
    for name, (release, pair, guarantee, adjacency) in PARTS.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
