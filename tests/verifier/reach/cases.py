"""The programs of `programs.toml`, each as it should be and with its mistake, and those of the other files."""

from __future__ import annotations

import random
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


def variants(file: str = "variants") -> list[Case]:
    """The programs of a file, such as `variants`: of the true and of the false ones half each was tuned on, at random."""
    rows = tomllib.loads(Path(__file__).with_name(f"{file}.toml").read_text(encoding="utf-8"))["program"]
    tuned = halved(rows)
    found = []
    for row in rows:
        specification = {
            "claim": _claim(row),
            "adjacency": row.get("adjacency", "one"),
            "requires": row.get("requires", ["eps > 0", "len(q) >= 1"]),
            **{part: row[part] for part in ("public", "domain", "cost") if part in row},
        }
        tune = row["name"] in tuned
        found.append(Case(row["name"], private=row["truth"], tuned=tune, source=row["source"].strip(), specification=specification))
    return found


def halved(rows: list[dict[str, Any]]) -> set[str]:
    """The names of the half that was tuned on."""
    source, found = random.Random(25), set[str]()  # noqa: S311 - a choice of tests
    for truth in (True, False):
        names = [row["name"] for row in rows if row["truth"] is truth]
        source.shuffle(names)
        found.update(names[::2])
    return found


def _claim(row: dict[str, Any]) -> Any:
    """The claim of a row."""
    claim = row.get("claim", "eps")
    return tuple(claim) if isinstance(claim, list) else claim


def _pair(row: dict[str, Any], *, tuned: bool) -> tuple[Case, Case]:
    """A row's program and its false twin."""
    names = ", ".join(f"{name}: Fraction" for name in row.get("parameters", ()))
    source = row["source"].strip().replace(") ->", f", {names}) ->" if names else ") ->", 1)
    adjacency = row.get("adjacency", "one")
    specification = {
        "claim": _claim(row),
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
