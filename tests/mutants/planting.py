"""Faults planted in loaded code: the mutated source is compiled, and the function it changes runs the new code until it is undone.

No file is written and no module is loaded twice, so that everything which imported the function before sees the fault.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("mechanisms", "dpaudit.accounting", "dpaudit.auditor", "dpaudit.ledger", "dpaudit.verifier", "learners", "proofs")
"""The packages in which faults are planted."""


@dataclass(frozen=True)
class Fault:
    """One text of a source file in the place of another, what that does, and the checks that are to notice it."""

    name: str
    file: str
    old: str
    new: str
    what: str
    killers: tuple[str, ...]


def source(fault: Fault) -> str:
    """The file as it is."""
    return (ROOT / fault.file).read_text(encoding="utf-8")


def module_of(fault: Fault) -> ModuleType:
    """The loaded module of the file."""
    return importlib.import_module(fault.file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """The fault, inside the block."""
    before, module = source(fault), module_of(fault)
    if before.count(fault.old) != 1:
        raise LookupError(f"{fault.name}: the old text stands {before.count(fault.old)} times in {fault.file}")
    line = before[: before.index(fault.old)].count("\n") + 1
    after = before.replace(fault.old, fault.new)
    node, path = enclosing(ast.parse(before), line)
    undo = replace_function(module, after, path) if isinstance(node, ast.FunctionDef) else replace_constant(module, after, node)
    forget()
    try:
        yield
    finally:
        undo()
        forget()


def enclosing(tree: ast.Module, line: int) -> tuple[ast.stmt, tuple[str, ...]]:
    """The function, method or constant in which a line stands, and the names that lead to it."""
    body, path = tree.body, ()
    while True:
        node = next(item for item in body if first_line(item) <= line <= item.end_lineno)
        path = (*path, getattr(node, "name", ""))
        if not isinstance(node, ast.ClassDef):
            return node, path
        body = node.body


def first_line(node: ast.stmt) -> int:
    """The line of a statement's first decorator, or its own."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def replace_function(module: ModuleType, text: str, path: tuple[str, ...]):
    """Give the loaded function the code of the changed text; the result undoes it."""
    codes = [code for code in all_code(compile(text, module.__file__ or "", "exec")) if code.co_qualname == ".".join(path)]
    function = plain_function(inspect.getattr_static(owner(module, path[:-1]), path[-1]))
    kept = function.__code__
    # Of several definitions of one name, the last is the one that runs; the others are its signatures.
    function.__code__ = codes[-1]

    def undo() -> None:
        function.__code__ = kept

    return undo


def owner(module: ModuleType, path: tuple[str, ...]):
    """The module or class that holds a name."""
    place = module
    for name in path:
        place = getattr(place, name)
    return place


def all_code(code: CodeType) -> Iterator[CodeType]:
    """A code object and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_code(constant)


def plain_function(thing) -> FunctionType:
    """The function behind a decorated one."""
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, cached_property):
        thing = thing.func
    elif isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    return inspect.unwrap(thing)


def replace_constant(module: ModuleType, text: str, node: ast.stmt):
    """Give a module's constant its changed value, in every module that imported it; the result undoes it."""
    name = assigned(node)
    kept, expression = vars(module)[name], next(item.value for item in ast.parse(text).body if assigned(item) == name)
    value = eval(compile(ast.Expression(expression), module.__file__ or "", "eval"), vars(module))  # noqa: S307 - our own source
    holders = [holder for holder in shipped() if vars(holder).get(name) is kept]
    for holder in holders:
        setattr(holder, name, value)

    def undo() -> None:
        for holder in holders:
            setattr(holder, name, kept)

    return undo


def assigned(node: ast.stmt) -> str | None:
    """The name to which a statement gives a value."""
    targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets if isinstance(node, ast.Assign) else [None]
    return getattr(targets[0], "id", None)


def shipped() -> list[ModuleType]:
    """The loaded modules of the packages in which faults are planted."""
    return [module for name, module in list(sys.modules.items()) if any(f"{name}.".startswith(f"{top}.") for top in SHIPPED)]


def forget() -> None:
    """Empty every cache of results, so that no table of another code is used."""
    for module in shipped():
        for thing in vars(module).values():
            getattr(thing, "cache_clear", lambda: None)()
