"""The probability that noise fulfils linear conditions which tie the draws together like a tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from flint import arb, fmpq

from dpaudit.verifier.refuter.forms import Condition, Form
from dpaudit.verifier.refuter.paths import Noise, Undecided
from dpaudit.verifier.refuter.pieces import Density, Function, Line

_PAIR: Final = 2
"""Draws that may stand in one condition."""


@dataclass(frozen=True)
class _Bound:
    """A draw is below a line in another draw, or from it on, with whole ends where it is an integer."""

    line: Line
    upper: bool


def mass_of(noises: Mapping[int, Noise], conditions: tuple[Condition, ...]) -> arb:
    """The probability that the draws fulfil the conditions, as a ball."""
    densities: dict[int, Density] = {place: noise.density for place, noise in noises.items()}
    left = _split(noises, conditions)
    # A linear condition on continuous noise holds with probability 0.
    if any(condition.relation == "==" for condition in left):
        return arb(0)
    while True:
        left = _cut_all(noises, densities, left)
        if all(len(condition.form.factors) <= _PAIR for condition in left) or not _is_gathered(noises, densities, left):
            break
    ties: dict[frozenset[int], list[Condition]] = {}
    chain = _chained(noises, left)
    if chain is None:
        return arb(0)
    for condition in chain:
        ties.setdefault(frozenset(condition.form.factors), []).append(condition)
    if any(len(tie) > 2 for tie in ties):
        raise Undecided("three draws stand in one condition")
    return _eliminated(noises, densities, ties)


def _cut_all(noises: Mapping[int, Noise], densities: dict[int, Density], conditions: list[Condition]) -> list[Condition]:
    """Cut the densities by the conditions on one draw alone; the others are left."""
    left = []
    for condition in conditions:
        if len(condition.form.factors) == 1:
            (place,) = condition.form.factors
            densities[place] = _cut(densities[place], _bound(condition, place, None, noises[place]))
        else:
            left.append(condition)
    return left


def _chained(noises: Mapping[int, Noise], conditions: list[Condition]) -> list[Condition] | None:
    """The conditions without those that others together say, as a < b and b < c say a < c; None where they exclude each other.

    What sorting leaves is a chain then, and no circle. Only differences of draws on the line are looked at: there an end more or
    less has probability 0.
    """
    edges: dict[tuple[int, int], fmpq] = {}
    for condition in conditions:
        factors = condition.form.factors
        low = next((place for place, factor in factors.items() if factor > 0), None)
        high = next((place for place, factor in factors.items() if factor < 0), None)
        if low is None or high is None or len(factors) > _PAIR or factors[low] != -factors[high] or noises[low].whole:
            return conditions
        # The first is less than the second and this much.
        edges[low, high] = min(-condition.form.start / factors[low], edges.get((low, high), -condition.form.start / factors[low]))
    if any((way := _shortest(edges, place, place, None)) is not None and way <= 0 for place, _ in edges):
        return None
    for edge, room in list(edges.items()):
        if (way := _shortest(edges, *edge, edge)) is not None and way <= room:
            del edges[edge]
    return [Condition(Form({low: fmpq(1), high: fmpq(-1)}, -room), "<") for (low, high), room in edges.items()]


def _shortest(edges: Mapping[tuple[int, int], fmpq], start: int, end: int, left_out: tuple[int, int] | None) -> fmpq | None:
    """The smallest sum of edges from one draw to another, at least one edge; None where there is no way."""
    given = [(edge, room) for edge, room in edges.items() if edge != left_out]
    found = {high: room for (low, high), room in given if low == start}
    for _ in given:
        for (low, high), room in given:
            if low in found and found[low] + room < found.get(high, found[low] + room + 1):
                found[high] = found[low] + room
    return found.get(end)


def _is_gathered(noises: Mapping[int, Noise], densities: dict[int, Density], conditions: list[Condition]) -> bool:
    """Make one draw of two that are left in one sum alone, its density theirs folded; False where there are no such two."""
    pair = _companions(noises, densities, conditions)
    if pair is None:
        return False
    first, second, ratio = pair
    one, two = densities[first], densities.pop(second)
    assert isinstance(one, Function)  # noqa: S101 - for the type checker: `_companions` looked
    assert isinstance(two, Function)  # noqa: S101
    densities[first] = one.convolved(two.stretched(ratio))
    for place, condition in enumerate(conditions):
        factors = {draw: factor for draw, factor in condition.form.factors.items() if draw != second}
        conditions[place] = replace(condition, form=Form(factors, condition.form.start))
    return True


def _companions(
    noises: Mapping[int, Noise], densities: Mapping[int, Density], conditions: list[Condition]
) -> tuple[int, int, fmpq] | None:
    """Two draws on the line that occur in the same conditions, the second always with the same multiple of the first's factor."""
    largest = max(conditions, key=lambda condition: len(condition.form.factors)).form.factors
    plain = [place for place in sorted(largest) if isinstance(densities[place], Function) and not noises[place].whole]
    for position, first in enumerate(plain):
        for second in plain[position + 1 :]:
            ratio = largest[second] / largest[first]
            factors = ((one.form.factors.get(first, fmpq()), one.form.factors.get(second, fmpq())) for one in conditions)
            if all(other == ratio * one for one, other in factors):
                return first, second, ratio
    return None


