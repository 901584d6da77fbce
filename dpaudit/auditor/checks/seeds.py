"""Constant seeds beside an audited function: noise that anyone who reads the file can draw again."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from dpaudit.results import Property
from dpaudit.scan.calls import seeded_globally
from dpaudit.scan.names import dotted, imports_of
from dpaudit.targets import Target, short_path

_UNKNOWN_NOISE: Final = "noise cannot be drawn again"
_MADE: Final = ("default_rng", "RandomState", "Random", "PRNGKey", "manual_seed")
"""What makes a generator from a seed."""
_SHARED: Final = {"numpy": "numpy.random", "tensorflow": "tensorflow.random"}
"""Where the functions stand that draw from the generator that a package shares, if not in the package itself."""

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def check_seeds(target: Target) -> tuple[Property, ...]:
    """Find a constant that seeds, where a file is imported, what its function draws from; nothing where none is found.

    The attack cannot see this: it gives each run randomness of its own, also in place of a shared generator. A function that
    uses the generator it is given is left alone, since it may draw public numbers from the other one.
    """
    try:
        function = inspect.unwrap(getattr(target.function, "func", target.function))
        path = Path(inspect.getsourcefile(function) or "")
        tree, name = ast.parse(path.read_text(encoding="utf-8")), function.__name__
    except (TypeError, OSError, AttributeError, ValueError, SyntaxError):
        return ()  # an object, or no Python source
    lines = sorted(_lines(tree, name))
    if not lines:
        return ()
    said = (
        f"{short_path(path)}:{lines[0]} gives its generator a constant seed; who reads that can draw the same noise and subtract it"
    )
    return (Property(_UNKNOWN_NOISE, "violated", 1, said),)


def _lines(tree: ast.Module, name: str) -> Iterator[int]:
    """Yield the lines of a file that seed what a function draws from with a constant."""
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, _Function)}
    if name not in functions or _uses_its_generator(functions[name]):
        return
    modules = imports_of([tree])
    used = {_resolve(one, modules) for part in _reached(functions, name) for one in ast.walk(part) if isinstance(one, ast.expr)}
    for statement in tree.body:
        if isinstance(statement, _Function | ast.ClassDef):
            continue
        kept = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        for call in (one for one in ast.walk(statement) if isinstance(one, ast.Call) and _has_constant(one)):
            seeded = _resolve(call.func, modules)
            package = seeded_globally(seeded)
            shared = package and any(one.startswith(f"{_SHARED.get(package, package)}.") for one in used)
            if shared or (seeded.rpartition(".")[2] in _MADE and call is getattr(statement, "value", None) and kept & used):
                yield call.lineno


def _uses_its_generator(function: _Function) -> bool:
    """True if a function of data and a generator does anything with the generator."""
    last = function.args.args[-1].arg if len(function.args.args) > 1 else ""
    return any(isinstance(one, ast.Name) and one.id == last for one in ast.walk(function))


def _reached(functions: dict[str, _Function], name: str) -> list[_Function]:
    """Return a function and those of its file that it names."""
    found: dict[str, _Function] = {}
    waiting = {name}
    while waiting:
        found |= {one: functions[one] for one in waiting}
        named = {one.id for part in found.values() for one in ast.walk(part) if isinstance(one, ast.Name)}
        waiting = (named & set(functions)) - set(found)
    return list(found.values())


def _resolve(node: ast.expr, modules: dict[str, str]) -> str:
    """Return a dotted name as its import has it; empty for what is none."""
    first, dot, rest = dotted(node).partition(".")
    return f"{modules.get(first, first)}{dot}{rest}"


def _has_constant(call: ast.Call) -> bool:
    """True if an integer in the code is among the arguments of a call."""
    given = [*call.args, *(one.value for one in call.keywords)]
    return any(isinstance(one, ast.Constant) and type(one.value) is int for one in given)
