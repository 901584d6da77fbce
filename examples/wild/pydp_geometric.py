"""python-dp 1.1.5, `pydp.ml.mechanisms.geometric.Geometric`: noise that is never negative, and grows with epsilon."""

# requires: python-dp==1.1.5

import math

from _entry import expect, show
from pydp.ml.mechanisms.geometric import Geometric

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

EPSILON = 1
PROBABILITY = 1 - math.exp(-EPSILON)


def release(records: list[int], epsilon: float = EPSILON) -> int:
    """Release the number of records by the mechanism, of which a two-sided one would have ratio e^-epsilon."""
    return Geometric().set_epsilon(epsilon).set_sensitivity(1).set_probability(PROBABILITY).randomise(len(records))


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=EPSILON), adjacency="add_remove"),
    neighbours=[([1] * 5, [1] * 6)],
    name="Geometric",
    public_data=True,
)


def confirm() -> None:
    """Compare the mechanism with the law that its distribution states: p = 1 - exp(-lambda / scale), 0, 1, 2, ... alone."""
    print(f"P(5 | 5 records) = {PROBABILITY:.4f}, P(5 | 6 records) = 0: no finite epsilon")
    noise = [release([]) for _ in range(40_000)]
    expect(min(noise) == 0, "no noise is negative")
    spread = 5 * math.sqrt(4e4 * PROBABILITY * (1 - PROBABILITY))
    expect(abs(noise.count(0) - 4e4 * PROBABILITY) < spread, "no noise at all as often as computed")
    more = [release([], epsilon=4.0) for _ in range(40_000)]
    print(f"mean noise {sum(noise) / 4e4:.2f} at epsilon 1, {sum(more) / 4e4:.2f} at epsilon 4, where it should be less")
    expect(sum(more) > 3 * sum(noise), "noise grows with epsilon")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
