"""What an audit finds in outputs of every kind, and in datasets that it has to search for itself.

    python benchmarks/anything.py [--half tune] [--runs 20000] [--seeds 1] [--workers 2] [--state state.jsonl] [--output DIR]

The releases are those of `anything_*.py`, each beside a sound twin: outputs with their pair, defects of some datasets with `data=`.
They were written before the code was fitted to them; those at even places were for tuning, those at odd ones for acceptance.

Needs: attrs, msgpack, pandas, pillow, polars, pyarrow, pyyaml. Size: every release and its twin at one seed, 200,000 runs each.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import anything_data  # noqa: E402
import anything_outputs  # noqa: E402
from measuring import Bar, bars_table, code_of, incomplete, table, versions, write  # noqa: E402
from resuming import Found, Job, results  # noqa: E402

from dpaudit import audit  # noqa: E402
from dpaudit.results import TargetResult, Verdict  # noqa: E402
from dpaudit.targets import Target  # noqa: E402

CODE: Final = ("dpaudit",)
_MODULES: Final[dict[str, tuple[str | None, str]]] = {
    "": ("outputs", "data"),
    "further ": ("further", "further"),
    "strange ": ("strange", "strange_data"),
    "practice ": ("practice", "practice_data"),
    "strangers' ": ("strangers", "strangers_data"),
    "opponents' ": (None, "opponents_data"),
    "everyday ": ("everyday", "everyday_data"),
    "colleagues' ": (None, "colleagues_data"),
}
LISTS: Final[dict[str, tuple[Mapping[str, Any], Callable[..., Target]]]] = {
    f"{name}{kind}": (found := getattr(import_module(f"anything_{module}"), kind.upper()), partial(make.target, found))
    for name, modules in _MODULES.items()
    for kind, make, module in zip(("outputs", "data"), (anything_outputs, anything_data), modules, strict=True)
    if module is not None
}
"""The releases of each list by name, and what makes targets of them."""

HALVES: Final = {"tune": (0,), "accept": (1,), "all": (0, 1)}


def names_of(kind: str, half: str) -> list[str]:
    """The releases of a half of a list."""
    return [name for place, name in enumerate(LISTS[kind][0]) if place % 2 in HALVES[half]]


def audited(job: Job) -> Found:
    """What an audit of one release says."""
    make = LISTS[job["list"]][1]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = make(job["name"], broken=job["broken"])
        result = audit(target, alpha="0.001", runs=job["runs"], seed=job["seed"], stop_early=True).results[0]
    said = {"said": said_of(result, "not run"), "violated": said_of(result, "violated")}
    return {"verdict": result.verdict.value, **said, "seconds": round(time.process_time() - start, 1)}


def said_of(result: TargetResult, status: str) -> list[str]:
    """What stands beside a verdict as not checked, or as violated."""
    return [f"{check.name}: {check.detail}" for check in result.properties if check.status == status]


def measured(options: argparse.Namespace, code: str) -> list[dict[str, Any]]:
    """One row for each release."""
    jobs: list[Job] = [
        {"list": kind, "name": name, "broken": broken, "runs": options.runs, "seed": seed, "code": code}
        for kind in options.lists
        for name in names_of(kind, options.half)
        for broken in (True, False)
        for seed in range(options.first_seed if not broken else 0, (options.first_seed if not broken else 0) + options.seeds)
        if broken is False or not options.twins_only
    ]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for job, found in zip(jobs, results(jobs, audited, state=options.state, workers=options.workers, title="any"), strict=True):
        if found is not None:
            row = rows.setdefault((job["list"], job["name"]), {"list": job["list"], "name": job["name"], "broken": [], "sound": []})
            row["broken" if job["broken"] else "sound"].append(found)
    return list(rows.values())


def report(rows: list[dict[str, Any]], options: argparse.Namespace) -> tuple[str, list[Bar]]:
    """The rows as Markdown, and the bars."""
    bars: list[Bar] = []
    for kind, least in (("outputs", 0.95), ("data", 0.9)):
        broken = [found for row in rows if row["list"].endswith(kind) for found in row["broken"]]
        if broken:
            share = sum(found["verdict"] == Verdict.REFUTED for found in broken) / len(broken)
            bars.append(Bar(f"{kind}: share of broken releases refuted", share, least))
    every = [found for row in rows for found in row["broken"]]
    wrong = sum(found["verdict"] == Verdict.CONSISTENT for found in every)
    twins = [found for row in rows for found in row["sound"]]
    bars.append(Bar("broken releases called consistent", wrong, 0, most=True))
    bars.append(Bar("sound twins refuted", sum(found["verdict"] == Verdict.REFUTED for found in twins), 0, most=True))
    bars.append(Bar("sound twins with a violated property", sum(bool(found["violated"]) for found in twins), 0, most=True))
    how = (
        f"{incomplete(len(every) + len(twins), 2 * len(rows) * options.seeds)}"
        f"{len(rows)} releases of the half {options.half!r}, {options.runs:,} runs, alpha 0.001, {options.seeds} seeds."
    )
    cells = [
        [
            row["list"],
            row["name"],
            *(", ".join(sorted({found["verdict"] for found in row[side]})) or "-" for side in ("broken", "sound")),
            f"{max((found['seconds'] for found in (*row['broken'], *row['sound'])), default=0):.1f}",
        ]
        for row in rows
    ]
    head = ["list", "release", "broken", "sound twin", "seconds, slowest"]
    return "\n".join([how, "", bars_table(bars), "", table(head, cells)]), bars


def main() -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=HALVES, default="all")
    parser.add_argument("--lists", nargs="+", choices=LISTS, default=list(LISTS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0, help="first seed of the twins")
    parser.add_argument("--twins-only", action="store_true")
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--workers", type=int, default=1, help="processes; verdicts do not depend on it")
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    options = parser.parse_args()
    code = code_of(CODE)
    rows = measured(options, code)
    if not rows:
        return
    markdown, bars = report(rows, options)
    settings = {name: value for name, value in sorted(vars(options).items()) if name not in {"output", "state", "workers"}}
    record = {
        "settings": settings,
        "versions": {**versions(["dpaudit", "numpy", "scipy", "pandas", "polars"]), "code": code},
        "bars": [bar.record() for bar in bars],
        "rows": rows,
    }
    write(options.output, "anything", "Outputs of every kind, and datasets that are searched for", markdown, record)


if __name__ == "__main__":
    main()
