"""Going through things: step by step where the source says how many there are, else as a sequence of the core program."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dpaudit.verifier.ordinary import indexing, nested, numbers, outcomes, walking
from dpaudit.verifier.ordinary.lines import Released
from dpaudit.verifier.ordinary.loops import is_plain, template
from dpaudit.verifier.ordinary.reaching import reached
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Counts,
    Dictionary,
    Frame,
    Groups,
    Growing,
    Items,
    Iterator,
    Kinds,
    Output,
    Place,
    Ref,
    Scalar,
    Sequence,
    Short,
    Span,
    Spent,
    Tuple,
    Value,
)
from dpaudit.verifier.ordinary.walking import Walk, step

MOST_UNROLLED: Final = 64
_LONGEST: Final = 10**8
"""The longest range whose elements a list may hold."""
_SHORT: Final = 16
"""The longest range that is written out element by element."""


def walk(state: State, node: ast.AST, found: Value) -> Walk | Sequence:
    """The start of a way through something."""
    match found:
        case Tuple():
            return Walk("tuple", found)
        case Short():
            return Walk("short", nested.whole(state, node, found))
        case Span(start, stop, step):
            if start.is_known and stop.is_known and abs(stop.known - start.known) <= _SHORT * abs(step):
                return Walk("range", range(start.known, stop.known, step))
            return _span(state, node, found)
        case Ref():
            return _walk_object(state, node, found)
        case Scalar(kind="str", known=str(text)) if len(text) <= MOST_UNROLLED:
            return Walk("tuple", Tuple(tuple(state.text(one) for one in text)))
        case Scalar(origin=str()) if found.kind == "real":
            state.assume(found.origin, "list", "a loop over it")
    raise refuse(node, f"a loop over `{ast.unparse(node)}`", "loop over a list, range, or a list written out", "DPA706")


def _walk_object(state: State, node: ast.AST, found: Ref) -> Walk | Sequence:
    """The start of a way through an object of the heap."""
    match state.object(found):
        case Items(form="set"):
            raise refuse(node, "a loop over a set, whose order nothing says", "loop over a list", "DPA706")
        case Items(items):
            if len(items) > MOST_UNROLLED:
                raise refuse(node, f"a loop over {len(items)} values that are written out", "loop over fewer", "DPA706")
            return Walk("list", found)
        case Dictionary():
            return Walk("keys", found)
        case Sequence(form="array", value=Tuple()):
            # Its rows are arrays, which add up where tuples are put together.
            raise refuse(node, "a loop over the rows of an array", "loop over the list of records", "DPA706")
        case Sequence() as sequence:
            return state.taken(node, found.address, sequence)
        case Iterator() as iterator:
            state.change(node, found.address, Spent("an iterator that was gone through before"))
            return _walk_iterator(state, node, iterator)
        case (Counts() | Kinds()) as keyed if state.lenient:
            return LENIENT[0](state, node, keyed, "keys")
        case Counts() | Groups():
            raise teach(node, "private keys", "a loop over keys that are found in the data")
        case Spent(why) if "iterator" in why:
            raise teach(node, "two generators", "an iterator that is used again", "items")
        case Spent(why):
            raise refuse(node, f"a loop over {why}", "loop over something else", "DPA705")
        case Output() | Growing():
            raise refuse(
                node, f"a loop over `{ast.unparse(node)}`, which a loop fills,", "compute it in the loop that fills it", "DPA706"
            )
    raise refuse(node, f"a loop over `{ast.unparse(node)}`", "loop over a list, range, or a list written out", "DPA706")


def _walk_iterator(state: State, node: ast.AST, found: Iterator) -> Walk | Sequence:
    """The start of a way through enumerate, zip, reversed and the views of dictionaries."""
    parts = found.parts
    if found.what in ("keys", "values", "items"):
        held = state.object(parts[0]) if isinstance(parts[0], Ref) else None
        if isinstance(held, Counts) and state.lenient:
            return LENIENT[0](state, node, held, found.what)
        return Walk(found.what, parts[0])
    if found.what == "places":
        owner, inside = indexing.list_of(state, node, found)
        return replace(inside, value=Place(owner.address, inside, inside.value))
    if found.what == "enumerate":
        start = parts[1]
        assert isinstance(start, Scalar)  # noqa: S101 - for the type checker
        inner = walk(state, node, parts[0])
        if isinstance(inner, Walk):
            if not start.is_known:
                raise refuse(node, "enumerate from a start that is no constant", "add it in the loop", "DPA706")
            return Walk("enumerate", int(start.known), 0, (inner,))
        if not inner.index:
            raise refuse(node, "enumerate of records that come and go", "count in the loop", "DPA706")
        place = Scalar(inner.index, "int", numbers.INT, public=True)
        return replace(inner, value=Tuple((numbers.arithmetic(state, node, ast.Add(), start, place), inner.value)))
    if found.what in ("zip", "zip strict"):
        walks, drawing = list[Walk | Sequence](), 0
        for part in parts:
            size = len(state.lines)
            walks.append(walk(state, node, part))
            drawing += any(str(text).startswith("noise__") for _, text, _ in state.lines[size:])
        walking.check_even(node, walks, drawing)
        if all(isinstance(one, Walk) for one in walks):
            return Walk("zip", found.what == "zip strict", 0, tuple(one for one in walks if isinstance(one, Walk)))
        return _zipped(state, node, walks)
    if found.what in ("generator", "map", "filter") and state.draining:
        return _whole_of(state, node, found)
    if found.what.startswith("tool "):
        return Walk("tuple", Tuple(tuple(TOOLS[0](state, node, found))))
    if found.what == "reversed":
        source = parts[0]
        match source, state.object(source) if isinstance(source, Ref) else None:
            case Tuple(items), _:
                return Walk("tuple", Tuple(items[::-1]))
            case Ref(), Items(items, "list"):
                # A reversed list is read backwards at each step; one that changes meanwhile is refused.
                return Walk("backwards", source, len(items))
            case Span(start, stop, step), _ if start.is_known and stop.is_known:
                return Walk("range", range(start.known, stop.known, step)[::-1])
    raise refuse(node, f"a loop over {found.what or 'a generator expression'}", "write a list comprehension or a loop", "DPA706")


def _whole_of(state: State, node: ast.AST, found: Iterator) -> Walk | Sequence:
    """A way through a generator of which all elements are made at once: nothing may be done between them."""
    heap, grown, size = dict(state.heap), state.grown(), len(state.lines)
    inner = drained(state, node, state.new(found))
    if isinstance(inner, Sequence):
        return inner
    drawn = sum(isinstance(text, str) and text.startswith("noise__") for _, text, _ in state.lines[size:])
    if any(guard is not None for guard, _ in inner) or (drawn and state.draining > 1):
        raise refuse(node, f"`{ast.unparse(node)}`, which goes through what has effects,", "write a list", "DPA706")
    check_still(state, node, heap, grown)
    return Walk("tuple", Tuple(tuple(one for _, one in inner)))


LENIENT: Final[list[Callable[[State, ast.AST, Counts | Kinds, str], Sequence]]] = []
"""What goes through keys that occur in the data."""
TOOLS: Final[list[Callable[[State, ast.AST, Iterator], list[Value]]]] = []
"""What makes the elements of functions of itertools."""


def _span(state: State, node: ast.AST, found: Span) -> Sequence:
    """A range as a loop of the core program."""
    start, stop, step = found.start, found.stop, found.step
    if start.is_known and stop.is_known and len(range(0, min(abs(stop.known - start.known), 2**62), abs(step))) > _LONGEST:
        raise refuse(node, "a range that is too long to be gone through", "loop over less", "DPA706")
    name = state.fresh("i")
    public = start.public and stop.public
    size, code = f"({stop.code} - {start.code})", f"({start.code} + {name})"
    if start.is_known and start.known == 0:
        size, code = stop.code, name
    if step != 1:
        gap = f"({size} + {step - 1})" if step > 0 else f"({start.code} - {stop.code} + {-step - 1})"
        size, code = f"({gap} // {abs(step)})", f"({start.code} + {name} * {step})"
    value = Scalar(code, "int", numbers.INT, public=public)
    head = ((0, f"for {name} in range(0, {size}):", state.line),)
    # The length may not be read: it is 0 where the ends are in the wrong order.
    length = Scalar(size, "int", numbers.INT, public=public)
    return Sequence(head, 1, value, frozenset({name}), length, name, base=f"range {size}", head=1)


def _zipped(state: State, node: ast.AST, walks: list[Walk | Sequence]) -> Sequence:
    """Sequences side by side."""
    found = [one for one in walks if isinstance(one, Sequence)]
    if len(found) < len(walks):
        raise refuse(node, f"`{ast.unparse(node)}`", "zip lists of public length, or lists that are written out", "DPA706")
    return beside(state, node, found, lambda values: (None, Tuple(tuple(values))))


def beside(state: State, node: ast.AST, found: list[Sequence], make: Any) -> Sequence:
    """Sequences that go through the same things, or through lists of one public length, which is owed."""
    first = found[0]
    for other in found[1:]:
        if other.base and other.base == first.base:
            continue
        if not all(one.index and one.length for one in (first, other)):
            raise refuse(node, f"`{ast.unparse(node)}`", "combine lists of public length, or made of the same records", "DPA706")
        assert first.length is not None  # noqa: S101 - for the type checker
        assert other.length is not None  # noqa: S101 - for the type checker
        if first.length.code != other.length.code:
            state.owe(f"{first.length.code} == {other.length.code}")

    def together(value: Value) -> tuple[Scalar | None, Value]:
        name = str(state.lines[0][1]).split()[1]
        made: tuple[Scalar | None, Value] = make([value, *(state.element(other, name) for other in found[1:])])
        return made

    made = over(state, node, first, together)
    return replace(made, once=made.once or any(one.once for one in found))


class _recorded:  # noqa: N801 - a context manager
    """Lines that are written into a list of their own."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.lines: list[Any] = []

    def __enter__(self) -> list[Any]:
        self.outer, self.depth = self.state.lines, self.state.depth
        self.state.lines, self.state.depth = self.lines, 0
        return self.lines

    def __exit__(self, *_: object) -> None:
        self.state.lines, self.state.depth = self.outer, self.depth


