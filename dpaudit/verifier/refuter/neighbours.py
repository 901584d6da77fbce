"""Pairs of datasets that a specification calls neighbours, checked in exact numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.evaluation import value_of
from dpaudit.verifier.ir import EACH, Change, Contract, ListOf, Parameter, Program, Relation
from dpaudit.verifier.refuter.paths import Inputs
from dpaudit.verifier.terms import Sort, Term, variables

_TYPES: Final = {Sort.INT: int, Sort.REAL: Fraction, Sort.BOOL: bool}


@dataclass(frozen=True)
class InputPair:
    """Two datasets of one program, the first being the one on which an event is too likely."""

    first: Inputs
    second: Inputs

    def reversed(self) -> InputPair:
        """The same two the other way round."""
        return InputPair(self.second, self.first)


def contract_of(program: Program) -> Contract:
    """The promise of a program.

    Raises:
      ValueError: it has none.
    """
    if program.contract is None:
        raise ValueError(f"{program.name} carries no specification")
    return program.contract


def admissible(program: Program, pair: InputPair) -> bool:
    """Whether both datasets are allowed and neighbours in the direction first to second."""
    contract = contract_of(program)
    if not all(_typed(parameter, inputs) for parameter in program.parameters for inputs in (pair.first, pair.second)):
        return False
    changed = dict(contract.changes)
    same = all(pair.first[one.name] == pair.second[one.name] for one in program.parameters if one.name not in changed)
    if not same or any(len(pair.first[name]) != len(pair.second[name]) for name in changed):
        return False
    stated = all(_holds(clause, inputs) for inputs in (pair.first, pair.second) for clause in contract.requires)
    return (
        stated
        and all(_each(clause, inputs) for inputs in (pair.first, pair.second) for clause in contract.domain)
        and all(_near(change, pair, name) for name, change in contract.changes)
    )


def claimed(program: Program, inputs: Inputs) -> tuple[Fraction, Fraction, Fraction]:
    """What the promise is on these data: epsilon, odds (epsilon + ln(odds) is the bound) and delta, or rho, 1 and 0."""
    contract = contract_of(program)
    claim, odds, delta = (Fraction(value_of(term, inputs)) for term in _parts(contract))
    return claim, odds, delta


def _parts(contract: Contract) -> tuple[Term, Term, Term]:
    """The terms of a promise."""
    return contract.claim, contract.odds, contract.delta


def _typed(parameter: Parameter, inputs: Inputs) -> bool:
    """Whether a value has exactly the type of its parameter."""
    value = inputs[parameter.name]
    if isinstance(parameter.sort, ListOf):
        return isinstance(value, tuple) and all(type(item) is _TYPES[parameter.sort.element] for item in value)
    return type(value) is _TYPES[parameter.sort]


def _holds(clause: Term, inputs: Inputs, names: Mapping[str, Any] | None = None) -> bool:
    """Whether a clause is true of the data."""
    return bool(value_of(clause, {**inputs, **(names or {})}))


def _each(clause: Term, inputs: Inputs) -> bool:
    """Whether a clause about every element is true; outside the lists its premise is false."""
    if not any(str(one.value) == EACH for one in variables(clause)):
        return _holds(clause, inputs)
    longest = max((len(value) for value in inputs.values() if isinstance(value, tuple)), default=0)
    return all(_holds(clause, inputs, {EACH: index}) for index in range(longest))


def _near(change: Change, pair: InputPair, name: str) -> bool:
    """Whether a list changes by no more than its relation allows."""
    bound = value_of(change.bound, pair.first)
    moves = [after - before for before, after in zip(pair.first[name], pair.second[name], strict=True)]
    match change.relation:
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
