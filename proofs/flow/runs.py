"""Runs of noisy comparisons: each question meets the same noisy threshold, with noise of its own, until the last answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.above_threshold import AboveThreshold
from mechanisms.comparisons import NOT_ASKED, ROWS, Comparisons, Run
from mechanisms.sparse_vector import SparseVector
from mechanisms.steps import INTEGER_LIMIT
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.lanes import ABSENT, Domain, Lane, Numpy, rounds
from proofs.flow.loops import cut, require_part
from proofs.flow.reading import NAMES
from proofs.flow.releasing import Door, or_refusal, releases, require, require_same
from proofs.flow.terms import Term, same, unknown, walk_through

_NUMPY, _OS, _THREADING = unknown("np"), unknown("os"), unknown("threading")
_BITS, _BORDER, _LEFT, _STEPS = unknown("bits"), unknown("border"), unknown("left"), unknown("steps")
_VALUE, _LATTICE, _THRESHOLD, _SOURCE = unknown("value"), unknown("lattice"), unknown("threshold"), unknown("source")
_HELD: Final = unknown("hold")


def one_by_one() -> None:
    """Prove that a question draws once and compares once, and that a positive answer leaves one less, down to none."""
    _prove_beginning()
    compare = follow(Run.compare, {"os": _OS})
    query = unknown("query")
    for hold in (None, _HELD):
        kept = SimpleNamespace(cutoff=unknown("cutoff"), query=query)
        answered = 0
        run = SimpleNamespace()
        fields = {
            "_process": unknown("process"),
            "_lock": unknown("lock"),
            "_comparisons": kept,
            "_bits": _BITS,
            "_border": _BORDER,
        }
        for walk, found in walk_through(partial(_compared, compare, run, fields | {"_hold": hold, "_left": _LEFT})):
            draws = [call for call in walk.calls if same(call.parts[0], query.sample)]
            if isinstance(found, Refusal):
                require(not draws, "an error after randomness is drawn")
                continue
            require(len(draws) == 1 and draws[0].parts[1] == (), "a question draws more than once")
            require_same(draws[0].parts[2], (("source", _BITS), ("wide", True)), "what a question draws from")
            above = _STEPS + unknown("int", draws[0]) >= _BORDER
            require_same(found, above if hold is None else unknown("call", _HELD, (_STEPS, above), ()), "the answer")
            require_same(run._left, _LEFT - found, "the answers that are left")  # noqa: SLF001 - a proof looks inside
            questions = [question for question, answer in walk.decided if answer]
            require(any(question is _LEFT for question in questions), "a run goes on after its last answer")
            same_process = [answer for question, answer in walk.decided if question.op == "!="]
            require(same_process == [False], "a run goes on in another process")
            answered += 1
        require(answered > 0, "no question is answered")
    _prove_asking()


def _compared(compare: Any, run: SimpleNamespace, fields: dict[str, Any]) -> Any:
    """One question to a run, the fields of which are as at first."""
    run.__dict__.update(fields)
    return or_refusal(lambda: compare(run, _STEPS))


def _prove_beginning() -> None:
    """Prove with what a run begins: its cutoff, a lock of its own and the process it is in; and that `start` begins it."""
    run, kept = SimpleNamespace(), SimpleNamespace(cutoff=unknown("cutoff"))
    follow(Run.__init__, {"os": _OS, "threading": _THREADING})(run, kept, _BORDER, _BITS, _HELD)
    wanted = {"_border": _BORDER, "_bits": _BITS, "_hold": _HELD, "_left": kept.cutoff}
    require(run._comparisons is kept, "another run")  # noqa: SLF001 - a proof looks inside
    for name, value in wanted.items():
        require(run.__dict__[name] is value, f"{name} at first")
    require_same((run._lock, run._process), (_THREADING.Lock(), _OS.getpid()), "the lock and the process")  # noqa: SLF001
    mechanism = unknown("mechanism")
    begun = unknown("attribute", unknown("attribute", mechanism, "_comparisons"), "begin")
    for program in (AboveThreshold.start, SparseVector.start):
        started = follow(program, {})(mechanism, _THRESHOLD, _SOURCE)
        require_same(started, unknown("call", begun, (_THRESHOLD, _SOURCE), ()), "how a run begins")


def _prove_asking() -> None:
    """Prove that questions are compared in steps, and that a number is given of positive ones only, with noise of its own."""
    read, compared, number = unknown("number_steps"), unknown("compare"), unknown("number law")
    kept = SimpleNamespace(lattice=_LATTICE, number=number)
    steps = read(_VALUE, _LATTICE)
    for hold in (None, _HELD):
        run = SimpleNamespace(_comparisons=kept, _bits=_BITS, _hold=hold, compare=compared)
        names = {"number_steps": read}
        require_same(follow(Run.ask, names)(run, _VALUE), compared(steps), "a question")
        for walk, found in walk_through(partial(or_refusal, partial(follow(Run.ask_number, names), run, _VALUE))):
            if isinstance(found, Refusal):
                continue
            (asked,) = (call for call in walk.calls if call.parts[0] is compared)
            require_same(asked, compared(steps), "a question")
            draws = [call for call in walk.calls if same(call.parts[0], number.sample)]
            is_above = any(question is asked and answer for question, answer in walk.decided)
            require(len(draws) == is_above, "a number is drawn without a positive answer, or not once")
            if not is_above:
                require(found is None, "a number without a positive answer")
                continue
            require_same(draws[0].parts[1:], ((), (("source", _BITS), ("wide", True))), "what a number draws from")
            whole = any(answer and same(question, _LATTICE == 1) for question, answer in walk.decided)
            total = steps + unknown("int", draws[0])
            shown = total if whole else _LATTICE * total
            require_same(found, shown if hold is None else unknown("call", _HELD, (steps, shown), ()), "the number")


@dataclass(eq=False)
class _Law:
    """A law that notes what is drawn from it."""

    drawn: list[Term]

    def sample(self, size: Domain, *, source: Any) -> Lane:
        """Draws for some runs."""
        require(source is _BITS and not rounds, "draws from other bits, or in every round of a loop")
        self.drawn.append(unknown("draw"))
        return Lane(size, self.drawn[-1] if size.is_there else ABSENT, "int64", [])


@dataclass(eq=False)
class _Row:
    """The answers or numbers of all runs; what is written for the run that stands for all is noted."""

    domain: Domain
    written: list[tuple[Any, Any]]

    def __setitem__(self, places: Any, value: Lane) -> None:
        runs, question = places
        require(runs.within is self.domain and value.domain is runs.domain, "answers of other runs")
        if runs.is_there:
            self.written.append((question, value.value))


def together() -> None:
    """Prove that every run of a batch compares as a single one does, with draws of its own, and stops where it does."""
    for has_numbers in (False, True):
        _prove_questions(has_numbers=has_numbers)
        _prove_many(has_numbers=has_numbers)
    _prove_reading()
    _prove_shown()


def _prove_questions(*, has_numbers: bool) -> None:
    """Prove the first state of all runs of a batch, and one question from any state."""
    everywhere = Domain("all runs")
    laws = {name: _Law([]) for name in ("threshold", "query", "number")}
    cutoff, place, row = unknown("cutoff"), unknown("place"), unknown("row")
    answers, numbers = _Row(everywhere, []), _Row(everywhere, [])
    left = Lane(everywhere, _LEFT, "int64", [])
    names = {"np": Numpy(), "len": lambda array: array.domain, "enumerate": lambda items: ("enumerate", items)}
    state = {"left": left, "answers": answers, "numbers": numbers, "next": (place, _VALUE)}
    program = cut(Comparisons._fill, names, lambda: state)  # noqa: SLF001 - a proof looks inside
    kept = SimpleNamespace(**laws, cutoff=cutoff)
    if not has_numbers:
        kept.number = None
    results = set()

    def run() -> Any:
        rounds.clear()
        for law in laws.values():
            law.drawn.clear()
        answers.written.clear()
        numbers.written.clear()
        left.value = _LEFT
        return program(kept, answers, numbers, _THRESHOLD, row, _BITS)

    for walk, path in walk_through(run):
        ((_, first, items),) = path.entered
        require_same(first.left.value, cutoff, "the answers that are left at first")
        require(items == ("enumerate", row) and first.answers is answers and first.numbers is numbers, "other questions")
        (hidden,) = laws["threshold"].drawn
        is_open = [answer for question, answer in walk.decided if question.op == "!=" and question.parts[0] is _LEFT]
        if not any(is_open):
            require(not answers.written and not numbers.written and left.value is _LEFT, "a run that has ended goes on")
            continue
        require(path.ended is not None, "a run ends with answers left")
        (noise,) = laws["query"].drawn
        above = noise + _VALUE >= hidden + _THRESHOLD
        ((question, answer),) = answers.written
        require(question is place and answer.op == ">=" and same(answer.parts, above.parts), "the answer")
        (is_above,) = (found for asked, found in walk.decided if asked.op == ">=" and same(asked.parts, above.parts))
        require_same(left.value, _LEFT - 1 if is_above else _LEFT, "the answers that are left")
        wanted = [(place, laws["number"].drawn[0] + _VALUE)] if has_numbers and is_above else []
        require_same(numbers.written, wanted, "the numbers")
        results.add(is_above)
    require(results == {False, True}, "a question has one answer only")


def _prove_many(*, has_numbers: bool) -> None:
    """Prove that runs are logged, that no question is answered at first, and that batches are all runs, one after the other."""
    door, values, count = Door(), unknown("values"), unknown("count")
    copies, row, fill = unknown("count read"), unknown("row"), unknown("_fill")
    names = NAMES | {"open_release": door, "np": _NUMPY, "read_count": lambda _: copies, "range": partial(unknown, "range")}
    fields: dict[str, Any] = {name: unknown(name) for name in ("threshold", "query", "number", "cutoff", "lattice", "record")}
    fields["number"] = fields["number"] if has_numbers else None
    methods = {"threshold_steps": lambda _: _STEPS, "value_steps": lambda _: row, "_against": lambda *_: door.hold}
    kept = Subject(Comparisons, names | {"isinstance": lambda *_: True}, **fields, **methods, _fill=fill, _laws=list)
    for path in releases(lambda: kept.many(_THRESHOLD, values, count, _SOURCE), door, _SOURCE):
        require(path.record is kept.record, "another record is logged")
        require_same((path.count, path.dimension), (copies, 1), "the runs that are logged")
        (large,) = (answer for question, answer in path.walk.decided if question.op == ">")
        require(not large, "a threshold that may not fit")
        (filled,) = path.draws
        answers, numbers = path.output
        blank = _NUMPY.full((copies, row.size), NOT_ASKED, dtype=_NUMPY.int8)
        require_same(answers, blank, "answers at first")
        rows = fields["number"]
        is_there = has_numbers and any(q.op == "is" and q.parts[0] is rows and not found for q, found in path.walk.decided)
        require_same(numbers, _NUMPY.zeros((copies if is_there else 0, row.size), dtype=_NUMPY.int64), "numbers at first")
        require(filled.parts[0] is fill and filled.parts[1][4] is door.bits, "the runs draw from other bits")
        require(filled.parts[1][2] is _STEPS and filled.parts[1][3] is row, "other questions")
        for part, whole in zip(filled.parts[1][:2], (answers, numbers), strict=True):
            require_part(part, whole, copies, ROWS)


def _prove_reading() -> None:
    """Prove that questions and threshold are read in exact steps that leave room for the noise, or refused."""
    read, array, values = unknown("number_steps"), unknown("array_steps"), unknown("values")
    rational, multiple = unknown("rational"), unknown("require_multiple")
    names = {"np": _NUMPY, "number_steps": read, "array_steps": array, "rational": rational, "require_multiple": multiple}
    names |= {"type": lambda _: SimpleNamespace(__name__="type"), "map": lambda program, items: [program(one) for one in items]}
    kept = Subject(Comparisons, NAMES | names, lattice=_LATTICE)
    seen = set()
    for walk, found in walk_through(lambda: or_refusal(lambda: kept.value_steps(values))):
        if isinstance(found, Refusal):
            continue
        if same(found, array(values, _LATTICE)[0]):
            seen.add("array")
            continue
        steps = [read(unknown("each", values), _LATTICE)]
        require_same(found, _NUMPY.array(steps, dtype=_NUMPY.int64), "the questions in steps")
        largest = unknown("max", [unknown("abs", one) for one in steps]) > INTEGER_LIMIT
        require([answer for question, answer in walk.decided if same(question, largest)] == [False], "questions that may not fit")
        seen.add("numbers")
    require(seen == {"array", "numbers"}, f"only {seen} are read")
    for walk, found in walk_through(lambda: kept.threshold_steps(_THRESHOLD)):
        exact = rational(_THRESHOLD, "threshold")
        require_same(found, unknown("int", exact / _LATTICE), "the threshold in steps")
        require(any(same(call, multiple(exact, _LATTICE, "threshold")) for call in walk.calls), "a threshold off the lattice")


def _prove_shown() -> None:
    """Prove that mechanisms show what their runs answer, and nothing else."""
    answers, numbers, values, count = unknown("answers"), unknown("numbers"), unknown("values"), unknown("count")
    kept = SimpleNamespace(many=partial(_many, (answers, numbers), (_THRESHOLD, values, count, _SOURCE)))
    given = _THRESHOLD, values, count, _SOURCE
    found = Subject(AboveThreshold, {"np": _NUMPY}, _comparisons=kept).releases(*given)
    require_same(found, (answers == 0).sum(axis=1, dtype=_NUMPY.int64), "the positions that are shown")
    written, scale = unknown("format_of"), unknown("scale")
    sparse = Subject(SparseVector, {"format_of": written}, _comparisons=kept, lattice=_LATTICE, number_scale=scale)
    require(sparse.releases(*given) is answers, "the answers that are shown")
    for _, both in walk_through(lambda: or_refusal(lambda: sparse.number_releases(*given))):
        if not isinstance(both, Refusal):
            require(both[0] is answers, "the answers that are shown")
            require_same(both[1], written(_LATTICE).write(numbers, _LATTICE), "the numbers that are shown")
    row, run, position = unknown("row"), unknown("run"), unknown("position")
    names = {"enumerate": lambda items: [(position, unknown("each", items))], "next": next}
    asked = SimpleNamespace(value_steps=lambda _: row, begin=partial(_many, run, (_THRESHOLD, _SOURCE)))
    for walk, first in walk_through(
        lambda: Subject(AboveThreshold, names, _comparisons=asked).release(_THRESHOLD, values, _SOURCE)
    ):
        ((question, is_above),) = walk.decided
        require_same(question, run.compare(unknown("each", row.tolist())), "what is asked")
        require(first is (position if is_above else None), "the position that is shown")


def _many(result: Any, wanted: tuple[Any, ...], *given: Any) -> Any:
    """A result, for what is wanted."""
    require(len(given) == len(wanted) and all(one is other for one, other in zip(given, wanted, strict=True)), "other arguments")
    return result
