"""Noisy maxima: the place of a greatest noisy score, and of several one drawn evenly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from mechanisms import noisy_max
from mechanisms.noisy_max import NoisyMax
from mechanisms.selection import coins
from proofs.flow.following import Subject, follow
from proofs.flow.lanes import Domain, Lane, Position, places_where, rounds
from proofs.flow.loops import Cut, cut
from proofs.flow.reading import NAMES
from proofs.flow.releasing import Door, releases, require, require_same
from proofs.flow.terms import Term, same, unknown, walk_through

_SOURCE, _BITS, _COUNT, _ROWS = unknown("source"), unknown("bits"), unknown("count"), Domain("all rows")
_FIRST, _TIED, _NUMBER, _UNIFORM = unknown("first"), unknown("tied"), unknown("number of tied"), unknown("uniform")


def even() -> None:
    """Prove that a place is the whole part of its number of places times a uniform number, once the digits decide it."""
    revealed: list[int] = []
    uniform = SimpleNamespace(value=unknown("value"), bits=_BITS, reveal=lambda: revealed.append(1))
    program = cut(coins.below, {}, lambda: {"uniform": uniform})
    least, most = (uniform.value * _COUNT) >> _BITS, ((uniform.value + 1) * _COUNT - 1) >> _BITS
    answers = []

    def run() -> Cut:
        revealed.clear()
        return program(_COUNT, uniform)

    for walk, path in walk_through(run):
        ((question, is_decided),) = walk.decided
        require(question.op == "==" and same(question.parts, (least, most)), "what decides a place")
        require(len(revealed) == (not is_decided), "digits are drawn although a place is decided, or none where it is not")
        require(path.ended is not None if not is_decided else same(path.result, least), "another place is given")
        answers.append(is_decided)
    require(answers == [True, False], "a place is always or never decided")


class _Noisy:
    """Noisy scores, in a row for every choice."""

    answers = True

    def argmax(self, axis: int) -> Lane:
        """The first greatest of each row."""
        require(axis == 1, "another axis")
        return _Firsts(_ROWS, _FIRST, "int64", [])

    def __eq__(self, other: object) -> Any:
        return _Tied(other)

    __hash__ = None  # type: ignore[assignment]


class _Firsts(Lane):
    """The first greatest of each row."""

    def __getitem__(self, places: Any) -> Any:
        """Along a new axis, which keeps rows apart."""
        return ("a column", self.value) if same(places, (slice(None), None)) else super().__getitem__(places)


@dataclass(frozen=True)
class _Tied:
    """Which scores of each row are equal to some number."""

    number: Any

    def __getitem__(self, row: Position) -> _Tied:
        require(row.within is _ROWS, "another row")
        return _Tied((self.number, "in the row"))


class _Among:
    """The places of the tied scores of a row, in order."""

    size = _NUMBER

    def __getitem__(self, place: Any) -> Any:
        return unknown("tied place", place)


def greatest() -> None:
    """Prove that the place of a row is its greatest, or one of the greatest drawn evenly by a number of its own."""
    noisy = _Noisy()
    top = ("taken along", noisy, ("a column", _FIRST), 1)

    def counted(tied: Any, axis: int) -> Lane:
        require(axis == 1 and tied.number is taken[-1], "other scores are counted")
        return Lane(_ROWS, _NUMBER, "int64", [])

    taken: list[Any] = []

    def take(*given: Any, axis: int) -> Any:
        require(given[0] is noisy and given[1] == top[2] and axis == 1, "other scores are compared")
        taken.append(unknown("greatest"))
        return taken[-1]

    def where(mask: Any) -> Any:
        if isinstance(mask, Lane):
            return places_where(mask)
        require(mask.number[0] is taken[-1] and mask.number[1] == "in the row", "other scores are tied")
        return _Among()

    drawn: list[tuple[Any, ...]] = []

    def lazy(source: Any, *sizes: Any) -> Any:
        require(source is _SOURCE and len(rounds) == 1 and sizes == (_BITS, _BITS), "a number that rows share, or other bits")
        drawn.append(sizes)
        return _UNIFORM

    names = {
        "np": SimpleNamespace(take_along_axis=take, count_nonzero=counted, flatnonzero=where),
        "LazyUniform": lazy,
        "below": partial(unknown, "below"),
    }
    program: Any = follow(noisy_max.greatest, names)
    seen = set()

    def run() -> Any:
        rounds.clear()
        drawn.clear()
        return program(noisy, _SOURCE, _BITS)

    for walk, found in walk_through(run):
        ((question, is_tied),) = walk.decided
        require(question.op == ">" and same(question.parts, (_NUMBER, 1)), "where scores are tied")
        require(found.domain is _ROWS and len(drawn) == is_tied, "a number is drawn for what is not tied")
        require_same(found.value, unknown("tied place", unknown("below", _NUMBER, _UNIFORM)) if is_tied else _FIRST, "a place")
        seen.add(is_tied)
    require(seen == {False, True}, "scores are always or never tied")


def chosen() -> None:
    """Prove that choices are the greatest of steps plus a draw for each, in batches that make as many as are asked for."""
    door, scores, largest, numpy = Door(), unknown("scores"), unknown("greatest"), unknown("np")
    places, steps, copies, lattice = unknown("places"), unknown("steps"), unknown("count read"), unknown("lattice")
    read = unknown("read_scores")

    def in_steps(found: Any, unit: Any) -> tuple[Any, Any]:
        require(same(found, read(scores)) and unit is lattice, "other scores")
        return places, steps

    names = NAMES | {
        "open_release": door,
        "read_scores": read,
        "lattice_steps": in_steps,
        "greatest": largest,
        "np": numpy,
        "range": partial(unknown, "range"),
        "read_count": lambda _: copies,
    }
    law, record = unknown("law"), unknown("record")
    mechanism: Any = Subject(NoisyMax, names, _law=law, _record=record, lattice=lattice)
    for run, count, single in (
        (lambda: mechanism.release(scores, _SOURCE), 1, True),
        (lambda: mechanism.releases(scores, _COUNT, _SOURCE), copies, False),
    ):
        for path in releases(run, door, _SOURCE):
            require(path.record is record, "another record is logged")
            rows = unknown("max", 1, noisy_max._BATCH // steps.size)  # noqa: SLF001 - a proof looks inside
            size = unknown("min", rows, count - unknown("each", unknown("range", 0, count, rows)))
            added, tied = path.draws
            require_same(added, law.sample(size * steps.size, source=door.bits), "the noise")
            require_same(tied.parts, (largest, (added.reshape(size, steps.size) + steps, door.bits), ()), "what is chosen from")
            result = places[numpy.concatenate([tied])]
            shown = path.output.parts[0] if single else path.output
            require(not single or path.output.op == "int", "one choice is shown otherwise")
            require_same(_opened(shown, door, single=single), result[0] if single else result, "the choices that are shown")


def _opened(shown: Term, door: Door, *, single: bool) -> Any:
    """The choices, freed from what a checking tape adds."""
    held = shown.parts[0] if single else shown
    if held.op == "call" and held.parts[0] is door.hold:
        return held.parts[1][1][0] if single else held.parts[1][1]
    return shown