Guarded = list[tuple[Scalar | None, Value]]
"""Elements, each with the condition under which it is there."""


def drained(state: State, node: ast.AST, found: Value) -> Guarded | Sequence:
    """All elements of something, evaluated now."""
    held = state.object(found) if isinstance(found, Ref) else None
    if isinstance(found, Ref) and isinstance(held, Iterator) and held.what in ("generator", "map", "filter"):
        state.change(node, found.address, Spent("an iterator that was gone through before"))
        if held.what == "generator":
            assert isinstance(held.node, ast.GeneratorExp)  # noqa: S101 - for the type checker
            return comprehended(state, held.node, held.node.elt, held.frame, held.parts[0])
        return _mapped(state, node, held)
    if isinstance(found, Ref) and isinstance(held, Iterator) and held.what == "function":
        found = _ran(state, node, found, held)
    state.draining += 1
    try:
        at = walk(state, node, found)
    finally:
        state.draining -= 1
    if isinstance(at, Sequence):
        return at
    items: Guarded = []
    while (now := step(state, node, at)) is not None:
        items.append((walking.guard(state, node, at), now[0]))
        at = now[1]
    return items


def _ran(state: State, node: ast.AST, found: Ref, held: Iterator) -> Ref:
    """The list of what a generator function yields, which runs to its end here: it may do nothing but yield."""
    assert isinstance(held.node, ast.FunctionDef)  # noqa: S101 - for the type checker
    state.change(node, found.address, Spent("an iterator that was gone through before"))
    made = state.new(Items(()))
    heap, grown, size = dict(state.heap), state.grown(), len(state.lines)
    outer, state.frame = state.frame, held.frame
    state.calls += 1
    state.yielded.append(made)
    try:
        state.parts.returned(state, held.node)
    finally:
        state.frame = outer
        state.calls -= 1
        state.yielded.pop()
    effects = any(isinstance(text, Released) or _EFFECT.match(text) for _, text, _ in state.lines[size:])
    taken = (one for one in heap if isinstance(heap[one], Iterator) and isinstance(state.object(Ref(one)), Spent))
    if effects or state.dead or state.grown() != grown or state.changed(heap, made.address, held.frame, *taken):
        raise refuse(node, f"`{ast.unparse(node)}`, whose function does more than yield,", "write a loop", "DPA706")
    return made


