"""Check the map from papers to code: what it names exists, and it holds every export that cites a paper."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from typing import Final

from devtools.exports import exports
from devtools.survey import Tree

MAP: Final = "docs/paper_map.csv"
HEADER: Final = ["paper item", "what it gives", "file", "name", "proof"]
CITATION: Final = re.compile(r"^ *Source: [^\n]*\b(?:19|20)\d\d\b", flags=re.MULTILINE)


def rows_of(tree: Tree) -> list[dict[str, str]]:
    """Return the rows of the map by the names of its columns."""
    return list(csv.DictReader(tree.text(tree.root / MAP).splitlines()))


def check_paper_map(tree: Tree) -> Iterator[str]:
    """Name the rows of the map that lead to no definition, and the exports that cite a paper and have no row."""
    rows = rows_of(tree)
    if rows and list(rows[0]) != HEADER:
        yield f"{MAP}: the columns are {', '.join(rows[0])} instead of {', '.join(HEADER)}"
        return
    for file, name in sorted({(row["file"], row["name"]) for row in rows}):
        path = tree.root / file
        body = tree.parsed(path).body if path.is_file() else []
        if name not in {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}:
            yield f"{MAP}: {file} does not define {name}"
    mapped = {row["name"] for row in rows}
    for export in exports(tree):
        if export.node and export.name not in mapped and CITATION.search(ast.get_docstring(export.node) or ""):
            yield f"{tree.place(export.path, export.node.lineno)}: {export.name} cites a paper and has no row in {MAP}"
