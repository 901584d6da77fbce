"""The search for a counterexample: small patterns of data and outputs are screened, the best are grown, until one is certified."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from operator import sub
from typing import Any, Final

from flint import fmpq

from dpaudit.verifier.ir import Program, contract_of
from dpaudit.verifier.refuter.events import ANY, Box, Event, Leaf
from dpaudit.verifier.refuter.forms import Blur, Form, Quotient
from dpaudit.verifier.refuter.neighbours import InputPair, claim_values, is_admissible
from dpaudit.verifier.refuter.paths import Inputs, Path, Undecided, paths_of
from dpaudit.verifier.refuter.patterns import EPSILONS, LONGEST, Column, pair_of, scalars_of, screened, shortest, small_pairs
from dpaudit.verifier.refuter.pieces import Bell
from dpaudit.verifier.refuter.witness import Witness, measure_event, measure_space
from dpaudit.verifier.replay import fraction

SECONDS: Final = 10.0

_ENDS: Final = (Fraction(2), Fraction(1, 2), Fraction(1), Fraction(5), Fraction(0))
_FAR_OFF: Final = Fraction(10**9)
"""Ends of half-lines that are asked of quotients of noise, and how long these are."""
_CENTRES: Final = tuple(Fraction(centre) for centre in (0, 1, -1, 4, -4, -16))
_OPPOSITE: Final = ((3, 4), (4, 3))
"""Centres by their place, one far on either side."""
_STEPS: Final = (Fraction(4), Fraction(-4))
"""How much further out a place may lie than the one before it."""
_HALF_SIGMAS: Final = (4, 2, 6, 0, 5, 3, 7, 8, 1, 9, 10, 12)
"""Where tails of Gaussian noise begin, in halves of sigma."""
_LONG: Final = 100
"""The length of a tail in units of sigma: nothing is left beyond it."""
_HALF_WIDTH: Final = Fraction(1, 16)
_BEAM: Final = 16
_PER_SIGNS: Final = 2
_SUPPORTS: Final = 12
_LONGEST_SEED: Final = 3
_SEED_SHARE: Final = 0.25
"""The part of the time that seeds may take."""


@dataclass(frozen=True)
class Candidate:
    """Scalars, columns and an event, with a lower bound of its log-ratio minus the claim."""

    scalars: Inputs
    columns: tuple[Column, ...]
    event: Event
    score: float = float("-inf")

    @property
    def signs(self) -> tuple[tuple[int, ...], ...]:
        """The directions of the changes, repetitions left out: candidates that differ in length only look alike."""
        found: list[tuple[int, ...]] = []
        for column in self.columns:
            signs = tuple((move > 0) - (move < 0) for move in column.moves)
            if not found or found[-1] != signs:
                found.append(signs)
        return tuple(found)


@dataclass
class _Search:
    """The state of the search: the program, when it ends, how long lists may be, and how many events may still be looked at."""

    program: Program
    deadline: float
    longest: int
    left: float = float("inf")

    @property
    def late(self) -> bool:
        """True if time is up."""
        return time.process_time() > self.deadline

    @property
    def over(self) -> bool:
        """True if to go on to the next parameters, or to end."""
        return self.late or self.left <= 0


def search(
    program: Program,
    *,
    seconds: float = SECONDS,
    seeds: Iterable[InputPair] = (),
    longest: int = LONGEST,
    events: float = float("inf"),
) -> Witness | None:
    """Look for neighbours and an event that break a program's claim."""
    course = _Search(program, time.process_time() + seconds, longest)
    seeds = tuple(seeds)
    for pair in (*seeds, *islice(small_pairs(program), _SUPPORTS)):
        for one in (pair, pair.reversed()):
            found = None if course.over else _support(course, one)
            if found is not None:
                return found
    found = _from_seeds(course, seeds, seconds)
    if found is not None:
        return found
    for epsilon in EPSILONS:
        for scalars in scalars_of(program, epsilon):
            course.left = events
            for plain in (True, False):
                patterns = screened(contract_of(program), plain=plain, least=shortest(program, scalars))
                found = _searched(course, ((scalars, columns) for columns in patterns))
                if found is not None or course.late:
                    return found
    return None


