"""Rows of bounded norm: every row of steps passes the exact test of the ball, is made of its own row, and is summed exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from mechanisms import contributions
from mechanisms.contributions import LARGEST_LATTICE_BITS
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.loops import cut
from proofs.flow.releasing import if_same, noting, or_refusal, require, require_same
from proofs.flow.repeating import Cells
from proofs.flow.terms import Term, alike, positive, same, unknown, walk_through

_NUMPY, _ROWS, _BALL = unknown("np"), unknown("rows"), unknown("ball")
_FLOAT: Final = 53


def balls() -> None:
    """Prove that a row is held only if its integers, summed in floats, are at most a radius whose square floats count up to."""
    steps, radius = unknown("steps"), unknown("radius")
    for norm in ("l1", "l2", "linf"):
        ball: Any = Subject(contributions._Ball, {"np": _NUMPY}, norm=norm, radius=radius, per_unit=unknown("unit"))  # noqa: SLF001
        held = ball.holds(steps)
        sizes = {
            "l2": _NUMPY.einsum("ij,ij->i", steps, steps),
            "l1": _NUMPY.sum(_NUMPY.abs(steps), axis=1),
            "linf": _NUMPY.max(_NUMPY.abs(steps), axis=1),
        }[norm]
        require(held.op == "<=", "the test of the ball")
        require_same(held.parts, (sizes, radius**2 if norm == "l2" else radius), "the test of the ball")
    # A rounded sum that leaves the numbers which floats count is at least the last of them, and stays so.
    require(2 * LARGEST_LATTICE_BITS < _FLOAT, "squares of the radius beyond what floats count")
    given, bits, bound = unknown("norm bound"), unknown("lattice_bits"), positive("bound")
    names = {
        "word": unknown("word"),
        "integer": lambda number, _, *, lower, upper: if_same(
            (number, lower, upper), (bits, 1, LARGEST_LATTICE_BITS), "bits", bits
        ),
        "positive": lambda number, _: if_same(number, given, "the bound", bound),
        "in_range": lambda number, _, *, lower, upper: if_same((number, lower * upper), (bound, 1), "the bound", bound),
        "Fraction": Fraction,
        "_Ball": lambda *parts: parts,
        "float": partial(unknown, "float"),
    }
    norm, radius, per_unit = follow(contributions._ball, names)(given, "l2", bits)  # noqa: SLF001 - a proof looks inside
    require(norm == "l2", "another norm")
    require(radius.op == "**" and radius.parts[0] == 2.0 and radius.parts[1] is bits, "the radius")
    require_same(per_unit, unknown("float", unknown("**", 2, bits) / bound), "the steps in a unit")


def steps() -> None:
    """Prove that rows are whole steps, and that one which the ball does not hold is replaced by one that it holds, or by zeros."""
    made, held = Cells("steps"), unknown("holds")
    sizes, per_unit = unknown("sizes"), unknown("per unit")
    factors: list[Any] = []

    class _Tame:
        """Rows whose product with their factors is noted."""

        def __mul__(self, other: Any) -> Any:
            return noting(factors, other, made.erased())

    tame = _Tame()
    ball = SimpleNamespace(holds=held, radius=unknown("radius"))
    names = {
        "np": _NUMPY,
        "_measure": lambda rows, given: if_same((id(rows), id(given)), (id(_ROWS), id(ball)), "", (tame, sizes, per_unit)),
    }
    names["_SHRINKAGE"] = unknown("shrinkage")
    seen = set()
    for walk, found in walk_through(lambda: follow(contributions._steps, names)(_ROWS, ball)):  # noqa: SLF001
        require(found is made, "other steps")
        (factor,) = factors
        factors.clear()
        wanted = _NUMPY.minimum(per_unit, ball.radius / sizes)
        require_same(factor.parts[0], wanted, "the factor of a row")
        called = [call for call in walk.calls if call.parts[0] is held or same(call.parts[0], _NUMPY.trunc)]
        require_same(called[0].parts[1:], ((made,), (("out", made),)), "steps are cut to whole ones")
        require(called[1].parts[0] is held and called[1].parts[1][0] is made, "the ball is asked of whole steps")
        row = unknown("each", _NUMPY.flatnonzero(Term("~", called[1])).tolist())
        again = _NUMPY.trunc(made[row] * names["_SHRINKAGE"])
        ((place, written),) = made.written
        require(alike(place, row), "other rows are replaced")
        (question, is_held) = walk.decided[-1]
        require(alike(question, held(again[_NUMPY.newaxis])[0]), "what replaces a row")
        require(alike(written, again) if is_held else written == 0.0, "a row that the ball does not hold")
        seen.add(is_held)
    require(seen == {True, False}, f"only {seen} are seen")
    _prove_measures()
    _prove_folds()


def _prove_measures() -> None:
    """Prove that what a row is multiplied by, and what replaces it where it is extreme, is made of that row alone."""
    power, least, most = partial(unknown, "power"), unknown("least"), unknown("most")
    copied, units, sums = Cells("rows"), Cells("units"), Cells("sums")
    given = SimpleNamespace(copy=copied.erased)
    ball: Any = SimpleNamespace(norm="l1", per_unit=unknown("unit"))
    powers = {"l1": lambda rows: sums.erased() if rows is given else power(rows)}
    numpy = SimpleNamespace(
        full=lambda size, unit: if_same((size, unit), (unknown("len", given), ball.per_unit), "units", units.erased()),
        flatnonzero=_NUMPY.flatnonzero,
    )
    for name in ("frexp", "abs", "ldexp", "isfinite", "sqrt"):
        setattr(numpy, name, getattr(_NUMPY, name))
    numpy.frexp = lambda number: (unknown("mantissa", number), unknown("exponent", number))
    names = {"np": numpy, "_NORM_POWERS": powers, "len": partial(unknown, "len"), "_SMALLEST_SUM": least, "_LARGEST_SUM": most}
    for norm in ("l1", "l2"):
        ball.norm = norm
        powers["l2"] = powers["l1"]
        for walk, (rows, sizes, per_unit) in walk_through(lambda: _measured(names, given, ball, copied, units, sums)):
            require(per_unit is units, "other units")
            require(sizes is sums if norm == "l1" else alike(sizes, _NUMPY.sqrt(sums)), "the norms of rows")
            extreme = _NUMPY.flatnonzero(Term("~", Term("&", sums > least, sums < most)))
            if rows is given:
                require(not (copied.written or units.written or sums.written), "rows are changed")
                continue
            row = unknown("each", extreme.tolist())
            require(rows is copied, "other rows")
            exponent = unknown("exponent", _NUMPY.abs(copied[row]).max())
            ((place, value),), ((unit_at, unit),), ((sum_at, total),) = copied.written, units.written, sums.written
            require(all(alike(one, row) for one in (place, unit_at, sum_at)), "another row is changed")
            is_finite = walk.decided[-1][1]
            require(alike(walk.decided[-1][0], _NUMPY.isfinite(copied[row]).all()), "rows that are not finite")
            require(alike(value, _NUMPY.ldexp(copied[row], -exponent)) if is_finite else value == 0.0, "an extreme row")
            require(alike(unit, _NUMPY.ldexp(ball.per_unit, exponent)), "the unit of an extreme row")
            require(total.op == "item" and _of_own_row(total.parts[0], copied, row, power), "the sum of an extreme row")


def _measured(names: dict[str, Any], rows: Any, ball: Any, *arrays: Cells) -> Any:
    """Follow the measures of rows, with nothing written into arrays before."""
    for one in arrays:
        one.erased()
    return follow(contributions._measure, names)(rows, ball)  # noqa: SLF001 - a proof looks inside


def _of_own_row(made: Any, rows: Any, row: Any, power: Any) -> bool:
    """Whether a power is that of one row, as an array of it."""
    (part,) = made.parts
    if made.op != power.args[0] or part.op != "item" or part.parts[0] is not rows:
        return False
    return alike((part.parts[1].start, part.parts[1].stop), (row, row + 1))


def _prove_folds() -> None:
    """Prove that sums of rows are added entry by entry, the entries of a row to others of the same row."""
    width, values = unknown("width"), Cells("values")
    program = cut(contributions._fold, {}, lambda: {"values": values.erased(), "width": width})  # noqa: SLF001
    given: Any = SimpleNamespace(shape=(unknown("rows"), unknown("columns")))
    for walk, path in walk_through(lambda: program(given)):
        if path.ended is None:
            require_same((walk.decided[0][0].op, path.result.parts[1][1]), (">", 0), "the first column")
            continue
        half = width // 2
        ((place, total),) = values.written
        whole, part = slice(None), slice(None, half)
        require(_same_place(place, (whole, part)) and total.op == "+", "which columns are added to")
        first, second = total.parts
        require(first.parts[0] is values and _same_place(first.parts[1], (whole, part)), "what is added to")
        require(second.parts[0] is values and _same_place(second.parts[1], (whole, slice(width - half, width))), "what is added")
        require_same(path.ended[1].width, width - half, "the columns that are left")


def _same_place(found: Any, wanted: tuple[slice, slice]) -> bool:
    """Whether two pairs of slices are the same."""
    return all(
        same((one.start, one.stop, one.step), (two.start, two.stop, two.step)) for one, two in zip(found, wanted, strict=True)
    )


def sums() -> None:
    """Prove that all rows are clipped, a part after the other, and that their sum is made of parts that floats add exactly."""
    height, checked, made = unknown("height"), unknown("checked"), partial(unknown, "steps")
    result = Cells("result")
    start = unknown("each", unknown("range", 0, unknown("len", checked), height))
    names = {
        "_ball": lambda bound, norm, bits: if_same((bound, norm, bits), (_BOUND, _NORM, _BITS), "the ball", _BALL),
        "check_rows": lambda rows: if_same(rows, _ROWS, "the rows", checked),
        "_height": lambda rows: if_same(rows, checked, "the rows", height),
        "_steps": made,
        "len": partial(unknown, "len"),
        "range": partial(unknown, "range"),
    }
    part = _NUMPY.asarray(checked[slice(start, start + height)], dtype=_NUMPY.float64)
    numpy = SimpleNamespace(asarray=_NUMPY.asarray, float64=_NUMPY.float64, int64=_NUMPY.int64)
    numpy.empty = lambda shape, dtype: if_same((shape, dtype), (checked.shape, _NUMPY.int64), "the array", result.erased())
    found = follow(contributions.clip_rows, names | {"np": numpy})(_ROWS, norm_bound=_BOUND, norm=_NORM, lattice_bits=_BITS)
    ((place, written),) = result.written
    require(found is result, "another array")
    require_same((place.start, place.stop), (start, start + height), "where a part is written")
    require_same(written, made(part, _BALL), "what is written")
    _prove_sum(names, height, checked)
    refusing = follow(contributions.check_rows, {"np": _NUMPY, "isinstance": lambda *_: True, "kind_of": lambda _: ""})
    array: Any = SimpleNamespace(ndim=2, dtype=SimpleNamespace(kind="f"), shape=(unknown("count"), unknown("columns")))
    for walk, checked_rows in walk_through(lambda: or_refusal(lambda: refusing(array))):
        if not isinstance(checked_rows, Refusal):
            too_many = [answer for question, answer in walk.decided if question.op == ">" and same(question.parts[1], 2**34)]
            require(checked_rows is array and too_many == [False], "sums that may be too large")
    require(follow(contributions._height, {"max": partial(unknown, "max")})(checked).op == "max", "no row is read")  # noqa: SLF001


_BOUND, _NORM, _BITS = unknown("norm_bound"), unknown("norm"), unknown("lattice_bits")


def _prove_sum(names: dict[str, Any], height: Any, checked: Any) -> None:
    """Prove the sum of all rows: parts are added in floats while fewer rows are there than they count, and in integers then."""
    flush = contributions._FLUSH_ROWS  # noqa: SLF001 - a proof looks inside
    require(flush * 2**LARGEST_LATTICE_BITS <= 2**_FLOAT / 2 and flush >= contributions._CHUNK, "sums that floats do not hold")  # noqa: SLF001
    require(contributions._MOST_ROWS * 2**LARGEST_LATTICE_BITS <= 2**60, "sums beyond what mechanisms add noise to")  # noqa: SLF001
    numpy = SimpleNamespace(asarray=_NUMPY.asarray, float64=_NUMPY.float64, int64=_NUMPY.int64, zeros=_NUMPY.zeros)
    partial_, summed, total, start = Cells("partial"), unknown("summed"), unknown("total"), unknown("start")
    state = {"partial": partial_, "summed": summed, "total": total}
    program = cut(contributions.clip_and_sum, names | {"np": numpy}, lambda: state | {"partial": partial_.erased(), "next": start})
    steps_ = unknown("steps", _NUMPY.asarray(checked[slice(start, start + height)], dtype=_NUMPY.float64), _BALL)
    seen = set[Any]()
    for walk, path in walk_through(lambda: program(_ROWS, norm_bound=_BOUND, norm=_NORM, lattice_bits=_BITS)):
        if path.ended is None:
            require_same(path.result, total + partial_.astype(_NUMPY.int64), "the sum")
            seen.add("sum")
            continue
        after, length = path.ended[1], unknown("len", steps_)
        flushes, is_several = walk.decided[1], walk.decided[2]
        require(flushes[0].op == ">" and same(flushes[0].parts, (summed + length, flush)), "when floats are full")
        row = steps_.sum(axis=0) if is_several[1] else steps_[0]
        require(same(after.total, total + partial_.astype(_NUMPY.int64)) if flushes[1] else after.total is total, "the sum")
        require(same(after.summed, (0 if flushes[1] else summed) + length), "how many rows are in it")
        require(same(after.partial, partial_ + row), "what is added")
        require([value for _, value in partial_.written] == ([0.0] if flushes[1] else []), "a sum that is begun again")
        seen.add((flushes[1], is_several[1]))
    require(len(seen) == 5, f"only {seen} are seen")
