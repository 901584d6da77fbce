"""Randomized response: the coin of a report has the probability of the truth, and another category is uniform among all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Final

from mechanisms import response
from mechanisms.response import RandomizedResponse
from mechanisms.sampling import uniform
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.lanes import Domain, Lane, Numpy, Source, rounds
from proofs.flow.loops import cut
from proofs.flow.releasing import or_refusal, require, require_same
from proofs.flow.steps import Entries, Kind
from proofs.flow.terms import Term, Walk, same, unknown, walk_through

_SOURCE, _BITS, _STEP = unknown("source"), unknown("bits"), unknown("step")
_EPSILON, _CATEGORIES, _BORDER = unknown("epsilon"), unknown("categories"), unknown("border")
_LIMIT: Final = unknown("limit")


def places() -> None:
    """Prove that a number below a limit is drawn again until it is below, each time by bits of its own, alone and in a batch."""
    bits = (_LIMIT - 1).bit_length()
    program = cut(uniform.draw_below, {}, dict)
    for walk, path in walk_through(lambda: program(_LIMIT, _SOURCE)):
        (drawn,) = (call for call in walk.calls if same(call.parts[0], _SOURCE.bits))
        require_same(drawn.parts[1], (bits,), "the bits of a number")
        ((question, is_beyond),) = walk.decided
        require(question.op == ">=" and question.parts[0] is drawn and question.parts[1] is _LIMIT, "which numbers are drawn again")
        require(path.ended is not None if is_beyond else path.ended is None and path.result is drawn, "another number is given")
    _prove_places()


def _prove_places() -> None:
    """Prove what a batch draws, and draws again."""
    everywhere, source, number = Domain("all numbers"), Source(is_shared=True), unknown("number")
    numbers = Lane(everywhere, number, "int64", source.ranged)
    program = cut(uniform.draw_many_below, {"np": Numpy()}, lambda: {"numbers": numbers})

    def run() -> Any:
        rounds.clear()
        source.words.clear()
        numbers.value = number
        return program(_LIMIT, everywhere, source)

    bits, seen = (_LIMIT - 1).bit_length(), set()
    for walk, path in walk_through(run):
        if not path.entered:
            require(path.result.value == 0 and path.result.domain is everywhere and walk.decided[0][1], "numbers are not drawn")
            require_same(walk.decided[0][0].parts, (_LIMIT, 1), "where there is one number only")
            continue
        ((_, first, _),) = path.entered
        require_same([one.parts[1:] for one in source.words], [(0, bits)] * len(source.words), "the bits of a number")
        require(first.numbers.value is source.words[0], "the numbers at first")
        ((_, is_beyond),) = ((q, answer) for q, answer in walk.decided if q.op == ">=" and same(q.parts, (number, _LIMIT)))
        if path.ended is None:
            require(not is_beyond and path.result is numbers and numbers.value is number, "another number is given")
        else:
            require(numbers.value is (source.words[1] if is_beyond else number), "which numbers are drawn again")
        seen.add((path.ended is None, is_beyond))
    require(seen == {(True, False), (False, False), (False, True)}, f"only {seen} are seen")


def coins() -> None:
    """Prove that a report is true by a coin of exactly the probability of the truth, alone and in a batch."""
    chance = 1 / (1 + (_CATEGORIES - 1) * (-_EPSILON).exp())
    probability: Any = follow(response.truth_probability, {"ball": lambda number: number})(_EPSILON, _CATEGORIES)
    require_same(probability(unknown("precision")), chance, "the probability of the truth")
    _prove_border()
    everywhere, source = Domain("all reports"), Source(is_shared=True)
    program = follow(response.draw_honesty, _names(source) | {"np": Numpy()})

    def run() -> Any:
        rounds.clear()
        source.words.clear()
        return program(_EPSILON, _CATEGORIES, everywhere, source, bits=_BITS, step=_STEP)

    for walk, coin in walk_through(run):
        (word,) = source.words
        require_same(word.parts[1:], (0, _BITS), "the digits of a coin")
        require(coin.domain is everywhere and coin.dtype == "bool", "coins of other reports")
        _require_coin(walk, coin.value, word)


def _names(source: Any) -> dict[str, Any]:
    """What coins reach; a number that is compared has digits that are known to be the border."""

    def begun(*given: Any) -> Any:
        require(all(one is other for one, other in zip(given, (source, _BORDER, _BITS, _STEP), strict=True)), "another number")
        return SimpleNamespace(less=lambda value: value)

    return {
        "threshold": _of_report("border", _BORDER, _BITS),
        "truth_probability": _of_report("chance", unknown("below the chance of the truth")),
        "LazyUniform": SimpleNamespace(begun=begun),
    }


def _of_report(what: str, result: Any, *more: Any) -> Any:
    """A function of epsilon and the number of categories."""

    def call(*given: Any) -> Any:
        require(all(one is other for one, other in zip(given, (_EPSILON, _CATEGORIES, *more), strict=True)), f"another {what}")
        return result

    return call


def _require_coin(walk: Walk, coin: Any, digits: Any) -> None:
    """Prove that a coin compares its digits with the border, and more of them where they are the border."""
    open_ = [answer for question, answer in walk.decided if question.op == "==" and same(question.parts, (digits, _BORDER))]
    require(len(open_) == 1, "nobody asks if the digits are the border")
    wanted = unknown("below the chance of the truth") if open_[0] else digits < _BORDER
    require(coin.op == wanted.op and same(coin.parts, wanted.parts), f"{coin!r} decides")


def _prove_border() -> None:
    """Prove that the border is the probability of the truth times a power of two, rounded down."""
    names = {
        "truth_probability": _of_report("chance", partial(unknown, "chance")),
        "ball_endpoints": lambda ball: (unknown("lower", ball), unknown("upper", ball)),
        "math": SimpleNamespace(floor=partial(unknown, "floor")),
        "min": lambda *given: _Key(unknown("min", *given)),
        "len": len,
        "int": lambda key: key.value,
    }
    program = follow(unwrap(response.threshold), names)
    seen = 0
    for walk, found in walk_through(lambda: or_refusal(lambda: program(_EPSILON, _CATEGORIES, _BITS))):
        if not isinstance(found, Refusal):
            question, answer = walk.decided[-1]
            scaled = unknown("chance", (256, 4096)[len(walk.decided) - 1]) * 2**_BITS
            floors = (*(unknown("min", unknown("floor", unknown(end, scaled)), 2**_BITS - 1) for end in ("lower", "upper")),)
            require(answer and (same(question.parts, floors) or same(question.parts, floors[::-1])), "ends that differ")
            require(same(found, floors[0]) or same(found, floors[1]), "the border")
            seen += 1
    require(seen == 2, "a border is not found")


@dataclass(frozen=True, eq=False)
class _Key:
    """A number that may be put into a set: whether it equals another is a test."""

    value: Term

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and bool(unknown("==", self.value, other.value))


def reports() -> None:
    """Prove that a report is the truth or another category, as its coin says, alone and in a batch."""
    truth, below, count, source = unknown("truth"), unknown("draw_below"), unknown("count"), Source()
    program = follow(response.report, _names(source) | {"draw_below": below})

    def run() -> Any:
        source.words.clear()
        return program(truth, _EPSILON, _CATEGORIES, source, bits=_BITS, step=_STEP)

    for walk, found in walk_through(run):
        (digits,) = source.words
        require_same(digits.parts[1:], (0, _BITS), "the digits of a coin")
        drawn = [call for call in walk.calls if call.parts[0] is below]
        require(len(drawn) == 1 and drawn[0].parts[1][1] is source, "another category is not drawn once")
        require_same(drawn[0].parts[1][0], _CATEGORIES - 1, "the number of other categories")
        (coin, is_true), *_ = [one for one in walk.decided if one[0].op != "=="]
        _require_coin(walk, coin, digits)
        require_same(found, truth if is_true else drawn[0] + (drawn[0] >= truth), "a report")
    honesty, numpy, many = unknown("draw_honesty"), unknown("np"), unknown("draw_many_below")
    names = {"draw_honesty": honesty, "np": numpy, "draw_many_below": many}
    size = count * truth.size
    answers = follow(response.reports, names)(truth, count, _EPSILON, _CATEGORIES, _SOURCE, bits=_BITS, step=_STEP)
    drawn = unknown("call", honesty, (_EPSILON, _CATEGORIES, size, _SOURCE), (("bits", _BITS), ("step", _STEP)))
    lies = ~drawn.reshape(count, *truth.shape)
    other = unknown("call", many, (_CATEGORIES - 1, size, _SOURCE), ()).reshape(lies.shape)
    require_same(answers, numpy.where(lies, other + (other >= truth), truth), "reports")


def reading() -> None:
    """Prove that categories are taken as they are, and refused unless they are from 0 below their number."""
    names = {
        "np": SimpleNamespace(int64="int64", ndarray=Entries),
        "isinstance": isinstance,
        "integer": lambda number, _: number,
        "int": lambda number: number,
    }
    mechanism = Subject(RandomizedResponse, names, categories=_CATEGORIES)
    entry = unknown("entry")
    for value in (entry, *(Entries(entry, Kind(kind)) for kind in ("int64", "uint8"))):
        ends = (entry, entry) if value is entry else (value.min(), value.max())
        read = 0
        for walk, found in walk_through(partial(or_refusal, partial(mechanism._checked, value))):  # noqa: SLF001 - a proof looks inside
            if not isinstance(found, Refusal):
                require((found is value) if value is entry else found.value is entry and found.dtype == "int64", "other categories")
                for wanted in (ends[0] < 0, ends[1] >= _CATEGORIES):
                    answers = [
                        answer
                        for question, answer in walk.decided
                        if question.op == wanted.op and same(question.parts, wanted.parts)
                    ]
                    require(answers == [False], "what is no category is taken for one")
                read += 1
        require(read > 0, "nothing is read")
