"""Causes that show in single values: atoms, ends, grids, digits, and noise that several numbers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.diagnosis.noise import Vector, is_cut, step_of
from dpaudit.auditor.diagnosis.twins import Twins
from dpaudit.results import Diagnosis

_FEWEST: Final = 4
"""A value that comes this often, where the others come at most a third as often, was not drawn from continuous noise."""

_ROUNDING: Final = 1e-9
_REPEATED: Final = 0.8
"""So many different outputs among the runs, or fewer, show that continuous noise was drawn from a short list."""


@dataclass(frozen=True)
class Atom:
    """A value that comes often on one dataset and never on the other, among values that come once; `end` if none is beyond it."""

    value: float
    end: bool


def atoms_of(values: Vector, others: Vector) -> list[Atom] | None:
    """Values of one sample that come again and again, and never in the other; None where repeated values are the rule.

    An end that the other sample does not go beyond either may be a public bound, and is left out.
    """
    found, counts = np.unique(values, return_counts=True)
    if np.count_nonzero(counts == 1) < max(len(values) // 25, _FEWEST):
        return None
    often, rest = found[counts >= _FEWEST], counts[counts < _FEWEST].max()
    if len(often) > 4 or (len(often) and rest > counts[counts >= _FEWEST].min() // 3):
        return None
    alone = [float(value) for value in often if not (others == value).any()]
    beyond = {float(found[0]): others.min() < found[0], float(found[-1]): others.max() > found[-1]}
    return [Atom(value, value in beyond) for value in alone if beyond.get(value, True)]


def name_atom(twins: Twins, moves: Vector | None) -> Diagnosis | None:
    """Name the cause where single values come again and again on one dataset only."""
    found = [atoms_of(*sides) for x, y in zip(twins.first.T, twins.second.T, strict=True) for sides in ((x, y), (y, x))]
    atoms = [atom for one in found if one is not None for atom in one]
    if not atoms:
        return None
    if not any(atom.end for atom in atoms):
        return Diagnosis(
            "bare",
            "Among values with noise one value comes again and again, another one on each dataset: some runs add no noise.",
            "Add the noise on every path through the function, and round or clip only the noisy value.",
        )
    if not all(atom.end for atom in atoms):
        return None
    return name_ends() if moves is not None else _clamped()


def name_ends() -> Diagnosis:
    """The noise itself has ends."""
    return Diagnosis(
        "cut",
        "The noise never goes beyond a bound, so that outputs next to it come from one of the datasets only.",
        "Do not cut the noise. Clip the noisy output to public bounds instead, or claim the delta that the cut costs.",
    )


def _clamped() -> Diagnosis:
    """The output is clipped to bounds that the data decide."""
    return Diagnosis(
        "clamped",
        "The output is clipped, after the noise, to bounds that depend on the data: the bound itself comes out again and again.",
        "Clip to public bounds, or not at all.",
    )


def name_shared(twins: Twins, moves: Vector) -> Diagnosis | None:
    """Name the cause where the difference of two numbers is the same in every run, but not on both datasets."""
    for left in range(len(moves)):
        rest = twins.first - twins.first[:, [left]]
        size = np.abs(twins.first).max(initial=1e-300)
        fixed: NDArray[np.bool_] = np.ptp(rest, axis=0) <= _ROUNDING * size
        varies = np.ptp(twins.first, axis=0) > _ROUNDING * size
        if (fixed & varies & (np.abs(moves - moves[left]) > 1e3 * _ROUNDING * size)).any():
            return Diagnosis(
                "shared noise",
                "Numbers of the output share one draw of noise: their difference is the same in every run, and it has no noise.",
                "Draw noise for each number on its own, and let the generator go on instead of seeding it again.",
            )
    return None


def name_grid(twins: Twins, moves: Vector) -> Diagnosis | None:
    """Name the cause where outputs lie on the same grid on both datasets, but not on the same places of it."""
    for x, y, move in zip(twins.first.T, twins.second.T, moves.tolist(), strict=True):
        steps = step_of(x), step_of(y)
        if None in steps or not move:
            continue
        step = float(steps[0] or 1)
        if abs(step - float(steps[1] or 1)) < 1e-6 * step and abs(move / step - round(move / step)) > 1e-6:
            return Diagnosis(
                "grid",
                "The noise lies on a grid that the value does not lie on: what the value has between grid points comes out bare.",
                "Round the noisy value, not the noise, or draw the noise on the grid that the values lie on.",
            )
    return None


def name_few(twins: Twins, moves: Vector) -> Diagnosis | None:
    """Name the digits of the noise as the cause where it takes few values and the two datasets share none of their outputs.

    What they have in common they miss by less than the noise moves an output, so that wide noise would have them meet.
    """
    x, y = ({row.tobytes() for row in side} for side in (twins.first, twins.second))
    near = np.abs(moves) <= np.ptp(twins.first, axis=0) / 2
    few = max(len(x), len(y)) <= _REPEATED * len(twins)
    return _digits() if few and near.all() and not x & y and all(step_of(column) is None for column in twins.first.T) else None


def name_digits(twins: Twins, moves: Vector, cost: float, scale: float, proven: float) -> Diagnosis | None:
    """Name the cause where the law of the noise keeps the claim, and what is proven is far beyond its cost."""
    if len(moves) != 1 or proven < 1.25 * cost or is_cut(twins.first[:, 0], scale):
        return None
    x, y = twins.first[:, 0], twins.second[:, 0]
    if step_of(x) is not None or np.intersect1d(x, y).size:
        return None
    return _digits()


def _digits() -> Diagnosis:
    """The noise is right in its leading digits only."""
    return Diagnosis(
        "digits",
        "The noise is right in its leading digits only: of the floating-point numbers that one dataset can give, most are out "
        "of reach of the other.",
        "Use integer or lattice noise, as the mechanisms of dpaudit do, or round the noisy value to a public grid.",
    )
