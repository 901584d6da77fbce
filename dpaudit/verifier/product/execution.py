"""The state of a walk through both runs of a program, and what their terms mean in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dpaudit.verifier.ir import ListOf, Program, Raise, While
from dpaudit.verifier.product.adjacency import GHOST, Neighbours, substitute_run_terms
from dpaudit.verifier.product.costs import Meter
from dpaudit.verifier.product.obligations import Book, Obligation
from dpaudit.verifier.product.rivals import rivals_of
from dpaudit.verifier.product.runs import RAISED, RETURNED, Alignment, Invariants, Misused, Run, value_name
from dpaudit.verifier.product.walk import loops, released_lists, return_statements, statements
from dpaudit.verifier.terms import FALSE, TRUE, ZERO, Sort, Term, variable, variables


@dataclass
class Execution:
    """Both runs, in one pass over the program."""

    program: Program
    pairs: Neighbours  # the neighbours, in one direction
    alignment: Alignment  # shift of each site; sites that are not in it are not moved
    invariants: Invariants  # what holds at loop heads
    pointwise: bool = False  # whether the alignment is for one discrete output, the ghost `o`, instead of for all outputs
    rounds: int | None = None  # how often loops are run; None for the proof
    switched: bool = False  # whether each invariant is assumed only where its switch is on, so that sets of them can be tried
    book: Book = field(default_factory=Book, init=False)
    counters: dict[str, Term] = field(default_factory=dict, init=False)
    born: dict[Term, None] = field(default_factory=dict, init=False)
    heads: dict[int, dict[str, Sort]] = field(default_factory=dict, init=False)
    nest: tuple[int, ...] = field(default=(), init=False)
    inner: list[int] = field(default_factory=list, init=False)
    drawn: list[tuple[Term, Term]] = field(default_factory=list, init=False)
    held: list[tuple[int, int, Obligation]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Compute what does not change during the run."""
        self.returns = return_statements(self.program)
        self.rivals = None
        self.rivals = rivals_of(self.program, self.alignment, self.ghosts() if self.pointwise else None)
        if self.rivals is not None:
            self.program = self.rivals.program(self.program)
        self.sorts: dict[str, Sort] = dict(self.program.sorts)
        self.numbers = {id(loop): number for number, loop in enumerate(loops(self.program), 1)}
        self.released = released_lists(self.program)
        self.meter = Meter(self.program, self.pairs)
        self.whiles = any(isinstance(one, While) for one in statements(self.program.body))
        self.raises = tuple(one for one in statements(self.program.body) if isinstance(one, Raise))
        self.done: set[int] = set()
        self.entry = (self._at_entry(1), self._at_entry(2))

    def _at_entry(self, number: int) -> Run:
        """A run before its first statement."""
        given = self.program.parameters
        names: dict[str, Term] = {one.name: variable(one.name, one.sort) for one in given if not isinstance(one.sort, ListOf)}
        for part, sort in enumerate(self.parts()):
            names[value_name(part)] = variable(value_name(part), sort)
        names |= {RETURNED: FALSE, RAISED: ZERO}
        return Run(number, names, TRUE, (RETURNED,))

    def parts(self) -> tuple[Sort, ...]:
        """The sorts of the returned values; a list counts as its number among the outputs."""
        if not self.returns:
            return ()
        return tuple(value.sort if isinstance(value, Term) else Sort.INT for value in self.returns[0].values)

    def output(self) -> tuple[Term | None, ...]:
        """The ghost for each discrete part of the output; None for what must be equal in any case."""
        values = self.returns[0].values if self.returns else ()
        discrete = [sort is not Sort.REAL and isinstance(value, Term) for sort, value in zip(self.parts(), values, strict=True)]
        if not self.pointwise:
            return (None,) * len(discrete)
        single = sum(discrete) == 1
        return tuple(
            variable(f"{GHOST}o" if single else f"{GHOST}o_{part}", sort) if one else None
            for part, (one, sort) in enumerate(zip(discrete, self.parts(), strict=True))
        )

    def price(self, kind: str, line: int) -> None:
        """Require that the cost so far is within the claim."""
        self.book.must(kind, line, self.meter.within(self.counters))

    def both(self, term: Term, runs: tuple[Run, Run]) -> tuple[Term, Term]:
        """A term of the program in each of the runs."""
        return self.valued(term, runs[0]), self.valued(term, runs[1])

    def valued(self, term: Term, run: Run) -> Term:
        """A term of the program in one run."""
        names = {variable(name, self.sorts.get(name, value.sort)): value for name, value in run.names.items()}
        for symbol in variables(term):
            if symbol not in names and not self.is_input(symbol):
                raise Misused(f"{symbol} may have no value where it is read")
        return substitute_run_terms(term, names, self.reader(run.number))

    def reader(self, number: int) -> Callable[[str, Term], Term]:
        """The reading of elements in one run, which notes the facts about each index."""

        def read(name: str, index: Term) -> Term:
            self.book.know(*self.pairs.at(name, index))
            return self.pairs.read(number, name, index)

        return read

    def is_input(self, symbol: Term) -> bool:
        """True if a symbol is known before anything is drawn."""
        name = str(symbol.value)
        if name.startswith(GHOST):
            return symbol in self.ghosts()
        return any(name in {one.name, f"len({one.name})"} for one in self.program.parameters)

    def ghosts(self) -> frozenset[Term]:
        """The ghosts of this direction and mode."""
        found = {self.pairs.position(name) for name, _ in self.pairs.contract.changes}
        found |= {variable(self.pairs.ghost("d", name), dict(self.pairs.elements)[name]) for name, _ in self.pairs.contract.changes}
        found |= {ghost for ghost in self.output() if ghost is not None}
        return frozenset(found if self.rivals is None else found | self.rivals.ghosts())
