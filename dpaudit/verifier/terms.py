"""Terms of many-sorted arithmetic, shared by programs, obligations, solvers and kernel: frozen, built once, with a meaning."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary

from dpaudit.verifier.fuel import spend

Number: TypeAlias = int | Fraction | bool


class Sort(Enum):
    """The sort of a term's values: integers, rational or real numbers, truth values."""

    INT = "Int"
    REAL = "Real"
    BOOL = "Bool"

    # By identity: the hash that Enum brings is a Python function, and terms are looked up by their parts all the time.
    __hash__ = object.__hash__


class Op(Enum):
    """The operation that makes a term from its arguments.

    `APPLY` is a function that is known by name only: an element of a list by its index. `DIVIDE`, `QUOTIENT` and `REMAINDER` are
    Python's /, // and % where those are defined, and any fixed number elsewhere: nothing may be concluded from them there.
    """

    VARIABLE = "variable"
    CONSTANT = "constant"
    APPLY = "apply"
    ADD = "+"
    MULTIPLY = "*"
    DIVIDE = "/"
    QUOTIENT = "//"
    REMAINDER = "%"
    LESS_EQUAL = "<="
    LESS = "<"
    EQUAL = "=="
    AND = "and"
    OR = "or"
    NOT = "not"
    CHOOSE = "if"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True, repr=False)
class Term:
    """One term; two terms that look alike are the same object, so that they are compared and hashed by identity.

    Made by the functions of this module, which check sorts and fold constants. `value` is the name of a variable or function, or
    the number or truth value of a constant; None for the rest.
    """

    op: Op
    sort: Sort
    args: tuple[Term, ...]
    value: str | int | Fraction | bool | None

    def __str__(self) -> str:
        """The term as Python would write it, fully bracketed."""
        parts = [str(argument) for argument in self.args]
        match self.op:
            case Op.VARIABLE | Op.CONSTANT:
                return str(self.value)
            case Op.APPLY:
                return f"{self.value}[{', '.join(parts)}]"
            case Op.NOT:
                return f"(not {parts[0]})"
            case Op.CHOOSE:
                return f"({parts[1]} if {parts[0]} else {parts[2]})"
        return "(" + f" {self.op.value} ".join(parts) + ")"

    __repr__ = __str__

    def __reduce__(self) -> tuple[Callable[..., Term], tuple[Any, ...]]:
        """Pickled terms are met again by their look."""
        return _made, (self.op, self.sort, self.args, self.value)


_KNOWN: Final[WeakValueDictionary[tuple[Any, ...], Term]] = WeakValueDictionary()
"""Every living term by its look."""


def _made(op: Op, sort: Sort, args: tuple[Term, ...], value: str | Number | None = None) -> Term:
    """The one term of this look."""
    # The type of the value is part of the look: 1, True and Fraction(1) are equal and hash alike.
    look = (op, sort, args, type(value), value)
    found = _KNOWN.get(look)
    if found is None:
        found = _KNOWN[look] = Term(op, sort, args, value)
    return found


class IllSorted(TypeError):
    """Arguments whose sorts do not fit; a mistake of the caller, since programs are checked before."""


def variable(name: str, sort: Sort) -> Term:
    """A symbol."""
    return _made(Op.VARIABLE, sort, (), name)


def constant(value: Number, sort: Sort | None = None) -> Term:
    """A number or truth value; INT for int, REAL for Fraction, BOOL for bool unless `sort` widens an int to REAL."""
    if isinstance(value, bool):
        return _made(Op.CONSTANT, Sort.BOOL, (), value)
    natural = Sort.INT if isinstance(value, int) else Sort.REAL
    wanted = sort or natural
    if wanted is Sort.REAL:
        return _made(Op.CONSTANT, Sort.REAL, (), Fraction(value))
    if natural is not wanted:
        raise IllSorted(f"{value!r} has no sort {wanted.value}")
    return _made(Op.CONSTANT, Sort.INT, (), value)


