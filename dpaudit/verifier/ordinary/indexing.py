"""Loops that count: over the places of a list of records, with an index and `while`, and with `enumerate`.

Records come and go, so no place belongs to one of them: an index over records stands for the record of its round, and for how many
came before it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from dpaudit.verifier.ordinary import loops, numbers
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State, frame_of
from dpaudit.verifier.ordinary.values import Builtin, Items, Iterator, Place, Ref, Scalar, Sequence, Spent, Value

Run = Callable[[State, tuple[Any, ...]], object]


def places(state: State, node: ast.AST, parts: list[Scalar]) -> Value:
    """`range(len(records))`: the places of a list of which the length is private."""
    start, stop = (numbers.constant(state, 0), parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    step = parts[2].known if len(parts) == 3 else 1
    if start.known != 0 or step != 1 or stop.code not in state.sizes:
        raise teach(node, "while data", "a range of a private length")
    return state.new(Iterator("places", (Ref(state.sizes[stop.code][0]), stop)))


def list_of(state: State, node: ast.AST, found: Iterator) -> tuple[Ref, Sequence]:
    """The list whose places are gone through, which must be what it was when its length was taken."""
    owner, size = found.parts
    assert isinstance(owner, Ref)  # noqa: S101 - for the type checker
    assert isinstance(size, Scalar)  # noqa: S101 - for the type checker
    held = state.object(owner)
    if not isinstance(held, Sequence) or held is not state.sizes[size.code][1]:
        raise refuse(node, "the places of a list that has changed", "go through its records", "DPA705")
    return owner, held


def counted(
    state: State, node: ast.For, source: Ref, start: Value, begin: Callable[[Scalar, Value], None], repeated: Callable[..., None]
) -> Scalar:
    """A loop over records with the number of records before each; gives how many there are, from the start on."""
    held = state.object(source)
    assert isinstance(held, Sequence)  # noqa: S101 - for the type checker
    state.taken(node, source.address, held)
    counter = state.new(Items((start,)))

    def now() -> Scalar:
        found = state.object(counter)
        assert isinstance(found, Items)  # noqa: S101 - for the type checker
        return numbers.number(state, node, found.items[0])

    def round_of(value: Value) -> None:
        one = now()
        begin(one, value)
        state.heap[counter.address] = Items((numbers.arithmetic(state, node, ast.Add(), one, numbers.constant(state, 1)),))

    repeated(held, round_of)
    return now()


def over_places(state: State, node: ast.For, found: Ref, held: Iterator, repeated: Callable[..., None]) -> None:
    """`for i in range(len(records))`."""
    owner, sequence = list_of(state, node, held)
    state.change(node, found.address, Spent("an iterator that was gone through before"))

    def begin(count: Scalar, value: Value) -> None:
        state.bind(node.target, Place(owner.address, sequence, value, count))

    counted(state, node, owner, numbers.constant(state, 0), begin, repeated)


def indexed(state: State, node: ast.While, run: Run, *, leaves: bool, returns: bool) -> None:
    """`while i < end: ...; i += 1`, where nothing else changes i or the end: the for loop that it amounts to."""
    shown = f"`while {ast.unparse(node.test)}`"
    match node.test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt()], comparators=[limit]):
            pass
        case _:
            raise teach(node, "while data", shown)
    read = ast.copy_location(ast.Name(name, ast.Load()), node)
    start = numbers.whole(state, node, state.value(read), "as an index")
    end = numbers.whole(state, node, state.value(limit), "as an end")
    if end.code in state.sizes and start.known == 0 and not returns:
        _over_records(state, node, name, limit, end, run)
        return
    last = node.body[-1]
    match last:
        case ast.AugAssign(target=ast.Name(id=other), op=ast.Add(), value=ast.Constant(value=1)) if name == other and not leaves:
            pass
        case _:
            raise teach(node, "while data", shown)
    if returns and state.frame != state.main_frame:
        raise refuse(node, "a return from a loop", "keep the value, and return after the loop", "DPA706")
    if name in _names_in(limit) or not (start.public and end.public):
        raise teach(node, "while data", shown)
    place = state.fresh("i")
    head = ((0, f"for {place} in range({start.code}, {end.code}):", state.line),)
    at = Sequence(head, 1, Scalar(place, "int", numbers.INT, public=True), frozenset({place}))
    target = ast.copy_location(ast.Name(name, ast.Store()), node)

    def body(value: Value) -> None:
        before = frame_of(state, state.frame).names[name]
        state.bind(target, value)
        run(state, tuple(node.body[:-1]))
        if state.dead:
            return
        now, later = state.value(read), state.value(limit)
        if now != value or not isinstance(later, Scalar) or later.code != end.code:
            raise teach(node, "while data", f"{shown}, whose body changes its test,")
        state.bind(target, before)

    # The index ends at the limit, or where it was.
    after = numbers.extreme(state, node, start, end, least=False)
    loops.repeat(state, node, lambda: state.opened(node, at), body, private=False, public=True)
    state.bind(target, after)


def _over_records(state: State, node: ast.While, name: str, limit: ast.expr, end: Scalar, run: Run) -> None:
    """`while i < len(records)`, where each round raises i by one, whichever way it takes."""
    address, sequence = state.sizes[end.code]
    # It is evaluated in each round, which must have no effects.
    plain = isinstance(limit, ast.Name) or (
        isinstance(limit, ast.Call) and isinstance(limit.func, ast.Name) and state.value(limit.func) == Builtin("len")
    )
    if state.heap[address] is not sequence or name in _names_in(limit) or not plain:
        raise teach(node, "while data", f"`while {ast.unparse(node.test)}`")
    target = ast.copy_location(ast.Name(name, ast.Store()), node)
    read = ast.copy_location(ast.Name(name, ast.Load()), node)

    def begin(count: Scalar, value: Value) -> None:
        before = frame_of(state, state.frame).names
        state.bind(target, Place(address, sequence, value, count))
        run(state, tuple(node.body))
        if state.dead:
            return
        now, next_one = state.value(read), numbers.arithmetic(state, node, ast.Add(), count, numbers.constant(state, 1))
        later = frame_of(state, state.frame).names
        kept = all(later.get(one) == before.get(one) for one in _names_in(limit))
        if not isinstance(now, Scalar) or now.code != next_one.code or not kept or state.heap[address] is not sequence:
            raise teach(node, "while data", f"`while {ast.unparse(node.test)}`, whose body changes its test,")
        state.bind(target, before[name])

    def repeated(found: Sequence, round_of: Callable[[Value], None]) -> None:
        loops.repeat(state, node, lambda: state.opened(node, found), round_of, private=found.private, public=False)

    loop: Any = node
    state.bind(target, counted(state, loop, Ref(address), numbers.constant(state, 0), begin, repeated))


def _names_in(node: ast.expr) -> set[str]:
    """The names of an expression."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
