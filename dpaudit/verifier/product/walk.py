"""The contents of a program, found without running it: sites, loops and the names that a block may change."""

from __future__ import annotations

from collections.abc import Iterator

from dpaudit.verifier.ir import Assign, Block, Continue, Draw, For, If, Invoke, Program, Raise, Return, Statement, While
from dpaudit.verifier.terms import ONE, Op, Sort, add, subterms, variable


def statements(block: Block) -> Iterator[Statement]:
    """Every statement of a block, outer ones first, in the order of the source."""
    for statement in block:
        yield statement
        for inner in _blocks(statement):
            yield from statements(inner)


def _blocks(statement: Statement) -> tuple[Block, ...]:
    """The blocks of a statement."""
    match statement:
        case If():
            return statement.then, statement.otherwise
        case For():
            return (statement.body,)
        case While():
            return statement.before, statement.body
    return ()


def loops(program: Program) -> tuple[For | While, ...]:
    """The loops of a program; a loop's number is its place in this, from 1 on."""
    return tuple(one for one in statements(program.body) if isinstance(one, (For, While)))


def draws(block: Block) -> tuple[Draw | Invoke, ...]:
    """The draws and calls of helpers in a block."""
    return tuple(one for one in statements(block) if isinstance(one, (Draw, Invoke)))


def draw_names(draw: Draw | Invoke) -> tuple[str, ...]:
    """The names by which users refer to a draw: its own, its law with its number, and its line."""
    return (draw.name, f"{draw.law.value}.{draw.site}", f"line {draw.place.line}") if isinstance(draw, Draw) else ()


def assigned_names(block: Block) -> tuple[str, ...]:
    """The scalar names that a block may change, each once; a loop's own name is none, it is dead after the loop."""
    return tuple(dict.fromkeys(one.name for one in statements(block) if isinstance(one, (Assign, Draw, Invoke))))


def can_leave(block: Block, kind: type[Statement]) -> bool:
    """True if a block can return or raise; for Break and Continue, whether it can end its own loop or the round."""
    if kind in (Return, Raise):
        return any(isinstance(one, kind) for one in statements(block))
    branches = (branch for one in block if isinstance(one, If) for branch in (one.then, one.otherwise))
    return any(isinstance(one, kind) for one in block) or any(can_leave(branch, kind) for branch in branches)


def counter_of(loop: While) -> str | None:
    """The name by which a `while` loop counts its rounds up to a limit that it does not change; such a loop ends whatever is drawn.

    The test must fail once the name is at the limit, and each round that is not the last must raise the name by one.
    """
    if can_leave(loop.body, Continue) or can_leave(loop.before, Continue):
        return None
    changed = assigned_names((*loop.before, *loop.body))
    raised = [one for one in loop.body if isinstance(one, Assign) and one.value is add(variable(one.name, Sort.INT), ONE)]
    for one in raised:
        name = variable(one.name, Sort.INT)
        often = [each for each in statements((*loop.before, *loop.body)) if getattr(each, "name", None) == one.name]
        for test in loop.test.args if loop.test.op is Op.AND else (loop.test,):
            below = test.op is Op.LESS and test.args[0] is name and test.args[1].sort is Sort.INT
            fixed = below and not any(str(part.value) in changed or part.op is Op.APPLY for part in subterms(test.args[1]))
            if fixed and len(often) == 1:
                return one.name
    return None


def return_statements(program: Program) -> tuple[Return, ...]:
    """The return statements."""
    return tuple(one for one in statements(program.body) if isinstance(one, Return))


def released_lists(program: Program) -> frozenset[str]:
    """The output lists that are returned somewhere."""
    return frozenset(value for one in return_statements(program) for value in one.values if isinstance(value, str))