TRUE: Final = constant(value=True)
FALSE: Final = constant(value=False)
ZERO: Final = constant(0)
ONE: Final = constant(1)


def apply(name: str, args: tuple[Term, ...], sort: Sort) -> Term:
    """The value of a function known by name, such as an element of a list."""
    return _made(Op.APPLY, sort, args, name)


def length(name: str) -> Term:
    """The symbol of the length of a list parameter."""
    return variable(f"len({name})", Sort.INT)


def number_of(term: Term) -> int | Fraction | None:
    """The number that a constant is; None for other terms and truth values."""
    value = term.value
    return value if term.op is Op.CONSTANT and isinstance(value, (int, Fraction)) and not isinstance(value, bool) else None


def add(*terms: Term) -> Term:
    """A sum: nested sums become one, constants are added up."""
    sort = _numeric(*terms)
    parts: list[Term] = []
    total: int | Fraction = 0
    for term in terms:
        for part in term.args if term.op is Op.ADD else (term,):
            number = number_of(part)
            if number is None:
                parts.append(part)
            else:
                total += number
    if total != 0 or not parts:
        parts.append(constant(total if sort is Sort.REAL else int(total), sort))
    return parts[0] if len(parts) == 1 and parts[0].sort is sort else _made(Op.ADD, sort, tuple(parts))


def multiply(*terms: Term) -> Term:
    """A product: nested products become one, constants are multiplied."""
    sort = _numeric(*terms)
    parts: list[Term] = []
    factor: int | Fraction = 1
    for term in terms:
        for part in term.args if term.op is Op.MULTIPLY else (term,):
            number = number_of(part)
            if number is None:
                parts.append(part)
            else:
                factor *= number
    if factor == 0 or not parts:
        return constant(factor if sort is Sort.REAL else int(factor), sort)
    if factor != 1:
        parts.insert(0, constant(factor if sort is Sort.REAL else int(factor), sort))
    return parts[0] if len(parts) == 1 and parts[0].sort is sort else _made(Op.MULTIPLY, sort, tuple(parts))


def negative(term: Term) -> Term:
    """Minus the term."""
    return multiply(constant(-1), term)


def subtract(first: Term, second: Term) -> Term:
    """A difference; 0 for a term and itself."""
    return constant(0, first.sort) if first is second else add(first, negative(second))


def divide(first: Term, second: Term) -> Term:
    """Python's / on exact numbers, a REAL; a constant divisor other than 0 becomes a factor."""
    _numeric(first, second)
    number = number_of(second)
    if number:
        return multiply(constant(Fraction(1) / number), first)
    return _made(Op.DIVIDE, Sort.REAL, (first, second))


def quotient(first: Term, second: Term) -> Term:
    """Python's // on integers; has a meaning where the divisor is at least 1."""
    return _divide_integers(Op.QUOTIENT, operator.floordiv, first, second)


def remainder(first: Term, second: Term) -> Term:
    """Python's % on integers; has a meaning where the divisor is at least 1."""
    return _divide_integers(Op.REMAINDER, operator.mod, first, second)


def less_equal(first: Term, second: Term) -> Term:
    """The formula first <= second."""
    return _compared(Op.LESS_EQUAL, operator.le, first, second)


def less(first: Term, second: Term) -> Term:
    """The formula first < second."""
    return _compared(Op.LESS, operator.lt, first, second)


def equal(first: Term, second: Term) -> Term:
    """The formula first == second, of two numbers or two truth values."""
    if (first.sort is Sort.BOOL) is not (second.sort is Sort.BOOL):
        raise IllSorted("a truth value is compared with a number")
    if first.sort is Sort.BOOL:
        if first is second:
            return TRUE
        for one, other in ((first, second), (second, first)):
            if one is TRUE:
                return other
            if one is FALSE:
                return negation(other)
        return _made(Op.EQUAL, Sort.BOOL, (first, second))
    return _compared(Op.EQUAL, operator.eq, first, second)


