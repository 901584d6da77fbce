"""Multipliers by which rows, their products and squares add up to a contradiction (Farkas, Positivstellensatz)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, islice
from typing import Any, Final

from flint import fmpq_mat

from dpaudit.exact import fmpq_of
from dpaudit.extras import require
from dpaudit.verifier.fuel import interruptible, spend
from dpaudit.verifier.kernel.checker import MOST_FACTORS
from dpaudit.verifier.kernel.polynomials import UNIT, Monomial, Polynomial, Row, plus, times
from dpaudit.verifier.solving.limits import limit_z3

_ZERO: Final = Fraction(0)
_MOST_PARTS: Final = 400
"""The most products that are tried at once."""


@dataclass(frozen=True)
class _Part:
    """A polynomial that is at most 0 where the rows hold: a product of rows, a monomial and a square."""

    polynomial: Polynomial
    rows: tuple[int, ...]
    strict: bool
    free: bool
    monomial: Monomial = ()
    square: Polynomial | None = None


def linear(rows: Sequence[Row], seconds: float, context: Any) -> list[Any] | None:
    """The terms of a lemma that uses each row once; None where there is none."""
    parts = [_part(rows, (index,)) for index in range(len(rows))]
    found = _null_space(parts) or _by_simplex(parts, seconds, context)
    return None if found is None else _terms(parts, found)


def with_products(rows: Sequence[Row], seconds: float, context: Any) -> list[Any] | None:
    """The terms of a lemma with products of up to four rows, multiples of equalities and squares; None where none was found."""
    for degree in range(2, MOST_FACTORS + 1):
        parts = [_part(rows, chosen) for count in range(1, degree + 1) for chosen in _chosen(rows, count)]
        needed = {monomial for part in parts for monomial in part.polynomial}
        equalities = [index for index, (relation, _) in enumerate(rows) if relation == "="]
        parts += [part for index in equalities for part in _multiples(rows, index, needed, degree)]
        parts += _squares(rows, degree)
        found = _by_simplex(parts[:_MOST_PARTS], seconds, context)
        if found is not None:
            return _terms(parts, found)
    return None


def _chosen(rows: Sequence[Row], count: int) -> Iterator[tuple[int, ...]]:
    """Rows to be multiplied; equalities are multiplied by monomials instead."""
    inequalities = [index for index, (relation, _) in enumerate(rows) if relation != "="]
    return islice(combinations_with_replacement(inequalities if count > 1 else range(len(rows)), count), _MOST_PARTS)


def _part(rows: Sequence[Row], chosen: tuple[int, ...]) -> _Part:
    """The product of rows, with the sign that makes it at most 0."""
    spend()
    product: Polynomial = plus({}, UNIT, -1)
    for index in chosen:
        product = plus({}, times(product, rows[index][1]), -1)
    relations = [rows[index][0] for index in chosen]
    return _Part(product, chosen, strict=all(one == "<" for one in relations), free="=" in relations)


def _multiples(rows: Sequence[Row], index: int, needed: set[Monomial], degree: int) -> Iterator[_Part]:
    """An equality times the monomials by which its own become such as are needed."""
    own = rows[index][1]
    factors = {factor for monomial in needed for one in own if (factor := _divided(monomial, one))}
    for factor in sorted(factors, key=lambda one: (len(one), one)):
        spend()
        if len(factor) < degree:
            yield _Part(times(own, {factor: Fraction(1)}), (index,), strict=False, free=True, monomial=factor)


def _divided(first: Monomial, second: Monomial) -> Monomial | None:
    """The monomial by which the second becomes the first."""
    rest = list(first)
    for index in second:
        if index not in rest:
            return None
        rest.remove(index)
    return tuple(rest)


def _squares(rows: Sequence[Row], degree: int) -> Iterator[_Part]:
    """Squares of monomials, and of sums and differences of two, of half the degree."""
    monomials = {monomial for _, polynomial in rows for monomial in polynomial}
    indices = sorted({index for monomial in monomials for index in monomial})
    roots = [root for size in range(1, degree // 2 + 1) for root in combinations_with_replacement(indices, size)]
    roots = [root for root in roots if len(root) == 1 or len(set(root)) > 1]
    single = [{root: Fraction(1)} for root in roots]
    pairs = [plus({one: Fraction(1)}, {other: Fraction(sign)}) for one, other in combinations([(), *roots], 2) for sign in (-1, 1)]
    for root in islice([*single, *pairs], _MOST_PARTS // 2):
        yield _Part(plus({}, times(root, root), -1), (), strict=False, free=False, square=root)


def _null_space(parts: Sequence[_Part]) -> list[Fraction] | None:
    """The multipliers of rows none of which is superfluous: they are unique up to a factor, by elimination."""
    names = sorted({monomial for part in parts for monomial in part.polynomial if monomial})
    entries = [[fmpq_of(part.polynomial.get(name, _ZERO)) for part in parts] for name in names]
    table = [row for row in fmpq_mat(entries).rref()[0].tolist() if any(row)] if names else []
    spend()
    if len(table) != len(parts) - 1:
        return None
    pivots = [next(column for column, entry in enumerate(row) if entry) for row in table]
    (free,) = set(range(len(parts))) - set(pivots)
    found = [Fraction(int(column == free)) for column in range(len(parts))]
    for row, column in zip(table, pivots, strict=True):
        found[column] = Fraction(int(-row[free].p), int(row[free].q))
    for sign in (1, -1):
        signed = [sign * multiplier for multiplier in found]
        if _contradict(parts, signed):
            return signed
    return None


def _contradict(parts: Sequence[_Part], found: Sequence[Fraction]) -> bool:
    """True if the multipliers give 0 < 0, or a positive constant that is at most 0."""
    constant = sum((multiplier * part.polynomial.get((), 0) for part, multiplier in zip(parts, found, strict=True)), Fraction(0))
    strict = any(part.strict and multiplier > 0 for part, multiplier in zip(parts, found, strict=True))
    allowed = all(part.free or multiplier >= 0 for part, multiplier in zip(parts, found, strict=True))
    return allowed and (constant > 0 or (constant == 0 and strict))


def _by_simplex(parts: Sequence[_Part], seconds: float, context: Any) -> list[Fraction] | None:
    """Multipliers by z3's simplex method over the rational numbers."""
    require("proofs")
    import z3  # type: ignore[import-untyped]

    solver = z3.SolverFor("QF_LRA", ctx=context)
    limit_z3(solver, seconds)
    unknown = [z3.Real(f"x{index}", ctx=context) for index in range(len(parts))]
    by_monomial: dict[Monomial, list[Any]] = {(): []}
    for part, multiplier in zip(parts, unknown, strict=True):
        if not part.free:
            solver.add(multiplier >= 0)
        for monomial, coefficient in part.polynomial.items():
            by_monomial.setdefault(monomial, []).append(z3.RealVal(str(coefficient), ctx=context) * multiplier)
    constant = z3.Sum([z3.RealVal(0, ctx=context), *by_monomial.pop(())])
    strict = [multiplier for part, multiplier in zip(parts, unknown, strict=True) if part.strict]
    solver.add(constant >= 0, z3.Sum([constant, *strict]) >= 1)
    for products in by_monomial.values():
        solver.add(z3.Sum([z3.RealVal(0, ctx=context), *products]) == 0)
    with interruptible(context):
        answer = solver.check()
    if answer != z3.sat:
        return None
    model = solver.model()
    values = [model.eval(multiplier, model_completion=True) for multiplier in unknown]
    return [Fraction(value.numerator_as_long(), value.denominator_as_long()) for value in values]


def _terms(parts: Sequence[_Part], found: Sequence[Fraction]) -> list[Any]:
    """The terms of a lemma as they are written; the multiples of one equality are one term."""
    terms: list[Any] = []
    multiples: dict[tuple[int, ...], list[Any]] = {}
    for part, multiplier in zip(parts, found, strict=False):
        if multiplier and part.free and len(part.rows) == 1:
            multiples.setdefault(part.rows, []).append([str(multiplier), list(part.monomial)])
        elif multiplier:
            terms.append([str(multiplier), list(part.rows), *([] if part.square is None else [polynomial_rows(part.square)])])
    for rows, entries in multiples.items():
        plain = len(entries) == 1 and not entries[0][1]
        terms.append([entries[0][0] if plain else entries, list(rows)])
    return terms


def polynomial_rows(polynomial: Polynomial) -> list[Any]:
    """A polynomial as the kernel reads it."""
    return [[str(coefficient), list(monomial)] for monomial, coefficient in sorted(polynomial.items())]
