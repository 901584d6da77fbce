"""Check the map from papers to code: what it names exists, and it holds every export that cites a paper."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from devtools.exports import exports
from devtools.survey import Tree

PAGE: Final = "docs/paper_map.md"
ROW: Final = re.compile(r"^\| [^|]+ \| [^|]+ \| `([^`]+)` \| `([^`]+)` \| [^|]+ \|$", flags=re.MULTILINE)
CITATION: Final = re.compile(r"^ *Source: [^\n]*\b(?:19|20)\d\d\b", flags=re.MULTILINE)


def check_paper_map(tree: Tree) -> Iterator[str]:
    """Name the rows of the map that lead to no definition, and the exports that cite a paper and have no row."""
    rows = sorted(set(ROW.findall(tree.text(tree.root / PAGE))))
    for file, name in rows:
        path = tree.root / file
        body = tree.parsed(path).body if path.is_file() else []
        if name not in {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}:
            yield f"{PAGE}: {file} does not define {name}"
    mapped = {name for _, name in rows}
    for export in exports(tree):
        if export.node and export.name not in mapped and CITATION.search(ast.get_docstring(export.node) or ""):
            yield f"{tree.place(export.path, export.node.lineno)}: {export.name} cites a paper and has no row in {PAGE}"
