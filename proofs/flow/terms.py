"""Stand-ins for values that are not known: what a program does with them is written down, and two such records are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import FunctionType
from typing import Any, Final

from dpaudit.verifier.kernel.polynomials import UNIT, Polynomial, plus, times

ARITHMETIC: Final = {"+", "-", "*", "/"}
_READ: Final = ARITHMETIC | {"**"}
_MOST_DECISIONS: Final = 40


class Undecided(Exception):
    """A stand-in was used in a way that has no record, so nothing is known about the program."""


@dataclass
class Walk:
    """One path of a program: how each test on stand-ins went, every call of one, in order, and those that were iterated over."""

    wanted: Sequence[bool]
    decided: list[tuple[Term, bool]] = field(default_factory=list)
    calls: list[Term] = field(default_factory=list)
    iterated: list[Term] = field(default_factory=list)

    def decide(self, question: Term) -> bool:
        """The way that a test goes: the same as before for the same question, else the next one wanted, else yes."""
        for asked, answer in self.decided:
            # What is called twice may answer differently.
            if asked is question or (not _calls(question) and same(asked, question)):
                return answer
        if len(self.decided) >= _MOST_DECISIONS:
            raise Undecided("too many tests on one path")
        place = len(self.decided)
        answer = self.wanted[place] if place < len(self.wanted) else True
        self.decided.append((question, answer))
        return answer


_walks: list[Walk] = []


def walk_through(program: Callable[[], Any]) -> Iterator[tuple[Walk, Any]]:
    """Run a program once for every path, and give each path with its result."""
    wanted: list[bool] = []
    while True:
        walk = Walk(wanted)
        _walks.append(walk)
        try:
            result = program()
        finally:
            _walks.pop()
        yield walk, result
        taken = [answer for _, answer in walk.decided]
        while taken and not taken[-1]:
            taken.pop()
        if not taken:
            return
        wanted = [*taken[:-1], False]


class Term:
    """A value that is not known: a name, or an operation on others. Whatever is done with it makes another one."""

    __slots__ = ("op", "parts")

    def __init__(self, op: str, *parts: Any) -> None:
        self.op, self.parts = op, parts

    def __getattr__(self, name: str) -> Term:
        if name.startswith("__"):  # Python asks for these on its own
            raise AttributeError(name)
        return Term("attribute", self, name)

    def __call__(self, *values: Any, **named: Any) -> Term:
        """Note the call; refused for what the callee could change or run unseen."""
        if any(isinstance(value, FunctionType) or hasattr(type(value), "followed") for value in (*values, *named.values())):
            raise Undecided(f"{self!r} is given an object that is followed, and may change or call it")
        made = Term("call", self, values, tuple(sorted(named.items())))
        if _walks:
            _walks[-1].calls.append(made)
        return made

    def __getitem__(self, key: Any) -> Term:
        return Term("item", self, key)

    def __iter__(self) -> Iterator[Term]:
        """One round that stands for all; `one_draw` refuses draws in it, as it does not say how many there are."""
        if _walks:
            _walks[-1].iterated.append(self)
        return iter([Term("each", self)])

    def __contains__(self, value: Any) -> bool:
        return bool(Term("in", value, self))

    def __bool__(self) -> bool:
        if is_positive(self):
            return True
        if not _walks:
            raise Undecided(f"the truth of {self!r} is not known")
        return _walks[-1].decide(self)

    def __hash__(self) -> int:
        raise Undecided("a stand-in is looked up in a table")

    def __index__(self) -> int:
        raise Undecided("a stand-in is used as a place or a number of rounds")

    def __repr__(self) -> str:
        return self.op if not self.parts else f"{self.op}({', '.join(map(repr, self.parts))})"

    def __format__(self, form: str) -> str:
        return repr(self)


def _operation(op: str, *, turned: bool = False) -> Callable[[Term, Any], Term]:
    """A method for one operator; an array that holds stand-ins answers for itself."""

    def method(self: Term, other: Any) -> Any:
        if hasattr(type(other), "answers"):
            return NotImplemented
        return Term(op, other, self) if turned else Term(op, self, other)

    return method


for _name, _op in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}.items():
    setattr(Term, f"__{_name}__", _operation(_op))
    setattr(Term, f"__r{_name}__", _operation(_op, turned=True))
    setattr(Term, f"__i{_name}__", _operation(_op))
for _name, _op in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Term, f"__{_name}__", _operation(_op))
for _name, _made in {
    "neg": lambda self: Term("-", 0, self),
    "invert": lambda self: Term("~", self),
    "lshift": lambda self, places: self * power_of_two(places),
    "rlshift": lambda self, number: power_of_two(self) if number == 1 else number * power_of_two(self),
    "rshift": lambda self, places: Term(">>", self, places),
    "rrshift": lambda self, number: Term(">>", number, self) if number else 0,
    "and": lambda self, other: Term("&", self, other),
    "or": lambda self, other: Term("|", self, other),
}.items():
    setattr(Term, f"__{_name}__", _made)


def unknown(op: str, *parts: Any) -> Any:
    """A stand-in, or an operation on some, to be used like a number."""
    return Term(op, *parts)


def power_of_two(exponent: Any) -> Any:
    """2 to a power that is a whole number or a stand-in for one."""
    if isinstance(exponent, int):
        return 1 << exponent
    if exponent.op == "+" and any(isinstance(part, int) for part in exponent.parts):
        return power_of_two(exponent.parts[0]) * power_of_two(exponent.parts[1])
    return Term("2^", exponent)


def positive(name: str) -> Any:
    """A stand-in for a positive number."""
    return Term("positive", Term(name))


def is_positive(value: Any) -> bool:
    """Whether a value is certainly a positive number: such a stand-in, or a sum, product or quotient of positive numbers."""
    if not isinstance(value, Term):
        return isinstance(value, (int, Fraction)) and value > 0
    return value.op == "positive" or (value.op in {"+", "*", "/"} and all(map(is_positive, value.parts)))


def mentions(value: Any, wanted: Term) -> bool:
    """Whether a stand-in occurs in a value."""
    if value is wanted:
        return True
    parts = value.parts if isinstance(value, Term) else value if isinstance(value, (tuple, list)) else ()
    return any(mentions(part, wanted) for part in parts)


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal whatever the stand-ins are: alike part by part, sums and products by their normal form."""
    if isinstance(first, (tuple, list)) or isinstance(second, (tuple, list)):
        alike = type(first) is type(second) and len(first) == len(second)
        return alike and all(same(one, other) for one, other in zip(first, second, strict=True))
    if isinstance(first, slice) and isinstance(second, slice):
        return same((first.start, first.stop, first.step), (second.start, second.stop, second.step))
    if not isinstance(first, Term) and not isinstance(second, Term):
        return type(first) is type(second) and bool(first == second) if not _numbers(first, second) else bool(first == second)
    if isinstance(first, Term) and isinstance(second, Term) and not {first.op, second.op} & _READ:
        return _alike(first, second)
    atoms: list[Term] = []
    try:
        (up, down), (other_up, other_down) = _quotient(first, atoms), _quotient(second, atoms)
    except TypeError:  # one is a name or an object that no arithmetic reads
        return False
    return plus(times(up, other_down), times(other_up, down), -1) == {}


