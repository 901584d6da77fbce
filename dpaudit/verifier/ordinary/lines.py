"""What a reading writes and remembers: lines of the core program, its open loops, and what use said about parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dpaudit.verifier.ordinary.values import Object, Scalar, Sequence, mapped, names_in

SHOWN: Final = "shown__0"
"""The output list of what is printed."""
_ASSIGNED: Final = re.compile(r"(?:for )?([^\W\d]\w*) (?:=|in) ")


class Again(Exception):
    """Use said what a parameter holds: read again from the start."""


@dataclass
class Learned:
    """What use said about parameters, for the next reading."""

    types: dict[str, str] = field(default_factory=dict)  # of parameters, and of fields as "q.age"
    why: dict[str, str] = field(default_factory=dict)  # what said so
    fields: dict[str, list[str]] = field(default_factory=dict)  # the parts of rows that are read
    made: dict[str, dict[str, Any]] = field(default_factory=dict)  # for each list the fields that are made of texts


@dataclass(frozen=True)
class Released:
    """A line that puts values out: a return, an append to an output list, or what is printed."""

    channel: str  # "" for a return
    form: tuple[Any, ...]
    slots: tuple[Scalar, ...]


Line = tuple[int, Any, int]
"""Depth, text or `Released`, and line of the source."""


@dataclass
class Loop:
    """A loop of the core program whose body is interpreted."""

    private: bool
    start: int  # where its lines begin
    depth: int
    before: Mapping[int, Object]
    public: bool = False  # whether the number of its rounds is
    grown: dict[int, list[tuple[Any, Sequence | None]]] = field(default_factory=dict)
    breaks: list[Mapping[int, Object]] = field(default_factory=list)
    leave: Callable[[], None] | None = None  # writes what a break leaves behind
    phis: set[str] = field(default_factory=set)  # core names that each round may change
    lines: list[Line] = field(default_factory=list)  # those of the last round
    tests: int = 0  # how many tests around it are not public
    broken: bool = False  # whether it, or a loop in it, may be left by a break
    leaves: bool = False  # whether a test that is not public may end it before its time


def as_kind(value: Scalar, kind: str) -> str:
    """The code of a number where a real one may be wanted."""
    return f"Fraction({value.code})" if kind == "real" and value.kind == "int" else value.code


def assigned_in(lines: list[Line] | tuple[Line, ...]) -> frozenset[str]:
    """The core names that lines assign to, loop counters included."""
    found = (_ASSIGNED.match(text) for _, text, _ in lines if isinstance(text, str))
    return frozenset(one.group(1) for one in found if one)


def core_names(value: Any) -> set[str]:
    """The core names that a value is made of."""
    found: set[str] = set()

    def look(one: Scalar) -> Scalar:
        found.update(names_in(one.code), *(names_in(test) for test in one.tests or ()))
        return one

    mapped(value, look)
    return found