_EFFECT: Final = re.compile("raise|noise__|break")


def taken_ahead(state: State, node: ast.AST, found: Ref, held: Iterator) -> Value:
    """What a generator function yields, for a loop that goes through it: nothing that the loop does may show to the function."""
    around = state.heap[held.frame]
    closed = isinstance(around, Frame) and around.outer != state.global_frame
    if closed or not reached(state.heap, held.parts) <= state.shared:
        raise refuse(node, f"a loop over `{ast.unparse(node)}`", "make a list of it first, list(...)", "DPA706")
    return _ran(state, node, found, held)


def _source(state: State, node: ast.AST, found: Value) -> Guarded | Sequence:
    """All elements of what another iterator goes through: Python makes each where it is wanted, and here all are made first."""
    held = state.object(found) if isinstance(found, Ref) else None
    heap, grown, size = dict(state.heap), state.grown(), len(state.lines)
    inner = drained(state, node, found)
    if isinstance(held, Iterator) and isinstance(found, Ref):
        ends = any(isinstance(text, Released) or text.lstrip().startswith("raise") for _, text, _ in state.lines[size:])
        used = {one for one in heap if isinstance(state.object(Ref(one)), Spent)}
        if ends or state.dead or state.grown() != grown or state.changed(heap, *used):
            raise refuse(node, f"`{ast.unparse(node)}`, which goes through what has effects,", "write a loop", "DPA706")
    return inner


