"""What one round of a loop does to its names, as far as its form shows it, and the candidates that follow from that.

The place of the difference is a ghost k, so that the element there in each run, u and w, is known at every loop head. A fold adds
something of its own element in each round: after k its two values lie apart by what the round adds for w less what it adds for u.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from dpaudit.verifier.ir import Append, Assign, Block, Break, Check, Continue, For, If, Program, Relation, Return, While
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.runs import OTHER
from dpaudit.verifier.product.walk import assigned_names, statements
from dpaudit.verifier.terms import (
    ONE,
    ZERO,
    Op,
    Sort,
    Term,
    absolute,
    add,
    apply,
    choose,
    conjunction,
    constant,
    equal,
    less,
    less_equal,
    linear_in,
    multiply,
    negative,
    number_of,
    substitute,
    subterms,
    subtract,
    variable,
    variables,
)


@dataclass(frozen=True)
class Round:
    """One round of a loop."""

    loop: For | While
    pairs: Neighbours
    changed: frozenset[str]  # the names that the loop may change, its own index among them
    after: Mapping[Term, Term] = field(default_factory=dict)  # the value of a name after the round, over the names before it

    def index(self) -> Term | None:
        """The name that says how far the loop is: its own, or the one number that each round of a `while` loop raises by one."""
        if isinstance(self.loop, For):
            return variable(self.loop.name, Sort.INT)
        raised = [name for name, value in self.after.items() if name.sort is Sort.INT and value is add(name, ONE)]
        return raised[0] if len(raised) == 1 else None

    def folds(self) -> Iterator[Term]:
        """How far apart a name is after the place of the difference, for names to which each round adds something."""
        index = self.index()
        for name, value in self.after.items():
            added = _added(value, name)
            if index is None or name is index or added is None or added is ZERO:
                continue
            if any(str(one.value) in self.changed for one in variables(added) - {index}):
                continue
            for private in self._privates():
                reads = [part for part in subterms(added) if part.op is Op.APPLY and part.value == private]
                if reads and all(one.args[0] is index for one in reads):
                    place = self.pairs.position(private)
                    first = substitute(added, {index: place})
                    second = substitute(first, {element: _other(element) for element in _elements(first, private)})
                    passed = conjunction(less_equal(self._start(), place), less(place, index))
                    apart = subtract(variable(OTHER + str(name.value), name.sort), name)
                    yield equal(apart, choose(passed, subtract(second, first), ZERO))
                    for divisor in divisors(first):
                        # Solvers take products with the divisor for one number, quotients by it for another.
                        whole = choose(passed, subtract(_without(second, divisor), _without(first, divisor)), ZERO)
                        yield equal(multiply(divisor, apart), whole)

    def potentials(self, counter: Term) -> Iterator[Term]:
        """What was spent and what is still hidden together, for names that keep a part of themselves in each round."""
        for name, value in self.after.items():
            fresh, kept = linear_in(value, name) or (value, ONE)
            numbers = number_of(kept)
            if kept in (ZERO, ONE) or any(part.op is Op.APPLY or str(part.value) in self.changed for part in subterms(kept)):
                continue
            if numbers is not None and not 0 < numbers < 1:
                continue
            apart = absolute(subtract(variable(OTHER + str(name.value), name.sort), name))
            lost = subtract(ONE, kept)
            for private in self._privates():
                for read in (part for part in subterms(fresh) if part.op is Op.APPLY and part.value == private):
                    weight = (linear_in(fresh, read) or (ZERO, ZERO))[1]
                    most = multiply(weight, self.pairs.bound(private))
                    yield less_equal(add(multiply(lost, counter), multiply(kept, apart)), most)
                    yield less_equal(add(multiply(lost, counter), apart), most)

    def windows(self) -> Iterator[Term]:
        """What the rounds so far have added up of one element that several of them read: its weight in each, times its change."""
        index = self.index()
        if index is None:
            return
        for private in self._privates():
            weights: dict[int, Fraction] = {}
            for term in (one for statement in statements(self.loop.body) for one in terms_of(statement)):
                for read in {part for part in subterms(term) if part.op is Op.APPLY and part.value == private}:
                    start, step = linear_in(read.args[0], index) or (index, ZERO)
                    offset = number_of(start) if step is ONE else None
                    weight = number_of((linear_in(term, read) or (ZERO, ZERO))[1])
                    if offset is not None and weight:
                        weights[int(offset)] = max(abs(Fraction(weight)), weights.get(int(offset), Fraction(0)))
            if len(weights) > 1:
                place = self.pairs.position(private)
                change = absolute(self.pairs.change(private, place))
                yield add(
                    *(
                        choose(less(subtract(place, constant(offset)), index), multiply(constant(weight), change), ZERO)
                        for offset, weight in sorted(weights.items())
                    )
                )

    def meetings(self) -> Iterator[Term]:
        """How many of the two elements at the place of the difference are below the loop's index, where elements meet it."""
        index = self.index()
        found = {} if index is None else self._elements_met(index)
        counts = [choose(less(one, index or ZERO), ONE, ZERO) for one in found]
        others = (self._in_other(one) for one in found)
        both = [
            add(count, choose(less(other, index or ZERO), ONE, ZERO))
            for count, other, one in zip(counts, others, found, strict=True)
            if other is not one
        ]
        yield from counts
        yield from both
        if len(both) > 1:
            yield add(*both)

    def met(self, index: Term) -> Iterator[tuple[Term, Term]]:
        """The elements at the place of the difference, in both runs, where the loop compares elements with an index."""
        yield from ((one, self._in_other(one)) for one in self._elements_met(index))

    def _elements_met(self, index: Term) -> dict[Term, None]:
        """The elements that are compared with an index, read at the place of the difference."""
        found: dict[Term, None] = {}
        for part in (one for statement in statements(self.loop.body) for one in subterms(*terms_of(statement))):
            if part.op is not Op.EQUAL or index not in part.args:
                continue
            met = part.args[part.args[0] is index]
            # An element, or one that a number is added to.
            summed = met.op is Op.ADD and len(met.args) == 2 and any(number_of(one) is not None for one in met.args)
            element = next((one for one in (met.args if summed else (met,)) if one.op is Op.APPLY), None)
            if element is not None:
                for private in self._privates():
                    own = element.value == private and number_of(element.args[0]) is not None
                    place = element.args[0] if own else self.pairs.position(private)
                    found[substitute(met, {element: apply(str(element.value), (place,), element.sort)})] = None
        return found

    def _in_other(self, term: Term) -> Term:
        """A term in the second run, as far as its private elements go."""
        return substitute(term, {part: _other(part) for part in subterms(term) if self.pairs.relation(str(part.value)) is not None})

    def phases(self) -> Iterator[Term]:
        """Tests whether an integer that the loop changes has a value that the program gives it."""
        found: dict[Term, None] = {}
        for statement in statements(self.loop.body):
            if isinstance(statement, Assign) and statement.value.sort is Sort.INT and number_of(statement.value) is not None:
                name = variable(statement.name, Sort.INT)
                found |= {equal(name, constant(int(number_of(statement.value) or 0) - back)): None for back in (0, 1)}
        yield from list(found)[:_MOST_PHASES]

    def guards(self) -> Iterator[Term]:
        """Tests of a round that are about names at the head alone, such as whether there are answers left."""
        found: dict[Term, None] = {}
        if isinstance(self.loop, While) and not any(one.op is Op.APPLY for one in subterms(self.loop.test)):
            # What is drawn for the next round is only moved where there is one.
            found[self.loop.test] = None
        for position, statement in enumerate(self.loop.body):
            test = statement.test if isinstance(statement, If) else ZERO
            if test.op in (Op.LESS, Op.LESS_EQUAL) and not any(one.op is Op.APPLY for one in subterms(test)):
                names = {str(one.value) for one in variables(test)}
                # Names that the round has changed before are not those at the head.
                if names & self.changed and not names & {
                    *assigned_names(self.loop.body[:position]),
                    *([self.loop.name] if isinstance(self.loop, For) else []),
                }:
                    found[test] = None
        yield from list(found)[:_MOST_GUARDS]

    def places(self) -> Iterator[Term]:
        """The indices of private elements that are read, over the names at the head: indices of inner loops at their start."""
        inner = {variable(one.name, Sort.INT): one.start for one in statements(self.loop.body) if isinstance(one, For)}
        names = {str(one.value) for one in inner}
        for statement in statements(self.loop.body):
            for part in subterms(*terms_of(statement)):
                if part.op is Op.APPLY and part.value in self._privates():
                    place = substitute(part.args[0], inner)
                    whole = not any(one.op is Op.APPLY for one in subterms(place))
                    if whole and number_of(place) is None and not {str(one.value) for one in variables(place)} & names:
                        yield place

    def _privates(self) -> list[str]:
        """The lists that differ at one place."""
        return [name for name, _ in self.pairs.contract.changes if self.pairs.relation(name) is Relation.ONE]

    def _start(self) -> Term:
        """The first value of the index."""
        return self.loop.start if isinstance(self.loop, For) else ZERO


