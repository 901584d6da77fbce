"""Searched datasets that a function is meant for: not those on whose new values it raises, or computes with missing ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.data.domains import BLANK, EMPTY, LONG, MARKED, MISSING, NAN, OTHER, OUTSIDE, UNSEEN, WITHIN, is_missing
from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.pairs.walks import WALK
from dpaudit.auditor.reading.features import Form
from dpaudit.auditor.reading.outputs import Failure, parse_output
from dpaudit.auditor.reading.shapes import shape_of
from dpaudit.auditor.runs.chunks import SEARCH, Chunk, sample_one

_EACH: Final = 4
_OTHERS: Final = {EMPTY: {LONG, UNSEEN, MARKED}, BLANK: {OTHER}}
_UNKNOWN: Final = frozenset({OTHER, OUTSIDE})
"""New texts that a function has to take before one that it refuses counts."""

_VETTING: Final = 2**20
"""Index of the chunks of these runs, beyond those of the search."""


@dataclass(frozen=True)
class Vetting:
    """The searched pairs that are plausible, the runs that showed it, and the outputs on both datasets by pair.

    `shows_missing` is whether None or NaN comes through; `refused` says by what is unlike the data about a record what the function
    does where it is there, and not where it is not; `outside` are pairs with numbers or categories outside the domain that the data
    suggest, which the function takes.
    """

    plausible: tuple[int, ...]
    runs: int
    outputs: Mapping[int, tuple[list[Any], list[Any]]] = field(default_factory=dict, repr=False)
    shows_missing: bool = False
    refused: Mapping[frozenset[str], str] = field(default_factory=dict)
    outside: tuple[int, ...] = ()

    def forms(self, places: Iterable[int]) -> dict[Form, None]:
        """Return the forms of the outputs on some pairs."""
        found: dict[Form, None] = {}
        for place in places:
            for output in itertools.chain(*self.outputs.get(place, ())):
                reading = parse_output(output)
                found[Form(reading.kind, reading.paths, shape_of(output))] = None
        return found


def vet(case: Case, places: Sequence[int], most: int) -> Vetting:
    """Run each dataset of some pairs a few times, within a number of runs, and keep the pairs that the function is meant for."""
    pairs, outputs, runs, looked = case.subject.pairs, dict[int, list[Any]](), 0, list[int]()
    for place in places:
        new = [(label, side) for label in (0, 1) if id(side := pairs[place].side(label)) not in outputs]
        if runs + _EACH * len(new) > most:
            break
        for label, side in new:
            outputs[id(side)] = [_sample(case, side, place, _EACH * label + number) for number in range(_EACH)]
            runs += _EACH
        looked.append(place)
    sides = {place: (outputs[id(pairs[place].first)], outputs[id(pairs[place].second)]) for place in looked}
    taken = _taken({place: pairs[place].labels for place in looked}, sides)
    # Of the given records alone: where smaller datasets are taken, it is not their size at which a function raises.
    known = [(pairs[place], sides[place]) for place in looked if not pairs[place].labels]
    accepted = [len(pair.side(label)) for pair, both in known for label in (0, 1) if not _fails(both[label])]
    # Where records come and go, the step to the smallest dataset that is taken shows that it is not smaller still.
    step = case.subject.target.claim.relation.kind == "add_remove"
    least = max(_least_size(case), min(accepted, default=0) - step)
    kept = [
        place
        for place in looked
        if len(pairs[place].second) >= least
        and not pairs[place].labels & _UNKNOWN
        and _is_plausible(pairs[place].labels, *sides[place], taken)
    ]
    shown = any(_shows_missing(pairs[place].labels, *sides[place]) for place in looked)
    # An error at records of the data is attacked, and could be what pairs with a new value show.
    raised = any(_fails(both[0]) != _fails(both[1]) for pair, both in known if len(pair.second) >= least)
    # A walk meets many values at once, so that nobody knows at which of them a function raises.
    single = [place for place in looked if pairs[place].family != WALK]
    others = {place: pairs[place].labels for place in single if not raised and len(pairs[place].second) >= least}
    refused = _refused({place: labels for place, labels in others.items() if place not in kept and OUTSIDE not in labels}, sides)
    outside = [
        place
        for place in looked
        if pairs[place].labels & _UNKNOWN and not _fails(*sides[place]) and _is_plausible(pairs[place].labels, *sides[place], set())
    ]
    return Vetting(tuple(kept), runs, sides, shown, refused, tuple(outside))


def is_sharp(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """True if a few outputs are all equal on one of two datasets alone, or of other forms on each: noise is left out at one."""
    read = [[parse_output(output) for output in side] for side in (first, second)]
    fixed = [len({(one.kind, tuple(one.leaves.values)) for one in side}) == 1 for side in read]
    return fixed[0] != fixed[1] or not {one.kind for one in read[0]} & {one.kind for one in read[1]}


def _refused(labels: Mapping[int, frozenset[str]], sides: Mapping[int, tuple[list[Any], list[Any]]]) -> dict[frozenset[str], str]:
    """Return what is unlike the data on the one side of a pair on which a function raises, each with what it does there."""
    found: dict[frozenset[str], str] = {}
    for place, words in sorted(labels.items()):
        first, second = sides[place]
        if words and _fails(first) != _fails(second):
            failures = (output.shown for output in (*first, *second) if isinstance(output, Failure))
            found.setdefault(words, next(failures))
    return {words: shown for words, shown in found.items() if not any(other < words for other in found)}


def _taken(labels: Mapping[int, AbstractSet[str]], sides: Mapping[int, tuple[list[Any], list[Any]]]) -> AbstractSet[str]:
    """Return the labels of plain texts for which a function takes all other new texts."""
    failed = {place: _fails(*sides[place]) for place in labels}
    return {
        label
        for label, others in _OTHERS.items()
        if (outcomes := [failed[place] for place, found in labels.items() if found and found <= others]) and not any(outcomes)
    }


def _sample(case: Case, data: Any, place: int, number: int) -> Any:
    """Make one run."""
    rng = Chunk(case.position, place, SEARCH, _VETTING + number, 1).generator(case.root, 1)
    return sample_one(case.subject.target, copy_of(data) if case.manner.copies else data, rng)


def _least_size(case: Case) -> int:
    """Return one more than the records of the largest dataset among the pairs that the function was found not to be meant for."""
    attacked = set(case.attacked)
    refused = [pair for place, pair in enumerate(case.subject.pairs) if not pair.family and place not in attacked]
    return max((1 + len(pair.second) for pair in refused), default=0)


def _is_plausible(labels: frozenset[str], first: list[Any], second: list[Any], taken: AbstractSet[str]) -> bool:
    """True if what a function made of a pair may count as what it gives out about such data."""
    if _fails(first, second):
        # Records of the data are in its domain, and so are a day or a zero between those of the data, and an empty text where other
        # new ones are taken; numbers and categories may have a public domain.
        return _fails(first) != _fails(second) and labels <= taken | WITHIN
    return not (_shows_missing(labels, first, second) or (BLANK in labels and _differ(_echoes, first, second)))


def _shows_missing(labels: AbstractSet[str], first: list[Any], second: list[Any]) -> bool:
    """True if a missing value of one dataset comes through to its outputs."""
    return bool(labels & {MISSING, NAN}) and _differ(_holds_missing, first, second)


def _differ(shows: Callable[[Any], bool], *sides: Sequence[Any]) -> bool:
    """True if the outputs of one side alone show something."""
    return len({any(map(shows, side)) for side in sides}) > 1


def _fails(*sides: Sequence[Any]) -> bool:
    """True if a run raised."""
    return any(isinstance(output, Failure) for side in sides for output in side)


def _holds_missing(output: Any) -> bool:
    """True if a missing value is in an output, as where code for known values only computes with it."""
    return any(is_missing(leaf) for leaf in _leaves(output))


def _echoes(output: Any) -> bool:
    """True if an output holds the empty text itself, as randomised response of public categories does that are given another."""
    return any(isinstance(leaf, str) and not leaf for leaf in _leaves(output))


def _leaves(output: Any) -> list[Any]:
    """What an output holds in containers of Python and numpy."""
    if isinstance(output, Mapping):
        return [leaf for value in output.values() for leaf in _leaves(value)]
    if isinstance(output, np.ndarray) or hasattr(output, "tolist"):
        return _leaves(output.tolist())
    if isinstance(output, (list, tuple, set, frozenset)):
        return [leaf for value in output for leaf in _leaves(value)]
    return [output]