def check_still(state: State, node: ast.AST, heap: dict[int, Any], grown: int, *free: int) -> None:
    """Refuse elements that change something: Python would see that while it goes on, and all were read before."""
    if state.grown() != grown or state.changed(heap, *free):
        raise refuse(node, f"`{ast.unparse(node)}`, which has effects,", "write a loop", "DPA706")


def _mapped(state: State, node: ast.AST, found: Iterator) -> Guarded | Sequence:
    """What map and filter give."""
    function, *rest = found.parts
    source: Value = rest[0] if len(rest) == 1 else state.new(Iterator("zip", tuple(rest)))
    inner = _source(state, node, source)

    def apply(value: Value) -> tuple[Scalar | None, Value]:
        args = list(value.items) if len(rest) > 1 and isinstance(value, Tuple) else [value]
        made = state.call(node, function, args, {})
        if found.what == "map":
            return None, made
        return numbers.condition(state, node, numbers.scalar(state, node, made, "in filter")), value

    if isinstance(inner, Sequence):
        return over(state, node, inner, apply)
    items: Guarded = []
    heap, grown = dict(state.heap), state.grown()
    for guard, value in inner:
        if guard is not None:
            raise refuse(node, f"{found.what} over elements that may not be there", "write a loop", "DPA706")
        test, made = apply(value)
        if test is None or not test.is_known or test.known:
            items.append((None if test is None or test.is_known else test, made))
    check_still(state, node, heap, grown)
    return items


def over(state: State, node: ast.AST, inner: Sequence, make: Any) -> Sequence:
    """A sequence whose elements are made of those of another: `make` gives a condition and a value."""
    heap, grown = dict(state.heap), state.grown()
    with _recorded(state) as lines:
        state.record_loops += inner.private
        with state.private(not inner.steady):
            element = state.opened(node, inner)
            test, value = make(element)
        if test is not None and not (test.is_known and test.known):
            state.emit(f"if {test.code}:")
            state.depth += 1
        depth = state.depth
        state.record_loops -= inner.private
    _check_quiet(state, node, heap, lines, grown)
    if not is_plain(value):
        raise refuse(
            node, f"`{ast.unparse(node)}`, whose elements are no numbers,", "keep numbers, texts or tuples of them", "DPA706"
        )
    made = template(lines, depth, value, private=inner.private, public=inner.steady)
    made = replace(made, once=inner.once or any(text.startswith("noise__") for _, text, _ in lines))
    return replace(made, base=inner.base, head=inner.head) if depth == inner.depth else made


def _check_quiet(state: State, node: ast.AST, heap: dict[int, Any], lines: list[Any], grown: int) -> None:
    """What is evaluated for each element may not have effects."""
    if (
        state.changed(heap, state.frame)
        or state.grown() != grown
        or any(isinstance(text, Released) or text.startswith(("raise", "break")) for _, text, _ in lines)
    ):
        raise refuse(node, f"`{ast.unparse(node)}`, which has effects,", "write a loop", "DPA706")


# Comprehensions.


def comprehended(
    state: State, node: Any, elements: ast.expr | tuple[ast.expr, ...], frame: int, first: Value
) -> Guarded | Sequence:
    """The elements of a comprehension; the first iterable was evaluated before, in the frame around it."""
    targets = frozenset(part.id for one in node.generators for part in ast.walk(one.target) if isinstance(part, ast.Name))
    outer, state.frame = state.frame, state.new(Frame({}, targets, frame)).address
    try:
        return _clause(state, node, elements, node.generators, first)
    finally:
        state.frame = outer


