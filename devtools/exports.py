"""What the packages export, and where it is defined, read from their files without importing them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

from devtools.survey import PACKAGES, Tree

Definition: TypeAlias = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Export:
    """A name in the `__all__` of a package, with its definition where that is a function or a class."""

    package: Path
    name: str
    path: Path
    node: Definition | None


def exports(tree: Tree) -> list[Export]:
    """Every name that a package of the checkout exports, sorted by package and name."""
    packages = [path for path in tree.python(*PACKAGES) if path.name == "__init__.py"]
    return [Export(path.parent, name, *definition_of(tree, path, name)) for path in packages for name in exported_by(tree, path)]


def exported_by(tree: Tree, path: Path) -> list[str]:
    """The `__all__` of a package, computed from the assignments in its `__init__`."""
    # A lazy package makes its list from a table of names and from the names of what it imports: neither needs the import.
    tree_of_package = tree.parsed(path)
    imports = [node for node in _statements(tree_of_package) if isinstance(node, ast.ImportFrom)]
    names = [alias.asname or alias.name for node in imports for alias in node.names]
    known: dict[str, object] = {name: SimpleNamespace(__name__=name) for name in names}
    known["__builtins__"] = {"dict": dict, "sorted": sorted}
    for name, value in _assigned(tree_of_package):
        with suppress(AttributeError, NameError, TypeError):  # what is computed by imported code is no part of such a table
            known[name] = eval(compile(ast.Expression(value), str(path), "eval"), known)  # noqa: S307 - our own source
    return sorted(str(name) for name in known.get("__all__", ()))  # type: ignore[attr-defined]


def definition_of(tree: Tree, path: Path, name: str) -> tuple[Path, Definition | None]:
    """The file that defines what a module knows by this name, and the definition if it is a function or a class."""
    found: Definition | None = None
    for node in _statements(tree.parsed(path)):
        match node:
            case ast.FunctionDef(name=defined) | ast.ClassDef(name=defined) if defined == name:
                found = node  # the last of several: the others are its signatures
            case ast.ImportFrom(module=str(module), level=0):
                origin = next((alias.name for alias in node.names if (alias.asname or alias.name) == name), None)
                source = module_file(tree, module) if origin else None
                if origin and source and source != path:
                    return definition_of(tree, source, origin)
    return path, found


def module_file(tree: Tree, module: str) -> Path | None:
    """The file of a module of the checkout, none for one of another library."""
    place = tree.root.joinpath(*module.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


def is_a(tree: Tree, path: Path, node: ast.ClassDef, *names: str) -> bool:
    """True if a class has one of these among its bases, however far up."""
    for base in node.bases:
        name = ast.unparse(base).split("[")[0].rpartition(".")[2]
        known = getattr(builtins, name, None)
        if name in names or (isinstance(known, type) and any(kind.__name__ in names for kind in known.__mro__)):
            return True
        file, above = definition_of(tree, path, name)
        if isinstance(above, ast.ClassDef) and above is not node and is_a(tree, file, above, *names):
            return True
    return False


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a module, those inside of `if` and `try` too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if isinstance(child, (ast.If, ast.Try, ast.ExceptHandler)):
            yield from _statements(child)


def _assigned(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that a module gives values to, with the expressions."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
