"""Loops of both runs: cut at their heads for proofs, or unrolled for searches.

At a head the state is arbitrary but for the invariants, which must hold before the first round and after each. Running a number of
rounds serves the search for alignments and proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from dpaudit.verifier.ir import Block, Break, For, If, Raise, Return, While
from dpaudit.verifier.product.adjacency import substitute_run_terms
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.runs import OTHER, RAISED, RETURNED, Misused, Run, broken_name, skipped_name, value_name
from dpaudit.verifier.product.walk import assigned_names, can_leave
from dpaudit.verifier.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Sort,
    Term,
    add,
    choose,
    conjunction,
    constant,
    disjunction,
    equal,
    implies,
    less,
    less_equal,
    negation,
    variable,
    variables,
)

Loop: TypeAlias = For | While
Names: TypeAlias = Mapping[str, Term]
Walk: TypeAlias = Callable[[Execution, Block, tuple[Run, Run]], None]
"""Runs the statements of a block in both runs."""


def run_loop(execution: Execution, statement: Loop, runs: tuple[Run, Run], walk: Walk) -> None:
    """Run a loop: cut at its head, or unrolled a number of times."""
    number = execution.numbers[id(statement)]
    bounds = [ZERO, ZERO]
    if isinstance(statement, For):
        pairs = [execution.both(bound, runs) for bound in (statement.start, statement.stop)]
        bounds = [one for one, _ in pairs]
        goal = conjunction(*(equal(one, other) for one, other in pairs))
        if goal is not TRUE:
            goal = conjunction(equal(runs[0].path, runs[1].path), implies(runs[0].path, goal))
        execution.book.prove("trip", statement.place.line, goal)
    execution.inner.append(number)
    if execution.rounds is None:
        if number in execution.done:
            raise Misused(f"the loop of line {statement.place.line} stands at two places")
        execution.done.add(number)
        cut_at_head(execution, statement, bounds, runs, walk)
    else:
        unroll(execution, statement, bounds, runs, walk)
    execution.inner.pop()


def cut_at_head(execution: Execution, statement: Loop, bounds: Sequence[Term], runs: tuple[Run, Run], walk: Walk) -> None:
    """One round from any state that the invariants allow; after it they hold again."""
    book, line, number, (start, stop) = execution.book, statement.place.line, execution.numbers[id(statement)], bounds
    flags = flags_of(execution, statement)
    changed = (*assigned_names(whole(statement)), *flags)
    entry = [run.copy(run.path) for run in runs]
    for run in entry:
        set_undefined(execution, run, statement, flags)
    entered = disjunction(entry[0].path, entry[1].path)
    index = variable(f"{statement.name}@{number}", Sort.INT) if isinstance(statement, For) else None
    place = {statement.name: index} if isinstance(statement, For) and index is not None else {}
    heads = [cut_head(execution, run, changed, number) for run in entry]
    before = dict(execution.counters)
    # What a `for` loop is the first to assign is not read after it, so that nothing need be known of it.
    fresh = () if isinstance(statement, While) else set(assigned_names(whole(statement))) - set(runs[0].names)
    execution.heads[number] = {name: value.sort for name, value in (heads[0].names | place).items() if name not in fresh}
    require_invariants(execution, "init", line, number, [run.names | dict.fromkeys(place, start) for run in entry], entered)
    for name in execution.meter.names(whole(statement)):
        execution.counters[name] = variable(f"{name}@{number}", before[name].sort)
        execution.born.setdefault(execution.counters[name])
    if index is not None:
        execution.born.setdefault(index)
        book.know(less_equal(start, index), disjunction(less_equal(index, stop), equal(index, start)))
    for position, holds in enumerate(state_invariants(execution, number, [run.names | place for run in heads])):
        switch = variable(f"$on.{number}.{position}", Sort.BOOL)
        book.know(implies(conjunction(entered, switch) if execution.switched else entered, holds))
    know_output(execution, heads[0], heads[0].names[RETURNED])
    if isinstance(statement, While):
        book.prove("trip", line, equal(heads[0].path, heads[1].path))
    if execution.whiles:
        execution.price("prefix", line)
    more = disjunction(heads[0].path, heads[1].path)
    if index is not None:
        more = conjunction(more, less(index, stop))
    counters, born = dict(execution.counters), dict(execution.born)
    with book.inside():
        book.know(more)
        book.reach("loop", line, heads[0].path)
        body = [begin_round(execution, run, flags, place) for run in heads]
        one_round(execution, statement, (body[0], body[1]), walk)
        ends = [end_round(head, end, changed) for head, end in zip(heads, body, strict=True)]
        following = {name: add(value, ONE) for name, value in place.items()}
        require_invariants(execution, "step", line, number, [run.names | following for run in ends], entered)
    execution.counters, execution.born = counters, born
    book.know(implies(entered, negation(more)))
    for run, head in zip(runs, heads, strict=True):
        leave_loop(run, head, changed)


def set_undefined(execution: Execution, run: Run, statement: Loop, flags: Sequence[str]) -> None:
    """Names that the loop is the first to assign have any value before it, in each run its own."""
    before, number = OTHER if run.number == 2 else "", execution.numbers[id(statement)]
    for name in assigned_names(whole(statement)):
        run.names.setdefault(name, variable(f"{before}{name}@{number}?", execution.sorts[name]))
    run.names |= {flag: FALSE for flag in flags if flag not in run.names}


def flags_of(execution: Execution, statement: Loop) -> tuple[str, ...]:
    """The flags that a loop may set and keep from round to round."""
    body = whole(statement)
    found: tuple[str, ...] = ()
    if isinstance(statement, While) or can_leave(body, Break):
        found = (broken_name(execution.numbers[id(statement)]),)
    if can_leave(body, Return) or can_leave(body, Raise):
        found += (RETURNED, *(value_name(part) for part in range(len(execution.parts()))))
    if can_leave(body, Raise):
        found += (RAISED,)
    return found


def cut_head(execution: Execution, run: Run, changed: Sequence[str], number: int) -> Run:
    """The state at the loop head: what the loop may change is arbitrary."""
    before = OTHER if run.number == 2 else ""
    names = dict(run.names)
    for name in changed:
        if name in names:
            names[name] = variable(f"{before}{name}@{number}", names[name].sort)
            execution.born.setdefault(names[name])
    here = [negation(names[flag]) for flag in (broken_name(number), RETURNED) if flag in changed]
    return Run(run.number, names, conjunction(run.path, *here), run.flags)


def begin_round(execution: Execution, head: Run, flags: Sequence[str], place: Mapping[str, Term]) -> Run:
    """The state at the start of a round."""
    own = (broken_name(execution.inner[-1]), skipped_name(execution.inner[-1]))
    names = head.names | dict(place) | dict.fromkeys(own, FALSE)
    if RETURNED in flags:
        names |= {RETURNED: FALSE}
    return Run(head.number, names, head.path, (*own, RETURNED))


def one_round(execution: Execution, statement: Loop, runs: tuple[Run, Run], walk: Walk) -> None:
    """Run one round; a while loop's test comes first, and failing it is a break."""
    if isinstance(statement, While):
        leave = If(statement.place, statement.test, (), (Break(statement.place),))
        walk(execution, (*statement.before, leave), runs)
    walk(execution, statement.body, runs)


