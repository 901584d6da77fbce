"""smartnoise-sql 1.0.10, `use_dpsu`: the choice of groups always costs epsilon 1, which no odometer counts."""

# requires: smartnoise-sql==1.0.10

import math
import warnings

import pandas as pd
from _entry import expect, show
from snsql import Privacy, from_df
from snsql.sql.private_reader import PrivateReader

from dpaudit import ApproxDP, Claim
from dpaudit.interop import from_function

EPSILON, DELTA, USERS = 1.0, 1e-3, 10
QUERY = "SELECT g, COUNT(*) AS n FROM S.T GROUP BY g"
TABLE = {"rows": 20, "use_dpsu": True, "id": {"type": "string", "private_id": True}, "g": {"type": "string"}}
METADATA = {"": {"S": {"T": TABLE}}}


def reader(users: int) -> PrivateReader:
    """Return a reader of a table in which every user is in the one group."""
    rows = pd.DataFrame({"id": [f"u{number}" for number in range(users)], "g": ["a"] * users})
    return from_df(rows, privacy=Privacy(epsilon=EPSILON, delta=DELTA), metadata=METADATA)


def release(users: list[int]) -> int | None:
    """Release the count of the group as the library does, None where the group is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = reader(len(users)).execute(QUERY)
    return told[1][1] if len(told) > 1 else None


COST = reader(USERS).get_privacy_cost(QUERY)

target = from_function(
    release,
    claim=Claim(ApproxDP(*map(float, COST)), adjacency="add_remove"),
    neighbours=[([1] * USERS, [1] * (USERS - 1))],
    name="use_dpsu",
    public_data=True,
    most_runs=4_000,
)


def high(users: int, count: int) -> float:
    """Return the probability that the group is kept and its noisy count is at least `count`, above the count's own threshold."""
    rho = max(1 / i + math.log(1 / (2 * (1 - (1 - math.exp(-10)) ** (1 / i)))) for i in range(1, 6))  # its epsilon is 1
    kept = math.exp(-(rho - users)) / 2 if users < rho else 1 - math.exp(-(users - rho)) / 2
    return kept * math.exp(-(count - users) * EPSILON) / 2


def confirm() -> None:
    """Compute the probability of a kept group with a high count, two independent Laplace variables, without the auditor."""
    count = USERS + 1
    more, fewer = high(USERS, count), high(USERS - 1, count)
    delta = more - math.exp(COST[0]) * fewer
    print(f"cost that the library states: epsilon {COST[0]}, delta {COST[1]:.5f}")
    print(
        f"P(kept, count >= {count}) = {more:.5f} with {USERS} users, {fewer:.5f} with {USERS - 1}: epsilon "
        f">= {math.log(more / fewer):.3f}, delta >= {delta:.5f}"
    )
    expect(delta > 5 * COST[1], "more than five times the delta")
    seen = sum((release([1] * USERS) or 0) >= count for _ in range(2_000)) / 2_000
    expect(abs(seen - more) < 5 * math.sqrt(more / 2_000), "the reader follows this law")


if __name__ == "__main__":
    confirm()
    show(target, runs=4_000)
