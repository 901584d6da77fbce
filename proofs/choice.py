"""Choices by score: one draw of the exponential mechanism's law, and a report that is the truth with a known probability."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import All, Inc, spec


@spec(claim="epsilon", adjacency=All("distance"), requires=["epsilon >= 0", "distance > 0", "len(q) >= 1"])
def exponential(
    q: list[Fraction],
    epsilon: Fraction,
    distance: Fraction,
    *,
    exponential_choice: Callable[[list[Fraction], Fraction, Fraction], int],
) -> int:
    """A place, with weights exp(epsilon q[i] / (2 distance))."""
    return exponential_choice(q, epsilon, distance)


@spec(claim="epsilon", adjacency=Inc("distance"), requires=["epsilon >= 0", "distance > 0", "len(q) >= 1"])
def monotonic_exponential(
    q: list[Fraction],
    epsilon: Fraction,
    distance: Fraction,
    *,
    exponential_choice: Callable[[list[Fraction], Fraction, Fraction], int],
) -> int:
    """A place, with weights exp(epsilon q[i] / distance), where the scores all move in one direction."""
    return exponential_choice(q, 2 * epsilon, distance)


@spec(claim="log(odds)", adjacency="one", requires=["odds >= 1"])
def two_categories(q: list[int], odds: Fraction, *, randomized_response: Callable[[bool, Fraction], bool]) -> list[bool]:
    """Whether each category is 1, said truthfully `odds` times as often as not; `odds` is e^epsilon."""
    out = []
    for i in range(len(q)):
        out.append(randomized_response(q[i] == 1, odds / (1 + odds)))  # noqa: PERF401 - comprehensions are outside the subset
    return out
