"""The runs of `AboveThreshold` and `SparseVector` in whole steps, for answers that move by at most one step.

A distance of several steps is that many changes one after the other, and a question that depends on earlier answers is a fixed one
once those answers are fixed (docs/proofs.md).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import spec


@spec(
    claim="1 / threshold_scale + 2 * most / query_scale",
    adjacency="all",
    requires=["threshold_scale > 0", "query_scale > 0", "most >= 1"],
    align={"hidden": "1", "noise": "2 if q[i] + noise >= border else 0"},
)
def answers(
    q: list[int],
    threshold: int,
    most: int,
    threshold_scale: Fraction,
    query_scale: Fraction,
    *,
    discrete_laplace: Callable[[Fraction], int],
) -> list[bool]:
    """Whether each answer is above the threshold, up to the `most`-th that is."""
    out = []
    hidden = discrete_laplace(threshold_scale)
    border = threshold + hidden
    given = 0
    for i in range(len(q)):
        noise = discrete_laplace(query_scale)
        if q[i] + noise >= border:
            out.append(True)
            given = given + 1
            if given == most:
                break
        else:
            out.append(False)
    return out


@spec(
    claim="1 / threshold_scale + most / query_scale",
    adjacency="inc",
    requires=["threshold_scale > 0", "query_scale > 0", "most >= 1"],
)
def monotonic_answers(
    q: list[int],
    threshold: int,
    most: int,
    threshold_scale: Fraction,
    query_scale: Fraction,
    *,
    discrete_laplace: Callable[[Fraction], int],
) -> list[bool]:
    """The same where the answers all move in one direction."""
    out = []
    hidden = discrete_laplace(threshold_scale)
    border = threshold + hidden
    given = 0
    for i in range(len(q)):
        noise = discrete_laplace(query_scale)
        if q[i] + noise >= border:
            out.append(True)
            given = given + 1
            if given == most:
                break
        else:
            out.append(False)
    return out


@spec(
    claim="1 / threshold_scale + 2 * most / query_scale + most / number_scale",
    adjacency="all",
    requires=["threshold_scale > 0", "query_scale > 0", "number_scale > 0", "most >= 1"],
    align={"hidden": "1", "noise": "2 if q[i] + noise >= border else 0", "fresh": "q[i] - other.q[i]"},
)
def numbers(
    q: list[int],
    threshold: int,
    most: int,
    threshold_scale: Fraction,
    query_scale: Fraction,
    number_scale: Fraction,
    *,
    discrete_laplace: Callable[[Fraction], int],
) -> tuple[list[bool], list[int]]:
    """Whether each answer is above the threshold, and the noisy copies of those that are."""
    above = []
    copies = []
    hidden = discrete_laplace(threshold_scale)
    border = threshold + hidden
    given = 0
    for i in range(len(q)):
        noise = discrete_laplace(query_scale)
        if q[i] + noise >= border:
            above.append(True)
            fresh = discrete_laplace(number_scale)
            copies.append(q[i] + fresh)
            given = given + 1
            if given == most:
                break
        else:
            above.append(False)
    return above, copies
