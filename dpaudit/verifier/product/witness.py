"""Real runs that lead to every output: what is proven about data or places that cannot be, means nothing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpaudit.verifier.interpreter import TooLong, Undefined, run
from dpaudit.verifier.ir import Draw, Invoke, ListOf, Program
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.obligations import Reached
from dpaudit.verifier.replay import Differs, Drawn, alike, python_run
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.terms import TRUE, Number, Sort, Term, apply, constant, equal, replaced, variable

LENGTHS: Final = (1, 2, 3, 5, 0)
"""Lengths of lists that are tried; loops get one round more."""


def unreached(program: Program, pairs: Neighbours) -> int | None:
    """The line of the first output to which no short run on valid data leads; None where all are reached.

    Args:
      program: the program.
      pairs: the neighbours, in one direction.
    """
    wanted: dict[int, None] = {}
    for length in LENGTHS:
        execution = Execution(program, pairs, {}, {}, rounds=length + 1)
        # Runs that fail are runs.
        execution.meter.cuts.clear()
        reached = execution.run().reached
        if length == LENGTHS[0]:
            wanted = {place.line: None for place in reached if place.kind == "out"}
        for place in reached:
            if place.line in wanted and _real(execution, place, length):
                del wanted[place.line]
        if not wanted:
            return None
    return min(wanted)


def _real(execution: Execution, place: Reached, length: int) -> bool:
    """Whether data of this length lead to a place, by a model that the interpreter follows there, and Python with it."""
    pairs = execution.pairs
    facts: list[Term] = [place.formula]
    for name, _ in pairs.elements:
        facts.append(equal(variable(f"len({name})", Sort.INT), constant(length)))
        for index in range(length):
            facts += pairs.at(name, constant(index))
    outcome = satisfiable(facts, seconds=2.0)
    if outcome.answer is not Answer.SAT or outcome.model is None:
        return False
    return place.line in tuple(_lines(execution, outcome.model, length))


def _lines(execution: Execution, model: Model, length: int) -> Iterator[int]:
    """The lines of outputs that a real run on a model's data and noise comes by; none if it does not meet what is required."""
    program = execution.program
    sorts = dict(execution.pairs.elements)
    inputs: dict[str, object] = {}
    for one in program.parameters:
        if isinstance(one.sort, ListOf):
            inputs[one.name] = [_typed(model, apply(one.name, (constant(index),), sorts[one.name])) for index in range(length)]
        else:
            inputs[one.name] = _typed(model, variable(one.name, one.sort))
    scalars = {one.name: one.sort for one in program.parameters if not isinstance(one.sort, ListOf)}
    symbols = {variable(name, sort): constant(_typed(model, variable(name, sort)), sort) for name, sort in scalars.items()}
    symbols |= {variable(f"len({name})", Sort.INT): constant(length) for name in sorts}
    noise = iter([_typed(model, noise) for noise, here in execution.drawn if model.value(here) is True])
    lines: list[int] = []

    drawn: list[Drawn] = []

    def draw(statement: Draw | Invoke, args: tuple[object, ...]) -> Number:
        value = next(noise)
        drawn.append(Drawn(statement, args, value))
        return value

    try:
        if all(replaced(clause, symbols) is TRUE for clause in execution.pairs.contract.requires):
            ended = run(program, inputs, draw=draw, emit=lambda statement, _: lines.append(statement.place.line))
            # Python itself must come to the same end on the same draws.
            if alike(ended, python_run(program, inputs, drawn)):
                yield from (*lines, ended.line)
    except (Undefined, TooLong, StopIteration, ZeroDivisionError, Differs):
        return


def _typed(model: Model, term: Term) -> Number:
    """A model's value as Python has it: what is REAL is a Fraction."""
    value = model.value(term)
    return Fraction(value) if term.sort is Sort.REAL else value