def _split(noises: Mapping[int, Noise], conditions: tuple[Condition, ...]) -> list[Condition]:
    """Conditions in which an equality of lattice noise is two inequalities; draws of both kinds never meet."""
    found = []
    for condition in conditions:
        kinds = {noises[place].whole for place in condition.form.factors}
        if len(kinds) > 1:
            raise Undecided("lattice and continuous noise stand in one condition")
        if condition.relation == "==" and kinds == {True}:
            opposite = Condition(condition.form, "<").negated()
            found += [Condition(condition.form, "<="), *([] if opposite is None else [opposite])]
        else:
            found.append(condition)
    return found


def _eliminated(noises: Mapping[int, Noise], densities: dict[int, Density], ties: dict[frozenset[int], list[Condition]]) -> arb:
    """Integrate one draw after the other, leaves of the tree first."""
    if _has_circle(ties):
        raise Undecided("the conditions tie the draws together in a circle")
    while ties:
        leaf, tie = next((place, tie) for tie in ties for place in sorted(tie) if sum(place in other for other in ties) == 1)
        (rest,) = tie - {leaf}
        bounds = [_bound(condition, leaf, rest, noises[leaf]) for condition in ties.pop(tie)]
        inner = densities.pop(leaf).between(
            tuple(bound.line for bound in bounds if not bound.upper), tuple(bound.line for bound in bounds if bound.upper)
        )
        densities[rest] = densities[rest].times(inner)
    return reduce(arb.__mul__, (density.total() for density in densities.values()), arb(1))


def _has_circle(ties: Mapping[frozenset[int], object]) -> bool:
    """True if the graph of ties is no forest."""
    owner: dict[int, int] = {}

    def root(place: int) -> int:
        while owner.setdefault(place, place) != place:
            place = owner[place]
        return place

    for tie in ties:
        one, other = (root(place) for place in sorted(tie))
        if one == other:
            return True
        owner[one] = other
    return False


def _bound(condition: Condition, place: int, other: int | None, noise: Noise) -> _Bound:
    """A condition solved for one draw."""
    factor = condition.form.factors[place]
    slope = -condition.form.factors[other] / factor if other is not None else fmpq()
    start, upper, strict = -condition.form.start / factor, factor > 0, condition.relation == "<"
    if noise.whole:
        if slope.q != 1:
            raise Undecided("lattice noises stand in a condition with a ratio that is not whole")
        # Half-open intervals: below an upper end that is itself left out, from a lower end on.
        start = fmpq(start.ceil() if strict is upper else start.floor() + 1)
    return _Bound(Line(slope, start), upper)


def _cut(density: Density, bound: _Bound) -> Density:
    """A density on one side of a number."""
    return density.within(None, bound.line.start) if bound.upper else density.within(bound.line.start, None)
