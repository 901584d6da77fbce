"""What an expression of the source stands for: numbers of the core program, plain values, and references to objects of the heap."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

Kind: TypeAlias = Literal["int", "real", "bool", "str"]
"""The sorts of scalars; texts are compared for equality only, and stand for different whole numbers."""

UNKNOWN: Final = object()
"""The value of a scalar that is not a constant."""
_NAME: Final = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Scalar:
    """A number, truth value or text, by an expression over core names that keep their value."""

    code: str
    kind: Kind
    types: frozenset[str]  # the types that it may have in Python
    known: Any = UNKNOWN  # its value where that is a constant of the source
    tests: tuple[str, ...] | None = ()  # truth values that decide which type it has; None: nothing says
    public: bool = False  # whether public parameters alone decide it
    noisy: bool = False  # whether noise was added to it
    counts: bool = False  # whether it is a private number of records
    origin: str | None = None  # the assumed type that it has, such as "q" or "q.age"
    positive: bool = False  # whether it is above 0 for sure
    bits: int = 0  # for a whole number of numpy: how large it may become

    @property
    def is_known(self) -> bool:
        """True for a constant of the source."""
        return self.known is not UNKNOWN

    @property
    def firm(self) -> bool:
        """True where its type in Python is sure."""
        return len(self.types) == 1


@dataclass(frozen=True)
class Nothing:
    """None."""


@dataclass(frozen=True)
class Poison:
    """What has no one value here: reading it is refused."""

    why: str


@dataclass(frozen=True)
class Opaque:
    """What one place of the source computes of some values, and the core program does not: `site(*parts)`.

    It is put out as its parts, so equal parts and an equal site mean equal values, wherever it went in between.
    """

    site: str
    parts: tuple[Value, ...]
    sort: str = "other"  # "number" or "text" where that is sure


@dataclass(frozen=True)
class Tuple:
    """A tuple."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Record:
    """An instance of a frozen dataclass or named tuple."""

    owner: Class
    parts: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Row:
    """A record of the data whose fields use says, read by key or as attributes."""

    data: str
    parts: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Ref:
    """A reference to an object of the heap."""

    address: int


@dataclass(frozen=True)
class Entry:
    """The count of a private key in a dictionary that grows in this loop, and what is added to it."""

    address: int
    key: Scalar
    amount: Scalar | None = None
    read: int = 0  # how often something had grown when it was read
    form: str = "number"  # "list" where it is one that a value is appended to


@dataclass(frozen=True)
class Span:
    """A range."""

    start: Scalar
    stop: Scalar
    step: int


@dataclass(frozen=True)
class Place:
    """The place of a record in a list whose records come and go."""

    address: int
    source: Sequence  # the list when its length was taken
    element: Value
    count: Scalar | None = None  # how many records come before it, where the core program counts them


@dataclass(frozen=True)
class Short:
    """A list inside of a record: how long it is, and the elements that it has at its first places if it is that long."""

    size: Scalar
    items: tuple[Value, ...]
    whole: Scalar  # how long it was before something was cut off
    data: str  # the parameter that it belongs to
    cut: bool = False  # whether it has no more elements than are here


@dataclass(frozen=True)
class Builtin:
    """A module, or something in one, by its dotted name; functions of Python have no dot."""

    name: str


@dataclass(frozen=True)
class Function:
    """A function or lambda of the source, the frame around it, and what was evaluated where it was defined."""

    node: ast.FunctionDef | ast.Lambda
    frame: int
    defaults: tuple[tuple[str, Value], ...] = ()
    bound: Value | None = None


