"""The tables of the envelope: that what is built, for any law, holds the weights of the law."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.sampling import envelope
from mechanisms.sampling.envelope import SHIPPED
from proofs.flow.arrays import COLUMN, INSIDE, Building, Runs
from proofs.flow.following import Followed, Refusal, follow
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import Term, positive, same, walk_through

_LOWER, _UPPER, _NEXT = Term("lower"), Term("upper"), Term("lower of the next column")
_START, _DOUBLINGS, _HEIGHT = Term("start"), Term("doublings"), positive("height")
_COLUMNS, _BLOCK, _TAIL = Term("columns"), Term("block"), Term("tail")
_ENDS, _BALL, _GEOMETRIC = Term("number of starts"), Term("ball"), Term("_geometric_tail")


@dataclass(frozen=True)
class _Weights:
    """Both ends of the weights at the starts of columns, and at the end of the last; one column stands for all."""

    def __getitem__(self, part: slice) -> list[tuple[Term, Term]]:
        """The columns themselves, or the columns after them."""
        require((part.start, part.stop, part.step) in ((None, -1, None), (1, None, None)), "other columns")
        return [(_LOWER, _UPPER)] if part.start is None else [(_NEXT, Term("upper of the next column"))]

    def __iter__(self) -> Any:
        return iter([(_LOWER, _UPPER)])


class _Starts:
    """Starts of columns; the last is where the tail begins."""

    def __getitem__(self, place: int) -> Term:
        require(place == -1, "another start")
        return _COLUMNS


class _Stop:
    """Where the column that stands for all ends: a power of two after its start."""

    def __sub__(self, start: Term) -> Any:
        require(start is _START, "another start")
        return SimpleNamespace(bit_length=lambda: _DOUBLINGS + 1)


def table() -> None:
    """Prove what every column, block and cell of a table is made from, for blocks of one integer and for longer ones."""
    for shift in (0, positive("shift")):
        fitting: list[Any] = []
        names = _names(shift, fitting)
        built = 0
        program = follow(envelope.envelope_table.__wrapped__, names)
        law = Term("law")
        for walk, made in walk_through(lambda program=program, law=law, fitting=fitting: _run(program, law, fitting)):
            if not isinstance(made, Refusal):
                (doubled,) = (answer for question, answer in walk.decided if same(question, _DOUBLINGS > 0))
                if not doubled or isinstance(shift, Term):  # without long blocks no column is doubled
                    built += 1
                    _require_table(made, law, shift, fitting, doubled=doubled)
        require(built == (2 if isinstance(shift, Term) else 1), "a table is not built")


def _run(program: Any, law: Term, fitting: list[Any]) -> Any:
    """One path of the building of a table."""
    fitting.clear()
    try:
        return program(law, SHIPPED)
    except Refusal as refusal:
        return refusal


def _names(shift: Any, fitting: list[Any]) -> dict[str, Any]:
    """What the building reaches."""

    def smallest(fits: Any) -> Term:
        fitting.append(fits(_HEIGHT))
        return _HEIGHT

    return {
        "np": Building(), "pairwise": lambda _: [(_START, _Stop())], "len": _length, "freeze": lambda array: array,
        "_shift": lambda _: shift, "_columns": lambda *given: (_Starts(), _Weights()), "_smallest": smallest,
        "_order": lambda *_: (Runs("blocks", COLUMN), Runs("blocks", _BLOCK)),
        "_ends": lambda value, bits: (Term("lower tail"), Term("ceil", value, bits)), "_too_few": lambda *_: Refusal(),
        "EnvelopeTable": lambda **fields: SimpleNamespace(**fields), "Fraction": lambda *parts: Term("/", *parts) if len(parts) > 1 else parts[0],
        "int": lambda number: number, "ball": _BALL, "_geometric_tail": _GEOMETRIC, "float": lambda number: Term("float", number), "isqrt": lambda number: Term("isqrt", number),
        "ceil": lambda number: 0 if number == 0 else Term("ceil", number),
        **{name: Followed(getattr(envelope, name)) for name in ("_covering", "_end_bits", "_thresholds")},
    }  # fmt: skip


def _length(array: Any) -> Any:
    """The number of columns, of which two are enough to see how the first differs from the others; of cells a sum."""
    if array.over == "columns":
        return 2
    return sum((Term("sum", "blocks", part.length) for part in array.after), Term("sum", "blocks", array.length))


def _require_table(made: Any, law: Term, shift: Any, fitting: list[Any], *, doubled: bool) -> None:
    """Prove the fields of a table on one path: whether the column that stands for all is doubled."""
    long, unit = isinstance(shift, Term), _HEIGHT * 2**8
    # In units of 2^-60: the weight at the start, rounded up, and the least weight, rounded down.
    top, bottom = -(-_UPPER >> 80), (_NEXT if long else _LOWER) >> 80
    owned = -(-(top << _DOUBLINGS) // unit)
    under = 0 if doubled else bottom // unit
    partial, level = owned - under, under + INSIDE
    tail = Term("ceil", _GEOMETRIC(law.weight(_COLUMNS << shift), _BALL(law.decay(_COLUMNS << shift))), 60)
    many = _HEIGHT * 2**8 << shift
    tail_cells = Term("max", 1, -(-tail // many))
    full, rest, zeros = made.block, *made.block.after
    for part, length in ((full, under), (rest, partial)):
        require(part.over == "cells" and part.value is _BLOCK, "the block of a cell")
        require_same(part.length, length, "the number of cells of a block")
    require_same(zeros.length, 2**16 - made.occupied, "what follows the cells")
    fields = {"level": level, "doublings": _DOUBLINGS, "heights": Term("ldexp", Term("float", _HEIGHT / 2**52), -_DOUBLINGS)}
    for name, value in fields.items():
        found = getattr(made, name)
        require(found.over == "cells" and not found.after, f"the {name} of cells")
        require_same((found.length, found.value), (partial, value), f"the {name} of a cell")
    whole = {
        "height": _HEIGHT / 2**52, "shift": shift, "spread": 6 if long else 0, "columns": _COLUMNS, "tail_cells": tail_cells,
        "full": Term("sum", "blocks", under), "occupied": Term("sum", "blocks", under) + Term("sum", "blocks", partial),
        "tail_above": (tail << 64) // (tail_cells * many), "decay": law.decay(_COLUMNS << shift),
    }  # fmt: skip
    for name, value in whole.items():
        require_same(getattr(made, name), value, f"the {name} of a table")
    require(made.law is law and made.tuning is SHIPPED, "another law, or other sizes")
    cells = Term("sum", "columns", owned * Term("list", 2 if long else 1, 2)) + 2 * tail_cells
    require_same(tuple(fitting), (cells <= 2**16,), "the number of cells that has to fit")
    if long:
        require_same(made.estimate, law.estimate(shift, _COLUMNS), "the float formula")
        return
    scaled = [bound * 2 ** (64 + 52) for bound in (_LOWER, _UPPER)]
    divisor, beneath, largest = _HEIGHT << 140, level << 64, 2**64 - 1
    below = scaled[0] // divisor - beneath
    above = -(-scaled[1] // divisor) - 1 - beneath
    for found, digits in ((made.accept_below, below), (made.reject_above, above)):
        require(found.over == "cells", "thresholds of other than cells")
        require_same(found.value, Term("min", Term("max", digits, 0), largest), "the digits that are certain")


def sides() -> None:
    """Prove that the blocks are the columns and their mirror images, with the column that each belongs to."""
    program = follow(envelope._order, {"np": _Counting(), "len": lambda array: array.length})  # noqa: SLF001 - a proof looks inside
    for shift in (0, positive("shift")):
        ((_, ((right, left), (start, mirrored))),) = walk_through(lambda shift=shift: program(Term("starts"), shift))
        for column, block, turned in ((right, start, False), (left, mirrored, True)):
            require_same(column.length, block.length, "a block without a column")
            skipped = column.first
            require(skipped == (0 if isinstance(shift, Term) else 1) * turned, "columns are left out")
            # The mirror image of a long column begins at minus its end; that of the integer k is -k.
            wanted = skipped + (turned and isinstance(shift, Term))
            require(block.turned is turned and block.first == wanted and column.name == "column", "where a block begins")
            require_same(column.length, _ENDS - 1 - skipped, "the number of blocks of a side")


@dataclass(frozen=True, eq=False)
class _Part:
    """Part of the array of starts, from the `first` on, perhaps turned; or of the numbers of columns."""

    name: str
    first: int
    length: Any
    turned: bool = False

    def __getitem__(self, part: slice) -> _Part:
        first, last = part.start or 0, -(part.stop or 0)
        return _Part(self.name, self.first + first, self.length - first - last, self.turned)

    def __neg__(self) -> _Part:
        return _Part(self.name, self.first, self.length, not self.turned)


class _Counting:
    """The functions of numpy that put blocks in order."""

    int64 = "int64"

    def array(self, _: Any, dtype: Any) -> _Part:
        """All starts, the last of which is where the tail begins."""
        require(dtype == "int64", "starts of another type")
        return _Part("start", 0, _ENDS)

    def arange(self, count: Any) -> _Part:
        """The numbers of columns."""
        return _Part("column", 0, count)

    def concatenate(self, parts: list[_Part]) -> list[_Part]:
        """One part after the other."""
        return parts
