"""trasgodp 2.1.0, `dp_randomized_response_kary_array`: the categories are those in the data, so a rare one names its person."""

# requires: trasgodp==2.1.0 --no-deps folium pandas scipy

import math

import numpy as np
from _entry import expect, show
from trasgodp.categorical import dp_randomized_response_kary_array

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

EPSILON = 1.0
RARE, COMMON = ["a", "b", "c", "d"], ["a", "b", "c", "c"]


def release(values: list[str]) -> tuple[str, ...]:
    """Report the categories of four persons as the library does."""
    return tuple(str(one) for one in dp_randomized_response_kary_array(values, EPSILON))


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(RARE, COMMON)],
    name="dp_randomized_response_kary_array",
    public_data=True,
)


def confirm() -> None:
    """Compute the probability that the fourth person reports the category that nobody else has, without the auditor."""
    kept = math.exp(EPSILON) / (math.exp(EPSILON) + len(set(RARE)) - 1)
    print(
        f"P(the fourth reports d | d) = {kept:.4f}; where the fourth is c, d is no category and is never "
        "reported: no finite epsilon holds"
    )
    np.random.seed(1)  # noqa: NPY002 - the generator that the library uses
    seen = [release(RARE)[3] for _ in range(20_000)].count("d")
    expect(abs(seen - 20_000 * kept) < 5 * math.sqrt(20_000 * kept), "d is reported as often as computed")
    expect(all("d" not in release(COMMON) for _ in range(20_000)), "a category that nobody has is never reported")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
