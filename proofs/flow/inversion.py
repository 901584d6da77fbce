"""Inversion of a cumulative function: a draw is the first place whose probability is above a uniform number, by what is certain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.sampling import cumulative
from mechanisms.sampling.cumulative import CHUNK, CumulativeTable
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.lanes import Column, Domain, Lane, Numpy, Source, count_at_most, rounds
from proofs.flow.loops import Cut, cut, require_part, require_separate_rounds
from proofs.flow.releasing import or_refusal, require, require_same
from proofs.flow.terms import Term, Walk, same, unknown, walk_through

_LAW, _SOURCE, _NUMPY = unknown("law"), unknown("source"), unknown("np")
_BEYOND, _BELOW, _GUIDE = Column("beyond", "uint64"), Column("below", "uint64"), Column("guide", "int64")
_WORDS: Final = SimpleNamespace(**{name: unknown(name) for name in ("guide", "prefix", "step", "reach")})
_LENGTH: Final = unknown("number of thresholds")
_DIGITS, _LEAST, _MOST = unknown("digits"), unknown("least"), unknown("most")
_OUTER: Final = {name: unknown(name) for name in ("low", "high", "stride")}
_INNER: Final = {"low": unknown("lower"), "high": unknown("higher")}


def table() -> None:
    """Prove that thresholds are certain ends of the law's probabilities, in order, up to its last place or far out."""
    names = {
        "shift_ball": partial(unknown, "scaled"),
        "only_integer": partial(unknown, "integer"),
        "_last_threshold": partial(unknown, "last"),
        "_guide": partial(unknown, "guide"),
        "freeze": lambda array: array,
        "np": _NUMPY,
        "CumulativeTable": lambda *parts: parts,
    }
    program = follow(unwrap(cumulative.cumulative_table), names)
    first, whole, built = _LAW.lowest, 2**_WORDS.prefix, 0
    for walk, made in walk_through(lambda: or_refusal(lambda: program(_LAW, _WORDS))):
        if isinstance(made, Refusal):
            continue
        is_open = _answer_to(walk, unknown("is", _LAW.highest, None))
        last = unknown("last", _LAW, _WORDS.reach) if is_open else _LAW.highest - 1
        has_thresholds = _answer_to(walk, last >= first)
        value = unknown("scaled", unknown("each", unknown("call", _LAW.cumulative, (first, last), ())), _WORDS.prefix)
        ends = []
        for end in (value.lower().floor(), value.upper().ceil()):
            inside = unknown("min", unknown("max", unknown("integer", end), 0), whole)
            ends.append(_NUMPY.array([inside] if has_thresholds else [], dtype=_NUMPY.uint64))
        below, beyond = _NUMPY.maximum.accumulate(ends[0]), _NUMPY.minimum.accumulate(ends[1][::-1])[::-1]
        law, sizes, *found = made
        require(law is _LAW and sizes is _WORDS, "another law, or other sizes")
        require_same(found[:2], [below, beyond], "the thresholds")
        require(found[2].parts[1] is _WORDS, "other sizes")
        require_same((found[2].parts[0], *found[2].parts[2:]), (_LAW, below, beyond), "the guide")
        built += 1
    require(built == 4, "a table is not built")


def guide() -> None:
    """Prove that the first digits decide where the least and the greatest number that begin with them have the same place."""
    program = follow(cumulative._guide, {"np": _NUMPY})  # noqa: SLF001 - a proof looks inside
    below, beyond, rest = unknown("below"), unknown("beyond"), _WORDS.prefix - _WORDS.guide
    least = _NUMPY.arange(2**_WORDS.guide, dtype=_NUMPY.uint64) << _NUMPY.uint64(rest)
    greatest = least + _NUMPY.uint64(2**rest - 1)
    low, high = (_NUMPY.searchsorted(ends, number, side="right") for ends, number in ((beyond, least), (below, greatest)))
    for walk, found in walk_through(lambda: program(_LAW, _WORDS, below, beyond)):
        is_open = _answer_to(walk, unknown("is", _LAW.highest, None))
        decided = (low == high) & (low < unknown("len", below) if is_open else True)
        require_same(found, _NUMPY.where(decided, low, -1).astype(_NUMPY.int64), "the guide")


def together() -> None:
    """Prove that every draw of a batch is the place of its own digits: by the guide, by comparison, or by further digits."""
    _prove_batches()
    require_separate_rounds(cumulative._fill)  # noqa: SLF001 - a proof looks inside
    for is_open in (False, True):
        seen = {_require_draw(walk, source, value, is_open=is_open) for walk, source, value in _draws(is_open=is_open)}
        require(seen == {"by the guide", "by comparison", "by further digits"}, f"only {seen} are seen")


