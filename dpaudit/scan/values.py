"""Values: what is known of a number without running anything, and the events that rules look at."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final

DATA: Final = "data"
"""Depends on private records."""
EXTREME: Final = "extreme"
"""The largest, smallest or typical value of private data, or made of one."""
COUNT: Final = "count"
"""A number of records, without noise."""
SUM: Final = "sum"
"""A sum over records."""
SELECTED: Final = "selected"
"""Made of chosen records."""
ELEMENT: Final = "element"
"""One record of many."""
KEYS: Final = "keys"
"""Has a part for each key that occurs in the data."""
MANY: Final = "many"
"""Surely several numbers."""
NOISE: Final = "noise"
"""Noise alone."""
NOISY: Final = "noisy"
"""Released with noise."""
FOLDED: Final = "folded"
"""Noise whose sign or tails were cut."""
UNIFORM: Final = "uniform"
"""A uniform draw, of which noise may be made."""
CLIPPED: Final = "clipped"
"""Within bounds, or of bounded norm."""
LOCAL: Final = "local"
"""Each record has its own noise."""


@dataclass(frozen=True)
class Draw:
    """A draw of noise: its law, its scale with definitions put in, and which generator it comes from.

    `source` is "numpy", "random", "scipy", "torch", "tensorflow", "system", "given" (a parameter), or "helper" for a function of
    the same file that draws; `seed` is the line of a constant seed of this very generator; `several` says that it has a size.
    """

    node: ast.Call
    line: int
    law: str
    scale: ast.expr | None
    source: str
    several: bool
    loops: tuple[Loop, ...]
    seed: int | None = None
    scale_line: int | None = None
    scale_tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Loop:
    """A loop around a statement: its node, the names that it sets, and what is known of what it runs over."""

    node: ast.AST
    names: frozenset[str]
    over: Value


@dataclass(frozen=True)
class Value:
    """What is known of a value: its tags, its expression, the draws in it, and the line at which an extreme was taken."""

    tags: frozenset[str] = frozenset()
    expr: ast.expr | None = None
    draws: frozenset[int] = frozenset()
    line: int | None = None
    generator: tuple[str, int | None] | None = None
    origin: str = ""

    def has(self, *tags: str) -> bool:
        """True if one of the tags is there."""
        return any(tag in self.tags for tag in tags)


@dataclass(frozen=True)
class Addition:
    """A value to which noise is added."""

    node: ast.AST
    line: int
    base: Value
    noise: Value
    loops: tuple[Loop, ...]
    base_text: str


@dataclass(frozen=True)
class Division:
    """A quotient."""

    line: int
    left: Value
    right: Value


@dataclass(frozen=True)
class Clip:
    """A value that is clipped to bounds, or to a norm."""

    line: int
    value: Value
    bounds: tuple[Value, ...]


@dataclass(frozen=True)
class Called:
    """A call, with the full name of what is called and what is known of its arguments."""

    node: ast.Call
    line: int
    name: str
    arguments: tuple[Value, ...]
    named: dict[str, Value]
    private: bool
    loops: tuple[Loop, ...]


@dataclass(frozen=True)
class Assigned:
    """A name that is given a value."""

    name: str
    line: int
    value: Value
    loops: tuple[Loop, ...]
    tests: frozenset[str]


@dataclass
class Scope:
    """What happens in one function, or at the top of a file: events in order."""

    name: str
    node: ast.AST
    parameters: dict[str, ast.expr | None]
    owner: str = ""
    draws: dict[int, Draw] = field(default_factory=dict)
    additions: list[Addition] = field(default_factory=list)
    divisions: list[Division] = field(default_factory=list)
    clips: list[Clip] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    assigned: list[Assigned] = field(default_factory=list)
    compared: set[int] = field(default_factory=set)
    returned: list[Value] = field(default_factory=list)


@dataclass(frozen=True)
class Helper:
    """A function of the same file that returns noise, or its argument with noise: a mechanism that its callers use."""

    parameters: tuple[str, ...]
    defaults: dict[str, ast.expr]
    noisy: bool
    law: str
    scale: ast.expr | None
    several: bool
    private: bool
