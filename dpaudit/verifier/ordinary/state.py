"""The state while a function is interpreted: the heap, the core program so far, and how ways through the source part and meet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dpaudit.binding import STANDARD
from dpaudit.errors import Unsupported
from dpaudit.spec import LAWS
from dpaudit.verifier.ordinary.lines import Again, Learned, Line, Loop, Released, as_kind
from dpaudit.verifier.ordinary.raising import unsafe
from dpaudit.verifier.ordinary.reaching import references
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Frame,
    Groups,
    Items,
    Nothing,
    Object,
    Opaque,
    Output,
    Poison,
    Ranked,
    Record,
    Ref,
    Scalar,
    Sequence,
    Spent,
    Tuple,
    Value,
    renamed,
    with_names,
)

_RESERVED: Final = {*STANDARD, *LAWS, "and", "or", "not", "if", "else", "True", "False", "other", "ghost", "each", "spent"}
_SAVED: Final = ("lines", "depth", "line", "dead", "private_tests", "record_loops", "frame", "calls")
_COPIED: Final = ("heap", "loops", "raises", "returns", "ensured", "met", "exponents")
_MOST_LINES: Final = 3000
_MOST_STEPS: Final = 40_000
_MOST_TESTS: Final = 4
"""The most tests on one side that decide the type of a number."""


_EMPTY: Final = {"int": "0", "real": "Fraction(0)", "bool": "False", "str": "0"}
"""What a name has on the way on which nothing reads it."""


def _is_firm_number(found: Any) -> bool:
    """True for a number of one type."""
    return isinstance(found, Scalar) and found.firm and found.kind in ("int", "real")


@dataclass(frozen=True)
class Parts:
    """The parts of the interpreter that call each other in turn, each known to the others by what it does."""

    value: Callable[[State, ast.expr], Value]  # evaluates an expression
    attribute: Callable[[State, ast.AST, Value, str], Value]
    truth: Callable[[State, ast.AST, Value], Scalar]
    operated: Callable[[State, ast.AST, ast.operator, Value, Value], Value]  # an operation on two values
    call: Callable[[State, ast.AST, Value, list[Value], dict[str, Value]], Value]
    returned: Callable[[State, ast.FunctionDef], Value]  # interprets the body of a function
    bind: Callable[[State, ast.expr, Value], None]  # assigns to a target
    masked: Callable[[State, ast.AST, Ref, Ref], Value]  # selects elements of an array
    grouped: Callable[[State, ast.AST, Groups, Scalar, Value | None], Value]  # the list of a key
    ranked: Callable[[State, ast.AST, Ranked, Value], Value]  # an element of a private list in order
    append: Callable[[State, ast.AST, Output, Value], None]  # lets an output list grow
    record_at: Callable[[State, ast.AST, Sequence, Value], Value]  # a record by its place
    entered: Callable[[State, ast.AST, Ref, Scalar, Value], bool]  # an entry of a key that occurs
    element: Callable[[State, ast.AST, Value, Value], Value]  # an element by key or place


@dataclass
class State:
    """One reading."""

    learned: Learned
    parts: Parts
    heap: dict[int, Object] = field(default_factory=dict)  # never changed in place: another object takes the address
    lines: list[Line] = field(default_factory=list)
    depth: int = 1
    line: int = 0
    dead: bool = False  # whether the core program ended on this way
    private_tests: int = 0  # how many of the tests and loops around are not public
    record_loops: int = 0
    loops: list[Loop] = field(default_factory=list)
    arms: list[list[Line]] = field(default_factory=list)  # what is written before and around the way that is gone
    frame: int = 0
    calls: int = 0
    steps: int = 0
    global_frame: int = 0
    shared: frozenset[int] = frozenset()  # objects that outlive the call
    reserved: set[str] = field(default_factory=set)  # core names that were given
    outputs: dict[str, list[Released]] = field(default_factory=dict)  # what each output list gets
    returns: list[Released] = field(default_factory=list)
    returned: dict[Any, list[Value]] = field(default_factory=dict)  # the values that returns of each form have
    formats: dict[Opaque, str] = field(default_factory=dict)  # texts with one value in them, and its format
    raises: dict[str, tuple[str, str]] = field(default_factory=dict)  # core exception and that of the source
    texts: dict[str, int] = field(default_factory=dict)
    reals: dict[str, int] = field(default_factory=dict)  # what makes the program one over real numbers, with the line
    noises: dict[str, int] = field(default_factory=dict)  # the generators of noise, with the line
    notes: list[str] = field(default_factory=list)
    rounded: bool = False  # whether less may be put out than the core program does
    untyped: int = 0  # the line where a number is put out whose type may show the data
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**9)))
    main: Any = None  # the function that is read
    scopes: Any = None  # the names that functions bind
    exponents: dict[Opaque, int] = field(default_factory=dict)  # exponentials that nothing has chosen by yet, with the line
    lenient: bool = False  # whether what shows records is read too, so that only counterexamples count
    unordered: bool = False  # whether a set is gone through, whose order nothing says
    distinct: set[tuple[int, str]] = field(default_factory=set)  # keys that come once in a loop, with its depth
    entered: set[int] = field(default_factory=set)  # dictionaries whose entries are put out one by one
    draining: int = 0  # whether all elements of something are made at once
    callee: str = ""  # what was called last
    main_frame: int = 0
    true: list[str] = field(default_factory=list)  # tests that hold on this way
    cells: dict[str, tuple[int, str, Object]] = field(default_factory=dict)  # entries that were read, by their code
    ensured: set[tuple[int, str, str]] = field(default_factory=set)  # keys that a growing dictionary has in this round
    facts: dict[str, bool] = field(default_factory=dict)  # tests that the specification decides
    nonempty: set[str] = field(default_factory=set)  # lists that are required to have an element
    parameters: set[str] = field(default_factory=set)  # public parameters that are no lists
    sizes: dict[str, tuple[int, Sequence]] = field(default_factory=dict)  # for each private length its list, as it was then
    columns: dict[str, tuple[str, str]] = field(default_factory=dict)  # how a record reads a list of the core, and its place
    matrices: set[str] = field(default_factory=set)  # lists that are passed as arrays with columns
    fields: dict[str, tuple[str, str]] = field(default_factory=dict)  # the parameter and field of a list of the core
    words: dict[int, str] = field(default_factory=dict)  # texts that random data have, by the numbers that stand for them
    ends: dict[str, tuple[str, str]] = field(default_factory=dict)  # public ends between which all values of a list lie
    fractions: bool = False  # whether the file makes fractions
    annotated: bool = False  # whether the function could not be defined without the name Fraction
    met: set[str] = field(default_factory=set)  # names without meaning in the file that every run has read by here
    generators: frozenset[ast.FunctionDef] = frozenset()  # functions of the file that yield
    yielded: list[Ref] = field(default_factory=list)  # what each of them that runs has yielded so far

    def fresh(self, stem: str) -> str:
        """A core name that nothing else has."""
        while True:
            name = f"{stem}__{next(self.numbers)}"
            if name not in self.reserved:
                self.reserved.add(name)
                return name

    def emit(self, text: str | Released) -> None:
        """Write a statement of the core program."""
        self.lines.append((self.depth, text, self.line))
        if len(self.lines) > _MOST_LINES:
            raise refuse(ast.Pass(), "this function, whose core program grows too long,", "split it", "DPA706", self.line)

    def step(self, node: ast.AST) -> None:
        """Count a step, and let statements from here on belong to the line of a node."""
        self.line = getattr(node, "lineno", self.line)
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise refuse(node, "this function, which runs too long,", "loop over less", "DPA706")

    def keep(self, stem: str, value: Scalar) -> Scalar:
        """A scalar under a core name of its own: it is evaluated here."""
        name = self.fresh(stem)
        self.emit(f"{name} = {value.code}")
        return replace(value, code=name)

    def owe(self, test: str) -> None:
        """Let the proof owe that a condition is true here."""
        if test != "True" and test not in self.true:
            self.emit(f"{self.fresh('owed')} = 1 // (1 if {test} else 0)")

    def real(self, why: str) -> None:
        """Note that the proof is about real numbers."""
        self.reals.setdefault(why, self.line)

    def text(self, value: str) -> Scalar:
        """A text as the number that stands for it."""
        number = self.texts.setdefault(value, len(self.texts))
        return Scalar(str(number), "str", frozenset({"str"}), value, public=True)

    def assume(self, origin: str | None, kind: str, why: str) -> None:
        """Use says what an assumed type is: read again with it."""
        if origin is not None and origin not in self.learned.types:
            self.learned.types[origin] = kind
            self.learned.why[origin] = why
            raise Again

    # Expressions.

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        return self.parts.value(self, node)

    def truth(self, node: ast.AST, found: Value) -> Scalar:
        """The truth of a value."""
        return self.parts.truth(self, node, found)

    def test(self, node: ast.expr) -> Scalar:
        """An expression as a condition."""
        return self.truth(node, self.value(node))

    def call(self, node: ast.AST, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
        """The value of a call."""
        return self.parts.call(self, node, function, args, named)

    def bind(self, target: ast.expr | str, found: Value) -> None:
        """Assign a value to a target, or to a name."""
        self.parts.bind(self, ast.Name(target, ast.Store()) if isinstance(target, str) else target, found)

    # The heap.

    def channel(self) -> Output:
        """A new output list."""
        name = self.fresh("out")
        self.outputs[name] = []
        return Output(name)

    def taken(self, node: ast.AST, address: int, found: Sequence) -> Sequence:
        """A sequence that is gone through now: one that draws only once."""
        if found.once or found.form == "iterator":
            if self.loops and found.once and address in self.loops[-1].before:
                raise refuse(node, "noise that is drawn in a loop and was made before it", "draw inside the loop", "DPA706")
            drawn = "a list of noise, which is drawn where it is gone through,"
            self.heap[address] = Spent("an iterator that was gone through before" if found.form == "iterator" else drawn)
        return found

    def new(self, made: Object) -> Ref:
        """A new object; elements of which one may raise are gone through here, as Python makes them here."""
        for one in unsafe(made, self.so_far, self.parameters, self.loops, private=self.private_tests > 0):
            if one.once and self.lenient:
                continue  # what fails is no counterexample
            if one.once:
                raise refuse(ast.Pass(), "a list of noise that may fail", "compute its parts before", "DPA706", self.line)
            depth = self.depth
            self.opened(ast.Pass(), one)
            self.emit("pass")
            self.depth = depth
        address = next(self.numbers)
        self.heap[address] = made
        return Ref(address)

    def object(self, found: Ref) -> Object:
        """The object that a reference leads to."""
        return self.heap[found.address]

    def change(self, node: ast.AST, address: int, made: Object) -> None:
        """Let another object take an address."""
        if address in self.shared:
            raise teach(node, "mutation", "a change of something that outlives the call")
        self.heap[address] = made

    def so_far(self) -> list[Line]:
        """All lines up to here, with the heads of the blocks that are open."""
        return [line for part in (*self.arms, self.lines) for line in part]

    def leave(self) -> None:
        """The way ends here; loops that it leaves may have gone on."""
        self.dead = True
        for loop in self.loops:
            loop.leaves = loop.leaves or self.private_tests > loop.tests

    def changed(self, before: Mapping[int, Object], *free: int) -> bool:
        """True if an object from before is another now, but for some addresses."""
        return any(self.heap[address] is not one for address, one in before.items() if address not in free)

    def grown(self) -> int:
        """How often something grew in the loops around, or a loop was left."""
        return sum(sum(map(len, loop.grown.values())) + len(loop.breaks) for loop in self.loops)

    # Ways.

    def is_always(self) -> bool:
        """True where no test, loop or comprehension is around, and no test that may be private lies before."""
        return self.frame == self.main_frame and not (self.private_tests or self.arms or self.loops)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Try something of which nothing remains."""
        saved = {one: getattr(self, one) for one in _SAVED}
        copies = {one: type(getattr(self, one))(getattr(self, one)) for one in _COPIED}
        outputs = {name: list(found) for name, found in self.outputs.items()}
        grown = [{key: list(found) for key, found in loop.grown.items()} for loop in self.loops]
        breaks = [list(loop.breaks) for loop in self.loops]
        flags = self.rounded, self.untyped
        self.lines = list(self.lines)
        try:
            yield
        finally:
            for name, value in {**saved, **copies}.items():
                setattr(self, name, value)
            self.outputs, (self.rounded, self.untyped) = outputs, flags
            for loop, one, other in zip(self.loops, grown, breaks, strict=True):
                loop.grown, loop.breaks = one, other

    @contextmanager
    def private(self, secret: bool) -> Iterator[None]:  # noqa: FBT001 - whether the test is
        """Interpret what runs in some runs only, for a reason that may be private."""
        self.private_tests += secret
        try:
            yield
        finally:
            self.private_tests -= secret

    def branch(self, test: Scalar, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """Go both ways, and let them meet: values that differ become a core name, or have no value.

        A way gives a value, and the state says whether it ended. Gives the value of both, or of the one that goes on.
        """
        if test.is_known:
            return then() if test.known else otherwise()
        if test.code in self.facts:
            return then() if self.facts[test.code] else otherwise()
        before, line = dict(self.heap), self.line
        arms: list[tuple[list[Line], Mapping[int, Object], Any, bool]] = []
        outer = self.lines
        for run, head in ((then, f"if {test.code}:"), (otherwise, f"if not {test.code}:")):
            self.arms.append([*outer, (self.depth, head, line)])
            self.heap, self.lines, self.dead = dict(before), [], False
            ensured, self.depth = set(self.ensured), self.depth + 1
            # A test holds in its arm, and so need not be owed there.
            turned = test.code[5:-1] if test.code.startswith("(not ") else ""
            self.true.append(test.code if run is then else turned)
            with self.private(not test.public):
                value = run()
            self.true.pop()
            self.ensured, self.depth = ensured, self.depth - 1
            self.arms.pop()
            arms.append((self.lines, self.heap, value, self.dead))
        self.lines, self.line = outer, line
        (one, first, value, left), (other, second, another, right) = arms
        assigned: tuple[list[Any], list[Any]] = ([], [])
        self.dead = left and right
        # What follows is reached in some runs only.
        self.private_tests += (left is not right) and not test.public
        if left or right:
            self.heap, value = (dict(second), another) if left else (dict(first), value)
        else:
            self.heap = self._met(test, first, second, assigned)
            value = self._joined(test, value, another, assigned)
        self._written(test.code, one, other, *assigned)
        return value

    def _written(self, test: str, one: list[Line], other: list[Line], first: list[Any], second: list[Any]) -> None:
        """Write both arms of a branch."""
        one = [*one, *((self.depth + 1, text, self.line) for text in first)]
        other = [*other, *((self.depth + 1, text, self.line) for text in second)]
        if one:
            self.emit(f"if {test}:")
            self.lines += one
        if other:
            self.emit("else:" if one else f"if not {test}:")
            self.lines += other

    def _met(self, test: Scalar, first: Mapping[int, Object], second: Mapping[int, Object], assigned: Any) -> dict[int, Object]:
        """The heap after two ways."""
        found = {**first, **second}
        for address in first.keys() & second.keys():
            one, other = first[address], second[address]
            if one is other or one == other:
                found[address] = one
            elif one.shape != other.shape and (joint := self._both_put_out(one, other, assigned)) is not None:
                found[address] = joint
            elif one.shape != other.shape:
                found[address] = Spent(f"a list, dictionary or array that line {self.line} may have changed")
            else:
                mine, yours = one.cells(), other.cells()
                joined: dict[Any, Value] = {}
                for key in dict.fromkeys((*mine, *yours)):
                    if key in mine and key in yours:
                        joined[key] = self._joined(test, mine[key], yours[key], assigned)
                    else:
                        joined[key] = Poison(f"which may have no value after line {self.line}")
                found[address] = one.made(joined)
        return found

    def _both_put_out(self, one: Object, other: Object, assigned: tuple[list[Any], list[Any]]) -> Object | None:
        """A list that got other elements on one way than on the other is an output list from here on."""
        if not (isinstance(one, Items) and isinstance(other, Items)) or one.form != "list" or other.form != "list" or self.loops:
            return None
        if any(True for _ in references((one.items, other.items))):
            return None
        made, lines = self.channel(), self.lines
        try:
            for arm, items in zip(assigned, (one, other), strict=True):
                self.lines = []
                for item in items.items:
                    self.parts.append(self, ast.Pass(), made, item)
                arm += [text for _, text, _ in self.lines]
        except Unsupported:
            del self.outputs[made.name]
            return None
        finally:
            self.lines = lines
        return made

    def _joined(self, test: Scalar, one: Any, other: Any, assigned: tuple[list[Any], list[Any]]) -> Any:
        """One value for two."""
        if one is other or one == other:
            return one
        match one, other:
            case Scalar(), Scalar() if one.kind == other.kind or {one.kind, other.kind} == {"int", "real"}:
                name = self.fresh("m")
                wide = "real" if one.kind != other.kind else one.kind
                for arm, value in zip(assigned, (one, other), strict=True):
                    arm.append(f"{name} = {as_kind(value, wide)}")
                return self.mixed(name, one, other, test.code, public=test.public)
            case Tuple(items), Tuple(others) if len(items) == len(others):
                return Tuple(tuple(self._joined(test, a, b, assigned) for a, b in zip(items, others, strict=True)))
            case Record(owner, parts), Record(another, others) if owner == another:
                pairs = zip(parts, others, strict=True)
                return Record(owner, tuple((name, self._joined(test, a, b, assigned)) for (name, a), (_, b) in pairs))
        if isinstance(one, Opaque) or isinstance(other, Opaque):
            return self._either(test, one, other, assigned)
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            # Signals of statements: what kind of end, and the value.
            return tuple(self._joined(test, a, b, assigned) for a, b in zip(one, other, strict=True))
        return Poison(f"which is one of two different things after line {self.line}")

    def _either(self, test: Scalar, one: Any, other: Any, assigned: tuple[list[Any], list[Any]]) -> Any:
        """What is not computed on one way: a function of which way it was, and of what it is made of there."""
        sides, sorts = (one, other), set[str]()
        first = Scalar(self.fresh("m"), "bool", frozenset({"bool"}), public=test.public)
        parts: list[Value] = [first]
        for arm, value in zip(assigned, ("True", "False"), strict=True):
            arm.append(f"{first.code} = {value}")
        for mine, side in enumerate(sides):
            sorts.add(side.sort if isinstance(side, Opaque) else "number" if _is_firm_number(side) else "other")
            held: tuple[Value, ...] = side.parts if isinstance(side, Opaque) else () if isinstance(side, Nothing) else (side,)
            found = [part for part in held if isinstance(part, Scalar) and part.firm]
            if len(found) < len(held):
                return Poison(f"which is one of two different things after line {self.line}")
            for part in found:
                name = self.fresh("m")
                assigned[mine].append(f"{name} = {part.code}")
                assigned[1 - mine].append(f"{name} = {_EMPTY[part.kind]}")
                parts.append(replace(part, code=name, known=UNKNOWN, public=False, positive=False, origin=None))
        sites = "|".join(side.site if isinstance(side, Opaque) else type(side).__name__ for side in sides)
        return Opaque(f"{self.line}:{sites}", tuple(parts), sorts.pop() if len(sorts) == 1 else "other")

    def mixed(self, code: str, one: Scalar, other: Scalar, test: str | None, *, public: bool, here: bool = False) -> Scalar:
        """What is known of a scalar that is one of two; `here` says that both are evaluated in this place, not on two ways."""
        types = one.types | other.types
        tests: tuple[str, ...] | None = ()
        if len(types) > 1:
            inner = [side.tests if here or side.firm else None for side in (one, other)]
            known = [found for found in inner if found is not None and len(found) <= _MOST_TESTS]
            sure = all(side.firm or found for side, found in zip((one, other), inner, strict=True))
            tests = (test, *known[0], *known[1]) if test is not None and sure and len(known) == 2 else None
        return Scalar(
            code,
            "real" if one.kind != other.kind else one.kind,
            types,
            tests=tests,
            public=public and one.public and other.public,
            noisy=one.noisy and other.noisy,
            counts=one.counts or other.counts,
            positive=one.positive and other.positive,
            bits=max(one.bits, other.bits),
        )

    def quiet(self, read: Callable[[], Any]) -> Any:
        """The value that is read, where that writes nothing and changes nothing; None else, and then nothing remains."""
        with self.trial():
            size, heap, grown = len(self.lines), dict(self.heap), self.grown()
            value = read()
            same = len(self.lines) == size and self.grown() == grown and all(self.heap.get(key) is one for key, one in heap.items())
            made = {key: one for key, one in self.heap.items() if key not in heap}
            exponents = dict(self.exponents)
        if not same:
            return None
        self.heap.update(made)
        self.exponents.update(exponents)
        return (value,)

    # Sequences.

    def opened(self, node: ast.AST, found: Sequence) -> Value:
        """Write the loop of a sequence, open at the place where an element is there; the caller sets the depth back."""
        names = {name: self.fresh(name.partition("__")[0]) for name in sorted(found.names)}
        for depth, text, line in found.lines:
            self.lines.append((self.depth + depth, renamed(text, names), line))
        self.depth += found.depth
        if len(self.lines) > _MOST_LINES:
            raise refuse(node, "this function, whose core program grows too long,", "split it", "DPA706")
        return with_names(found.value, names)

    def element(self, found: Sequence, place: str) -> Value:
        """The element of a sequence at a place of what its loop goes through; its lines are written here."""
        head = found.head or 1
        names = {name: self.fresh(name.partition("__")[0]) for name in sorted(found.names - {found.place})}
        names[found.place] = place
        for depth, text, line in found.lines[head:]:
            self.lines.append((self.depth + depth - head, renamed(text, names), line))
        return with_names(found.value, names)


def frame_of(state: State, address: int) -> Frame:
    """A frame of the heap."""
    found = state.heap[address]
    assert isinstance(found, Frame)  # noqa: S101 - for the type checker
    return found
