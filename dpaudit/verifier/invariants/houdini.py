"""The largest set of candidate invariants that holds at the first round and after each; what it finds is proven elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.product.runs import Invariants
from dpaudit.verifier.product.statements import execute
from dpaudit.verifier.solving import Answer, Outcome, Session
from dpaudit.verifier.terms import TRUE, Op, Sort, Term, disjunction, equal, negation, number_of, subtract, variable

Candidate = tuple[int, int]
"""A loop and a place in its list of candidates."""


@dataclass
class Group:
    """Candidates that must hold of one state, all from the same premises."""

    session: Session
    goals: dict[Candidate, Term]

    def failing(self, kept: dict[Candidate, Term]) -> set[Candidate]:
        """Candidates that do not follow from those kept; empty where all do."""
        asked = [one for one in self.goals if one in kept]
        if not asked:
            return set()
        outcome = self.session.check(*kept.values(), disjunction(*(self.goals[one] for one in asked)))
        if outcome.answer is Answer.UNSAT:
            return set()
        model = outcome.model
        found = {one for one in asked if model is not None and model.value(self.goals[one]) is True}
        # Nothing is kept on the word of a solver that did not say `unsat`.
        return found or {one for one in asked if self.session.check(*kept.values(), self.goals[one]).answer is not Answer.UNSAT}


@dataclass
class Houdini:
    """One execution with all candidates assumed behind switches."""

    execution: Execution
    seconds: float = 2.0
    groups: list[Group] = field(default_factory=list)
    kept: dict[Candidate, Term] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """One group for each loop and each of its two states."""
        self.book = execute(self.execution)
        for loop, candidates in self.execution.invariants.items():
            for position in range(len(candidates)):
                self.kept[loop, position] = variable(f"$on.{loop}.{position}", Sort.BOOL)
        grouped: dict[tuple[int, str], list[tuple[Candidate, Obligation]]] = {}
        for loop, position, obligation in self.execution.held:
            if obligation.goal is not TRUE:
                grouped.setdefault((loop, obligation.kind), []).append(((loop, position), obligation))
        for members in grouped.values():
            # A model that defeats many candidates at once saves as many questions.
            session = Session(seconds=self.seconds, bold=True)
            goals = {one: variable(f"$bad.{one[0]}.{one[1]}", Sort.BOOL) for one, _ in members}
            failed = (equal(goals[one], negation(obligation.goal)) for one, obligation in members)
            session.add(*members[0][1].premises, *failed)
            self.groups.append(Group(session, goals))

    def settle(self) -> None:
        """Drop what does not hold, until all that is left does."""
        settled = False
        while not settled:
            settled = True
            for group in self.groups:
                while failing := group.failing(self.kept):
                    settled = False
                    for one in failing:
                        del self.kept[one]

    def needed(self) -> Invariants | Obligation:
        """The invariants that the other obligations need, and those that these need; or an obligation that does not follow."""
        plain = {loop: strongest(self._of(loop)) for loop in self.execution.invariants}
        execution = replace(self.execution, invariants=plain)
        book = execute(execution)
        places = [(loop, position) for loop in plain for position in range(len(plain[loop]))]
        switches = {variable(f"$on.{loop}.{position}", Sort.BOOL): (loop, position) for loop, position in places}
        stack = Stack(Session(seconds=self.seconds))
        held = {id(obligation): (loop, position) for loop, position, obligation in execution.held}
        uses: dict[Candidate, set[Candidate]] = {}
        wanted: set[Candidate] = set()
        for obligation in book.obligations:
            if obligation.goal is TRUE:
                continue
            outcome = stack.follows(obligation, switches)
            used = {switches[one] for one in outcome.core if one in switches}
            if id(obligation) in held:
                # A solver in doubt here has kept it before, with more to go by; whether it holds is checked again anyhow.
                uses.setdefault(held[id(obligation)], set()).update(used)
            elif outcome.answer is not Answer.UNSAT:
                return obligation
            else:
                wanted |= used
        done: set[Candidate] = set()
        while todo := wanted - done:
            done |= todo
            wanted |= {other for one in todo for other in uses.get(one, ())}
        return {loop: tuple(one for position, one in enumerate(plain[loop]) if (loop, position) in done) for loop in plain}

    def _of(self, loop: int) -> tuple[Term, ...]:
        """The candidates of a loop that are still there."""
        return tuple(one for position, one in enumerate(self.execution.invariants[loop]) if (loop, position) in self.kept)


def strongest(candidates: Sequence[Term]) -> tuple[Term, ...]:
    """Candidates without those that others say more strongly: always instead of under a premise, or with a better bound."""
    kept = set(candidates)
    best: dict[tuple[frozenset[Term], Term, bool], int | Fraction] = {}
    found: dict[Term, None] = {}
    # Equalities first, which say two bounds at once.
    for one in sorted(candidates, key=lambda term: _parted(term)[1].op is not Op.EQUAL):
        premise, conclusion = _parted(one)
        if premise and any(part in kept for part in one.args):
            continue
        rows = _rows(conclusion)
        news = []
        for term, upper, number in rows:
            known = [best[key] for key in ((frozenset[Term](), term, upper), (premise, term, upper)) if key in best]
            if not known or (number < min(known) if upper else number > max(known)):
                news.append(((premise, term, upper), number))
        if news or not rows:
            best.update(news)
            found[one] = None
    return tuple(one for one in candidates if one in found)


def _parted(term: Term) -> tuple[frozenset[Term], Term]:
    """The premise of a candidate, as what is denied of it, and its conclusion."""
    return (frozenset(term.args[:-1]), term.args[-1]) if term.op is Op.OR else (frozenset(), term)


def _rows(term: Term) -> list[tuple[Term, bool, int | Fraction]]:
    """The bounds by numbers that a comparison says, as what is bounded, whether from above, and the number."""
    if term.op is Op.EQUAL and term.args[0].sort is not Sort.BOOL:
        one, other = term.args
        return [(subtract(other, one), upper, 0) for upper in (False, True)]
    if term.op is Op.LESS_EQUAL:
        low, high = map(number_of, term.args)
        return [(term.args[0], True, high)] if high is not None else [(term.args[1], False, low)] if low is not None else []
    return []


@dataclass
class Stack:
    """One session for obligations in the order of the program, whose premises begin alike."""

    session: Session
    frames: list[tuple[Term, ...]] = field(default_factory=list)

    def follows(self, obligation: Obligation, switches: Iterable[Term]) -> Outcome:
        """Ask whether an obligation follows with every switch on."""
        while not self._fits(obligation.premises):
            self.session.pop()
            self.frames.pop()
        rest = obligation.premises[len(self._flat) :]
        self.session.push()
        self.frames.append(rest)
        self.session.add(*rest)
        return self.session.check(*switches, negation(obligation.goal))

    def _fits(self, premises: tuple[Term, ...]) -> bool:
        """True if premises begin with all that has been added."""
        return premises[: len(self._flat)] == self._flat

    @property
    def _flat(self) -> tuple[Term, ...]:
        """All that has been added."""
        return tuple(one for frame in self.frames for one in frame)
