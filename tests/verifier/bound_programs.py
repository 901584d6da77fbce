"""Functions in a file of their own, since binding and verifying read the source; one of each kind that the tests need."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import spec

STEP = 1
HALF = Fraction(1, 2)


def size(value: Fraction) -> Fraction:
    """A pure helper."""
    return abs(value) + STEP - 1


@spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1", "times >= 1"])
def noisy(q: list[Fraction], eps: Fraction, times: int = 1, *, laplace: Callable[[Fraction], Fraction]) -> Fraction:
    """The first value, with noise; reads a constant, a helper, a default, abs and Fraction."""
    return q[0] + laplace(times * size(Fraction(1, 1)) / eps) + STEP - 2 * HALF


@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def twice(q: list[int], eps: Fraction, *, laplace: Callable[[Fraction], Fraction]) -> list[Fraction]:
    """Every value, with noise; a sampler may try to change the list meanwhile."""
    out = []
    for i in range(len(q)):
        out.append(q[i] + laplace(1 / eps))  # noqa: PERF401 - comprehensions are outside the subset
    return out


@spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"], domain=["0 <= q[each] and q[each] <= 3"])
def ranged(q: list[int], eps: Fraction, flag: bool, *, laplace: Callable[[Fraction], Fraction]) -> Fraction:  # noqa: FBT001
    """A function with a domain."""
    return (q[0] if flag else 0) + laplace(1 / eps)


@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def eager(
    q: list[int],
    eps: Fraction,
    *,
    laplace: Callable[[Fraction], Fraction] = Fraction,  # type: ignore[assignment]
) -> Fraction:
    """A sampler that has a default."""
    return len(q) + laplace(1 / eps)
