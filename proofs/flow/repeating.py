"""What is repeated until it is decided: comparisons that ask for more digits, tails of an envelope, trials alone and in batches."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from dpaudit import exact
from mechanisms.sampling import envelope, exactnum, kernel
from mechanisms.sampling.envelope import EnvelopeTable
from mechanisms.sampling.exactnum import GUARD_BITS, LazyUniform
from proofs.flow.following import Followed, Refusal, Subject, follow
from proofs.flow.loops import State, loop_of
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import Term, mentions, positive, unknown, walk_through

_VALUE, _BITS, _STEP, _SOURCE = unknown("value"), unknown("bits"), unknown("step"), unknown("source")
_BALL: Final = unknown("ball")


class Cells(Term):
    """An array of which it is noted what is written where."""

    __slots__ = ("written",)

    def __init__(self, op: str, *parts: Any) -> None:
        super().__init__(op, *parts)
        self.written: list[tuple[Any, Any]] = []

    def erased(self) -> Cells:
        """Itself, as if nothing had been written."""
        self.written.clear()
        return self

    def __setitem__(self, places: Any, value: Any) -> None:
        self.written.append((places, value))


def comparisons() -> None:
    """Prove that a lazy comparison answers by what is certain of the digits known so far, and else adds digits at the end."""
    # The blocks that change the precision let every error pass, as `followable` takes for granted of this function alone.
    require(
        all(module.__dict__["working_precision"] is exact.working_precision for module in (exactnum, kernel, envelope)), "another"
    )
    fields = {"value": _VALUE, "bits": _BITS, "step": _STEP, "source": _SOURCE}
    begun = LazyUniform.begun(_SOURCE, _VALUE, _BITS, _STEP)
    require(all(getattr(begun, name) is value for name, value in fields.items()), "what a number begins with")
    revealed = unknown("reveal")
    uniform = Subject(LazyUniform, {}, **fields, reveal=revealed)
    compared, precision = unknown("compared"), _BITS + GUARD_BITS
    names = {"shift_ball": lambda *given: unknown("scaled", *given), "working_precision": unknown("working_precision")}
    loop = loop_of(LazyUniform.less, (), names)
    require(loop.test(uniform, compared) is True, "a comparison that ends by itself")
    scaled = unknown("scaled", unknown("call", compared, (precision,), ()), _BITS)
    answers: list[Any] = []
    for walk, result in walk_through(lambda: loop.round(uniform, compared)):
        asked = [question for question, _ in walk.decided]
        require_same(asked[0], scaled >= _VALUE + 1, "what makes a number certainly less")
        require_same(asked[1:], [scaled <= _VALUE][: len(asked) - 1], "what makes it certainly not less")
        more = [call for call in walk.calls if call.parts[0] is revealed]
        require(len(more) == isinstance(result, State), "digits are drawn although the answer is certain, or none where it is not")
        answers.append([[answer for _, answer in walk.decided], "more" if more else result])
    require(answers == [[[True], True], [[False, True], False], [[False, False], "more"]], "the answers")
    state = SimpleNamespace(**fields)
    for walk, went_on in walk_through(lambda: _reveal(state, fields)):
        if not went_on:
            continue
        (drawn,) = (call for call in walk.calls if call.parts[0].parts[0] is _SOURCE)
        require_same(drawn, unknown("call", _SOURCE.bits, (_STEP,), ()), "the digits that are drawn")
        # The new digits stand below the places that the shift has emptied, so that "or" is a sum.
        require_same((state.value, state.bits), (unknown("|", _VALUE << _STEP, drawn), _BITS + _STEP), "the digits that are known")


def _reveal(state: SimpleNamespace, fields: dict[str, Any]) -> bool:
    """Draw more digits, from the state as it was at first; whether that was not refused."""
    state.__dict__.update(fields)
    try:
        follow(LazyUniform.reveal, {})(state)
    except Refusal:
        return False
    return True


def tails() -> None:
    """Prove that a tail accepts what lies in the lower part of the interval that holds the uniform number, on both sides."""
    start, negative_start = unknown("start"), unknown("negative start")
    area, steps, known, above = unknown("area"), unknown("steps"), _VALUE, unknown("tail_above")
    weight, envelope_at = unknown("weight"), unknown("tail_envelope")
    table = SimpleNamespace(
        tail_above=above, tail_area=area, tail_envelope=envelope_at, law=SimpleNamespace(weight=weight), start=start,
        negative_start=negative_start,
    )  # fmt: skip
    uniform = SimpleNamespace(value=_VALUE, less=lambda value: unknown("below", value(unknown("precision"))))
    program = follow(kernel._tail, {"ball": _BALL, "_steps": lambda *_: steps})  # noqa: SLF001 - a proof looks inside
    whole = unknown("below", envelope_at(0) / _BALL(area))
    inside = unknown("below", (envelope_at(steps + 1) + weight(start + steps)) / _BALL(area))
    tests = [known > above, whole, inside]
    for negative in (False, True):
        ways = []
        for walk, result in walk_through(partial(program, table, uniform, negative=negative)):
            size = start + steps
            for (asked, _), wanted in zip(walk.decided, [*tests, size >= negative_start], strict=False):
                require_same(asked, wanted, "what decides about a tail")
            ways.append(tuple(answer for _, answer in walk.decided))
            accepted = ways[-1] == ((False, True, True, True) if negative else (False, True, True))
            require((result is not None) is accepted, "a tail's decision is turned")
            require_same(result, (-size if negative else size) if accepted else None, "the integer of a tail")
        require(any(len(way) == 3 + negative for way in ways), "no tail is accepted")
    _prove_steps()
    _prove_envelope()


def _prove_steps() -> None:
    """Prove that the interval of a tail is looked up by a ball around all that the digits leave open, until it is unique."""
    table = SimpleNamespace(tail_area=unknown("area"), tail_envelope=unknown("tail_envelope"), decay=unknown("decay"))
    reveal = unknown("reveal")
    uniform = SimpleNamespace(value=_VALUE, bits=_BITS, precision=unknown("precision"), reveal=reveal)
    arb = unknown("arb")
    loop = loop_of(kernel._steps, (), {"ball": _BALL, "arb": arb, "int": lambda number: number})  # noqa: SLF001
    require(loop.test(table, uniform) is True, "a search that ends by itself")
    for walk, result in walk_through(lambda: loop.round(table, uniform)):
        known = arb((2 * _VALUE + 1, -_BITS - 1), (1, -_BITS - 1))  # from the digits to the digits and one, in units of the last
        ratio = table.tail_envelope(0) / (known * _BALL(table.tail_area))
        floor = (ratio.log() / _BALL(table.decay)).floor()
        require_same(walk.decided[0][0], ratio >= 1, "whether the interval is known")
        if isinstance(result, State):
            require([call for call in walk.calls if call.parts[0] is reveal] != [], "no digits are drawn")
        else:
            require_same(result, floor.unique_fmpz(), "the interval of a tail")


def _prove_envelope() -> None:
    """Prove the numbers that describe the tails of a table."""
    for shift in (0, positive("shift")):
        law = unknown("law")
        names = {"ball": _BALL, "_geometric_tail": Followed(envelope._geometric_tail)}  # noqa: SLF001 - a proof looks inside
        fields = {name: unknown(name) for name in ("columns", "tail_cells", "height", "decay")}
        table = Subject(EnvelopeTable, names, law=law, shift=shift, **fields)
        start, steps = table.columns << shift, unknown("steps")
        require_same(table.start, start, "where a tail begins")
        require_same(table.negative_start, start + 1 if isinstance(shift, Term) else start, "where the negative tail begins")
        require_same(table.tail_area, table.tail_cells * table.height << shift, "the area of a tail")
        rate = _BALL(table.decay)
        geometric = law.weight(start) / (0 - (0 - rate).expm1())
        require_same(table.tail_envelope(steps), geometric * (-rate * steps).exp(), "the envelope of a tail")


def batches() -> None:
    """Prove that draws are the accepted trials: how many are made and which are kept depends on what was accepted alone."""
    _prove_one_by_one()
    _prove_rounds()
    _prove_compaction()


def _prove_one_by_one() -> None:
    """Prove that a single draw is the first trial that is accepted."""
    table, tried = unknown("table"), unknown("one_trial")
    loop = loop_of(kernel.draw_one, (), {"one_trial": tried})
    require(loop.test(table, _SOURCE) is True, "a loop that ends by itself")
    for walk, result in walk_through(lambda: loop.round(table, _SOURCE)):
        (call,) = walk.calls
        require_same(call, unknown("call", tried, (table, _SOURCE), ()), "the trial")
        ((question, is_none),) = walk.decided
        require(question.op == "is" and question.parts[0] is call, "what is asked of a trial")
        require(isinstance(result, State) if is_none else result is call, "a trial is not what is given")


def _prove_rounds() -> None:
    """Prove that a round of `draw` writes accepted trials behind those that there are, and makes trials by their number alone."""
    table, tried, number, filled, chunk = (unknown(name) for name in ("table", "many_trials", "number", "filled", "chunk"))
    result, numpy = Cells("result"), unknown("np")
    names = {
        "many_trials": tried,
        "np": numpy,
        "min": lambda *given: unknown("min", *given),
        "isqrt": unknown("isqrt"),
        "int": lambda one: unknown("int", one),
    }
    loop = loop_of(kernel.draw, ("result", "filled"), names)
    first = loop.begin(table, _SOURCE, number, wide=False, chunk=chunk)
    require(first.filled == 0, "draws that are there at first")
    require_same(first.result, unknown("call", numpy.empty, (number,), (("dtype", numpy.int64),)), "the array of draws")
    require_same(
        loop.test(table, _SOURCE, number, wide=False, chunk=chunk, result=result, filled=filled), filled < number, "the end"
    )
    require(loop.end(table, _SOURCE, number, wide=False, chunk=chunk, result=result, filled=filled) is result, "what is given")
    given = {"wide": False, "chunk": chunk, "result": result, "filled": filled}
    for walk, after in walk_through(lambda: loop.round(table, _SOURCE, number, **given | {"result": result.erased()})):
        (call,) = (one for one in walk.calls if one.parts[0] is tried)
        (_, source, target), wanted = call.parts[1], number - filled
        require(call.parts[1][0] is table and source is _SOURCE, "other trials")
        ((question, fits),) = walk.decided
        trials, limit = question.parts
        require(question.op == "<=" and trials.op == "min" and not mentions(trials, result), "the number of trials")
        require_same((limit, trials.parts[0]), (wanted, chunk), "the number of trials")
        if fits:
            require(target.parts[0] is result and target.parts[1] == slice(filled, target.parts[1].stop), "places that are filled")
            require_same(target.parts[1].stop, filled + trials, "the trials that are made")
            require(not result.written, "more is written")
            require_same(after.filled, filled + call, "how many draws there are")
            continue
        require_same(target, unknown("call", numpy.empty, (trials,), (("dtype", result.dtype),)), "places for trials")
        taken = unknown("min", call, wanted)
        ((places, written),) = result.written
        require(written.parts[0] is target and written.parts[1].start is None, "what is kept")
        require_same((places.start, places.stop, written.parts[1].stop), (filled, filled + taken, taken), "what is kept, and where")
        require_same(after.filled, filled + taken, "how many draws there are")


def _prove_compaction() -> None:
    """Prove that accepted trials from the end fill the places of rejected ones, by places alone."""
    out, rejected, movable = Cells("out"), unknown("rejected"), Cells("movable")
    searched, ones, length = unknown("searchsorted"), unknown("ones"), partial(unknown, "len")
    numpy = SimpleNamespace(searchsorted=searched, ones=lambda *given, **named: (ones(*given, **named), movable)[1])
    program = follow(kernel._close, {"np": numpy, "len": length, "bool": bool})  # noqa: SLF001 - a proof looks inside
    ((walk, found),) = walk_through(lambda: program(out, rejected))
    count = length(out) - length(rejected)
    require_same(found, count, "the number of accepted trials")
    (made,) = (call for call in walk.calls if call.parts[0] is ones)
    require_same(made, unknown("call", ones, (length(rejected),), (("dtype", bool),)), "one mark for every place beyond the count")
    ((marked, mark),) = movable.written
    ((holes, moved),) = out.written
    require(
        mark is False and holes.op == marked.parts[0].op == "item" and holes.parts[0] is rejected and holes.parts[1].start is None,
        "the marks, and the holes",
    )
    require_same(holes.parts[1].stop, searched(rejected, count), "the rejected places below the count")
    beyond, subtracted = marked.parts
    require(
        marked.op == "-" and beyond.parts[0] is rejected and beyond.parts[1].stop is None, "the rejected places beyond the count"
    )
    require_same((beyond.parts[1].start, subtracted), (length(holes), count), "the rejected places beyond the count")
    rest, mask = moved.parts
    require(mask is movable and rest.parts[0] is out and rest.parts[1].stop is None, "what is moved")
    require_same(rest.parts[1].start, count, "what is moved")
