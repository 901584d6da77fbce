"""From a counterexample that is proven to one that is likely: the event that sampling shows in the fewest runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ir import Program
from dpaudit.verifier.refuter.events import Box, Event
from dpaudit.verifier.refuter.neighbours import InputPair, admissible
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.witness import Witness, weighed

SECONDS: Final = 5.0
MOST_RUNS: Final = 10**7
"""The most runs for which an event is worth sampling."""
_STEPS: Final = (Fraction(1), Fraction(-1))


def likely(program: Program, witness: Witness, *, seconds: float = SECONDS) -> Witness | None:
    """The witness of the same program that takes the fewest runs to see, found by changing one thing at a time.

    Boxes grow on either side, and lists and scalar parameters move in both datasets alike. Every step is certified, so that what
    comes back breaks the claim as surely as what came in.
    """
    deadline, best = time.process_time() + seconds, witness
    better: Witness | None = witness
    while better is not None:
        best, better = better, None
        for pair, event in _around(best):
            if time.process_time() > deadline:
                break
            found = _judged(program, pair, event)
            if found is not None and found.runs < (better or best).runs:
                better = found
    return best if best.runs <= MOST_RUNS else None


def _judged(program: Program, pair: InputPair, event: Event) -> Witness | None:
    """The witness that a pair and an event are, if they are one."""
    try:
        return weighed(program, pair, event).witness if admissible(program, pair) else None
    except (Undecided, ArithmeticError, IndexError):
        return None


def _around(witness: Witness) -> Iterator[tuple[InputPair, Event]]:
    """Pairs and events that differ in one thing; none for a space, which has no neighbours."""
    pair, event = witness.pair, witness.event
    if not isinstance(event, Event):
        return
    for place in range(len(event.values)):
        yield from ((pair, changed) for changed in _wider(event, place))
    for name, value in pair.first.items():
        for step in (*_STEPS, *(() if isinstance(value, tuple) else (value, -value / 2))):
            if type(value) in {tuple, int, Fraction}:
                sides = ({**side, name: _moved(side[name], step)} for side in (pair.first, pair.second))
                yield InputPair(*sides), event


def _moved(value: Any, step: Fraction) -> Any:
    """A value, or every element of a list, moved by a step; whole numbers stay whole."""
    if isinstance(value, tuple):
        return tuple(_moved(item, step) for item in value)
    return value if isinstance(value, bool) else value + (int(step) if isinstance(value, int) else step)


def _wider(event: Event, place: int) -> Iterator[Event]:
    """Events in which the boxes of one output, alone or all of a list, reach twice or nine times as far on one side."""
    value = event.values[place]
    parts = value if isinstance(value, tuple) else (value,)
    for which in (*((index,) for index, leaf in enumerate(parts) if isinstance(leaf, Box)), tuple(range(len(parts)))):
        for down, up in ((1, 0), (0, 1), (8, 0), (0, 8)):
            grown = tuple(
                Box(leaf.low - down * (leaf.high - leaf.low), leaf.high + up * (leaf.high - leaf.low))
                if isinstance(leaf, Box) and index in which
                else leaf
                for index, leaf in enumerate(parts)
            )
            if grown != parts:
                changed = grown if isinstance(value, tuple) else grown[0]
                yield replace(event, values=(*event.values[:place], changed, *event.values[place + 1 :]))
