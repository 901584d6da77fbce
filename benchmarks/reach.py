"""Programs that the verifier was not made for: how many it reads and decides rightly, and whether one false claim is proven.

    python benchmarks/reach.py [--sets variants tasks false ...] [--half tune] [--seconds 10] [--state FILE] [--output DIR]

`variants` are textbook programs, `tasks` and `people` functions as people write them, half of each tuned on; those called
`further`, `fourth`, `fifth` and `sixth` came later. `false` is everything that was tried to have a false claim proven. Times are
processor time, of solvers too.

Needs: nothing. Size: more than a thousand programs.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from measuring import Bar, bars_table, code_of, incomplete, table, versions, write  # noqa: E402
from resuming import Found, Job, results  # noqa: E402

from dpaudit import verify  # noqa: E402
from dpaudit.errors import Unsupported  # noqa: E402
from dpaudit.verifier.fuel import clock  # noqa: E402
from tests.verifier.ordinary.conftest import FOLDER, claimed, rows  # noqa: E402
from tests.verifier.reach.cases import Case, halved, variants  # noqa: E402

CODE: Final = ("dpaudit/verifier",)
SETS: Final = (
    "variants",
    "further variants",
    "fourth variants",
    "fifth variants",
    "tasks",
    "further tasks",
    "fourth tasks",
    "fifth tasks",
    "sixth tasks",
    "people",
    "false",
)
_TEXTBOOK: Final = {"variants": "variants", "further variants": "further", "fourth variants": "fourth", "fifth variants": "fifth"}
_HALVED: Final = {
    "tasks": "tasks",
    "further tasks": "further",
    "fourth tasks": "fourth",
    "fifth tasks": "fifth",
    "sixth tasks": "sixth",
}
"""The file of a set that is halved at random."""


@cache
def programs(name: str) -> dict[str, Case]:
    """The programs of a set by name."""
    if name in _TEXTBOOK:
        return {one.name: one for one in variants(_TEXTBOOK[name])}
    files = (
        ("false", *(one.stem for one in sorted(FOLDER.glob("attacks*.toml")))) if name == "false" else (_HALVED.get(name, name),)
    )
    found: dict[str, Case] = {}
    for file in files:
        held = rows(file)
        tuned = halved(held) if name in _HALVED else {row["name"] for number, row in enumerate(held) if number // 2 % 2 == 0}
        for number, row in enumerate(held):
            if file.startswith("attacks"):
                # They are about claims of 1; the last function is not always the one that is meant.
                replaced = "replace_one" if "# replace" in row["text"] else row.get("adjacency", "add_remove")
                row = {"claim": "1", "function": "f", "truth": row.get("holds", False), **row, "adjacency": replaced}  # noqa: PLW2901
            spec = claimed(row)
            parts: dict[str, Any] = {
                "claim": spec.claim, "adjacency": row.get("adjacency", "add_remove"), "requires": spec.requires,
                "domain": spec.domain, "public": spec.public, "cost": row.get("cost"), "function": row.get("function"),
            }  # fmt: skip
            one = f"{file} {number}: {row['name']}" if name == "false" else row["name"]
            found[one] = Case(one, row.get("truth", False), row["name"] in tuned, row["text"], parts)
    return found


def judged(job: Job) -> Found:
    """What the verifier says of one program, and the time that it took."""
    case, before = programs(job["set"])[job["program"]], clock()
    try:
        found = verify(case.source, seconds=job["seconds"], **case.specification)
        status, reason = found.status, found.reason
    except Unsupported as error:
        status, reason = "refused", str(error)
    except Exception as error:  # noqa: BLE001 - what a program makes of the verifier is counted
        status, reason = "crashed", repr(error)
    return {"status": status, "reason": reason, "seconds": round(clock() - before, 2)}


def report(jobs: list[Job], found: list[Found | None]) -> tuple[str, list[Bar], list[dict[str, Any]]]:
    """The table of the sets, the bars, and a record of each program."""
    record: list[dict[str, Any]] = []
    for job, one in zip(jobs, found, strict=True):
        if one is not None:
            case = programs(job["set"])[job["program"]]
            decided = one["status"].startswith("proven") or one["status"] == "refuted"
            right = decided and one["status"].startswith("proven") is case.private
            record.append({**job, **one, "true": case.private, "tuned": case.tuned, "right": right, "wrong": decided and not right})
    cells = []
    for name in dict.fromkeys(one["set"] for one in record):
        for tuned in (True, False) if name != "false" else (None,):
            own = [one for one in record if one["set"] == name and tuned in (None, one["tuned"])]
            if own:
                half = {True: ", tuned on", False: ", run once", None: ""}[tuned]
                seconds = [one["seconds"] for one in own if one["right"]]
                counts = (sum(one["status"] not in ("refused", "crashed") for one in own), sum(one["right"] for one in own))
                wrong, crashed = sum(one["wrong"] for one in own), sum(one["status"] == "crashed" for one in own)
                median = f"{statistics.median(seconds):.1f}" if seconds else ""
                cells.append([f"{name}{half}", *map(str, (len(own), *counts, wrong, crashed)), median])
    bars = [
        Bar("wrong verdicts", sum(one["wrong"] for one in record), 0, most=True),
        Bar("errors in place of a verdict", sum(one["status"] == "crashed" for one in record), 0, most=True),
    ]
    head = ["programs", "number", "read", "decided rightly", "wrong", "crashed", "median seconds of these"]
    open_ones = [[one["set"], one["program"], one["status"], f"{one['seconds']}"] for one in record if one["wrong"]]
    text = f"{bars_table(bars)}\n{table(head, cells)}"
    return (text + (f"\n{table(['set', 'program', 'verdict', 'seconds'], open_ones)}" if open_ones else ""), bars, record)


def main() -> int:
    """Judge, print and, if asked, save; 1 if a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--half", choices=("tune", "accept"), help="one half of the programs; both where it is left out")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time for one program")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    parser.add_argument("--name", default="reach", help="name of the files of results")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    code = code_of(CODE)
    jobs: list[Job] = [
        {"set": name, "program": one, "seconds": options.seconds}
        for name in options.sets
        for one, case in programs(name).items()
        if options.half is None or case.tuned is (options.half == "tune")
    ]
    # In an order of no meaning, so that the first ones are a fair sample.
    random.Random(0).shuffle(jobs)  # noqa: S311
    found = results(jobs, judged, state=options.state, workers=options.workers, title="programs")
    text, bars, record = report(jobs, found)
    kept = [{key: value for key, value in one.items() if key != "reason"} for one in record]
    saved = {
        "settings": {"seconds": options.seconds, "half": options.half or "both"},
        "versions": {**versions(["dpaudit", "z3-solver", "cvc5", "numpy"]), "code": code},
        "bars": [bar.record() for bar in bars],
        "rows": kept,
    }
    write(options.output, options.name, "The verifier's reach", f"{incomplete(len(record), len(jobs))}{text}", saved)
    return int(any(one["wrong"] for one in record))


if __name__ == "__main__":
    sys.exit(main())
