"""The programs of `programs.toml`, each as it should be and with its mistake."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.spec import Change


@dataclass(frozen=True)
class Case:
    """One program with its specification."""

    name: str
    private: bool  # whether the claim is true
    tuned: bool  # whether the search was tuned on it
    source: str
    specification: dict[str, Any]


def cases() -> list[Case]:
    """Every program, and after it its false twin."""
    rows = tomllib.loads(Path(__file__).with_name("programs.toml").read_text(encoding="utf-8"))["program"]
    return [one for number, row in enumerate(rows) for one in _pair(row, tuned=number % 2 == 0)]


def _pair(row: dict[str, Any], *, tuned: bool) -> tuple[Case, Case]:
    """A row's program and its false twin."""
    names = ", ".join(f"{name}: Fraction" for name in row.get("parameters", ()))
    source = row["source"].strip().replace(") ->", f", {names}) ->" if names else ") ->", 1)
    claim, adjacency = row.get("claim", "eps"), row.get("adjacency", "one")
    specification = {
        "claim": tuple(claim) if isinstance(claim, list) else claim,
        "adjacency": Change(*adjacency) if isinstance(adjacency, list) else adjacency,
        "requires": row.get("requires", ["eps > 0", "len(q) >= 1"]),
        **{part: row[part] for part in ("domain", "public", "cost", "align", "invariants") if part in row},
    }
    wrong, promise = source, dict(specification)
    for old, new in (row[key] for key in ("wrong", "wrong2") if key in row):
        if old == "claim":
            promise["claim"] = new
        else:
            if old not in wrong:
                raise ValueError(f"{row['name']} does not say {old!r}")
            wrong = wrong.replace(old, new)
    return (
        Case(row["name"], private=True, tuned=tuned, source=source, specification=specification),
        Case(f"{row['name']}, wrong", private=False, tuned=tuned, source=wrong, specification=promise),
    )
