"""Run the notebooks among the pages: execute their cells, write what these print below them, and make the .ipynb files.

A notebook is a page in docs/notebooks. Its `python` blocks are cells, run in their order with the page's folder as the working
folder; one whose first line is a comment with a file's name, such as `# test_release.py`, is written to that file instead. Its
`console` blocks are commands. A `text` block directly below a cell is what the cell printed; `text noisy` says that its numbers
differ in every run.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from devtools.survey import ROOT

FOLDER: Final = ROOT / "docs" / "notebooks"
CELL: Final = re.compile(
    r"^```(?P<kind>python|console)\n(?P<code>.*?)^```\n(?:\n```text(?P<noisy> noisy)?\n(?P<shown>.*?)^```\n)?",
    flags=re.MULTILINE | re.DOTALL,
)
FILE: Final = re.compile(r"# (\w+\.py)\n")
NUMBER: Final = re.compile(r"-?\b(?:\d+\.?\d*|[0-9a-f]{64})\b")
"""A number, or the hash of an entry of a ledger, whose name is drawn at random."""
DURATION: Final = re.compile(r" in \d+\.\d+s\b")


@dataclass(frozen=True)
class Cell:
    """A part of a page: prose, or code of a kind and what it printed; `noisy` if the numbers in that differ in every run."""

    kind: str
    text: str
    shown: str = ""
    noisy: bool = False

    def agrees(self, printed: str) -> bool:
        """True if what is shown is what was printed, apart from the numbers of a noisy cell."""
        return self._comparable(self.shown) == self._comparable(printed)

    def _comparable(self, text: str) -> str:
        return " ".join(NUMBER.sub("#", text).split()) if self.noisy else text


def pages() -> list[Path]:
    """The pages that are notebooks."""
    return sorted(FOLDER.glob("*.md"))


def read_cells(text: str) -> list[Cell]:
    """Split a page into its prose and its cells, in their order."""
    cells, end = [], 0
    for found in CELL.finditer(text):
        cells.append(Cell("prose", text[end : found.start()]))
        cells.append(Cell(found["kind"], found["code"], found["shown"] or "", bool(found["noisy"])))
        end = found.end()
    return [*cells, Cell("prose", text[end:])]


def to_page(cells: Sequence[Cell]) -> str:
    """The page that `read_cells` splits into these cells."""
    return "".join(map(_block, cells))


def _block(cell: Cell) -> str:
    """The text of one cell in a page."""
    if cell.kind == "prose":
        return cell.text
    shown = f"\n```text{' noisy' if cell.noisy else ''}\n{cell.shown}```\n" if cell.shown else ""
    return f"```{cell.kind}\n{cell.text}```\n{shown}"


def execute(cells: Sequence[Cell], folder: Path) -> list[Cell]:
    """Run the cells of a page in a folder, and return each with what it prints; temporary files that they leave are removed."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(folder), _temporary_files_in(temporary):
        return [replace(cell, shown=_printed_by(cell, number, names)) for number, cell in enumerate(cells)]


@contextlib.contextmanager
def _temporary_files_in(folder: str) -> Iterator[None]:
    """Let temporary files and folders be made in this one."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def _printed_by(cell: Cell, number: int, names: dict[str, Any]) -> str:
    """What one cell prints."""
    file = FILE.match(cell.text)
    if cell.kind == "prose":
        return ""
    if cell.kind == "console":
        return "".join(map(_printed_by_command, cell.text.splitlines()))
    if file:
        Path(file[1]).write_text(cell.text, encoding="utf-8")
        return ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(cell.text, f"<cell {number}>", "exec"), names)  # noqa: S102 - the project's own pages
    return printed.getvalue()


def _printed_by_command(line: str) -> str:
    """What a command such as `$ dpaudit ledger show FILE` prints, without durations."""
    program, *arguments = line.removeprefix("$ ").split()
    settings = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST_", "DPAUDIT_"))}
    ran = subprocess.run(
        [sys.executable, "-m", program, *arguments], env={**settings, "COLUMNS": "100"}, capture_output=True, text=True, check=False
    )
    return DURATION.sub("", ran.stdout + ran.stderr)


def to_notebook(cells: Sequence[Cell]) -> str:
    """The page as a Jupyter notebook of format 4.5."""
    parts = [cell for cell in cells if cell.text.strip()]
    document = {
        "cells": [_part(cell, number) for number, cell in enumerate(parts)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _part(cell: Cell, number: int) -> dict[str, Any]:
    """One cell of a Jupyter notebook."""
    common = {"id": f"cell-{number}", "metadata": {}}
    if cell.kind == "prose":
        return {"cell_type": "markdown", **common, "source": _lines(cell.text)}
    source = cell.text.replace("$ ", "!") if cell.kind == "console" else FILE.sub(r"%%writefile \1\n", cell.text, count=1)
    outputs = [{"name": "stdout", "output_type": "stream", "text": _lines(cell.shown, end="\n")}] if cell.shown else []
    return {"cell_type": "code", "execution_count": None, **common, "outputs": outputs, "source": _lines(source)}


def _lines(text: str, end: str = "") -> list[str]:
    """The lines of a text with their ends, as Jupyter writes them."""
    return (text.strip("\n") + end).splitlines(keepends=True)


def main() -> int:
    """Run every notebook, and write its page and its .ipynb file where something else is printed now."""
    for page in pages():
        shown = read_cells(page.read_text(encoding="utf-8"))
        # Numbers that were drawn stay as they are, so that a run changes nothing where nothing has changed.
        cells = [old if old.agrees(new.shown) else new for old, new in zip(shown, execute(shown, page.parent), strict=True)]
        page.write_text(to_page(cells), encoding="utf-8")
        page.with_suffix(".ipynb").write_text(to_notebook(cells), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
