"""Pairs of datasets that a specification calls neighbours, checked in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.clauses import Clause, value
from dpaudit.promise import violation
from dpaudit.verifier.ir import ListOf, Parameter, Program, Relation, contract_of
from dpaudit.verifier.refuter.paths import Inputs
from dpaudit.verifier.terms import Sort

_TYPES: Final = {Sort.INT: int, Sort.REAL: Fraction, Sort.BOOL: bool}


@dataclass(frozen=True)
class InputPair:
    """Two datasets of one program, the first being the one on which an event is too likely."""

    first: Inputs
    second: Inputs

    def reversed(self) -> InputPair:
        """The same two the other way round."""
        return InputPair(self.second, self.first)


def is_admissible(program: Program, pair: InputPair) -> bool:
    """True if both datasets are allowed and neighbours in the direction first to second."""
    contract = contract_of(program)
    if not all(_typed(parameter, inputs) for parameter in program.parameters for inputs in (pair.first, pair.second)):
        return False
    changed = dict(contract.changes)
    same = all(pair.first[one.name] == pair.second[one.name] for one in program.parameters if one.name not in changed)
    if not same or any(len(pair.first[name]) != len(pair.second[name]) for name in changed):
        return False
    if any(violation(contract.promise, inputs) is not None for inputs in (pair.first, pair.second)):
        return False
    return all(_near(Relation(relation), bound.clause, pair, name) for name, relation, bound in contract.promise.changes)


def claim_values(program: Program, inputs: Inputs) -> tuple[Fraction, Fraction, Fraction]:
    """The claim's values on these data: epsilon, odds (epsilon + ln(odds) is the bound) and delta, or rho, 1 and 0."""
    promise = contract_of(program).promise
    claim, odds, delta = (Fraction(value(part, inputs)) for part in (promise.claim, promise.odds, promise.delta))
    return claim, odds, delta


def _typed(parameter: Parameter, inputs: Inputs) -> bool:
    """True if a value has exactly the type of its parameter."""
    given = inputs[parameter.name]
    if isinstance(parameter.sort, ListOf):
        return isinstance(given, tuple) and all(type(item) is _TYPES[parameter.sort.element] for item in given)
    return type(given) is _TYPES[parameter.sort]


def _near(relation: Relation, size: Clause, pair: InputPair, name: str) -> bool:
    """True if a list changes by no more than its relation allows."""
    bound = value(size, pair.first)
    moves = [after - before for before, after in zip(pair.first[name], pair.second[name], strict=True)]
    match relation:
        case Relation.ONE:
            return sum(move != 0 for move in moves) <= 1 and all(abs(move) <= bound for move in moves)
        case Relation.ALL:
            return all(abs(move) <= bound for move in moves)
        case Relation.INC:
            return all(0 <= move <= bound for move in moves)
        case Relation.DEC:
            return all(-bound <= move <= 0 for move in moves)
        case Relation.L1:
            return bool(sum(map(abs, moves)) <= bound)
        case Relation.L2:
            return bool(sum(move * move for move in moves) <= bound * bound)
    return False
