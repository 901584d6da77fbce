"""Many choices from one table: which part of its masses a word falls into, and how what is left over is chosen."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.selection import repeated
from mechanisms.selection.repeated import AliasTable
from proofs.flow.floats import require_exactly, strictly
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.loops import State, cut, loop_of
from proofs.flow.releasing import if_same, noting, or_refusal, require, require_same
from proofs.flow.repeating import Cells
from proofs.flow.terms import same, unknown, walk_through

_HEAT, _SOURCE, _NUMPY, _BALL = unknown("temperature"), unknown("source"), unknown("np"), partial(unknown, "ball")
_TUNING: Final[Any] = SimpleNamespace(**{name: unknown(name) for name in ("bits", "slack", "rest", "step")})


def masses() -> None:
    """Prove which whole masses stand for a weight, in which unit, and that what is in no sure part is left over."""
    exponent, size = unknown("certexp"), unknown("size")
    held: Any = SimpleNamespace(size=size, gaps=partial(unknown, "gaps"))
    fraction = partial(unknown, "Fraction")
    names = {
        "np": _NUMPY,
        "certexp": exponent,
        "float": partial(unknown, "float"),
        "int": lambda number: number,
        "Fraction": fraction,
        "columns": lambda *given: (unknown("own", *given), unknown("other", *given)),
        "LARGEST_EXPONENT": unknown("largest"),
        "AliasTable": lambda *parts: parts,
    }
    slack, bits, seen = _TUNING.slack, _TUNING.bits, set()
    reach = _NUMPY.minimum(held.gaps(0, size) * unknown("float", 1 / _HEAT), names["LARGEST_EXPONENT"])
    weight = exponent(reach)
    for walk, found in walk_through(lambda: or_refusal(lambda: follow(repeated.alias_table, names)(held, _HEAT, _TUNING))):
        ((question, is_too_much),) = walk.decided
        require(question.op == "<" and isinstance(found, Refusal) is is_too_much, "masses that do not fit")
        seen.add(is_too_much)
        if is_too_much:
            continue
        given, heat, tuning, own, other, sure, spare, unit = found
        require(given is held and heat is _HEAT and tuning is _TUNING and unit.op == "Fraction", "another table")
        (rate,) = unit.parts
        require_exactly(sure, (weight * (1.0 - slack) * rate).astype(_NUMPY.int64), "the sure parts")
        whole = (weight * (1.0 + slack) * rate).astype(_NUMPY.int64)
        require(spare.op == "-" and spare.parts[0].op == "+" and spare.parts[0].parts[1] == 1, "what may be left of a weight")
        require_exactly((spare.parts[0].parts[0], spare.parts[1]), (whole, sure), "what may be left of a weight")
        wanted = (2.0**bits - size) * (1.0 - 2.0**-32) / (unknown("float", weight.sum()) * (1.0 + slack) ** 2)
        require(strictly(rate, wanted), "the unit")
        left = 2**bits - sure.sum()
        require_same(question.parts, (left, spare.sum()), "whether all fits")
        require_same(
            (own, other),
            (unknown("own", _NUMPY.append(sure, left), bits), unknown("other", _NUMPY.append(sure, left), bits)),
            "the columns",
        )
    require(seen == {True, False}, "masses that do not fit are not refused")
    table: Any = Subject(AliasTable, {"int": lambda number: number}, tuning=_TUNING, own=unknown("own"), sure=unknown("sure"))
    require_same(table.height, bits - (table.own.size - 1).bit_length(), "the height of a column")
    require_same(table.left, 2**bits - table.sure.sum(), "what is left over")


def filled() -> None:
    """Prove how columns of equal height are filled: lemmas `alias.*` say that each mass then stands in as much as it is.

    Deficits of low columns and surpluses of high ones are counted in their order. A low column is filled by the high one in
    whose surplus its deficit begins; a high one, after that, by the next.
    """
    masses_, bits = SimpleNamespace(size=unknown("size")), unknown("bits")
    own, other = Cells("own"), Cells("other")
    low, high = unknown("low"), unknown("high")
    numpy = SimpleNamespace(
        zeros=lambda size, dtype: if_same((size, dtype), (2 ** _width(masses_), _NUMPY.int64), "the columns", own.erased()),
        arange=lambda size: if_same(size, own.size, "the columns", other.erased()),
        flatnonzero=lambda mask: _compared(mask, own, full, low, high),
        cumsum=_NUMPY.cumsum,
        searchsorted=_NUMPY.searchsorted,
    )
    numpy.int64 = _NUMPY.int64
    full: Any = _NUMPY.int64(2 ** (bits - _width(masses_)))
    seen = set()
    names = {"np": numpy, "max": partial(unknown, "max")}
    for walk, found in walk_through(lambda: follow(repeated.columns, names)(masses_, bits)):
        has_high, has_low = (_answer(walk, places.size) for places in (high, low))
        require(found[0] is own and found[1] is other, "other columns are given")
        deficits, surpluses = _NUMPY.cumsum(full - own[low]), _NUMPY.cumsum(own[high] - full)
        before = deficits - (full - own[low])
        by = high[_NUMPY.searchsorted(surpluses, before, side="right")] if has_high else low
        end = deficits[_NUMPY.searchsorted(deficits, surpluses, side="left")] if has_low else surpluses
        first, *rest = own.written
        require(first[0].start is None and first[0].step is None and first[1] is masses_, "the masses")
        require_same(first[0].stop, masses_.size, "the masses")
        require_same(rest, [(high, full + surpluses - end)], "what high columns keep")
        (filled_by, next_by) = other.written
        require_same(filled_by, (low, by), "who fills low columns")
        places, following = next_by
        require(_is_cut(places, high, stop=-1) and _is_cut(following, high, start=1), "who fills high columns")
        seen.add((has_high, has_low))
    require(seen == {(a, b) for a in (False, True) for b in (False, True)}, f"only {seen} are seen")


def _compared(mask: Any, own: Any, full: Any, low: Any, high: Any) -> Any:
    """The places of columns that are below full ones, or above them."""
    require(mask.op in ("<", ">") and same(mask.parts, (own, full)), "who is low, and high")
    return low if mask.op == "<" else high


def _width(masses_: Any) -> Any:
    """The binary logarithm of the number of columns."""
    return unknown("max", 1, (masses_.size - 1).bit_length())


def _is_cut(part: Any, whole: Any, *, start: Any = None, stop: Any = None) -> bool:
    """Whether a part of an array, or of places by which entries are named, leaves out one end."""
    return bool(part.op == "item" and part.parts[0] is whole and part.parts[1] == slice(start, stop))


def _answer(walk: Any, wanted: Any) -> bool:
    """The answer of a path to a question, which it has to ask once."""
    answers = [answer for question, answer in walk.decided if question.op == wanted.op and same(question.parts, wanted.parts)]
    require(len(answers) == 1, f"{wanted!r} is asked {len(answers)} times")
    return bool(answers[0])


def trials() -> None:
    """Prove that a word of a trial falls into its part, or is left over, and that trials are kept in their order."""
    size, words = unknown("number of trials"), unknown("words")
    table: Any = SimpleNamespace(
        tuning=_TUNING, height=unknown("height"), own=SimpleNamespace(take=partial(unknown, "own at")),
        other=SimpleNamespace(take=partial(unknown, "other at")), scores=SimpleNamespace(size=unknown("candidates")),
    )  # fmt: skip
    source = SimpleNamespace(uniform=lambda bits, count: if_same((bits, count), (_TUNING.bits, size), "the words", words))
    chosen: Any = Cells("chosen")
    rest = unknown("rest")
    given: list[Any] = []
    numpy = SimpleNamespace(
        uint64=_NUMPY.uint64, int64=_NUMPY.int64, flatnonzero=_NUMPY.flatnonzero,
        where=lambda *parts: noting(given, parts, chosen.erased()),
    )  # fmt: skip
    names = {
        "np": numpy,
        "_rest": lambda *parts: if_same((id(parts[0]), id(parts[1])), (id(table), id(source)), "another rest", rest),
    }
    number = words.astype(_NUMPY.uint64, copy=False).view(_NUMPY.int64)
    column, below = number >> table.height, number & 2**table.height - 1
    seen = set()
    for walk, found in walk_through(lambda: follow(repeated.trials, names)(table, size, source)):
        (asked,) = given
        require(asked[0].op == "<", "a word is in its own part")
        require_same(asked[0].parts, (below, unknown("own at", column)), "a word is in its own part")
        require_same(asked[1:], (column, unknown("other at", column)), "whose part a word is in")
        given.clear()
        left = _NUMPY.flatnonzero(chosen == table.scores.size)
        require_same([*chosen.written], [(unknown("each", left), rest)], "what is left over")
        has_open = _answer(walk, left.size)
        require_same(found, chosen[chosen >= 0] if has_open else chosen, "the trials that are kept")
        seen.add(has_open)
    require(seen == {True, False}, f"only {seen} are seen")
    _prove_rest()
    _prove_many()


def _prove_rest() -> None:
    """Prove that of what is left over a candidate is proposed by what may be its own, and accepted by what is."""
    left, width = unknown("left"), _TUNING.rest
    size, spare, sure, unit = unknown("candidates"), Cells("spare"), unknown("sure"), unknown("unit")
    table: Any = SimpleNamespace(
        tuning=_TUNING, left=left, scores=SimpleNamespace(size=size), spare=spare, sure=sure, unit=unit, temperature=_HEAT
    )
    number = unknown("number")
    words: list[Any] = []
    source = SimpleNamespace(bits=lambda count: noting(words, count, unknown("word")))
    share = partial(unknown, "share")

    def coin(given: Any, first: Any, step: Any) -> Any:
        require(given is source, "a coin from elsewhere")
        require_same((first, step), (_TUNING.step, _TUNING.step), "the digits of a coin")
        return SimpleNamespace(less=partial(unknown, "below"))

    names = {"np": _NUMPY, "int": lambda one: one, "LazyUniform": coin, "_share": share}
    program = cut(repeated._rest, names, lambda: {"number": number})  # noqa: SLF001 - a proof looks inside
    index = _NUMPY.searchsorted(_NUMPY.cumsum(spare), number % left, side="right")
    seen = set()
    for walk, path in walk_through(lambda: program(table, source)):
        question, is_beyond = walk.decided[0]
        require(question.op == ">=", "numbers beyond the last multiple")
        require_same(question.parts, (number, (1 << width) // left * left), "numbers beyond the last multiple")
        if is_beyond:
            require(path.ended is not None and path.ended[1].number.op == "word", "no other number is drawn")
            seen.add("again")
            continue
        nobody = walk.decided[1]
        require(nobody[0].op == "==", "whether it is nobody's")
        require_same(nobody[0].parts, (index, size), "whether it is nobody's")
        if nobody[1]:
            require(path.result == -1, "nobody's part is somebody's")
            seen.add("nobody")
            continue
        decides, is_below = walk.decided[2]
        require(decides.op == "below", "what decides")
        require_same(decides.parts, (share(table, index),), "what decides")
        require_same(path.result, index if is_below else -1, "a decision is turned")
        seen.add("accepted" if is_below else "refused")
    require(seen == {"again", "nobody", "accepted", "refused"}, f"only {seen} are seen")
    require(all(count is width for count in words), "other digits")
    weight, place = partial(unknown, "weight"), unknown("place")
    names = {"true_weight": lambda *given: lambda at: weight(*given, at), "ball": _BALL, "int": lambda one: one}
    ball = follow(repeated._share, names)(table, place)(unknown("at"))  # noqa: SLF001 - a proof looks inside
    at = ball.parts[0].parts[0].parts[0].parts[-1]
    wanted = (weight(table.scores, place, _HEAT, at) * _BALL(unit) - sure[place]) / spare[place]
    require_same(ball, wanted, "the share of a candidate")


def _prove_many() -> None:
    """Prove that trials are made until as many are kept as are wanted, by their number alone, and given in their order."""
    tried, table, missing, count = unknown("trials"), unknown("table"), unknown("missing"), unknown("count")
    drawn: list[Any] = [unknown("before"), unknown("after that")]
    names = {"trials": tried, "min": partial(unknown, "min"), "np": _NUMPY}
    loop = loop_of(repeated.draw_many, ("drawn", "missing"), names)
    first = loop.begin(table, count, _SOURCE)
    require(first.drawn == [] and first.missing is count, "draws that are there at first")
    require_same(loop.test(table, count, _SOURCE, drawn=drawn, missing=missing), missing, "the end")
    after = loop.round(table, count, _SOURCE, drawn=[*drawn], missing=missing)
    kept = tried(table, unknown("min", missing, repeated._BATCH), _SOURCE)  # noqa: SLF001 - a proof looks inside
    require(isinstance(after, State), "a round that ends it")
    require_same(after.drawn, [*drawn, kept], "what is kept")
    require_same(after.missing, missing - kept.size, "how many are missing")
    require_same(loop.end(table, count, _SOURCE, drawn=drawn, missing=missing), _NUMPY.concatenate(drawn), "what is given")
