"""Reading: which files hold Python, their syntax trees, and what could not be read."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_LARGEST: Final = 4_000_000
_PASSED_BY: Final = {"node_modules", "site-packages", "__pycache__", "build", "dist", "venv", "env"}
_TESTS: Final = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")
_MAGIC: Final = re.compile(r"^(\s*)[%!?]")
_SUPPRESSION: Final = re.compile(r"#\s*dpaudit:\s*ignore\[([A-Za-z0-9,\s]+)\](.*)")
_SIGNS: Final = (
    "differential priva", "differentially priva", "differential_priva", "differentially_priva", "differential-priva",
    "differentially-priva", "differentialpriva", "differentiallypriva", "diffprivlib", "opacus", "opendp", "dp_accounting",
    "tensorflow_privacy", "pydp", "snsql", "pipeline_dp", "tmlt", "autodp", "jax_privacy", "dpsgd", "dp_sgd", "dp-sgd", "dp sgd",
    "laplace", "noise_multiplier", "privacy_budget", "privacy budget", "dp_noise", "eps-dp", "epsilon-dp", "randomized response",
    "randomised response", "randomized_response", "randomised_response", "rappor",
)  # fmt: skip
_SCALES: Final = re.compile(r"sensitivity\s{0,9}/|/\s{0,9}(self\.)?eps")
"""What a file that uses differential privacy has somewhere in its text."""


@dataclass(frozen=True)
class Cell:
    """A piece of code with one syntax tree: a file, or a cell of a notebook; `lines` are its lines in the file."""

    tree: ast.Module
    number: int | None = None
    lines: tuple[int, ...] = ()

    def place(self, line: int) -> int:
        """Return the line in the file of a line of the tree."""
        return self.lines[min(line, len(self.lines)) - 1] if self.lines else line


@dataclass(frozen=True)
class Source:
    """A file that was read: its text, its cells, and the codes that comments on its lines suppress."""

    path: str
    text: str
    cells: tuple[Cell, ...]
    suppressed: dict[tuple[int | None, int], frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Unread:
    """A file or cell that was not read, and why: `kind` is "syntax", "encoding", "size", "sign", "test" or "access"."""

    path: str
    kind: str
    reason: str


def files_in(paths: Sequence[str], *, tests: bool) -> Iterator[Path | Unread]:
    """Yield the Python files and notebooks at the paths, in order; a file named itself is always among them."""
    seen: set[Path] = set()
    for given in paths:
        root = Path(given)
        for path in [root] if root.is_file() else _walk(root):
            if path in seen:
                continue
            seen.add(path)
            inside = path.relative_to(root).as_posix() if path != root else ""
            yield Unread(str(path), "test", "a test") if not tests and _TESTS.search(inside) else path


def _walk(root: Path) -> Iterator[Path]:
    """Yield files below a folder, leaving out hidden folders, environments and what was built."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if not name.startswith(".") and name not in _PASSED_BY and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        yield from (Path(folder) / name for name in sorted(files) if name.endswith((".py", ".ipynb")))


def read(path: Path) -> tuple[Source | None, list[Unread]]:
    """Read one file without running it: its source, None without one, and what of it was not read."""
    try:
        if path.stat().st_size > _LARGEST:
            return None, [Unread(str(path), "size", f"larger than {_LARGEST:,} bytes")]
        data = path.read_bytes()
    except OSError as error:
        return None, [Unread(str(path), "access", error.strerror or "cannot be opened")]
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None, [Unread(str(path), "encoding", "no text in its encoding")]
    lowered = text.lower()
    if not any(sign in lowered for sign in _SIGNS) and not _SCALES.search(lowered):
        return None, [Unread(str(path), "sign", "no sign of differential privacy")]
    return _notebook(str(path), text) if path.suffix == ".ipynb" else _module(str(path), text)


def _module(path: str, text: str) -> tuple[Source | None, list[Unread]]:
    """Read a Python file."""
    try:
        tree = _parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return None, [Unread(path, "syntax", _syntax(error))]
    return Source(path, text, (Cell(tree),), _suppressions(text, None)), []


def _notebook(path: str, text: str) -> tuple[Source | None, list[Unread]]:
    """Read a notebook: each cell is parsed on its own, so that one that is no Python does not hide the others."""
    try:
        document = json.loads(text)
        cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
        sources = [_joined(cell["source"]) for cell in cells]
        language = (
            document.get("metadata", {})
            .get("language_info", document.get("metadata", {}).get("kernelspec", {}))
            .get("name", "python")
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, [Unread(path, "syntax", "no notebook of format 4")]
    if "python" not in language.lower() and document["metadata"].get("kernelspec", {}).get("language", "") != "python":
        return None, [Unread(path, "sign", "a notebook in another language")]
    read: list[Cell] = []
    unread: list[Unread] = []
    suppressed: dict[tuple[int | None, int], frozenset[str]] = {}
    cursor = 0
    for number, source in enumerate(sources, start=1):
        lines, cursor = _places(text, source, cursor)
        try:
            read.append(Cell(_parse(_without_magic(source)), number, lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            unread.append(Unread(f"{path} cell {number}", "syntax", _syntax(error)))
        suppressed |= _suppressions(source, number)
    return Source(path, "\n".join(sources), tuple(read), suppressed), unread


def _joined(source: Any) -> str:
    """Return the text of a cell, which a notebook holds as text or as a list of lines."""
    return source if isinstance(source, str) else "".join(source)


def _places(text: str, source: str, cursor: int) -> tuple[tuple[int, ...], int]:
    """Return the lines of the notebook's file at which the lines of a cell stand, and where to look for the next."""
    places = []
    line = text.count("\n", 0, cursor) + 1
    for piece in source.splitlines() or [""]:
        found = text.find(json.dumps(piece, ensure_ascii=False)[1:-1], cursor)
        if found < 0:
            found = text.find(json.dumps(piece)[1:-1], cursor)
        if piece.strip() and found >= 0:
            line += text.count("\n", cursor, found)
            cursor = found
        places.append(line)
    return tuple(places), cursor


def _without_magic(source: str) -> str:
    """Return a cell in which commands to the notebook are `pass`, line by line; a cell in another language is nothing."""
    if source.lstrip().startswith("%%"):
        return "" if not re.match(r"\s*%%(time|timeit|capture)\b", source) else source.split("\n", 1)[-1]
    lines = [_MAGIC.sub(r"\1pass  # ", line) if _MAGIC.match(line) else line for line in source.split("\n")]
    return "\n".join(re.sub(r"^(\s*)([\w.]+)\?{1,2}\s*$", r"\1pass", line) for line in lines)


def _parse(text: str) -> ast.Module:
    """Parse text; what Python warns of in it is not ours to show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _syntax(error: BaseException) -> str:
    """Say where a text is no Python; never what it says there."""
    line = getattr(error, "lineno", None)
    return f"no Python 3 that can be parsed{f', line {line}' if line else ''}"


def _suppressions(text: str, cell: int | None) -> dict[tuple[int | None, int], frozenset[str]]:
    """Return the codes that a comment suppresses, by line; a comment without a reason suppresses nothing."""
    found: dict[tuple[int | None, int], frozenset[str]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if "dpaudit" in line and (match := _SUPPRESSION.search(line)) and match[2].strip(" :-"):
            codes = frozenset(code.strip().upper() for code in match[1].split(","))
            spoken_of = number + 1 if line.lstrip().startswith("#") else number
            found[cell, spoken_of] = found.get((cell, spoken_of), frozenset()) | codes
    return found
