"""What the repository holds: its packages, source files, modules and public names, as tests and tools need them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("dpaudit", "mechanisms", "learners", "proofs")
FOLDERS: Final = (*PACKAGES, "devtools", "tests", "benchmarks", "examples")


def python_files(*folders: str) -> list[Path]:
    """Every Python file below the given folders of the checkout, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)


def text_files() -> list[Path]:
    """Every file that people read: sources, documents, settings; not the licence and the lock file."""
    kinds = {".py", ".md", ".toml", ".json", ".html", ".css", ".j2", ".csv"}
    folders = [path for folder in (*FOLDERS, "docs") for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    return sorted([*folders, *ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "dev", ROOT / ".ci" / "run"])


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
