"""Small datasets that a search for a counterexample begins with, and the values of the other parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from typing import Any, Final

from dpaudit.verifier.ir import Contract, ListOf, Parameter, Program, Relation, contract_of
from dpaudit.verifier.refuter.neighbours import InputPair, is_admissible
from dpaudit.verifier.refuter.paths import Inputs
from dpaudit.verifier.terms import Sort, Term, variables

LONGEST: Final = 10
"""Most elements of a list that are tried."""
_LEVELS: Final = (((),), ((0,), (1,), (-5,), (3,)), ((0, 0), (0, -5), (3, -5), (0, 3)))
"""Values of the elements by their number."""

EPSILONS: Final = (Fraction(1), Fraction(1, 10), Fraction(4))
_WHOLE: Final = (1, 2, 0, 3, -2, -1, 4, 10)
_REAL: Final = (Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2))
_FILLS: Final = (Fraction(0), None, Fraction(1), Fraction(1, 2))
"""Elements of public lists: all alike, or each its own place."""
_WINDOWS: Final = (3, 5, 7)
"""Lengths of lists of which the element in the middle changes."""
_ASSIGNMENTS: Final = 4
_ONE: Final = Fraction(1)
_MOST_PLACES: Final = 50_000


@dataclass(frozen=True)
class Column:
    """One element of the private lists: its value and how it changes, for each list."""

    levels: tuple[int | Fraction, ...]
    moves: tuple[Fraction, ...]


def pair_of(program: Program, scalars: Inputs, columns: tuple[Column, ...]) -> InputPair | None:
    """The datasets of scalars and columns, if the specification allows them."""
    contract = contract_of(program)
    sides: list[dict[str, Any]] = [{}, {}]
    names = [name for name, _ in contract.changes]
    for parameter in program.parameters:
        for side, inputs in enumerate(sides):
            inputs[parameter.name] = _argument(parameter, scalars, columns, names, moved=bool(side))
    pair = InputPair(*sides)
    try:
        return pair if is_admissible(program, pair) else None
    except (ArithmeticError, IndexError):
        return None


def _argument(parameter: Parameter, scalars: Inputs, columns: tuple[Column, ...], names: list[str], *, moved: bool) -> Any:
    """The value of a parameter on one of the two datasets."""
    if not isinstance(parameter.sort, ListOf):
        value = scalars[parameter.name]
        return len(columns) if value is None else value
    make = int if parameter.sort.element is Sort.INT else Fraction if parameter.sort.element is Sort.REAL else bool
    if parameter.name not in names:
        fill = scalars.get(parameter.name, 0)
        if isinstance(fill, tuple):
            # The list of the data that the search began from.
            return tuple(fill[min(place, len(fill) - 1)] for place in range(len(columns) if fill else 0))
        # Indices into a list may need one element more than there are columns.
        places = range(max(len(columns), 2 if fill is None else 0))
        return tuple(make(place if fill is None else fill) for place in places)
    index = names.index(parameter.name)
    return tuple(make(column.levels[index] + (column.moves[index] if moved else 0)) for column in columns)


def small_pairs(program: Program) -> Iterator[InputPair]:
    """Pairs of one or two elements."""
    for scalars in scalars_of(program, EPSILONS[0]):
        for columns in screened(contract_of(program), plain=True, least=shortest(program, scalars)):
            pair = pair_of(program, scalars, columns)
            if pair is not None:
                yield pair


def shortest(program: Program, scalars: Inputs) -> int:
    """The least number of columns that the specification allows, of those that are tried; 0 where none is."""
    still = _still(contract_of(program))
    lengths = (length for length in range(LONGEST + 1) if pair_of(program, scalars, (still,) * length) is not None)
    return next(lengths, 0)


def _still(contract: Contract) -> Column:
    """A column of zeros that do not change."""
    return Column((0,) * len(contract.changes), (Fraction(0),) * len(contract.changes))


def screened(contract: Contract, *, plain: bool, least: int) -> Iterator[tuple[Column, ...]]:
    """Short columns: those whose elements are all 0, or all others; `least` is how many the specification asks for."""
    if plain and least > 2:
        yield from _long(contract, least)
    for length in (1, 2, 0):
        for levels in _LEVELS[length][:1] if plain else _LEVELS[length][1:]:
            for signs in product((1, -1, 0), repeat=length):
                if any(signs) or not length:
                    full = _columns(contract, levels, signs)
                    yield full
                    # Where much may change, what is next to it may be what a program looks for.
                    small = tuple(replace(one, moves=tuple(max(-_ONE, min(move, _ONE)) for move in one.moves)) for one in full)
                    if small != full:
                        yield small
    if plain and any(change.relation is Relation.ONE for _, change in contract.changes):
        # What is computed of several elements may need some on both sides of the one that changes.
        for length in _WINDOWS:
            for sign in (1, -1):
                yield _columns(contract, (0,) * length, (*(0,) * (length // 2), sign, *(0,) * (length // 2)))


def _long(contract: Contract, length: int) -> Iterator[tuple[Column, ...]]:
    """Columns of zeros that all change, or one of them, or all others the other way."""
    for sign in (1, -1):
        yield _columns(contract, (0,) * length, (sign,) * length)
        for place in (0, length - 1, length // 2):
            for other in (0, -sign):
                yield _columns(contract, (0,) * length, (*(other,) * place, sign, *(other,) * (length - 1 - place)))


def _columns(contract: Contract, levels: tuple[int, ...], signs: tuple[int, ...]) -> tuple[Column, ...]:
    """Columns with these values, moved in these directions."""
    count, length = len(contract.changes), len(levels)
    return tuple(Column((level,) * count, _moves(contract, sign, length)) for level, sign in zip(levels, signs, strict=True))


def _moves(contract: Contract, sign: int, length: int) -> tuple[Fraction, ...]:
    """The move of an element of each list: as far as its relation lets all of them go."""
    bounds = [_bound(change.bound.value) for _, change in contract.changes]
    shared = [Fraction(1, length) if change.relation is Relation.L1 and length else Fraction(1) for _, change in contract.changes]
    return tuple(sign * bound * share for bound, share in zip(bounds, shared, strict=True))


def _bound(value: object) -> Fraction:
    """The size of a change; 1 where it is no constant."""
    return Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(1)


def scalars_of(program: Program, epsilon: Fraction) -> list[Inputs]:
    """Values of the scalar parameters that fulfil what is required for some short lists, the usual ones first.

    One that is tied to the length of a list by a requirement is None, which stands for that length.
    """
    contract = contract_of(program)
    in_claim = _names(contract.claim, contract.odds, contract.delta)
    clauses = [_names(clause) for clause in contract.requires]
    tied = {name for names in clauses if any(one.startswith("len(") for one in names) for name in names}
    sizes = {name for _, change in contract.changes if isinstance(change.bound, Term) for name in _names(change.bound)}
    choices: dict[str, tuple[Any, ...]] = {}
    for parameter in program.parameters:
        name = parameter.name
        if parameter.sort is Sort.BOOL:
            choices[name] = (False, True)
        elif parameter.sort is Sort.INT:
            choices[name] = (None, *_WHOLE) if name in tied else (*_WHOLE, None)
        elif parameter.sort is Sort.REAL:
            # A change of size 0 is none.
            choices[name] = (epsilon,) if name in in_claim else (Fraction(1), Fraction(4)) if name in sizes else _REAL
    # Last, so that they are varied first.
    sorts = {one.name: one.sort.element for one in program.parameters if isinstance(one.sort, ListOf)}
    choices |= {name: _FILLS if sorts[name] is Sort.REAL else _FILLS[:3] for name in contract.public}
    # Combinations by how far they are from the first of all choices, so that no parameter is varied before the others.
    places = sorted(islice(product(*(range(len(values)) for values in choices.values())), _MOST_PLACES), key=sum)
    # Parameters that are compared with each other differ.
    real = [name for name, values in choices.items() if values is _REAL]
    apart = tuple(real.index(name) % len(_REAL) if name in real else 0 for name in choices)
    places = list(dict.fromkeys((*places[:1], apart, *places)))
    found = ({name: values[at] for (name, values), at in zip(choices.items(), place, strict=True)} for place in places)
    most = _ASSIGNMENTS + 2 * len(contract.public)
    return list(islice((scalars for scalars in found if _is_possible(program, contract, scalars)), most))


def _names(*terms: Term) -> set[str]:
    """The names that occur."""
    return {str(one.value) for one in variables(*terms)}


def _is_possible(program: Program, contract: Contract, scalars: Inputs) -> bool:
    """True if lists of some short length go with these scalars."""
    still = _still(contract)
    return any(pair_of(program, scalars, (still,) * length) is not None for length in (2, 1, 0, *_WINDOWS, 4, 6))
