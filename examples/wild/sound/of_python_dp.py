"""Algorithms of python-dp 1.1.5 (PyDP, Google's C++ library) in which nothing was found."""

# requires: python-dp==1.1.5

from _entry import show_table
from pydp.algorithms import laplacian
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism
from pydp.algorithms.partition_selection import create_truncated_geometric_partition_strategy

from dpaudit import ApproxDP, Claim, PureDP
from dpaudit.interop import from_function

FEWER, MORE = [0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]
PURE = Claim(PureDP(epsilon=1), adjacency="add_remove")
APPROXIMATE = Claim(ApproxDP(epsilon=1, delta="0.01"), adjacency="add_remove")


def of_algorithm(name: str, values: list[float]) -> float:
    """Answer with a bounded algorithm at epsilon 1."""
    return getattr(laplacian, name)(epsilon=1.0, lower_bound=0.0, upper_bound=1.0, dtype="float").quick_result(values)


ALGORITHMS = ("BoundedSum", "BoundedMean", "BoundedVariance", "BoundedStandardDeviation", "Max", "Min", "Median")
CASES = {
    **{name: (PURE, lambda values, name=name: of_algorithm(name, values)) for name in ALGORITHMS},
    "Count": (PURE, lambda values: laplacian.Count(epsilon=1.0, dtype="float").quick_result(values)),
    "LaplaceMechanism": (PURE, lambda values: LaplaceMechanism(epsilon=1.0, sensitivity=1.0).add_noise(sum(values))),
    "GaussianMechanism": (APPROXIMATE, lambda values: GaussianMechanism(1.0, 0.01, 1.0).add_noise(sum(values))),
    "truncated geometric partition selection": (
        APPROXIMATE,
        lambda values: create_truncated_geometric_partition_strategy(1.0, 0.01, 1).should_keep(len(values)),
    ),
}
TARGETS = [
    from_function(release, claim=claim, neighbours=[(FEWER, MORE)], name=name, public_data=True)
    for name, (claim, release) in CASES.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
