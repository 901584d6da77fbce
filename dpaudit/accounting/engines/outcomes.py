"""Few outcomes: every vector of counts with its masses as balls, so that the losses of different laws need no common unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from flint import arb

from dpaudit.accounting.engines.tails import FiniteLoss
from dpaudit.accounting.model.distribution import Distribution, Points
from dpaudit.accounting.model.law import Finite, Law

MOST_VALUES: Final = 64  # Laws with more values are left to other engines


class _Vector(NamedTuple):
    """Releases that are left to be counted, and the loss with its P and Q mass of those that were."""

    left: int
    loss: arb
    p_mass: arb
    q_mass: arb


def listed_points(law: Law, tail: int) -> Points | None:
    """All values of a loss that has no diffuse part, at the current precision; None for other laws."""
    found = _listed(law)
    if found is None:
        return None
    # Where a mass may be nothing, the point is left out, and its P mass may be infinite: below and above the truth.
    finite, infinity, q_only = found.points(tail)
    kept = tuple(point for point in finite if point[1] > 0 and point[2] > 0)
    open_mass = sum((p_mass for loss, p_mass, q_mass in finite if not (p_mass > 0 and q_mass > 0)), arb(0))
    infinity += open_mass.nonnegative_part().union(arb(0))
    return Points(kept, infinity, q_only) if kept and len(kept) <= MOST_VALUES and infinity.is_finite() else None


@lru_cache(maxsize=256)
def _listed(law: Law) -> Distribution | None:
    """The distribution of a law without a diffuse part."""
    from dpaudit.accounting.laws.distributions import Listed, distribution_of

    found = Listed(law) if isinstance(law, Finite) else distribution_of(law)
    return None if found is None or found.nodes().losses.size else found


def compose_outcomes(parts: Sequence[tuple[Points, int]], *, most: int) -> FiniteLoss | None:
    """The loss of independent draws, each law as often as stated; None beyond `most` vectors of counts."""
    # Whether a vector counts is decided by the ball around P - e^epsilon Q of the whole vector (`FiniteLoss.delta`), so two losses
    # that are the same number in different forms are simply two vectors.
    if math.prod(_vectors(len(points.finite), count, most) for points, count in parts) > most:
        return None
    whole = [_Vector(0, arb(0), arb(1), arb(1))]
    safe = arb(1)
    for points, count in parts:
        safe *= (1 - points.p_infinity).nonnegative_part() ** count
        found = _counted(points, count)
        whole = [
            _Vector(0, known.loss + new.loss, known.p_mass * new.p_mass, known.q_mass * new.q_mass)
            for known in whole
            for new in found
        ]
    return FiniteLoss.of([(vector.loss, vector.p_mass, vector.q_mass) for vector in whole], (1 - safe).nonnegative_part())


def _vectors(outcomes: int, count: int, most: int) -> int:
    """Number of vectors of counts, at most one more than `most`."""
    total = 1
    for index in range(1, outcomes):  # the product rises with every factor
        total = total * (count + index) // index
        if total > most:
            return most + 1
    return total


def _counted(points: Points, count: int) -> list[_Vector]:
    """The vectors of one law: multinomial weights, one outcome after another."""
    vectors, done = [_Vector(count, arb(0), arb(1), arb(1))], list[_Vector]()
    for index, (loss, p_mass, q_mass) in enumerate(points.finite):
        last, found = index == len(points.finite) - 1, list[_Vector]()
        for left, before, p_before, q_before in vectors:
            ways, p_power, q_power = (1, p_mass**left, q_mass**left) if last else (1, arb(1), arb(1))
            for times in range(left if last else 0, left + 1):
                one = _Vector(left - times, before + times * loss, p_before * ways * p_power, q_before * ways * q_power)
                (found if one.left else done).append(one)
                if times < left:
                    ways = ways * (left - times) // (times + 1)
                    p_power, q_power = p_power * p_mass, q_power * q_mass
        vectors = found
    return done