def _prove_batches() -> None:
    """Prove that batches fill all places, one after the other."""
    require_separate_rounds(cumulative.draw_places)
    number, fill = unknown("number"), unknown("_fill")
    program = follow(cumulative.draw_places, {"np": _NUMPY, "range": partial(unknown, "range"), "_fill": fill})
    held = unknown("table")
    ((walk, found),) = walk_through(lambda: program(held, _SOURCE, number))
    require_same(found, _NUMPY.empty(number, dtype=_NUMPY.int64), "the array of draws")
    (filled,) = (call for call in walk.calls if call.parts[0] is fill)
    require(filled.parts[1][0] is held and filled.parts[1][1] is _SOURCE, "another table, or other bits")
    require_part(filled.parts[1][2], found, number, CHUNK)


def _draws(*, is_open: bool) -> Iterator[tuple[Walk, Source, Any]]:
    """All paths of one draw of a batch that do not refuse, with the words that were drawn and what is written."""
    source = Source(is_shared=True)
    held, everywhere = _table(is_open=is_open), Domain("all draws")

    def locate(table: Any, bits: Any, *given: Any) -> Any:
        require(table is held and bits is source, "more digits come from elsewhere, or are compared with another table")
        return unknown("located", *given)

    names = {"np": Numpy(), "len": _length, "int": lambda number: number, "too_large": Refusal, "_locate": locate}
    program = follow(cumulative._fill, names)  # noqa: SLF001 - a proof looks inside

    def run() -> Any:
        rounds.clear()
        for seen in (source.words, source.ranged):
            seen.clear()
        out = Lane(everywhere, unknown("unwritten"), "int64", source.ranged)
        program(held, source, out)
        return out.value

    for walk, value in walk_through(lambda: or_refusal(run)):
        if not isinstance(value, Refusal):
            yield walk, source, value


def _require_draw(walk: Walk, source: Source, value: Any, *, is_open: bool) -> str:
    """Prove one path of one draw: which digits choose its place, and how; gives the latter."""
    first, *more = source.words
    rest, looked_up = _WORDS.prefix - _WORDS.guide, _GUIDE.item(first)
    require_same(first.parts[1:], (0, _WORDS.guide), "the digits that are looked up")
    if not _answer_to(walk, looked_up == -1):
        require_same(value, looked_up, "what the guide says")
        return "by the guide"
    digits: Any = first
    if _answer_to(walk, rest):
        (second,) = more
        require_same(second.parts[1:], (0, rest), "the further digits of the prefix")
        digits = unknown("|", first << rest, second)  # the former end with as many zeros as the latter are
    for kind, number in source.ranged:
        require(kind == "uint64" and same(number, first << rest), f"{number!r} may not fit {kind}")
    _require_place(walk, value, digits, is_open=is_open)
    return "by further digits" if value.op == "located" else "by comparison"


def _require_place(walk: Walk, place: Any, digits: Any, *, is_open: bool) -> None:
    """Prove that digits are at a place that thresholds decide, or else are searched for between the two that they leave open."""
    low, high = count_at_most(_BEYOND, digits), count_at_most(_BELOW, digits)
    differ = [answer if question.op == "!=" else not answer for question, answer in walk.decided if _is_about(question, low, high)]
    require(len(differ) == 1, "thresholds are not compared")
    is_decided = not differ[0] and not (is_open and _answer_to(walk, low == _LENGTH))
    if is_decided:
        require_same(place, low, "the place of the digits")
    else:
        require_same(place, unknown("located", digits, low, high), "where the digits are searched for")


def _is_about(question: Any, low: Any, high: Any) -> bool:
    """Whether a question is if two numbers are equal, or differ."""
    return question.op in ("==", "!=") and same(question.parts, (low, high))


def alone() -> None:
    """Prove that a single draw compares all its digits as those of a batch do."""
    kept = Subject(CumulativeTable, {}, law=_LAW, beyond=_BEYOND, below=_BELOW)
    require(kept.ends == (_BEYOND, _BELOW), "other thresholds")
    require_same(kept.is_open, unknown("is", _LAW.highest, None), "which laws go on")
    source, held = Source(), Subject(CumulativeTable, {}, words=_WORDS)
    (table, bits, digits) = follow(cumulative.draw_place, {"place_of": lambda *given: given})(held, source)
    require(table is held and bits is source, "another draw")
    require_same(digits.parts[1:], (0, _WORDS.prefix), "the digits of a draw")
    read = unknown("digits")
    for is_open in (False, True):
        held = _table(is_open=is_open)
        names = {"bisect_right": count_at_most, "len": _length, "_locate": lambda *given: given}
        program = follow(cumulative.place_of, names)
        for walk, found in walk_through(partial(program, held, _SOURCE, read)):
            if isinstance(found, tuple):
                require(found[0] is held and found[1] is _SOURCE, "more digits come from elsewhere")
            _require_place(walk, unknown("located", *found[2:]) if isinstance(found, tuple) else found, read, is_open=is_open)


