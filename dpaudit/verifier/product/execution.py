"""Runs both runs of a program symbolically, side by side, and writes down what must hold for the alignment theorem to apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dpaudit.verifier.fuel import spend
from dpaudit.verifier.ir import (
    Append,
    Assign,
    Block,
    Break,
    Check,
    Continue,
    Draw,
    For,
    If,
    Invoke,
    ListOf,
    Program,
    Raise,
    Return,
    Statement,
    While,
)
from dpaudit.verifier.product import requests
from dpaudit.verifier.product.adjacency import GHOST, Neighbours, seen
from dpaudit.verifier.product.costs import Meter
from dpaudit.verifier.product.loops import loop
from dpaudit.verifier.product.obligations import Book, Obligation
from dpaudit.verifier.product.runs import (
    RAISED,
    RETURNED,
    Alignment,
    Invariants,
    Misused,
    Run,
    broken_name,
    skipped_name,
    value_name,
)
from dpaudit.verifier.product.walk import loops, released, returned, statements
from dpaudit.verifier.terms import (
    FALSE,
    TRUE,
    ZERO,
    Sort,
    Term,
    conjunction,
    constant,
    disjunction,
    equal,
    implies,
    negation,
    variable,
    variables,
)


@dataclass
class Execution:
    """Both runs, in one pass over the program.

    Args:
      program: the program.
      pairs: the neighbours, in one direction.
      alignment: shift of each site; sites that are not in it are not moved.
      invariants: what holds at loop heads.
      pointwise: whether the alignment is for one discrete output, the ghost `o`, instead of for all outputs.
      rounds: how often loops are run; None for the proof.
      switched: whether each invariant is assumed only where its switch is on, so that sets of them can be tried.
    """

    program: Program
    pairs: Neighbours
    alignment: Alignment
    invariants: Invariants
    pointwise: bool = False
    rounds: int | None = None
    switched: bool = False
    book: Book = field(default_factory=Book, init=False)
    counters: dict[str, Term] = field(default_factory=dict, init=False)
    born: dict[Term, None] = field(default_factory=dict, init=False)
    heads: dict[int, dict[str, Sort]] = field(default_factory=dict, init=False)
    nest: tuple[int, ...] = field(default=(), init=False)
    inner: list[int] = field(default_factory=list, init=False)
    drawn: list[tuple[Term, Term]] = field(default_factory=list, init=False)
    held: list[tuple[int, int, Obligation]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """What does not change during the run."""
        self.sorts: dict[str, Sort] = dict(self.program.sorts)
        self.numbers = {id(loop): number for number, loop in enumerate(loops(self.program), 1)}
        self.released = released(self.program)
        self.meter = Meter(self.program, self.pairs)
        self.returns = returned(self.program)
        self.whiles = any(isinstance(one, While) for one in statements(self.program.body))
        self.raises = tuple(one for one in statements(self.program.body) if isinstance(one, Raise))
        self.done: set[int] = set()

    # The two runs from entry to exit.

    def run(self) -> Book:
        """Go through the program once."""
        contract, book = self.pairs.contract, self.book
        for kind, formula in contract.obligations:
            book.obligations.append(_valid(kind, formula, len(book.obligations)))
        book.know(*self.pairs.at_entry())
        names: dict[str, Term] = {
            one.name: variable(one.name, one.sort) for one in self.program.parameters if not isinstance(one.sort, ListOf)
        }
        for part, sort in enumerate(self.parts()):
            names[value_name(part)] = variable(value_name(part), sort)
        names |= {RETURNED: FALSE, RAISED: ZERO}
        self.counters = {name: self.meter.start(name) for name in self.meter.names(self.program.body)}
        self.entry = (Run(1, dict(names), TRUE, (RETURNED,)), Run(2, dict(names), TRUE, (RETURNED,)))
        self.block(self.program.body, self.entry)
        self.finish()
        return book

    def parts(self) -> tuple[Sort, ...]:
        """The sorts of the returned values; a list counts as its number among the outputs."""
        if not self.returns:
            return ()
        return tuple(value.sort if isinstance(value, Term) else Sort.INT for value in self.returns[0].values)

    def output(self) -> tuple[Term | None, ...]:
        """The ghost for each discrete part of the output; None for what must be equal in any case."""
        parts = zip(self.parts(), self._first(), strict=True)
        discrete = [sort is not Sort.REAL and isinstance(value, Term) for sort, value in parts]
        if not self.pointwise:
            return (None,) * len(discrete)
        single = sum(discrete) == 1
        return tuple(
            variable(f"{GHOST}o" if single else f"{GHOST}o_{part}", sort) if one else None
            for part, (one, sort) in enumerate(zip(discrete, self.parts(), strict=True))
        )

    def _first(self) -> tuple[Term | str, ...]:
        """The values of the first return statement."""
        return self.returns[0].values if self.returns else ()

    def finish(self) -> None:
        """What must hold at the end: both runs have ended alike, and the cost is within the claim."""
        one, other = self.entry
        line = max([each.place.line for each in self.returns] + [each.place.line for each in self.raises], default=0)
        alike = [equal(one.names[value_name(part)], other.names[value_name(part)]) for part in range(len(self.parts()))]
        ended = [run.names[RETURNED] for run in (one, other)]
        raised = equal(one.names[RAISED], other.names[RAISED])
        values = disjunction(negation(equal(one.names[RAISED], ZERO)), conjunction(*alike))
        self.book.must("out", line, conjunction(*ended, raised, values))
        self.price("cost", line)

    def price(self, kind: str, line: int) -> None:
        """What was spent is within the claim."""
        self.book.must(kind, line, self.meter.within(self.counters))

    # Statements.

    def block(self, block: Block, runs: tuple[Run, Run]) -> None:
        """Run statements as long as one of the runs may be there."""
        for statement in block:
            if runs[0].path is FALSE and runs[1].path is FALSE:
                return
            self.statement(statement, runs)

    def statement(self, statement: Statement, runs: tuple[Run, Run]) -> None:
        """Run one statement."""
        spend()
        match statement:
            case Assign(name=name, value=value):
                for run, new in zip(runs, self.both(value, runs), strict=True):
                    run.put(name, new)
            case Check(kind=kind, condition=condition, place=place):
                for run, holds in zip(runs, self.both(condition, runs), strict=True):
                    self.book.prove(kind, place.line, implies(run.path, holds))
            case Draw():
                requests.draw(self, statement, runs)
            case Invoke():
                requests.invoke(self, statement, runs)
            case Append():
                self.append(statement, runs)
            case If(test=test, then=then, otherwise=otherwise):
                self.branch(self.both(test, runs), then, otherwise, runs)
            case For() | While():
                loop(self, statement, runs)
            case _:
                self.leave(statement, runs)

    def leave(self, statement: Statement, runs: tuple[Run, Run]) -> None:
        """Statements that jump."""
        match statement:
            case Return():
                self.give(statement, runs)
            case Raise(place=place, exception=exception):
                self.book.prove("sync", place.line, equal(runs[0].path, runs[1].path))
                names = sorted({one.exception for one in self.raises})
                for run in runs:
                    run.put(RAISED, constant(names.index(exception) + 1))
                    run.leave(RETURNED)
            case Break():
                for run in runs:
                    run.leave(broken_name(self.inner[-1]))
            case Continue():
                for run in runs:
                    run.leave(skipped_name(self.inner[-1]))
            case _:
                raise Misused(f"a {type(statement).__name__} is no statement of the subset")

    def branch(self, tests: tuple[Term, Term], then: Block, otherwise: Block, runs: tuple[Run, Run]) -> None:
        """Both branches, each run in its own, and together again."""
        ins = tuple(run.copy(conjunction(run.path, test)) for run, test in zip(runs, tests, strict=True))
        outs = tuple(run.copy(conjunction(run.path, negation(test))) for run, test in zip(runs, tests, strict=True))
        self.block(then, (ins[0], ins[1]))
        self.block(otherwise, (outs[0], outs[1]))
        for run, test, one, other in zip(runs, tests, ins, outs, strict=True):
            run.join(test, one, other)

    def both(self, term: Term, runs: tuple[Run, Run]) -> tuple[Term, Term]:
        """A term of the program in each of the runs."""
        return self.valued(term, runs[0]), self.valued(term, runs[1])

    def valued(self, term: Term, run: Run) -> Term:
        """A term of the program in one run."""
        names = {variable(name, self.sorts.get(name, value.sort)): value for name, value in run.names.items()}
        for symbol in variables(term):
            if symbol not in names and not self.is_input(symbol):
                raise Misused(f"{symbol} may have no value where it is read")
        return seen(term, names, self.reader(run.number))

    def reader(self, number: int) -> Callable[[str, Term], Term]:
        """What a run reads; facts about the index are noted as it does."""

        def read(name: str, index: Term) -> Term:
            self.book.know(*self.pairs.at(name, index))
            return self.pairs.read(number, name, index)

        return read

    def append(self, statement: Append, runs: tuple[Run, Run]) -> None:
        """An output list grows in both runs at once and by the same value; lists that are not returned do not count."""
        if statement.name not in self.released:
            return
        one, other = self.both(statement.value, runs)
        paths = runs[0].path, runs[1].path
        self.book.reach("out", statement.place.line, paths[0])
        self.book.prove("out", statement.place.line, equal(*paths))
        self.book.prove("out", statement.place.line, implies(paths[0], equal(one, other)))

    def give(self, statement: Return, runs: tuple[Run, Run]) -> None:
        """The function ends; in pointwise mode only runs that end with the output looked at count from here on."""
        self.book.reach("out", statement.place.line, runs[0].path)
        here = runs[0].path
        for run in runs:
            for part, value in enumerate(statement.values):
                number = constant(self.program.outputs.index(value)) if isinstance(value, str) else self.valued(value, run)
                run.put(value_name(part), number)
        for part, ghost in enumerate(self.output()):
            if ghost is not None:
                self.book.know(implies(here, equal(runs[0].names[value_name(part)], ghost)))
        for run in runs:
            run.leave(RETURNED)

    def is_input(self, symbol: Term) -> bool:
        """Whether a symbol is known before anything is drawn."""
        name = str(symbol.value)
        if name.startswith(GHOST):
            return symbol in self.ghosts()
        return any(name in {one.name, f"len({one.name})"} for one in self.program.parameters)

    def ghosts(self) -> frozenset[Term]:
        """The ghosts of this direction and mode."""
        found = {self.pairs.position(name) for name, _ in self.pairs.contract.changes}
        found |= {variable(self.pairs.ghost("d", name), dict(self.pairs.elements)[name]) for name, _ in self.pairs.contract.changes}
        return frozenset(found | {ghost for ghost in self.output() if ghost is not None})


def _valid(kind: str, formula: Term, number: int) -> Obligation:
    """What the contract must fulfil by itself."""
    return Obligation(f"contract.{kind}.{number}", kind, 0, (), formula)
