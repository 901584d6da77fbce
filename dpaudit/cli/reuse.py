"""`--reuse`: reports kept by the digest of all that they depend on, and shown again while none of it has changed."""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from dpaudit.codec import encode
from dpaudit.errors import DpauditError
from dpaudit.own_packages import NEEDS
from dpaudit.results import Report, Settings, Verdict

FOLDER: Final = Path(".dpaudit")
"""Where reports are kept, in the current folder; it ignores itself in git."""

_LARGEST: Final = 2**30
"""Most bytes of a file that a string of the source names and whose content is part of the digest."""


def digest_of(names: Sequence[str], settings: Settings) -> str:
    """Digest what an audit depends on: source with its imports, files named in it, the data, settings and versions."""
    found = hashlib.sha256()
    parts = [sys.version, _versions(), json.dumps(encode(settings, Settings), sort_keys=True), *names]
    for part in parts:
        found.update(f"{len(part)}:{part}".encode())
    files = [*_installed(), *(path for name in names for path in _sources(name))]
    if settings.data is not None:
        files.append(Path(settings.data))
    for path in dict.fromkeys(files):
        found.update(f"{path}:".encode())
        with suppress(OSError):
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def kept_report(digest: str) -> Report | None:
    """Return the report of this digest with a note that it is reused; None where there is none that can be read."""
    from dpaudit.report import read_report

    path = _path(digest)
    try:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(path.stat().st_mtime))
        report = read_report(str(path))
    except (OSError, DpauditError):
        return None
    said = f"nothing was run; the audit of {when} had the same source, data, settings and versions"
    return replace(report, env=tuple(sorted({**dict(report.env), "reused": said}.items())))


def keep_report(digest: str, report: Report) -> None:
    """Keep a finished report; one that was interrupted, or of which a target failed, is not kept."""
    from dpaudit.report import write_json

    if report.complete and report.results and all(result.verdict is not Verdict.FAILED for result in report.results):
        path = _path(digest)
        with suppress(OSError):  # a folder that cannot be written keeps nothing
            path.parent.mkdir(exist_ok=True)
            (path.parent / ".gitignore").write_text("*\n")
            write_json(report, path)


def _path(digest: str) -> Path:
    """Return the file of a digest."""
    return FOLDER / f"{digest}.json"


def _installed() -> Iterator[Path]:
    """Yield the sources of this distribution: their content, since a version may be under development."""
    around = Path(__file__).resolve().parents[2]
    for name in ("dpaudit", *NEEDS):
        yield from sorted((around / name).rglob("*.py"))


def _versions() -> str:
    """Return every installed distribution with its version: a function may use any of them."""
    from importlib.metadata import distributions

    return " ".join(sorted({f"{one.name}=={one.version}" for one in distributions()}))


def _sources(name: str) -> Iterator[Path]:
    """Yield the file of a target, what it imports from the user's folders, and the files that its strings name."""
    place = name if name.endswith(".py") else name.rpartition(":")[0]
    if not place:
        return
    start = Path(place) if place.endswith(".py") else _module(place, [Path.cwd()])
    waiting, seen = [start] if start is not None else [], set[Path]()
    folders = list(dict.fromkeys([*([start.resolve().parent] if start is not None else []), Path.cwd()]))
    while waiting:
        path = waiting.pop().resolve()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        yield path
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue
        waiting += _imported(tree, path, folders)
        yield from _named_files(tree)


def _imported(tree: ast.AST, path: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files of the user's that a source imports."""
    for node in ast.walk(tree):
        names: list[str] = []
        places: Sequence[Path] = folders
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [base, *(f"{base}.{one.name}".strip(".") for one in node.names)]
            places = [path.parents[node.level - 1]] if 0 < node.level <= len(path.parents) else folders
        for name in filter(None, names):
            for end in range(1, name.count(".") + 2):  # a package runs before the module inside
                found = _module(".".join(name.split(".")[:end]), places)
                if found is not None:
                    yield found


def _module(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the file of a module in one of some folders."""
    inner = Path(*name.split("."))
    tried = (folder / one for folder in folders for one in (inner.with_suffix(".py"), inner / "__init__.py"))
    return next((path for path in tried if path.is_file()), None)


def _named_files(tree: ast.AST) -> Iterator[Path]:
    """Yield existing files that a string of a source is the path of, such as data that a function reads itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 300 and "\n" not in node.value:
            with suppress(OSError, ValueError):
                path = Path(node.value)
                if path.is_file() and path.stat().st_size <= _LARGEST:
                    yield path
