"""Which test files a change can affect: those whose imports, direct or not, reach a changed file, nearest first."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devtools.circles import PACKAGES, Graph, dotted_name, longest_module, written_imports
from devtools.survey import ROOT

CODE: Final = (*PACKAGES, "devtools", "benchmarks", "examples", "tests")
EVERYWHERE: Final = ("dpaudit/errors.py", "dpaudit/exact.py", "pyproject.toml", "requirements.lock")
"""Files on which all code depends, or none that shows it."""
BY_NAME: Final = {
    "dpaudit/cli/audit.py": ("mechanisms.targets", "learners.targets"),
    "tests/mutants/test_mutants.py": (*PACKAGES, "tests.mutants"),
    "tests/repository/test_examples.py": PACKAGES,
    "tests/repository/test_notebooks.py": PACKAGES,
    "tests/repository/test_sources.py": PACKAGES,
}
"""What a file finds while it runs, with all below it: by entry points, tables and folders instead of imports."""


@dataclass(frozen=True)
class Change:
    """The files that differ from a base commit; the base is empty where there is none to compare with."""

    files: frozenset[str]
    base: str


@dataclass(frozen=True)
class Affected:
    """The test files that a change can affect, nearest first, and why these are all of them, if they are."""

    tests: tuple[str, ...]
    reason: str = ""


def changed_files(root: Path, base: str = "") -> Change:
    """Compare the checkout, uncommitted and new files included, with a commit.

    Without a base it is the one where the branch left origin/main; on main, or without origin, the commit before the last.
    """
    fork = _git(root, "merge-base", "HEAD", base or "origin/main")
    if not base and fork in {"", _git(root, "rev-parse", "HEAD")}:
        fork = _git(root, "rev-parse", "--verify", "--quiet", "HEAD~1")
    if not fork:
        return Change(frozenset(), "")
    committed = _git(root, "diff", "--name-only", "--no-renames", fork)
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return Change(frozenset([*committed.splitlines(), *new.splitlines()]), fork[:12])


def text_at(root: Path, commit: str, file: str) -> str:
    """The content of a file at a commit, empty where there was none."""
    return _git(root, "show", f"{commit}:{file}") if commit else ""


def affected_tests(root: Path, change: Change) -> Affected:
    """Return the test files that depend on a changed file, those with the fewest imports between them and the change first."""
    tests = sorted(path.relative_to(root).as_posix() for path in (root / "tests").rglob("test_*.py"))
    reason = next(filter(None, map(_why_all, sorted(change.files))), "") if change.base else "there is no commit to compare with"
    if reason:
        return Affected(tuple(tests), reason)
    files = {dotted_name(path.relative_to(root)): path for folder in CODE for path in sorted((root / folder).rglob("*.py"))}
    module_of = {path.relative_to(root).as_posix(): name for name, path in files.items()}
    graph = dependencies(root, files)
    # A deleted file is no module any more; whatever still imports it fails wherever it is tested.
    distance = _distances(graph, {module_of[file] for file in change.files if file in module_of})
    near = {file: distance[module_of[file]] for file in tests if module_of[file] in distance}
    near |= {file: min(1, near.get(file, 1)) for file in tests if file.startswith(tuple(_folders(change)))}
    return Affected(tuple(sorted(near, key=lambda file: (near[file], file))))


def dependencies(root: Path, files: Mapping[str, Path]) -> Graph:
    """Return the modules on which each module depends: what it imports or names in a text, and the conftest files above a test.

    A package that re-exports is two nodes, so that a name taken from it leads to the module that defines the name alone:
    `package` is what importing it runs, `package.*` is all that it offers.
    """
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
    names = _Names(root, files, trees)
    graph: Graph = {f"{name}.*": {name}.union(*map(names.find, table.values())) for name, table in names.offered.items()}
    for name, path in files.items():
        skipped = _typing_blocks(trees[name]) if path.name == "__init__.py" else set()
        imports = (dotted for node, dotted in written_imports(name, path, trees[name]) if id(node) not in skipped)
        # The tables of the development tools, such as the one above, name files without using them.
        texts = () if name.startswith("devtools.") else _texts(trees[name])
        found = set().union(*map(names.find, imports), *map(names.mentioned, texts))
        entries = BY_NAME.get(path.relative_to(root).as_posix(), ())
        found |= {module for module in files if any(f"{module}.".startswith(f"{entry}.") for entry in entries)}
        found |= {conftest for above in _above(name) if (conftest := f"{above}.conftest") in files}
        graph[name] = (found | {above for module in found for above in _above(module) if above in files}) - {name}
    return graph


class _Names:
    """Finds modules by the dotted names, paths and file names under which code refers to them."""

    def __init__(self, root: Path, files: Mapping[str, Path], trees: Mapping[str, ast.AST]) -> None:
        self.files = files
        self.offered = {
            name: {dotted.rpartition(".")[2]: dotted for _, dotted in written_imports(name, path, trees[name])}
            for name, path in files.items()
            if path.name == "__init__.py"
        }
        self.by_path = {path.relative_to(root).as_posix(): name for name, path in files.items()}
        self.loose: dict[str, set[str]] = {}
        for name in files:
            if name.split(".")[0] not in PACKAGES:
                # Tests and benchmarks import their neighbours by name alone, from folders that they put on the path.
                self.loose.setdefault(name.rpartition(".")[2], set()).add(name)

    def find(self, dotted: str) -> set[str]:
        """Return the module that a dotted name is, or that defines it; for a package all that it offers."""
        if dotted in self.files:
            return {dotted, f"{dotted}.*"} if dotted in self.offered else {dotted}
        package, _, name = dotted.rpartition(".")
        if package in self.offered and name in self.offered[package]:
            return {package} | self.find(self.offered[package][name])
        module = longest_module(dotted, self.files)
        return {module} if module else self.loose.get(dotted.split(".", maxsplit=1)[0], set())

    def mentioned(self, text: str) -> set[str]:
        """Return the modules that a text names: "a.b", "a.b:name", "a/b.py", "b.py" or, as the start of a longer name, "a.b."."""
        place = re.split(r":|#", text, maxsplit=1)[0]
        if place in self.by_path:
            return {self.by_path[place]}
        if place.endswith(".py"):
            return self.loose.get(place.removesuffix(".py").rpartition("/")[2], set())
        if place.endswith("."):
            return {module for module in self.files if module.startswith(place)}
        return self.find(place) if "." in place and longest_module(place, self.files).count(".") else set()


def _distances(graph: Graph, changed: set[str]) -> dict[str, int]:
    """Return how many imports lie between each module and the changed ones, of those that reach one."""
    users: Graph = {}
    for name, targets in graph.items():
        for target in targets:
            users.setdefault(target, set()).add(name)
    distance, edge, steps = dict.fromkeys(changed, 0), set(changed), 0
    while edge:
        steps += 1
        edge = {user for name in edge for user in users.get(name, ())} - set(distance)
        distance |= dict.fromkeys(edge, steps)
    return distance


def _why_all(file: str) -> str:
    """Say why a change of this file affects every test, empty if it does not."""
    name, top = file.rpartition("/")[2], file.split("/", maxsplit=1)[0]
    if file in EVERYWHERE or name == "conftest.py":
        return f"{file} has changed, on which everything depends"
    if top in {*PACKAGES, "tests"} and not file.endswith(".py") and not file.startswith("tests/mutants/"):
        return f"{file} has changed, which is data"
    return ""


def _folders(change: Change) -> set[str]:
    """The folders of tests that are affected because of files that are no code: pages, settings, scripts, faults, results."""
    others = {file for file in change.files if not file.endswith(".py")}
    kinds = {"tests/mutants/": ("tests/mutants/",), "benchmarks/": ("tests/benchmarks/", "tests/repository/")}
    return {
        folder
        for file in others
        for folder in next((kinds[start] for start in kinds if file.startswith(start)), ("tests/repository/",))
    }


def _above(name: str) -> list[str]:
    """The packages and folders in which a module is, the innermost first."""
    parts = name.removesuffix(".*").split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]


def _texts(tree: ast.AST) -> Iterator[str]:
    """The texts of a module that could name another one; of a formatted one its constant start."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
            yield str(node.values[0].value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w./-]+([:#].*)?", node.value):
            yield node.value


def _typing_blocks(tree: ast.Module) -> set[int]:
    """The statements of a module that only type checkers run."""
    blocks = (node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    return {id(node) for block in blocks for part in block.body for node in ast.walk(part)}


def _git(root: Path, *arguments: str) -> str:
    """What git prints, empty if it fails or is not there."""
    try:
        ran = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)  # noqa: S607 - the git of this machine
    except OSError:
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def main(arguments: Sequence[str]) -> int:
    """Print the test files that the changes since a commit affect, a line each."""
    change = changed_files(ROOT, *arguments[:1])
    found = affected_tests(ROOT, change)
    why = f"; {found.reason}" if found.reason else ""
    sys.stdout.write(f"# {len(change.files)} files differ from {change.base or 'no known commit'}{why}\n")
    sys.stdout.write("".join(f"{file}\n" for file in found.tests))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
