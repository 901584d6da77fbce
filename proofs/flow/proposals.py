"""One choice by proposals: what a trial proposes, with which integer weight, and when it is accepted."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.selection import proposals, scores
from mechanisms.selection.proposals import CHUNK, CLAMP, FEW, STEPS, TABLE_PRECISION, Proposal, Widths
from mechanisms.selection.scores import Scores
from proofs.flow.floats import require_exactly, strictly
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.loops import State, loop_of
from proofs.flow.releasing import if_same, noting, or_refusal, require, require_same
from proofs.flow.terms import positive, same, unknown, walk_through

_HEAT, _PRECISION, _SOURCE, _NUMPY = unknown("temperature"), unknown("precision"), unknown("source"), unknown("np")
_AT: Final[Any] = unknown("at")
_BALL: Final = partial(unknown, "ball")


class Floats:
    """An array of floats by one entry that stands for all."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def tolist(self) -> list[Any]:
        """The entries."""
        return [self.value]

    def astype(self, dtype: Any) -> tuple[str, Any]:
        """The whole parts."""
        require_same(dtype, _NUMPY.intp, "places of another type")
        return ("whole parts", self.value)


def gaps() -> None:
    """Prove that a gap as a float is the best score less the score, rounded once, for every kind of scores."""
    part, best = unknown("part"), unknown("best")
    names = {"np": _NUMPY, "float": partial(unknown, "float")}
    for kind in ("exact", "float", "integer"):
        held: Any = Subject(Scores, names, kind=kind, values=unknown("values"), best=best)
        found = held._rounded(part)  # noqa: SLF001 - a proof looks inside
        if kind == "exact":
            require_same(found, part.copy(), "gaps that were rounded before")
        elif kind == "float":
            wanted = _NUMPY.asarray(unknown("float", best) - part, dtype=_NUMPY.float64)
            require_exactly(found, wanted, "the gaps of floats")
        else:
            # Numbers of 64 bits modulo 2^64; the difference of two is from 0 to 2^64, as the best is the greatest.
            first = _NUMPY.uint64(best.numerator % 2**64)
            wanted = _NUMPY.subtract(first, part.view(_NUMPY.uint64)).astype(_NUMPY.float64)
            require_same(found, wanted, "the gaps of integers")
        start, stop = unknown("start"), unknown("stop")
        require_same(held.gaps(start, stop), held._rounded(held.values[start:stop]), "the gaps of some")  # noqa: SLF001
    nearest = follow(scores._nearest, {"float": partial(unknown, "float"), "math": math})  # noqa: SLF001 - a proof looks inside
    for walk, found in walk_through(lambda: nearest(part)):
        ((_, is_beyond),) = walk.decided
        require_same(found, math.inf if is_beyond else unknown("float", part), "a gap that is rounded")


def weights() -> None:
    """Prove that a weight is the entry of the table at the whole part of a gap times the rate, cut to the last."""
    slope, gap, steps = partial(unknown, "slope"), unknown("gap"), {"cut": 0}

    def cut(number: Any, most: Any) -> Any:
        require(float(most) == CLAMP, "steps beyond the table")
        steps["cut"] += 1
        return unknown("cut", number)

    def minimum(array: Floats, most: Any, *, out: Floats) -> None:
        out.value = cut(array.value, most)

    def multiply(array: Floats, number: Any, *, out: Floats) -> None:
        out.value = array.value * number

    numpy = SimpleNamespace(multiply=multiply, minimum=minimum, intp=_NUMPY.intp, errstate=_NUMPY.errstate)
    read = SimpleNamespace(take=lambda places, *, mode: ("entries", places, mode))
    names = {
        "np": numpy,
        "slope": slope,
        "float": float,
        "table": lambda precision: if_same(precision, _PRECISION, "a table", read),
    }
    kind, places, mode = follow(proposals.staircase, names)(Floats(gap), _HEAT, _PRECISION)
    wanted = unknown("cut", gap * slope(_HEAT))
    require(kind == "entries" and places[0] == "whole parts" and mode == "clip", "another look-up")
    require_exactly(places[1], wanted, "the steps of a gap")
    held: Any = SimpleNamespace(
        size=unknown("size"), gaps=lambda start, stop: if_same((start, stop), (0, held.size), "some", Floats(gap))
    )
    entries = unknown("entries")
    names |= {"table": lambda precision: if_same(precision, _PRECISION, "a table", SimpleNamespace(data=entries))}
    (found,) = follow(proposals.few_weights, names | {"min": cut, "int": partial(unknown, "whole part")})(held, _HEAT, _PRECISION)
    require_exactly(found, entries[unknown("whole part", wanted)], "the weights of few")
    require(steps["cut"] == 2, "steps that are not cut")
    _prove_slope()
    program = follow(proposals.finest_precision, {})
    size = unknown("size")
    require_same(program(size), TABLE_PRECISION - (size - 1).bit_length(), "the precision")


