"""Terms as text for people, and as data that is checked in full when it is read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier import terms
from dpaudit.verifier.terms import Number, Op, Sort, Term, number_of, subterms

_NUMBER: Final = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?", re.ASCII)


class Unreadable(ValueError):
    """The data that was read is not a list of terms."""


def format_term(term: Term) -> str:
    """A term as people write it in Python, with the brackets that it needs."""
    return _shown(term)[0]


def _shown(term: Term) -> tuple[str, float]:
    """The text of a term and how tightly it holds together, as Python ranks its operators."""
    if term.op in _LEAVES:
        negative = term.op is Op.CONSTANT and str(term.value).startswith("-")
        return str(term.value), 4 if "/" in str(term.value) else 5 if negative else 7
    if term.op is Op.APPLY:
        return f"{term.value}[{', '.join(map(format_term, term.args))}]", 7
    if term.op is Op.CHOOSE:
        return f"{_in(term.args[1], 1)} if {_in(term.args[0], 1)} else {_in(term.args[2], 0)}", 0
    if term.op in (Op.ADD, Op.MULTIPLY) and len(term.args) == 1:
        return _shown(term.args[0])
    if term.op is Op.ADD:
        parts = [_in(part, 3) for part in term.args]
        return "".join([parts[0], *(f" - {one[1:]}" if one.startswith("-") else f" + {one}" for one in parts[1:])]), 3
    if term.op is Op.MULTIPLY and number_of(term.args[0]) == -1:
        rest = terms.multiply(*term.args[1:])
        return f"-{_in(rest, 4)}", 4
    rank, symbol = _RANKS[term.op]
    if term.op is Op.NOT:
        return f"not {_in(term.args[0], rank)}", rank
    first, *others = term.args
    # Python's / is read from the left, and chains of comparisons mean something else.
    loose = rank if term.op in (Op.AND, Op.OR, Op.MULTIPLY, Op.DIVIDE) else rank + 0.5
    return f" {symbol} ".join([_in(first, loose), *(_in(one, rank + 0.5) for one in others)]), rank


def _in(term: Term, rank: float) -> str:
    """The text of a term inside another, in brackets where it holds together less tightly."""
    text, own = _shown(term)
    return text if own >= rank else f"({text})"


@dataclass
class Table:
    """Terms as rows, each subterm once and before what it is in, so that a term is the number of its row."""

    rows: list[list[Any]] = field(default_factory=list)
    numbers: dict[Term, int] = field(default_factory=dict)

    def number(self, term: Term) -> int:
        """The row of a term, made where there is none."""
        for part in subterms(term):
            if part not in self.numbers:
                self.numbers[part] = len(self.rows)
                self.rows.append(self._row(part))
        return self.numbers[term]

    def _row(self, term: Term) -> list[Any]:
        """Operation, rows of the arguments, and for symbols and numbers their name and sort."""
        row: list[Any] = [term.op.value, [self.numbers[argument] for argument in term.args]]
        return [*row, str(term.value), term.sort.value] if term.op in _NAMED else row


def read_terms(rows: Any) -> list[Term]:
    """The terms of a table."""
    found: list[Term] = []
    if type(rows) is not list:
        raise Unreadable("terms must be a list")
    for row in rows:
        try:
            found.append(_term(row, found))
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise Unreadable(f"term {len(found)} is none ({type(error).__name__})") from error
    return found


def _term(row: Any, known: list[Term]) -> Term:
    """One term, of terms that are known already."""
    if type(row) is not list or len(row) not in (2, 4) or type(row[1]) is not list:
        raise TypeError("not a row")
    op, args = Op(row[0]), tuple(known[number_in(place, len(known))] for place in row[1])
    if (op in _NAMED) is not (len(row) == 4):
        raise TypeError("a row of another length")
    if op not in _NAMED:
        return terms.BUILDERS[op](*args)
    name, sort = row[2], Sort(row[3])
    if type(name) is not str or (op is not Op.APPLY and args) or (op is Op.APPLY and len(args) != 1):
        raise TypeError("a symbol of another shape")
    if op is Op.CONSTANT:
        return terms.constant(_number(name, sort))
    return terms.variable(name, sort) if op is Op.VARIABLE else terms.apply(name, args, sort)


def number_in(value: Any, stop: int) -> int:
    """An integer from 0 on, below `stop`."""
    if type(value) is not int or not 0 <= value < stop:
        raise IndexError("not a number of a row")
    return value


def _number(text: str, sort: Sort) -> Number:
    """A constant."""
    if sort is Sort.BOOL:
        return {"True": True, "False": False}[text]
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    return Fraction(text) if sort is Sort.REAL else int(text)


_LEAVES: Final = (Op.VARIABLE, Op.CONSTANT)
_RANKS: Final[Mapping[Op, tuple[float, str]]] = {
    Op.OR: (1, "or"),
    Op.AND: (1.25, "and"),
    Op.NOT: (1.5, "not"),
    Op.EQUAL: (2, "=="),
    Op.LESS: (2, "<"),
    Op.LESS_EQUAL: (2, "<="),
    Op.MULTIPLY: (4, "*"),
    Op.DIVIDE: (4, "/"),
    Op.QUOTIENT: (4, "//"),
    Op.REMAINDER: (4, "%"),
}
_NAMED: Final = (Op.VARIABLE, Op.CONSTANT, Op.APPLY)
