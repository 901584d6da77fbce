"""dpart 0.1.2, `Independent`: bins are cut at quantiles of the private data, so synthetic values end where the data end."""

# requires: dpart==0.1.2 --no-deps diffprivlib scikit-learn<1.8 pandas<3

import warnings

import numpy as np
import pandas as pd
import sklearn
from _entry import expect, show
from dpart.engines import Independent

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

LOW, FAR = [0.0, 0.25, 0.5, 0.75, 1.0] * 4, [0.0, 0.25, 0.5, 0.75, 1.0] * 3 + [0.0, 0.25, 0.5, 0.75, 9.0]


def release(values: list[float]) -> float:
    """Fit to a column of numbers from 0 to 10 as the library does, and give out the greatest of 200 synthetic ones."""
    # dpart gives a scaler its range as a list, which scikit-learn refuses since 1.2 unless told not to look.
    with warnings.catch_warnings(), sklearn.config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        model = Independent(epsilon=1.0, bounds={"x": {"min": 0, "max": 10}})
        model.fit(pd.DataFrame({"x": values}))
        return float(model.sample(200)["x"].max())


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(LOW, FAR)],
    name="Independent",
    public_data=True,
    most_runs=1_000,
)


def confirm() -> None:
    """Compare the greatest synthetic values with the greatest values of the data, which they never pass, without the auditor."""
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    low, far = ([release(values) for _ in range(150)] for values in (LOW, FAR))
    print(f"greatest synthetic values: up to {max(low):.6f} for data that end at 1, up to {max(far):.4f} for data that end at 9")
    expect(max(low) <= 1, "nothing beyond the data")
    expect(sum(one > 1 for one in far) > 15, "but often beyond 1 with a record of 9: no finite epsilon holds")


if __name__ == "__main__":
    confirm()
    show(target, runs=1_000)
