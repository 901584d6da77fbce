"""Every benchmark from one command: a list of them with what each needs and how much it does, and a way to start them by name.

    python benchmarks/run.py                                     the list; `python3 dev benchmark` is the same
    python benchmarks/run.py experiments --output DIR            one of them, with its own options
    python benchmarks/run.py vectors sampling --repeats 3        several in turn, each with these options

The list is read from the first and the last line of each program's own description.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent
UNKNOWN: Final = 2


@dataclass(frozen=True)
class Benchmark:
    """A program: its name, what it measures, what it needs besides the project, and how much it does by default."""

    name: str
    measures: str
    needs: str
    size: str

    def __str__(self) -> str:
        """Two lines for a terminal."""
        return f"{self.name:<18}{self.measures}\n{'':<18}needs {self.needs}; {self.size}\n"


def benchmarks() -> Iterator[Benchmark]:
    """Every program that can be started by name, in the order of the names."""
    for file in sorted(FOLDER.glob("*.py")):
        text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        lines = text.splitlines()
        if lines and lines[-1].startswith("Needs: "):
            needs, _, size = lines[-1].removeprefix("Needs: ").partition(". Size: ")
            yield Benchmark(file.stem, lines[0], needs, size.rstrip("."))


def main(arguments: Sequence[str]) -> int:
    """List the benchmarks or start those that are named; what follows the names are options of each."""
    known = {one.name: one for one in benchmarks()}
    cut = next((place for place, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    names, options = arguments[:cut], arguments[cut:]
    wrong = [name for name in names if name not in known]
    if wrong or (options and not names and options != ["--list"]):
        sys.stderr.write(f"there is no benchmark {' '.join(wrong or options)!r}; these are {', '.join(known)}\n")
        return UNKNOWN
    if not names:
        sys.stdout.write("\n".join(map(str, known.values())))
    # Some programs import the packages of this checkout by their names alone.
    places = [str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    code = 0
    for name in names:
        done = subprocess.run([sys.executable, FOLDER / f"{name}.py", *options], check=False, env=variables)
        code = done.returncode or code
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