def _calls(value: Any) -> bool:
    """Whether a value comes from a call of something that is not known."""
    if not isinstance(value, Term):
        return isinstance(value, (tuple, list)) and any(map(_calls, value))
    return value.op == "call" or any(map(_calls, value.parts))


def _numbers(*values: Any) -> bool:
    """Whether all are exact numbers."""
    return all(isinstance(value, (int, Fraction)) for value in values)


def _quotient(value: Any, atoms: list[Term]) -> tuple[Polynomial, Polynomial]:
    """A value as a quotient of polynomials in what is no sum, product or quotient itself."""
    if isinstance(value, (int, Fraction)):
        return ({(): Fraction(value)} if value else {}), UNIT
    if not isinstance(value, Term):
        raise TypeError
    if value.op in ARITHMETIC:
        (up, down), (other_up, other_down) = (_quotient(part, atoms) for part in value.parts)
        match value.op:
            case "*":
                return times(up, other_up), times(down, other_down)
            case "/":
                return times(up, other_down), times(down, other_up)
            case _:
                return plus(times(up, other_down), times(other_up, down), 1 if value.op == "+" else -1), times(down, other_down)
    if value.op == "**" and isinstance(value.parts[1], int) and value.parts[1] >= 0:
        up, down = UNIT, UNIT
        base = _quotient(value.parts[0], atoms)
        for _ in range(value.parts[1]):
            up, down = times(up, base[0]), times(down, base[1])
        return up, down
    for place, atom in enumerate(atoms):
        if _alike(atom, value):
            return {(place,): Fraction(1)}, UNIT
    atoms.append(value)
    return {(len(atoms) - 1,): Fraction(1)}, UNIT


def alike(first: Any, second: Any) -> bool:
    """Whether two values are made by the same operations of the same parts, inside of tuples and lists too."""
    if isinstance(first, Term) and isinstance(second, Term) and first.parts and second.parts:
        return first.op == second.op and alike(first.parts, second.parts)
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        return len(first) == len(second) and all(map(alike, first, second))
    return first is second or (not isinstance(first, Term) and not isinstance(second, Term) and bool(first == second))


def _alike(first: Term, second: Term) -> bool:
    """Whether two stand-ins are the same name or the same operation on equal parts."""
    if first is second:
        return True
    return bool(first.parts) and first.op == second.op and same(first.parts, second.parts)
