"""Tools and mechanisms of diffprivlib 0.6.6 in which nothing was found."""

# requires: diffprivlib==0.6.6 scikit-learn<1.8

from functools import partial

import numpy as np
from _entry import show_table
from diffprivlib import mechanisms, tools

from dpaudit import ApproxDP, Claim, PureDP, Target
from dpaudit.interop import from_diffprivlib

LOW, HIGH = np.array([0.0, 0.5, 0.5, 0.5]), np.array([1.0, 0.5, 0.5, 0.5])
FEWER, MORE = np.array([0.2, 0.7]), np.array([0.2, 0.7, 0.7])
EACH = {"epsilon": 1.0}
TOOLS = {
    "mean": partial(tools.mean, bounds=(0, 1), **EACH),
    "var": partial(tools.var, bounds=(0, 1), **EACH),
    "std": partial(tools.std, bounds=(0, 1), **EACH),
    "sum": partial(tools.sum, bounds=(0, 1), **EACH),
    "median": partial(tools.median, bounds=(0, 1), **EACH),
    "quantile": partial(tools.quantile, quant=0.8, bounds=(0, 1), **EACH),
    "count_nonzero": partial(tools.count_nonzero, **EACH),  # cut at the size of the array, so its neighbours have one size
}
ADDED = {
    "histogram": partial(tools.histogram, bins=3, range=(0, 1), **EACH),
}
MECHANISMS = {
    "Laplace": partial(mechanisms.Laplace, sensitivity=1, **EACH),
    "LaplaceTruncated": partial(mechanisms.LaplaceTruncated, sensitivity=1, lower=0, upper=2, **EACH),
    "LaplaceFolded": partial(mechanisms.LaplaceFolded, sensitivity=1, lower=0, upper=2, **EACH),
    "LaplaceBoundedDomain": partial(mechanisms.LaplaceBoundedDomain, sensitivity=1, lower=0, upper=2, **EACH),
    "Staircase": partial(mechanisms.Staircase, sensitivity=1, **EACH),
    "Uniform": partial(mechanisms.Uniform, sensitivity=1, delta=0.1),
    "Geometric": partial(mechanisms.Geometric, sensitivity=1, **EACH),
    "GeometricTruncated": partial(mechanisms.GeometricTruncated, sensitivity=1, lower=0, upper=3, **EACH),
    "GeometricFolded": partial(mechanisms.GeometricFolded, sensitivity=1, lower=0, upper=3, **EACH),
    "Gaussian": partial(mechanisms.Gaussian, sensitivity=1, delta=0.01, **EACH),
    "GaussianAnalytic": partial(mechanisms.GaussianAnalytic, sensitivity=1, delta=0.01, **EACH),
    "GaussianDiscrete": partial(mechanisms.GaussianDiscrete, sensitivity=1, delta=0.01, **EACH),
    "Binary": partial(mechanisms.Binary, value0="0", value1="1", **EACH),
}


def of_mechanism(name: str, kind: partial) -> Target:
    """Return a mechanism as a target on two neighbouring values."""
    made = kind()
    guarantee = ApproxDP(made.epsilon, made.delta) if made.delta else PureDP(made.epsilon)
    known = str if name == "Binary" else int
    return Target(
        run=lambda data, rng: kind(random_state=int(rng.integers(2**31))).randomise(known(data[0])),
        claim=Claim(guarantee, adjacency="replace_one"),
        neighbours=[([0], [1])],
        name=name,
        public_data=True,
    )


TARGETS = [
    *(
        from_diffprivlib(tool, neighbours=[(LOW, HIGH)], name=name, public_data=True, most_runs=4_000)
        for name, tool in TOOLS.items()
    ),
    *(
        from_diffprivlib(tool, adjacency="add_remove", neighbours=[(FEWER, MORE)], name=name, public_data=True, most_runs=4_000)
        for name, tool in ADDED.items()
    ),
    *(of_mechanism(name, kind) for name, kind in MECHANISMS.items()),
]

if __name__ == "__main__":
    show_table(TARGETS)
