"""Find circles of imports among the project's modules; imports inside functions and for type checking count too."""

from __future__ import annotations

import ast
import sys
from collections.abc import Container, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final, TypeAlias

PACKAGES: Final = ("dpaudit", "mechanisms", "learners", "proofs")

Graph: TypeAlias = dict[str, set[str]]


def module_files(root: Path) -> dict[str, Path]:
    """Return the file of every module of the packages, by the module's dotted name."""
    files = (file for package in PACKAGES for file in sorted((root / package).rglob("*.py")))
    return {dotted_name(file.relative_to(root)): file for file in files}


def import_graph(files: Mapping[str, Path]) -> Graph:
    """Return, for each module, the modules that it imports anywhere in its file."""
    return {name: _imported(name, file, files) - {name} for name, file in files.items()}


def find_circles(graph: Graph) -> list[list[str]]:
    """Return the groups of modules that reach each other, largest first, each in alphabetical order."""
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(graph):
        _finish(start, graph, seen, order)
    backwards: Graph = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backwards[target].add(name)
    found, placed = [], set[str]()
    for start in reversed(order):
        group: list[str] = []
        _finish(start, backwards, placed, group)
        if len(group) > 1:
            found.append(sorted(group))
    return sorted(found, key=lambda group: (-len(group), group))


def main(root: Path) -> int:
    """Print every circle, with one way around it; return 1 if there is one."""
    graph = import_graph(module_files(root))
    circles = find_circles(graph)
    for circle in circles:
        inside = {name: graph[name] & set(circle) for name in circle}
        try:
            TopologicalSorter(inside).prepare()
        except CycleError as error:
            print(f"{len(circle)} modules import each other, for instance " + " <- ".join(error.args[1]))  # noqa: T201 - the report
    return 1 if circles else 0


def written_imports(name: str, file: Path, tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every import of a module, wherever the statement is, with the absolute dotted name of each thing that it names."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node, f"{origin}.{alias.name}") for alias in node.names)


def dotted_name(file: Path) -> str:
    """Return the dotted name of a module from its path below the root."""
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def longest_module(dotted: str, files: Container[str]) -> str:
    """Return the longest prefix of a dotted name that is a module of the project, or an empty text."""
    while dotted and dotted not in files:
        dotted = dotted.rpartition(".")[0]
    return dotted


def _imported(name: str, file: Path, files: Mapping[str, Path]) -> set[str]:
    """Return the project's modules that a file imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {module for _, dotted in written_imports(name, file, tree) if (module := longest_module(dotted, files))}


def _finish(start: str, graph: Mapping[str, set[str]], seen: set[str], order: list[str]) -> None:
    """Append every module reachable from `start` that was not seen, each after all that it reaches."""
    # A stack instead of recursion: chains of imports are longer than Python's recursion limit allows for a call each.
    if start in seen:
        return
    seen.add(start)
    stack: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(graph[start])))]
    while stack:
        name, targets = stack[-1]
        following = next((target for target in targets if target not in seen), None)
        if following is None:
            order.append(name)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(sorted(graph[following]))))


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent.parent))