def negation(term: Term) -> Term:
    """The formula that the term does not hold."""
    _truths(term)
    if term in (TRUE, FALSE):
        return FALSE if term is TRUE else TRUE
    return term.args[0] if term.op is Op.NOT else _made(Op.NOT, Sort.BOOL, (term,))


def conjunction(*terms: Term) -> Term:
    """All of the terms; each once."""
    return _connected(Op.AND, TRUE, FALSE, terms)


def disjunction(*terms: Term) -> Term:
    """One of the terms at least; each once."""
    return _connected(Op.OR, FALSE, TRUE, terms)


def implies(premise: Term, conclusion: Term) -> Term:
    """Where the premise holds, so does the conclusion."""
    return disjunction(negation(premise), conclusion)


def choose(test: Term, then: Term, otherwise: Term) -> Term:
    """`then` where the test holds, else `otherwise`; numbers of different sorts become REAL."""
    _truths(test)
    if test is TRUE or then is otherwise:
        return then
    if test is FALSE:
        return otherwise
    if then.sort is Sort.BOOL and otherwise.sort is Sort.BOOL:
        return conjunction(implies(test, then), implies(negation(test), otherwise))
    return _made(Op.CHOOSE, _numeric(then, otherwise), (test, then, otherwise))


def absolute(term: Term) -> Term:
    """The size of a number."""
    return choose(less_equal(constant(0), term), term, negative(term))


def least(first: Term, second: Term) -> Term:
    """Python's min of two: the first of equal ones."""
    return choose(less(second, first), second, first)


def largest(first: Term, second: Term) -> Term:
    """Python's max of two: the first of equal ones."""
    return choose(less(first, second), second, first)


def subterms(*terms: Term) -> Sequence[Term]:
    """Every term inside, each once, arguments before what they are in."""
    # Whatever works on terms comes by here, so that no such work outlasts its limit.
    spend()
    return _inside(terms[0]) if len(terms) == 1 else tuple(dict.fromkeys(part for term in terms for part in _inside(term)))


# The same terms are gone through again and again; they are hashed by identity, so that a look-up is cheap.
@lru_cache(maxsize=16_384)
def _inside(term: Term) -> tuple[Term, ...]:
    """The term and all that is inside of it, the term last."""
    found: dict[Term, None] = {}
    stack = [(term, False)]
    while stack:
        part, opened = stack.pop()
        if opened:
            found[part] = None
        elif part not in found:
            if part.args:
                stack.append((part, True))
                stack += [(argument, False) for argument in reversed(part.args) if argument not in found]
            else:
                found[part] = None
    return tuple(found)


def variables(*terms: Term) -> frozenset[Term]:
    """The variables that occur."""
    return _variables(terms[0]) if len(terms) == 1 else frozenset[Term]().union(*map(_variables, terms))


@lru_cache(maxsize=16_384)
def _variables(term: Term) -> frozenset[Term]:
    """The variables that occur in one term."""
    return frozenset(part for part in subterms(term) if part.op is Op.VARIABLE)


def substitute(term: Term, mapping: Mapping[Term, Term]) -> Term:
    """The term with every occurrence of the keys replaced at once; what is put in is not looked at again."""
    done: dict[Term, Term] = {}
    for part in subterms(term):
        if part in mapping:
            done[part] = mapping[part]
        else:
            done[part] = rebuild(part, tuple([done[argument] for argument in part.args])) if part.args else part
    return done[term]


def rename_symbols(term: Term, name: Callable[[str], str]) -> Term:
    """The term with other names of variables and functions."""
    done: dict[Term, Term] = {}
    for part in subterms(term):
        args = tuple(done[argument] for argument in part.args)
        if part.op is Op.VARIABLE:
            done[part] = variable(name(str(part.value)), part.sort)
        elif part.op is Op.APPLY:
            done[part] = apply(name(str(part.value)), args, part.sort)
        else:
            done[part] = rebuild(part, args)
    return done[term]


