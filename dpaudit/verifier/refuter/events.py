"""Events of a program's output, and their certified probabilities on given data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import islice
from typing import Any, Final, TypeAlias

from flint import arb

from dpaudit.exact import Enclosure, ball_endpoints, fmpq_of, working_precision
from dpaudit.verifier.ir import Program
from dpaudit.verifier.refuter.forms import Blur, Condition, Form, Quotient
from dpaudit.verifier.refuter.paths import Elsewhere, Inputs, Path, Undecided, paths_of
from dpaudit.verifier.refuter.regions import mass_of

BITS: Final = 256
_MOST_PATHS: Final = 40
"""Paths that are kept for further events."""


@dataclass(frozen=True)
class Box:
    """All numbers from `low` on, below `high`."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class AnyNumber:
    """Every number, of whatever type; truth values are none."""

    def __str__(self) -> str:
        """As people write it."""
        return "any number"


ANY: Final = AnyNumber()
Leaf: TypeAlias = int | Fraction | bool | Box | AnyNumber
"""A value that the output has at one place, its type included, the box in which it lies, or any number."""


@dataclass(frozen=True)
class Event:
    """Outputs of one shape: for each returned value a leaf, or a tuple of leaves for a list; or an exception by its name."""

    values: tuple[Leaf | tuple[Leaf, ...], ...] = ()
    exception: str = ""

    def __str__(self) -> str:
        """The event as people write it."""
        if self.exception:
            return f"raises {self.exception}"
        shown = [f"[{', '.join(map(_shown, value))}]" if isinstance(value, tuple) else _shown(value) for value in self.values]
        return "returns " + ", ".join(shown)


def probability(program: Program, inputs: Inputs, event: Event) -> Enclosure:
    """An interval that contains the probability of an event."""
    event = exact_event(event)
    with working_precision(BITS):
        few = _few_paths(_Data(program, inputs))
        paths = paths_of(program, inputs, Toward(program, event)) if few is None else few
        total = reduce(arb.__add__, (_mass(path, event) for path in paths), arb(0))
        low, high = ball_endpoints(total)
    return Enclosure(max(low, Fraction(0)), min(high, Fraction(1)))


def forget_paths() -> None:
    """Follow all paths anew from here on."""
    _few_paths.cache_clear()


@dataclass(frozen=True, eq=False)
class _Data:
    """Data of a program, found again by the program itself and by what the data hold."""

    program: Program
    inputs: Inputs

    def __hash__(self) -> int:
        """By the data."""
        return hash(tuple(self.inputs.values()))

    def __eq__(self, other: object) -> bool:
        """True for the same program and equal data; types count."""
        same = isinstance(other, _Data) and self.program is other.program
        return same and repr(self.inputs) == repr(other.inputs)  # type: ignore[attr-defined]


# A search asks about many events on the same two datasets.
@lru_cache(maxsize=8)
def _few_paths(data: _Data) -> tuple[Path, ...] | None:
    """All paths on small data; None where there are many, or where some cannot be followed, since an event may need few of them."""
    try:
        found = tuple(islice(paths_of(data.program, data.inputs), _MOST_PATHS + 1))
    except ArithmeticError:
        return None
    return found if len(found) <= _MOST_PATHS else None


def event_conditions(path: Path, event: Event) -> tuple[Condition, ...] | None:
    """The conditions that the event adds to those of a path; None where it cannot occur on it."""
    if path.exception or event.exception:
        return () if path.exception == event.exception else None
    if len(path.values) != len(event.values):
        return None
    found: list[Condition] = []
    for value, wanted in zip(path.values, event.values, strict=True):
        pairs = _pairs(value, wanted)
        if pairs is None:
            return None
        for one, leaf in pairs:
            conditions = _quotient(one, leaf, path) if isinstance(one, Quotient) else _conditions(one, leaf)
            if conditions is None:
                return None
            found += conditions
    return tuple(found)


def exact_event(event: Event) -> Event:
    """The event with flint's fractions, as paths have them."""

    def leaf(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(leaf, value))
        if isinstance(value, Box):
            return Box(fmpq_of(value.low), fmpq_of(value.high))  # type: ignore[arg-type]
        return fmpq_of(value) if isinstance(value, Fraction) else value

    return replace(event, values=leaf(event.values))


def _mass(path: Path, event: Event) -> arb:
    """The probability of a path together with the event."""
    added = event_conditions(path, event)
    return arb(0) if added is None else path.weight * mass_of(path.noises, (*path.conditions, *added))


def _pairs(value: Any, wanted: Leaf | tuple[Leaf, ...]) -> list[tuple[Any, Leaf]] | None:
    """Each number of a returned value with its leaf; None where the shapes differ."""
    if isinstance(wanted, tuple):
        return list(zip(value, wanted, strict=True)) if isinstance(value, tuple) and len(value) == len(wanted) else None
    return None if isinstance(value, tuple) else [(value, wanted)]


def _quotient(value: Quotient, leaf: Leaf, path: Path) -> list[Condition] | None:
    """The conditions under which a quotient of noise is at a leaf."""
    if leaf is ANY:
        return []
    if not isinstance(leaf, Box) or not value.has_positive_bottom(path.conditions):
        raise Undecided("a quotient of noise may be anywhere")
    tests = value.between(leaf.low, leaf.high)  # type: ignore[arg-type] # events have flint's fractions here
    return [test for test in tests if isinstance(test, Condition)] if all(test is not False for test in tests) else None


def _conditions(value: Any, leaf: Leaf) -> list[Condition] | None:
    """The conditions under which a number is at a leaf; None where it cannot be."""
    if leaf is ANY:
        return [] if not isinstance(value, (bool, Condition)) else None
    if isinstance(value, Quotient) and not isinstance(leaf, bool):
        return []  # it is asked where the path to it is known
    if isinstance(value, Blur):
        raise Undecided("a number of which nothing is known may be anywhere")
    if isinstance(value, Condition):
        # A truth value that is not decided yet, as a list hears it on the way.
        return [] if isinstance(leaf, bool) else None
    if isinstance(leaf, Box):
        # A box holds real numbers; an int or a bool at this place is another output.
        tests = [] if isinstance(value, int) else [leaf.low <= value, value < leaf.high]
    elif isinstance(value, Form):
        tests = [] if isinstance(leaf, bool) else [value == leaf]
    else:
        tests = [value == leaf] if type(value) is type(leaf) else []
    conditions = [test for test in tests if isinstance(test, Condition)]
    return conditions if tests and all(test for test in tests if not isinstance(test, Condition)) else None


@dataclass(frozen=True)
class Toward:
    """The aim of paths to an event: they end as soon as their output cannot be the event's any more."""

    program: Program
    event: Event

    def hear(self, place: int, value: Any) -> None:
        """Leave a run whose list differs from the event's; of functions that return one list alone."""
        if len(self.event.values) != 1 or len(self.program.returned) != 1:
            return
        leaves = self.event.values[0]
        if isinstance(leaves, tuple) and (place >= len(leaves) or _conditions(value, leaves[place]) is None):
            raise Elsewhere

    def truth(self, place: tuple[int, ...]) -> bool | None:
        """The truth value of the event at a place."""
        leaf: Any = self.event.values
        for number in place:
            if not isinstance(leaf, tuple) or number >= len(leaf):
                raise Elsewhere
            leaf = leaf[number]
        if not isinstance(leaf, bool):
            raise Elsewhere
        return leaf


def _shown(leaf: Leaf) -> str:
    """A leaf as people write it."""
    return f"a number in [{leaf.low}, {leaf.high})" if isinstance(leaf, Box) else str(leaf)
