"""The catch list: how many broken releases an audit finds, how fast, and how often it flags one of their sound twins.

    python benchmarks/catch.py [--seeds 200] [--mutant-seeds 3] [--workers 2] [--output benchmarks/results]

The defects are those of tests/catch/defects: published classes, each a small broken release beside a sound one. Every audit has
alpha 1e-6 for itself. A broken release counts as caught when the verdict is "refuted" for every seed; a twin counts as flagged when
any part of an audit speaks against it: a property, the price, or the attack. `--seeds 1000` is the long campaign.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from rich.progress import track

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent), str(ROOT / "tests" / "catch")]

from defects import DEFECTS  # noqa: E402
from defects.defect import witnesses  # noqa: E402
from measuring import Bar, bars_table, table, versions, write  # noqa: E402

from dpaudit import Target, audit  # noqa: E402
from dpaudit.results import TargetResult, Verdict  # noqa: E402

ALPHA: Final = "1e-6"
SLOW: Final = 10.0
"""Seconds within which nine in ten broken releases are to be caught."""


def audited(target: Target, runs: int, seed: int) -> tuple[TargetResult, float]:
    """The result of one audit and its seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = audit(target, alpha=ALPHA, runs=runs, seed=seed).results[0]
    return result, time.perf_counter() - start


def row_of(place: int, runs: int, twin_runs: int, mutant_seeds: int, seeds: int) -> dict[str, Any]:
    """Everything measured of one defect."""
    defect = DEFECTS[place]
    found = [audited(defect.mutant, runs, seed) for seed in range(mutant_seeds)]
    twins = [audited(defect.twin, twin_runs, seed) for seed in range(seeds)]
    attacks = [result.attack for result, _ in found if result.attack is not None]
    stopped = [attack.runs if attack.sequential.stopped_at is None else attack.sequential.stopped_at for attack in attacks]
    return {
        "name": defect.name,
        "kind": defect.kind,
        "caught": sum(result.verdict is Verdict.REFUTED for result, _ in found),
        "witnesses": sorted({witness for result, _ in found for witness in witnesses(result)}),
        "runs": int(statistics.median(stopped)) if stopped else None,
        "seconds": round(max(seconds for _, seconds in found), 2),
        "flagged": sum(bool(witnesses(result)) for result, _ in twins),
        "twin_seconds": round(statistics.median(seconds for _, seconds in twins), 2),
    }


def measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One row for each defect, in the order of the list."""
    arguments = (options.runs, options.twin_runs, options.mutant_seeds, options.seeds)
    with ProcessPoolExecutor(options.workers) as pool:
        futures = [pool.submit(row_of, place, *arguments) for place in range(len(DEFECTS))]
        return [future.result() for future in track(futures, "defects", disable=not sys.stderr.isatty())]


def report(rows: list[dict[str, Any]], options: argparse.Namespace) -> tuple[str, list[Bar]]:
    """The rows as Markdown, and the bars."""
    caught = [row for row in rows if row["caught"] == options.mutant_seeds]
    bars = [
        Bar("broken releases", len(rows), 30),
        Bar("share caught, at every seed", len(caught) / len(rows), 1),
        Bar(f"share caught within {SLOW:g} s, slowest seed", sum(row["seconds"] <= SLOW for row in caught) / len(rows), 0.9),
        Bar("audits that flag a sound twin", sum(row["flagged"] for row in rows), 0, most=True),
    ]
    measured_how = (
        f"{len(rows)} broken releases of {len({row['kind'] for row in rows})} classes at {options.mutant_seeds} seeds with at most "
        f"{options.runs:,} runs, and their sound twins at {options.seeds} seeds with {options.twin_runs:,} runs each; "
        f"alpha {ALPHA} for each audit, {options.workers} at a time."
    )
    legend = (
        "Runs are the median number at which the bets refute, or all runs where another part does. What each name stands for is in "
        "docs/catch_list.md."
    )
    cells = [
        [
            row["name"],
            row["kind"],
            f"{row['caught']} of {options.mutant_seeds}",
            ", ".join(row["witnesses"]),
            f"{row['runs']:,}" if row["runs"] else "-",
            f"{row['seconds']:.1f}",
            f"{row['flagged']} of {options.seeds}",
        ]
        for row in rows
    ]
    head = ["defect", "class", "caught", "by", "runs", "seconds", "twin flagged"]
    return "\n".join([measured_how, "", bars_table(bars), legend, "", table(head, cells)]), bars


def main() -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--mutant-seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--twin-runs", type=int, default=2_500)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = measured(options)
    markdown, bars = report(rows, options)
    record = {
        "settings": {name: value for name, value in sorted(vars(options).items()) if name != "output"},
        "versions": versions(["dpaudit", "numpy", "scipy"]),
        "bars": [bar.record() for bar in bars],
        "rows": rows,
    }
    write(options.output, "catch", "The catch list", markdown, record)


if __name__ == "__main__":
    main()
