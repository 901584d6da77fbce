"""The envelope kernel, alone and in batches: each trial does to its own digits what the exactness theorem says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from mechanisms.sampling import kernel
from mechanisms.sampling.envelope import EnvelopeTable
from proofs.flow.floats import exactly
from proofs.flow.following import Followed, Refusal, Subject, follow
from proofs.flow.lanes import ABSENT, Column, Digits, Domain, Lane, Numpy, Places, Position, Source, rounds
from proofs.flow.loops import require_separate_rounds
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import Term, Undecided, Walk, positive, power_of_two, same, unknown, walk_through

_CASES: Final = ((0, 0), (positive("shift"), 0), (positive("shift"), positive("spread")))
"""Blocks of one integer, longer blocks, and longer blocks of several lengths: by shift and spread."""


@dataclass(frozen=True, eq=False)
class Uniform:
    """In place of a `LazyUniform`: the digits that it begins with; a comparison is a test."""

    digits: Digits
    bits: Any
    rounds: tuple[Position, ...]

    followed = True

    def less(self, value: Callable[[Any], Any]) -> Any:
        """Whether the number is below a real number."""
        self.require_own()
        return unknown("below", self.digits, self.bits, value(unknown("precision")))

    def require_own(self) -> None:
        """Prove that it was drawn for the trial that asks it, not for another round of a loop."""
        require(self.rounds == (*rounds,), "a number is shared by trials")


@dataclass(frozen=True, eq=False)
class _Lazies:
    """In place of the class `LazyUniform`."""

    source: Source
    step: Any

    def begun(self, source: Source, value: Digits, bits: Any, step: Any) -> Uniform:
        """A number of which digits are known."""
        require(source is self.source and step is self.step, "more digits come from elsewhere")
        _, low, high = value.parts
        require_same(high - low, bits, "the number of digits of a uniform number")
        return Uniform(value, bits, (*rounds,))

    def __call__(self, source: Source, first_bits: Any, step: Any) -> Uniform:
        """A number of which the first digits are drawn now, as `LazyUniform` does."""
        return self.begun(source, source.bits(first_bits), first_bits, step)


@dataclass(frozen=True, eq=False)
class Trial:
    """What became of one trial on one path."""

    walk: Walk
    cell: Digits
    low: Any
    digits: Any
    tail: Any
    accepted: bool
    value: Any


@dataclass(frozen=True, eq=False)
class Case:
    """A table of which nothing is known but what its checks guarantee, and its sampler's functions with stand-ins."""

    table: Subject
    names: dict[str, Any]
    source: Source
    closed: list[tuple[Lane, Places]]

    @property
    def ranged(self) -> list[tuple[str, Any]]:
        """Whole numbers that were computed in machine words."""
        return self.source.ranged

    def begin(self, *, is_shared: bool = False) -> Source:
        """The source of bits at the beginning of a path, which one trial or many draw from."""
        rounds.clear()  # a path that refuses leaves the round that it is in
        self.source.is_shared = is_shared
        for seen in (self.source.words, self.source.ranged, self.closed):
            seen.clear()
        return self.source

    @staticmethod
    def of(shift: Any, spread: Any) -> Case:
        """One of the three cases."""
        source, closed = Source(), []
        tuning = SimpleNamespace(
            cell_bits=unknown("cell_bits"), prefix=unknown("prefix"), step=unknown("step"), slack=unknown("extra slack")
        )
        estimate = SimpleNamespace(
            of=_estimated, of_one=lambda blocks: unknown("estimate", blocks), slack=unknown("estimate slack")
        )
        columns = {name: Column(name, kind) for name, kind in _COLUMNS.items()}
        fields = {name: unknown(name) for name in ("full", "occupied", "tail_cells", "height", "law")}
        names = {
            **{name: Followed(getattr(kernel, name)) for name in _FOLLOWED},
            "np": Numpy(), "object": "object", "len": lambda array: array.domain, "int": lambda number: number, "bool": bool,
            "freeze": lambda array: array, "too_large": Refusal, "ball": _BALL, "FLOAT_SLACK": _FLOAT_SLACK,
            "LazyUniform": _Lazies(source, tuning.step),
            "_tail": _tail,
            "_close": lambda out, rejected: closed.append((out, rejected)),
        }  # fmt: skip
        table = Subject(EnvelopeTable, names, tuning=tuning, shift=shift, spread=spread, estimate=estimate, **fields, **columns)
        table.__dict__["partial_cells"] = _Cells(table)
        return Case(table, names, source, closed)


_COLUMNS: Final = {
    "block": "int64",
    "doublings": "uint8",
    "heights": "float64",
    "level": "int64",
    "accept_below": "uint64",
    "reject_above": "uint64",
}
_BALL: Final = unknown("ball")
_FLOAT_SLACK: Final = unknown("FLOAT_SLACK")
_REGIONS: Final = ("whole", "partial", "positive tail", "negative tail", "empty")
_FOLLOWED: Final = ("_place", "_are_under", "_decide_many", "_decide_one", "_is_under", "_fitting")


