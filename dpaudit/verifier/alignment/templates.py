"""Shapes that the shift of a draw may have: one piece on each side of its first test, each a small sum of distances.

A draw's noise is followed through the statements after it. Where it ends in a test or an output as `rest + factor * noise`, moving
it by minus the distance of `rest` over the factor hides the difference, so that such distances are what sums are made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from dpaudit.verifier.ir import (
    ON_LATTICE,
    Append,
    Assign,
    Block,
    Draw,
    For,
    If,
    Invoke,
    Program,
    Return,
    Statement,
    While,
)
from dpaudit.verifier.product.adjacency import Neighbours
from dpaudit.verifier.product.laws import FINITE, NORMAL
from dpaudit.verifier.product.runs import OTHER
from dpaudit.verifier.product.walk import assigned_names, counter_of, statements
from dpaudit.verifier.terms import (
    Op,
    Sort,
    Term,
    add,
    choose,
    conjunction,
    constant,
    divide,
    equal,
    linear_in,
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

UNKNOWN: Final = "?"
"""Marks names whose value is unknown or does not depend linearly on the noise."""


@dataclass(frozen=True)
class Template:
    """The shape of one shift."""

    site: int
    tests: tuple[Term, ...]  # where the pieces begin and end, over names at the draw; the last piece is the rest
    basis: tuple[Term, ...]  # what the sum of each piece is made from
    still: bool = False  # whether the noise stays where it is in the last piece

    def unknowns(self) -> tuple[tuple[Term, ...], ...]:
        """The coefficients of each piece."""
        return tuple(
            tuple(variable(f"$theta.{self.site}.{piece}.{part}", Sort.INT) for part in range(len(self.basis)))
            for piece in range(len(self.tests) + (not self.still))
        )

    def shift(self) -> Term:
        """The shift with its coefficients unknown."""
        pieces = [add(*map(multiply, unknowns, self.basis)) for unknowns in self.unknowns()]
        if self.still:
            pieces.append(constant(0, Sort.INT))
        found = pieces[-1]
        for test, piece in zip(reversed(self.tests), reversed(pieces[:-1]), strict=True):
            found = choose(test, piece, found)
        return found


def narrow(program: Program, pairs: Neighbours, *, failed: bool = False) -> tuple[Template, ...]:
    """Few shapes: noise that is tested keeps a test as it is or is not moved, other noise moves by whole units.

    Thresholds that noise is compared with are aligned like this: they give way, and an answer hides what it differs by only where
    it passes one of them; where tests ask whether it does not pass, only where they have `failed`.
    """
    differing = _differing(program, pairs)
    units = tuple(dict.fromkeys(change.bound for _, change in pairs.contract.changes))
    own = {one.name for one in statements(program.body) if isinstance(one, For)}
    found = []
    for draw, around, uses, again in _followed(program):
        kept = dict.fromkeys(_distance(rest, differing) for rest in uses.tested) if draw.law not in NORMAL and uses.tests else {}
        basis = tuple(one for one in kept if number_of(one) is None)
        if basis:
            tests = uses.failed if failed else uses.tests
            found.append(Template(draw.site, tuple(_alternatives(tests)), basis, still=True))
            continue
        # What is drawn at the end of a round for the next one gives way only where the next one tests it.
        later = Uses(uses.noise)
        if not uses.asked:
            later.follow(
                again, {variable(name, Sort.INT): variable(UNKNOWN + name, Sort.INT) for name in around[-1:] if name in own}
            )
        where = tuple(later.asked[:1])
        # What goes to an output hides a difference.
        hidden = dict.fromkeys(_distance(rest, differing) for rest, factor in uses.rests if factor in (-1, 1))
        basis = (*units, *(one for one in hidden if number_of(one) is None and one not in units))
        found.append(Template(draw.site, where, basis, still=bool(where)))
    return tuple(found)


def _alternatives(tests: list[Term]) -> Iterator[Term]:
    """The tests, one that asks for one of several things as often as there are such things."""
    for test in tests:
        path, asked = (test.args[:-1], test.args[-1]) if test.op is Op.AND else ((), test)
        both = asked.op is Op.NOT and asked.args[0].op is Op.AND
        parts = map(negation, asked.args[0].args) if both else asked.args if asked.op is Op.OR else (asked,)
        yield from (conjunction(*path, part) for part in parts)


def templates(program: Program, pairs: Neighbours, output: Term | None, most: int = 1) -> tuple[Template, ...]:
    """A template for each draw whose noise can be moved, with a piece for each of its first tests."""
    found = []
    for draw, loops, uses, _ in _followed(program):
        tests = [] if draw.law in NORMAL else uses.tests[:most]
        if output is not None:
            # A draw before the loop is often that of the first candidate.
            first = (
                [equal(output, constant(0))] if most == 1 and any(isinstance(one, (For, While)) for one in program.body) else tests
            )
            tests = [equal(variable(name, Sort.INT), output) for name in loops] or first
        found.append(Template(draw.site, tuple(tests), tuple(_basis(program, pairs, uses))))
    return tuple(found)


def baseline(program: Program, pairs: Neighbours) -> dict[int, Term]:
    """The alignment that hides each difference where noise first meets it, so that what comes after is equal in both runs."""
    differing = _differing(program, pairs)
    return {draw.site: _hiding(draw, uses.first, differing) for draw, _, uses, _ in _followed(program)}


def _hiding(draw: Draw, met: tuple[Term, Term] | None, differing: frozenset[str]) -> Term:
    """The shift by which `rest + factor * noise` stays what it is."""
    if met is None:
        return constant(0, Sort.INT)
    rest, factor = met
    distance = _distance(rest, differing)
    number = number_of(factor)
    if number is None:
        # A factor that differs too would have to be hidden otherwise.
        known = not any(part.op is Op.APPLY or str(part.value) in differing for part in subterms(factor))
        return divide(negative(distance), factor) if known and draw.law not in ON_LATTICE else constant(0, Sort.INT)
    return negative(distance) if number == 1 else multiply(constant(Fraction(-1) / number), distance)


def _followed(program: Program) -> Iterator[tuple[Draw, tuple[str, ...], Uses, Block]]:
    """Each draw whose noise can be moved, with the names of the loops around it and the places where its noise ends.

    Last are the statements from there to the end of the next round, where a loop is around it.
    """
    for draw, after, loops, turn in _draws(program.body, (), ()):
        if draw.law not in FINITE:
            uses = Uses(variable(draw.name, dict(program.sorts)[draw.name]))
            uses.follow(after, {})
            yield draw, loops, uses, (*after, *turn)


def _differing(program: Program, pairs: Neighbours) -> frozenset[str]:
    """The names that may differ between the runs."""
    return frozenset((*assigned_names(program.body), *(name for name, _ in pairs.contract.changes)))


def _draws(
    block: Block, after: Block, loops: tuple[str, ...], turn: Block = ()
) -> Iterator[tuple[Draw, Block, tuple[str, ...], Block]]:
    """Each draw with what is run after it in its round, the names of the loops around it, and a round of the innermost one."""
    for position, statement in enumerate(block):
        rest = (*block[position + 1 :], *after)
        match statement:
            case Draw():
                yield statement, rest, loops, turn
            case If(then=then, otherwise=otherwise):
                yield from _draws(then, rest, loops, turn)
                yield from _draws(otherwise, rest, loops, turn)
            case For(name=name, body=body):
                yield from _draws(body, (), (*loops, name), body)
            case While(place=place, before=before, test=test, body=body):
                # The next round comes under the loop's test.
                counter = counter_of(statement)
                around = loops if counter is None else (*loops, counter)
                yield from _draws((*before, *body), (), around, (*before, If(place, test, body, ())))


def _basis(program: Program, pairs: Neighbours, uses: Uses) -> Iterator[Term]:
    """One unit, and the distances of what the noise is added to, each once."""
    units = dict.fromkeys(change.bound for _, change in pairs.contract.changes)
    differing = _differing(program, pairs)
    distances: dict[Term, None] = {}
    rests = [*uses.rests]
    if uses.first is not None and (number := number_of(uses.first[1])) is not None:
        rests.append((uses.first[0], number))
    for rest, factor in rests:
        distance = _distance(rest, differing)
        distances[distance if factor in (-1, 1) else divide(distance, constant(factor))] = None
    for rest, _ in rests:
        for part in subterms(rest):
            if part.op in (Op.VARIABLE, Op.APPLY) and part.sort is not Sort.BOOL:
                distances[_distance(part, differing)] = None
    yield from units
    yield from (one for one in distances if number_of(one) is None and one not in units)


def _distance(term: Term, differing: frozenset[str]) -> Term:
    """The difference of a term between the two runs; most names mean the same in both."""
    return subtract(rename_symbols(term, lambda name: OTHER + name if name in differing else name), term)


@dataclass
class Uses:
    """Where a draw's noise ends."""

    noise: Term  # the name of the noise
    tests: list[Term] = field(default_factory=list)  # tests that it is in, over names at the draw, in their order
    failed: list[Term] = field(default_factory=list)  # the same where they fail
    # What it is added to in tests and outputs, and the factor that it has there.
    rests: list[tuple[Term, int | Fraction]] = field(default_factory=list)
    tested: list[Term] = field(default_factory=list)  # those of them in tests, where the factor is 1 or -1
    asked: list[Term] = field(default_factory=list)  # where there are such tests, known at the draw or not
    path: tuple[Term, ...] = ()  # tests without the noise on the way from the draw, over names at the draw
    first: tuple[Term, Term] | None = None  # the same of the first expression that is linear in it, whatever is around that

    def follow(self, block: Block, names: dict[Term, Term]) -> None:
        """Go through the statements after the draw."""
        for statement in block:
            self._statement(statement, names)

    def _statement(self, statement: Statement, names: dict[Term, Term]) -> None:
        """One statement."""
        self._meets(statement, names)
        match statement:
            case Assign(name=name, value=value):
                names[variable(name, value.sort)] = substitute(value, names)
            case Append(value=value):
                self._ends(substitute(value, names))
            case Return(values=values):
                for part in values:
                    if isinstance(part, Term):
                        self._ends(substitute(part, names))
            case If(test=test, then=then, otherwise=otherwise):
                self._branch(substitute(test, names), then, otherwise, names)
            case For() | While():
                self._loop(statement, names)
            case Draw(name=name) | Invoke(name=name):
                self._forget(name, names)

    def _meets(self, statement: Statement, names: dict[Term, Term]) -> None:
        """Look for the first expression that adds the noise to something."""
        waiting = [substitute(term, names) for term in _terms(statement)] if self.first is None else []
        while waiting and self.first is None:
            term = waiting.pop(0)
            if term is self.noise or self.noise not in variables(term):
                continue
            linear = linear_in(term, self.noise) if term.sort is not Sort.BOOL else None
            if linear is not None and number_of(linear[1]) is None and term.op in (Op.ADD, Op.MULTIPLY):
                # A sum inside, in which noise is just added, needs no division to be hidden.
                linear = next((one for one in map(self._plainly, subterms(term)) if one is not None), linear)
            if linear is None:
                waiting = [*term.args, *waiting]
            else:
                known = self._at_draw(linear[0])
                self.first = None if known is None or not self._known(linear[1]) else (known, linear[1])

    def _plainly(self, term: Term) -> tuple[Term, Term] | None:
        """What noise is just added to in a sum, and its factor 1 or -1; None elsewhere."""
        if term.op is not Op.ADD or self.noise not in term.args:
            return None
        linear = linear_in(term, self.noise)
        return linear if linear is not None and number_of(linear[1]) in (-1, 1) else None

    def _loop(self, loop: For | While, names: dict[Term, Term]) -> None:
        """A loop after the draw: what it changes is not followed from round to round."""
        body = (*loop.before, *loop.body) if isinstance(loop, While) else loop.body
        for name in assigned_names(body):
            self._forget(name, names)
        inside = dict(names)
        if isinstance(loop, For):
            self._forget(loop.name, inside)
        self.follow(body, inside)

    def _forget(self, name: str, names: dict[Term, Term]) -> None:
        """A name gets a value that has nothing to do with the noise, or that is not followed."""
        for sort in Sort:
            names[variable(name, sort)] = variable(UNKNOWN + name, sort)

    def _branch(self, test: Term, then: Block, otherwise: Block, names: dict[Term, Term]) -> None:
        """Both branches; what they assign is a choice after it."""
        if self.noise in variables(test):
            self.asked += [conjunction(*self.path)] if self.path else []
            if self._known(test):
                self.tests.append(conjunction(*self.path, test))
                self.failed.append(conjunction(*self.path, negation(test)))
            for part in subterms(test):
                if part.op in (Op.LESS, Op.LESS_EQUAL, Op.EQUAL) and part.args[0].sort is not Sort.BOOL:
                    self._ends(subtract(*part.args), tested=True)
        sides, path = [dict(names), dict(names)], self.path
        for side, block, taken in zip(sides, (then, otherwise), (test, negation(test)), strict=True):
            self.path = (*path, taken) if self._known(test) and self.noise not in variables(test) else path
            self.follow(block, side)
        self.path = path
        for name in {**sides[0], **sides[1]}:
            one, other = (side.get(name, name) for side in sides)
            names[name] = choose(test, one, other)

    def _ends(self, value: Term, *, tested: bool = False) -> None:
        """The noise ends in a value, or in the difference of what a test compares."""
        linear = linear_in(value, self.noise)
        factor = None if linear is None else number_of(linear[1])
        if linear is not None and factor:
            known = self._at_draw(linear[0])
            if known is not None:
                self.rests.append((known, factor))
                if tested and factor in (-1, 1):
                    self.tested.append(known)

    def _at_draw(self, rest: Term) -> Term | None:
        """What is known at the draw of what noise is added to.

        Distances of what is drawn or read later are not there yet, and need not be hidden by this noise.
        """
        later = (part for part in subterms(rest) if part.op in (Op.VARIABLE, Op.APPLY) and not self._known(part))
        known = substitute(rest, {part: constant(0, part.sort) for part in later if part.sort is not Sort.BOOL})
        return None if self.noise in variables(known) else known

    def _known(self, term: Term) -> bool:
        """True if a term is about names at the draw only."""
        return not any(str(one.value).startswith(UNKNOWN) for one in variables(term))


def _terms(statement: Statement) -> tuple[Term, ...]:
    """The expressions that a statement itself evaluates."""
    match statement:
        case Assign(value=value) | Append(value=value):
            return (value,)
        case Return(values=values):
            return tuple(value for value in values if isinstance(value, Term))
        case If(test=test):
            return (test,)
        case Draw(args=args) | Invoke(args=args):
            return tuple(argument for argument in args if isinstance(argument, Term))
    return ()