def _from_seeds(course: _Search, seeds: Iterable[InputPair], seconds: float) -> Witness | None:
    """Look at the data of seeds and grow them, in a part of the time."""
    names = [name for name, _ in contract_of(course.program).changes]
    starts = []
    for pair in (one for seed in seeds for one in (seed, seed.reversed())):
        sides = [list(zip(*(side[name] for name in names), strict=False)) for side in (pair.first, pair.second)]
        columns = tuple(Column(one, tuple(map(sub, other, one))) for one, other in zip(*sides, strict=False))
        starts.append((pair.first, columns[:_LONGEST_SEED]))
    part = replace(course, deadline=time.process_time() + seconds * _SEED_SHARE)
    return _searched(part, starts) if starts else None


def _searched(course: _Search, starts: Iterable[tuple[Inputs, tuple[Column, ...]]]) -> Witness | None:
    """Screen short patterns at some values of the scalar parameters, and grow the best of them."""
    beam: list[Candidate] = []
    for scalars, columns in starts:
        for candidate in () if course.over else _with_events(course, scalars, columns):
            scored = None if course.over else _tried(course, candidate)
            if isinstance(scored, Witness):
                return scored
            if scored is not None:
                beam.append(scored)
    return _grown(course, _best(beam))


def _grown(course: _Search, beam: list[Candidate]) -> Witness | None:
    """Repeat columns of the best candidates, again and again."""
    for _ in range(course.longest):
        longer = []
        for candidate in beam:
            for taller in _extended(candidate, course.longest):
                if course.over:
                    return None
                found = _tried(course, taller)
                if isinstance(found, Witness):
                    return found
                if found is not None:
                    longer.append(found)
        if not longer:
            return None
        beam = _best(longer)
    return None


