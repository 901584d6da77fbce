"""The tables of the envelope: that what is built, for any law, holds the weights of the law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from inspect import unwrap
from types import SimpleNamespace
from typing import Any

from mechanisms.sampling import envelope, weights
from mechanisms.sampling.envelope import SHIPPED
from proofs.flow.arrays import COLUMN, INSIDE, Building, Runs
from proofs.flow.following import Followed, Refusal, follow
from proofs.flow.loops import loop_of, require_separate_rounds
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import Term, positive, same, unknown, walk_through

_LOWER, _UPPER, _NEXT = unknown("lower"), unknown("upper"), unknown("lower of the next column")
_START, _DOUBLINGS, _HEIGHT = unknown("start"), unknown("doublings"), positive("height")
_COLUMNS, _BLOCK, _TAIL = unknown("columns"), unknown("block"), unknown("tail")
_SUM = unknown("sum of weights")
_ENDS, _BALL, _GEOMETRIC = unknown("number of starts"), unknown("ball"), unknown("_geometric_tail")


@dataclass(frozen=True)
class _Weights:
    """Both ends of the weights at the starts of columns, and at the end of the last; one column stands for all."""

    def __getitem__(self, part: slice) -> list[tuple[Term, Term]]:
        """The columns themselves, or the columns after them."""
        require((part.start, part.stop, part.step) in ((None, -1, None), (1, None, None)), "other columns")
        return [(_LOWER, _UPPER)] if part.start is None else [(_NEXT, unknown("upper of the next column"))]

    def __iter__(self) -> Any:
        return iter([(_LOWER, _UPPER)])


class _Starts:
    """Starts of columns; the last is where the tail begins."""

    def __getitem__(self, place: int) -> Any:
        require(place == -1, "another start")
        return _COLUMNS


class _Stop:
    """Where the column that stands for all ends: a power of two after its start."""

    def __sub__(self, start: Term) -> Any:
        require(start is _START, "another start")
        return SimpleNamespace(bit_length=lambda: _DOUBLINGS + 1)


def table() -> None:
    """Prove what every column, block and cell of a table is made from, for blocks of one integer and for longer ones."""
    for function in (unwrap(envelope.envelope_table), envelope._thresholds, envelope._covering):  # noqa: SLF001
        require_separate_rounds(function)
    for shift in (0, positive("shift")):
        fitting: list[Any] = []
        names = _names(shift, fitting)
        built = 0
        program = follow(unwrap(envelope.envelope_table), names)
        law = unknown("law")
        for walk, made in walk_through(partial(_run, program, law, fitting)):
            if not isinstance(made, Refusal):
                (doubled,) = (answer for question, answer in walk.decided if same(question, _DOUBLINGS > 0))
                if not doubled or isinstance(shift, Term):  # without long blocks no column is doubled
                    built += 1
                    estimate = law.estimate(shift, _COLUMNS)
                    farthest = estimate.rate * unknown("float", _COLUMNS) ** estimate.power > unknown("LARGEST_EXPONENT")
                    near = [answer for question, answer in walk.decided if _is_alike(question, farthest)]
                    require(
                        near == [False] or not isinstance(shift, Term), "exponents may be larger than the proof of floats allows"
                    )
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

    def smallest(fits: Any) -> Any:
        fitting.append(fits(_HEIGHT))
        return _HEIGHT

    plain = ("int", "float", "isqrt")
    return {
        "np": Building(),
        "pairwise": lambda _: [(_START, _Stop())],
        "len": _length,
        "freeze": lambda array: array,
        "_shift": lambda _: shift,
        "_columns": lambda *_: (_Starts(), _Weights()),
        "_smallest": smallest,
        "_order": lambda *_: (Runs("blocks", COLUMN), Runs("blocks", _BLOCK)),
        "_ends": lambda value, bits: (unknown("lower tail"), unknown("ceil", value, bits)),
        "_too_few": lambda *_: Refusal(),
        "EnvelopeTable": SimpleNamespace,
        "Fraction": lambda *parts: unknown("/", *parts) if len(parts) > 1 else parts[0],
        "ceil": lambda number: 0 if number == 0 else unknown("ceil", number),
        "ball": _BALL,
        "_geometric_tail": _GEOMETRIC,
        **{name: _as_number if name == "int" else partial(unknown, name) for name in plain},
        **{name: Followed(getattr(envelope, name)) for name in ("_covering", "_end_bits", "_thresholds")},
    }


def _is_alike(first: Any, second: Any) -> bool:
    """Whether two comparisons are the same but for the names of what they compare with."""
    return bool(first.op == second.op and same(first.parts[0], second.parts[0]) and first.parts[1].op == second.parts[1].op)


def _as_number(number: Any) -> Any:
    """A number, which is whole already."""
    return number


def _length(array: Any) -> Any:
    """The number of columns, of which two are enough to see how the first differs from the others; of cells a sum."""
    if array.over == "columns":
        return 2
    return sum((unknown("sum", "blocks", part.length) for part in array.after), unknown("sum", "blocks", array.length))


def _require_table(made: Any, law: Term, shift: Any, fitting: list[Any], *, doubled: bool) -> None:
    """Prove the fields of a table on one path: whether the column that stands for all is doubled."""
    long, unit = isinstance(shift, Term), _HEIGHT * 2**8
    # In units of 2^-60: the weight at the start, rounded up, and the least weight, rounded down.
    top, bottom = -(-_UPPER >> 80), (_NEXT if long else _LOWER) >> 80
    owned = -(-(top << _DOUBLINGS) // unit)
    under: Any = 0 if doubled else bottom // unit
    rest_of, level = owned - under, under + INSIDE
    tail = unknown("ceil", _GEOMETRIC(law.weight(_COLUMNS << shift), _BALL(law.decay(_COLUMNS << shift))), 60)
    many = _HEIGHT * 2**8 << shift
    tail_cells = unknown("max", 1, -(-tail // many))
    full, (rest, zeros) = made.block, made.block.after
    for part, length in ((full, under), (rest, rest_of)):
        require(part.over == "cells" and part.value is _BLOCK, "the block of a cell")
        require_same(part.length, length, "the number of cells of a block")
    require_same(zeros.length, 2**16 - made.occupied, "what follows the cells")
    fields = {"level": level, "doublings": _DOUBLINGS, "heights": unknown("ldexp", unknown("float", _HEIGHT / 2**52), -_DOUBLINGS)}
    for name, value in fields.items():
        found = getattr(made, name)
        require(found.over == "cells" and not found.after, f"the {name} of cells")
        require_same((found.length, found.value), (rest_of, value), f"the {name} of a cell")
    whole = {
        "height": _HEIGHT / 2**52, "shift": shift, "spread": 6 if long else 0, "columns": _COLUMNS, "tail_cells": tail_cells,
        "full": unknown("sum", "blocks", under), "occupied": unknown("sum", "blocks", under) + unknown("sum", "blocks", rest_of),
        "tail_above": (tail << 64) // (tail_cells * many), "decay": law.decay(_COLUMNS << shift),
    }  # fmt: skip
    for name, value in whole.items():
        require_same(getattr(made, name), value, f"the {name} of a table")
    require(made.law is law and made.tuning is SHIPPED, "another law, or other sizes")
    cells = unknown("sum", "columns", owned * unknown("list", 2 if long else 1, 2)) + 2 * tail_cells
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
        require_same(found.value, unknown("min", unknown("max", digits, 0), largest), "the digits that are certain")


def sides() -> None:
    """Prove that the blocks are the columns and their mirror images, with the column that each belongs to."""
    program = follow(envelope._order, {"np": _Counting(), "len": lambda array: array.length})  # noqa: SLF001 - a proof looks inside
    for shift in (0, positive("shift")):
        ((_, ((right, left), (start, mirrored))),) = walk_through(partial(program, unknown("starts"), shift))
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


def search() -> None:
    """Prove that the height that is found is one for which the cells fit: the upper end of the search always does."""
    low, high, fits = unknown("low"), unknown("high"), partial(unknown, "fits")
    loop = loop_of(envelope._smallest, ("low", "high"), {})  # noqa: SLF001 - a proof looks inside
    for walk, state in walk_through(lambda: loop.begin(fits)):
        require([answer for _, answer in walk.decided] == [state is not None], "a height that does not fit is searched from")
        require(state is None or (walk.decided[0][0].parts == (state.high,) and state.low < state.high), "the first ends")
    for walk, state in walk_through(lambda: loop.round(fits, low, high)):
        middle = (low + high) // 2
        (asked,) = walk.decided
        require_same(asked[0], fits(middle), "what is asked")
        require_same((state.low, state.high), (low, middle) if asked[1] else (middle + 1, high), "where the search goes on")
    require_same(loop.test(fits, low, high), low < high, "the end of the search")
    require(loop.end(fits, low, high) is low, "the result")


def columns() -> None:
    """Prove that columns follow each other from 0, each a power of two long, with both ends of the weights at their starts."""
    law, shift, blocks = unknown("law"), unknown("shift"), unknown("blocks")
    names = {"_ends": lambda value, bits: ("ends", value, bits), "_end_bits": Followed(envelope._end_bits)}  # noqa: SLF001
    state = ("starts", "weights", "sum_", "bits")
    for spread in (0, 6):
        loop = loop_of(envelope._columns, state, names)  # noqa: SLF001 - a proof looks inside
        ((_, first),) = walk_through(partial(loop.begin, law, shift, spread, blocks, SHIPPED))
        require(first.starts == [0] and first.bits == 140 and len(first.weights) == 1, "the first column")
        require_same(first.weights[0], ("ends", law.weight(0), 140), "the weight of 0")
        for _, after in walk_through(partial(_round, loop, law, shift, spread, blocks)):
            start, end = after.starts
            length = end.parts[1]
            (doublings,) = length.parts
            room = (2 * _SUM >> 16) // _UPPER  # what keeps a doubled top within a word: samplers.table_words
            wanted = unknown("min", spread, unknown("max", unknown("call", room.bit_length, (), ()) - 1, 0))
            require(start is _START and end.op == "+" and end.parts[0] is start and length.op == "2^", "the length of a column")
            require_same(doublings, wanted, "how often a column is doubled")
            require_same(after.sum_, _SUM + (_UPPER << doublings), "the sum of weights")
            require(len(after.weights) == 2, "the weights of a column")
            require(after.bits == 140 and after.weights[0] == (_LOWER, _UPPER), "weights are written again")
            require_same(after.weights[1], ("ends", law.weight(end << shift), 140), "the weight at the end of a column")
        starts, weights = unknown("starts"), unknown("weights")
        given = (law, shift, spread, blocks, SHIPPED, starts, weights, _SUM, 140)
        require(loop.end(*given) == (starts, weights), "what is given back")
    _prove_shift()
    scaled = ("scaled", unknown("value"), unknown("bits"))
    ends: Any = follow(envelope._ends, {"shift_ball": lambda *given: unknown("scaled", *given), "only_integer": lambda ball: ball})  # noqa: SLF001
    for found, (end, rounded) in zip(ends(*scaled[1:]), (("lower", "floor"), ("upper", "ceil")), strict=True):
        scaled_end = unknown("call", getattr(unknown(*scaled), end), (), ())
        require_same(found, unknown("call", getattr(scaled_end, rounded), (), ()), "the end of a weight")


def _prove_shift() -> None:
    """Prove that a side has at most 2^13 single columns, which `samplers.table_words` and `samplers.table_shift` are about."""
    law: Any = SimpleNamespace(width_squared=unknown("width_squared"))
    logarithm = unknown("floor_log2")
    program: Any = follow(envelope._shift, {"floor_log2": logarithm, "max": partial(unknown, "max")})  # noqa: SLF001
    exponent = logarithm(law.width_squared)
    half = exponent // 2
    for walk, shift in walk_through(partial(program, law)):
        ((question, narrow),) = walk.decided
        require_same(question, half < 6, "which laws have blocks of one integer")
        require_same(shift, 0 if narrow else unknown("max", 1, half - 6), "the length of blocks")
    # Scales are below 2^7 blocks, and cuts at most 30 scales: that is 3,841 columns, and one more block of 2^6 at the end.
    require(max(weights.LAPLACE_CUT, weights.GAUSSIAN_CUT) <= 30 and 30 * 2**7 + 1 + 2**6 <= 2**13, "blocks reach farther")


def _round(loop: Any, law: Term, shift: Term, spread: int, blocks: Term) -> Any:
    """One more column after any."""
    return loop.round(law, shift, spread, blocks, SHIPPED, [_START], [(_LOWER, _UPPER)], _SUM, 140)
