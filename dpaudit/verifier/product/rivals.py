"""Shifts that look at noise drawn later: Theorem A', through one number, the largest or smallest of the other noisy values.

A draw is *chosen* where a test over inputs, loop indices and the output looked at holds; the others are its *rivals*. Rivals stay
where they are. A chosen draw may look at the largest noisy value of its rivals in either run, which its own noise does not enter,
so that C3 and C4 hold in the order "rivals first". How many draws there are and their laws must be fixed by the program's form.
Ties of a chosen value with that number have probability 0, since the noise has a density.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from dpaudit.verifier.ir import Assign, Block, Check, Draw, For, If, Invoke, Law, ListOf, Program, Return, Statement
from dpaudit.verifier.product.adjacency import GHOST
from dpaudit.verifier.product.runs import OTHER, Alignment, Misused
from dpaudit.verifier.product.walk import assigned_names, statements
from dpaudit.verifier.terms import (
    FALSE,
    ZERO,
    Op,
    Sort,
    Term,
    add,
    choose,
    constant,
    disjunction,
    largest,
    least,
    less,
    less_equal,
    linear_in,
    negation,
    number_of,
    subterms,
    subtract,
    variable,
    variables,
)

OWN: Final = variable(f"{GHOST}own", Sort.REAL)
"""The noisy value of the chosen draw in run 1: for invariants, never for shifts."""
SO_FAR: Final = variable("rivals.so_far", Sort.REAL)
"""The largest or smallest noisy value of the rivals drawn so far; a name with a dot is none of a program's own."""
SEEN: Final = variable("rivals.seen", Sort.BOOL)
"""True once there was a rival."""
PICKED: Final = variable("rivals.picked", Sort.BOOL)
"""True once a draw was the chosen one."""


@dataclass(frozen=True)
class Sense:
    """Whether a chosen value is compared with the largest of the others, or with the smallest."""

    one: Term  # that number in run 1
    other: Term  # in run 2
    most: bool  # whether it is the largest

    def bounds(self, value: Term, limit: Term) -> Term:
        """That a value is not beyond a limit."""
        return less_equal(value, limit) if self.most else less_equal(limit, value)

    def beats(self, value: Term, limit: Term) -> Term:
        """That a value is beyond a limit."""
        return less(limit, value) if self.most else less(value, limit)

    def further(self, one: Term, other: Term) -> Term:
        """The one of two values that is further out."""
        return largest(one, other) if self.most else least(one, other)

    @property
    def apart(self) -> Term:
        """How far the number lies apart in the two runs."""
        return subtract(self.other, self.one)


SENSES: Final = tuple(
    Sense(variable(f"{GHOST}{name}", Sort.REAL), variable(f"{GHOST}{name}_other", Sort.REAL), most)
    for name, most in (("most", True), ("least", False))
)
_AHEAD: Final = frozenset(one for sense in SENSES for one in (sense.one, sense.other))


@dataclass(frozen=True)
class Rivals:
    """What an alignment looks ahead to, and which draws it is about."""

    sense: Sense
    chosen: Mapping[int, Term]  # by site, the test that says that a draw is a chosen one
    shifts: Mapping[int, Term]  # by site, the shift of a chosen draw
    values: Mapping[int, Term]  # by site, the noisy value over names at the draw, with its own noise in it

    def ghosts(self) -> frozenset[Term]:
        """The symbols of numbers that are fixed before the program begins, as far as the theorem allows."""
        return frozenset((self.sense.one, self.sense.other, OWN))

    def watched(self, block: Block) -> Block:
        """The statements with others between them that note, without any effect on the program, what the rivals were so far."""
        found: list[Statement] = []
        for statement in block:
            match statement:
                case For(body=body):
                    found.append(replace(statement, body=self.watched(body)))
                case Draw(site=site) if site in self.values:
                    found += [statement, *self._noted(statement)]
                case _:
                    found.append(statement)
        return tuple(found)

    def program(self, program: Program) -> Program:
        """The program with its rivals watched."""
        place = program.body[0].place
        values = ((SO_FAR, constant(0, Sort.REAL)), (SEEN, FALSE), (PICKED, FALSE))
        first = [Assign(place, str(name.value), value) for name, value in values]
        sorts = (*program.sorts, *((str(name.value), name.sort) for name in (SO_FAR, SEEN, PICKED)))
        return replace(program, body=(*first, *self.watched(program.body)), sorts=sorts)

    def _noted(self, draw: Draw) -> Iterator[Statement]:
        """What is noted of one draw."""
        chosen, value = self.chosen[draw.site], self.values[draw.site]
        news = choose(SEEN, self.sense.further(SO_FAR, value), value)
        for name, noted in (
            (SO_FAR, choose(chosen, SO_FAR, news)),
            (SEEN, disjunction(SEEN, negation(chosen))),
            (PICKED, disjunction(PICKED, chosen)),
        ):
            yield Assign(draw.place, str(name.value), noted)


