"""eeprivacy 0.0.5, `PrivateQuantile`: scores that move in both directions get the noise for scores that move in one."""

# requires: eeprivacy==0.0.5

import math

import numpy as np
from _entry import expect, show
from eeprivacy.operations import PrivateQuantile

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

EPSILON, QUANTILE = 1.0, 0.9
OPTIONS = [5.0, 20.0]
DATA = [1.0] * 5 + [10.0] * 5
MORE = [*DATA, 30.0]


def release(values: list[float]) -> float:
    """Release the 0.9-quantile out of two options as the library does."""
    return float(PrivateQuantile(options=OPTIONS).execute(values=np.array(values), epsilon=EPSILON, quantile=QUANTILE))


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="add_remove"),
    neighbours=[(DATA, MORE)],
    name="PrivateQuantile",
    public_data=True,
)


def law(values: list[float]) -> float:
    """Return the probability of the first option: two Laplace variables of scale 1 / epsilon differ by more than the scores do."""
    first, second = (-abs(sum(value < option for value in values) - len(values) * QUANTILE) for option in OPTIONS)
    behind = (second - first) * EPSILON
    expect(behind >= 0, "the first option has the lower score")
    return (2 + behind) * math.exp(-behind) / 4


def confirm() -> None:
    """Compute the probability of the worse option in closed form, without the auditor."""
    cost = math.log(law(DATA) / law(MORE))
    print(
        f"P({OPTIONS[0]} | 10 records) = {law(DATA):.5f}, P({OPTIONS[0]} | 11 records) = {law(MORE):.5f}: "
        f"epsilon >= {cost:.4f}, claimed {EPSILON}"
    )
    print("one more record moves the two scores by -0.9 and +0.9; with more records the ratio tends to exp(1.8)")
    expect(cost > EPSILON, "more than claimed")


if __name__ == "__main__":
    confirm()
    show(target, runs=100_000)
