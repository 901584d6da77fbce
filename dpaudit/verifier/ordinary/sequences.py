"""Lists, arrays, dictionaries and what is made of them: loops are written where elements are used, and no list is built."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from dpaudit.verifier.ordinary import numbers
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Base,
    Counts,
    Fixed,
    Noises,
    Opaque,
    Output,
    Record,
    Scalar,
    Scope,
    Sequence,
    Table,
    Uniform,
    Value,
)

MOST_UNROLLED: Final = 64
"""The longest list that is written out element by element."""
_PARTIAL: Final = re.compile(r"[/%]|Fraction\([^()]*,(?! \d+\))|\[(?!\w+\])|raise")
"""What may fail in the text of an element."""


@dataclass(frozen=True, eq=False)
class Range(Base):
    """The whole numbers from `start` on, below `stop`."""

    start: Scalar | None = None
    stop: Scalar | None = None
    step: int = 1


def go(state: State, node: ast.AST, found: Value, use: Callable[[Value], None]) -> None:
    """Write a loop over something: each element in turn is handed to `use`."""
    match found:
        case Fixed(items=items):
            for one in items:
                use(one)
        case Table(cells=cells):
            for key in list(cells):
                use(numbers.constant(state, key))
        case Sequence(base=base, element=element, keep=keep):
            if state.dead:
                return

            def each(value: Value) -> None:
                if keep is None:
                    use(element(value))
                    return
                test = keep(value)
                if test.is_known and test.known:
                    use(element(value))
                elif not test.is_known:
                    with branch(state, f"if {test.code}:"):
                        use(element(value))

            base.each(each)
        case Counts():
            raise teach(node, "private keys", "a loop over keys that are found in the data")
        case Scalar(origin=str()) if found.kind == "real":
            state.assume(found.origin, "list", "a loop over it")
            raise refuse(node, f"a loop over `{ast.unparse(node)}`", "annotate it as a list", "DPA703")
        case _:
            raise refuse(
                node, f"a loop over `{ast.unparse(node)}`", "loop over a list parameter, range, or a list written out", "DPA706"
            )


class branch:  # noqa: N801 - a context manager
    """A block under a condition; what follows it is reached unless it was dead before."""

    def __init__(self, state: State, head: str) -> None:
        self.state, self.block, self.dead = state, state.block(head), state.dead

    def __enter__(self) -> None:
        self.block.__enter__()

    def __exit__(self, *error: object) -> None:
        self.block.__exit__(*error)  # type: ignore[arg-type]
        self.state.dead = self.dead


def loop_over(state: State, name: str, stop: str, *, private: bool, start: str = "0") -> Loop:
    """A for loop of the core program."""
    return Loop(state, f"for {name} in range({start}, {stop}):", private=private)


class Loop:
    """A loop of the core program, as a context."""

    def __init__(self, state: State, head: str, *, private: bool) -> None:
        self.state, self.block, self.private = state, state.block(head), private

    def __enter__(self) -> None:
        state = self.state
        self.saved = state.loops, state.dead, state.unrolled
        state.loops, state.unrolled = (*state.loops, next(state.numbers)), False
        state.record_loops += self.private
        self.block.__enter__()

    def __exit__(self, *error: object) -> None:
        state = self.state
        self.block.__exit__(*error)  # type: ignore[arg-type]
        state.record_loops -= self.private
        state.loops, state.dead, state.unrolled = self.saved


def range_of(state: State, start: Scalar, stop: Scalar, step: int) -> Value:
    """What `range` gives: written out where it is short and constant."""
    if start.is_known and stop.is_known:
        written = range(start.known, stop.known, step)
        if len(written) <= 8:
            return Fixed(tuple(numbers.constant(state, one) for one in written), "range")
    count = stop.code if start.code == "0" else f"({stop.code} - {start.code})"
    if step != 1:
        up = f"({count} + {step - 1})" if step > 0 else f"({start.code} - {stop.code} + {-step - 1})"
        count = f"({up} // {abs(step)})"

    def each(use: Callable[[Value], None]) -> None:
        name = state.fresh("i")
        if step == 1:
            with loop_over(state, name, stop.code, private=False, start=start.code):
                use(Scalar(name, "int"))
        else:
            with loop_over(state, name, count, private=False):
                use(Scalar(f"({start.code} + {name} * {step})", "int"))

    length = Scalar(f"max(0, {count})", "int") if start.code != "0" else Scalar(count, "int")
    base = Range(each, length, private=False, at=None, start=start, stop=stop, step=step)
    return Sequence(base, shape="range")


def length(state: State, node: ast.AST, found: Value) -> Scalar:
    """The number of elements."""
    if isinstance(found, (Fixed, Table)):
        items = found.items if isinstance(found, Fixed) else found.cells
        return numbers.constant(state, len(items))
    if isinstance(found, Scalar):
        state.assume(found.origin, "list", "len of it")
    if isinstance(found, Sequence) and found.shape != "iterator":
        if found.keep is None and found.base.length is not None:
            return found.base.length
        counted = total(state, node, "count", found, lambda _: Scalar("1", "int", 1))
        return replace(counted, counts_records=found.base.private or found.keep is not None)
    if isinstance(found, Counts):
        raise teach(node, "private keys", "the number of keys that are found in the data")
    raise refuse(node, f"len of `{ast.unparse(node)}`", "take the length of a list", "DPA705")


def total(
    state: State, node: ast.AST, stem: str, found: Value, amount: Callable[[Value], Scalar], start: Scalar | None = None
) -> Scalar:
    """A sum over elements, as a loop with a running total."""
    first = start or Scalar("0", "int", 0)
    if isinstance(found, Fixed):
        result = first
        for item in found.items:
            one = amount(item)
            result = (
                one if result.code == "0" and result.kind == one.kind else numbers.arithmetic(state, node, ast.Add(), result, one)
            )
        return result
    name = state.fresh(stem)
    state.store(node, name, replace(first, known=UNKNOWN))

    def add(value: Value) -> None:
        one = numbers.number(state, node, amount(value))
        kind = state.learned.kinds[name]
        # A sum of floats that starts at 0 is an int where nothing is added.
        loose = ("?",) if one.loose else ()
        state.store(node, name, Scalar(f"{name} + {one.code}", "real" if "real" in (kind, one.kind) else "int", loose=loose))

    go(state, node, found, add)
    return state.variable(name)


def extreme(
    state: State, node: ast.AST, found: Value, *, least: bool, default: Scalar | None, key: Callable[[Value], Scalar]
) -> Scalar:
    """The least or greatest element, as a loop."""
    sign = "<" if least else ">"
    if isinstance(found, Fixed):
        return of_two(state, node, [key(item) for item in found.items], least=least)
    name = state.fresh("least" if least else "greatest")
    if isinstance(found, Sequence) and found.keep is None and found.base.length is not None and found.base.at and default is None:
        # A list of public length that is not empty, which is owed: its first element is where the loop starts.
        first = key(found.element(found.base.at(node, Scalar("0", "int", 0))))
        state.store(node, name, replace(first, known=UNKNOWN))

        def keep(value: Value) -> None:
            one = key(value)
            with branch(state, f"if {one.code} {sign} {name}:"):
                state.store(node, name, one)

        go(state, node, found, keep)
        return state.variable(name)
    seen = state.store(node, state.fresh("seen"), Scalar("False", "bool"))
    kind = state.learned.kinds.get(name, default.kind if default else "int")
    state.store(node, name, default or Scalar("0" if kind == "int" else "Fraction(0, 1)", kind))

    def take(value: Value) -> None:
        one = key(value)
        with branch(state, f"if not {seen.code} or {one.code} {sign} {name}:"):
            state.store(node, name, one)
        state.store(node, seen.code, Scalar("True", "bool"))

    go(state, node, found, take)
    if default is None:
        state.owe(seen.code)
    return state.variable(name)


def of_two(state: State, node: ast.AST, parts: list[Scalar], *, least: bool) -> Scalar:
    """The least or greatest of several numbers; of equal ones the first, which no number shows."""
    if not parts:
        raise refuse(node, "the extreme of nothing", "give at least one number")
    name = "min" if least else "max"
    if any(part.kind == "bool" for part in parts):
        raise refuse(node, "the extreme of truth values", "use `and` or `or`", "DPA703")
    result = numbers.number(state, node, parts[0])
    for part in parts[1:]:
        one = numbers.number(state, node, part)
        if result.is_known and one.is_known:
            result = (min if least else max)((result, one), key=lambda each: each.known)
            continue
        loose = numbers.either(one, result, f"({one.code} {'<' if least else '>'} {result.code})")
        one, result = numbers.same_kind(state, node, one, result)
        noisy = one.noisy or result.noisy
        counts = (one.counts_records or result.counts_records) and not noisy
        result = Scalar(f"{name}({result.code}, {one.code})", result.kind, counts_records=counts, noisy=noisy, loose=loose)
    return result


def quantified(state: State, node: ast.AST, found: Value, *, every: bool) -> Scalar:
    """`any` or `all`: whether one element, or each, is true; the loop ends where that is decided."""
    if getattr(found, "shape", "") == "draws":
        raise refuse(node, "draws that end where the answer is known", "draw before", "DPA706")
    if isinstance(found, Fixed):
        parts = [numbers.as_truth(state, node, numbers.as_scalar(state, node, item)) for item in found.items]
        return numbers.connected(node, "and" if every else "or", parts) if parts else numbers.constant(state, every)
    name = state.fresh("every" if every else "some")
    state.store(node, name, Scalar(str(every), "bool"))

    def look(value: Value) -> None:
        one = numbers.as_truth(state, node, numbers.as_scalar(state, node, value))
        with branch(state, f"if {f'not {one.code}' if every else one.code}:"):
            state.store(node, name, Scalar(str(not every), "bool"))

    go(state, node, found, look)
    return Scalar(name, "bool")


def _is_gone_through(state: State, found: Scalar) -> bool:
    """True if a parameter of no declared type has a length, or is gone through, somewhere in its function."""
    for part in (part for one in state.frames[0].body for part in ast.walk(one)):
        match part:
            case ast.Call(func=ast.Name(id="len" | "sum"), args=[ast.Name(id=name)]) | ast.For(iter=ast.Name(id=name)):
                if name == found.origin:
                    return True
            case ast.comprehension(iter=ast.Name(id=name)) if name == found.origin:
                return True
    return False


def truth(state: State, node: ast.AST, found: Value) -> Scalar:
    """A value as a condition; a list is true if it has elements."""
    if (
        isinstance(found, Scalar)
        and found.kind == "real"
        and found.origin
        and found.origin.isidentifier()
        and _is_gone_through(state, found)
    ):
        state.assume(found.origin, "list", "a loop over it")
    if isinstance(found, Sequence) and found.shape == "any":
        raise refuse(node, "a list or an array as a condition", "write `len(...) == 0`", "DPA703")
    if isinstance(found, Fixed) and found.shape not in ("list", "tuple"):
        raise refuse(node, "an array or iterator as a condition", "write `len(...) == 0`, or compare its elements", "DPA703")
    if isinstance(found, (Fixed, Table)) or (isinstance(found, Sequence) and found.shape == "list"):
        return numbers.as_truth(state, node, length(state, node, found))
    return numbers.as_truth(state, node, numbers.as_scalar(state, node, found, "in a condition"))


def elementwise(state: State, node: ast.AST, parts: list[Value], make: Callable[..., Scalar]) -> Value:
    """An operation on numbers, or on arrays element by element."""
    if all(isinstance(part, Scalar) for part in parts):
        return make(*parts)
    for part in parts:
        if isinstance(part, Opaque) or (isinstance(part, Output) and part.shape == "array"):
            return numbers.opaque(state, node, "elements", *parts)
        if not isinstance(part, (Scalar, Fixed, Sequence)):
            raise refuse(node, f"`{ast.unparse(node)}`", "compute with numbers and arrays", "DPA703")
    collections = [part for part in parts if not isinstance(part, Scalar)]
    if not any(getattr(part, "shape", "") == "array" for part in collections):
        raise refuse(node, f"`{ast.unparse(node)}`, an operation on a list,", "use a comprehension, or np.array(...)", "DPA703")
    if all(isinstance(part, Fixed) for part in collections):
        sizes = {len(part.items) for part in collections if isinstance(part, Fixed)}
        if len(sizes) != 1:
            raise refuse(node, "arrays of different lengths", "give them one length", "DPA703")
        columns = [part.items if isinstance(part, Fixed) else (part,) * min(sizes) for part in parts]
        made = [make(*(_computed(state, node, one) for one in row)) for row in zip(*columns, strict=True)]
        return Fixed(tuple(made), "array")
    first = next(part for part in collections if isinstance(part, Sequence))
    for part in collections:
        if not isinstance(part, Sequence) or part.base is not first.base or part.keep is not first.keep:
            raise refuse(node, "an operation on arrays that do not belong together", "compute both from one array", "DPA703")

    def element(value: Value) -> Value:
        row = [part.element(value) if isinstance(part, Sequence) else part for part in parts]
        return make(*(_computed(state, node, one) for one in row))

    return deferred(state, node, replace(first, element=element, shape="array"))


def _computed(state: State, node: ast.AST, found: Value) -> Scalar:
    """An element of an array that is computed with; truth values are refused, which numpy adds up to one truth value."""
    one = numbers.as_scalar(state, node, found)
    if one.kind == "bool":
        raise refuse(node, "an operation on an array of truth values", "count them with np.sum, or write a comprehension", "DPA703")
    return one


def deferred(state: State, node: ast.AST, found: Sequence) -> Value:
    """A collection that is computed where it is used; what it reads may not change any more, and what may fail is tried here."""
    texts, drawn, reads = state.tried(lambda: go(state, node, found, lambda one: mention(state, one)))
    if drawn:
        if state.record_loops or found.base.private or found.keep is not None:
            raise teach(node, "draw per record", "a draw for each record")
        return materialized(state, node, found)
    for name in reads:
        state.captured.setdefault(name, name)
    if any(_PARTIAL.search(text) for text in texts) and not state.trying:
        go(state, node, found, lambda one: mention(state, one))
    return found


def mention(state: State, found: Value) -> None:
    """Evaluate a value without using it, so that what it needs is owed."""
    if isinstance(found, Scalar) and not found.is_known:
        state.store(ast.Pass(), state.fresh("probe"), replace(found, known=UNKNOWN))
    elif isinstance(found, (Fixed, Record)):
        for part in found.items if isinstance(found, Fixed) else found.parts.values():
            mention(state, part)


def materialized(state: State, node: ast.AST, found: Sequence) -> Value:
    """A list that is drawn now: an output."""
    if state.loops or state.depth != 1:
        raise refuse(node, "a list of draws inside a loop", "append to one list at the top of the function", "DPA705")
    if found.shape == "any":
        raise refuse(node, "a list or an array, which nothing says,", "annotate it", "DPA703")
    name = state.fresh("released")
    state.outputs.append(name)
    state.homes[name] = state.frames[-1]
    go(state, node, found, lambda one: extended(state, node, name, one))
    return Output(name, found.shape if found.shape == "array" else "list")


def extended(state: State, node: ast.AST, name: str, found: Value) -> None:
    """An output list grows by one value; what is opaque grows it by the one number that it is made of."""
    wrap = ""
    if name in state.closed:
        raise refuse(node, "a list that grows after it was used", "append to it before", "DPA705")
    if isinstance(found, Opaque):
        if len(found.parts) != 1 or not isinstance(found.parts[0], Scalar):
            raise refuse(node, "a list of texts or roundings of several values", "append each value by itself", "DPA705")
        wrap, found = found.site, found.parts[0]
    one = numbers.as_scalar(state, node, found)
    if one.loose:
        state.learned.untyped = state.learned.untyped or state.line
    if state.wraps.setdefault(name, (wrap, one.kind)) != (wrap, one.kind):
        raise refuse(node, "a list of different types, or rounded in different ways", "append values of one kind", "DPA705")
    state.emit(f"{name}.append({one.code})")


def grown(state: State, node: ast.AST, items: list[Value]) -> Output:
    """A list that is appended to in blocks: an output."""
    if state.loops or state.depth != 1:
        raise refuse(node, "a list that starts in a block and grows", "start it at the top of the function", "DPA705")
    name = state.fresh("released")
    state.outputs.append(name)
    state.homes[name] = state.frames[-1]
    for one in items:
        extended(state, node, name, one)
    return Output(name)


def with_noise(state: State, node: ast.AST, other: Value, noise: Noises, make: Callable[[Scalar, Scalar], Scalar]) -> Value:
    """An array with noise: a draw for each element."""

    def noisy(one: Value) -> Scalar:
        return make(numbers.as_scalar(state, node, one), noise.draw())

    if noise.used or noise.loops != state.loops:
        raise refuse(node, "an array of noise that is used twice, or in a loop", "draw anew for each use", "DPA706")
    if not state.trying:
        noise.used.append(1)
    if isinstance(other, Noises):
        raise refuse(node, "noise on noise in an array", "draw once for each element", "DPA706")
    if isinstance(other, Scalar):
        if not noise.length.is_known or not 1 <= noise.length.known <= MOST_UNROLLED:
            raise refuse(node, "one number with an array of noise", "draw one number", "DPA706")
        other = Fixed((other,) * noise.length.known, "array")
    if isinstance(other, Fixed):
        if not noise.length.is_known or noise.length.known != len(other.items):
            raise refuse(node, "an array and noise of another length", "give `size` the length of the array", "DPA706")
        return Fixed(tuple(state.temporary(node, "noisy", noisy(one)) for one in other.items), "array")
    if not isinstance(other, Sequence):
        raise refuse(node, f"`{ast.unparse(node)}`", "add noise to numbers and arrays", "DPA706")
    if other.base.private or other.keep is not None:
        raise teach(node, "draw per record", "a draw for each record")
    if other.base.length is None or other.base.length.code != noise.length.code:
        raise refuse(node, "an array and noise of another length", "give `size` the length of the array: size=len(...)", "DPA706")
    made = Sequence(other.base, lambda value: noisy(other.element(value)), None, "array")
    return replace_pending(made)


def replace_pending(found: Sequence) -> Sequence:
    """An array of draws that are made where it is used, which `statements` and `calls` do at once."""
    return replace(found, shape="pending")


def settle(state: State, node: ast.AST, found: Value) -> Value:
    """A value that a name may stand for: draws are made now, iterators are refused."""
    if isinstance(found, Sequence) and found.shape == "pending":
        return materialized(state, node, replace(found, shape="array"))
    if isinstance(found, Sequence) and found.shape == "iterator":
        raise teach(node, "two generators", "a name for an iterator", "items")
    if isinstance(found, Fixed) and found.shape == "view":
        raise refuse(node, "a name for a view of a dictionary", "write list(...) around it", "DPA705")
    if isinstance(found, Fixed) and found.shape in ("iterator", "draws"):
        raise teach(node, "two generators", "a name for an iterator", "items")
    if isinstance(found, Uniform):
        raise teach(node, "noise by hand", "a uniform number under a name")
    if isinstance(found, Noises):
        if not found.used and found.length.is_known and found.length.known <= MOST_UNROLLED:
            return Fixed(tuple(found.draw() for _ in range(found.length.known)), "array")
        return found
    return found


def cell(state: State, node: ast.AST, found: Value) -> Value:
    """An entry of a dictionary: a name of its own for a number, so that it may change."""
    found = settle(state, node, found)
    if not isinstance(found, Scalar):
        return state.held(node, found)
    return replace(state.store(node, state.varying_name("cell"), found), known=UNKNOWN)


def frozen(scope: Scope) -> Scope:
    """The names as they are now."""
    outer = None if scope.outer is None else frozen(scope.outer)
    return Scope(dict(scope.names), outer, scope.prefix, scope.stores, scope.body, scope.cores)


def bind_target(state: State, node: ast.expr, scope: Scope, found: Value) -> None:
    """The names of a target of a comprehension, without an assignment."""
    if isinstance(node, ast.Name):
        scope.names[node.id] = found
    elif isinstance(node, (ast.Tuple, ast.List)):
        for target, part in zip(node.elts, unpacked(state, node, found, len(node.elts)), strict=True):
            bind_target(state, target, scope, part)
    else:
        raise refuse(node, "this loop target", "use names", "DPA704")


def unpacked(state: State, node: ast.AST, found: Value, count: int) -> list[Value]:
    """The parts of a value that is unpacked."""
    if isinstance(found, Record) and (found.owner is None or found.owner.ordered):
        if found.missing is not None and len(found.parts) != count:
            return [found.missing(str(place), node) for place in range(count)]
        parts = list(found.parts.values())
    elif isinstance(found, Fixed):
        parts = list(found.items)
    elif isinstance(found, Scalar) and found.origin is not None:
        state.assume(found.origin, f"tuple{count}", "unpacking")
        raise refuse(node, "unpacking a number", "say what the records are", "DPA703")
    else:
        raise refuse(node, "unpacking of something whose length is not written out", "use indices or fields", "DPA705")
    if len(parts) != count:
        raise refuse(node, f"{len(parts)} values for {count} names", "name each", "DPA705")
    return parts
