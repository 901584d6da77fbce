"""Sums of a stream: one at the end, every prefix, and in blocks, right and wrong."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.catalogue.programs.samplers import Laplace
from dpaudit.spec import spec


@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def partial_sum(q: list[Fraction], eps: Fraction, *, laplace: Laplace) -> Fraction:
    """The sum, with noise."""
    total = Fraction(0)
    for i in range(len(q)):
        total = total + q[i]
    return total + laplace(1 / eps)


@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def bad_partial_sum(q: list[Fraction], eps: Fraction, *, laplace: Laplace) -> Fraction:
    """Wrong: half the noise that the sum needs."""
    total = Fraction(0)
    for i in range(len(q)):
        total = total + q[i]
    return total + laplace(1 / (2 * eps))


@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def prefix_sum(q: list[Fraction], eps: Fraction, *, laplace: Laplace) -> list[Fraction]:
    """Every prefix sum, added up from noisy values."""
    out = []
    total = Fraction(0)
    for i in range(len(q)):
        total = total + q[i] + laplace(1 / eps)
        out.append(total)
    return out


@spec(claim="2 * eps", adjacency="one", requires=["eps > 0", "block >= 2"])
def smart_sum(q: list[Fraction], eps: Fraction, block: int, last: int, *, laplace: Laplace) -> list[Fraction]:
    """Every prefix sum up to place `last`; each full block is added with noise of its own."""
    out = []
    released = Fraction(0)
    inside = Fraction(0)
    for i in range(min(len(q), last + 1)):
        if (i + 1) % block == 0:
            released = inside + q[i] + laplace(1 / eps)
            inside = Fraction(0)
        else:
            released = released + q[i] + laplace(1 / eps)
            inside = inside + q[i]
        out.append(released)
    return out


@spec(claim="2 * eps", adjacency="one", requires=["eps > 0", "block >= 2"])
def bad_smart_sum(q: list[Fraction], eps: Fraction, block: int, last: int, *, laplace: Laplace) -> list[Fraction]:
    """Wrong: full blocks are added without noise."""
    out = []
    released = Fraction(0)
    inside = Fraction(0)
    for i in range(min(len(q), last + 1)):
        if (i + 1) % block == 0:
            released = inside + q[i]
            inside = Fraction(0)
        else:
            released = released + q[i] + laplace(1 / eps)
            inside = inside + q[i]
        out.append(released)
    return out
