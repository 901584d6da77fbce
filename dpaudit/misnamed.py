"""What was probably meant by a name under which there is no target, and the line to write instead."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import FunctionType, ModuleType

from dpaudit.blame import meant
from dpaudit.errors import TargetFailure


def what_is_there(name: str) -> str:
    """Say what a name that is no bundled target stands for in the current folder, and what to write; "" for nothing there."""
    path = Path(name)
    if path.suffix == ".ipynb":
        return (
            f"{name} is a notebook, and targets are loaded from files that end in .py. Call dpaudit.audit(target) in a cell of the "
            "notebook, or move function and Target into a file: dpaudit audit FILE.py."
        )
    if path.is_dir():
        files = sorted(one.as_posix() for one in path.glob("*.py"))
        return f"{name!r} is a folder. Name a file in it: dpaudit audit {files[0] if files else path.as_posix() + '/FILE.py'}."
    if Path(f"{name}.py").is_file():
        return f"no bundled target is called {name!r}, but there is a file of that name. Write: dpaudit audit {name}.py."
    if path.is_file():
        return f"{name} is no Python file. Targets are in files that end in .py; records are given to them with --data {name}."
    return ""


def parted(names: Sequence[str]) -> str:
    """Say that a file and the name of something in it were given as two targets, and what to write; "" where they were not."""
    for file, name in pairwise(names):
        if file.endswith(".py") and name.isidentifier():
            with suppress(OSError, SyntaxError, ValueError):
                if any(name in _names_of(node) for node in ast.parse(Path(file).read_bytes()).body):
                    return f"{file} and {name} are two targets here. For {name} in {file}, write {file}:{name}, with a colon."
    return ""


def require_file(name: str) -> None:
    """Refuse a file of records that does not exist, and name one that was probably meant (DPA406)."""
    path = Path(name)
    with suppress(OSError, ValueError):  # what cannot even be looked for is refused where it is read
        if not path.exists():
            near = meant(path.name, (one.name for one in path.parent.glob("*")))
            raise TargetFailure("DPA406", f"no file {name}{near}. Paths are taken relative to the current folder.")


def place_in(module: ModuleType, name: str) -> str:
    """File and line where a module gives a name its value, "first.py:7"; the file alone, or the module, where that is not seen."""
    file = getattr(module, "__file__", None)
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return Path(file).name if file else module.__name__
    lines = [node.lineno for node in tree.body if name in _names_of(node)]
    return f"{Path(str(file)).name}:{lines[-1]}" if lines else Path(str(file)).name


def own_functions(module: ModuleType) -> list[FunctionType]:
    """Return the functions that a module itself defines, but those for its own use."""
    held = [one for name, one in vars(module).items() if isinstance(one, FunctionType) and not name.startswith("_")]
    return [one for one in held if one.__module__ == module.__name__]


def how_to_make_one(module: ModuleType, place: str, value: object = None) -> str:
    """Say how a function is audited: the given one, or the first that a module defines."""
    function = value if isinstance(value, FunctionType) else next(iter(own_functions(module)), None)
    if function is None:
        return "Write a function that releases something, and name it: dpaudit audit FILE.py:NAME --epsilon 1 --data FILE.csv"
    return f"To audit a function of it, write: dpaudit audit {place}:{function.__name__} --epsilon 1 --data FILE.csv"


def near_in(module: ModuleType, name: str) -> str:
    """Ask whether a name that a module does have was meant."""
    return meant(name, (one for one in vars(module) if not one.startswith("_")))


def _names_of(node: ast.stmt) -> list[str]:
    """The names that a statement gives a value."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [one.id for one in targets if isinstance(one, ast.Name)]