@dataclass(frozen=True)
class Partial:
    """A function with arguments that come before those of a call, and named ones."""

    function: Value
    args: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class Class:
    """A class of the source: the fields of a dataclass or named tuple, methods, and constants."""

    name: str
    style: str  # "frozen", "dataclass", "tuple" or "plain"
    fields: tuple[tuple[str, ast.expr, Value | None], ...]
    methods: tuple[tuple[str, Function, str], ...]  # the last says "property", "static" or ""
    constants: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Generator:
    """A generator of noise: "numpy" or "random"."""

    family: str


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the library with its parameters."""

    name: str
    parameters: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Piece:
    """A line over a uniform number, or a multiple of the logarithm of one."""

    start: Fraction
    slope: Fraction
    of_log: Fraction | None = None  # the multiple

    @property
    def is_constant(self) -> bool:
        """True for a line that is level."""
        return self.of_log is None and self.slope == 0


@dataclass(frozen=True)
class Curve:
    """What is made of a uniform number between 0 and 1: a piece below 1/2 and one above, times a factor."""

    address: int  # of the uniform number
    pieces: tuple[Piece, Piece]
    factor: Scalar | None = None


@dataclass(frozen=True)
class Infinity:
    """An infinite float, which is compared only."""

    positive: bool


@dataclass(frozen=True)
class Method:
    """A method of a value, not called yet."""

    owner: Value
    name: str


Value: TypeAlias = (
    Scalar | Nothing | Poison | Opaque | Tuple | Record | Row | Ref | Entry | Span | Place | Short | Builtin | Function | Partial
    | Class | Generator | Mechanism | Infinity | Curve | Method
)  # fmt: skip


@dataclass(frozen=True)
class Items:
    """A list or array whose length the source says."""

    items: tuple[Value, ...]
    form: str = "list"  # "list", "array" or "set"

    @property
    def shape(self) -> Any:
        """What must be the same for two to be merged."""
        return ("items", self.form, len(self.items))

    def cells(self) -> dict[Any, Value]:
        """Its parts."""
        return dict(enumerate(self.items))

    def made(self, cells: Mapping[Any, Value]) -> Items:
        """The same with other parts."""
        return replace(self, items=tuple(cells[place] for place in range(len(self.items))))


@dataclass(frozen=True)
class Dictionary:
    """A dictionary whose keys the source says."""

    entries: tuple[tuple[Any, Value], ...] = ()
    default: str = ""  # "int", "float" or "list" for a defaultdict, "counter" for a Counter

    @property
    def shape(self) -> Any:
        """What must be the same for two to be merged."""
        return ("dict", self.default, tuple((type(key), key) for key, _ in self.entries))

    def cells(self) -> dict[Any, Value]:
        """Its parts."""
        return dict(self.entries)

    def made(self, cells: Mapping[Any, Value]) -> Dictionary:
        """The same with other parts."""
        return replace(self, entries=tuple((key, cells[key]) for key, _ in self.entries))


@dataclass(frozen=True)
class Frame:
    """The names of a running function, of a comprehension or of the file."""

    names: Mapping[str, Value]
    known: frozenset[str]  # the names that it binds
    outer: int | None

    @property
    def shape(self) -> Any:
        """What must be the same for two to be merged."""
        return ("frame", self.outer)

    def cells(self) -> dict[Any, Value]:
        """Its parts."""
        return dict(self.names)

    def made(self, cells: Mapping[Any, Value]) -> Frame:
        """The same with other parts."""
        return replace(self, names=dict(cells))


@dataclass(frozen=True)
class Instance:
    """An instance of a class whose attributes may be assigned to."""

    owner: Class
    parts: Mapping[str, Value]

    @property
    def shape(self) -> Any:
        """What must be the same for two to be merged."""
        return ("instance", self.owner.name, tuple(self.parts))

    def cells(self) -> dict[Any, Value]:
        """Its parts."""
        return dict(self.parts)

    def made(self, cells: Mapping[Any, Value]) -> Instance:
        """The same with other parts."""
        return replace(self, parts=dict(cells))


@dataclass(frozen=True)
class _Whole:
    """An object that is one piece: two that differ are not merged."""

    @property
    def shape(self) -> Any:
        """What must be the same for two to be merged."""
        return self

    def cells(self) -> dict[Any, Value]:
        """Its parts."""
        return {}

    def made(self, _: Mapping[Any, Value]) -> Any:
        """The same with other parts."""
        return self


@dataclass(frozen=True)
class Sequence(_Whole):
    """Elements of which each is made in one round of a core loop: the loop's lines, and what the element is inside.

    The names that the lines assign are renamed each time that they are written. Where `index` is given, the loop goes through all
    places from 0 to `length` and keeps each.
    """

    lines: tuple[tuple[int, str, int], ...]
    depth: int  # of what is done with the element, from the loop on
    value: Value
    names: frozenset[str]
    length: Scalar | None = None
    index: str = ""
    private: bool = False
    form: str = "list"  # "list", "array", "any" where the source does not say, "iterator"
    once: bool = False  # whether it draws, and so may be gone through once
    base: str = ""  # what its loop goes through, where it keeps all of it
    head: int = 0  # how many of its lines make that loop

    @property
    def steady(self) -> bool:
        """True if public parameters alone decide how many elements there are."""
        return not self.private and self.index != "" and self.length is not None and self.length.public

    @property
    def place(self) -> str:
        """The core name that its loop counts with."""
        return str(self.lines[0][1]).split()[1]


@dataclass(frozen=True)
class Hollow(_Whole):
    """An array with one number for each column of a table, or the number 0 where the table has no rows."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Kinds(_Whole):
    """A set of private values."""

    source: Sequence


