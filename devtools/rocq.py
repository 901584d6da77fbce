"""Builds the formal proofs of `proofs/rocq` and compares the axioms that their theorems use with the committed list."""

from __future__ import annotations

import difflib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from devtools.failures import SetupFailure

ABSENT: Final = (
    "Rocq is not installed, so the formal proofs were not checked; `apt-get install coq` installs version 8.16 on Debian 12."
)
PROJECT: Final = "_CoqProject"
ASSUMPTIONS: Final = "assumptions.txt"
LIBRARY: Final = "Dpaudit"
UNPROVEN: Final = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Unset\s+(?:Guard|Positivity|Universe)\s+Checking|bypass_check)\b"
)
"""Words that take something for granted, wherever they stand outside comments and strings."""
_SECONDS: Final = 600
"""How long one step may take; all of them take about ten."""


def check_rocq(source: Path, build: Path) -> tuple[str, list[str]]:
    """Build copies of the proofs in `source` below `build`; return the axioms of each theorem, as text, and what is wrong."""
    files = (source / PROJECT).read_text(encoding="utf-8").split()[3:]
    faults = list(unproven(source, files))
    shutil.rmtree(build, ignore_errors=True)
    shutil.copytree(source, build)
    for name in files:
        _run(build, "coqc", "-q", name)
    modules = [f"{LIBRARY}.{Path(name).stem}" for name in files]
    _run(build, "coqchk", "-silent", *(word for module in modules for word in ("-norec", module)))
    found = _assumptions(build, files)
    committed = (source / ASSUMPTIONS).read_text(encoding="utf-8")
    (build / ASSUMPTIONS).write_text(found, encoding="utf-8")
    faults += difflib.unified_diff(committed.splitlines(), found.splitlines(), f"committed {ASSUMPTIONS}", "found", lineterm="")
    return found, faults


def unproven(source: Path, files: list[str]) -> Iterator[str]:
    """Name files that are not built, and lines with words that take something for granted."""
    for name in sorted({path.name for path in source.glob("*.v")} ^ set(files)):
        yield f"{name} is not both in the folder and in {PROJECT}"
    for path in sorted(source.glob("*.v")):
        for number, line in enumerate(without_comments(path.read_text(encoding="utf-8")).splitlines(), start=1):
            for word in UNPROVEN.findall(line):
                yield f"{path.name}:{number}: {word}"


def without_comments(text: str) -> str:
    """Blank nested comments and strings, keeping line breaks, so that only what Rocq executes is left."""
    kept, depth, quoted = [], 0, False
    for part in re.split(r'(\(\*|\*\)|"|\n)', text):
        if part == '"':
            quoted = not quoted
        elif part == "(*" and not quoted:
            depth += 1
        elif part == "*)" and not quoted:
            depth -= 1
        elif part == "\n" or not (depth or quoted):
            kept.append(part)
    return "".join(kept)


def theorems(path: Path) -> list[str]:
    """The full names of what a file states with the word Theorem."""
    names = re.findall(r"^Theorem\s+([\w']+)", without_comments(path.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return [f"{LIBRARY}.{path.stem}.{name}" for name in names]


def _assumptions(build: Path, files: list[str]) -> str:
    """What theorems rest on: for each its name, and below the axioms that Rocq prints for it."""
    names = [name for file in files for name in theorems(build / file)]
    modules = " ".join(f"{LIBRARY}.{Path(file).stem}" for file in files)
    asked = build / "Asked.v"
    asked.write_text(f"Require {modules}.\n" + "".join(f"Print Assumptions {name}.\n" for name in names), encoding="utf-8")
    printed = re.split(r"^(?:Axioms:|Closed under the global context)\n", _run(build, "coqc", "-q", asked.name), flags=re.MULTILINE)
    if len(printed) != len(names) + 1 or printed[0]:
        raise SetupFailure(f"Rocq printed no list of axioms for each theorem; see `coqc -Q . {LIBRARY} {asked.name}` in {build}.")
    blocks = []
    for name, block in zip(names, printed[1:], strict=True):
        axioms = sorted(line.split(" :")[0].strip() for line in block.splitlines() if line and not line[0].isspace())
        blocks.append(f"{name.removeprefix(LIBRARY + '.')}\n" + "".join(f"  {axiom}\n" for axiom in axioms or ["no axiom"]))
    return "".join(blocks)


def _run(build: Path, program: str, *arguments: str) -> str:
    """Run a program of Rocq in the build folder and return what it prints."""
    path = shutil.which(program)
    if path is None:
        raise SetupFailure(f"{program} was not found beside coqc; install the package coq again.")
    try:
        ran = subprocess.run(
            [path, *arguments[:1], "-Q", ".", LIBRARY, *arguments[1:]],
            cwd=build, check=False, capture_output=True, text=True, timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        raise SetupFailure(f"{program} {arguments[-1]} took more than {_SECONDS} seconds; repeat the command.") from late
    if ran.returncode:
        raise SetupFailure(f"{program} {arguments[-1]} failed:\n{(ran.stderr or ran.stdout).strip()}")
    return ran.stdout