def _best(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates with the largest ratios, few of each kind."""
    kept: list[Candidate] = []
    kinds: dict[Any, int] = {}
    for candidate in sorted(candidates, key=lambda one: -one.score):
        kind = candidate.signs
        if kinds.get(kind, 0) < _PER_SIGNS:
            kinds[kind] = kinds.get(kind, 0) + 1
            kept.append(candidate)
    return kept[:_BEAM]


def _tried(course: _Search, candidate: Candidate) -> Witness | Candidate | None:
    """The witness that a candidate is, or the candidate with its score; None where nothing can be said."""
    pair = pair_of(course.program, candidate.scalars, candidate.columns)
    if pair is None:
        return None
    course.left -= 1
    try:
        found = measure_event(course.program, pair, candidate.event)
        claim, _, _ = claim_values(course.program, pair.first)
    except (Undecided, ArithmeticError, IndexError):
        return None
    if found.witness is not None:
        return found.witness
    return None if found.lower is None else replace(candidate, score=float(found.lower - claim))


def _support(course: _Search, pair: InputPair) -> Witness | None:
    """The witness by the spaces of the outputs, if there is one."""
    if not is_admissible(course.program, pair):
        return None
    try:
        return measure_space(course.program, pair)
    except (Undecided, ArithmeticError, IndexError):
        return None


def _with_events(course: _Search, scalars: Inputs, columns: tuple[Column, ...]) -> Iterator[Candidate]:
    """Candidates for every event that the first dataset can give, boxes for continuous outputs."""
    pair = pair_of(course.program, scalars, columns)
    if pair is None:
        return
    for event in _events(course.program, pair):
        yield Candidate(scalars, columns, event)


def _events(program: Program, pair: InputPair) -> Iterator[Event]:
    """Every event that the first dataset can give, boxes for continuous outputs."""
    try:
        outputs = {_shape(path.values): path for path in paths_of(program, pair.first) if not path.exception}
    except (Undecided, ArithmeticError, IndexError):
        return
    for path in outputs.values():
        leaves = [value if isinstance(value, tuple) else (value,) for value in path.values]
        for turn in range(max((len(_options(leaf, path)) for part in leaves for leaf in part), default=1)):
            parts = [tuple(_turned(_options(leaf, path), turn) for leaf in part) for part in leaves]
            event = tuple(part if isinstance(value, tuple) else part[0] for part, value in zip(parts, path.values, strict=True))
            yield Event(event)
        # Or in turns: what leaves one number may enter the next.
        if sum(isinstance(leaf, Form) for part in leaves for leaf in part) > 1:
            for turns in _OPPOSITE:
                yield Event(tuple(_alternating(leaves, path, turns)))
            # Or further out from place to place: each may begin where the one before it was.
            for step in _STEPS:
                yield Event(tuple(_climbing(leaves, path, step)))


def _alternating(leaves: list[tuple[Any, ...]], path: Path, turns: tuple[int, int]) -> Iterator[Any]:
    """Leaves that take one option and another in turns."""
    place = 0
    for part, value in zip(leaves, path.values, strict=True):
        found = []
        for leaf in part:
            found.append(_turned(_options(leaf, path), turns[place % 2]))
            place += 1
        yield tuple(found) if isinstance(value, tuple) else found[0]


def _climbing(leaves: list[tuple[Any, ...]], path: Path, step: Fraction) -> Iterator[Any]:
    """Leaves whose boxes lie one step further out each."""
    centre = Fraction(0)
    for part, value in zip(leaves, path.values, strict=True):
        found: list[Leaf] = []
        for leaf in part:
            options = _options(leaf, path)
            centre += step if isinstance(leaf, Form) else 0
            found.append(Box(centre - _HALF_WIDTH, centre + _HALF_WIDTH) if isinstance(options[0], Box) else options[0])
        yield tuple(found) if isinstance(value, tuple) else found[0]


def witness_on(program: Program, pairs: Iterable[InputPair], *, seconds: float) -> Witness | None:
    """Look for an event that breaks a program's claim on given neighbours, in either order, whatever their public lists hold."""
    deadline = time.process_time() + seconds
    for pair in (one for given in pairs for one in (given, given.reversed())):
        if time.process_time() > deadline:
            return None
        for event in _events(program, pair) if is_admissible(program, pair) else ():
            try:
                found = measure_event(program, pair, event).witness
            except (Undecided, ArithmeticError, IndexError):
                continue
            if found is not None:
                return found
    return None


def _turned(options: tuple[Leaf, ...], turn: int) -> Leaf:
    """All outputs take the option of the same number: together they say most."""
    return options[turn % len(options)]


def _options(leaf: Any, path: Path) -> tuple[Leaf, ...]:
    """The leaves to try for an output: itself where it is a number, small values or boxes where it is noise."""
    if isinstance(leaf, fmpq):
        return (fraction(leaf),)
    if isinstance(leaf, Quotient):
        return tuple(box for end in _ENDS for box in (Box(end, end + _FAR_OFF), Box(end - _FAR_OFF, end)))
    if isinstance(leaf, Blur):
        return (ANY,)
    if not isinstance(leaf, Form):
        return (leaf,)
    bells = [noise.density for place in leaf.factors if isinstance((noise := path.noises[place]).density, Bell)]
    if bells:
        # A tail is what tells shifted bells apart: far out for the ratio, near for what delta excuses.
        start, sigma = fraction(leaf.start), fraction(max(bell.sigma for bell in bells))
        lows = [start + sigma * half / 2 for half in _HALF_SIGMAS]
        return tuple(Box(low, low + _LONG * sigma) for low in lows)
    if any(path.noises[place].whole for place in leaf.factors):
        factor = next(iter(leaf.factors.values()))
        return tuple(fraction(leaf.start + step * factor) for step in (0, 1, -1, 2, -2))
    return tuple(Box(centre - _HALF_WIDTH, centre + _HALF_WIDTH) for centre in _CENTRES)


def _shape(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Outputs with their noise left out; types count."""
    return tuple(
        _shape(value) if isinstance(value, tuple) else ("noise" if isinstance(value, (Form, Blur)) else (type(value), value))
        for value in values
    )


def _extended(candidate: Candidate, longest: int) -> Iterator[Candidate]:
    """The candidate with one column more: each column repeated in place, and its output with it where each has one."""
    if len(candidate.columns) >= longest:
        return
    seen = set()
    for place in range(len(candidate.columns)):
        columns = (*candidate.columns[: place + 1], *candidate.columns[place:])
        for event in _longer(candidate.event, place):
            taller = Candidate(candidate.scalars, columns, event)
            if (columns, event) not in seen:
                seen.add((columns, event))
                yield taller


def _longer(event: Event, place: int) -> Iterator[Event]:
    """Events for one element more: one more output like the one at `place`, or the same output, or the next index."""
    lists = [index for index, value in enumerate(event.values) if isinstance(value, tuple)]
    if lists:
        values = tuple(
            (*value[: place + 1], *value[place:]) if isinstance(value, tuple) and place < len(value) else value
            for value in event.values
        )
        yield Event(values)
        if values != event.values:
            yield event
        return
    yield event
    for index, value in enumerate(event.values):
        if type(value) is int:
            yield Event((*event.values[:index], value + 1, *event.values[index + 1 :]))
