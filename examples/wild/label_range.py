"""LPDT 0.0.2, `LPDTreeRegressor`: the noise on a label is scaled by the range of the private labels, so equal labels get none."""

# requires: LPDT==0.0.2

import numpy as np
from _entry import expect, show
from LPDT import LPDTreeRegressor

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

PUBLIC_X, PUBLIC_Y = np.linspace(0, 1, 20).reshape(-1, 1), np.linspace(0, 1, 20)
PRIVATE_X = np.array([[0.2], [0.4]])


def release(labels: list[float]) -> float:
    """Fit a tree of one leaf to two persons as the library does, and give out what it predicts for a public row."""
    seed = int(np.random.randint(2**31))  # noqa: NPY002 - the default of the library is a constant, which is another entry
    model = LPDTreeRegressor(
        epsilon=1, public_X=PUBLIC_X, public_Y=PUBLIC_Y, max_depth=0, min_ratio_pri_est=-100, random_state=seed
    )
    return float(model.fit(PRIVATE_X, np.array(labels)).predict(np.array([[0.5]]))[0])


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[([0.0, 0.0], [0.0, 1.0])],
    name="LPDTreeRegressor",
    public_data=True,
    most_runs=4_000,
)


def confirm() -> None:
    """Fit labels that are equal, whose range is 0 and whose noise has scale 0, and labels that differ, without the auditor."""
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    same, differ = ([release(labels) for _ in range(1_500)] for labels in ([0.0, 0.0], [0.0, 1.0]))
    print(
        f"labels 0, 0: predictions {set(same)}; labels 0, 1: {len(set(differ))} predictions in 1,500 fits: no finite epsilon holds"
    )
    expect(set(same) == {0.0}, "equal labels have no noise")
    expect(len(set(differ)) > 1_000, "other labels have noise")
    expect(0.0 not in differ, "the noise of other labels never gives exactly that")


if __name__ == "__main__":
    confirm()
    show(target, runs=4_000)
