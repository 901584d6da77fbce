"""Masses of one law on cells of a lattice, in ball arithmetic, as doubles rounded to the safe side."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from flint import arb

from dpaudit.accounting.model.distribution import Distribution, Points
from dpaudit.accounting.model.transform import SMALLEST, Reals
from dpaudit.exact import ball

SLACK: Final = 2.0**-48  # Relative room for the rounding of one conversion and of the few products that follow it
# Balls at least this accurate are converted from their middle, `SLACK` covering the rest; others from their far end.
GOOD_BITS: Final = 56


# A point that would leave less than this part of its mass at one end stays at the left end, which costs less than spreading it.
NEAR: Final = 2.0**-20


@dataclass(frozen=True)
class Raster:
    """The places offset + index * step of one law; `ends` are the indices, in increasing order, at which cells end."""

    step: Fraction
    offset: Fraction
    ends: tuple[int, ...]

    def place(self, index: int | Fraction) -> Fraction:
        """The loss at an index."""
        return self.offset + index * self.step


Row: TypeAlias = tuple[float, float, float, float]  # Excess, deficit, and what is kept and moved, of one half cell


class Halves(NamedTuple):
    """The masses that half cell (c, 0 or 1) brings to the ends of its cell: kept at the left end, or moved to the right end."""

    # Kept there, `excess` is at or below P - e^loss Q and `kept` at or below e^loss Q. Moved there, `deficit` is at or above
    # e^loss Q - P and `moved` at or below e^loss Q.
    excess: Reals
    deficit: Reals
    kept: Reals
    moved: Reals


@dataclass(frozen=True)
class Cells:
    """One law's masses times e^(tilt loss - log_scale), the loss being that of the place they are for."""

    # `upper[i]` is at or above the mass that spreading gives to end number i. `halves` has everything; `diffuse` all but the
    # points, which are in `points`, at or below the truth: spread over the ends of their cell, of which no such one is more than
    # `spread_width` steps wide, within 2^-46; or left at its left end.
    upper: Reals
    halves: Halves
    diffuse: Halves
    points: Reals
    spread_width: int
    upper_infinity: arb
    lower_infinity: arb


def cells_of(law: Distribution, raster: Raster, tilt: Fraction, log_scale: Fraction, tail: int) -> Cells | None:
    """Masses on the cells of a raster at the current precision; None when a value is indistinguishable from the end of a half cell.

    Diffuse mass below the first end is moved up to it (upper law) or dropped (lower law), mass above the last end is moved to
    infinity or dropped.
    """
    edges = _edges(raster)
    points = law.points(tail)
    extra = _by_half(points, edges)
    if extra is None or not _is_whole(law, points):
        return None
    sides, places = law.sides(edges), edges[::2]
    slope, scale = ball(tilt), ball(log_scale)
    growth = [place.exp() for place in places]
    weight = [(slope * place - scale).exp() for place in places]
    grown = [one * other for one, other in zip(growth, weight, strict=True)]
    widths = [right - left for left, right in pairwise(raster.ends)]
    spreads = {width: _spread_factors(ball(width * raster.step)) for width in set(widths)}
    spread = [arb(0) for _ in places]
    rows, diffuse = [], {}
    points_lower, spread_width = np.zeros(len(places)), 0

    def row(over: arb, under: arb, q_mass: arb, cell: int) -> Row:
        kept, moved = _at_most(q_mass * grown[cell]), _at_most(q_mass * grown[cell + 1])
        return _at_most(over * weight[cell]), _at_least(under * weight[cell + 1]), kept, moved

    for cell, width in enumerate(widths):
        fall, rise = spreads[width]
        whole_excess, whole_deficit = arb(0), arb(0)
        for half in (2 * cell, 2 * cell + 1):
            p_mass, q_mass = sides[half].up_to(sides[half + 1])
            over, under = p_mass - growth[cell] * q_mass, growth[cell + 1] * q_mass - p_mass
            if half in extra:
                diffuse[half] = row(over, under, q_mass, cell)
                p_point, q_point = extra[half]
                more, less = p_point - growth[cell] * q_point, growth[cell + 1] * q_point - p_point
                left, right = _at_most(less * rise * weight[cell]), _at_most(more * fall * weight[cell + 1])
                if (
                    min(left, right) > NEAR * max(left, right)
                    and min(more.rel_accuracy_bits(), less.rel_accuracy_bits()) >= GOOD_BITS
                ):
                    points_lower[cell : cell + 2] += left, right
                    spread_width = max(spread_width, width)
                else:
                    points_lower[cell] += _at_most(q_point * grown[cell])
                over, under, q_mass = over + more, under + less, q_mass + q_point
            whole_excess, whole_deficit = whole_excess + over, whole_deficit + under
            rows.append(row(over, under, q_mass, cell))
        spread[cell] += whole_deficit * rise * weight[cell]
        spread[cell + 1] += whole_excess * fall * weight[cell + 1]
    nothing = (arb(0), arb(0))
    spread[0] += (extra.get(-1, nothing)[0] + sides[0].p_below) * weight[0]
    above = extra.get(len(edges), nothing)[0] + sides[-1].p_above
    halves = np.array(rows)
    smooth = halves.copy()
    smooth[list(diffuse)] = list(diffuse.values()) or np.zeros((0, 4))
    shape = (4, len(places) - 1, 2)
    return Cells(
        upper=np.array([_at_least(mass) for mass in spread]),
        halves=Halves(*halves.T.reshape(shape)),
        diffuse=Halves(*smooth.T.reshape(shape)),
        points=points_lower,
        spread_width=spread_width,
        upper_infinity=points.p_infinity + above,
        lower_infinity=points.p_infinity,
    )