def _clause(state: State, node: Any, elements: Any, clauses: list[ast.comprehension], source: Value) -> Guarded | Sequence:
    """The elements from one `for` of a comprehension on."""
    clause, rest = clauses[0], clauses[1:]
    if clause.is_async:
        raise refuse(node, "an asynchronous comprehension", "write a plain one")
    inner = _source(state, clause.iter, source)
    if isinstance(inner, Sequence):
        if rest:
            raise refuse(node, "a comprehension over records and something else", "write the outer loop with `for`", "DPA706")
        return over(state, node, inner, lambda value: _made(state, clause, elements, value))
    items: Guarded = []
    heap, grown = dict(state.heap), state.grown()
    for there, value in inner:
        if there is not None:
            # Elements that may not be there: nothing else may be written for them.
            state.bind(clause.target, value)
            with state.private(True):
                made = None if rest else state.quiet(partial(_clause_of_one, state, clause, elements))
            if made is None:
                raise refuse(node, f"`{ast.unparse(node)}`", "write a loop", "DPA706")
            test, one = made[0]
            if test is None or not test.is_known or test.known:
                items.append((there if test is None or test.is_known else numbers.connected("and", [there, test]), one))
            continue
        test = _bound(state, clause, value)
        if test is not None and test.is_known:
            if not test.known:
                continue
            test = None
        if rest:
            if test is not None:
                raise refuse(node, "a nested comprehension with a test", "write a loop", "DPA706")
            below = _clause(state, node, elements, rest, state.value(rest[0].iter))
            if isinstance(below, Sequence):
                raise refuse(node, "records inside of a loop of a comprehension", "write the outer loop with `for`", "DPA706")
            items += below
        elif test is None:
            items.append((None, _elements(state, elements)))
        else:
            # An element under a test must be one that exists anyway, or it is left to a loop.
            found = state.quiet(lambda: _elements(state, elements))
            if found is None:
                raise refuse(node, f"`{ast.unparse(node)}`", "write a loop with `if`", "DPA706")
            items.append((test, found[0]))
    check_still(state, node, heap, grown, state.frame)
    return items


def _clause_of_one(state: State, clause: ast.comprehension, elements: Any) -> Any:
    """The condition and the element for a value that is bound."""
    return _condition(state, clause), _elements(state, elements)


def _bound(state: State, clause: ast.comprehension, value: Value) -> Scalar | None:
    """Bind the target of a clause; its conditions together."""
    state.bind(clause.target, value)
    return _condition(state, clause)


def _condition(state: State, clause: ast.comprehension) -> Scalar | None:
    """The conditions of a clause together."""
    if not clause.ifs:
        return None
    joined: ast.expr = (
        clause.ifs[0] if len(clause.ifs) == 1 else ast.copy_location(ast.BoolOp(ast.And(), clause.ifs), clause.ifs[0])
    )
    return state.test(joined)


def _made(state: State, clause: ast.comprehension, elements: Any, value: Value) -> tuple[Scalar | None, Value]:
    """One element of a sequence: under a test, the lines of the element stand under it."""
    test = _bound(state, clause, value)
    if test is not None and test.is_known:
        test = None if test.known else test
    if test is not None:
        state.emit(f"if {test.code}:")
        state.depth += 1
        with state.private(not test.public):
            return None, _elements(state, elements)
    return None, _elements(state, elements)


def _elements(state: State, elements: Any) -> Value:
    """The element, or the pair of a dictionary comprehension."""
    if isinstance(elements, tuple):
        return Tuple(tuple(state.value(one) for one in elements))
    return state.value(elements)


def as_list(state: State, node: ast.AST, found: Guarded | Sequence, form: str = "list") -> Ref:
    """Elements in a new list: those of which some may not be there are put out one by one."""
    if isinstance(found, Sequence):
        if found.once and found.private and not state.lenient:
            raise teach(node, "draw per record", "a draw for each record")
        return state.new(replace(found, form=form))
    if all(guard is None for guard, _ in found):
        return state.new(Items(tuple(value for _, value in found), form))
    if state.loops:
        raise refuse(
            node, f"`{ast.unparse(node)}`, of which some may not be there,", "append to a list from before the loop", "DPA706"
        )
    made = replace(state.channel(), form=form)
    for guard, value in found:
        if guard is None:
            outcomes.append(state, node, made, value)
        else:
            state.branch(guard, partial(outcomes.append, state, node, made, value), lambda: None)
    return state.new(made)