def _prove_slope() -> None:
    """Prove that the rate is the lower end of a narrow ball around N / (T ln 2), lowered."""
    lowered: list[Any] = []
    halving = unknown("ln 2")

    class _Arb:
        """In place of the class of balls."""

        const_log2 = staticmethod(lambda: halving)

        def __new__(cls, number: int) -> Any:
            return unknown("exactly", number)

    ends = (unknown("lower"), unknown("upper"))
    names = {
        "arb": _Arb,
        "ball": _BALL,
        "ball_endpoints": lambda value: noting(lowered, value, ends),
        "working_precision": unknown("working_precision"),
        "float": partial(unknown, "float"),
    }
    for walk, found in walk_through(lambda: or_refusal(lambda: follow(_unwrapped(proposals.slope), names)(_HEAT))):
        ((question, is_wide),) = walk.decided
        require(question.op == ">", "whether the ball is narrow")
        require_same(question.parts, ((ends[1] - ends[0]) * 2**60, ends[1]), "whether the ball is narrow")
        require(isinstance(found, Refusal) is is_wide, "a wide ball is taken")
        if not is_wide:
            require_same(found, unknown("float", ends[0]), "the rate")
        wanted = STEPS / (_BALL(_HEAT) * halving) * (1 - unknown("**", unknown("exactly", 2), -49))
        require_same(lowered.pop(), wanted, "the ball of the rate")


def _unwrapped(function: Any) -> Any:
    """A function without the cache around it."""
    return function.__wrapped__


def totals() -> None:
    """Prove that running totals are those of the weights of all candidates, one by one or in groups that follow each other."""
    few, array, added = partial(unknown, "few"), partial(unknown, "staircase"), partial(unknown, "running")
    held = SimpleNamespace(size=unknown("size"), gaps=partial(unknown, "gaps"))
    names = {
        "few_weights": few,
        "staircase": array,
        "accumulate": added,
        "tuple": lambda items: items,
        "int": lambda number: number,
        "range": partial(unknown, "range"),
        "Proposal": lambda *parts: parts,
    }
    seen = set()
    for walk, found in walk_through(lambda: follow(proposals.propose, names)(held, _HEAT, _PRECISION)):
        given, heat, precision, sums, *rest = found
        require(given is held and heat is _HEAT and precision is _PRECISION, "another proposal")
        asked = [(question.parts[1], answer) for question, answer in walk.decided]
        require(all(question.op == "<=" and question.parts[0] is held.size for question, _ in walk.decided), "how many there are")
        if asked == [(FEW, True)]:
            require_same((sums, rest), (added(few(held, _HEAT, _PRECISION)), []), "the totals of few")
            seen.add("few")
        elif asked == [(FEW, False), (CHUNK, True)]:
            made = array(held.gaps(0, held.size), _HEAT, _PRECISION)
            require_same((sums, rest[0]), ((made.sum(),), held.size), "the total of one group")
            require_same(rest[1], made, "the weights of one group")
            seen.add("one group")
        else:
            require(asked == [(FEW, False), (CHUNK, False)], "another test")
            start = unknown("each", unknown("range", 0, held.size, CHUNK))
            (total,) = sums.parts[0]
            require_same(total, array(held.gaps(start, start + CHUNK), _HEAT, _PRECISION).sum(), "the total of a group")
            require(sums.op == "running" and rest == [CHUNK], "the totals of groups")
            seen.add("groups")
    require(seen == {"few", "one group", "groups"}, f"only {seen} are seen")


def found() -> None:
    """Prove that a number below the total finds the candidate whose weight covers it, and that weight."""
    place, sums, only = unknown("place"), unknown("sums"), positive("only")  # so that it is not None
    count, array = partial(unknown, "count at most"), partial(unknown, "staircase")
    names = {"bisect_right": count, "staircase": array, "np": _NUMPY, "int": lambda number: number}
    held = SimpleNamespace(gaps=partial(unknown, "gaps"))
    for group, is_single in ((1, True), (unknown("group"), False)):
        for weights_ in (None,) if is_single else (None, only):
            fields = {"scores": held, "temperature": _HEAT, "precision": _PRECISION, "sums": sums, "group": group, "only": weights_}
            proposal: Any = Subject(Proposal, names, **fields)
            require_same(proposal.total, sums[-1], "the total")
            for walk, result in walk_through(lambda: _or_failure(lambda: proposal.find(place))):  # noqa: B023 - called at once
                number = count(sums, place)
                answers = {repr(question): answer for question, answer in walk.decided}
                require(repr(number) in answers, "nobody asks which group it is")
                before = sums[number - 1] if answers[repr(number)] else 0
                if is_single:
                    require_same(result, (number, sums[number] - before), "the candidate, and its weight")
                    continue
                is_one = [answer for question, answer in walk.decided if question.op == "==" and same(question.parts[0], group)]
                start = number * group
                again = only if weights_ is not None else array(held.gaps(start, start + group), _HEAT, _PRECISION)
                running = _NUMPY.cumsum(again)
                if any(is_one):  # a group of one is the first case
                    continue
                if result is None:
                    # Weights are the same in both passes: they are made by the same operations from the same gaps.
                    (same_total, is_met) = walk.decided[-1]
                    require(same_total.op == "==" and not is_met, "a failure")
                    require_same(same_total.parts, (running[-1], sums[number] - before), "the total of the group")
                    continue
                offset = _NUMPY.searchsorted(running, place - before, side="right")
                require_same(result, (start + offset, again[offset]), "the candidate of a group, and its weight")


