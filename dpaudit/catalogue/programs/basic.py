"""One draw for each value: the Laplace mechanism, a histogram, randomised response."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.catalogue.programs.samplers import Laplace, Response
from dpaudit.spec import spec


@spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])
def laplace_mechanism(q: list[Fraction], eps: Fraction, *, laplace: Laplace) -> Fraction:
    """The first value, with noise."""
    return q[0] + laplace(1 / eps)


@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def histogram(q: list[int], eps: Fraction, *, laplace: Laplace) -> list[Fraction]:
    """Every count, with noise; one person adds to or is missing from one count."""
    out = []
    for i in range(len(q)):
        out.append(q[i] + laplace(1 / eps))  # noqa: PERF401 - comprehensions are outside the subset
    return out


@spec(claim="log(odds)", adjacency="one", requires=["odds >= 1"])
def randomised_response(q: list[int], odds: Fraction, *, randomized_response: Response) -> list[bool]:
    """Whether each answer is 1, said truthfully `odds` times as often as not; `odds` is e^epsilon."""
    out = []
    for i in range(len(q)):
        out.append(randomized_response(q[i] == 1, odds / (1 + odds)))  # noqa: PERF401 - as above
    return out
