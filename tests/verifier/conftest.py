"""The trap programs as test parameters: `trap` is each of them, `readable_trap` each that the front end reads."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dpaudit.spec import Change, Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.ir import Program

FILE = Path(__file__).parent / "traps" / "traps.toml"


def adjacency(written: Any) -> Any:
    """An adjacency as the file writes it: a relation, or a relation with its bound, for one list or by list."""
    if isinstance(written, dict):
        return {name: adjacency(change) for name, change in written.items()}
    return Change(*written) if isinstance(written, list) else written


def promise(row: Mapping[str, Any]) -> Spec:
    """The specification of a row of the file."""
    parts = {name: row[name] for name in ("requires", "domain", "public", "cost", "laws", "align") if name in row}
    return Spec(claim=tuple(row["claim"]), adjacency=adjacency(row["adjacency"]), **parts)


@dataclass(frozen=True)
class Trap:
    """One row of the file."""

    id: str
    row: Mapping[str, Any]

    @property
    def refused(self) -> str | None:
        """The code with which the front end refuses it, if it does."""
        return self.row.get("refused")

    def parse(self) -> Program:
        """The program that the front end makes of it."""
        helpers = {name: (row["source"], promise(row)) for name, row in self.row.get("helpers", {}).items()}
        return parse(self.row["source"], promise(self.row), helpers=helpers)


def traps() -> list[Trap]:
    """Every row of the file."""
    return [Trap(row["id"], MappingProxyType(row)) for row in tomllib.loads(FILE.read_text(encoding="utf-8"))["trap"]]


def pytest_generate_tests(metafunc):
    """Give each test that asks for them the traps."""
    for name, wanted in (("trap", lambda trap: True), ("readable_trap", lambda trap: trap.refused is None)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, [trap for trap in traps() if wanted(trap)], ids=lambda trap: trap.id)
