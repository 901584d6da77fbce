"""The state of both runs: what names stand for, where each run is, and how branches come together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dpaudit.verifier.terms import FALSE, Term, choose, conjunction, disjunction, negation

OTHER: Final = "other."
"""The prefix of names of run 2 in alignments and invariants."""

Alignment = Mapping[int, Term]
"""The shift of each site's noise in run 2, over names at the request, those of run 2 behind `OTHER`, its own noise and ghosts."""

Invariants = Mapping[int, Sequence[Term]]
"""For each loop what holds at its head, over the names there, those of run 2 behind `OTHER`, counters and ghosts."""


class Misused(ValueError):
    """An alignment or invariant speaks of what does not exist at its place."""


RETURNED, RAISED = "$returned", "$raised"
"""The flag that a run has ended, and the number of its exception, from 1."""


def value_name(part: int) -> str:
    """The name of a part of the returned value."""
    return f"$value.{part}"


def broken_name(loop: int) -> str:
    """The name of the flag that a loop was left by `break`."""
    return f"$broken.{loop}"


def skipped_name(loop: int) -> str:
    """The name of the flag that a round was ended by `continue`."""
    return f"$skipped.{loop}"


@dataclass
class Run:
    """One of the two runs."""

    number: int  # 1 or 2
    # Value of each name, right wherever `path` holds and kept from the moment at which the run left the block.
    names: dict[str, Term]
    path: Term  # whether this run is at this place
    flags: tuple[str, ...] = ()  # names of the flags that may have been set since the block began

    @property
    def left(self) -> Term:
        """The condition that the run has left the block that it is in."""
        return disjunction(*(self.names.get(flag, FALSE) for flag in self.flags))

    def put(self, name: str, value: Term) -> None:
        """Give a name a value, if the run is still here."""
        old = self.names.get(name)
        self.names[name] = value if old is None else choose(self.left, old, value)

    def leave(self, flag: str) -> None:
        """Set a flag and go."""
        self.put(flag, negation(FALSE))
        self.path = FALSE

    def copy(self, path: Term) -> Run:
        """The same state at another place."""
        return Run(self.number, dict(self.names), path, self.flags)

    def join(self, test: Term, then: Run, otherwise: Run) -> None:
        """Take over the state after a branch."""
        for name in {**then.names, **otherwise.names}:
            one, other = then.names.get(name), otherwise.names.get(name)
            self.names[name] = _either(test, one, other)
        changed = [flag for flag in self.flags if self.names.get(flag, FALSE) is not FALSE]
        self.path = conjunction(self.path, *(negation(self.names[flag]) for flag in changed))


def _either(test: Term, one: Term | None, other: Term | None) -> Term:
    """The value after a branch; a name that one branch only gives is not read after it."""
    if one is not None and other is not None:
        return choose(test, one, other)
    found = one or other
    if found is None:
        raise Misused("a name has a value in neither branch")
    return found
