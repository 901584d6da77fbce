"""Draws and calls of helpers in both runs: the alignment theorem's conditions on each, and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from dpaudit.verifier.ir import Contract, Draw, Invoke, Law, ListOf, Place, Program, Relation, While
from dpaudit.verifier.product.adjacency import Neighbours, substitute_run_terms
from dpaudit.verifier.product.costs import SPENT
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.laws import draw_conditions, odds_ratio
from dpaudit.verifier.product.ledger import FAILED
from dpaudit.verifier.product.rational import at_most
from dpaudit.verifier.product.runs import OTHER, Misused, Run
from dpaudit.verifier.product.walk import draws, statements
from dpaudit.verifier.product.watching import know_value
from dpaudit.verifier.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Sort,
    Term,
    absolute,
    add,
    choose,
    conjunction,
    constant,
    equal,
    implies,
    length,
    less_equal,
    multiply,
    substitute,
    variable,
    variables,
)

Argument: TypeAlias = str | tuple[Term, Term]


def run_draw(execution: Execution, statement: Draw, runs: tuple[Run, Run]) -> None:
    """Fresh noise, moved in run 2; C1 and C3 to C7 of the theorem at this request."""
    book, line = execution.book, statement.place.line
    noise = fresh_noise(execution, statement)
    args = [execution.both(argument, runs) for argument in statement.args]
    here = runs[0].path
    book.prove("sync", line, equal(here, runs[1].path))
    shift = shift_of(execution, statement, noise, runs)
    cut = execution.meter.cuts.get(statement.site)
    squares = execution.meter.squares is not None
    needs = draw_conditions(statement, args, noise, shift, execution.pairs, cut, squares=squares)
    book.prove("sync", line, implies(here, needs.same))
    book.prove("valid", line, implies(here, needs.valid))
    if statement.law is Law.RANDOMIZED_RESPONSE and execution.meter.power is not None:
        # A power of the factor bounds smaller powers only if the factor is not below 1.
        book.prove("valid", line, implies(here, at_most(ONE, execution.meter.power[0], execution.meter.is_entry)))
        if odds_ratio(statement.args[1]) is not execution.meter.power[0]:
            # The factor was guessed from what a name is assigned.
            book.prove("valid", line, implies(here, equal(odds_ratio(args[1][0]), execution.meter.power[0])))
    book.form("triangular", line, constant(value=is_earlier(execution, shift, noise)))
    book.form("piecewise", line, needs.piecewise)
    book.form("lattice", line, needs.lattice)
    if noise.sort is not Sort.BOOL:
        require_injective(execution, statement.place, here, noise, shift, needs.fact)
    book.must("support", line, implies(conjunction(here, needs.fact), needs.support))
    execution.counters |= execution.meter.charge(execution.counters, statement, here, needs)
    book.know(implies(here, needs.fact))
    if cut is not None:
        # What failing costs is bounded before anything is concluded from not having failed.
        book.must("ledger", line, less_equal(execution.counters[FAILED], execution.pairs.contract.delta))
        book.know(implies(here, less_equal(absolute(noise), multiply(constant(cut), args[0][0]))))
    execution.born.setdefault(noise)
    execution.drawn.append((noise, here))
    moved = noise if noise.sort is Sort.BOOL else add(noise, shift)
    for run, value in zip(runs, (noise, moved), strict=True):
        run.put(statement.name, value)
    if execution.rivals is not None:
        know_value(execution, execution.rivals, statement, here, runs)
    if execution.whiles:
        execution.price("prefix", line)


def symbol(execution: Execution, statement: Draw | Invoke) -> Term:
    """The symbol of what is drawn in this round."""
    name = ".".join(map(str, ("$noise", statement.site, *execution.nest)))
    return variable(name, execution.sorts[statement.name])


def fresh_noise(execution: Execution, statement: Draw | Invoke) -> Term:
    """The symbol of a draw; where loops are cut, a place is passed once in a round."""
    noise = symbol(execution, statement)
    if noise in execution.born:
        raise Misused(f"line {statement.place.line} draws twice without a loop between")
    return noise


def shift_of(execution: Execution, statement: Draw, noise: Term, runs: tuple[Run, Run]) -> Term:
    """The alignment's shift with the values that its names have now."""
    given = execution.alignment.get(statement.site)
    if given is None or noise.sort is Sort.BOOL:
        return constant(0, noise.sort if noise.sort is not Sort.BOOL else Sort.INT)
    # Names of later draws mean their noise, so that it is seen to be later.
    names = {variable(one.name, execution.sorts[one.name]): symbol(execution, one) for one in draws(execution.program.body)}
    names |= vocabulary(runs) | {variable(statement.name, noise.sort): noise}
    return substitute_run_terms(given, names, partial(read_either, execution))


