"""The specimens whose mistake is in the algorithm, as programs in the verified subset, for the verifier to refute."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import All, One, spec


@spec(claim="epsilon", adjacency=All(), requires=["epsilon > 0"])
def sparse_vector_with_one_noise(q: list[int], epsilon: Fraction, *, discrete_laplace: Callable[[Fraction], int]) -> list[bool]:
    """Which answers are at least a threshold with noise, the answers themselves having none."""
    out = []
    noisy = discrete_laplace(1 / epsilon)
    for i in range(len(q)):
        out.append(q[i] >= noisy)  # noqa: PERF401 - comprehensions are outside the subset
    return out


@spec(claim="epsilon", adjacency=All(), requires=["epsilon > 0"])
def noisy_max_with_value(q: list[int], epsilon: Fraction, *, discrete_laplace: Callable[[Fraction], int]) -> tuple[int, int]:
    """The place of the largest noisy score, the first of equal ones, and that noisy score."""
    best = 0
    largest = 0
    for i in range(len(q)):
        noisy = q[i] + discrete_laplace(2 / epsilon)
        if noisy > largest or i == 0:
            best = i
            largest = noisy
    return best, largest


@spec(
    claim="epsilon",
    adjacency=One(2),
    requires=["epsilon > 0"],
    domain=["q[each] == 1 or q[each] == -1"],
)
def surplus_with_half_noise(q: list[int], epsilon: Fraction, *, discrete_laplace: Callable[[Fraction], int]) -> int:
    """Malignant tumours, which count 1, minus the others, which count -1, with the noise that a change by 1 needs."""
    total = 0
    for i in range(len(q)):
        total = total + q[i]
    return total + discrete_laplace(1 / epsilon)
