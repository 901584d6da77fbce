"""Noise added to whole steps: what `LaplaceMechanism`, `HistogramMechanism` and the Gaussian mechanisms release."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import L1, One, spec


@spec(claim="distance / scale", adjacency=L1("distance"), requires=["scale > 0", "distance >= 0", "len(q) == 1"])
def number(
    q: list[int],
    scale: Fraction,
    distance: int,  # noqa: ARG001 - the claim speaks of it
    *,
    discrete_laplace: Callable[[Fraction], int],
) -> int:
    """One number."""
    return q[0] + discrete_laplace(scale)


@spec(claim="distance / scale", adjacency=L1("distance"), requires=["scale > 0", "distance >= 0"])
def array(
    q: list[int],
    scale: Fraction,
    distance: int,  # noqa: ARG001 - as above
    *,
    discrete_laplace: Callable[[Fraction], int],
) -> list[int]:
    """Many numbers, or the counts of a histogram."""
    out = []
    for i in range(len(q)):
        out.append(q[i] + discrete_laplace(scale))  # noqa: PERF401 - comprehensions are outside the subset
    return out


@spec(
    claim="distance**2 / (2 * sigma**2)",
    cost="zcdp",
    adjacency=One("distance"),
    requires=["sigma > 0", "distance >= 0", "len(q) == 1"],
)
def discrete_gaussian_number(
    q: list[int],
    sigma: Fraction,
    distance: Fraction,  # noqa: ARG001 - as above
    *,
    discrete_gaussian: Callable[[Fraction], int],
) -> int:
    """One number with discrete Gaussian noise; the costs of several add up, as their squared distances do."""
    return q[0] + discrete_gaussian(sigma)


@spec(
    claim="distance**2 / (2 * sigma**2)",
    cost="zcdp",
    adjacency=One("distance"),
    requires=["sigma > 0", "distance >= 0", "len(q) == 1"],
)
def gaussian_number(
    q: list[Fraction],
    sigma: Fraction,
    distance: Fraction,  # noqa: ARG001 - as above
    *,
    gaussian: Callable[[Fraction], Fraction],
) -> Fraction:
    """One number with real Gaussian noise; what is rounded afterwards costs nothing more."""
    return q[0] + gaussian(sigma)


@spec(claim="distance / scale", adjacency=L1("distance"), requires=["scale > 0", "distance >= 0"])
def laplace_array(
    q: list[Fraction],
    scale: Fraction,
    distance: Fraction,  # noqa: ARG001 - as above
    *,
    laplace: Callable[[Fraction], Fraction],
) -> list[Fraction]:
    """Many numbers with real Laplace noise; what is rounded afterwards costs nothing more."""
    out = []
    for i in range(len(q)):
        out.append(q[i] + laplace(scale))  # noqa: PERF401 - as above
    return out
