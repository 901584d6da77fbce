"""Vectors that move within a ball: along single coordinates, all at once, and halves against each other."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from dpaudit.auditor.pairs.relations import Edit
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, class_name
from dpaudit.exact import rational

_ROOT_BITS: Final = 40


def vector_edits(data: Any, adjacency: Adjacency) -> Iterator[Edit]:
    """The vector moved by the radius in the directions in which private vectors usually show."""
    values = entries_of(data)
    if values is None:
        raise InvalidArgument(
            "DPA105", f"data= under {adjacency} must be a number or a vector of numbers, got a {class_name(type(data))}."
        )
    if not values:
        raise InvalidArgument("DPA109", "data= is a vector without entries. Give at least one.")
    whole = all(isinstance(value, numbers.Integral) for value in values)
    for weights in _directions(values, adjacency.norm or "l1"):
        steps = within_ball(weights, adjacency)
        moved = [place for place, step in enumerate(steps) if step]
        if (
            whole
            and any(step.denominator != 1 for step in steps)
            and any(step.denominator == 1 for step in (rational(adjacency.radius or 1),))
        ):
            continue  # counts stay counts where they can
        span = f"entry {moved[0]}" if len(moved) == 1 else f"{len(moved)} entries from {moved[0]} to {moved[-1]}"
        signs = f"{sum(step > 0 for step in steps)} up, {sum(step < 0 for step in steps)} down"
        yield partial(move_vector, data, steps), f"{span} of {len(steps)} moved ({signs})"


def entries_of(data: Any) -> list[Any] | None:
    """The numbers of a vector, or a single number; None for anything else."""
    if isinstance(data, np.ndarray):
        return data.tolist() if data.ndim == 1 and data.dtype.kind in "biuf" else None
    entries = list(data) if isinstance(data, (list, tuple)) else [data]
    return entries if all(isinstance(entry, numbers.Real) for entry in entries) else None


def within_ball(weights: Sequence[int], adjacency: Adjacency) -> list[Fraction]:
    """The longest step in the direction of some whole weights that stays within the ball, exact; for l2 just inside it."""
    radius = rational(adjacency.radius or 1)
    if adjacency.norm == "linf":
        length = Fraction(max(map(abs, weights)))
    elif adjacency.norm == "l2":
        square = sum(weight * weight for weight in weights)
        root = math.isqrt(square << 2 * _ROOT_BITS)
        length = Fraction(root + (root * root != square << 2 * _ROOT_BITS), 1 << _ROOT_BITS)
    else:
        length = Fraction(sum(map(abs, weights)))
    return [radius * weight / length for weight in weights]


def move_vector(data: Any, steps: Sequence[Fraction]) -> Any:
    """The vector with a step added to each entry; whole numbers stay whole where the step is, else they become floats."""
    values = entries_of(data) or []
    moved = [value if not step else _sum(value, step) for value, step in zip(values, steps, strict=True)]
    if isinstance(data, np.ndarray):
        return np.array(moved, dtype=np.result_type(data.dtype, np.asarray(moved)))
    return type(data)(moved) if isinstance(data, (list, tuple)) else moved[0]


def _sum(value: Any, step: Fraction) -> int | float:
    """A number moved by an exact step, never by more; NaN and infinities stay what they are."""
    if isinstance(value, numbers.Integral) and step.denominator == 1:
        return int(value) + int(step)
    if not isinstance(value, numbers.Integral) and not math.isfinite(value):
        return float(value)
    exact = Fraction(int(value)) if isinstance(value, numbers.Integral) else Fraction(float(value))
    moved = float(exact + step)
    return moved if abs(Fraction(moved) - exact) <= abs(step) else math.nextafter(moved, math.copysign(math.inf, -step))


def _directions(values: Sequence[Any], norm: str) -> Iterator[tuple[int, ...]]:
    """Directions as whole weights, each once, the most telling first."""
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
