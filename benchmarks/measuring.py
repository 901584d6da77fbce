"""What the benchmarks share: timing in turn, processor time and memory, means, versions, bars, and one way to write results.

Other programs only ever slow a run down, so the best of several repeats counts; and what is compared runs in turn in one process,
so that ratios mean the same on every machine. Peers are optional: a benchmark asks `have` and leaves a column empty.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_of(works: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
    """Least wall time of each work by name; in every repeat each runs once, in turn."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            best[name] = min(best[name], seconds(work))
    return best


def children_seconds() -> float:
    """Processor time of the child processes of this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident(what: str) -> float:
    """Resident memory of this process in MB: now (VmRSS) or at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """Mean and its standard error; 0 for the error of a single value."""
    found = list(values)
    return statistics.fmean(found), statistics.stdev(found) / len(found) ** 0.5 if len(found) > 1 else 0.0


def module_at(file: Path) -> Any:
    """The module in a file that is on no path, such as one of the tests."""
    specification = spec_from_file_location(file.stem, file)
    if specification is None or specification.loader is None:
        raise FileNotFoundError(file)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def each(work: Callable[[], object], calls: int) -> Callable[[], None]:
    """The work done `calls` times over, for times too short to take one by one; divide by `calls` afterwards."""

    def many() -> None:
        for _ in range(calls):
            work()

    return many


def have(package: str) -> bool:
    """Whether a package, named as it is imported, is installed."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package that holds it is missing
        return False


def versions(names: Iterable[str]) -> dict[str, str]:
    """Python, the machine, and the version of each named distribution that is installed."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def code_of(folders: Sequence[str]) -> str:
    """A digest of the Python code in folders of this repository, which comments and docstrings do not change."""
    root, digest = Path(__file__).resolve().parent.parent, hashlib.sha256()
    for file in sorted(file for folder in folders for file in (root / folder).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                node.body = [line for line in node.body if not _is_text(line)]
        digest.update(f"{file.relative_to(root)}\n{ast.dump(tree)}\n".encode())
    return digest.hexdigest()[:16]


def _is_text(line: ast.stmt) -> bool:
    """Whether a statement is a text that stands alone."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def incomplete(done: int, asked: int) -> str:
    """What a page says first of a measurement that was interrupted; nothing of one that was not."""
    return f"**Interrupted: {done} of {asked} audits are done.** " if done < asked else ""


@dataclass(frozen=True)
class Bar:
    """A figure beside the limit it has to keep: a least value, or with `most` a greatest one."""

    what: str
    figure: float
    limit: float
    most: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure keeps the limit."""
        return self.figure <= self.limit if self.most else self.figure >= self.limit

    def cells(self) -> list[str]:
        """The columns of `bars_table`."""
        sign = "<=" if self.most else ">="
        return [self.what, f"{self.figure:.3g}", f"{sign} {self.limit:g}", "met" if self.met else "**not met**"]

    def record(self) -> dict[str, Any]:
        """The bar as plain data."""
        return {**asdict(self), "met": self.met}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def bars_table(bars: Iterable[Bar]) -> str:
    """A Markdown table of bars, met or not."""
    return table(["bar", "measured", "limit", ""], [bar.cells() for bar in bars])


def write(folder: Path | None, stem: str, title: str, markdown: str, record: Mapping[str, Any]) -> None:
    """Print the Markdown and, if a folder is given, save it as `stem`.md under the title and the record as `stem`.json."""
    sys.stdout.write(markdown)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}.md").write_text(f"# {title}\n\n{markdown}", encoding="utf-8")
        (folder / f"{stem}.json").write_text(_lines(record), encoding="utf-8")


def _lines(record: Mapping[str, Any]) -> str:
    """The record as JSON with one line for each entry of its lists, so that a difference shows which one changed."""
    parts = []
    for name, value in record.items():
        entries = ",\n  ".join(map(json.dumps, value)) if isinstance(value, list) and value else ""
        parts.append(f" {json.dumps(name)}: " + (f"[\n  {entries}\n ]" if entries else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"
