"""LPDT 0.0.2, `LPDTreeRegressor`: growing the tree seeds the generator with 666 by default, and the noise is drawn from it next."""

# requires: LPDT==0.0.2

import numpy as np
from _entry import expect, show
from LPDT import LPDTreeRegressor

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

PUBLIC_X, PUBLIC_Y = np.linspace(0, 1, 20).reshape(-1, 1), np.linspace(0, 1, 20)
PRIVATE_X = np.array([[0.2], [0.4], [0.6]])
FIRST, SECOND = [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]


def release(labels: list[float]) -> float:
    """Fit a tree to three persons as the library does, and give out what it predicts for a public row."""
    model = LPDTreeRegressor(epsilon=1, public_X=PUBLIC_X, public_Y=PUBLIC_Y)
    return float(model.fit(PRIVATE_X, np.array(labels)).predict(np.array([[0.5]]))[0])


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(FIRST, SECOND)],
    name="LPDTreeRegressor",
    public_data=True,
    most_runs=2_000,
)


def confirm() -> None:
    """Fit two datasets many times: each has one prediction, without the auditor."""
    first, second = ({release(labels) for _ in range(200)} for labels in (FIRST, SECOND))
    print(f"predictions in 200 fits each: {first} and {second}: the noise is a constant, no finite epsilon holds")
    expect(len(first) == len(second) == 1, "one prediction each")
    expect(first != second, "they differ")


if __name__ == "__main__":
    confirm()
    show(target, runs=2_000)
