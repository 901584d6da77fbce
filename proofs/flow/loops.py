"""A loop as its parts: what is before it, one round from any state, and what follows, so that an invariant can be proven."""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from proofs.flow.following import follow
from proofs.flow.plain import followable
from proofs.flow.terms import Undecided


@dataclass(frozen=True)
class Loop:
    """The parts of a function with one loop; each takes the function's arguments, and the latter two also the state by name.

    `begin` gives the state at first, `test` whether there is another round, `round` the state after it (or what it returns), and
    `end` the result of the function.
    """

    begin: Callable[..., Any]
    test: Callable[..., Any]
    round: Callable[..., Any]
    end: Callable[..., Any]


@dataclass(frozen=True)
class State:
    """The values of the names that a loop changes."""

    names: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.names[name]


def loop_of(function: Callable[..., Any], state: tuple[str, ...], stands: Mapping[str, Any]) -> Loop:
    """The parts of a function whose only loop is a `while` of its own body, with stand-ins for what it reaches."""
    if not isinstance(function, FunctionType):
        raise Undecided(f"{function!r} is no plain function")
    followable(function)  # the source is what runs
    module = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = module.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise Undecided("no function")
    within = [one for one in ast.walk(definition) if isinstance(one, (ast.While, ast.For, ast.Break, ast.Continue))]
    loops = [(place, one) for place, one in enumerate(definition.body) if isinstance(one, ast.While) and not one.orelse]
    if len(within) != 1 or len(loops) != 1:
        raise Undecided(f"{function.__qualname__} has another loop")
    ((place, loop),) = loops
    given = [one.arg for one in (*definition.args.args, *definition.args.kwonlyargs)]
    before, after = definition.body[:place], definition.body[place + 1 :]
    hidden = _stored(*before) - {*state}
    if (
        (_stored(definition) - {*state}) & {*given}
        or hidden & _loaded(loop, *after)
        or (_stored(loop) - {*state}) & _loaded(*after)
    ):
        raise Undecided(f"{function.__qualname__} carries other names than {', '.join(state)}")
    kept = f"return _State({{{', '.join(f'{name!r}: {name}' for name in state)}}})"
    own = [*given, *(name for name in state if name not in given)]

    def part(name: str, names: list[str], body: list[ast.stmt], last: str = "") -> Callable[..., Any]:
        inner = "\n".join(map(ast.unparse, body)) + ("\n" + last if last else "")
        text = f"from __future__ import annotations\ndef {name}({', '.join(names)}):\n{textwrap.indent(inner, '    ')}\n"
        file = f"<{name} of {function.__qualname__} {hashlib.sha256(text.encode()).hexdigest()}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        made: dict[str, Any] = {}
        exec(compile(text, file, "exec", dont_inherit=True), function.__globals__ | {}, made)  # noqa: S102 - a part of the source that runs
        piece = FunctionType(made[name].__code__, function.__globals__, name)
        return follow(piece, {**stands, "_State": State})

    return Loop(
        part("begin", given, before, kept),
        part("test", own, [ast.Return(loop.test)]),
        part("round", own, loop.body, kept),
        part("end", own, after or [ast.Pass()]),
    )


def _stored(*nodes: ast.AST) -> set[str]:
    """The names that are written."""
    names = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))
    return {one.id for one in names if not isinstance(one.ctx, ast.Load)}


def _loaded(*nodes: ast.AST) -> set[str]:
    """The names that are read."""
    names = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Load)}


def require_separate_rounds(function: Callable[..., Any]) -> None:
    """Refuse a loop that carries a name from one round to the next: then one round would not stand for all."""
    for loop in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if isinstance(loop, ast.While):
            raise Undecided("a loop without an end that is known")
        if isinstance(loop, ast.For):
            names = [one for statement in loop.body for one in _names_in_order(statement)]
            written = {name for name, is_read in names if not is_read}
            known = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
            for name, is_read in names:
                if is_read and name in written - known:
                    raise Undecided(f"{name} is carried from one round to the next")
                known |= set() if is_read else {name}


def _names_in_order(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The names of a statement as they are read (True) and written (False), values before targets."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, True
    if isinstance(node, (ast.If, ast.For, ast.While, ast.Try)):
        # What is written on some paths only counts as read at once, if it is written at all.
        inside = [pair for child in ast.iter_child_nodes(node) for pair in _names_in_order(child)]
        yield from (pair for pair in inside if pair[1])
        yield from (pair for pair in inside if not pair[1])
        return
    children = sorted(ast.iter_child_nodes(node), key=lambda child: isinstance(getattr(child, "ctx", None), ast.Store))
    for child in children:
        yield from _names_in_order(child)
    if isinstance(node, ast.Name):
        yield node.id, isinstance(node.ctx, ast.Load)
