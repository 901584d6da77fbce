"""Net of the unit sphere in few dimensions: the points of a lattice whose norm is nearly one."""

from __future__ import annotations

import math
from typing import Final

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer
from learners.choices.lattice_cover import MOST_DIMENSIONS, LatticeCover, ball_volume_above

MOST_POINTS: Final = 5 * 10**6


def shell_net(*, dimension: int, margin: Exact) -> LatticeCover:
    """Lattice points within margin / 10 of every point of the unit sphere (Nguyen, Ullman, Zakynthinou 2020, Algorithm 2)."""
    # With r = margin / 10 the lattice has the step h = 2 r / sqrt(m), and a point p of integers is in the net if the norm of h p
    # is within r of 1. Lengths of candidates are in steps: `threshold` states a margin of r in those.
    columns = integer(dimension, "dimension", lower=1, upper=MOST_DIMENSIONS)
    radius = in_range(margin, "margin", lower=0, upper=1, lower_open=True) / 10
    inner, outer = (columns * (end / (2 * radius)) ** 2 for end in (1 - radius, 1 + radius))
    net = LatticeCover(columns, math.floor(outer), math.ceil(inner))
    # Cubes around the points fill a shell that is thicker by half of their diagonals on either side, at most 1.
    widest, narrowest = math.isqrt(net.radius_squared) + 2, max(0, math.isqrt(net.least_squared) - 1)
    if ball_volume_above(columns) * (widest**columns - narrowest**columns) > 4 * MOST_POINTS or net.size > MOST_POINTS:
        raise InvalidArgument("DPA103", f"the net would have more than {MOST_POINTS} points. Take a larger margin or fewer.")
    return net


def threshold(*, dimension: int, bound: int) -> int:
    """The largest signed margin of a point of the net with a record that is short of margin / 10: an error."""
    # The margin of the point h p with a record q of norm `bound` steps is h <p, q> / bound, and h = 2 r / sqrt(m): it is below r
    # if 2 <p, q> < bound sqrt(m), whatever the margin is.
    return math.isqrt(-(-dimension * bound**2 // 4) - 1)
