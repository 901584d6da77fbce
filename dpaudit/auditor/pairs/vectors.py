"""Vectors that move within a ball: along single coordinates, all at once, halves against each other, and tied ones."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.distance import distance_exceeds
from dpaudit.auditor.data.records import is_dataset, replace_records, same
from dpaudit.auditor.pairs.relations import Edit, Part, Pieces
from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError, InvalidArgument, class_name
from dpaudit.exact import rational

_ROOT_BITS: Final = 40
"""Bits of a square root after the point: an l2 step falls short of the radius by less than one part in 2**40."""

_MOVES: Final = 2
"""Moves of each tied vector; the pairs of the vector itself come first and share the runs with them."""


def vectors_apart(first: Any, second: Any, adjacency: Adjacency) -> str:
    """Say what is wrong with two vectors, empty if nothing is or can be decided."""
    try:
        outside = distance_exceeds(first, second, adjacency.norm or "l1", rational(adjacency.radius or 0))
    except DpauditError:
        return ""
    return "the two vectors are further apart" if outside else ""


def vector_edits(data: Any, adjacency: Adjacency) -> Iterator[Edit]:
    """Move the vector by the radius in the directions in which private vectors usually differ."""
    values = entries_of(data)
    if values is None:
        raise InvalidArgument(
            "DPA105", f"data= under {adjacency} must be a number or a vector of numbers, got a {class_name(type(data))}."
        )
    if not values:
        raise InvalidArgument("DPA109", "data= is a vector without entries. Give at least one.")
    # Counts stay counts where they can: a query of counts may refuse or round other numbers.
    counts = all(isinstance(value, numbers.Integral) for value in values) and rational(adjacency.radius or 1).denominator == 1
    for weights in _directions(values, adjacency.norm or "l1"):
        steps = within_ball(weights, adjacency)
        if counts and any(step.denominator != 1 for step in steps):
            continue
        moved = [place for place, step in enumerate(steps) if step]
        span = f"entry {moved[0]}" if len(moved) == 1 else f"{len(moved)} entries from {moved[0]} to {moved[-1]}"
        signs = f"{sum(step > 0 for step in steps)} up, {sum(step < 0 for step in steps)} down"
        yield partial(move_vector, data, steps), f"{span} of {len(steps)} moved ({signs})"


def vector_parts(data: Any, adjacency: Adjacency) -> Iterator[Part]:
    """Vectors whose entries are all the largest or all the smallest one, moved a little."""
    values = entries_of(data) or []
    if len(values) < 2 or not all(map(is_finite, values)):
        return
    for end in dict.fromkeys((max(values), min(values))):
        steps = [rational(end) - rational(value) for value in values]
        if any(steps):
            tied = move_vector(data, steps)
            for make, text in islice(vector_edits(tied, adjacency), _MOVES):
                yield tied, make(), f"{text}, all entries as entry {values.index(end)}"


def vector_pieces(first: Any, second: Any) -> Pieces:
    """The entries of a vector that moved; without one the vector stays where it was there."""
    moved = [place for place in range(len(first)) if not same(first[place], second[place])] if is_dataset(first) else []
    return len(moved), lambda kept: (first, replace_records(first, {moved[place]: second[moved[place]] for place in kept})), ()


def entries_of(data: Any) -> list[Any] | None:
    """The numbers of a vector, or a number alone; None for anything else."""
    if isinstance(data, np.ndarray):
        return data.tolist() if data.ndim == 1 and data.dtype.kind in "biuf" else None
    entries = list(data) if isinstance(data, (list, tuple)) else [data]
    return entries if all(isinstance(entry, numbers.Real) for entry in entries) else None


def within_ball(weights: Sequence[int], adjacency: Adjacency) -> list[Fraction]:
    """The longest step in the direction of integer weights that stays within the ball, exact; for l2 just inside it."""
    radius = rational(adjacency.radius or 1)
    if adjacency.norm == "linf":
        length = Fraction(max(map(abs, weights)))
    elif adjacency.norm == "l2":
        square = sum(weight * weight for weight in weights)
        root = math.isqrt(square << 2 * _ROOT_BITS)
        # Rounded up, so that the step is at most as long as the radius.
        length = Fraction(root + (root * root != square << 2 * _ROOT_BITS), 1 << _ROOT_BITS)
    else:
        length = Fraction(sum(map(abs, weights)))
    return [radius * weight / length for weight in weights]


def move_vector(data: Any, steps: Sequence[Fraction]) -> Any:
    """Add a step to each entry of a vector; integers stay integers where the step is one, else they become floats."""
    values = entries_of(data) or []
    moved = [value if not step else _sum(value, step) for value, step in zip(values, steps, strict=True)]
    if isinstance(data, np.ndarray):
        return np.array(moved, dtype=np.result_type(data.dtype, np.asarray(moved)))
    return type(data)(moved) if isinstance(data, (list, tuple)) else moved[0]


def is_finite(value: Any) -> bool:
    """True if a number is neither NaN nor infinite; integers may be too large for a float."""
    return isinstance(value, numbers.Rational) or math.isfinite(value)


def _sum(value: Any, step: Fraction) -> int | float:
    """Move a number by an exact step, never by more; NaN and infinities stay what they are."""
    if isinstance(value, numbers.Integral) and step.denominator == 1:
        return int(value) + int(step)
    if not is_finite(value):
        return float(value)
    exact = Fraction(int(value)) if isinstance(value, numbers.Integral) else Fraction(float(value))
    moved = float(exact + step)
    return moved if abs(Fraction(moved) - exact) <= abs(step) else math.nextafter(moved, math.copysign(math.inf, -step))


def _directions(values: Sequence[Any], norm: str) -> Iterator[tuple[int, ...]]:
    """Directions as integer weights, each once, the most promising first."""
    size, half = len(values), len(values) // 2
    single = dict.fromkeys([0, size - 1, values.index(max(values)), values.index(min(values)), half])
    alone = [tuple(sign * (place == one) for place in range(size)) for one in single for sign in (1, -1)]
    together = [(1,) * size, (-1,) * size]
    if size > 1:
        halves = tuple(1 if place < half else -1 for place in range(size))
        turns = tuple(1 - 2 * (place % 2) for place in range(size))
        ends = tuple(1 if place else -1 for place in range(size))
        spread = (halves, ends, turns)
        mirror = tuple((values[-1 - place] > values[place]) - (values[-1 - place] < values[place]) for place in range(size))
        together += [weights for one in (mirror, *spread) if any(one) for weights in (one, tuple(-weight for weight in one))]
        together += [tuple(int(place < half) for place in range(size)), tuple(int(place >= half) for place in range(size))]
    yield from dict.fromkeys([*together, *alone] if norm == "linf" else [*alone, *together])
