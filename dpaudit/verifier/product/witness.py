"""Checks against vacuous proofs: real neighbours, and real runs that reach every output.

A solver proposes neighbours that differ in a given list, lengths being unknowns; they count only if the clauses and the relation
hold of their exact values and Python itself runs the program on both to an end. The relations are their own reverse, or are proven
both ways, so that a pair stands for changes of either sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from dpaudit.clauses import OutsideLists
from dpaudit.promise import violation
from dpaudit.verifier.interpreter import TooLong, Undefined, run
from dpaudit.verifier.ir import ON_LATTICE, Draw, Invoke, Law, ListOf, Program
from dpaudit.verifier.product.adjacency import Neighbours, neighbours
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.obligations import Reached
from dpaudit.verifier.product.statements import execute
from dpaudit.verifier.refuter.neighbours import InputPair, is_admissible
from dpaudit.verifier.replay import Differs, Drawn, is_same_end, python_run
from dpaudit.verifier.solving import Answer, Session, satisfiable
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.terms import (
    FALSE,
    TRUE,
    ZERO,
    Number,
    Sort,
    Term,
    conjunction,
    constant,
    disjunction,
    equal,
    length,
    less,
    less_equal,
    negation,
    variable,
)

LONGEST: Final = 64
"""The longest lists that are tried."""
VACUOUS: Final = "vacuous: no two different neighbours meet the specification"
_SHAPES: Final = 12
"""The most lengths that are tried, the smallest first."""
_SECONDS: Final = 2.0
_SMALL: Final = 64
"""Integer parameters up to this size are tried first, so that loops over them end soon."""
_LARGE: Final = 10**6
_TAPES: Final[tuple[Callable[[int], int], ...]] = (
    lambda _: 0,
    lambda _: 1,
    lambda _: -1,
    lambda _: _LARGE,
    lambda _: -_LARGE,
    lambda place: _LARGE if place % 2 else -_LARGE,
    lambda place: -_LARGE if place % 2 else _LARGE,
    lambda place: place,
)
"""Noise by its number in the run: none, a little, much, and in turns, which reaches most outputs without a solver."""


@dataclass(frozen=True)
class Empty:
    """The reason why a proof may say nothing."""

    reason: str
    line: int = 0  # of the output that no run reaches, else 0
    certain: bool = False  # whether it is shown that no two neighbours differ; nothing needs to be looked for then


@dataclass
class Witnesses:
    """Neighbours of a program that were found, and the lines of outputs that real runs on their data reached."""

    program: Program
    pairs: list[InputPair] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)


def witnesses(program: Program) -> Witnesses | Empty:
    """Find, for each private list, two neighbours that differ in it and on which Python runs the program to an end."""
    found, meaning = Witnesses(program), neighbours(program)
    several = len(meaning.contract.changes) > 1
    for name, _ in meaning.contract.changes:
        shapes = islice(_shapes(meaning, name), _SHAPES)
        empty = True
        for pair in (pair for shape in shapes for pair in _differing(program, meaning, name, shape)):
            empty = False
            lines = [_lines(program, side) for side in (pair.first, pair.second)]
            if all(lines):
                found.pairs.append(pair)
                found.lines.update(*lines)
                break
        else:
            never = "vacuity: no run by Python on two different neighbours came to an end"
            return _empty(meaning, name, several=several) if empty else Empty(never)
    return found


def first_unreachable_output(found: Witnesses) -> Empty | None:
    """The first output that no real run on valid data reaches; None where all are reached.

    Lines that the runs of witnesses did not come by are searched for, with loops unrolled.
    """
    program, meaning = found.program, neighbours(found.program)
    execution = Execution(program, meaning, {}, {}, rounds=2)
    wanted = {place.line for place in execute(execution).reached if place.kind == "out"} - found.lines
    for shape in islice(_shapes(meaning, least=0), _SHAPES) if wanted else ():
        execution = Execution(program, meaning, {}, {}, rounds=max(shape.values(), default=0) + 1)
        # Runs that fail are runs.
        execution.meter.cuts.clear()
        for place in execute(execution).reached:
            if place.line in wanted and place.line in _searched(execution, place, shape):
                wanted.remove(place.line)
        if not wanted:
            break
    if not wanted:
        return None
    return Empty("vacuity: no short run on data that meet what is required leads to this output", min(wanted))


def _empty(meaning: Neighbours, name: str, *, several: bool) -> Empty:
    """The reason why no neighbours differ in a list: none can, at any place, or none were found."""
    place = meaning.position(name)
    inside = less_equal(ZERO, place), less(place, length(name))
    facts = [*meaning.at_entry(), *meaning.at(name, place), *inside, _moves(meaning, name, place)]
    rest = f" that differ in {name}" if several else ""
    if satisfiable(facts, seconds=_SECONDS).answer is Answer.UNSAT:
        return Empty(f"{VACUOUS}{rest}; the claim says nothing" + (f" of {name}" if several else ""), certain=True)
    return Empty(f"vacuity: no two different neighbours{rest} that meet the specification were found")


def _shapes(meaning: Neighbours, private: str | None = None, least: int = 1) -> Iterator[Mapping[str, int]]:
    """Lengths that meet what is required, the smallest first: equal ones, a private list longer than others, and shorter."""
    session, names = Session(seconds=_SECONDS), [name for name, _ in meaning.elements]
    session.add(*meaning.contract.requires, *(less_equal(ZERO, length(name)) for name in names))
    for longest in (*range(least or 1, LONGEST + 1), *((0,) if least == 0 else ())):
        bound = constant(longest)
        equals = [equal(length(name), bound) for name in names]
        below = [less_equal(length(name), bound) for name in names]
        mixed = conjunction(disjunction(*equals), negation(conjunction(*equals)), *below)
        ways = [TRUE] if private is None else [equal(length(private), bound), less(ZERO, length(private))]
        for asked in (conjunction(*equals), *(conjunction(mixed, way) for way in ways)):
            model = None if asked is FALSE else session.check(asked).model
            if model is not None:
                yield {name: int(model.value(length(name))) for name in names}


def _differing(program: Program, meaning: Neighbours, name: str, shape: Mapping[str, int]) -> Iterator[InputPair]:
    """Neighbours of these lengths that differ in a list, if a solver gives some and their exact values are neighbours."""
    places = [constant(place) for place in range(shape[name])]
    facts = [*_about(meaning, shape), disjunction(*(_moves(meaning, name, place) for place in places))]
    numbers = [variable(one.name, Sort.INT) for one in program.parameters if one.sort is Sort.INT]
    small = [conjunction(less_equal(constant(-_SMALL), one), less_equal(one, constant(_SMALL))) for one in numbers]
    for asked in ([*facts, *small], facts) if small else (facts,):
        model = satisfiable(asked, seconds=_SECONDS).model
        if model is not None:
            pair = InputPair(*(_inputs(program, meaning, model, shape, number) for number in (1, 2)))
            if _is_neighbouring(program, pair) and pair.first[name] != pair.second[name]:
                yield pair


def _is_neighbouring(program: Program, pair: InputPair) -> bool:
    """True if exact data are neighbours of the specification."""
    try:
        return is_admissible(program, pair)
    except (ArithmeticError, OutsideLists):
        return False


def _about(meaning: Neighbours, shape: Mapping[str, int]) -> list[Term]:
    """The facts about neighbours of these lengths, at every place."""
    facts = [*meaning.at_entry()]
    for name, count in shape.items():
        facts.append(equal(length(name), constant(count)))
        for place in range(count):
            facts += meaning.at(name, constant(place))
    return facts


def _moves(meaning: Neighbours, name: str, place: Term) -> Term:
    """That a list differs at a place."""
    return negation(equal(meaning.change(name, place), constant(0, dict(meaning.elements)[name])))


def _inputs(program: Program, meaning: Neighbours, model: Model, shape: Mapping[str, int], number: int) -> dict[str, Any]:
    """The data of one run of a model."""
    sorts, inputs = dict(meaning.elements), dict[str, Any]()
    for one in program.parameters:
        if isinstance(one.sort, ListOf):
            read = (meaning.read(number, one.name, constant(place)) for place in range(shape[one.name]))
            inputs[one.name] = tuple(_typed(model.value(term), sorts[one.name]) for term in read)
        else:
            inputs[one.name] = _typed(model.value(variable(one.name, one.sort)), one.sort)
    return inputs


def _typed(value: Number, sort: Sort) -> Number:
    """A value as Python has it: what is REAL is a Fraction."""
    return Fraction(value) if sort is Sort.REAL else value


def _lines(program: Program, inputs: Mapping[str, Any]) -> set[int]:
    """The lines of outputs that runs on some fixed noises come by; empty where none comes to an end."""
    return {line for tape in _TAPES for line in _real(program, inputs, _Taped(program, tape))}


@dataclass
class _Taped:
    """Noise from a tape."""

    program: Program
    tape: Callable[[int], int]
    place: int = -1

    def __call__(self, statement: Draw | Invoke, args: tuple[Any, ...]) -> Number:
        """The value of the next draw."""
        self.place += 1
        return _noise(self.program, statement, args, self.tape(self.place))


def _noise(program: Program, statement: Draw | Invoke, args: tuple[Any, ...], value: int) -> Number:
    """A value that a draw can have, from one of a tape."""
    sort = dict(program.sorts)[statement.name]
    if isinstance(statement, Draw):
        if statement.law in (Law.EXPONENTIAL, Law.GEOMETRIC):
            value = abs(value)
        if statement.law is Law.UNIFORM_INT:
            value %= max(1, args[0])
        elif statement.law is Law.EXPONENTIAL_CHOICE:
            value %= max(1, len(args) - 2)
        elif statement.law in ON_LATTICE:
            value *= args[-1]
    return value > 0 if sort is Sort.BOOL else _typed(value, sort)


def _real(program: Program, inputs: Mapping[str, Any], noise: Callable[[Draw | Invoke, tuple[Any, ...]], Number]) -> Iterator[int]:
    """The lines of outputs of a run that our interpreter and Python bring to the same end."""
    lines: list[int] = []
    drawn: list[Drawn] = []

    def draw(statement: Draw | Invoke, args: tuple[Any, ...]) -> Number:
        value = noise(statement, args)
        drawn.append(Drawn(statement, args, value))
        return value

    try:
        ended = run(program, inputs, draw=draw, emit=lambda statement, _: lines.append(statement.place.line))
        if is_same_end(ended, python_run(program, inputs, drawn)):
            yield from (*lines, ended.line)
    except (Undefined, TooLong, StopIteration, ZeroDivisionError, Differs):
        return


def _searched(execution: Execution, place: Reached, shape: Mapping[str, int]) -> set[int]:
    """The lines that a real run comes by, on data of these lengths and noise by which a solver leads to a place."""
    program, meaning = execution.program, execution.pairs
    model = satisfiable([place.formula, *_about(meaning, shape)], seconds=_SECONDS).model
    if model is None:
        return set()
    inputs = _inputs(program, meaning, model, shape, 1)
    if violation(meaning.contract.promise, inputs) is not None:
        return set()
    noise = iter([_typed(model.value(one), one.sort) for one, here in execution.drawn if model.value(here) is True])
    return set(_real(program, inputs, lambda _statement, _args: next(noise)))
