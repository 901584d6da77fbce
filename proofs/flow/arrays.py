"""Arrays by runs: numpy as the tables are built with it, for one block that stands for all and one cell of its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from proofs.flow.releasing import require
from proofs.flow.terms import Term, Undecided, same

INSIDE: Final = Term("place in the run")
"""The place of a cell within the run of its block, from 0 below the length of the run."""


@dataclass(frozen=True, eq=False)
class Runs:
    """An array with a number for every column of a side, for every block of both sides, or for every cell of every block.

    `value` is the number for the column, block or cell that stands for all. Blocks have runs of `length` cells each, one run after
    the other; `after` are the parts of a concatenation that follow.
    """

    over: str  # "columns", "blocks" or "cells"
    value: Any
    length: Any = None
    after: tuple[Runs, ...] = ()

    answers = True

    def _with(self, value: Any, other: Any = None) -> Runs:
        """The result of an operation, which is of one part and between arrays of the same places."""
        require(not self.after, "an operation on a concatenation")
        if isinstance(other, Runs):
            alike = other.over == self.over and (self.length is None) is (other.length is None)
            require(alike and (self.length is None or same(self.length, other.length)), "arrays of different places meet")
        return Runs(self.over, value, self.length)

    def __add__(self, other: Any) -> Runs:
        return self._with(self.value + _entry(other), other)

    def __sub__(self, other: Any) -> Runs:
        return self._with(self.value - _entry(other), other)

    def __mul__(self, other: Any) -> Runs:
        return self._with(self.value * _entry(other), other)

    def __floordiv__(self, other: Any) -> Runs:
        return self._with(self.value // _entry(other), other)

    def __lshift__(self, other: Any) -> Runs:
        return self._with(self.value << _entry(other), other)

    def __gt__(self, other: Any) -> Runs:
        return self._with(self.value > _entry(other), other)

    def __neg__(self) -> Runs:
        return self._with(-self.value)

    def __getitem__(self, places: Any) -> Runs:
        """The numbers of the columns to which blocks belong."""
        require(isinstance(places, Runs) and places.value is COLUMN and self.over == "columns", "numbers at other places")
        return Runs("blocks", self.value)

    def sum(self) -> Term:
        """The sum."""
        return Term("sum", self.over, self.value)

    def astype(self, _: Any) -> Runs:
        """The same numbers in another type, which holds them."""
        return self

    def tolist(self) -> list[Any]:
        """The numbers, of which one stands for all; of columns the place in a list of which one entry stands for all."""
        return [0 if self.value is COLUMN else self.value]


COLUMN: Final = Term("column")
"""The column that stands for all."""


def _entry(other: Any) -> Any:
    """The number that meets another."""
    return other.value if isinstance(other, Runs) else other


class Building:
    """The functions of numpy that tables are built with."""

    int64, uint64, uint8 = "int64", "uint64", "uint8"

    def array(self, values: Sequence[Any], dtype: Any = None) -> Any:
        """An array of a list: of one entry that stands for all, or of numbers that are known."""
        if dtype is None:
            return Runs("columns", Term("list", *values))
        if dtype == "uint64":
            return Runs("cells", *values) if values else Runs("none", None)
        (value,) = values
        return Runs("columns", value)

    def where(self, test: Runs, yes: Any, no: Runs) -> Runs:
        """One of two numbers."""
        return Runs(test.over, _entry(yes) if test.value else _entry(no))

    def repeat(self, values: Runs, length: Runs) -> Runs:
        """A run of equal numbers for every block."""
        require(values.over == "blocks" and length.over == "blocks", "runs of other than blocks")
        return Runs("cells", values.value, length.value)

    def cumsum(self, length: Runs) -> Runs:
        """Where the run of each block ends."""
        return Runs(length.over, Term("end of the run", length.value))

    def arange(self, count: Term) -> Runs:
        """The places of all cells: a run begins where it would end, less its length."""
        op, over, length = count.op, *count.parts
        require(op == "sum" and over == "blocks", "other places")
        return Runs("cells", Term("end of the run", length) - length + INSIDE, length)

    def concatenate(self, parts: Sequence[Runs]) -> Runs:
        """One part after the other."""
        first, *rest = parts
        return Runs(first.over, first.value, first.length, (*first.after, *rest))

    def zeros(self, count: Any, dtype: Any) -> Runs:
        """Zeros."""
        require(dtype == "int64", "zeros of another type")
        return Runs("zeros", 0, count)

    def ldexp(self, number: Any, powers: Runs) -> Runs:
        """A number times powers of two."""
        return Runs(powers.over, Term("ldexp", number, powers.value), powers.length)

    def __getattr__(self, name: str) -> Any:
        raise Undecided(f"numpy.{name} has no meaning here")