def _is_whole(law: Distribution, points: Points) -> bool:
    """True if the masses can add up to 1 on both sides, as far as the balls decide."""
    sides = law.sides([arb(0)])[0]
    p_mass = sum((mass for _, mass, _ in points.finite), sides.p_below + sides.p_above + points.p_infinity)
    q_mass = sum((mass for _, _, mass in points.finite), sides.q_below + sides.q_above + points.q_only)
    return bool(p_mass.overlaps(arb(1)) and q_mass.overlaps(arb(1)))


def _edges(raster: Raster) -> list[arb]:
    """The ends of cells and, between them, the middles."""
    start, half = ball(raster.offset), ball(raster.step / 2)
    places = [2 * raster.ends[0]]
    for left, right in pairwise(raster.ends):
        places += [left + right, 2 * right]
    return [start + half * place for place in places]


def _spread_factors(width: arb) -> tuple[arb, arb]:
    """1/(1 - e^-width) and 1/(e^width - 1)."""
    return -1 / (-width).expm1(), 1 / width.expm1()


def _by_half(points: Points, edges: Sequence[arb]) -> dict[int, tuple[arb, arb]] | None:
    """P and Q mass of the points by half cell, -1 and len(edges) for those outside; None when one lies on an edge."""
    near = [float(edge) for edge in edges]
    found: dict[int, tuple[arb, arb]] = {}
    for loss, p_mass, q_mass in points.finite:
        guess = bisect_right(near, float(loss))
        half = next((index for index in (guess, guess - 1, guess + 1) if _inside(loss, index, edges)), None)
        if half is None:
            return None
        key = half - 1 if 0 < half < len(edges) else -1 if half == 0 else len(edges)
        known = found.get(key, (arb(0), arb(0)))
        found[key] = (known[0] + p_mass, known[1] + q_mass)
    return found


def _inside(loss: arb, index: int, edges: Sequence[arb]) -> bool:
    """True if a loss certainly lies before edge number `index` and not before the one that precedes it."""
    if not 0 <= index <= len(edges):
        return False
    return bool((index == 0 or loss > edges[index - 1]) and (index == len(edges) or loss < edges[index]))


def _at_least(mass: arb) -> float:
    """A double at or above a mass that is not negative."""
    if mass.is_zero():
        return 0.0
    near = float(mass) if mass.rel_accuracy_bits() >= GOOD_BITS else float(mass.upper())
    return max(near * (1 + SLACK), SMALLEST)


def _at_most(mass: arb) -> float:
    """A double at or below a mass that is not negative."""
    near = float(mass) if mass.rel_accuracy_bits() >= GOOD_BITS else float(mass.lower())
    return near * (1 - SLACK) if near > SMALLEST and math.isfinite(near) else 0.0