def linear_in(term: Term, symbol: Term) -> tuple[Term, Term] | None:
    """A term as `rest + factor * symbol`, the rest first; None where it is none."""
    if symbol not in subterms(term):
        return term, ZERO
    if term is symbol:
        return constant(0, symbol.sort), ONE
    if term.op is Op.ADD:
        parts = [linear_in(part, symbol) for part in term.args]
        if any(part is None for part in parts):
            return None
        return add(*(part[0] for part in parts if part)), add(*(part[1] for part in parts if part))
    if term.op is Op.MULTIPLY:
        holding = [part for part in term.args if symbol in subterms(part)]
        inner = linear_in(holding[0], symbol) if len(holding) == 1 else None
        others = multiply(*(part for part in term.args if part is not holding[0]))
        return None if inner is None else (multiply(others, inner[0]), multiply(others, inner[1]))
    if term.op is Op.DIVIDE and symbol not in subterms(term.args[1]):
        inner = linear_in(term.args[0], symbol)
        return None if inner is None else (divide(inner[0], term.args[1]), divide(inner[1], term.args[1]))
    return None


BUILDERS: Final[Mapping[Op, Callable[..., Term]]] = {
    Op.ADD: add,
    Op.MULTIPLY: multiply,
    Op.DIVIDE: divide,
    Op.QUOTIENT: quotient,
    Op.REMAINDER: remainder,
    Op.LESS_EQUAL: less_equal,
    Op.LESS: less,
    Op.EQUAL: equal,
    Op.AND: conjunction,
    Op.OR: disjunction,
    Op.NOT: negation,
    Op.CHOOSE: choose,
}


def rebuild(term: Term, args: tuple[Term, ...]) -> Term:
    """The same operation on other arguments."""
    if args == term.args:
        return term
    if term.op is Op.APPLY:
        return apply(str(term.value), args, term.sort)
    return BUILDERS[term.op](*args)


def _numeric(*terms: Term) -> Sort:
    """INT where all are, REAL else."""
    if any(term.sort is Sort.BOOL for term in terms):
        raise IllSorted("a truth value where a number is needed")
    return Sort.INT if all(term.sort is Sort.INT for term in terms) else Sort.REAL


def _divide_integers(op: Op, compute: Callable[[Any, Any], int], first: Term, second: Term) -> Term:
    """The quotient or remainder of integers, computed where both are constants and it has a meaning."""
    if first.sort is not Sort.INT or second.sort is not Sort.INT:
        raise IllSorted("// and % need integers")
    one, other = number_of(first), number_of(second)
    if one is not None and other is not None and other >= 1:
        return constant(compute(one, other))
    return _made(op, Sort.INT, (first, second))


def _truths(*terms: Term) -> None:
    """Only truth values."""
    for term in terms:
        if term.sort is not Sort.BOOL:
            raise IllSorted("a number where a truth value is needed")


def _compared(op: Op, compare: Callable[[Any, Any], bool], first: Term, second: Term) -> Term:
    """A comparison of numbers, decided where both are constants or the same term."""
    _numeric(first, second)
    one, other = number_of(first), number_of(second)
    if one is not None and other is not None:
        return constant(value=compare(one, other))
    if first is second:
        return constant(value=compare(0, 0))
    return _made(op, Sort.BOOL, (first, second))


def _connected(op: Op, neutral: Term, decisive: Term, terms: tuple[Term, ...]) -> Term:
    """A conjunction or disjunction, flat, without repetitions."""
    _truths(*terms)
    parts: dict[Term, None] = {}
    denied: set[Term] = set()
    for term in terms:
        for part in term.args if term.op is op else (term,):
            opposite = part.args[0] if part.op is Op.NOT else None
            if part is decisive or part in denied or opposite in parts:
                return decisive
            if opposite is not None:
                denied.add(opposite)
            if part is not neutral:
                parts[part] = None
    if not parts:
        return neutral
    return next(iter(parts)) if len(parts) == 1 else _made(op, Sort.BOOL, tuple(parts))
