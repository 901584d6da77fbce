"""dp-epidemiology 0.1.1, `hotspot_analyzer`: the noise is scaled by whole weeks, rounded down, so six days get none."""

# requires: dp-epidemiology==0.1.1 --no-deps opendp==0.11.1 pandas<3 scipy matplotlib plotly dash dtw

from datetime import datetime

import pandas as pd
from _entry import expect, show
from DP_epidemiology.hotspot_analyzer import hotspot_analyzer

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

FIRST, SECOND = [10, 20, 30], [10, 20, 31]


def release(transactions: list[int]) -> list[int]:
    """Release sums of transactions of six days as the library does."""
    rows = pd.DataFrame(
        {
            "date": ["2020-01-02"] * 3,
            "merch_postal_code": ["500001", "500001", "500002"],
            "transaction_type": ["OFFLINE"] * 3,
            "nb_transactions": transactions,
        }
    )
    told = hotspot_analyzer(rows, datetime(2020, 1, 1), datetime(2020, 1, 7), "Medellin", 1.0)  # noqa: DTZ001 - as its documentation does
    return [int(one) for one in told["nb_transactions"]]


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(FIRST, SECOND)],
    name="hotspot_analyzer",
    public_data=True,
    most_runs=1_000,
)


def confirm() -> None:
    """Release the sums many times: each dataset has one output, the exact sums, without the auditor."""
    first, second = ({tuple(release(data)) for _ in range(100)} for data in (FIRST, SECOND))
    print(f"outputs: {first} and {second}, in each of 100 releases: no noise, no finite epsilon holds")
    expect(first == {(30, 30)}, "the exact sums of the first dataset")
    expect(second == {(30, 31)}, "the exact sums of the second dataset")


if __name__ == "__main__":
    confirm()
    show(target, runs=1_000)