@dataclass(frozen=True, eq=False)
class _Cells:
    """In place of `partial_cells`: its tuples."""

    table: Subject

    def __getitem__(self, place: Any) -> tuple[Any, Any, Any]:
        return tuple(getattr(self.table, name).item(place) for name in ("level", "heights", "doublings"))


def _tail(_: Any, uniform: Uniform, *, negative: Any) -> Any:
    """In place of the tail's sampler: what it depends on."""
    uniform.require_own()
    return unknown("tail", uniform.digits, uniform.bits, bool(negative))


def _estimated(blocks: Lane) -> Lane:
    """The float formula, entry by entry."""
    value = ABSENT if blocks.value is ABSENT else unknown("estimate", blocks.value)
    return Lane(blocks.domain, value, "float64", blocks.ranged)


def alone() -> None:
    """Prove that a single trial returns the integer of its digits, accepted as the theorem says."""
    _prove_partial_cells()
    _prove_trials(_one)


def together() -> None:
    """Prove that every trial of a batch does to its own digits what a single one does, within machine words."""
    for function in (kernel.many_trials, kernel._place, kernel._are_under, kernel._decide_many):  # noqa: SLF001
        require_separate_rounds(function)
    _prove_trials(_many)


def _prove_trials(paths: Callable[[Case], Iterator[Trial]]) -> None:
    """Prove all paths of a trial, for each kind of table."""
    for shift, spread in _CASES:
        case = Case.of(shift, spread)
        seen = {_require_trial(case, trial) for trial in paths(case)}
        require(seen - {""} == set(_REGIONS), f"only {seen} are seen")


def _prove_partial_cells() -> None:
    """Prove that the tuples for single draws are level, height and doublings of each cell."""
    table = Subject(EnvelopeTable, {}, level=unknown("level"), heights=unknown("heights"), doublings=unknown("doublings"))
    ((level, height, doublings),) = table.partial_cells
    for found, column in ((level, table.level), (height, table.heights), (doublings, table.doublings)):
        require_same(found.parts[0].parts[0], column.tolist, "a part of a cell")


def _one(case: Case) -> Iterator[Trial]:
    """All paths of a single trial, the digits of whose one word are told apart by their places."""
    program, table, tuning = follow(kernel.one_trial, case.names), case.table, case.table.tuning
    for walk, value in walk_through(lambda: program(table, case.begin())):
        (word,) = case.source.words
        origin, _, total = word.parts
        require_same(total, tuning.cell_bits + table.shift + tuning.prefix, "the digits that a trial draws")
        above = table.shift + tuning.prefix
        low = Digits(origin, tuning.prefix, above)
        yield Trial(
            walk,
            Digits(origin, above, total),
            low if isinstance(table.shift, Term) else 0,
            origin,
            origin,
            value is not None,
            value,
        )


def _many(case: Case) -> Iterator[Trial]:
    """All paths of one trial of a batch, with a word for the cell, one for the place in a block, and one to decide."""
    program, table, tuning = follow(kernel.many_trials, case.names), case.table, case.table.tuning
    everywhere, long = Domain("all trials"), isinstance(table.shift, Term)

    def run() -> Any:
        out = Lane(everywhere, unknown("unwritten"), "int64", case.ranged)
        try:
            program(table, case.begin(is_shared=True), out)
        except Refusal as refusal:
            return refusal
        return out

    for walk, out in walk_through(run):
        if isinstance(out, Refusal):
            continue
        ((closed, rejected),) = case.closed
        require(closed is out and rejected.within is everywhere, "other trials are left out than those that are rejected")
        cell, *rest = case.source.words
        low, (digits, *tail) = (rest[0], rest[1:]) if long else (0, rest)
        widths = [tuning.cell_bits, *([table.shift] if long else []), tuning.prefix]
        require_same([word.parts[2] for word in case.source.words[: len(widths)]], widths, "the digits that a trial draws")
        _require_words(table, cell, low, digits, case.ranged)
        begun = tail[0] if tail else digits
        yield Trial(walk, cell, low, digits.parts[0], begun.parts[0], not rejected.is_there, out.value)


def _require_trial(case: Case, trial: Trial) -> str:
    """Prove one path: which digits choose the cell, the integer and the answer."""
    table, tuning, value = case.table, case.table.tuning, trial.value
    where = _region(table, trial)
    if where == "empty":
        require(not trial.accepted, "an empty cell is accepted")
    elif where in ("positive tail", "negative tail"):
        drawn = unknown("tail", Digits(trial.tail, 0, tuning.prefix), tuning.prefix, where == "negative tail")
        rejected = [answer for question, answer in trial.walk.decided if question.op == "is" and same(question.parts[0], drawn)]
        require(trial.accepted is not any(rejected), "a tail's answer is turned")
        require(not trial.accepted or same(value, drawn), f"a tail gives {value!r}")
    elif where == "whole":
        require(trial.accepted, "a cell that is wholly covered is rejected")
        require_same(value, (table.block.item(trial.cell) << table.shift) + trial.low, "the integer of a trial")
    elif where == "partial":
        _require_partial(table, trial)
    return where


