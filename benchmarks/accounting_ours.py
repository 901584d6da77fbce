"""What only our accounting offers, timed by itself: widths at any delta, filters, individual accounts, calibration."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from measuring import Bar, table

from dpaudit import ZCDP, ApproxDP
from dpaudit.accounting import Filter, IndividualFilter, Poisson, PrivacyLoss, calibrate, compose, gaussian, laplace

DELTAS: Final = ("0.1", "1e-3", "1e-6", "1e-12", "1e-30", "1e-100", "1e-300")

LOSSES: Final[dict[str, PrivacyLoss]] = {
    "1,000 Gaussian, sigma 1": 1000 * gaussian(sigma=1),
    "10^4 sampled Gaussian, q .01, sigma .8": 10**4 * gaussian(sigma="0.8").sampled(Poisson("0.01")),
    "60,000 sampled Gaussian, q .001, sigma 1.1": 60_000 * gaussian(sigma="1.1").sampled(Poisson("0.001")),
    "2,000 Laplace, scale 1": 2000 * laplace(scale=1),
    "20 Gaussian and 300 Laplace": compose(20 * gaussian(sigma=3), 300 * laplace(scale=4), 500 * laplace(scale=2)),
}

QUERIES: Final = 100_000
RECORDS: Final = 1_000_000
ROUNDS: Final = 1000


@dataclass(frozen=True)
class Alone:
    """Measurements as Markdown, as plain data, and the bars they have to keep."""

    markdown: str
    record: dict[str, Any]
    bars: list[Bar]


def measured_alone(repeats: int) -> Alone:
    """Everything in this file."""
    narrow, filters, individual, calibrated = widths(), filter_seconds(repeats), individual_seconds(), calibrations()
    parts = [
        "## Width of delta\n\nRelative width of the interval for delta at an epsilon where it is about as large as stated.\n",
        table(["composition", *DELTAS], [[row["loss"], *(f"{width:.1e}" for width in row["widths"])] for row in narrow]),
        "## Calibration\n\nThe least sigma; from both sides: the lower end breaks the budget a millionth below it.\n",
        table(
            ["composition", "budget", "sigma", "s", "proved from both sides"],
            [
                [row["loss"], row["budget"], f"{row['sigma']:.8g}", f"{row['seconds']:.2f}", "yes" if row["tight"] else "no"]
                for row in calibrated
            ],
        ),
        "## Filters\n",
        table(
            ["what", "s"],
            [
                [f"{QUERIES:,} different Gaussian queries through an (epsilon, delta) filter", f"{filters['all']:.2f}"],
                [f"of these the last {QUERIES // 10:,}", f"{filters['last']:.2f}"],
                [f"individual accounts of {RECORDS:,} records over {ROUNDS:,} rounds", f"{individual:.1f}"],
            ],
        ),
    ]
    bars = [
        Bar("widest delta from 0.1 to 1e-300, relative", max(max(row["widths"]) for row in narrow), 1e-3, most=True),
        Bar(f"filter, {QUERIES:,} queries, seconds", filters["all"], 2, most=True),
        Bar("filter, last tenth of the queries over a tenth of the time", filters["last"] / filters["all"] * 10, 1.5, most=True),
        Bar(f"individual filter, {RECORDS:,} records x {ROUNDS:,} rounds, seconds", individual, 10, most=True),
        Bar("calibrations proved from both sides, of 3", sum(row["tight"] for row in calibrated), 3),
    ]
    record = {"widths": narrow, "calibrations": calibrated, "filters": [{**filters, "individual": individual}]}
    return Alone("\n".join(parts), record, bars)


def widths() -> list[dict[str, Any]]:
    """Relative widths of delta over its whole range."""
    rows = []
    for name, loss in LOSSES.items():
        found = []
        for delta in DELTAS:
            answer = loss.delta(epsilon=loss.epsilon(delta=delta).upper)
            found.append(float((answer.upper - answer.lower) / answer.upper))
        rows.append({"loss": name, "widths": found})
    return rows


def filter_seconds(repeats: int) -> dict[str, float]:
    """Best time of many queries through one filter, and of the last tenth of them."""
    losses = [gaussian(sigma=10_000 + index) for index in range(QUERIES)]
    best = {"all": float("inf"), "last": float("inf")}
    for _ in range(repeats):
        budget, start = Filter(ApproxDP(epsilon=1, delta="1e-6")), time.perf_counter()
        for loss in losses[: -QUERIES // 10]:
            budget.spend(loss)
        middle = time.perf_counter()
        for loss in losses[-QUERIES // 10 :]:
            budget.spend(loss)
        end = time.perf_counter()
        best = {"all": min(best["all"], end - start), "last": min(best["last"], end - middle)}
    return best


def individual_seconds() -> float:
    """Time of all rounds, contributions drawn beforehand."""
    accounts = IndividualFilter(ZCDP(rho=1), records=RECORDS)
    squares = np.random.default_rng(1).integers(0, 100, size=(8, RECORDS))
    start = time.perf_counter()
    for index in range(ROUNDS):
        accounts.admit(squares[index % 8], unit="1/20000")
    return time.perf_counter() - start


def calibrations() -> list[dict[str, Any]]:
    """The least sigma for three compositions."""
    makes: dict[str, Callable[[Any], PrivacyLoss]] = {
        "1,000 Gaussian": lambda sigma: 1000 * gaussian(sigma=sigma),
        "10 Gaussian and 10 Laplace, scale 20": lambda sigma: compose(10 * gaussian(sigma=sigma), 10 * laplace(scale=20)),
        "1,000 sampled Gaussian, q .01": lambda sigma: 1000 * gaussian(sigma=sigma).sampled(Poisson("0.01")),
    }
    rows = []
    for name, make in makes.items():
        start = time.perf_counter()
        found = calibrate(make, epsilon=2, delta="1e-6", low="1/2", high=1000)
        rows.append(
            {
                "loss": name,
                "budget": "(2, 1e-6)",
                "sigma": float(found.parameter),
                "seconds": time.perf_counter() - start,
                "tight": found.tight,
            }
        )
    return rows