def end_round(head: Run, end: Run, changed: Sequence[str]) -> Run:
    """The state after a round: a run that was not in it stays as it was."""
    names = dict(head.names)
    for name in changed:
        if name in names:
            names[name] = choose(head.path, end.names[name], head.names[name])
    return Run(head.number, names, end.path, head.flags)


def leave_loop(run: Run, head: Run, changed: Sequence[str]) -> None:
    """The state after the loop; what the loop changed keeps its value of the last head."""
    gone = run.left
    for name in changed:
        run.names[name] = choose(gone, run.names.get(name, head.names[name]), head.names[name])
    if RETURNED in changed:
        run.path = conjunction(run.path, negation(head.names[RETURNED]))


def know_output(execution: Execution, run: Run, here: Term) -> None:
    """In pointwise mode a run that has ended, as it has where `here` holds, did so with the output looked at."""
    for part, ghost in enumerate(execution.output()):
        if ghost is not None and here is not FALSE:
            execution.book.know(implies(here, equal(run.names[value_name(part)], ghost)))


def state_invariants(execution: Execution, number: int, names: Sequence[Names]) -> list[Term]:
    """The invariants of a loop about a state; symbols that do not exist at its head are refused."""
    mapping = {variable(name, value.sort): value for name, value in execution.counters.items()}
    for given, before in zip(names, ("", OTHER), strict=True):
        mapping |= {variable(before + name, value.sort): value for name, value in given.items()}
    found = []
    for one in execution.invariants.get(number, ()):
        for symbol in variables(one):
            if symbol not in mapping and not execution.is_input(symbol):
                raise Misused(f"an invariant speaks of {symbol}, which is not there at the head of loop {number}")
        found.append(substitute_run_terms(one, mapping, partial(read_ghost, execution)))
    return found