def _require_words(table: Subject, cell: Digits, low: Any, digits: Any, ranged: list[tuple[str, Any]]) -> None:
    """Prove that what a batch computes in machine words is what `samplers.kernel_words` and `samplers.kernel_places` are about."""
    if not isinstance(table.spread, Term):
        allowed = [("int64", (table.block.item(cell) << table.shift) + low)]
    else:
        left, unused = table.tuning.prefix - table.spread, table.spread - table.doublings.item(cell - table.full)
        chosen = Digits(digits.parts[0], left + unused, table.tuning.prefix)
        block = table.block.item(cell)
        allowed = [("places", left), ("places", unused), ("uint8", unused), ("int64", chosen), ("int64", chosen << table.shift)]
        allowed += [("int64", (block << table.shift) + low), ("int64", ((block + chosen) << table.shift) + low)]
    allowed += [("int64", low), ("int64", cell), ("int64", cell - table.full)]
    for kind, value in ranged:
        require(any(kind == one and same(value, other) for one, other in allowed), f"{value!r} may not fit {kind}")


def _region(table: Subject, trial: Trial) -> str:
    """The cells among which a path has its own, by its tests; empty if no cell takes this path."""
    bounds = [table.full, table.occupied, table.occupied + table.tail_cells, table.occupied + 2 * table.tail_cells]
    least, most = 0, len(bounds)
    for question, answer in trial.walk.decided:
        if question.op not in ("<", ">=") or not _is_of_cell(question.parts[0]):
            continue
        difference = question.parts[0] - question.parts[1]
        for place, bound in enumerate(bounds):
            if same(difference, trial.cell - bound):
                below = answer is (question.op == "<")
                least, most = (least, min(most, place)) if below else (max(least, place + 1), most)
    if least < most:
        raise Undecided("a path does not tell which cell it is about")
    return _REGIONS[least] if least == most else ""


def _is_of_cell(compared: Any) -> bool:
    """Whether digits alone are compared, or their difference from a number."""
    return bool(compared.op == "digits" or (compared.op == "-" and isinstance(compared.parts[0], Digits)))


def _require_partial(table: Subject, trial: Trial) -> None:
    """Prove that a partly covered cell gives its integer if what remains of the digits is under the weight, and else nothing."""
    tuning, partial = table.tuning, trial.cell - table.full
    left = tuning.prefix - table.spread
    height, level, doublings = table.heights.item(partial), table.level.item(partial), table.doublings.item(partial)
    chosen = Digits(trial.digits, left + (table.spread - doublings), tuning.prefix) if isinstance(table.spread, Term) else 0
    k = ((table.block.item(trial.cell) + chosen) << table.shift) + trial.low
    rest = Digits(trial.digits, 0, left)
    weight = unknown("call", table.law.weight, (k,), ())
    exact = unknown("below", rest, left, weight / unknown("call", _BALL, (table.height / power_of_two(doublings),), ()) - level)
    sure = _decisions(table, k, rest, height, level, partial)
    asked = [(question, answer) for question, answer in trial.walk.decided if question.op == "below"]
    for question, _ in asked:
        require_same(question, exact, "what is compared")
    certain = [
        verdict
        for (test, verdict, when) in sure
        for question, answer in trial.walk.decided
        if answer is when and exactly(question, test)
    ]
    # Floats and machine words answer first; the exact comparison wherever they leave it open.
    verdicts = certain or [answer for _, answer in asked]
    require(len(set(verdicts)) == 1, "nothing decides a trial")
    require(verdicts[0] is trial.accepted, "a decision is turned")
    require(not trial.accepted or same(trial.value, k), f"the integer of a trial: {trial.value!r} is not {k!r}")


def _decisions(table: Subject, k: Any, rest: Any, height: Any, level: Any, place: Any) -> list[tuple[Any, bool, bool]]:
    """Tests that are certain: the question, what follows for the trial, and from which answer."""
    if not isinstance(table.shift, Term):
        below, above = table.accept_below.item(place), table.reject_above.item(place)
        return [(rest < below, True, True), (rest > above, False, True), (rest <= above, False, False)]
    shift: Any = table.shift
    sizes = (unknown("abs", k) / power_of_two(shift), unknown("float64", unknown("abs", k)) * 2.0**-shift)
    found = []
    for blocks in sizes:
        weight = unknown("estimate", blocks)
        bottom = (level + rest * table.unit) * height
        slack = table.slack * unknown("max", weight, height) + table.tuning.slack * height
        found += [
            (bottom + table.unit * height < weight - slack, True, True),
            (bottom > weight + slack, False, True),
            (bottom <= weight + slack, False, False),
        ]
    return found
