"""How many runs a second the auditor makes: whole audits of Laplace noise, one call for many outputs or one for each.

    python benchmarks/throughput.py [--runs 10000000] [--output benchmarks/results]

The audits have a claim that nothing refutes, so that all runs are made. Processor seconds, except for the two processes, which are
worth what they save in wall time: run this on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Bar, bars_table, table, versions, write
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.report import evidence_bytes

CLAIM = Claim(PureDP(epsilon=30))
REPEATS = 3
SECONDS = 3.0
"""What 10,000,000 runs may take."""


def one(value: float, rng: Generator) -> float:
    """A noisy number."""
    return value + rng.laplace()


def many(value: float, count: int, rng: Generator) -> NDArray[np.float64]:
    """Noisy numbers."""
    return value + rng.laplace(size=count)


SCALAR = Target(run=one, claim=CLAIM, neighbours=[(0.0, 1.0)], public_data=True)
VECTOR = Target(sample=many, claim=CLAIM, neighbours=[(0.0, 1.0)], public_data=True)


def processor(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Least processor seconds of a few calls."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def fresh(runs: int) -> float:
    """Least processor seconds of a program that makes one audit of many outputs a call, start and imports included."""
    found = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, __file__, "--one-audit", "--runs", str(runs)], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def gain(target: Target, runs: int, processes: int = 2) -> tuple[float, bool]:
    """Wall time in this process over that in two, least of a few repeats in turn, and whether the evidence is the same."""

    def timed(executor: Executor | None) -> tuple[float, bytes]:
        start = time.perf_counter()
        report = audit(target, runs=runs, seed=1, executor=executor)
        return time.perf_counter() - start, evidence_bytes(report)

    with ProcessPoolExecutor(processes) as pool:
        audit(target, runs=50_000, executor=pool)  # the workers start and import
        pairs = [(timed(None), timed(pool)) for _ in range(REPEATS)]
    alone, together = (min(pair[side][0] for pair in pairs) for side in (0, 1))
    return alone / together, len({evidence for pair in pairs for _, evidence in pair}) == 1


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--scalar-runs", type=int, default=1_000_000)
    parser.add_argument("--one-audit", action="store_true", help="make one audit and print nothing")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    if options.one_audit:
        audit(VECTOR, runs=options.runs, seed=1)
        return
    start, warm = fresh(options.runs), processor(lambda: audit(VECTOR, runs=options.runs, seed=1))
    rate = options.scalar_runs / processor(lambda: audit(SCALAR, runs=options.scalar_runs, seed=1))
    gains = {"one call for many outputs": gain(VECTOR, options.runs), "one call for each": gain(SCALAR, options.scalar_runs)}
    bars = [
        Bar(f"{options.runs:,} runs in a fresh program, seconds", start, SECONDS, most=True),
        Bar(f"{options.runs:,} runs in a program that runs, seconds", warm, SECONDS, most=True),
        Bar("runs/s of a function called for each output", rate, 1.5e5),
        *(Bar(f"two processes, {what}, times faster", times, 1.7) for what, (times, _) in gains.items()),
        *(Bar(f"two processes, {what}, same evidence", float(same), 1) for what, (_, same) in gains.items()),
    ]
    rows: list[list[str]] = [[bar.what, f"{bar.figure:,.3g}"] for bar in bars]
    record: dict[str, Any] = {
        "runs": options.runs,
        "scalar_runs": options.scalar_runs,
        "versions": versions(("dpaudit", "numpy", "scipy")),
        "bars": [bar.record() for bar in bars],
    }
    write(options.output, "throughput", "Runs a second", f"{table(['what', 'measured'], rows)}\n{bars_table(bars)}", record)


if __name__ == "__main__":
    main()
