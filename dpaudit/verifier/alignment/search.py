"""The search for an alignment, by growing number of non-zero coefficients, guided by data and noise that defeated earlier ones.

Loops are run a few rounds and parameters of scales and claims are fixed, so that what is found is a guess; it is proven elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product
from typing import Any, Final, TypeAlias

from dpaudit.verifier.alignment.ahead import is_lead, leads
from dpaudit.verifier.alignment.templates import Template, baseline, narrow, templates
from dpaudit.verifier.frontend import expression
from dpaudit.verifier.fuel import clock, spend
from dpaudit.verifier.ir import For, ListOf, Program, Relation
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.costs import Meter
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.ledger import WITHIN
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.product.runs import OTHER, Alignment, Misused
from dpaudit.verifier.product.statements import execute
from dpaudit.verifier.product.walk import draw_names, draws, loops, statements
from dpaudit.verifier.solving import Answer, Model, Session
from dpaudit.verifier.terms import (
    FALSE,
    ONE,
    ZERO,
    Op,
    Sort,
    Term,
    add,
    choose,
    conjunction,
    constant,
    equal,
    length,
    less_equal,
    negation,
    substitute,
    subterms,
    variable,
    variables,
)

Inputs: TypeAlias = Mapping[str, Any]
"""A value for each parameter; lists are tuples."""

Meanwhile: TypeAlias = Callable[[Callable[[], Sequence[tuple[Inputs, Inputs]]]], None]
"""What is done between the steps of a search, given the neighbours that defeated alignments so far."""

LARGEST: Final = 2
"""The largest coefficient."""
ROUNDS: Final = (2, 3, 5)
"""Numbers of rounds for which loops are run, few first."""
_MANY_ROUNDS: Final = 13
"""Rounds after which a shift that costs a twelfth of the claim each time has been found out, for alignments of thresholds."""
_MOST_TESTS: Final = 3
"""Tests of one draw that may have a piece each, where one piece on each side of the first test does not do."""
_EVERYWHERE: Final = (Relation.ALL, Relation.INC, Relation.DEC)
"""Relations by which every element may change."""
_LONG: Final = 0.7
"""Seconds for one number of rounds after which no larger one is looked at."""
_MOST_EXAMPLES: Final = 8
"""Neighbours that are handed over."""
_BY_FORM: Final = ("triangular", "piecewise", "lattice", "prefix")
"""Kinds of obligation that say nothing while coefficients are unknown."""


@dataclass
class Bounded:
    """The condition on unknown coefficients when loops are run a fixed number of times."""

    facts: tuple[Term, ...]  # what is known, of inputs, ghosts and noise
    goal: Term
    parts: tuple[tuple[Obligation, Term], ...]  # the obligations that it is made of, each with its goal


@dataclass(frozen=True)
class Defeat:
    """Data and noise for which coefficients did not do."""

    stage: Bounded  # what had to hold
    values: Mapping[Term, Term]  # the coefficients
    model: Model  # the data and the noise


@dataclass
class Search:
    """One search; alignments are handed out until there are no more, or time is up."""

    program: Program
    pairs: Neighbours
    pointwise: bool = False  # whether the alignment is for one output
    given: Alignment = field(default_factory=dict)  # shifts that the user gave
    alike: Sequence[Alignment] = ()  # alignments that did for neighbours like these, tried first
    meanwhile: Meanwhile | None = None
    defeats: list[Defeat] = field(default_factory=list, init=False)
    late: bool = field(default=False, init=False)

    def found(self) -> Iterator[Alignment]:
        """Alignments that no example defeats, with few non-zero coefficients first."""
        hiding = baseline(self.program, self.pairs)
        if set(hiding) <= set(self.given):
            yield dict(self.given)
            return
        hiding |= self.given
        rounds = self.rounds()
        thresholds, reversed_ = (self._narrow(failed=failed) for failed in (False, True))
        tested = any(one.tests for one in thresholds)
        longer = (*rounds, _MANY_ROUNDS) if rounds == ROUNDS else rounds
        # Where all answers differ, hiding them costs as much in each round, which takes many rounds to find out.
        everywhere = any(self.pairs.relation(name) in _EVERYWHERE for name, _ in self.pairs.contract.changes)
        late = tested and not self.pointwise and everywhere
        for first in (*self.alike, *self._ahead(), *(() if late else (hiding,))):
            if self.stands(first, rounds):
                yield first
        if tested:
            # What fits thresholds at all mostly does; only if not, many rounds are worth their time.
            yield from self.fitted(thresholds, rounds, longer)
            yield from self.fitted(reversed_, rounds, longer)
        if late and self.stands(hiding, longer):
            yield hiding
        earlier: list[Template] = []
        for most in (1, _MOST_TESTS):
            shapes = [one for one in templates(self.program, self.pairs, self._output(), most) if one.site not in self.given]
            if shapes != earlier:
                yield from self.fitted(shapes, longer, longer)
            earlier = shapes

    def _narrow(self, *, failed: bool) -> list[Template]:
        """The few shapes of thresholds."""
        return [one for one in narrow(self.program, self.pairs, failed=failed) if one.site not in self.given]

    def _ahead(self) -> tuple[Alignment, ...]:
        """Alignments that look at later noise, where a number is put out beside an index."""
        fits = self.pointwise and not self.given and is_lead(self.program, self.pairs)
        return tuple(leads(self.program, self.pairs)) if fits else ()

    def stands(self, alignment: Alignment, rounds: tuple[int, ...]) -> bool:
        """True if no example defeats an alignment without unknowns, as far as that is seen soon: a proof is tried anyway."""
        for number in rounds:
            started = clock()
            if self.defeated(self.bounded(alignment, number), {}) is not None:
                return False
            if clock() - started > _LONG:
                break
        return True

    def fitted(self, shapes: list[Template], first: tuple[int, ...], later: tuple[int, ...] | None = None) -> Iterator[Alignment]:
        """Alignments of these shapes: the first after so many rounds, those that are asked for after it after others."""
        rounds = first
        unknowns = [one for shape in shapes for piece in shape.unknowns() for one in piece]
        alignment = dict(self.given) | {shape.site: shape.shift() for shape in shapes}
        stages: dict[int, Bounded] = {}
        solver = Session(seconds=5.0)
        for one in unknowns:
            solver.add(less_equal(constant(-LARGEST), one), less_equal(one, constant(LARGEST)))
        count = add(*(choose(equal(one, ZERO), ZERO, ONE) for one in unknowns))
        size = 0
        while size <= len(unknowns):
            spend()
            if self.meanwhile is not None:
                self.meanwhile(self.examples)
            outcome = solver.check(less_equal(count, constant(size)))
            if outcome.answer is not Answer.SAT or outcome.model is None:
                if solver.check().answer is Answer.UNSAT:
                    break
                size += 1
                continue
            values = {one: constant(outcome.model.value(one)) for one in unknowns}
            chosen = conjunction(*(equal(one, value) for one, value in values.items()))
            for number in rounds:
                if number not in stages:
                    stages[number] = self.bounded(alignment, number)
                example = self.defeated(stages[number], values)
                if example is not None:
                    # Elements whose place depends on the coefficients stay open, so that these coefficients may come again.
                    solver.add(substitute(stages[number].goal, example), negation(chosen))
                    break
            else:
                yield {site: substitute(shift, values) for site, shift in alignment.items()}
                rounds = later or first
                # Not this alignment again: whoever asks for the next one could not prove it.
                solver.add(negation(chosen))

    def rounds(self) -> tuple[int, ...]:
        """Numbers of rounds to look at; loops in loops are run less often, since their rounds multiply."""
        found = loops(self.program)
        nested = any(loops(replace(self.program, body=one.body)) for one in found)
        return ROUNDS[:1] if not found else ROUNDS[:2] if nested else ROUNDS

    def _output(self) -> Term | None:
        """The ghost of a discrete output, where there is one."""
        if not self.pointwise:
            return None
        ghosts = Execution(self.program, self.pairs, {}, {}, pointwise=True).output()
        return next((one for one in ghosts if one is not None and one.sort is Sort.INT), None)

    def bounded(self, alignment: Alignment, rounds: int) -> Bounded:
        """Build the condition for so many rounds, with the parameters of scales and claim fixed."""
        execution = Execution(self.program, self.pairs, alignment, {}, self.pointwise, rounds)
        book = execute(execution)
        fixed = {one: constant(value, one.sort) for one, value in self.fixed().items()}
        facts = tuple(substitute(fact, fixed) for fact, lemma in book.facts.items() if not lemma)
        owed = [one for one in book.obligations if one.kind not in _BY_FORM and one.line > 0]
        parts = tuple((one, substitute(one.goal, fixed)) for one in owed)
        return Bounded(facts, conjunction(*(goal for _, goal in parts)), parts)

    def fixed(self) -> dict[Term, int | Fraction]:
        """Small values of the parameters in scales and claim that meet what is required of them."""
        meter = Meter(self.program, self.pairs)
        terms = [argument for draw in draws(self.program.body) for argument in draw.args if isinstance(argument, Term)]
        sorts = {one.name: one.sort for one in self.program.parameters if not isinstance(one.sort, ListOf)}
        symbols = [one for one in variables(self.pairs.contract.claim, *terms) if str(one.value) in meter.fixed & set(sorts)]
        symbols.sort(key=lambda one: str(one.value))
        # A number of times that is 1 would hide what happens from time to time.
        choices = [(2, 1, 3) if one.sort is Sort.INT else (1, 2, 3) for one in symbols]
        for values in product(*choices):
            chosen = dict(zip(symbols, values, strict=True))
            put = {one: constant(value, one.sort) for one, value in chosen.items()}
            if all(substitute(clause, put) is not FALSE for clause in self.pairs.contract.requires):
                return dict(chosen)
        return {}

    def defeated(self, stage: Bounded, values: Mapping[Term, Term]) -> Mapping[Term, Term] | None:
        """Data and noise for which these coefficients do not do; None where there are none or none are found."""
        goal = substitute(stage.goal, values)
        session = Session(seconds=3.0)
        session.add(*(substitute(fact, values) for fact in stage.facts), negation(goal))
        outcome = session.check()
        if outcome.answer is not Answer.SAT or outcome.model is None:
            return None
        self.defeats.append(Defeat(stage, values, outcome.model))
        example: dict[Term, Term] = {}
        for part in subterms(stage.goal):
            if part in values or part.op not in (Op.VARIABLE, Op.APPLY) or (set(variables(part)) & set(values)):
                continue
            value = outcome.model.value(part)
            example[part] = constant(value) if part.sort is Sort.BOOL else constant(value, part.sort)
        return example

    def stuck(self) -> Obligation | None:
        """The first obligation that the alignment tried last does not fulfil, as the data that defeated it show."""
        for defeat in self.defeats[-1:]:
            for one, goal in defeat.stage.parts:
                if defeat.model.value(substitute(goal, defeat.values)) is not True:
                    return one
        return None

    def examples(self) -> list[tuple[Inputs, Inputs]]:
        """The data that defeated alignments, the last first: neighbours that a counterexample may be made from."""
        return list(islice(self._examples(), _MOST_EXAMPLES))

    def _examples(self) -> Iterator[tuple[Inputs, Inputs]]:
        """All such data."""
        fixed = {str(symbol.value): value for symbol, value in self.fixed().items()}
        for defeat in reversed(self.defeats):
            value = defeat.model.value
            sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
            for one in self.program.parameters:
                if not isinstance(one.sort, ListOf):
                    number = fixed.get(one.name, value(variable(one.name, one.sort)))
                    for side in sides:
                        side[one.name] = Fraction(number) if one.sort is Sort.REAL else number
                    continue
                places = [constant(place) for place in range(min(int(value(length(one.name))), ROUNDS[-1]))]
                for run, side in enumerate(sides, 1):
                    read = (value(self.pairs.read(run, one.name, place)) for place in places)
                    side[one.name] = tuple(Fraction(number) if one.sort.element is Sort.REAL else number for number in read)
            yield sides


def user_alignment(program: Program, pairs: Neighbours, *, pointwise: bool) -> Alignment:
    """The shifts that a contract gives, by site: read by the front end, and checked like any other alignment."""
    symbols = dict(program.sorts)
    symbols |= {one.name: one.sort for one in program.parameters if not isinstance(one.sort, ListOf)}
    symbols |= {one.name: Sort.INT for one in statements(program.body) if isinstance(one, For)}
    lists = {one.name: one.sort.element for one in program.parameters if isinstance(one.sort, ListOf)}
    symbols |= {OTHER + name: sort for name, sort in symbols.items()}
    lists |= {OTHER + name: sort for name, sort in lists.items()}
    ghosts = Execution(program, pairs, {}, {}, pointwise).ghosts()
    symbols |= {str(ghost.value): ghost.sort for ghost in ghosts}
    named = [(name, draw.site) for draw in draws(program.body) for name in draw_names(draw)]
    # A line with several draws names none of them.
    often = Counter(name for name, _ in named if name.startswith("line "))
    sites = {name: site for name, site in named if often[name] < 2}
    found: dict[int, Term] = {}
    for name, text in pairs.contract.align:
        if name.endswith(WITHIN):
            continue
        if name not in sites:
            raise Misused(f"an alignment is given for {name}, which names no draw; draws are {', '.join(sorted(sites))}")
        found[sites[name]] = expression(text, symbols, lists).term
    return found