def vocabulary(runs: tuple[Run, Run]) -> dict[Term, Term]:
    """The names that alignments may use: those of run 1, and those of run 2 behind `OTHER`."""
    names: dict[Term, Term] = {}
    for run, before in zip(runs, ("", OTHER), strict=True):
        names |= {variable(before + name, value.sort): value for name, value in run.names.items()}
    return names


def read_either(execution: Execution, name: str, index: Term) -> Term:
    """An element that an alignment names."""
    run, plain = (2, name.removeprefix(OTHER)) if name.startswith(OTHER) else (1, name)
    if plain not in dict(execution.pairs.elements):
        raise Misused(f"an alignment reads {name}, which is not a list")
    return execution.reader(run)(plain, index)


def is_earlier(execution: Execution, shift: Term, noise: Term) -> bool:
    """True if C3 holds: the shift, fully written out, speaks of this noise, of what was drawn before, of inputs and ghosts only."""
    return all(one is noise or one in execution.born or execution.is_input(one) for one in variables(shift))


def require_injective(execution: Execution, place: Place, here: Term, noise: Term, shift: Term, fact: Term) -> None:
    """Require C4: two values of the noise are never moved to one, whatever was drawn before; nothing later is known here."""
    twin = variable(f"{noise.value}~", noise.sort)
    mapping = {noise: twin}
    meet = equal(add(noise, shift), add(twin, substitute(shift, mapping)))
    goal = TRUE
    if noise in variables(shift):
        goal = implies(conjunction(here, fact, substitute(fact, mapping), meet), equal(noise, twin))
    execution.book.must("injective", place.line, goal)


def run_call(execution: Execution, statement: Invoke, runs: tuple[Run, Run]) -> None:
    """A helper with a contract of its own gives the same result in both runs, at the price of its contract."""
    line, here = statement.place.line, runs[0].path
    execution.book.prove("sync", line, equal(here, runs[1].path))
    helper = dict(execution.program.helpers)[statement.helper]
    args = [argument if isinstance(argument, str) else execution.both(argument, runs) for argument in statement.args]
    needs = call_conditions(helper, args, execution.pairs)
    execution.book.prove("contract", line, implies(here, needs.allowed))
    result = fresh_noise(execution, statement)
    execution.counters |= {SPENT: add(execution.counters[SPENT], choose(here, needs.price, ZERO))}
    execution.born.setdefault(result)
    execution.drawn.append((result, here))
    for run in runs:
        run.put(statement.name, result)
    if execution.whiles:
        execution.price("prefix", line)


@dataclass(frozen=True)
class CallConditions:
    """The conditions and the price of a call."""

    allowed: Term  # that the arguments of the two runs are neighbours as the helper's contract has it, and meet what it requires
    price: Term  # the helper's epsilon at these arguments


def call_conditions(helper: Program, args: Sequence[Argument], pairs: Neighbours) -> CallConditions:
    """The conditions and the price of a call of a helper; only a contract in epsilon alone can be part of a larger proof."""
    contract = helper.contract
    endless = any(isinstance(one, While) for one in statements(helper.body))
    if contract is None or contract.cost != "pure" or contract.odds is not ONE or contract.domain or endless:
        return CallConditions(FALSE, ONE)
    names: dict[Term, Term] = {}
    goals: list[Term] = []
    for parameter, argument in zip(helper.parameters, args, strict=True):
        if isinstance(argument, str):
            names[length(parameter.name)] = length(argument)
        else:
            names[variable(parameter.name, argument[0].sort)] = argument[0]
            goals.append(equal(*argument))
    for parameter, argument in zip(helper.parameters, args, strict=True):
        if isinstance(argument, str):
            goals.append(_neighbours(contract, parameter.name, argument, names, pairs))
            alike = isinstance(parameter.sort, ListOf) and parameter.sort.element is dict(pairs.elements)[argument]
            goals.append(constant(value=alike))
    goals += [substitute(clause, names) for clause in contract.requires]
    return CallConditions(conjunction(*goals), substitute(contract.claim, names))


def _neighbours(contract: Contract, inner: str, outer: str, names: dict[Term, Term], pairs: Neighbours) -> Term:
    """That two lists which differ as the caller's do differ as the helper's contract has it."""
    given = pairs.relation(outer)
    if given is None:
        return constant(value=True)
    wanted = dict(contract.changes).get(inner)
    if wanted is None:
        return FALSE
    # The helper is proven in both directions, so that growing and falling are one to the caller.
    directed = {Relation.INC, Relation.DEC}
    fits = (
        wanted.relation is given
        or (wanted.relation is Relation.ALL and given in {Relation.ONE, *directed})
        or {wanted.relation, given} == directed
    )
    return less_equal(pairs.bound(outer), substitute(wanted.bound, names)) if fits else FALSE
