"""The state while a function is read: the core program so far, and what a first reading found out for the next."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dpaudit.binding import STANDARD
from dpaudit.spec import LAWS
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.values import Fixed, Kind, Record, Scalar, Scope, Table, Value

_NAME: Final = re.compile(r"[^\W\d]\w*")
_RESERVED: Final = {*STANDARD, *LAWS, "and", "or", "not", "if", "else", "True", "False", "other", "ghost", "each"}


class Again(Exception):
    """Something was learned that changes what was written before: read again from the start."""


@dataclass
class Learned:
    """What readings found out, for the next one."""

    kinds: dict[str, Kind] = field(default_factory=dict)  # sorts of core names that hold whole and other numbers
    types: dict[str, str] = field(default_factory=dict)  # types that use says: of parameters, and of fields as "q.age"
    why: dict[str, str] = field(default_factory=dict)  # what said so
    fields: dict[str, list[str]] = field(default_factory=dict)  # the parts of rows that are read
    shapes: list[Any] = field(default_factory=list)  # the forms of returned values
    rounded: bool = False  # whether less may be put out than the core program does
    loose: set[str] = field(default_factory=set)  # core names of kind real that may hold an int in Python
    varies: set[str] = field(default_factory=set)  # core names of the source that are assigned to at several places
    untyped: int = 0  # the line where such a number is put out: its type may show the data
    reals: dict[str, int] = field(default_factory=dict)  # what makes the program one over real numbers, with the line
    noises: dict[str, int] = field(default_factory=dict)  # the generators of noise, with the line
    grown: set[tuple[int, int]] = field(default_factory=set)  # lists that are appended to in blocks: outputs
    outputs: tuple[str, ...] = ()  # outputs of the core program that it returns
    notes: list[str] = field(default_factory=list)  # what is assumed besides

    def forget(self) -> None:
        """Forget sorts of names that are no names of the source: another reading may use these names otherwise."""
        self.kinds = {name: kind for name, kind in self.kinds.items() if "__" not in name}
        self.loose = {name for name in self.loose if "__" not in name}
        self.varies = {name for name in self.varies if "__" not in name}
        self.untyped = 0

    def basis(self) -> str:
        """What the names of a reading depend on."""
        return repr((self.types, self.fields, self.shapes, sorted(self.grown), self.outputs))


@dataclass
class State:
    """One reading."""

    learned: Learned
    scope: Scope
    columns: dict[str, Any] = field(default_factory=dict)  # what the parameters became, by `records`
    lines: list[tuple[int, str, int]] = field(default_factory=list)  # indentation, text and line of the source
    depth: int = 1
    line: int = 0
    dead: bool = False
    loops: tuple[int, ...] = ()
    record_loops: int = 0  # how many of the loops around go through private records
    unrolled: bool = False  # whether the innermost loop is written out round by round
    names: set[str] = field(default_factory=set)  # every core name that was given
    captured: dict[str, str] = field(default_factory=dict)  # core names that something evaluated later reads
    assigned: set[str] = field(default_factory=set)  # core names of the source that were assigned to
    made: set[str] = field(default_factory=set)  # core names that are assigned to at one place: they keep their value
    varying: set[str] = field(default_factory=set)  # those of them that may change
    outputs: list[str] = field(default_factory=list)
    homes: dict[str, Scope] = field(default_factory=dict)  # the function that made each output list
    wraps: dict[str, tuple[str, str]] = field(
        default_factory=dict
    )  # for each output list what makes elements of its numbers, and their sort
    closed: set[str] = field(default_factory=set)  # output lists that something was computed of
    going: list[Value] = field(default_factory=list)  # collections that an unrolled loop goes through
    errors: dict[str, str] = field(default_factory=dict)  # the message of each exception that is raised
    texts: dict[str, int] = field(default_factory=dict)  # the number that stands for each text
    shapes: list[Any] = field(default_factory=list)
    public: set[str] = field(default_factory=set)  # core names that are public parameters and never assigned to
    draws: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**9)))
    call_depth: int = 0
    trying: int = 0
    lazy: int = 0  # how many comprehensions are read: Python may evaluate their elements later, or not at all
    frames: list[Scope] = field(default_factory=list)  # the functions that are being read, outermost first
    call: Any = None  # reads the call of a function of the source
    readers: Mapping[type, Callable[[State, Any], Value]] = field(default_factory=dict)  # for each kind of expression

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.at(node)
        read = self.readers.get(type(node))
        if read is None:
            raise refuse(node, f"`{ast.unparse(node)}`", "write it with numbers, lists, loops and calls that the verifier reads")
        return read(self, node)

    def emit(self, text: str) -> None:
        """Write a statement of the core program."""
        if not self.dead:
            self.lines.append((self.depth, text, self.line))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write a block of the core program."""
        self.emit(head)
        self.depth += 1
        size, dead = len(self.lines), self.dead
        try:
            yield
        finally:
            if len(self.lines) == size:
                self.lines.append((self.depth, "pass", self.line)) if not dead else None
            self.depth -= 1

    def at(self, node: ast.AST) -> None:
        """Statements from here on belong to the line of a node."""
        self.line = getattr(node, "lineno", self.line)

    def fresh(self, stem: str) -> str:
        """A core name that the source does not have."""
        while True:
            name = f"{stem}__{next(self.numbers)}"
            if name not in self.names and name not in _RESERVED:
                self.names.add(name)
                self.made.add(name)
                return name

    def varying_name(self, stem: str) -> str:
        """A core name that the source does not have, and which may change."""
        name = self.fresh(stem)
        self.varying.add(name)
        return name

    def keeps(self, code: str) -> bool:
        """True if a text of the core program means the same later on: it is made of parameters and names that keep their value."""
        return names_in(code) <= self.public | (self.made - self.varying)

    def held(self, node: ast.AST, found: Value, *, copy: bool = False) -> Value:
        """A value whose numbers are those of now, whatever is assigned to later: what collections and arguments are made of.

        Dictionaries stay what they are, since another name for one sees its changes; a copy sees none.
        """
        match found:
            case Scalar() if not found.is_known and not (self.keeps(found.code) and all(map(self.keeps, found.loose))):
                return self.temporary(node, "held", found)
            case Fixed(items=items):
                kept = tuple(self.held(node, one, copy=copy) for one in items)
                # The same list stays the same object, so that all its names see it grow.
                return found if all(one is old for one, old in zip(kept, items, strict=True)) else replace(found, items=kept)
            case Record():
                return replace(found, parts={name: self.held(node, one, copy=copy) for name, one in found.parts.items()})
            case Table() if copy:
                return Table({key: self.held(node, one, copy=copy) for key, one in found.cells.items()})
        return found

    @contextmanager
    def lazily(self) -> Iterator[None]:
        """Read what Python may evaluate later or never: it has no effects."""
        self.lazy += 1
        try:
            yield
        finally:
            self.lazy -= 1

    def may_change(self, node: ast.AST, home: Scope | None) -> None:
        """Refuse to change a list or dictionary of another function: no expression changes what was read before it."""
        if home is not None and home is not self.frames[-1]:
            raise refuse(node, "a change of a list or dictionary of another function", "return the new value", "DPA705")

    def store(self, node: ast.AST, name: str, value: Scalar) -> Scalar:
        """Assign a scalar to a core name."""
        if name in self.captured:
            raise teach(node, "changed later", f"a new value of {self.captured[name]}", self.captured[name], self.line)
        kind = self.learned.kinds.setdefault(name, value.kind)
        loose = value.loose
        if kind != value.kind:
            if {kind, value.kind} != {"int", "real"}:
                raise refuse(node, f"{name} is {kind} and {value.kind}", "a name keeps one type", "DPA703", self.line)
            if kind == "int":
                self.learned.kinds[name] = "real"
                self.real("whole and other numbers under one name")
                raise Again
            value = self.as_real(value)
            loose = ("?",)
        if loose and name not in self.learned.loose:
            self.learned.loose.add(name)
            raise Again
        if any(not self.keeps(code) for code in loose):
            loose = ("?",)
        self.names.add(name)
        self.emit(f"{name} = {value.code}")
        return Scalar(name, kind, value.known, counts_records=value.counts_records, noisy=value.noisy, loose=loose)

    def variable(self, name: str) -> Scalar:
        """What is known of a core name where several assignments to it may have been the last."""
        kind = self.learned.kinds[name]
        return Scalar(name, kind, loose=("?",) if name in self.learned.loose else ())

    def as_real(self, value: Scalar) -> Scalar:
        """A number where a real one is wanted."""
        if value.kind == "real":
            return value
        return Scalar(
            f"Fraction({value.code})",
            "real",
            value.known,
            counts_records=value.counts_records,
            noisy=value.noisy,
            loose=("?",),
        )

    def real(self, why: str) -> None:
        """Note that the proof is about real numbers."""
        self.learned.reals.setdefault(why, self.line)

    def temporary(self, node: ast.AST, stem: str, value: Scalar) -> Scalar:
        """A scalar under a new core name."""
        return self.store(node, self.fresh(stem), value)

    def text(self, value: str) -> Scalar:
        """A text as the number that stands for it."""
        number = self.texts.setdefault(value, len(self.texts))
        return Scalar(str(number), "str", value)

    def owe(self, test: str) -> None:
        """Let the proof owe that a condition is true here, where Python would raise an error that shows data."""
        self.store(ast.Pass(), self.fresh("owed"), Scalar(f"1 // (1 if {test} else 0)", "int"))

    def assume(self, origin: str | None, kind: str, why: str) -> None:
        """Use says what an assumed type is: read again with it."""
        if origin is not None and self.learned.types.get(origin) != kind:
            if origin in self.learned.types:
                return
            self.learned.types[origin] = kind
            self.learned.why[origin] = why
            raise Again

    def tried(self, write: Callable[[], object]) -> tuple[list[str], int, set[str]]:
        """Write into nothing: the texts, the number of draws, and the core names that are read but not assigned there."""
        saved = (
            self.lines,
            self.draws,
            self.depth,
            dict(self.captured),
            self.dead,
            dict(self.wraps),
            set(self.closed),
            set(self.assigned),
        )
        self.lines, self.dead = [], False
        self.trying += 1
        try:
            write()
            texts, drawn = [text for _, text, _ in self.lines], self.draws - saved[1]
        finally:
            self.trying -= 1
            self.lines, self.draws, self.depth, self.captured, self.dead, self.wraps, self.closed, self.assigned = saved
        written = {found.group() for text in texts if (found := re.match(r"([^\W\d]\w*)(?= = )|(?<=for )\w+", text))}
        written |= {found.group(1) for text in texts if (found := re.match(r"for (\w+) in ", text))}
        reads = {name for text in texts for name in _NAME.findall(text)} - written - _RESERVED
        return texts, drawn, reads


def core_name(state: State, name: str, scope: Scope) -> str:
    """The core name of a name of the source."""
    wanted = f"{scope.prefix}{name}"
    if name not in scope.cores and (wanted in _RESERVED or not name.isidentifier() or name.startswith("_")):
        scope.cores[name] = state.varying_name("own")
    return scope.cores.get(name, wanted)


def is_bound(scope: Scope | None, name: str) -> bool:
    """True if a block around assigns to a name, which then means no builtin."""
    return scope is not None and (name in scope.stores or is_bound(scope.outer, name))


def names_in(code: str) -> set[str]:
    """The names in a text of the core program."""
    return set(_NAME.findall(code)) - _RESERVED
