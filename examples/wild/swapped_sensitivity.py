"""inf-tda 0.1, `get_sensitivity`: the sensitivities of distinct and of repeated tuples are swapped."""

# requires: inf-tda==0.1 pandas<3 opendp

import functools
import math

import numpy as np
import pandas as pd
from _entry import expect, show
from InfTDA import inf_tda
from InfTDA.differential_privacy import get_rho_from_budget
from InfTDA.mechanism import get_sensitivity
from InfTDA.optimization import int_opt

from dpaudit import ApproxDP, Claim
from dpaudit.interop import from_function

EACH, USERS = 16, 120
EPSILON, DELTA = 1.0, 1e-5
FIRST, SECOND = [0] * 60 + [1] * 60, [0] * 59 + [1] * 61


def release(users: list[int]) -> int:
    """Release how often the first of two tuples occurs, where each user names one tuple 16 times, as the library does."""
    counts = [EACH * users.count(0), EACH * users.count(1)]
    data = pd.Series(counts, index=pd.MultiIndex.from_tuples([("a",), ("b",)]), dtype="int32")
    told = inf_tda(data, budget=(EPSILON, DELTA), contribution=EACH, privacy_type="bounded", distinct_tuples=False)
    return int(told.to_dict().get(("a",), 0))


target = from_function(
    release,
    claim=Claim(ApproxDP(1, DELTA), adjacency="replace_one"),
    neighbours=[(FIRST, SECOND)],
    name="inf_tda",
    public_data=True,
    most_runs=4_000,
)


def confirm() -> None:
    """Sum the discrete Gaussian law of both counts through the library's own optimisation, on a grid with all but 1e-6 of it."""
    claimed, table = get_sensitivity(EACH, "bounded", distinct=False), math.sqrt(2) * EACH
    print(f"a user who repeats a tuple {EACH} times: noise for a sensitivity of {claimed:.3f}, in its README {table:.3f}")
    expect(math.isclose(claimed, math.sqrt(2 * EACH)), "the sensitivity is that of distinct tuples")
    sigma = claimed / math.sqrt(2 * get_rho_from_budget((EPSILON, DELTA)))
    reach = int(5.5 * sigma)
    noise = range(-reach, reach + 1)
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    weights /= weights.sum()

    @functools.cache
    def first_count(one: int, other: int) -> int:
        return int(int_opt(np.array([one, other]), EACH * USERS)[0])

    def high(users: list[int]) -> float:
        counts = EACH * users.count(0), EACH * users.count(1)
        return math.fsum(
            weights[i] * weights[j]
            for i, one in enumerate(noise)
            for j, other in enumerate(noise)
            if first_count(counts[0] + one, counts[1] + other) >= EACH * 60 + 24
        )

    first, second = high(FIRST), high(SECOND)
    delta = first - math.exp(EPSILON) * second
    print(
        f"P(count >= {EACH * 60 + 24}) = {first:.5f} and {second:.5f}: delta at epsilon {EPSILON} is at "
        f"least {delta:.5f}, claimed {DELTA}"
    )
    expect(delta > 100 * DELTA, "a hundred times the delta")


if __name__ == "__main__":
    confirm()
    show(target, runs=4_000)
