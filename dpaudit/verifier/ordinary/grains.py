"""Counterexamples through rounding: events of what is put out, whose ends lie where the rounded value changes.

The core program puts out what is rounded. An event of it is one of the source's result if each number that is rounded is asked for
between two ends at which the rounded value changes, and what is not understood is not asked for at all.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from dpaudit.verifier.ir import Draw, Law, Program
from dpaudit.verifier.ordinary import outcomes
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Opaque, Record, Scalar, Tuple, Value
from dpaudit.verifier.product.walk import statements
from dpaudit.verifier.refuter.events import ANY, Box, Event, probability
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.witness import Witness, measure_event, witness_if_broken

_WIDE: Final = 10**6
_MOST: Final = 200
_THIN: Final = Fraction(1, 10**9)
_CONTINUOUS: Final = frozenset({Law.LAPLACE, Law.GAUSSIAN, Law.EXPONENTIAL})
_FORMAT: Final = re.compile(r"\.(\d{1,2})([f%])")


@dataclass(frozen=True)
class Grain:
    """Where a value changes of which only something rounded is put out: at offset + k * step, above `low` and up to `high`."""

    step: Fraction
    offset: Fraction
    low: Fraction | None = None
    high: Fraction | None = None

    def ends_near(self, value: Fraction) -> Iterator[Fraction]:
        """The ends around a number, and a few more."""
        first = (value - self.offset) // self.step
        for more in (0, 1, -1, 2):
            end = self.offset + (first + more) * self.step
            if (self.low is None or end > self.low) and (self.high is None or end <= self.high):
                yield end


Seen: TypeAlias = Grain | str
"""What is put out of a number: itself ("all"), something rounded, or what nobody knows ("nothing")."""


def finer(state: State, program: Program, witness: Witness) -> Witness | None:
    """A counterexample of what is put out, made of one of what is rounded; None if none is found."""
    event = witness.event
    if not isinstance(event, Event) or event.exception or not outcomes.released_once(state) or len(state.outputs) > 0:
        return None
    seen = _seen(state, event)
    if seen is None:
        return None
    if any(isinstance(one, Grain) for one in seen):
        laws = {one.law for one in statements(program.body) if isinstance(one, Draw)}
        if not laws <= _CONTINUOUS:
            # A number may lie where the rounded value changes, and which way it goes is not asked.
            return None
    choices = [tuple(_leaves(leaf, one)) for leaf, one in zip(event.values, seen, strict=True)]
    for pair, values in itertools.product(
        (witness.pair, witness.pair.reversed()), itertools.islice(itertools.product(*choices), _MOST)
    ):
        asked = replace(event, values=values)
        try:
            found = measure_event(program, pair, asked).witness
            if found is not None and _is_clear(program, found, asked):
                return found
        except (Undecided, ArithmeticError, IndexError):
            continue
    return None


def _is_clear(program: Program, found: Witness, event: Event) -> bool:
    """True if the claim is broken whatever happens at the ends of cells, where a number may lie for sure."""
    inner, outer = (replace(event, values=tuple(_moved(leaf, by) for leaf in event.values)) for by in (_THIN, -_THIN))
    first, second = probability(program, found.pair.first, inner), probability(program, found.pair.second, outer)
    return witness_if_broken(program, found.pair, event, first, second) is not None


def _moved(leaf: Any, by: Fraction) -> Any:
    """A box whose ends are moved inwards."""
    return Box(leaf.low + by, leaf.high - by) if isinstance(leaf, Box) and leaf.high - leaf.low > 2 * by else leaf


def _leaves(leaf: Any, seen: Seen) -> Iterator[Any]:
    """What may be asked of a number in place of what a counterexample asks."""
    if seen == "all":
        yield leaf
        return
    if isinstance(leaf, bool):
        yield leaf if seen == "all" else ANY
        return
    if seen == "nothing" or not isinstance(seen, Grain) or not isinstance(leaf, (Box, Fraction, int)):
        yield ANY
        return
    middle = (leaf.low + leaf.high) / 2 if isinstance(leaf, Box) else Fraction(leaf)
    far = _WIDE * seen.step
    for end in seen.ends_near(Fraction(middle)):
        if seen.high is None:
            yield Box(end, end + far)
        if seen.low is None:
            yield Box(end - far, end)
        if seen.high is None or end + seen.step <= seen.high:
            yield Box(end, end + seen.step)
    yield ANY


def _seen(state: State, event: Event) -> list[Seen] | None:
    """For each number that is returned what is put out of it."""
    forms = list(dict.fromkeys(one.form for one in state.returns))
    values = list(event.values)
    if len(forms) == 1:
        return _of_forms(state, forms[0], len(values))
    index = values[0] if values else None
    if type(index) is not int or not 0 <= index < len(forms):
        return None
    own = _of_forms(state, forms[index], None)
    if own is None:
        return None
    kinds = outcomes.kinds_of(forms[index])
    found: list[Seen] = ["all"]
    for kind, size in outcomes.sizes(forms).items():
        held = [one for one, sort in zip(own, kinds, strict=True) if sort == kind]
        found += [*held, *(["all"] * (size - len(held)))]
    return found if len(found) == len(values) else None


def _of_forms(state: State, form: tuple[Any, ...], size: int | None) -> list[Seen] | None:
    """What is put out of each number of a form; None where returns of one form do not agree."""
    found = [list(_of_value(state, value)) for value in state.returned.get(form, [])]
    if not found or any(one != found[0] for one in found) or len(found[0]) != len(outcomes.kinds_of(form)):
        return None
    return found[0] if size is None or len(found[0]) == size else None


def _of_value(state: State, value: Value) -> Iterator[Seen]:
    """What is put out of each number of a returned value, in the order of its form."""
    match value:
        case Scalar(kind="str", known=str()):
            return
        case Scalar():
            yield "all"
            if not value.firm and value.tests:
                yield from ("nothing" for _ in value.tests)
        case Tuple(items):
            for one in items:
                yield from _of_value(state, one)
        case Record(parts=parts):
            for _, one in parts:
                yield from _of_value(state, one)
        case Opaque():
            yield from _of_opaque(state, value)


def _of_opaque(state: State, value: Opaque) -> Iterator[Seen]:
    """What is put out of each number that something is made of: where one alone is not constant, it may be seen."""
    leaves = [one for one in outcomes.scalars(value) if not (one.kind == "str" and one.is_known)]
    open_ones = [one for one in leaves if not one.is_known]
    grain = _grain(state, value) if len(set(open_ones)) == 1 and len(open_ones) == 1 else None
    several = _parts(value) if len(open_ones) > 1 else None
    if several is not None:
        for part in several:
            yield from _of_opaque(state, part) if isinstance(part, Opaque) else _of_value(state, part)
        return
    for one in leaves:
        yield grain if not one.is_known and grain is not None else "nothing"
        if not one.firm and one.tests:
            yield from ("nothing" for _ in one.tests)


def _parts(value: Opaque) -> tuple[Value, ...] | None:
    """The parts of what shows each of them: JSON, and what it is made of."""
    last = value.site.rpartition(":")[2]
    shows = last in ("json.dumps", "list", "array") or value.site.startswith("dict ") or value.site in ("list", "array")
    return value.parts if shows else None


def _grain(state: State, value: Value) -> Seen | None:
    """What is put out of the one number that is not constant."""
    if isinstance(value, Scalar):
        return "all"
    if not isinstance(value, Opaque):
        return None
    open_parts = [one for one in value.parts if any(not leaf.is_known for leaf in outcomes.scalars(Tuple((one,))))]
    if len(open_parts) != 1:
        return None
    inner = _grain(state, open_parts[0])
    rest = [one for one in value.parts if one is not open_parts[0]]
    last = value.site.rpartition(":")[2]
    known = [Fraction(one.known) for one in rest if isinstance(one, Scalar) and one.is_known and one.kind in ("int", "real")]
    if last in ("json.dumps", "str", "repr", "float") or value.site.startswith("dict ") or value.site in ("list", "array"):
        return inner
    form = state.formats.get(value)
    if form is not None:
        return inner if form == "" else _rounded(inner, form)
    if inner == "all" and last in ("round", "numpy.round", "numpy.around", "numpy.rint", ".round"):
        digits = int(known[0]) if known else 0
        step = Fraction(10) ** -digits
        return Grain(step, step / 2)
    if inner == "all" and last in ("math.floor", "math.ceil", "numpy.floor", "numpy.ceil"):
        return Grain(Fraction(1), Fraction(0))
    if inner == "all" and last == "int":
        # Numbers on both sides of 0 become 0.
        return Grain(Fraction(1), Fraction(0), low=Fraction(0))
    if isinstance(inner, Grain) and last == "int":
        return inner if inner.step.denominator == 1 else None
    if last in ("max", "min") and len(known) == 1 and len(rest) == 1:
        return _cut(inner, known[0], above=last == "max")
    return None


def _cut(inner: Seen | None, end: Fraction, *, above: bool) -> Seen | None:
    """What is seen of a number that is cut off at an end."""
    if not isinstance(inner, Grain):
        return None
    # The cut is at a rounded value, and ends of cells near it are left out.
    if above:
        return replace(inner, low=max(end + inner.step, inner.low) if inner.low is not None else end + inner.step)
    return replace(inner, high=min(end - inner.step, inner.high) if inner.high is not None else end - inner.step)


def _rounded(inner: Seen | None, form: str) -> Seen | None:
    """What is seen of a number in a format."""
    found = _FORMAT.fullmatch(form)
    if found is None or inner != "all":
        return None
    step = Fraction(10) ** -(int(found.group(1)) + (2 if found.group(2) == "%" else 0))
    return Grain(step, step / 2)