def round_of(loop: For | While, pairs: Neighbours) -> Round:
    """One round of a loop, by its form."""
    body = (*loop.before, *loop.body) if isinstance(loop, While) else loop.body
    own = (loop.name,) if isinstance(loop, For) else ()
    changed = frozenset((*assigned_names(body), *own))
    after: dict[Term, Term | None] = {}
    _follow(body, after)
    return Round(loop, pairs, changed, {name: value for name, value in after.items() if value is not None})


def bounds(program: Program) -> tuple[Term, ...]:
    """Public terms that elements are clipped to, or that names start from."""
    changed = {*assigned_names(program.body), *(one.name for one in statements(program.body) if isinstance(one, For))}

    def is_fixed(term: Term) -> bool:
        return not any(part.op is Op.APPLY or str(part.value) in changed for part in subterms(term))

    found: dict[Term, None] = {}
    for statement in statements(program.body):
        tests = [part.args[0] for part in subterms(*terms_of(statement)) if part.op is Op.CHOOSE]
        if isinstance(statement, If):
            given = [one.value for one in (*statement.then, *statement.otherwise) if isinstance(one, Assign)]
            found |= {value: None for value in given if value.sort is Sort.REAL and is_fixed(value)}
            tests += [statement.test] if given else []
        for test in tests:
            if test.op in (Op.LESS, Op.LESS_EQUAL) and is_fixed(test.args[0]) is not is_fixed(test.args[1]):
                found[test.args[is_fixed(test.args[1])]] = None
        if isinstance(statement, Assign) and statement.value.sort is Sort.REAL and is_fixed(statement.value):
            found[statement.value] = None
    return tuple(_without_sorts(found))[:_MOST_BOUNDS]


