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
from proofs.flow.releasing import require, require_same
from proofs.flow.terms import Term, Undecided


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
        text = f"def {name}({', '.join(names)}):\n{textwrap.indent(inner, '    ')}"
        return follow(_compiled(function, name, text), {**stands, "_State": State})

    return Loop(
        part("begin", given, before, kept),
        part("test", own, [ast.Return(loop.test)]),
        part("round", own, loop.body, kept),
        part("end", own, after or [ast.Pass()]),
    )


def _compiled(function: FunctionType, name: str, text: str) -> FunctionType:
    """A function of that name, from text made of the source of another, among whose names it runs."""
    text = f"from __future__ import annotations\n{text}\n"
    file = f"<{name} of {function.__qualname__} {hashlib.sha256(text.encode()).hexdigest()}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    made: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), function.__globals__ | {}, made)  # noqa: S102 - parts of the source that runs
    return FunctionType(made[name].__code__, function.__globals__, name)


@dataclass(frozen=True)
class Cut:
    """One path of a function that is cut at its loops.

    `entered` are the loops that it came to, in order, each with its number, the state at first, and what a `for` goes through.
    `ended` is the loop of which it did one round, with the state after it; None where the function returned `result`.
    """

    entered: tuple[tuple[int, State, Any], ...]
    ended: tuple[int, State] | None
    result: Any


class _Ended(BaseException):
    """A round is over."""


def cut(function: Callable[..., Any], stands: Mapping[str, Any], *states: Callable[[], Mapping[str, Any]]) -> Callable[..., Cut]:
    """The function with every loop cut: it goes on from any state, either out of the loop or through one round that ends the path.

    `states` give, for each loop in the order of the source, the names that it changes, with values that stand for all; "next" is
    what a `for` goes on with. What else a loop writes is unknown after it.
    """
    if not isinstance(function, FunctionType):
        raise Undecided(f"{function!r} is no plain function")
    followable(function)  # the source is what runs
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise Undecided("no function")
    definition.decorator_list = []
    cutter = _Cutter(function.__qualname__, [[name for name in state() if name != "next"] for state in states])
    text = ast.unparse(ast.fix_missing_locations(cutter.visit(definition)))
    if cutter.count != len(states):
        raise Undecided(f"{function.__qualname__} has {cutter.count} loops")
    entered: list[tuple[int, State, Any]] = []
    fresh: dict[int, Mapping[str, Any]] = {}

    def enter(place: int, state: dict[str, Any], items: Any) -> tuple[Any, ...]:
        entered.append((place, State(state), items))
        fresh[place] = states[place]()
        return tuple(fresh[place][name] for name in state)

    def end(place: int, state: dict[str, Any]) -> None:
        raise _Ended((place, State(state)))

    piece = _compiled(function, function.__name__, text)
    piece.__defaults__, piece.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    names = {"_enter": enter, "_end": end, "_next": lambda place: fresh[place]["next"]}
    program = follow(piece, {**stands, **names, "_goes_on": lambda place: Term(f"another round of loop {place}")})

    def run(*values: Any, **named: Any) -> Cut:
        entered.clear()
        try:
            result, ended = program(*values, **named), None
        except _Ended as round_:
            result, ended = None, round_.args[0]
        return Cut((*entered,), ended, result)

    return run


class _Cutter(ast.NodeTransformer):
    """Turns each loop into its first state, any state, and perhaps a round."""

    def __init__(self, name: str, states: list[list[str]]) -> None:
        self.name, self.states, self.count = name, states, 0

    def visit_Break(self, _: ast.AST) -> Any:
        """Refuse ways out of a round that are not its end."""
        raise Undecided(f"{self.name} leaves a loop in the middle")

    def visit_Continue(self, _: ast.AST) -> Any:
        """Refuse these too."""
        raise Undecided(f"{self.name} goes on in the middle of a round")

    def visit_While(self, loop: ast.While) -> list[ast.stmt]:
        """Cut a loop with a test."""
        place = self.count
        return self._cut(loop, "None", ast.unparse(loop.test), "pass", place)

    def visit_For(self, loop: ast.For) -> list[ast.stmt]:
        """Cut a loop over items, of which there may always be another."""
        place = self.count
        target = f"{ast.unparse(loop.target)} = _next({place})"
        return self._cut(loop, ast.unparse(loop.iter), f"_goes_on({place})", target, place)

    def _cut(self, loop: ast.While | ast.For, items: str, test: str, begin: str, place: int) -> list[ast.stmt]:
        """The statements in place of a loop."""
        self.count += 1
        if loop.orelse or place >= len(self.states):
            raise Undecided(f"{self.name} has a loop that is not expected")
        state = self.states[place]
        if changed := _changed(loop) - {*state}:
            raise Undecided(f"{self.name} changes {', '.join(sorted(changed))} in a loop")
        kept = f"{{{', '.join(f'{name!r}: {name}' for name in state)}}}"
        names = "".join(f"{name}, " for name in state)
        entry = f"({names}) = _enter({place}, {kept}, {items})"
        lost = [f"{name} = None; del {name}" for name in sorted(_stored(loop) - {*state})]
        self.generic_visit(loop)
        body = [*ast.parse(begin).body, *loop.body, *ast.parse(f"_end({place}, {kept})").body]
        round_ = ast.If(ast.parse(test, mode="eval").body, body, [])
        return [*ast.parse("\n".join([entry, *lost])).body, round_]


def require_part(part: Any, whole: Any, number: Any, size: int) -> None:
    """Prove that part of an array is one of those that follow each other until the whole is covered, of a size each."""
    require(part.op == "item" and part.parts[0] is whole and part.parts[1].step is None, "part of another array")
    start, stop = part.parts[1].start, part.parts[1].stop
    require_same((start, stop), (Term("each", Term("range", 0, number, size)), start + size), "a part")


def _changed(loop: ast.AST) -> set[str]:
    """The names of what a loop changes in place: written entries and fields, and what has methods called for nothing else."""
    places = [
        one for one in ast.walk(loop) if isinstance(one, (ast.Subscript, ast.Attribute)) and not isinstance(one.ctx, ast.Load)
    ]
    calls = [one.value.func for one in ast.walk(loop) if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    found = set()
    for place in (*places, *(one for one in calls if isinstance(one, ast.Attribute))):
        inner: ast.AST = place
        while isinstance(inner, (ast.Subscript, ast.Attribute)):
            inner = inner.value
        found |= {inner.id} if isinstance(inner, ast.Name) else set()
    return found


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
