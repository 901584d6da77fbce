"""Runs the tests that nodes cite, and on request watches which code of the packages each of them executes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dpaudit.verifier.chain import Node
from dpaudit.verifier.stamps.cited import read_cited
from proofs.results import PASSED, Record, cited_tests, write_record
from proofs.reviewed import reach_of

PROCESSES: Final = 2
_SECONDS: Final = 900
"""The time that one case has: more than in the suite, since the machine may be busy."""
_WORST: Final = ("failed", "skipped", PASSED)
"""The outcomes of cases, the one that counts for the whole test first."""


@dataclass(frozen=True)
class Ran:
    """The outcome of running tests.

    Args:
      outcomes: by "path::function" the outcome and the number of cases.
      executed: by "path::function" the places "path:qualified.name" of the packages that it executed; empty unless watched.
    """

    outcomes: Mapping[str, tuple[str, int]]
    executed: Mapping[str, frozenset[str]] = field(default_factory=dict)


def run_tests(root: Path, names: Sequence[str], *, watched: bool = False) -> Ran:
    """Run tests with pytest, in two processes."""
    # pytest runs nothing at all where one name is unknown, so that those are left out.
    there = [name for name in names if read_cited(reach_of(root), name).test]
    if not there:
        return Ran(dict.fromkeys(names, ("missing", 0)))
    with tempfile.TemporaryDirectory() as folder:
        plugins = ["-p", "proofs.watching", "-p", "no:cacheprovider", *(["--proof-watch"] if watched else [])]
        options = ["-q", "-o", f"timeout={_SECONDS}", "-n", str(PROCESSES), "--proof-results", folder]
        command = [sys.executable, "-m", "pytest", *plugins, *options, *there]
        subprocess.run(command, cwd=root, check=False, env={**os.environ, "PYTHONPATH": str(root)})  # noqa: S603 - this interpreter
        parts = [json.loads(one.read_text(encoding="utf-8")) for one in Path(folder).glob("*.json")]
    cases = {case: outcome for part in parts for case, outcome in part["outcomes"].items()}
    executed: dict[str, set[str]] = {}
    for part in parts:
        for name, places in part["executed"].items():
            executed.setdefault(name, set()).update(places)
    found: dict[str, list[str]] = {name: [] for name in names}
    for case, outcome in cases.items():
        found.setdefault(case.partition("[")[0], []).append(outcome)
    worst = {name: min(outcomes, key=_WORST.index) if outcomes else "missing" for name, outcomes in found.items()}
    return Ran(
        {name: (worst[name], len(outcomes)) for name, outcomes in found.items()},
        {name: frozenset(places) for name, places in executed.items()},
    )


def run_and_record(root: Path, nodes: Sequence[Node], names: Sequence[str]) -> Record:
    """Run tests and record their outcomes."""
    before = {name: read_cited(reach_of(root), name) for name in names}
    return write_record(root, run_tests(root, names).outcomes, before, nodes)


def find_uncovered(root: Path, executed: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """Code that tests executed although their digests do not cover it: what reading the source missed."""
    reach, found = reach_of(root), dict[str, list[str]]()
    for name, places in executed.items():
        below = frozenset().union(*(reach.closure(place) for place in read_cited(reach, name).reaches))
        seen = {_outermost(place) for place in places}
        if missing := sorted(place for place in seen - below if "<" not in place):
            found[name] = missing
    return found


def idle_binds(nodes: Sequence[Node], executed: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """Return the functions and classes that a node is about and none of its tests executed: they test something else."""
    found = {}
    for node in nodes:
        tests = cited_tests([node])
        ran = {place for name in tests for place in executed.get(name, ())}
        idle = [one for one in node.binds if one not in ran and not any(place.startswith(f"{one}.") for place in ran)]
        if tests and idle:
            found[node.id] = idle
    return found


def _outermost(place: str) -> str:
    """The top-level definition that a code object lies in."""
    path, _, name = place.partition(":")
    return f"{path}:{name.partition('.')[0]}"
