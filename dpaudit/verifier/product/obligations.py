"""Obligations: what must be valid for a claim to be proven, each with an id, a kind and a line of the source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dpaudit.verifier.terms import TRUE, Term, conjunction, implies


@dataclass(frozen=True)
class Obligation:
    """One formula that must be valid.

    Args:
      id: kind, line and a number; the same for the same program, alignment and invariants.
      kind: which condition of the theorem this is.
      line: line of the source, 0 for the contract.
      premises: what is known at this place.
      goal: what must follow.
    """

    id: str
    kind: str
    line: int
    premises: tuple[Term, ...]
    goal: Term

    @property
    def formula(self) -> Term:
        """What must be valid."""
        return TRUE if self.goal is TRUE else implies(conjunction(*self.premises), self.goal)


@dataclass(frozen=True)
class Reached:
    """A place with what is known there; unless some data lead there, what is proven about it means nothing."""

    kind: str
    line: int
    formula: Term


@dataclass
class Book:
    """What is known so far, in the order in which it became known, and what must be proven from it.

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
        """What must follow from all that is known now."""
        self._write(kind, line, () if goal is TRUE else (*self.facts, *premises), goal)

    def form(self, kind: str, line: int, goal: Term) -> None:
        """What is decided by the form of a term, whatever is known."""
        self._write(kind, line, (), goal)

    def _write(self, kind: str, line: int, known: tuple[Term, ...], goal: Term) -> None:
        """One more obligation."""
        key = f"{kind}.{line}"
        self.numbers[key] = self.numbers.get(key, 0) + 1
        self.obligations.append(Obligation(f"{key}.{self.numbers[key]}", kind, line, known, goal))

    def prove(self, kind: str, line: int, goal: Term) -> None:
        """What must follow now, and is known from here on."""
        self.must(kind, line, goal)
        if goal is not TRUE:
            self.facts.setdefault(goal, True)

    def reach(self, kind: str, line: int, path: Term) -> None:
        """A place that some data must lead to."""
        self.reached.append(Reached(kind, line, conjunction(*self.facts, path)))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What becomes known in the block is about one round of a loop only and is forgotten after it."""
        kept = dict(self.facts)
        try:
            yield
        finally:
            self.facts = kept
