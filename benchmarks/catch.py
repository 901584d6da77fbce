"""The catch list: how many broken releases an audit finds, how fast, and how often it flags one of their sound twins.

    python benchmarks/catch.py [--seeds 200] [--mutant-seeds 3] [--workers 2] [--state state.jsonl] [--output benchmarks/results]

The defects are those of tests/catch/defects: published classes, each a small broken release beside a sound one. Every audit has
alpha 1e-6 for itself. A broken release counts as caught when the verdict is "refuted" for every seed; a twin counts as flagged when
any part of an audit speaks against it: a property, the price, or the attack. `--seeds 1000` is the long campaign.

Needs: nothing. Size: every defect and its twin, 200 seeds of each twin.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent), str(ROOT / "tests" / "catch")]

from defects import DEFECTS  # noqa: E402
from defects.defect import witnesses  # noqa: E402
from measuring import Bar, bars_table, code_of, incomplete, table, versions, write  # noqa: E402
from resuming import Found, Job, results  # noqa: E402

from dpaudit import audit  # noqa: E402
from dpaudit.auditor.statistics.bounds import clopper_pearson_upper  # noqa: E402
from dpaudit.results import Verdict  # noqa: E402

ALPHA: Final = "1e-6"
CODE: Final = ("dpaudit", "mechanisms", "tests/catch/defects")
SEEDS_A_JOB: Final = 10
SLOW: Final = 10.0
"""Processor seconds within which nine in ten broken releases are to be caught."""


def audited(job: Job) -> Found:
    """What audits of one release say, a few seeds after each other."""
    defect = next(one for one in DEFECTS if one.name == job["defect"])
    return {"audits": [_one(defect.twin if job["twin"] else defect.mutant, job["runs"], seed) for seed in range(*job["seeds"])]}


def _one(target: Any, runs: int, seed: int) -> dict[str, Any]:
    """Verdict, witnesses, runs to the refutation and processor seconds of one audit."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = audit(target, alpha=ALPHA, runs=runs, seed=seed).results[0]
    attack = result.attack
    return {
        "caught": result.verdict is Verdict.REFUTED,
        "witnesses": sorted(witnesses(result)),
        "runs": None if attack is None else attack.sequential.stopped_at or attack.runs,
        "seconds": round(time.process_time() - start, 2),
    }


def measured(options: argparse.Namespace, code: str) -> list[dict[str, Any]]:
    """One row for each defect both of whose sides were audited, in the order of the list."""
    sides = ((False, options.mutant_seeds, options.runs), (True, options.seeds, options.twin_runs))
    jobs: list[Job] = [
        {"defect": defect.name, "twin": twin, "seeds": [first, min(first + SEEDS_A_JOB, seeds)], "runs": runs, "code": code}
        for twin, seeds, runs in sides
        for first in range(0, seeds, SEEDS_A_JOB)
        for defect in DEFECTS
    ]
    found: dict[tuple[str, bool], list[Found]] = {}
    for job, made in zip(jobs, results(jobs, audited, state=options.state, workers=options.workers, title="catch"), strict=True):
        found.setdefault((job["defect"], job["twin"]), []).extend([] if made is None else made["audits"])
    sides_of = ((defect, found[defect.name, False], found[defect.name, True]) for defect in DEFECTS)
    return [_row(defect, broken, twins) for defect, broken, twins in sides_of if broken and twins]


def _row(defect: Any, broken: list[dict[str, Any]], twins: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything measured of one defect."""
    runs = [audit["runs"] for audit in broken if audit["runs"] is not None]
    return {
        "name": defect.name,
        "kind": defect.kind,
        "caught": sum(audit["caught"] for audit in broken),
        "witnesses": sorted({witness for audit in broken for witness in audit["witnesses"]}),
        "runs": int(statistics.median(runs)) if runs else None,
        "seconds": max(audit["seconds"] for audit in broken),
        "flagged": sum(bool(audit["witnesses"]) for audit in twins),
        "audits": [len(broken), len(twins)],
        "twin_seconds": statistics.median(audit["seconds"] for audit in twins),
    }


def report(rows: list[dict[str, Any]], options: argparse.Namespace) -> tuple[str, list[Bar]]:
    """The rows as Markdown, and the bars."""
    caught = [row for row in rows if row["caught"] == row["audits"][0]]
    bars = [
        Bar("broken releases", len(rows), 30),
        Bar("share caught, at every seed", len(caught) / len(rows), 1),
        Bar(f"share caught within {SLOW:g} s, slowest seed", sum(row["seconds"] <= SLOW for row in caught) / len(rows), 0.9),
        Bar("audits that flag a sound twin", sum(row["flagged"] for row in rows), 0, most=True),
    ]
    done, asked = sum(sum(row["audits"]) for row in rows), len(DEFECTS) * (options.mutant_seeds + options.seeds)
    measured_how = (
        f"{incomplete(done, asked)}"
        f"{len(rows)} broken releases of {len({row['kind'] for row in rows})} classes at {options.mutant_seeds} seeds with at most "
        f"{options.runs:,} runs, and their sound twins at {options.seeds} seeds with {options.twin_runs:,} runs each; "
        f"alpha {ALPHA} for each audit, processor seconds of the slowest."
    )
    flagged, audits = (sum(numbers) for numbers in zip(*((row["flagged"], row["audits"][1]) for row in rows), strict=True))
    rarer = int(1 / clopper_pearson_upper(flagged, audits, "0.05"))
    legend = (
        f"Part of an audit spoke against a sound twin in {flagged:,} of {audits:,} audits: with 95 % confidence it does so, on "
        f"average over the twins, in less than one of {rarer:,}. Runs are the median number at which the bets refute, or all runs "
        "where another part does. What each name stands for is in docs/catalogue.md."
    )
    cells = [
        [
            row["name"],
            row["kind"],
            f"{row['caught']} of {row['audits'][0]}",
            ", ".join(row["witnesses"]),
            f"{row['runs']:,}" if row["runs"] else "-",
            f"{row['seconds']:.1f}",
            "yes" if row["seconds"] <= SLOW else "**no**",
            f"{row['flagged']} of {row['audits'][1]}",
        ]
        for row in rows
    ]
    head = ["defect", "class", "caught", "by", "runs", "seconds", f"within {SLOW:g} s", "twin flagged"]
    return "\n".join([measured_how, "", bars_table(bars), legend, "", table(head, cells)]), bars


def main() -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--mutant-seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--twin-runs", type=int, default=2_500)
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
        "versions": {**versions(["dpaudit", "numpy", "scipy"]), "code": code},
        "bars": [bar.record() for bar in bars],
        "rows": rows,
    }
    write(options.output, "catch", "The catch list", markdown, record)


if __name__ == "__main__":
    main()
