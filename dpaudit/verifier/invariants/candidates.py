"""Guesses of what holds at a loop head: bounds on distances, counters and integers, under simple premises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from dpaudit.verifier.invariants.leads import lead
from dpaudit.verifier.invariants.rounds import Round, bounds, divisors, round_of, terms_of, widths
from dpaudit.verifier.ir import Append, Assign, Block, Draw, For, If, ListOf, Program, Relation, While
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.costs import ODDS, SPENT
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.ledger import FAILED, tail
from dpaudit.verifier.product.rational import at_most, proportion
from dpaudit.verifier.product.runs import OTHER, RETURNED, Invariants, broken_name
from dpaudit.verifier.product.walk import assigned_names, counter_of, draws, loops, statements
from dpaudit.verifier.terms import (
    ONE,
    TRUE,
    ZERO,
    Op,
    Sort,
    Term,
    absolute,
    add,
    choose,
    conjunction,
    constant,
    disjunction,
    equal,
    implies,
    length,
    less,
    less_equal,
    multiply,
    negation,
    negative,
    number_of,
    rename_symbols,
    substitute,
    subterms,
    subtract,
    variable,
    variables,
)


@dataclass(frozen=True)
class Head:
    """The names and numbers at a loop head from which candidates are made."""

    pairs: Neighbours
    changed: tuple[tuple[str, Sort], ...]  # names that the loop may change, with their sorts
    index: Term | None  # the loop's own name, where it has one
    counters: tuple[Term, ...]  # what was spent at each site
    whole: tuple[Term, ...]  # integers that never change: parameters and lengths
    outputs: tuple[Term, ...]  # the ghosts of the discrete outputs
    places: tuple[Term, ...]  # indices at which the program reads that are plain numbers
    chances: tuple[Fraction, ...]  # probabilities with which single draws fail
    falling: tuple[Term, ...]  # integers that the loop counts down
    turn: Round  # what one round does
    outer: tuple[Term, ...]  # the indices of the loops around it
    bounds: tuple[Term, ...]  # public terms that elements are clipped to, or that names start from
    rates: Mapping[str, Term]  # the cost of a unit of each counter
    parameters: frozenset[str]  # names that never change
    named: frozenset[Term]  # symbols of the program and its claim
    times: tuple[int, ...]  # how often loops of a constant number of rounds run

    def guesses(self, *, few: bool) -> Iterator[Term]:
        """All candidates, plain ones first; or few of those that hold under a premise only."""
        premises = tuple(self.premises())
        simple = {*self.distances(few=True), *self.spending(few=True)} if few else set[Term]()
        for conclusion in (*self.distances(), *self.spending()):
            for premise in premises:
                if premise is TRUE or not few or conclusion in simple:
                    yield implies(premise, conclusion)
        yield from self.ranges()
        yield from self.kept()

    def plain(self) -> Iterator[Term]:
        """The few candidates that most loops without draws need: what is equal, and how far apart sums are."""
        for name, sort in self.changed:
            yield equal(variable(name, sort), variable(OTHER + name, sort))
        yield from self.turn.folds()
        yield from (less_equal(counter, ZERO) for counter in self.counters if counter.value != ODDS)

    def simple(self) -> Iterator[Term]:
        """What holds always: distances and costs by one unit, and bounds on integers."""
        yield from (*self.distances(few=True), *self.spending(few=True), *self.ranges())

    def rounds(self) -> Iterator[Term]:
        """Candidates from what one round does, which cost more and are seldom needed."""
        yield from self.turn.folds()
        for guard in self.turn.guards():
            yield from (implies(guard, conclusion) for conclusion in self.distances())
        yield from self.kinds()
        yield from self.budgets()
        for counter in self.counters:
            if counter.value not in (ODDS, FAILED):
                yield from self.turn.potentials(counter)
                yield from (less_equal(counter, added) for added in self.turn.windows())
                for count in self.turn.meetings():
                    yield from (less_equal(counter, multiply(unit, count)) for unit in self.units())

    def kinds(self) -> Iterator[Term]:
        """Names that differ in the rounds alone in which a loop meets one of the two elements at the place of the difference.

        What one run has and the other has not comes from the element of that run.
        """
        for name, sort in self.changed:
            one, other = variable(name, sort), variable(OTHER + name, sort)
            if name.startswith("$"):
                continue
            if sort is Sort.INT and self.index is not None:
                for mine, yours in self.turn.met(self.index):
                    passed = [choose(less(element, self.index), ONE, ZERO) for element in (mine, yours)]
                    yield less_equal(subtract(one, other), passed[0])
                    yield less_equal(subtract(other, one), passed[1])
            for index in self.outer:
                for mine, yours in self.turn.met(index):
                    if sort is Sort.BOOL:
                        yield disjunction(equal(mine, index), negation(one), other)
                        yield disjunction(equal(yours, index), negation(other), one)
                    else:
                        yield disjunction(equal(mine, index), equal(yours, index), equal(one, other))

    def budgets(self) -> Iterator[Term]:
        """What a program has noted as spent, or has left of the claim, covers what it has spent: at one site, or at all."""
        rates = {SPENT: ONE, **self.rates}
        costs = [multiply(counter, rates[str(counter.value)]) for counter in self.counters if str(counter.value) in rates]
        for cost in (*costs, *([add(*costs)] if len(costs) > 1 else ())):
            for name, sort in self.changed:
                if sort is Sort.REAL and not name.startswith("$"):
                    for unit in self.units():
                        for noted in (variable(name, sort), subtract(self.pairs.contract.claim, variable(name, sort))):
                            yield at_most(cost, multiply(unit, noted), self._is_entry)

    def _is_entry(self, symbol: Term) -> bool:
        """True if a symbol is public and never changes."""
        return symbol in self.whole or (symbol.op is Op.VARIABLE and str(symbol.value) in self.parameters)

    def kept(self) -> Iterator[Term]:
        """Bounds that names keep in both runs."""
        for name, sort in self.changed:
            if sort is Sort.REAL and not name.startswith("$"):
                for run in ("", OTHER):
                    one = variable(run + name, sort)
                    yield less_equal(ZERO, one)
                    yield less(ZERO, one)
                    for bound in (*self.bounds, self.pairs.contract.claim):
                        yield less_equal(one, bound)
                        yield less_equal(bound, one)

    def premises(self) -> Iterator[Term]:
        """Where the loop is: left or not, before or after the place where neighbours differ, or that of the output."""
        yield TRUE
        for name, sort in self.changed:
            if name.startswith("$broken") or name == RETURNED:
                yield negation(variable(name, sort))
                if self.index is None:
                    yield variable(name, sort)
            elif sort is Sort.BOOL and not name.startswith("$"):
                yield variable(name, sort)
                yield negation(variable(name, sort))
            elif sort is Sort.REAL and not name.startswith("$"):
                yield negation(equal(variable(name, sort), variable(OTHER + name, sort)))
        yield from self.turn.phases()
        for place in dict.fromkeys((*(self._numbers() if self.index is None else [self.index]), *self.outer, *self.turn.places())):
            yield from self._sides(place)

    def _sides(self, index: Term) -> Iterator[Term]:
        """Before or after a place."""
        for name, _ in self.pairs.contract.changes:
            if self.pairs.relation(name) is Relation.ONE:
                place = self.pairs.position(name)
                yield less_equal(index, place)
                yield less(place, index)
                if index in self.outer:
                    yield less(index, place)
        for output in self.outputs:
            if output.sort is Sort.INT:
                yield less_equal(index, output)
                yield less(output, index)
                for number in self._numbers():
                    yield conjunction(less(output, index), equal(number, output))

    def _numbers(self) -> list[Term]:
        """The integers that the loop may change."""
        return [variable(name, sort) for name, sort in self.changed if sort is Sort.INT and not name.startswith("$")]

    def _fallen(self) -> list[Term]:
        """By how much names that count down have fallen, from each integer that they may have started at."""
        return [subtract(start, name) for name in self.falling for start in self.whole]

    def units(self) -> tuple[Term, ...]:
        """By how much elements differ, where the program or its claim says how much that may be."""
        found: dict[Term, None] = {}
        for name, change in self.pairs.contract.changes:
            if not set(variables(change.bound)) <= self.named:
                # An exchanged record may move any distance, of which nothing that is spent can be a multiple.
                continue
            found[change.bound] = None
            if self.pairs.relation(name) is Relation.ONE:
                found[absolute(self.pairs.change(name, self.pairs.position(name)))] = None
            if self.pairs.relation(name) in (Relation.L1, Relation.L2) and self.index is not None:
                found[self.pairs.spent(name, self.index)] = None
        return (*found, *((ONE,) if ONE not in found else ()))

    def distances(self, *, few: bool = False) -> Iterator[Term]:
        """Bounds on the difference of names between the two runs; few of them are by one unit."""
        for name, sort in self.changed:
            one, other = variable(name, sort), variable(OTHER + name, sort)
            yield equal(one, other)
            if sort is Sort.BOOL or name.startswith("$"):
                continue
            apart = subtract(other, one)
            for unit in self.units():
                for factor in (-1, 1) if few else (-2, -1, 1, 2):
                    bound = multiply(constant(factor), unit)
                    yield less_equal(apart, bound) if factor > 0 else less_equal(bound, apart)
                    if abs(factor) == 1:
                        yield less_equal(bound, apart) if factor > 0 else less_equal(apart, bound)
            yield less_equal(apart, ZERO)
            yield less_equal(ZERO, apart)
            for width in widths(self.bounds) if sort is Sort.REAL else ():
                yield less_equal(apart, width)
                yield less_equal(negative(width), apart)
            for private, _ in self.pairs.contract.changes:
                if self.pairs.relation(private) is Relation.ONE:
                    for index in (self.pairs.position(private), *self.places):
                        change = self.pairs.change(private, index)
                        yield equal(apart, change)
                        yield equal(apart, negative(change))

    def spending(self, *, few: bool = False) -> Iterator[Term]:
        """Bounds on what each site has spent: constant ones, and such as grow with an integer; few are by one unit."""
        growing = [*self._numbers(), *self._fallen(), *([self.index] if self.index is not None else [])]
        for counter in self.counters:
            if counter.value == ODDS:
                yield equal(counter, ONE)
                yield less_equal(counter, self.pairs.contract.odds)
                continue
            yield less_equal(counter, ZERO)
            if counter.value == FAILED:
                yield from self._failing(counter, growing)
                continue
            if counter.value == SPENT:
                yield less_equal(counter, self.pairs.contract.claim)
            for unit in self.units():
                for factor in (1,) if few else (1, 2, *self.times):
                    step = multiply(constant(factor), unit)
                    yield less_equal(counter, step)
                    if few:
                        continue
                    for name in growing:
                        yield less_equal(counter, multiply(step, name))
                        yield less_equal(counter, multiply(step, add(name, ONE)))
                    yield from (
                        less_equal(counter, multiply(step, name))
                        for name in self.whole
                        if name.op is Op.VARIABLE and "(" not in str(name.value)
                    )

    def _failing(self, counter: Term, growing: list[Term]) -> Iterator[Term]:
        """Bounds on the probability of having failed: one draw's, or one's for each round or step."""
        for chance in self.chances:
            yield less_equal(counter, constant(chance))
            for number in growing:
                yield less_equal(counter, multiply(constant(chance), number))
        yield less_equal(counter, self.pairs.contract.delta)

    def ranges(self) -> Iterator[Term]:
        """Bounds on integers: always, as long as the loop is not left, or after its first round; and signs of counters."""
        running = [negation(variable(name, sort)) for name, sort in self.changed if name.startswith("$broken") or name == RETURNED]
        for name, sort in self.changed:
            if sort is Sort.INT and not name.startswith("$"):
                one = variable(name, sort)
                yield less_equal(ZERO, one)
                if one in self.falling:
                    yield from (implies(premise, less_equal(ONE, one)) for premise in running)
                for limit in self.limits():
                    for premise in (TRUE, *running):
                        yield implies(premise, less_equal(one, limit))
                if self.index is not None:
                    for run in ("", OTHER):
                        later = variable(run + name, sort)
                        yield less_equal(ZERO, later)
                        yield less_equal(later, self.index)
                        yield implies(less(ZERO, self.index), less(later, self.index))
        for counter in self.counters:
            yield less_equal(ZERO, counter)

    def limits(self) -> Iterator[Term]:
        """Upper bounds for integers."""
        for name in (*self.whole, *((self.index,) if self.index is not None else ())):
            for factor in (1, 2):
                for less_by in (0, -1, -2):
                    yield add(multiply(constant(factor), name), constant(less_by))


def _weighted(rates: Mapping[str, Term]) -> Iterator[Term]:
    """Sums of counters whose rates are in a fixed proportion, so that they cost alike."""
    names = list(rates)
    for position, first in enumerate(names):
        parts = [variable(first, Sort.REAL)]
        for other in names[position + 1 :]:
            share = proportion(rates[other], rates[first])
            if share is not None:
                parts.append(multiply(constant(share), variable(other, Sort.REAL)))
        if len(parts) > 1:
            yield add(*parts)


def _ended(loop: For | While, number: int, names: Mapping[str, Sort]) -> Iterator[Term]:
    """A `while` loop that was not left by `break` has ended because its test failed, in either run."""
    if isinstance(loop, While) and not any(part.op is Op.APPLY for part in subterms(loop.test)):
        for run in ("", OTHER):
            test = rename_symbols(loop.test, lambda name, run=run: run + name if name in names else name)  # type: ignore[misc]
            yield implies(variable(f"{run}{broken_name(number)}", Sort.BOOL), negation(test))


def _same_again(execution: Execution, loop: For | While, units: Iterable[Term]) -> Iterator[Term]:
    """Draws that hide the same distance in each round of a counted loop have spent it as often as there were rounds."""
    if not isinstance(loop, For):
        return
    changed = {loop.name, *assigned_names(loop.body)}
    # What is equal by then does not count.
    names = {name: sort for name, sort in execution.sorts.items() if name in changed and sort is not Sort.BOOL}
    same = {variable(run + name, sort): constant(0, sort) for name, sort in names.items() for run in ("", OTHER)}
    for draw in draws(loop.body):
        shift, counter = execution.alignment.get(draw.site, ZERO), f"{SPENT}.{draw.site}"
        reads = any(part.op is Op.APPLY and set(variables(part)) & set(same) for part in subterms(shift))
        shift = substitute(shift, same)
        if number_of(shift) is None and counter in execution.counters and not reads:
            rounds = subtract(variable(loop.name, Sort.INT), loop.start)
            spent = variable(counter, Sort.REAL)
            yield less_equal(spent, multiply(rounds, absolute(shift)))
            every = (term for one in statements(execution.program.body) for term in terms_of(one) if not isinstance(one, Draw))
            for divisor in divisors(*every):
                yield from (less_equal(multiply(divisor, spent), multiply(rounds, unit)) for unit in units)


def _falling(body: Block) -> Iterator[Term]:
    """The names from which the statements subtract a number."""
    for statement in statements(body):
        if isinstance(statement, Assign) and statement.value.op is Op.ADD and statement.value.sort is Sort.INT:
            name, numbers = variable(statement.name, Sort.INT), [number_of(part) or 0 for part in statement.value.args]
            if name in statement.value.args and sum(numbers) < 0:
                yield name


def _fixed_places(program: Program) -> Iterator[Term]:
    """The indices that are numbers."""
    for statement in statements(program.body):
        if isinstance(statement, (Assign, Append, If)):
            for part in subterms(statement.test if isinstance(statement, If) else statement.value):
                if part.op is Op.APPLY and number_of(part.args[0]) is not None:
                    yield part.args[0]


def _nested(block: Block, around: tuple[str, ...] = ()) -> Iterator[tuple[For | While, tuple[str, ...]]]:
    """Each loop with the indices of the loops around it."""
    for statement in block:
        match statement:
            case For(name=name, body=body):
                yield statement, around
                yield from _nested(body, (*around, name))
            case While(before=before, body=body):
                yield statement, around
                yield from _nested((*before, *body), around)
            case If(then=then, otherwise=otherwise):
                yield from _nested((*then, *otherwise), around)


class Tier(Enum):
    """How many candidates are tried."""

    FOLDS = "the few that sums need"
    USUAL = "bounds, few of them under premises"
    DEEP = "all bounds under all premises, and what follows from what a round does"


def tiers(program: Program) -> tuple[Tier, ...]:
    """The tiers that are tried, the cheapest first: where loops draw, sums alone do not do."""
    found = loops(program)
    drawn = any(draws((loop,)) for loop in found)
    return (Tier.USUAL, Tier.DEEP) if drawn or not found else (Tier.FOLDS, Tier.USUAL, Tier.DEEP)


def candidates(execution: Execution, tier: Tier = Tier.USUAL) -> Invariants:
    """Candidates for each loop of an execution that has been run with none."""
    whole = [length(one.name) for one in execution.program.parameters if isinstance(one.sort, ListOf)]
    whole += [variable(one.name, Sort.INT) for one in execution.program.parameters if one.sort is Sort.INT]
    counters = (*(variable(name, value.sort) for name, value in execution.counters.items()), *_weighted(execution.meter.rates))
    outputs = tuple(ghost for ghost in execution.output() if ghost is not None)
    cut = execution.meter.cuts
    sites = (one for one in draws(execution.program.body) if isinstance(one, Draw) and one.site in cut)
    chances = tuple(tail(one.law, cut[one.site]) for one in sites)
    places = tuple(dict.fromkeys(_fixed_places(execution.program)))
    outer = {id(loop): around for loop, around in _nested(execution.program.body)}
    contract, every = execution.pairs.contract, statements(execution.program.body)
    named = frozenset(variables(contract.claim, contract.odds, *(term for one in every for term in terms_of(one))))
    counted = (number_of(subtract(one.stop, one.start)) for one in loops(execution.program) if isinstance(one, For))
    times = tuple(dict.fromkeys(int(number) for number in counted if number is not None and number > 2))
    found: dict[int, tuple[Term, ...]] = {}
    for number, loop in enumerate(loops(execution.program), 1):
        names = execution.heads.get(number, {})
        body = (*loop.before, *loop.body) if isinstance(loop, While) else loop.body
        flags = [name for name in names if name.startswith("$")]
        changed = tuple((name, names[name]) for name in (*assigned_names(body), *flags) if name in names)
        # For one output at a time a counter is what an index is.
        counter = loop.name if isinstance(loop, For) else counter_of(loop) if execution.pointwise else None
        index = None if counter is None else variable(counter, Sort.INT)
        falling = tuple(_falling(body))
        around = tuple(variable(name, Sort.INT) for name in outer[id(loop)])
        turn = round_of(loop, execution.pairs)
        head = Head(
            execution.pairs, changed, index, counters, tuple(whole), outputs, places, chances, falling,
            turn, around, bounds(execution.program), execution.meter.rates, execution.meter.fixed, named,
            times,
        )  # fmt: skip
        guesses = [*_ended(loop, number, names), *_same_again(execution, loop, head.units())]
        if execution.rivals is not None:
            guesses = [*head.simple(), *lead(execution, loop, changed), *guesses]
        elif tier is Tier.FOLDS:
            guesses = [*head.plain(), *guesses]
        else:
            sums = () if draws(body) else turn.folds()
            guesses = [*sums, *head.guesses(few=tier is Tier.USUAL), *(head.rounds() if tier is Tier.DEEP else ()), *guesses]
        found[number] = tuple(dict.fromkeys(one for one in guesses if one is not TRUE))
    return found
