"""Statements, interpreted in order; where a test of unknown value parts ways, both are gone until they meet again."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeGuard

from dpaudit.verifier.ordinary import choosing, indexing, iterating, loops, numbers, outcomes, quantiles, walking
from dpaudit.verifier.ordinary.assigning import augmented
from dpaudit.verifier.ordinary.calls import Sources, function_of
from dpaudit.verifier.ordinary.comparing import middle
from dpaudit.verifier.ordinary.files import imported
from dpaudit.verifier.ordinary.methods import append
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State, frame_of
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Entry,
    Iterator,
    Nothing,
    Poison,
    Ref,
    Scalar,
    Sequence,
    Spent,
    Tuple,
    Value,
)

_EXCEPTIONS: Final = tuple(
    name
    for name, one in vars(builtins).items()
    if isinstance(one, type)
    and issubclass(one, Exception)
    and one.__name__ == name
    and not issubclass(one, (Warning, StopIteration, StopAsyncIteration))  # these end iterators, and are turned into others
)
_MOST_ROUNDS: Final = 64


@dataclass(frozen=True)
class _Next:
    """The next round of a loop that is gone through step by step."""

    loop: ast.For | ast.While
    at: Any


@dataclass(frozen=True)
class _End:
    """The end of such a loop."""

    loop: ast.For | ast.While


@dataclass(frozen=True)
class _RoundEnd:
    """The end of one round, which no jump leaves."""


@dataclass(frozen=True)
class _Returned:
    """A return of a value that was computed before."""

    node: ast.Return
    value: Value


Items_ = tuple[Any, ...]
_ON: Final = ("on", None)


def returned(state: State, node: ast.FunctionDef) -> Value:
    """What the body of a function returns; the main function puts it out, and the core program ends."""
    end = execute(state, tuple(node.body))
    if state.dead:
        return Poison("which does not exist")
    value: Value = end[1] if end[0] == "return" else Nothing()
    if state.main is node and state.calls == 1:
        outcomes.put_out(state, node.body[-1], value)
    return value


def execute(state: State, items: Items_) -> tuple[str, Any]:
    """Interpret statements up to their end, or a return: gives which, and the value."""
    while items:
        if state.dead:
            return _ON
        node, items = items[0], items[1:]
        if isinstance(node, _Next):
            ended, items = _round(state, node, items)
            if ended is not None:
                return ended
        elif isinstance(node, (ast.Break, ast.Continue)):
            found = _jump(state, node, items)
            if found is None:
                return _ON
            items = found
        elif isinstance(node, ast.Return):
            state.step(node)
            return _return(state, node, Nothing() if node.value is None else state.value(node.value))
        elif isinstance(node, _Returned):
            return _return(state, node.node, node.value)
        elif isinstance(node, ast.If):
            found_end, items = _if(state, node, items)
            if found_end is not None:
                return found_end
        elif isinstance(node, ast.stmt):
            more = _statement(state, node)
            if more is not None:
                items = (*more, *items)
    return _ON


def _statement(state: State, node: ast.stmt) -> Items_ | None:
    """Interpret a statement; gives what is to be interpreted in its place, where that may leave it."""
    state.step(node)
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.IfExp()))):
            return (choosing.of_one_or_other(node),)
        case ast.Expr():
            _expression(state, node)
        case ast.Assign(targets=targets, value=value):
            found = state.value(value)
            for target in targets:
                state.bind(target, found)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                state.bind(target, state.value(value))
            elif not isinstance(target, ast.Name):
                raise refuse(node, f"`{ast.unparse(node)}`, which evaluates its target,", "take it away")
        case ast.AugAssign():
            augmented(state, node)
        case ast.For():
            return _for(state, node)
        case ast.While():
            return _while(state, node)
        case ast.FunctionDef():
            if node.decorator_list:
                raise refuse(node, "a decorator", "take it away: it may change the function")
            hints = [one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg)]
            for hint in (*hints, node.returns):
                if hint is not None and ast.unparse(hint) not in ("int", "float", "bool", "str", "list", "dict", "tuple", "None"):
                    raise refuse(hint, f"the annotation {ast.unparse(hint)} in a function", "leave it out", "DPA702")
            state.bind(node.name, function_of(state, node))
        case ast.Raise():
            _raise(state, node)
        case ast.Assert():
            test = state.test(node.test)
            state.branch(test, lambda: None, lambda: _ended(state, node, "AssertionError", node.msg))
        case ast.Pass():
            pass
        case ast.Import() | ast.ImportFrom():
            for name, meaning in imported(node):
                if not (isinstance(meaning, Builtin) and (meaning.name in Sources.MODULES or Sources.is_module(meaning.name))):
                    raise refuse(node, f"an import of {name} in a function", "import it at the top of the file", "DPA702")
                state.bind(name, meaning)
        case ast.Match():
            return tuple(choosing.tests_of(node))
        case ast.Try():
            first, found = choosing.fallen_back(state, node)
            if isinstance(first, ast.Return):
                return (_Returned(first, found),)
            assert isinstance(first, ast.Assign)  # noqa: S101 - for the type checker
            state.bind(first.targets[0], found)
        case _:
            raise refuse(node, f"`{ast.unparse(node).splitlines()[0]}`", "use assignments, loops, if and return")
    return None


def _expression(state: State, node: ast.Expr) -> None:
    """An expression whose value is not used."""
    if isinstance(node.value, ast.Constant):
        return
    if isinstance(node.value, ast.Yield):
        append(state, node, state.yielded[-1], Nothing() if node.value.value is None else state.value(node.value.value))
        return
    if not isinstance(node.value, ast.Call):
        raise refuse(node, "an expression whose value is not used", "take it away")
    state.value(node.value)


# Ways.


def _if(state: State, node: ast.If, items: Items_) -> tuple[tuple[str, Any] | None, Items_]:
    """A test: where a way may leave the block, what follows it is interpreted on each way."""
    state.step(node)
    heap, written = dict(state.heap), (len(state.lines), state.grown())
    test = state.value(node.test)
    if isinstance(test, Entry):
        if (len(state.lines), state.grown()) != written or state.changed(heap):
            # The body evaluates the key once more, or not.
            raise refuse(node.test, f"`{ast.unparse(node.test)}`, which has effects,", "compute the key on a line before", "DPA706")
        return None, (*_known_key(state, node, test), *items)
    found = state.truth(node.test, test)
    if found.code in state.facts:
        found = numbers.constant(state, state.facts[found.code])
    if found.is_known:
        return None, (*(node.body if found.known else node.orelse), *items)
    if (parted := middle(found)) is not None:
        ends = [state.quiet(partial(execute, state, (*way, *items))) for way in (node.body, node.orelse)]
        if any(end is None or end[0][0] != "return" for end in ends) or state.calls == 1:
            raise teach(node, "noise by hand", f"`{ast.unparse(node.test)}` of a uniform number")
        return ("return", quantiles.joined(state, node, *parted, ends[0][0][1], ends[1][0][1])), ()
    if not _jumps(node):
        state.branch(found, lambda: execute(state, tuple(node.body)), lambda: execute(state, tuple(node.orelse)))
        return None, items
    end = state.branch(found, lambda: execute(state, (*node.body, *items)), lambda: execute(state, (*node.orelse, *items)))
    return _end_of(state, node, end), ()


def _is_count(node: ast.stmt) -> TypeGuard[ast.Assign]:
    """True for an assignment of a whole number that is written out."""
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int


def _is_entry(target: ast.Subscript, owner: ast.expr, key: ast.expr) -> bool:
    """True for `owner[key]`."""
    return ast.unparse(target) == f"{ast.unparse(owner)}[{ast.unparse(key)}]"


def _known_key(state: State, node: ast.If, found: Entry) -> list[ast.stmt]:
    """`if key in counts`, of a dictionary that a loop fills, in the two forms in which people count: what it amounts to."""
    match node:
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[owner]),
            body=[ast.Assign(targets=[ast.Subscript() as target], value=ast.Constant(value=0) | ast.List(elts=[])) as only],
            orelse=[],
        ) if (_is_count(only) or isinstance(only.value, ast.List)) and _is_entry(target, owner, key):
            state.ensured.add((found.address, found.key.code, "list" if isinstance(only.value, ast.List) else "number"))
            return []
        case ast.If(
            test=ast.Compare(left=key, ops=[ast.In() | ast.NotIn() as op], comparators=[owner]), body=[one], orelse=[other]
        ):
            there, new = (one, other) if isinstance(op, ast.In) else (other, one)
            place = f"{ast.unparse(owner)}[{ast.unparse(key)}]"
            added = {ast.unparse(new).replace(f"{place} = ", f"{place} {way}", 1) for way in ("+= ", f"= {place} + ")}
            if ast.unparse(there) in added and _is_count(new) and place == ast.unparse(new.targets[0]):
                state.ensured.add((found.address, found.key.code, "number"))
                return [there]
    raise refuse(node.test, f"`{ast.unparse(node.test)}`", "count with `counts[key] = counts.get(key, 0) + 1`", "DPA706")


def _end_of(state: State, node: ast.AST, end: Any) -> tuple[str, Any]:
    """The end of two ways that met: both returned, or both went on."""
    if state.dead:
        return _ON
    if isinstance(end, tuple) and isinstance(end[0], str):
        return end
    if isinstance(end, tuple):
        # One way returned, the other came to the end of the function.
        return ("return", end[1])
    raise refuse(node, "a return on one way only", "return on both", "DPA705")


def _jumps(node: ast.stmt) -> bool:
    """True if a statement may leave the block that it stands in."""
    match node:
        case ast.Return() | ast.Break() | ast.Continue():
            return True
        case ast.If(body=body, orelse=orelse):
            return any(map(_jumps, (*body, *orelse)))
        case ast.Try(body=body):
            return any(map(_jumps, body))
        case ast.Match(cases=cases):
            return any(_jumps(one) for case in cases for one in case.body)
        case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
            return any(map(_returns, (*body, *orelse)))
    return False


def _returns(node: ast.stmt) -> bool:
    """True if a statement may return."""
    inner = [] if isinstance(node, ast.FunctionDef) else [part for name in ("body", "orelse") for part in getattr(node, name, [])]
    inner += [part for case in getattr(node, "cases", []) for part in case.body]
    return isinstance(node, ast.Return) or any(map(_returns, inner))


def _breaks(node: ast.stmt) -> bool:
    """True if a statement may break the loop that it stands in."""
    return isinstance(node, ast.Break) or any(map(_breaks, _branches(node)))


def _leaves(node: ast.stmt) -> bool:
    """True if a statement may leave the round that it stands in, but by a return."""
    return isinstance(node, (ast.Break, ast.Continue)) or any(map(_leaves, _branches(node)))


def _branches(node: ast.stmt) -> list[ast.stmt]:
    """The statements in the branches of a test."""
    if isinstance(node, ast.Match):
        return [one for case in node.cases for one in case.body]
    return [*node.body, *node.orelse] if isinstance(node, ast.If) else []


def _return(state: State, node: ast.Return, value: Value) -> tuple[str, Any]:
    """`return`: inside of a loop of the core program only the main function may."""
    if state.main is not None and state.calls == 1 and state.frame == state.main_frame:
        outcomes.put_out(state, node, quantiles.settled(state, node, value))
        return _ON
    if state.loops and state.frame in state.loops[-1].before:
        raise refuse(node, "a return from a loop of a helper", "keep the value, and return after the loop", "DPA706")
    return ("return", value)


def _jump(state: State, node: ast.Break | ast.Continue, items: Items_) -> Items_ | None:
    """What follows a jump; None where the loop of the core program does it."""
    for place, one in enumerate(items):
        if isinstance(node, ast.Continue) and isinstance(one, (_Next, _RoundEnd)):
            return items[place:]
        if isinstance(node, ast.Break) and isinstance(one, _End):
            return items[place + 1 :]
    if isinstance(node, ast.Continue):
        return ()
    loop = state.loops[-1]
    if loop.private and not state.lenient:
        raise refuse(node, "a break in a loop over records", "go through all records", "DPA706")
    assert loop.leave is not None  # noqa: S101 - set by the loop
    loop.breaks.append(dict(state.heap))
    for around in state.loops:
        around.broken = True
    loop.leave()
    state.emit("break")
    state.leave()
    return None


def _raise(state: State, node: ast.Raise) -> None:
    """`raise`: the core program ends with an exception that stands for this place."""
    if node.cause is not None or node.exc is None:
        raise refuse(node, f"`{ast.unparse(node)}`", "raise a plain exception", "DPA706")
    name = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if not isinstance(name, ast.Name) or name.id not in _EXCEPTIONS or _is_bound(state, name.id):
        raise refuse(node, f"`{ast.unparse(node)}`", "raise one of Python's exceptions", "DPA706")
    args = node.exc.args if isinstance(node.exc, ast.Call) else []
    if (isinstance(node.exc, ast.Call) and node.exc.keywords) or any(isinstance(one, ast.Starred) for one in args):
        raise refuse(node, f"`{ast.unparse(node)}`", "raise with a message", "DPA706")
    _ended(state, node, name.id, *args)


def _is_bound(state: State, name: str) -> bool:
    """True if the source binds a name."""
    address: int | None = state.frame
    while address is not None:
        frame = frame_of(state, address)
        if name in frame.known:
            return True
        address = frame.outer
    return False


def _ended(state: State, node: ast.AST, name: str, *message: ast.expr | None) -> None:
    """The core program ends with an exception whose message is evaluated."""
    outcomes.ended(state, node, name, [state.value(one) for one in message if one is not None])


# Loops.


def _for(state: State, node: ast.For) -> Items_ | None:
    """A for loop: round by round, or as a loop of the core program."""
    if node.orelse:
        raise refuse(node, "a loop with else", "write a plain for loop")
    found = state.value(node.iter)
    held = state.object(found) if isinstance(found, Ref) else None
    if isinstance(held, Iterator) and held.what in ("generator", "map", "filter"):
        raise refuse(node.iter, f"a loop over `{ast.unparse(node.iter)}`", "write the test and the element in the loop", "DPA706")
    if isinstance(held, Iterator) and held.what == "enumerate":
        inner = held.parts[0]
        source = state.object(inner) if isinstance(inner, Ref) else None
        if isinstance(found, Ref) and isinstance(inner, Ref) and isinstance(source, Sequence) and not source.index:
            state.change(node, found.address, Spent("an iterator that was gone through before"))

            def begin(count: Scalar, value: Value) -> None:
                state.bind(node.target, Tuple((count, value)))

            indexing.counted(state, node, inner, held.parts[1], begin, partial(_repeated, state, node))
            return None
    if isinstance(found, Ref) and isinstance(held, Iterator) and held.what == "places":
        indexing.over_places(state, node, found, held, partial(_repeated, state, node))
        return None
    if isinstance(found, Ref) and isinstance(held, Iterator) and held.what == "function":
        found = iterating.taken_ahead(state, node.iter, found, held)
    at = iterating.walk(state, node.iter, found)
    if isinstance(at, Sequence):
        pairs = isinstance(held, Iterator) and held.what == "items"

        def begin_one(value: Value) -> None:
            key = value.items[0] if pairs and isinstance(value, Tuple) else value
            if state.lenient and isinstance(key, Scalar) and key.code.startswith("key__"):
                state.distinct.add((len(state.loops), key.code))
            state.bind(node.target, value)

        _repeated(state, node, at, begin_one)
        return None
    return _stepped(state, node, _Next(node, at))


def _repeated(state: State, node: ast.For, at: Sequence, begin: Callable[[Value], None]) -> None:
    """A loop of the core program over a sequence."""

    def body(value: Value) -> None:
        begin(value)
        execute(state, tuple(node.body))

    public = not at.private and at.length is not None and at.length.public
    if any(map(_returns, node.body)) and ((at.private and not state.lenient) or state.frame != state.main_frame):
        raise refuse(node, "a return from a loop", "keep the value, and return after the loop", "DPA706")
    loops.repeat(state, node, lambda: state.opened(node, at), body, private=at.private, public=public)


def _stepped(state: State, node: ast.For | ast.While, first: _Next) -> Items_ | None:
    """A loop that is gone through round by round: where it may return, as part of what it stands in."""
    if any(map(_returns, node.body)):
        return (first, _End(node))
    execute(state, (first, _End(node)))
    return None


def _round(state: State, node: _Next, items: Items_) -> tuple[tuple[str, Any] | None, Items_]:
    """The next round of a loop, ahead of what follows it."""
    loop = node.loop
    state.step(loop)
    if isinstance(loop, ast.While):
        test = state.test(loop.test)
        if not test.is_known:
            raise refuse(loop, "a loop whose test is not known in every round", "write a for loop over a range", "DPA706")
        if not test.known:
            return None, items
        if node.at >= _MOST_ROUNDS:
            raise refuse(loop, f"a loop of more than {_MOST_ROUNDS} rounds", "loop less", "DPA706")
        after = _Next(loop, node.at + 1)
    else:
        found = walking.step(state, loop.iter, node.at)
        if found is None:
            return None, items
        after = _Next(loop, found[1])
        there = walking.guard(state, loop.iter, node.at)
        if there is not None:
            return _perhaps(state, loop, there, found[0], after, items)
        state.bind(loop.target, found[0])
    if any(_breaks(one) or _returns(one) for one in loop.body):
        return None, (*loop.body, after, *items)
    execute(state, (*loop.body, _RoundEnd()))
    return None, (after, *items) if not state.dead else ()


def _perhaps(
    state: State, loop: ast.For, there: Scalar, value: Value, after: _Next, items: Items_
) -> tuple[tuple[str, Any] | None, Items_]:
    """A round that there may not be, of a loop over a list inside of a record."""

    def begin(*rest: Any) -> tuple[str, Any]:
        state.bind(loop.target, value)
        return execute(state, (*loop.body, *rest))

    if any(_breaks(one) or _returns(one) for one in loop.body):
        last = next(place for place, one in enumerate(items) if isinstance(one, _End) and one.loop is loop)
        end = state.branch(there, lambda: begin(after, *items), lambda: execute(state, items[last + 1 :]))
        return _end_of(state, loop, end), ()
    state.branch(there, lambda: begin(_RoundEnd()), lambda: None)
    return None, (after, *items) if not state.dead else ()


def _while(state: State, node: ast.While) -> Items_ | None:
    """A while loop: round by round, or one with an index as a for loop."""
    if node.orelse:
        raise refuse(node, "a loop with else", "write a plain loop")
    with state.trial():
        test = state.test(node.test)
    if test.is_known:
        return _stepped(state, node, _Next(node, 0))
    leaves, returns = any(map(_leaves, node.body)), any(map(_returns, node.body))
    indexing.indexed(state, node, execute, leaves=leaves, returns=returns)
    return None
