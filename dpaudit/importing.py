"""Modules of users, imported by name or from a file, with an error that says what is missing where that fails."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from dpaudit.blame import blamed, meant, place_of, said, show_traceback
from dpaudit.errors import DpauditError, ForeignPackage, MissingExtra, TargetFailure
from dpaudit.own_packages import require_own

_COMMON: Final = ("dpaudit", "learners", "matplotlib", "mechanisms", "numpy", "pandas", "scipy", "sklearn")
"""Packages that files of targets often import, one of which a misspelt name may have meant."""


def module_at(place: str) -> ModuleType:
    """Return the module of that name, or the one that a file holds; TargetFailure (DPA401, DPA402) where that fails."""
    return _import_file(place) if place.endswith(".py") else _import_module(place)


def _import_module(name: str) -> ModuleType:
    """Import a module by name, the current folder included, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    require_own(name)
    try:
        return importlib.import_module(name)
    except (KeyboardInterrupt, ForeignPackage, MissingExtra):
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise TargetFailure(
                "DPA401", f"no module named {name!r}{_file_of(name)}. Check the spelling, or write FILE.py:NAME."
            ) from error
        raise _failure(name, error) from error


def _file_of(name: str) -> str:
    """Ask whether a file of the current folder was meant."""
    return meant(f"{name}.py", (one.name for one in Path.cwd().glob("*.py")))


class _FromSource(SourceFileLoader):
    """Compiles what a file holds now: Python's cache of compiled files compares only size and the second of the last change."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the file."""
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _import_file(path: str) -> ModuleType:
    """Import a Python file once per content, its own folder importable as for a script."""
    file = Path(path).resolve()
    if not file.is_file():
        near = meant(Path(path).name, (one.name for one in file.parent.glob("*.py")) if file.parent.is_dir() else ())
        raise TargetFailure("DPA401", f"no file {path}{near}. Paths are taken relative to the current folder.")
    try:
        name = "_dpaudit_" + hashlib.sha256(os.fsencode(file) + file.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise TargetFailure("DPA401", f"{path} cannot be read ({error.strerror}). Check its permissions.") from error
    if name in sys.modules:
        return sys.modules[name]
    specification = importlib.util.spec_from_file_location(name, file, loader=_FromSource(name, str(file)))
    assert specification is not None, "a .py path always has a specification"  # noqa: S101
    assert specification.loader is not None, "and a loader"  # noqa: S101
    module = importlib.util.module_from_spec(specification)
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name, None)
        if isinstance(error, (KeyboardInterrupt, ForeignPackage, MissingExtra)):
            raise
        raise _failure(path, error) from error
    return module


def _failure(place: str, error: BaseException) -> TargetFailure:
    """Say why an import failed and in which line of the user's; texts that may quote data are left to the traceback."""
    show_traceback(error)
    where = place_of(error) or place
    if isinstance(error, DpauditError):
        return TargetFailure(error.code, f"{where}: {error.message}")
    if isinstance(error, ModuleNotFoundError) and error.name:
        others = {*_COMMON, *(name for name in sys.modules if "." not in name and not name.startswith("_"))}
        near = meant(error.name, others - sys.stdlib_module_names) or meant(error.name, sys.stdlib_module_names)
        install = "install it into this environment"  # no command where the name is doubtful: it may be somebody's trap
        remedy = f"Correct the name, or {install}" if near else f"I{install[1:]}: python -m pip install {error.name}"
        return TargetFailure("DPA402", f"{where} needs the module {error.name!r}, which is not installed{near}. {remedy}.")
    raised = f"{place} raised {blamed(error)} while it was imported"
    if isinstance(error, SystemExit):
        return TargetFailure(
            "DPA402",
            f'{raised}, because importing it ends the program. Put what only a program does under: if __name__ == "__main__":',
        )
    if text := said(error):
        return TargetFailure("DPA402", f"{raised}: {text}.")
    command = f"python {place}" if place.endswith(".py") else f"python -m {place}"
    return TargetFailure("DPA402", f"{raised}. Run `{command}` to see its text, which may quote data and is not shown here.")
