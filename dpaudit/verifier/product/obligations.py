"""Obligations: what must be valid for a claim to be proven, each with an id, a kind and a line of the source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dpaudit.verifier.terms import TRUE, Term, conjunction, implies


@dataclass(frozen=True)
class Obligation:
    """One formula that must be valid."""

    id: str  # kind, line and a number; the same for the same program, alignment and invariants
    kind: str  # which condition of the theorem this is
    line: int  # line of the source, 0 for the contract
    premises: tuple[Term, ...]  # what is known at this place
    goal: Term

    @property
    def formula(self) -> Term:
        """The formula that must be valid."""
        return TRUE if self.goal is TRUE else implies(conjunction(*self.premises), self.goal)


@dataclass(frozen=True)
class Reached:
    """A place with what is known there; unless some data lead there, what is proven about it means nothing."""

    kind: str
    line: int
    formula: Term


@dataclass
class Book:
    """The facts known so far, in the order in which they became known, and the obligations to be proven from them.

    Each fact says whether it is an earlier obligation, which follows from the others once all is proven.
    """

    facts: dict[Term, bool] = field(default_factory=dict)
    obligations: list[Obligation] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def know(self, *facts: Term) -> None:
        """Add facts."""
        for fact in facts:
            if fact is not TRUE:
                self.facts.setdefault(fact, False)

    def must(self, kind: str, line: int, goal: Term, *premises: Term) -> None:
        """Add an obligation that must follow from all that is known now."""
        self._write(kind, line, () if goal is TRUE else (*self.facts, *premises), goal)

    def form(self, kind: str, line: int, goal: Term) -> None:
        """Add an obligation that the form of a term decides, whatever is known."""
        self._write(kind, line, (), goal)

    def _write(self, kind: str, line: int, known: tuple[Term, ...], goal: Term) -> None:
        """One more obligation."""
        key = f"{kind}.{line}"
        self.numbers[key] = self.numbers.get(key, 0) + 1
        self.obligations.append(Obligation(f"{key}.{self.numbers[key]}", kind, line, known, goal))

    def prove(self, kind: str, line: int, goal: Term) -> None:
        """Add an obligation that must follow now, and is known from here on."""
        self.must(kind, line, goal)
        if goal is not TRUE:
            self.facts.setdefault(goal, True)

    def reach(self, kind: str, line: int, path: Term) -> None:
        """A place that some data must lead to."""
        self.reached.append(Reached(kind, line, conjunction(*self.facts, path)))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Forget after the block what becomes known in it: it holds in one round of a loop only."""
        kept = dict(self.facts)
        try:
            yield
        finally:
            self.facts = kept