def rivals_of(program: Program, alignment: Alignment, ghosts: frozenset[Term] | None) -> Rivals | None:
    """What an alignment looks ahead to; None where it does not, and a refusal where Theorem A' does not allow it.

    `ghosts` are the symbols of inputs and of the output looked at; None where no output is looked at.
    """
    ahead = {site: shift for site, shift in alignment.items() if _AHEAD & variables(shift)}
    if not ahead:
        return None
    if ghosts is None:
        raise Misused("an alignment looks ahead although it is for all outputs at once")
    used = _AHEAD & variables(*ahead.values())
    sense = next((one for one in SENSES if used <= {one.one, one.other}), None)
    if sense is None:
        raise Misused("an alignment looks at the largest and at the smallest of the other values")
    chosen, shifts, values = dict[int, Term](), dict[int, Term](), dict[int, Term]()
    for draw, following, early in fixed_requests(program, ghosts):
        shift = alignment.get(draw.site, ZERO)
        if draw.site not in ahead:
            _require(is_early(program, shift, early), "a shift beside one that looks ahead uses noise or names that change")
            continue
        _require(draw.law is Law.LAPLACE, "only Laplace noise on the line may look ahead")
        value = noisy_value(program, draw, following, early)
        _require(value is not None and shift.op is Op.CHOOSE, "a shift that looks ahead has another form than a chosen draw's")
        test, own, rest = shift.args
        _require(number_of(rest) == 0, "rivals must stay where they are")
        plain = not any(part.op is Op.APPLY for part in subterms(test))
        _require(plain and is_early(program, test, early), "the test for a chosen draw uses noise or data")
        _require(is_early(program, own, early | used), "a shift that looks ahead uses noise or names that change")
        assert value is not None  # noqa: S101 - for the type checker: required above
        chosen[draw.site], shifts[draw.site], values[draw.site] = test, own, value
    _require(set(chosen) == set(ahead), "a shift that looks ahead belongs to no draw")
    return Rivals(sense, chosen, shifts, values)


def fixed_requests(program: Program, ghosts: frozenset[Term]) -> list[tuple[Draw, Block, frozenset[Term]]]:
    """Each draw, what follows it in its block, and what is fixed there, if the form fixes how many there are and their laws."""
    assigned = {*assigned_names(program.body)}
    lists = [one.name for one in program.parameters if isinstance(one.sort, ListOf)]
    scalars = [(one.name, one.sort) for one in program.parameters if isinstance(one.sort, Sort) and one.name not in assigned]
    symbols = [variable(name, sort) for name, sort in (*scalars, *((f"len({name})", Sort.INT) for name in lists))]
    fixed = frozenset({*symbols, *ghosts}) - _AHEAD - {OWN}
    found = list(_requests(program, program.body, fixed, assigned | {one.name for one in program.parameters}, top=True))
    for draw, _, early in found:
        _require(all(is_early(program, one, early) for one in draw.args), "the law of a draw is not fixed by the input")
    return found


def _requests(
    program: Program, block: Block, early: frozenset[Term], taken: set[str], *, top: bool
) -> Iterator[tuple[Draw, Block, frozenset[Term]]]:
    """The draws of a block that is run in full, whatever is drawn."""
    for position, statement in enumerate(block):
        match statement:
            case Draw():
                yield statement, block[position + 1 :], early
            case For(name=name, start=start, stop=stop, body=body):
                fixed = all(is_early(program, one, early) for one in (start, stop))
                _require(fixed, "how often a loop runs is not fixed by the input")
                _require(name not in taken, "a loop's index has the name of something else")
                yield from _requests(program, body, early | {variable(name, Sort.INT)}, taken | {name}, top=False)
            case If():
                inner = statements((*statement.then, *statement.otherwise))
                _require(all(isinstance(one, (If, Check)) or _is_quiet(one) for one in inner), "a branch draws, loops or leaves")
            case Return():
                _require(top and position == len(block) - 1, "a run may return before its end")
            case _:
                _require(isinstance(statement, Check) or _is_quiet(statement), "the form of the program does not fix what is drawn")


def _is_quiet(statement: Statement) -> bool:
    """True if a statement only computes or puts out."""
    return not isinstance(statement, (Draw, Invoke)) and type(statement).__name__ in ("Assign", "Append")


def is_early(program: Program, term: Term, early: frozenset[Term]) -> bool:
    """True if a term is about inputs, in either run, and symbols that are fixed."""
    lists = {one.name for one in program.parameters if isinstance(one.sort, ListOf)}
    reads = (str(part.value).removeprefix(OTHER) for part in subterms(term) if part.op is Op.APPLY)
    return variables(term) <= early and all(name in lists for name in reads)


def noisy_value(program: Program, draw: Draw, following: Block, early: frozenset[Term]) -> Term | None:
    """What noise is first added to, as far as the input fixes it, with the noise; None where it is not just added or taken away."""
    noise = variable(draw.name, dict(program.sorts)[draw.name])
    for statement in following:
        for term in _terms(statement):
            for part in subterms(term):
                if part.op is not Op.ADD or noise not in variables(part):
                    continue
                found = add(*(one for one in part.args if is_early(program, one, early | {noise})))
                linear = linear_in(found, noise) if found.sort is Sort.REAL else None
                if linear is not None and number_of(linear[1]) in (-1, 1) and noise not in variables(linear[0]):
                    return found
        if noise in variables(*_terms(statement)) or draw.name in assigned_names((statement,)):
            break
    return None


def _terms(statement: Statement) -> tuple[Term, ...]:
    """The expressions that a statement evaluates itself."""
    match statement:
        case Assign(value=value):
            return (value,)
        case If(test=test):
            return (test,)
    return ()


def _require(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - the condition comes first, as in an assertion
    """Refuse an alignment that the theorem does not allow."""
    if not holds:
        raise Misused(otherwise)
