"""The line of the user's code, or of a library, at which two runs with equal random numbers part: traced without any value."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.records import same
from dpaudit.blame import ADAPTERS, is_installed, is_library

_MOST_EVENTS: Final = 20_000
"""Lines that are followed; where runs part later than that, the line says little."""
_COMPREHENSIONS: Final = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")
_PLAIN: Final = (int, float, bool, str, np.number, np.bool_)
_SMALL: Final = 256

Place = tuple[str, int]


@dataclass(frozen=True)
class Step:
    """A line that a run met, the plain numbers and texts that were known there, and whether a loop led to it."""

    code: CodeType
    line: int
    known: dict[str, Any]
    looped: bool

    @property
    def place(self) -> Place:
        """File and line."""
        return self.code.co_filename, self.line


@dataclass
class Trace:
    """Steps of one run, in order."""

    steps: list[Step] = field(default_factory=list)
    adapted: bool = False
    """Whether an adapter of this package called what ran."""

    @property
    def full(self) -> bool:
        """True if the run may have gone on."""
        return len(self.steps) >= _MOST_EVENTS


@contextmanager
def traced(*, libraries: bool = False) -> Iterator[Trace]:
    """Trace this thread through code that is the user's own, or that of libraries; a debugger's trace goes on afterwards."""
    trace, before = Trace(), sys.gettrace()
    is_followed = is_library if libraries else _is_own

    def follow(frame: FrameType, event: str, given: Any) -> Any:
        file = frame.f_code.co_filename
        trace.adapted = trace.adapted or file.startswith(ADAPTERS)
        if trace.full or not is_followed(file):
            return None
        if event in ("line", "return"):
            trace.steps.append(_step_of(frame, given if event == "return" else None))
        return follow

    sys.settrace(follow)
    try:
        yield trace
    finally:
        sys.settrace(before)


def _is_own(file: str) -> bool:
    """True if code is the user's own."""
    return not is_installed(file)


def _step_of(frame: FrameType, returned: Any) -> Step:
    """Return a step; arguments are left out, since they are the data and known to differ."""
    code = frame.f_code
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known: dict[str, Any] = {name: one for name, one in frame.f_locals.items() if name not in arguments and isinstance(one, _PLAIN)}
    if isinstance(returned, _PLAIN) or (isinstance(returned, np.ndarray) and returned.size <= _SMALL):
        known["return"] = returned
    return Step(code, frame.f_lineno, known, _is_looped(frame))


def _is_looped(frame: FrameType | None) -> bool:
    """True if a loop or a comprehension of the user's code is around a line, or around a call that led to it."""
    while frame is not None and (_is_own(frame.f_code.co_filename) or is_library(frame.f_code.co_filename)):
        if frame.f_code.co_name in _COMPREHENSIONS or frame.f_lineno in _loops_of(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def parting_line(first: Trace, second: Trace, *, sign: str) -> Place | None:
    """Return file and line at which two runs part, by a sign: where other lines follow, or where a value differs if that is before.

    `sign` is "value"; "branch" where values are to be left aside; or "loop" for branches that may belong to a loop. A loop over
    records takes another number of rounds on each dataset, so that its lines say nothing unless a loop is looked for.
    """
    if first.full or second.full:
        return None
    paths = [[place for place, step in enumerate(trace.steps) if sign == "loop" or not step.looped] for trace in (first, second)]
    for here, there in zip(*paths, strict=False):
        one, other = first.steps[here], second.steps[there]
        if (one.code, one.line) != (other.code, other.line):
            return _before(first, here)
        if sign == "value" and _differs(one.known, other.known):
            return one.place if "return" in one.known and not _differs_but_return(one, other) else _before(first, here)
    shorter = min(paths, key=len)
    if not shorter or len(paths[0]) == len(paths[1]):
        return None
    return (first if shorter is paths[0] else second).steps[shorter[-1]].place


def _differs(here: dict[str, Any], there: dict[str, Any]) -> bool:
    """True if a variable that both runs know differs."""
    return any(name in there and not same(value, there[name]) for name, value in here.items())


def _differs_but_return(one: Step, other: Step) -> bool:
    """True if more than the returned value differs."""
    return _differs({name: value for name, value in one.known.items() if name != "return"}, other.known)


def _before(trace: Trace, place: int) -> Place | None:
    """The line that came before a step in the same function, else just before; None at the start."""
    earlier = [step for step in trace.steps[:place] if step.code is trace.steps[place].code] or trace.steps[:place]
    return earlier[-1].place if earlier else None


@lru_cache(maxsize=64)
def _loops_of(file: str) -> frozenset[int]:
    """Lines of a file at which a loop or a comprehension begins or that it spans."""
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    spans = [(node.lineno, node.end_lineno or node.lineno) for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While))]
    return frozenset(line for first, last in spans for line in range(first, last + 1))
