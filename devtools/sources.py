"""Check the form of the sources and pages from their files alone, and report every finding with its file and line."""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from devtools.docstrings import check_brevity, check_exports
from devtools.figures import check_figures
from devtools.pages import check_documents, check_pages
from devtools.paper_map import check_paper_map
from devtools.survey import FOLDERS, ROOT, Tree

LONGEST: Final = 500
"""Most lines of a source file."""
MEDIAN: Final = 180
"""Most lines that half of the source files may exceed."""
FORBIDDEN: Final = {
    "a note to do something later": r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX")) + r")\b",
    "a path of one machine": "(?<![A-Za-z0-9._-])/(" + "home|root|work|Users|tmp/w" + r")/\w",
    "a package index": r"https?://[^\s\"')]*(?:/simple\b|pypi" + r"\.|pythonhosted|artifactory)",
    "an unfinished function": "raise NotImplemented" + "Error",
}


def check_lengths(tree: Tree) -> Iterator[str]:
    """Name source files that are longer than a person reads, and say when half of them are long."""
    lengths = {path: tree.text(path).count("\n") for path in tree.python(*FOLDERS)}
    for path, length in lengths.items():
        if length > LONGEST:
            yield f"{tree.place(path)}: {length} lines, of at most {LONGEST}; split it"
    if statistics.median(lengths.values()) > MEDIAN:
        yield f"half of the source files have more than {MEDIAN} lines; split the longest"


def check_words(tree: Tree) -> Iterator[str]:
    """Name lines that hold what belongs into no file of the project."""
    patterns = {what: re.compile(pattern) for what, pattern in FORBIDDEN.items()}
    for path in [*tree.texts(), tree.root / "requirements.lock"]:
        for number, line in enumerate(tree.text(path).splitlines(), start=1):
            for what, pattern in patterns.items():
                if pattern.search(line):
                    yield f"{tree.place(path, number)}: {what}"


CHECKS: Final[tuple[Callable[[Tree], Iterator[str]], ...]] = (
    check_lengths, check_words, check_exports, check_brevity, check_documents, check_pages, check_paper_map, check_figures,
)  # fmt: skip


def main(root: Path) -> int:
    """Print every finding, a line each, and how many there are; return 1 if there is one."""
    tree = Tree(root)
    findings = sorted({finding for check in CHECKS for finding in check(tree)})
    for line in [*findings, f"{len(findings)} findings in the form of sources and pages"] if findings else []:
        print(line)  # noqa: T201 - the report
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(ROOT))
