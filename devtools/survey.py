"""What the repository holds: its packages, source files, pages, modules and public names, as tests and tools need them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("dpaudit", "mechanisms", "learners", "proofs")
FOLDERS: Final = (*PACKAGES, "devtools", "tests", "benchmarks", "examples")
TEXTS: Final = {".py", ".md", ".toml", ".json", ".html", ".css", ".j2", ".csv"}
"""Endings of the files that people read."""


@dataclass(frozen=True)
class Tree:
    """The files of a checkout; each is read, and parsed, once."""

    root: Path
    _read: dict[Path, str] = field(default_factory=dict, compare=False, repr=False)
    _parsed: dict[Path, ast.Module] = field(default_factory=dict, compare=False, repr=False)

    def python(self, *folders: str) -> list[Path]:
        """Every Python file below the given folders, sorted."""
        found = (path for folder in folders for path in (self.root / folder).rglob("*.py"))
        return sorted(path for path in found if "__pycache__" not in path.parts)

    def texts(self) -> list[Path]:
        """Every file that people read: sources, documents, settings; not the licence and the lock file."""
        below = [path for folder in (*FOLDERS, "docs") for path in (self.root / folder).rglob("*") if path.suffix in TEXTS]
        beside = [path for path in (self.root / "dev", self.root / ".ci" / "run") if path.is_file()]
        return sorted([*below, *self.root.glob("*.md"), *self.root.glob("*.toml"), *beside])

    def pages(self) -> list[Path]:
        """Every document that people read, sorted."""
        return sorted([*self.root.glob("*.md"), *(self.root / "docs").rglob("*.md")])

    def text(self, path: Path) -> str:
        """The content of a file."""
        if path not in self._read:
            self._read[path] = path.read_text(encoding="utf-8")
        return self._read[path]

    def parsed(self, path: Path) -> ast.Module:
        """The syntax tree of a Python file."""
        if path not in self._parsed:
            self._parsed[path] = ast.parse(self.text(path))
        return self._parsed[path]

    def place(self, path: Path, line: int | None = None) -> str:
        """A file, and a line of it, as editors understand it."""
        return f"{path.relative_to(self.root).as_posix()}{f':{line}' if line else ''}"


def module_names(*packages: str) -> list[str]:
    """Dotted names of all modules of the given packages, sorted."""
    found = [
        module.name
        for package in packages
        for module in pkgutil.walk_packages([str(ROOT / package)], prefix=f"{package}.")
        if not module.name.endswith("__main__")
    ]
    return sorted([*packages, *found])


def public_names() -> Iterator[tuple[str, str]]:
    """Each public name as (package, name): what the `__all__` of a package's `__init__` lists; none of them is loaded."""
    for name in module_names(*PACKAGES):
        if ROOT.joinpath(*name.split(".")).is_dir():
            for public in getattr(importlib.import_module(name), "__all__", ()):
                yield name, public