def _or_failure(run: Any) -> Any:
    """The result of a program, or None where what it asserts is false."""
    try:
        return run()
    except AssertionError:
        return None


def trial() -> None:
    """Prove that a trial proposes by its weight, and accepts where a coin is below the true weight's share of it."""
    widths: Any = SimpleNamespace(index=unknown("index"), coin=unknown("coin"), step=unknown("step"))
    number, index, weight = unknown("number"), unknown("candidate"), unknown("weight")
    total, known, digits = unknown("total"), unknown("value"), unknown("bits")
    proposal: Any = SimpleNamespace(
        total=total,
        scores=unknown("scores"),
        temperature=_HEAT,
        precision=_PRECISION,
        find=lambda place: noting(looked, place, (index, weight)),
    )
    looked: list[Any] = []
    source = SimpleNamespace(bits=lambda count: if_same(count, widths.index, "digits of the index", number))
    true = partial(unknown, "true weight")

    def coin(given: Any, first: Any, step: Any) -> Any:
        require(given is source, "a coin from elsewhere")
        require_same((first, step), (widths.coin, widths.step), "the digits of a coin")
        return SimpleNamespace(value=known, bits=digits, less=lambda value: unknown("below", value(_AT)))

    sure = unknown("SURE_ACCEPTANCE")  # which `proofs.weighing` bounds
    names = {"LazyUniform": coin, "true_weight": lambda *given: lambda at: true(*given, at), "SURE_ACCEPTANCE": sure}
    seen = set()
    for walk, result in walk_through(lambda: follow(proposals.trial, names)(proposal, source, widths)):
        asked = [question for question, _ in walk.decided]
        answers = tuple(answer for _, answer in walk.decided)
        require(asked[0].op == ">=", "numbers beyond the last multiple")
        require_same(asked[0].parts, (number, (1 << widths.index) // total * total), "numbers beyond the last multiple")
        if answers[0]:
            require(result is None and not looked, "a number beyond the last multiple is used")
            seen.add("beyond")
            continue
        require_same(looked.pop(), number % total, "the number that is found")
        require(asked[1].op == "<", "what is certain")
        share = sure * unknown("**", 2.0, digits) * (1.0 - 1.0 / weight)
        require_same(asked[1].parts[0], known + 1, "the end of what the digits leave open")
        require(strictly(asked[1].parts[1], share), "the share that is certain")
        if not answers[1]:
            wanted = true(proposal.scores, index, _HEAT, _AT) * unknown("**", 2, _PRECISION) / weight
            require(asked[2].op == "below", "what decides")
            require_same(asked[2].parts, (wanted,), "what decides")
            require(len(asked) == 3, "another test")
        is_accepted = answers[1] or answers[2]
        require(result is index if is_accepted else result is None, "a decision is turned")
        seen.add("at once" if answers[1] else "by balls" if answers[2] else "refused")
    require(seen == {"beyond", "at once", "by balls", "refused"}, f"only {seen} are seen")
    _prove_true_weight()
    shipped = proposals.SHIPPED
    require(
        isinstance(shipped, Widths) and shipped.index >= 64 and min(shipped.coin, shipped.step) >= 1, "the digits that are drawn"
    )
    tried = unknown("trial")
    loop = loop_of(proposals.draw_one, (), {"trial": tried})
    require(loop.test(proposal, _SOURCE) is True, "a loop that ends by itself")
    for walk, result in walk_through(lambda: loop.round(proposal, _SOURCE)):
        (call,) = walk.calls
        require_same(call.parts, (tried, (proposal, _SOURCE), ()), "the trial")
        ((question, is_none),) = walk.decided
        require(question.op == "is" and question.parts[0] is call, "what is asked of a trial")
        require(isinstance(result, State) if is_none else result is call, "a trial is not what is given")


def _prove_true_weight() -> None:
    """Prove that the weight is exp(-gap / T), and nothing for a candidate that is never chosen."""
    gap = unknown("gap")
    held: Any = SimpleNamespace(gap=lambda _: gap)
    zero = partial(unknown, "exactly")
    for walk, found in walk_through(
        lambda: follow(proposals.true_weight, {"ball": _BALL, "arb": zero})(held, unknown("index"), _HEAT)(unknown("at"))
    ):
        ((question, is_never),) = walk.decided
        require(question.op == "is" and question.parts[0] is gap, "who is never chosen")
        require_same(found, zero(0) if is_never else (0 - _BALL(gap / _HEAT)).exp(), "the true weight")
