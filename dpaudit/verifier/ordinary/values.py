"""What names stand for while a function is read: numbers of the core program, sequences, tables, functions, generators of noise."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Kind: TypeAlias = Literal["int", "real", "bool", "str"]
"""The sorts of scalars; texts are compared for equality only, and stand for different whole numbers."""

UNKNOWN: Final = object()
"""The value of a scalar that is not a constant."""


@dataclass(frozen=True)
class Scalar:
    """A number, truth value or text, by the expression of the core program that gives it."""

    code: str
    kind: Kind
    known: Any = UNKNOWN  # its value where that is a constant of the source
    origin: str | None = None  # the assumed type that it has, such as "q" or "q.age"
    counts_records: bool = False  # whether it is a private number of records
    noisy: bool = False  # whether noise was added to it
    loose: tuple[str, ...] = ()  # truth values that decide whether a real one is an int or a float in Python; "?": nothing says
    now: Any = UNKNOWN  # the constant that was assigned to this name last

    @property
    def is_known(self) -> bool:
        """True for a constant of the source."""
        return self.known is not UNKNOWN


@dataclass(frozen=True)
class Nothing:
    """None."""


@dataclass(frozen=True)
class Opaque:
    """What one place of the source computes of some values, and the core program does not: `site(*parts)`.

    It is put out as its parts, so equal parts and an equal site mean equal values, wherever it went in between.
    """

    site: str
    parts: tuple[Value, ...]
    sort: str = "other"  # "number" or "text" where that is sure


@dataclass(frozen=True, eq=False)
class Fixed:
    """A list, tuple or array whose length the source says."""

    items: tuple[Value, ...]
    shape: str = "list"
    place: tuple[int, int] = (0, 0)  # where the source writes it
    block: tuple[object, ...] = ()  # the block in which it was made, in which alone it may grow
    home: Scope | None = None  # the function that made it, which alone may change it


@dataclass(frozen=True)
class Record:
    """A value with named parts: a row, a frozen dataclass, a named tuple."""

    parts: Mapping[str, Value]
    owner: Class | None = None
    missing: Callable[[str, ast.AST], Value] | None = None  # finds a part of a row whose fields are not declared


@dataclass(frozen=True)
class Output:
    """A list of the core program that is only appended to."""

    name: str
    shape: str = "list"


@dataclass(frozen=True)
class Module:
    """A module that the source imports, or something in one, by its dotted name."""

    name: str


@dataclass(frozen=True)
class Function:
    """A function of the source, the names around it, and what `self` is."""

    tree: ast.FunctionDef | ast.Lambda
    scope: Scope
    bound: Value | None = None


@dataclass(frozen=True)
class Class:
    """A frozen dataclass or named tuple of the source: name, annotation and default of each field."""

    tree: ast.ClassDef
    fields: tuple[tuple[str, ast.expr, ast.expr | None], ...]
    scope: Scope
    ordered: bool = False


@dataclass(frozen=True)
class Generator:
    """A generator of noise: "numpy" or "random"."""

    family: str


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the library with its parameters."""

    name: str
    parameters: Mapping[str, Value]


@dataclass(frozen=True)
class Method:
    """A method of a value, not called yet."""

    owner: Value
    name: str


@dataclass(frozen=True)
class Noises:
    """Noise in an array: it is drawn for one element after the other."""

    length: Scalar
    draw: Callable[[], Scalar]
    loops: tuple[int, ...] = ()  # around the place where it was made
    used: list[int] = field(default_factory=list)  # not empty once it was added to something


@dataclass(frozen=True)
class Uniform:
    """A uniform number between 0 and 1, which may be compared once with a probability."""


@dataclass
class Table:
    """A dictionary whose keys are constants of the source, which get new ones only in the block where it was made."""

    cells: dict[Any, Value] = field(default_factory=dict)
    block: tuple[object, ...] = ()
    home: Scope | None = None


@dataclass
class Counts:
    """A dictionary whose entries are sums over records: pairs of a key and an amount, of data that do not change."""

    pairs: Value | None
    total: bool  # whether a key that is not there gives 0, instead of an error
    fresh: bool = True  # whether nothing was read from it yet
    block: tuple[object, ...] = ()
    home: Scope | None = None


@dataclass
class Scope:
    """The names of a block of the source, and those around it."""

    names: dict[str, Value]
    outer: Scope | None = None
    prefix: str = ""
    stores: Mapping[str, int] = field(default_factory=dict)  # how often each name is assigned to
    body: list[ast.stmt] = field(default_factory=list)  # of the function that it belongs to
    cores: dict[str, str] = field(default_factory=dict)  # core names that are not the name with the prefix

    def find(self, name: str) -> Value | None:
        """The value of a name."""
        if name in self.names or name in self.stores or self.outer is None:
            return self.names.get(name)
        return self.outer.find(name)


@dataclass(frozen=True, eq=False)
class Base:
    """Something that a loop goes through: writes the loop, and hands each element to what is done with it."""

    each: Callable[[Callable[[Value], None]], None]
    length: Scalar | None = None  # where it is public
    private: bool = False  # whether it goes through private records that come and go
    nested: bool = False  # whether it writes several loops, or rounds one after the other: no jump leaves it rightly
    at: Callable[[ast.AST, Scalar], Value] | None = None  # the element at a place from 0 on, which is owed to be inside


@dataclass
class Sequence:
    """The elements of a base that are kept, each as something made of it."""

    base: Base
    element: Callable[[Value], Value] = lambda value: value
    keep: Callable[[Value], Scalar] | None = None
    shape: str = "list"  # "list", "array", "any" where the source does not say, "iterator" for what can be gone through once


Value: TypeAlias = (
    Scalar | Nothing | Opaque | Fixed | Record | Output | Module | Function | Class | Generator | Mechanism | Method | Noises
    | Uniform | Table | Counts | Sequence
)  # fmt: skip
