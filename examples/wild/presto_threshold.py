"""ornl-presto 0.1.29, `applySVTAboveThreshold_full`: values above the noisy threshold are released as they are."""

# requires: ornl-presto==0.1.29

import random

import numpy as np
from _entry import expect, show
from ornl_presto.privacy_mechanisms import applySVTAboveThreshold_full

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

FIRST, SECOND = [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]


def release(values: list[float]) -> tuple[float, ...]:
    """Release three numbers as the library does."""
    return tuple(float(one) for one in applySVTAboveThreshold_full(values, 1.0))


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(FIRST, SECOND)],
    name="applySVTAboveThreshold_full",
    public_data=True,
)


def confirm() -> None:
    """List the numbers that are ever released: those of the dataset itself, without the auditor."""
    np.random.seed(1)  # noqa: NPY002 - the generators that the library uses
    random.seed(1)
    first, second = ({one for _ in range(2_000) for one in release(values)} for values in (FIRST, SECOND))
    print(f"numbers ever released: {sorted(first)} of {FIRST}, {sorted(second)} of {SECOND}: no finite epsilon holds")
    expect(first == set(FIRST) and second == set(SECOND), "nothing but the data")


if __name__ == "__main__":
    confirm()
    show(target, runs=20_000)
