"""Programs as people write them, from the files of this folder, as test parameters."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit.spec import Spec

FOLDER = Path(__file__).parent


def rows(name: str) -> list[dict[str, Any]]:
    """The programs of a file."""
    with (FOLDER / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)["program"]


def claimed(row: Mapping[str, Any]) -> Spec:
    """What a program claims; `eps`, or nothing, where the file does not say."""
    claim = row.get("claim", "eps" if "eps" in row["text"] else "0")
    claim = tuple(claim) if isinstance(claim, list) else claim
    inner = [] if "requires" in row or "eps:" not in row["text"] else ["eps > 0"]
    parts = {name: row[name] for name in ("domain", "public", "cost") if name in row}
    return Spec(claim, row.get("adjacency", "add_remove"), requires=[*inner, *row.get("requires", [])], **parts)


def pytest_generate_tests(metafunc):
    for fixture, names in (
        ("readable", ("tune", "accept", "people", "written", "constructs")),
        ("row", ("tune", "accept", "people", "written", "constructs")),
        ("untrue", ("false",)),
    ):
        if fixture in metafunc.fixturenames:
            found = [row for name in names for row in rows(name) if fixture != "readable" or not row.get("refused")]
            metafunc.parametrize(fixture, found, ids=[row["name"] for row in found])
