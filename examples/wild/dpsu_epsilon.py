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

EPSILON, DELTA, USERS = 1.0, 1e-5, 11
QUERY = "SELECT g, COUNT(DISTINCT id) AS n FROM S.T GROUP BY g"
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


def kept(users: int) -> float:
    """Return the probability that the group is released: by the set union and by the threshold of its count."""
    rho = max(1 / i + math.log(1 / (2 * (1 - (1 - math.exp(-10)) ** (1 / i)))) for i in range(1, 6))  # its epsilon is 1
    tau = 1 - math.log(2 * DELTA) / EPSILON
    expect(users < min(rho, tau), "both thresholds are above the number of users")
    return math.exp(-(rho - users)) / 2 * math.exp(-(tau - users) * EPSILON) / 2


def confirm() -> None:
    """Compute the probability of a released group, two independent Laplace variables, without the auditor."""
    more, fewer = kept(USERS), kept(USERS - 1)
    delta = more - math.exp(COST[0]) * fewer
    print(f"cost that the library states: epsilon {COST[0]}, delta {COST[1]:.6f}")
    print(
        f"P(released) = {more:.5f} with {USERS} users, {fewer:.5f} with {USERS - 1}: "
        f"epsilon >= {math.log(more / fewer):.3f}, delta >= {delta:.5f}"
    )
    expect(delta > 100 * COST[1], "more than a hundred times the delta")
    seen = sum(release([1] * USERS) is not None for _ in range(2_000)) / 2_000
    expect(abs(seen - more) < 5 * math.sqrt(more / 2_000), "the reader follows this law")


if __name__ == "__main__":
    confirm()
    show(target, runs=4_000)
