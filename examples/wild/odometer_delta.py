"""smartnoise-sql 1.0.10, `Odometer`: a factor 1 - delta where the theorem has 1 - slack, so many queries look safe."""

# requires: smartnoise-sql==1.0.10

import random

from _entry import expect, show
from snsql import Privacy
from snsql.sql.odometer import Odometer

from dpaudit import ApproxDP, Claim
from dpaudit.interop import from_function

EPSILON, DELTA, QUERIES = 0.001, 0.001, 1000


def spent(queries: int) -> tuple[float, float]:
    """Return what the odometer says that queries cost together."""
    odometer = Odometer(Privacy(epsilon=EPSILON, delta=DELTA))
    odometer.spend(queries)
    epsilon, delta = odometer.spent
    return float(epsilon), float(delta)


def release(secret: list[int]) -> int | None:
    """Answer queries that each show the record with probability delta and are silent otherwise, so each is within its delta."""
    return secret[0] if random.random() < 1 - (1 - DELTA) ** QUERIES else None  # noqa: S311 - any of them shows it


def confirm() -> None:
    """Compare the odometer's delta with that of mechanisms that fail openly with probability delta, which add up exactly."""
    for queries in (1, 10, 100, QUERIES, 10_000):
        epsilon, delta = spent(queries)
        true = 1 - (1 - DELTA) ** queries
        print(
            f"{queries:6} queries: stated epsilon {epsilon:8.3f}, delta {delta:.5f}; exact delta at any "
            f"epsilon {true:.5f}{'  MORE' if true > delta else ''}"
        )
    expect(spent(QUERIES)[1] < (1 - (1 - DELTA) ** QUERIES) / 2.5, "more than two and a half times the delta")


target = from_function(
    release,
    claim=Claim(ApproxDP(*spent(QUERIES)), adjacency="replace_one"),
    neighbours=[([0], [1])],
    name="Odometer",
    public_data=True,
)

if __name__ == "__main__":
    confirm()
    show(target, runs=10_000)
