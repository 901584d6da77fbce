"""Every strange target, alone and between honest ones, through the command line: `python tests/auditor/supervision/campaign.py 2`.

The argument is the number of jobs. A line for each case; the last one counts those that went wrong.
"""

# ruff: noqa: T201 - what it prints is its result

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from conftest import HONEST
from strange import CASES, HELD_OUT, module

AROUND = ("honest.py:sound", "honest.py:broken", None, "honest.py:after", "honest.py:broken_after")
OPTIONS = ("--runs", "20000", "--json", "--time-limit", "8", "--memory-limit", "1 GiB", "--jobs")
CODES = {"failed": 4, "consistent": 0, "inconclusive": 3}


def audited(folder: str, names: list[str], jobs: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the results by name."""
    command = [sys.executable, "-m", "dpaudit", "audit", *names, *OPTIONS, jobs]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    return done.returncode, {result["name"]: result for result in json.loads(done.stdout)["evidence"]["results"]}


def went_wrong(folder: str, jobs: str, base: dict[str, dict[str, Any]]) -> str:
    """What is wrong with the strange target in the folder; empty where nothing is."""
    code, alone = audited(folder, ["strange_one.py:target"], jobs)
    ((_, one),) = alone.items()
    if code != CODES.get(one["verdict"]):
        return f"exit code {code} for {one['verdict']}"
    code, among = audited(folder, [name or "strange_one.py:target" for name in AROUND], jobs)
    (strange,) = (name for name in among if name not in base["without"])
    kind = "without" if "could not be audited" in among[strange]["summary"] else "beside"
    if among[strange]["verdict"] not in CODES or code != 1:
        return f"exit code {code} for {among[strange]['verdict']} beside a refuted claim"
    touched = [name for name in base["without"] if among.get(name) != base[kind][name]]
    return f"other evidence for {', '.join(touched)}" if touched else ""


def main(jobs: str) -> int:
    """The number of cases that went wrong."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "honest.py").write_text(HONEST, encoding="utf-8")
        base = {
            "beside": audited(folder, [name or "honest.py:strange" for name in AROUND], jobs)[1],
            "without": audited(folder, [name for name in AROUND if name], jobs)[1],
        }
        for kind, name in CASES:
            Path(folder, "strange_one.py").write_text(module(kind, name), encoding="utf-8")
            problem = went_wrong(folder, jobs, base)
            wrong += bool(problem)
            held = "held out" if (kind, name) in HELD_OUT else "tuned on"
            print(f"{'WRONG' if problem else 'fine ':<6} {held}  {kind}: {name}  {problem}", flush=True)
    print(f"{wrong} of {len(CASES)} went wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1] if len(sys.argv) > 1 else "1")))
