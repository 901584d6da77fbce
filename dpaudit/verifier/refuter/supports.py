"""Outputs that only one of two datasets can give: affine images of continuous noise that do not coincide.

On a path the continuous outputs are A x + b for the draws x, so they lie in the affine space b + image(A), and where the path's
conditions leave the draws any room they have a density on it. If no path on the other dataset with the same discrete outputs has
that very space, then what is left of it after taking out its intersections with the other dataset's spaces (each of smaller
dimension, or the whole of a larger space in which this one has probability 0) is an event of positive probability on the first
dataset and of probability 0 on the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import fmpq, fmpq_mat

from dpaudit.exact import ball_endpoints, working_precision
from dpaudit.verifier.ir import Program
from dpaudit.verifier.refuter.events import BITS
from dpaudit.verifier.refuter.forms import Blur, Form
from dpaudit.verifier.refuter.neighbours import InputPair
from dpaudit.verifier.refuter.paths import Path, Undecided, paths_of
from dpaudit.verifier.refuter.regions import mass_of
from dpaudit.verifier.replay import fraction

Pattern: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Space:
    """All outputs whose continuous parts fulfil linear equations, each row its factors and then what they add up to.

    `pattern` says what the discrete parts are, with their types, and where the continuous ones stand.
    """

    pattern: Pattern
    equations: Rows


def lonely_space(program: Program, pair: InputPair) -> tuple[Space, Fraction] | None:
    """A space that has positive probability on the first dataset and none on the second but for smaller parts of it."""
    known = {space for path in paths_of(program, pair.second) for space in spaces_of(path)}
    with working_precision(BITS):
        for path in paths_of(program, pair.first):
            for space in spaces_of(path):
                if space in known or not space.equations:
                    continue
                mass = ball_endpoints(path.weight * mass_of(path.noises, path.conditions))[0]
                if mass > 0:
                    return space, Fraction(mass)
    return None


def spaces_of(path: Path) -> Iterator[Space]:
    """The space of a path's outputs; none for a path without continuous outputs."""
    leaves = [leaf for value in path.values for leaf in (value if isinstance(value, tuple) else (value,))]
    forms = [leaf for leaf in leaves if isinstance(leaf, Form)]
    if any(isinstance(leaf, Blur) for leaf in leaves):
        raise Undecided("an output is not linear in the draws")
    if not forms:
        return
    if any(noise.whole for noise in path.noises.values()):
        raise Undecided("the draws are not all continuous")
    shape = tuple(len(value) if isinstance(value, tuple) else -1 for value in path.values)
    pattern = (shape, *((type(leaf).__name__, None if isinstance(leaf, Form) else leaf) for leaf in leaves))
    yield Space(pattern, _equations(forms))


def _equations(forms: list[Form]) -> Rows:
    """The equations that hold between forms whatever the draws are, in reduced echelon form."""
    draws = sorted({place for form in forms for place in form.factors})
    entries = [[form.factors.get(place, fmpq()) for place in draws] for form in forms]
    # The left null space of the factors: row-reduce them beside the identity.
    identity = [[fmpq(int(row == column)) for column in range(len(forms))] for row in range(len(forms))]
    reduced, _ = fmpq_mat([[*one, *two] for one, two in zip(entries, identity, strict=True)]).rref()
    free = [row for row in reduced.tolist() if not any(row[: len(draws)])]
    if not free:
        return ()
    sums = [sum((share * form.start for share, form in zip(row[len(draws) :], forms, strict=True)), fmpq(0)) for row in free]
    canonical, _ = fmpq_mat([[*row[len(draws) :], total] for row, total in zip(free, sums, strict=True)]).rref()
    return tuple(tuple(map(fraction, row)) for row in canonical.tolist())