def search() -> None:
    """Prove that a search by comparisons of one number ends at the first place above it, within the table or beyond."""
    for is_open in (False, True):
        numbers: list[tuple[Any, ...]] = []
        names = {"LazyUniform": SimpleNamespace(begun=partial(_begun, numbers)), "len": _length, "iter": lambda one: one}
        names["next"] = partial(unknown, "first of")
        program = cut(cumulative._locate, names, lambda: _OUTER, lambda: _INNER)  # noqa: SLF001 - a proof looks inside
        ends = set()
        for walk, path in walk_through(partial(_searched, program, numbers, is_open=is_open)):
            require_same(numbers, [(_SOURCE, _DIGITS, _WORDS.prefix, _WORDS.step)], "the number that is compared")
            ends.add(_require_search([*walk.decided], path, is_open=is_open))
        require(ends == {"nearer", "found", *(["farther"] if is_open else [])}, f"only {ends} are seen")


def _searched(program: Callable[..., Cut], numbers: list[Any], *, is_open: bool) -> Cut:
    """One path of a search."""
    numbers.clear()
    return program(_table(is_open=is_open), _SOURCE, _DIGITS, _LEAST, _MOST)


def _require_search(asked: list[tuple[Term, bool]], path: Cut, *, is_open: bool) -> str:
    """Prove one path of a search, by two facts that rounds keep; gives what it did.

    The number is not below what comes before `low`. In the second loop it is below what begins at `high`, if anything does.
    """
    begun = {"low": _LEAST, "high": _MOST}
    if _next_answer(asked, _MOST == _LENGTH) and is_open:
        _require_state(path.entered[0], 0, **begun, stride=1)
        begun = {"low": _OUTER["low"], "high": _OUTER["high"]}
        if not _next_answer(asked, _under(_OUTER["high"])):
            stride = _OUTER["stride"]
            _require_state(path.ended, 0, low=_OUTER["high"] + 1, high=_OUTER["high"] + stride, stride=2 * stride)
            return "farther"
    _require_state(path.entered[-1], 1, **begun)
    if _next_answer(asked, _INNER["low"] < _INNER["high"]):
        middle = (_INNER["low"] + _INNER["high"]) // 2
        nearer = {"high": middle} if _next_answer(asked, _under(middle)) else {"low": middle + 1}
        _require_state(path.ended, 1, **{**_INNER, **nearer})
        return "nearer"
    require(path.ended is None and path.result is _INNER["low"] and not asked, "another place is given")
    return "found"


def _next_answer(asked: list[tuple[Term, bool]], wanted: Any) -> bool:
    """The answer to the next question of a path, which has to be the one that is wanted."""
    require(bool(asked), f"{wanted!r} is not asked")
    question, answer = asked.pop(0)
    require(question.op == wanted.op and same(question.parts, wanted.parts), f"{question!r} is asked instead of {wanted!r}")
    return answer


def _answer_to(walk: Walk, wanted: Any) -> bool:
    """The answer of a path to a question, which it has to ask once."""
    answers = [answer for question, answer in walk.decided if question.op == wanted.op and same(question.parts, wanted.parts)]
    require(len(answers) == 1, f"{wanted!r} is asked {len(answers)} times")
    return answers[0]


def _require_state(reached: Any, place: int, **state: Any) -> None:
    """Prove with what state a path comes to a loop, or ends a round."""
    require(reached is not None and reached[0] == place, "another loop")
    require_same([reached[1].names[name] for name in state], [*state.values()], "the state of a loop")


def _begun(numbers: list[tuple[Any, ...]], *given: Any) -> Any:
    """In place of a `LazyUniform`: a comparison is a test."""
    numbers.append(given)
    return SimpleNamespace(less=lambda value: unknown("under", value(unknown("precision"))))


def _under(place: Any) -> Any:
    """Whether the number is below the law's probability up to a place."""
    at = _LAW.lowest + place
    return unknown("under", unknown("first of", unknown("call", _LAW.cumulative, (at, at), ())))


def _table(*, is_open: bool) -> Subject:
    """A table of which nothing is known but whether its law goes on."""
    known = {"law": _LAW, "words": _WORDS, "beyond": _BEYOND, "below": _BELOW, "guide": _GUIDE}
    return Subject(CumulativeTable, {}, **known, is_open=is_open, ends=(_BEYOND, _BELOW))


def _length(array: Any) -> Any:
    """The number of thresholds, of which there are as many of both kinds; of another array its places."""
    return _LENGTH if isinstance(array, Column) else array.domain
