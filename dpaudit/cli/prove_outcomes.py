"""What became of a function that was to be proven, as data and in the forms of CI systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dpaudit.errors import DpauditError

REAL_NUMBERS: Final = "proven (real numbers)"
STATUSES: Final = ("proven", REAL_NUMBERS, "read", "refuted", "unknown", "unsupported")


@dataclass(frozen=True)
class Outcome:
    """What became of one function, as data: it can come from the process in which a file of the user's was loaded.

    `status` is one of `STATUSES`, `lines` are for people, `document` is JSON; `aligned` says that a proof by alignment is among
    them. `file` and `line` say where the function, or what stood in the way, is.
    """

    program: str
    published: str
    status: str
    lines: tuple[str, ...]
    document: str
    certificate: str | None = None
    aligned: bool = False
    file: str = ""
    line: int = 0


def unread(program: str, published: str, error: DpauditError, function: str = "", *, file: str = "", line: int = 0) -> Outcome:
    """A function, or all of a name, that could not be read."""
    document = json.dumps({"name": function or program, "error": str(error)})
    return Outcome(program, published, "unsupported", (f"{program}: unsupported", f"  {error}"), document, file=file, line=line)


def findings(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """What CI systems show: everything that is not proven, at its line."""
    levels = {"refuted": "error", "unsupported": "warning", "unknown": "warning", REAL_NUMBERS: "note"}
    return [
        {
            "level": levels[one.status],
            "rule": f"prove-{one.status.partition(' ')[0]}",
            "text": " ".join(line.strip() for line in one.lines),
            "file": one.file,
            "line": max(one.line, 1),
        }
        for one in outcomes
        if one.status in levels and one.status != one.published
    ]
