"""privateAB 0.0.2, `disclapu`: integer noise on the square root of the number of categories leaves its decimals to be seen."""

# requires: privateAB==0.0.2

import torch
from _entry import expect, show
from privateAB.client import client

from dpaudit.interop import from_client

K, EPSILON = 3, 1.0


def report(value: int) -> tuple[float, ...]:
    """Report one of three categories as the library does."""
    told = client().release_private("disclapu", torch.tensor([value]), K, EPSILON, torch.device("cpu"))
    return tuple(float(one) for one in told[0])


target = from_client(report, epsilon=1, values=[0, 1], name="disclapu", public_data=True)


def place(seen: tuple[float, ...]) -> int:
    """Return the one place where a report is no integer."""
    (found,) = (index for index, one in enumerate(seen) if one != round(one))
    return found


def confirm() -> None:
    """Read the true category from every report: sqrt(3) plus an integer is no integer, and 0 plus an integer is one."""
    torch.manual_seed(1)
    print(f"a report of category 1: {report(1)}")
    expect(all(place(report(value)) == value for value in range(K) for _ in range(500)), "every report shows its category")
    print("1,500 reports show their category: no finite epsilon holds")


if __name__ == "__main__":
    confirm()
    show(target, runs=5_000)
