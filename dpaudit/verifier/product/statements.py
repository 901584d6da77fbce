"""Symbolic execution of both runs side by side, which collects the conditions of the alignment theorem."""

from __future__ import annotations

from dpaudit.verifier import ir
from dpaudit.verifier.fuel import spend
from dpaudit.verifier.product import requests
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.loops import know_output, run_loop
from dpaudit.verifier.product.obligations import Book, Obligation
from dpaudit.verifier.product.runs import RAISED, RETURNED, Misused, Run, broken_name, skipped_name, value_name
from dpaudit.verifier.product.watching import know_furthest
from dpaudit.verifier.terms import FALSE, ZERO, Term, conjunction, constant, disjunction, equal, implies, negation


def execute(execution: Execution) -> Book:
    """Go through the program once."""
    contract, book = execution.pairs.contract, execution.book
    for kind, formula in contract.obligations:
        # What the contract must fulfil by itself.
        book.obligations.append(Obligation(f"contract.{kind}.{len(book.obligations)}", kind, 0, (), formula))
    book.know(*execution.pairs.at_entry())
    execution.counters = {name: execution.meter.start(name) for name in execution.meter.names(execution.program.body)}
    run_block(execution, execution.program.body, execution.entry)
    finish(execution)
    return book


def finish(execution: Execution) -> None:
    """Require at the end that both runs ended alike and that the cost is within the claim."""
    one, other = execution.entry
    line = max([each.place.line for each in execution.returns] + [each.place.line for each in execution.raises], default=0)
    alike = [equal(one.names[value_name(part)], other.names[value_name(part)]) for part in range(len(execution.parts()))]
    ended = [run.names[RETURNED] for run in (one, other)]
    raised = equal(one.names[RAISED], other.names[RAISED])
    values = disjunction(negation(equal(one.names[RAISED], ZERO)), conjunction(*alike))
    if execution.rivals is not None:
        know_furthest(execution, execution.rivals, (one, other))
    execution.book.must("out", line, conjunction(*ended, raised, values))
    execution.price("cost", line)


def run_block(execution: Execution, block: ir.Block, runs: tuple[Run, Run]) -> None:
    """Run statements as long as one of the runs may be there."""
    for statement in block:
        if runs[0].path is FALSE and runs[1].path is FALSE:
            return
        run_statement(execution, statement, runs)


def run_statement(execution: Execution, statement: ir.Statement, runs: tuple[Run, Run]) -> None:
    """Run one statement."""
    spend()
    match statement:
        case ir.Assign(name=name, value=value):
            for run, new in zip(runs, execution.both(value, runs), strict=True):
                run.put(name, new)
        case ir.Check(kind=kind, condition=condition, place=place):
            for run, holds in zip(runs, execution.both(condition, runs), strict=True):
                execution.book.prove(kind, place.line, implies(run.path, holds))
        case ir.Draw():
            requests.run_draw(execution, statement, runs)
        case ir.Invoke():
            requests.run_call(execution, statement, runs)
        case ir.Append():
            run_append(execution, statement, runs)
        case ir.If(test=test, then=then, otherwise=otherwise):
            run_branch(execution, execution.both(test, runs), then, otherwise, runs)
        case ir.For() | ir.While():
            run_loop(execution, statement, runs, run_block)
        case _:
            run_jump(execution, statement, runs)


def run_jump(execution: Execution, statement: ir.Statement, runs: tuple[Run, Run]) -> None:
    """Statements that jump."""
    match statement:
        case ir.Return():
            run_return(execution, statement, runs)
        case ir.Raise(place=place, exception=exception):
            execution.book.prove("sync", place.line, equal(runs[0].path, runs[1].path))
            names = sorted({one.exception for one in execution.raises})
            for run in runs:
                run.put(RAISED, constant(names.index(exception) + 1))
                run.leave(RETURNED)
        case ir.Break():
            for run in runs:
                run.leave(broken_name(execution.inner[-1]))
        case ir.Continue():
            for run in runs:
                run.leave(skipped_name(execution.inner[-1]))
        case _:
            raise Misused(f"a {type(statement).__name__} is not a statement of the subset")


def run_branch(execution: Execution, tests: tuple[Term, Term], then: ir.Block, otherwise: ir.Block, runs: tuple[Run, Run]) -> None:
    """Both branches, each run in its own, and together again."""
    ins = [run.copy(conjunction(run.path, test)) for run, test in zip(runs, tests, strict=True)]
    outs = [run.copy(conjunction(run.path, negation(test))) for run, test in zip(runs, tests, strict=True)]
    run_block(execution, then, (ins[0], ins[1]))
    run_block(execution, otherwise, (outs[0], outs[1]))
    for run, test, one, other in zip(runs, tests, ins, outs, strict=True):
        run.join(test, one, other)


def run_append(execution: Execution, statement: ir.Append, runs: tuple[Run, Run]) -> None:
    """An output list grows in both runs at once and by the same value; lists that are not returned do not count."""
    if statement.name not in execution.released:
        return
    one, other = execution.both(statement.value, runs)
    paths = runs[0].path, runs[1].path
    execution.book.reach("out", statement.place.line, paths[0])
    execution.book.prove("out", statement.place.line, equal(*paths))
    execution.book.prove("out", statement.place.line, implies(paths[0], equal(one, other)))


def run_return(execution: Execution, statement: ir.Return, runs: tuple[Run, Run]) -> None:
    """The function ends; in pointwise mode only runs that end with the output looked at count from here on."""
    execution.book.reach("out", statement.place.line, runs[0].path)
    here = runs[0].path
    for run in runs:
        for part, value in enumerate(statement.values):
            number = constant(execution.program.outputs.index(value)) if isinstance(value, str) else execution.valued(value, run)
            run.put(value_name(part), number)
    know_output(execution, runs[0], here)
    for run in runs:
        run.leave(RETURNED)