_MOST_BOUNDS: Final = 4
_MOST_PHASES: Final = 4
_MOST_GUARDS: Final = 1


def widths(limits: tuple[Term, ...]) -> tuple[Term, ...]:
    """Distances between bounds, and their sizes."""
    found: dict[Term, None] = {}
    for one in limits:
        for other in limits:
            width = subtract(one, other)
            number = number_of(width)
            if one is not other and (number is None or number > 0):
                found[width] = None
        size = number_of(one)
        if size is None:
            found |= {one: None, negative(one): None}
        elif size:
            found[constant(abs(Fraction(size)))] = None
    return tuple(found)


def _without_sorts(terms: Mapping[Term, None]) -> Iterator[Term]:
    """Terms, numbers as reals and each once."""
    seen: set[Term] = set()
    for term in terms:
        number = number_of(term)
        plain = term if number is None else constant(Fraction(number))
        if plain not in seen and term.sort is not Sort.BOOL:
            seen.add(plain)
            yield plain


def _follow(block: Block, after: dict[Term, Term | None]) -> None:
    """The values of names after a block; None where its form does not say."""
    for statement in block:
        match statement:
            case Assign(name=name, value=value):
                after[variable(name, value.sort)] = _now(value, after)
            case If(test=test, then=then, otherwise=otherwise):
                sides = [dict(after), dict(after)]
                _follow(then, sides[0])
                _follow(otherwise, sides[1])
                now = _now(test, after)
                for known in (*sides[0], *(other for other in sides[1] if other not in sides[0])):
                    one, two = (side.get(known, known) for side in sides)
                    after[known] = None if now is None or one is None or two is None else _either(now, one, two)
            case Append() | Check() | Break() | Continue() | Return():
                pass
            case _:
                for changed in assigned_names((statement,)):
                    after |= {variable(changed, sort): None for sort in Sort}


def _either(test: Term, one: Term, other: Term) -> Term:
    """The value of a name after a branch."""
    return one if one is other else choose(test, one, other)


def _now(term: Term, after: Mapping[Term, Term | None]) -> Term | None:
    """A term with the values of names so far; None where one of them is not known."""
    used = {name: after[name] for name in variables(term) if name in after}
    known = {name: value for name, value in used.items() if value is not None}
    return substitute(term, known) if len(known) == len(used) else None


def _added(value: Term, name: Term) -> Term | None:
    """What is added to a name to give a value; None where the value is not that."""
    if value is name:
        return ZERO
    if value.op is Op.CHOOSE and name not in variables(value.args[0]):
        one, other = (_added(branch, name) for branch in value.args[1:])
        return None if one is None or other is None else choose(value.args[0], one, other)
    if value.op is Op.ADD:
        own = [part for part in value.args if name in variables(part)]
        rest = [part for part in value.args if name not in variables(part)]
        before = _added(own[0], name) if len(own) == 1 else None
        return None if before is None else add(before, *rest)
    return None


def divisors(*terms: Term) -> tuple[Term, ...]:
    """What the terms divide by, where that is no number."""
    found = (part.args[1] for part in subterms(*terms) if part.op is Op.DIVIDE and number_of(part.args[1]) is None)
    return tuple(dict.fromkeys(found))


def _without(term: Term, divisor: Term) -> Term:
    """A term times a divisor, where all of it is divided by that."""
    quotients = [part for part in subterms(term) if part.op is Op.DIVIDE and part.args[1] is divisor]
    return substitute(term, {part: part.args[0] for part in quotients})


def _elements(term: Term, private: str) -> Iterator[Term]:
    """The elements of a list that a term reads."""
    return (part for part in subterms(term) if part.op is Op.APPLY and part.value == private)


def _other(element: Term) -> Term:
    """The same element in the second run."""
    return apply(OTHER + str(element.value), element.args, element.sort)


def terms_of(statement: object) -> tuple[Term, ...]:
    """The expressions that a statement itself evaluates."""
    parts = [getattr(statement, name, None) for name in ("value", "test")]
    parts += [*getattr(statement, "args", ()), *getattr(statement, "values", ())]
    return tuple(part for part in parts if isinstance(part, Term))
