"""Which of the values is largest: the exponential mechanism, and the largest noisy value, right and wrong."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.catalogue.programs.samplers import Choice, Laplace
from dpaudit.spec import spec


@spec(claim="eps", adjacency="all", requires=["eps >= 0", "len(q) >= 1"])
def exponential_mechanism(q: list[Fraction], eps: Fraction, *, exponential_choice: Choice) -> int:
    """An index, the likelier the larger its score."""
    return exponential_choice(q, eps, 1)


@spec(claim="eps", adjacency="all", requires=["eps > 0"])
def noisy_max(q: list[Fraction], eps: Fraction, *, laplace: Laplace) -> int:
    """The index of the largest noisy value."""
    best = 0
    largest = Fraction(0)
    for i in range(len(q)):
        noisy = q[i] + laplace(2 / eps)
        if noisy > largest or i == 0:
            best = i
            largest = noisy
    return best


@spec(claim="eps", adjacency="all", requires=["eps > 0"])
def bad_noisy_max(q: list[Fraction], eps: Fraction, *, laplace: Laplace) -> Fraction:
    """Wrong: the largest noisy value itself."""
    best = Fraction(0)
    largest = Fraction(0)
    for i in range(len(q)):
        noisy = q[i] + laplace(2 / eps)
        if noisy > largest or i == 0:
            best = noisy
            largest = noisy
    return best