def read_ghost(execution: Execution, name: str, index: Term) -> Term:
    """Read what invariants may name by an index: elements in either run, and the sum of the changes before it."""
    run, plain = (2, name.removeprefix(OTHER)) if name.startswith(OTHER) else (1, name)
    if plain in dict(execution.pairs.elements):
        return execution.reader(run)(plain, index)
    for private, _ in execution.pairs.contract.changes:
        if name == execution.pairs.ghost("s", private):
            execution.book.know(*execution.pairs.at(private, index))
            return execution.pairs.spent(private, index)
    raise Misused(f"an invariant reads {name}, which invariants may not name")


def require_invariants(execution: Execution, kind: str, line: int, number: int, names: Sequence[Names], entered: Term) -> None:
    """Require the invariants of a loop of this state."""
    for position, holds in enumerate(state_invariants(execution, number, names)):
        execution.book.must(kind, line, implies(entered, holds))
        execution.held.append((number, position, execution.book.obligations[-1]))


def unroll(execution: Execution, statement: Loop, bounds: Sequence[Term], runs: tuple[Run, Run], walk: Walk) -> None:
    """Run the first rounds of a loop; runs with more rounds are excluded by a fact."""
    number, rounds, (start, stop) = execution.numbers[id(statement)], execution.rounds or 0, bounds
    flags = flags_of(execution, statement)
    changed = (*assigned_names(whole(statement)), *flags)
    for run in runs:
        set_undefined(execution, run, statement, flags)
    outside = [run.copy(run.path) for run in runs]
    nest = execution.nest
    if isinstance(statement, For):
        execution.book.know(implies(runs[0].path, less_equal(stop, add(start, constant(rounds)))))
    for round_ in range(rounds):
        execution.nest = (*nest, round_)
        place = {statement.name: add(start, constant(round_))} if isinstance(statement, For) else {}
        more = less(place[statement.name], stop) if isinstance(statement, For) else TRUE
        heads = [Run(run.number, dict(run.names), conjunction(run.path, more), run.flags) for run in runs]
        body = [begin_round(execution, head, flags, place) for head in heads]
        one_round(execution, statement, (body[0], body[1]), walk)
        for run, head, end in zip(runs, heads, body, strict=True):
            run.names |= {name: choose(head.path, end.names[name], run.names[name]) for name in changed if name in run.names}
            gone = [run.names[flag] for flag in (broken_name(number), RETURNED) if flag in changed]
            run.path = conjunction(run.path, *(negation(flag) for flag in gone))
    execution.nest = nest
    for run, before in zip(runs, outside, strict=True):
        if isinstance(statement, While):
            execution.book.know(negation(run.path))
        stays = [negation(run.names[RETURNED])] if RETURNED in changed else []
        run.path = conjunction(before.path, *stays)


def whole(statement: Loop) -> Block:
    """All statements that a loop repeats."""
    return (*statement.before, *statement.body) if isinstance(statement, While) else statement.body
