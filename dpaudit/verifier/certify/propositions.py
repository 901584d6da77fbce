"""The clauses of a problem as truth values alone: assignments that leave no clause open, and trees of cases that close all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from dpaudit.extras import require
from dpaudit.verifier.fuel import interruptible, spend
from dpaudit.verifier.kernel.checker import Cases

Clause = tuple[int, ...]
_TRUE: Final = re.compile(r"define-fun b(\d+) \(\) Bool\s+true\b")
_MOST_TRIED: Final = 12
"""Literals that are tried before one is chosen."""


class Propositions:
    """Clauses in z3, without what their literals mean; never evidence."""

    def __init__(self, clauses: Sequence[Clause], context: Any) -> None:
        """The clauses so far."""
        require("proofs")
        import z3  # type: ignore[import-untyped]

        self._z3, self._context = z3, context
        self._solver = z3.Solver(ctx=context)
        self._solver.set("core.minimize", True)  # noqa: FBT003 - z3's own form.
        self._solver.set("random_seed", 0)
        self._names: dict[str, Any] = {}
        self._clauses: list[Clause] = []
        self._lemmas = 0
        for clause in clauses:
            self.add(clause)

    def add(self, clause: Clause, *, lemma: bool = False) -> None:
        """One more clause; a lemma holds where it is asked for."""
        literals = [self._literal(one) for one in clause]
        if lemma:
            literals.append(self._z3.Not(self._switch(self._lemmas)))
            self._lemmas += 1
        self._solver.add(self._z3.Or(*literals) if literals else self._z3.BoolVal(val=False, ctx=self._context))
        self._clauses.append(clause)

    def open_case(self, comparisons: set[int]) -> list[int] | None:
        """Literals by which every clause holds, few of them comparisons; None where no assignment is left."""
        if self._check() != self._z3.sat:
            return None
        model = self._solver.model()
        atoms = {abs(one) for clause in self._clauses for one in clause}
        # One text is read faster than a thousand values.
        held_true = {int(name) for name in _TRUE.findall(model.sexpr())}
        true = {atom if atom in held_true else -atom for atom in atoms}
        held = [[one for one in clause if one in true] for clause in self._clauses]
        uses: dict[int, list[int]] = {}
        for place, literals in enumerate(held):
            for one in set(literals):
                uses.setdefault(one, []).append(place)
        count = [len(set(literals)) for literals in held]
        for one in sorted(true, key=lambda literal: (abs(literal) not in comparisons, -abs(literal))):
            if all(count[place] > 1 for place in uses.get(one, ())):
                true.discard(one)
                for place in uses.get(one, ()):
                    count[place] -= 1
        return sorted(true, key=abs)

    def needed(self) -> list[int] | None:
        """The numbers of the lemmas by which no assignment is left; None where one is."""
        if self._check() != self._z3.unsat:
            return None
        return sorted(int(str(one)[1:]) for one in self._solver.unsat_core())

    def _check(self) -> Any:
        """z3's answer with all lemmas."""
        with interruptible(self._context):
            return self._solver.check(*map(self._switch, range(self._lemmas)))

    def _switch(self, number: int) -> Any:
        """The truth value on which a lemma holds."""
        return self._named(f"l{number}")

    def _named(self, name: str) -> Any:
        """A truth value of z3, made once."""
        if name not in self._names:
            self._names[name] = self._z3.Bool(name, ctx=self._context)
        return self._names[name]

    def _literal(self, literal: int) -> Any:
        """The z3 literal of a literal."""
        atom = self._named(f"b{abs(literal)}")
        return atom if literal > 0 else self._z3.Not(atom)


def tree(clauses: Sequence[Clause], lemmas: Sequence[Clause], most: int) -> list[int] | None:
    """The nodes of cases each of which unit propagation closes, in the kernel's order; None where there are more than so many.

    Cases are told apart by literals of lemmas.
    """
    cases, nodes = Cases([*clauses, *lemmas]), list[int]()
    often = Counter(abs(one) for clause in lemmas for one in clause)
    waiting: list[tuple[int, int]] = []
    closed = not cases.assume([])
    while True:
        spend()
        if len(nodes) > most:
            return None
        if closed:
            nodes.append(0)
            if not waiting:
                return nodes
            length, literal = waiting.pop()
            cases.forget(length)
            closed = not cases.assume([literal])
            continue
        literal = _next(cases, lemmas, often) or _next(cases, clauses, often)
        if not literal:
            return None
        nodes.append(literal)
        waiting.append((len(cases.trail), -literal))
        closed = not cases.assume([literal])


def _next(cases: Cases, clauses: Sequence[Clause], often: Counter[int]) -> int:
    """The literal of an open clause from which most follows, whether it holds or not; 0 where all clauses hold."""
    true = set(cases.trail)
    left = sorted(([one for one in clause if -one not in true] for clause in clauses if true.isdisjoint(clause)), key=len)
    tried = dict.fromkeys(abs(one) for clause in left for one in clause)
    best, most, length = 0, -1, len(cases.trail)
    for atom in sorted(tried, key=lambda one: -often[one])[:_MOST_TRIED]:
        gains = []
        for literal in (atom, -atom):
            holds = cases.assume([literal])
            gains.append(len(cases.trail) - length)
            cases.forget(length)
            if not holds:
                return literal
        if gains[0] * gains[1] > most:
            best, most = atom, gains[0] * gains[1]
    return best
