"""The state while a function is read: names, which of them have a value, conditions, and the statements so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count

from dpaudit.verifier.frontend.refusals import place_of
from dpaudit.verifier.frontend.scopes import Meaning, Source
from dpaudit.verifier.ir import Check, Law, Program, Statement
from dpaudit.verifier.terms import TRUE, Sort, Term, conjunction, implies


@dataclass
class Shared:
    """Counters and collections that a function shares with the helpers inlined in it."""

    sites: Iterator[int] = field(default_factory=lambda: count(1))
    appends: Iterator[int] = field(default_factory=lambda: count(1))
    hidden: Iterator[int] = field(default_factory=lambda: count(1))
    sorts: dict[str, Sort] = field(default_factory=dict)
    constants: dict[str, int | Fraction | bool] = field(default_factory=dict)
    inlined: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, Program] = field(default_factory=dict)


@dataclass
class Loop:
    """A loop around what is read: the name that it counts with, and what had a value at each `break`."""

    name: str | None
    breaks: list[set[str]] = field(default_factory=list)


@dataclass
class Reader:
    """The state in which expressions and statements are read."""

    find: Callable[[str], Meaning]  # meaning of a name that is neither local nor a parameter
    locals: frozenset[str]  # every name that the function binds anywhere; such a name never means a global one
    symbols: dict[str, Term]  # the term of each scalar that has a sort by now
    lists: Mapping[str, tuple[str, Sort]]  # the list parameters: name in the program and sort of elements
    defined: set[str] | None  # scalars and outputs that have a value on every path to here; None where no path leads
    # Reads calls of samplers and helpers; None where there are none.
    call: Callable[[Reader, ast.Call, Law | Source], Term] | None = None
    prefix: str = ""  # what the names of an inlined helper begin with
    path: tuple[str, ...] = ()  # the functions that are being read, to see recursion
    samplers: Mapping[str, Law] = field(default_factory=dict)  # the sampler parameters
    outputs: list[str] = field(default_factory=list)  # the output lists so far
    loops: list[Loop] = field(default_factory=list)  # the loops around, innermost last
    counters: frozenset[str] = frozenset()  # every name that a for loop counts with
    parameters: frozenset[str] = frozenset()  # the names of all parameters
    level: int = 0  # how many blocks are open
    shape: tuple[bool, tuple[Sort | str, ...]] | None = None  # whether the first return gave a tuple, and of what
    guards: list[Term] = field(default_factory=list)  # conditions under which Python evaluates what is read now
    emitted: list[Statement] = field(default_factory=list)  # the statements so far of the block that is being read
    shared: Shared = field(default_factory=Shared)  # what inlined helpers count on

    def check(self, node: ast.AST, kind: str, condition: Term) -> None:
        """Note what must hold here; what holds anyway is not noted."""
        needed = implies(conjunction(*self.guards), condition)
        if needed is not TRUE:
            self.emitted.append(Check(place_of(node), kind, needed))

    @contextmanager
    def under(self, condition: Term) -> Iterator[None]:
        """Read something that Python evaluates only where the condition holds."""
        self.guards.append(condition)
        try:
            yield
        finally:
            self.guards.pop()

    def meaning(self, name: str) -> Meaning:
        """Look up a name that is not a scalar or list."""
        if name in self.samplers:
            return self.samplers[name]
        return None if name in self.locals else self.find(name)
