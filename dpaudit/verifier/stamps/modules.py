"""The top-level definitions of the modules of a source tree, read from the text alone; nothing is imported."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from dpaudit.verifier.stamps.canonical import is_text_alone
from dpaudit.verifier.stamps.names import Import, imports_of

_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHANGING: Final = frozenset(
    (
        *("append", "extend", "insert", "add", "update", "setdefault", "fill", "sort", "reverse"),
        *("pop", "popitem", "remove", "discard", "clear"),
    )
)
"""Methods that change the object they are called on."""
_INNER: Final = re.compile(r"^[ \t]+class ", re.MULTILINE)
HOMES: Final = "_HOMES"
"""The table of a package that loads its names on first use (`dpaudit.lazy`)."""


@dataclass(frozen=True, eq=False)
class Module:
    """The top level of one file."""

    path: str  # below the root of the tree, with slashes
    package: str  # the dotted name that relative imports begin in; empty for a file outside of the packages
    definitions: Mapping[str, tuple[ast.stmt, ...]]  # by name the functions, classes and assignments that give it its value
    # By name what imports bind it to; several where it is imported in one place or another.
    imports: Mapping[str, tuple[Import, ...]]
    effects: tuple[ast.stmt, ...]  # statements that do something else when the module is imported
    homes: Mapping[str, str]  # by public name the module that a lazy package loads it from
    body: tuple[ast.stmt, ...]  # all of its statements
    has_inner: bool  # whether classes may stand within other definitions

    @cached_property
    def writers(self) -> dict[str, tuple[str, ...]]:
        """By name the definitions that change it: `global`, a part that is set, or a method that changes its object."""
        found: dict[str, set[str]] = {}
        for statement in self.body:
            if isinstance(statement, _DEFINITIONS):
                for name in {one for node in ast.walk(statement) for one in _changed_by(node)}:
                    found.setdefault(name, set()).add(statement.name)
        return {name: tuple(sorted(names)) for name, names in found.items()}


@dataclass(frozen=True)
class Tree:
    """A folder that holds packages, and perhaps tests; files must not change while one object is in use."""

    root: Path
    # Names of the packages whose source counts, the lowest layer first; everything else is another library.
    packages: tuple[str, ...]
    # Folders whose classes stand for no class or protocol outside of them, because no code there hands them over.
    aside: tuple[str, ...] = ()
    _modules: dict[str, Module | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    _places: dict[tuple[str, str], str | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def module(self, path: str) -> Module | None:
        """The module at a path."""
        if path not in self._modules:
            text = self.text(path)
            self._modules[path] = None if text is None else parse_module(path, self._package(path), text)
        return self._modules[path]

    def text(self, path: str) -> str | None:
        """The text of a file."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def find(self, dotted: str, beside: str = "") -> str | None:
        """The file of a module (The Python Language Reference, "The import system")."""
        first = dotted.split(".", maxsplit=1)[0]
        folders = [""] if first in self.packages else []
        if beside and beside.split("/", maxsplit=1)[0] not in self.packages and first not in self.packages:
            folders = [beside.rpartition("/")[0] + "/"]
        for folder in folders:
            if (folder, dotted) not in self._places:
                stem = folder + dotted.replace(".", "/")
                there = [path for path in (f"{stem}.py", f"{stem}/__init__.py") if (self.root / path).is_file()]
                self._places[folder, dotted] = there[0] if there else None
            if (path := self._places[folder, dotted]) is not None:
                return path
        return None

    def files(self) -> list[str]:
        """All files of the packages but certificates, records and compiled ones."""
        return sorted(
            one.relative_to(self.root).as_posix()
            for package in self.packages
            for one in (self.root / package).rglob("*")
            if one.is_file() and "__pycache__" not in one.parts and one.suffix != ".pyc"
        )

    def sources(self) -> list[str]:
        """The modules whose classes may stand for one that is named elsewhere."""
        return [one for one in self.files() if one.endswith(".py") and not one.startswith(self.aside)]

    def layer(self, path: str) -> int:
        """The layer of a file's package."""
        first = path.split("/", maxsplit=1)[0]
        return self.packages.index(first) if first in self.packages else len(self.packages)

    def _package(self, path: str) -> str:
        """The dotted name of the package that a file belongs to."""
        folder = path.rpartition("/")[0]
        return folder.replace("/", ".") if path.split("/", maxsplit=1)[0] in self.packages else ""


@lru_cache(maxsize=2048)
def parse_module(path: str, package: str, text: str) -> Module | None:
    r"""Read the top level of a module."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    definitions: dict[str, tuple[ast.stmt, ...]] = {}
    imports: dict[str, tuple[Import, ...]] = {}
    effects: list[ast.stmt] = []
    for statement in body:
        for name, imported in _imports_in(statement, package):
            imports[name] = (*imports.get(name, ()), imported)
        for name in _defined_by(statement):
            definitions[name] = (*definitions.get(name, ()), statement)
        if _acts(statement):
            effects.append(statement)
    homes = _homes(definitions.get(HOMES, ()))
    return Module(path, package, definitions, imports, tuple(effects), homes, tuple(body), bool(_INNER.search(text)))


def file_digest(path: Path) -> str:
    """Hash the bytes of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _imports_in(statement: ast.stmt, package: str) -> Iterator[tuple[str, Import]]:
    """The imports of a top-level statement, or within one that is not a definition."""
    if isinstance(statement, _DEFINITIONS):
        return
    yield from imports_of(statement, package).items()
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.stmt):
            yield from _imports_in(part, package)
        elif isinstance(part, (ast.ExceptHandler, ast.match_case)):
            for one in part.body:
                yield from _imports_in(one, package)


def _defined_by(statement: ast.stmt) -> set[str]:
    """The names that a statement of the top level gives a value, imports aside."""
    if isinstance(statement, _DEFINITIONS):
        return {statement.name}
    if _is_for_types(statement):
        return set()
    found = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return found | {one.name for one in ast.walk(statement) if isinstance(one, _DEFINITIONS)}


def _acts(statement: ast.stmt) -> bool:
    """True if a statement of the top level may do more than define names."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return not all(isinstance(one, (ast.Name, ast.Tuple)) for one in targets)
    plain = isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Pass))
    return not (plain or is_text_alone(statement) or _is_for_types(statement))


def _is_for_types(statement: ast.stmt) -> bool:
    """True if a statement is `if TYPE_CHECKING` without an else."""
    return isinstance(statement, ast.If) and not statement.orelse and ast.unparse(statement.test).endswith("TYPE_CHECKING")


def _changed_by(node: ast.AST) -> Sequence[str]:
    """The names whose value one node changes, local ones among them."""
    if isinstance(node, ast.Global):
        return node.names
    part: ast.AST | None = None
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        part = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        part = node.func.value
    while isinstance(part, (ast.Subscript, ast.Attribute)):
        part = part.value
    return (part.id,) if isinstance(part, ast.Name) else ()


def _homes(statements: Sequence[ast.stmt]) -> dict[str, str]:
    """The entries of a table of lazily loaded names: constants, and `**dict.fromkeys` of constants."""
    found: dict[str, str] = {}
    for statement in statements:
        table = getattr(statement, "value", None)
        for key, value in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
            try:
                if key is None and isinstance(value, ast.Call) and ast.unparse(value.func) == "dict.fromkeys":
                    names, home = (ast.literal_eval(one) for one in value.args)
                    found |= dict.fromkeys(names, home)
                elif key is not None:
                    found[ast.literal_eval(key)] = ast.literal_eval(value)
            except ValueError:
                continue
    return found
