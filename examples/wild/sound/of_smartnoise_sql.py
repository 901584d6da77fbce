"""A query of smartnoise-sql 1.0.10 in which nothing was found; others take minutes each."""

# requires: smartnoise-sql==1.0.10

import warnings

import pandas as pd
from _entry import show_table
from snsql import Privacy, from_df

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

COLUMNS = {"x": {"type": "float", "lower": 0.0, "upper": 1.0}, "g": {"type": "string"}}
METADATA = {"": {"S": {"T": {"rows": 10, "row_privacy": True, "censor_dims": False, **COLUMNS}}}}
FEWER, MORE = [0.5, 0.25], [0.5, 0.25, 1.0]
QUERIES = {"COUNT(*)": 1}


def release(values: list[float], what: str) -> float:
    """Answer a query as the library does, epsilon 1 for each number it needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = pd.DataFrame({"x": values, "g": ["a"] * len(values)})
        # dpaudit: ignore[DP304] counts of a table of three rows are audited, and spend no delta
        reader = from_df(rows, privacy=Privacy(epsilon=1.0, delta=0.01), metadata=METADATA)
        told = reader.execute(f"SELECT {what} AS v FROM S.T")  # noqa: S608
    return float(told[1][0])


TARGETS = [
    from_function(
        lambda values, what=what: release(values, what),
        claim=Claim(PureDP(epsilon=cost), adjacency="add_remove"),
        neighbours=[(FEWER, MORE)],
        name=f"SELECT {what}",
        public_data=True,
        most_runs=2_000,
    )
    for what, cost in QUERIES.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
