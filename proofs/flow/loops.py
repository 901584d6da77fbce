"""A loop as its parts: what is before it, one round from any state, and what follows, so that an invariant can be proven."""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import textwrap
from collections.abc import Callable, Mapping
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
        part("begin", given, definition.body[:place], kept),
        part("test", own, [ast.Return(loop.test)]),
        part("round", own, loop.body, kept),
        part("end", own, definition.body[place + 1 :] or [ast.Pass()]),
    )