@dataclass(frozen=True)
class Ranked(_Whole):
    """A private list in order."""

    source: Sequence
    falling: bool = False


@dataclass(frozen=True)
class Counts(_Whole):
    """A dictionary of sums over records: sequences of pairs of a key and an amount."""

    pairs: tuple[Sequence, ...]
    default: str


@dataclass(frozen=True)
class Groups(_Whole):
    """A dictionary of lists of records: a sequence of pairs of a key and the 1-tuple of an element."""

    pairs: tuple[Sequence, ...]
    default: str


@dataclass(frozen=True)
class Output(_Whole):
    """A list that the core program appends to and returns; nothing reads it."""

    name: str
    form: str = "list"


@dataclass(frozen=True)
class Growing(_Whole):
    """A list or dictionary that a loop of the core program fills: in the loop it only grows."""

    before: Items | Dictionary


@dataclass(frozen=True)
class Iterator(_Whole):
    """What is gone through once and evaluated then: a generator expression or function, map, filter, zip, enumerate, reversed."""

    what: str
    parts: tuple[Value, ...] = ()
    node: ast.GeneratorExp | ast.FunctionDef | None = field(default=None, compare=False)
    frame: int = 0


@dataclass(frozen=True)
class Spent(_Whole):
    """An iterator that was gone through, or an object of which two branches made different things."""

    why: str


Object: TypeAlias = (
    Items
    | Dictionary
    | Frame
    | Instance
    | Sequence
    | Hollow
    | Kinds
    | Ranked
    | Counts
    | Groups
    | Output
    | Growing
    | Iterator
    | Spent
)


def names_in(code: str) -> set[str]:
    """The names in a text of the core program."""
    return set(_NAME.findall(code))


def renamed(code: str, names: Mapping[str, str]) -> str:
    """A text of the core program with other names."""
    return _NAME.sub(lambda found: names.get(found.group(), found.group()), code) if names else code


def mapped(value: Value, change: Callable[[Scalar], Value]) -> Value:
    """A value with other scalars; what is no plain value stays."""
    match value:
        case Scalar():
            return change(value)
        case Tuple(items):
            return Tuple(tuple(mapped(one, change) for one in items))
        case Record() | Row():
            return replace(value, parts=tuple((name, mapped(one, change)) for name, one in value.parts))
        case Opaque(parts=parts):
            return replace(value, parts=tuple(mapped(one, change) for one in parts))
        case Short(size, items, whole):
            sizes = [mapped(size, change), mapped(whole, change)]
            return replace(value, size=sizes[0], items=tuple(mapped(one, change) for one in items), whole=sizes[1])  # type: ignore[arg-type]
        case Place(element=element):
            return replace(value, element=mapped(element, change))
        case Curve(factor=Scalar() as factor):
            return replace(value, factor=mapped(factor, change))  # type: ignore[arg-type]
    return value


def with_names(value: Value, names: Mapping[str, str]) -> Value:
    """A value whose scalars have other core names."""

    def change(one: Scalar) -> Scalar:
        tests = None if one.tests is None else tuple(renamed(test, names) for test in one.tests)
        return replace(one, code=renamed(one.code, names), tests=tests)

    return mapped(value, change)
