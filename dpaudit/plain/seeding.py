"""Constant seeds beside a function: noise that anyone who reads its file can draw again."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from dpaudit.dotted_names import dotted, imports_of, seeded_globally

_MADE: Final = ("default_rng", "RandomState", "Random", "PRNGKey", "manual_seed")
"""What makes a generator from a seed."""
_SHARED: Final = {"numpy": "numpy.random", "tensorflow": "tensorflow.random"}
"""Where the functions stand that draw from the generator that a package shares, if not in the package itself."""

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def seeding_place(function: Callable[..., Any], given: str | None = None) -> tuple[Path, int] | None:
    """Find file and line of a constant that seeds, where the file is imported, what its function draws from; None for no such line.

    `given` is the argument in which the function is given a generator, "" for none; without it the last of several arguments, which
    every call has to give. A function that uses it is left alone, since it may draw public numbers from another generator, unless
    a call may leave it out and then draws from a constant seed.
    """
    try:
        code = inspect.unwrap(function)
        path = Path(inspect.getsourcefile(code) or "")
        tree, name = ast.parse(path.read_text(encoding="utf-8")), code.__name__
    except (TypeError, OSError, AttributeError, ValueError, SyntaxError):
        return None  # an object, or no Python source
    if given and (line := _line_of_default(tree, name, given)) is not None:
        return path, line
    lines = sorted(_lines(tree, name, _last_argument(tree, name) if given is None else given))
    return (path, lines[0]) if lines else None


def _last_argument(tree: ast.Module, name: str) -> str:
    """The argument in which a function of a Target is given its generator, the last of several; empty where there is none."""
    found = [one.args.args for one in ast.walk(tree) if isinstance(one, _Function) and one.name == name]
    return found[0][-1].arg if found and len(found[0]) > 1 else ""


def _line_of_default(tree: ast.Module, name: str, given: str) -> int | None:
    """The line of a default value of an argument that is a constant seed, or a generator of one."""
    for function in (one for one in ast.walk(tree) if isinstance(one, _Function) and one.name == name):
        told, named = function.args, [*function.args.posonlyargs, *function.args.args]
        pairs = [*zip(named[::-1], told.defaults[::-1], strict=False), *zip(told.kwonlyargs, told.kw_defaults, strict=True)]
        for argument, value in pairs:
            made = isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _MADE and _has_constant(value)
            if argument.arg == given and (made or (isinstance(value, ast.Constant) and type(value.value) is int)):
                return argument.lineno
    return None


def _lines(tree: ast.Module, name: str, given: str) -> Iterator[int]:
    """Yield the lines of a file that seed with a constant what a function draws from, unless it uses the generator it is given."""
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, _Function)}
    if name not in functions or any(isinstance(one, ast.Name) and one.id == given for one in ast.walk(functions[name])):
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
