"""The choices of `NoisyMax` in whole steps, for scores that move by at most one step; of tied candidates the first is taken.

The mechanism draws evenly among tied candidates. That is the same as to put the candidates into a random order first, and the claim
holds for each order (docs/proofs.md).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import spec


@spec(claim="2 / scale", adjacency="all", requires=["scale > 0"])
def geometric_choice(q: list[int], scale: Fraction, *, geometric: Callable[[Fraction], int]) -> int:
    """The place of the largest noisy score."""
    best = 0
    largest = 0
    for i in range(len(q)):
        noisy = q[i] + geometric(scale)
        if noisy > largest or i == 0:
            best = i
            largest = noisy
    return best


@spec(claim="2 / scale", adjacency="all", requires=["scale > 0"])
def laplace_choice(q: list[int], scale: Fraction, *, discrete_laplace: Callable[[Fraction], int]) -> int:
    """The same with noise on both sides of 0."""
    best = 0
    largest = 0
    for i in range(len(q)):
        noisy = q[i] + discrete_laplace(scale)
        if noisy > largest or i == 0:
            best = i
            largest = noisy
    return best


@spec(claim="1 / scale", adjacency="inc", requires=["scale > 0"])
def monotonic_geometric_choice(q: list[int], scale: Fraction, *, geometric: Callable[[Fraction], int]) -> int:
    """The place of the largest noisy score, where scores all move in one direction."""
    best = 0
    largest = 0
    for i in range(len(q)):
        noisy = q[i] + geometric(scale)
        if noisy > largest or i == 0:
            best = i
            largest = noisy
    return best


@spec(claim="1 / scale", adjacency="inc", requires=["scale > 0"])
def monotonic_laplace_choice(q: list[int], scale: Fraction, *, discrete_laplace: Callable[[Fraction], int]) -> int:
    """The same with noise on both sides of 0."""
    best = 0
    largest = 0
    for i in range(len(q)):
        noisy = q[i] + discrete_laplace(scale)
        if noisy > largest or i == 0:
            best = i
            largest = noisy
    return best
