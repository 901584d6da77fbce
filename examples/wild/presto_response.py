"""ornl-presto 0.1.29, `hadamard_response`: the true value is kept as often as among two categories, however many there are."""

# requires: ornl-presto==0.1.29

import math

import torch
from _entry import expect, show
from ornl_presto.privacy_mechanisms import hadamard_response

from dpaudit import Claim, PureDP
from dpaudit.interop import from_function

EPSILON, D = 1.0, 10
FIRST, SECOND = [0, D - 1], [1, D - 1]


def release(values: list[int]) -> tuple[int, ...]:
    """Report the categories of two persons as the library does; the second holds the greatest, which sets their number."""
    return tuple(int(one) for one in hadamard_response(torch.tensor(values), EPSILON))


target = from_function(
    release,
    claim=Claim(PureDP(epsilon=1), adjacency="replace_one"),
    neighbours=[(FIRST, SECOND)],
    name="hadamard_response",
    public_data=True,
)


def confirm() -> None:
    """Compute the law of a report: the true value with e^epsilon / (e^epsilon + 1), and one of all D otherwise."""
    kept = math.exp(EPSILON) / (math.exp(EPSILON) + 1)
    same, other = kept + (1 - kept) / D, (1 - kept) / D
    expect(abs(same + (D - 1) * other - 1) < 1e-12, "it is a law")
    cost = math.log(same / other)
    print(f"P(0 | 0) = {same:.4f}, P(0 | 1) = {other:.4f}: epsilon is {cost:.4f} with {D} categories, claimed {EPSILON}")
    expect(math.isclose(cost, math.log(1 + D * math.exp(EPSILON))), "it grows with the number of categories")
    torch.manual_seed(1)
    seen = [release(FIRST)[0] for _ in range(10_000)].count(0)
    expect(abs(seen - 10_000 * same) < 5 * math.sqrt(10_000 * same), "the function follows this law")


if __name__ == "__main__":
    confirm()
    show(target, runs=20_000)
