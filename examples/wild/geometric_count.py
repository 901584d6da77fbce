"""diffpriv-pure 0.1.0, `private_count`: geometric noise that is never negative, so a count is never lowered."""

# requires: diffpriv-pure==0.1.0

import math
import random

from _entry import expect, show
from diffpriv_pure import private_count

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

EPSILON = 1.0


def release(records: list[int]) -> int:
    """Release the number of records as the library does."""
    return private_count(len(records), EPSILON)


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="add_remove"),
    neighbours=[([1] * 5, [1] * 6)],
    name="private_count",
    public_data=True,
)


def confirm() -> None:
    """Compute the law of the noise, ceil(-log(1 - u) / epsilon - 1) of a uniform u, which is -1 for u = 0 alone."""
    same, less = 1 - math.exp(-EPSILON), 2.0**-53
    print(
        f"P(5 | 5 records) = {same:.4f}, P(5 | 6 records) = {less:.1e} (a uniform number that is 0): "
        f"epsilon >= {math.log(same / less):.2f}"
    )
    random.seed(1)
    noise = [private_count(0, EPSILON) for _ in range(100_000)]
    expect(min(noise) == 0, "no noise is negative")
    expect(abs(noise.count(0) - 1e5 * same) < 5 * math.sqrt(1e5 * same * (1 - same)), "no noise at all as often as computed")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
