"""How many runs a second the auditor makes: whole audits of Laplace noise, one call for many outputs or one for each.

    python benchmarks/throughput.py [--runs 10000000] [--output benchmarks/results]

The audits have a claim that nothing refutes, so that all runs are made. Processor seconds, except for the two processes, which are
worth what they save in wall time: run this on a machine that does nothing else. Where that cannot be, processor seconds say what
two processes promise. They pay only in long audits: one of a second or two is over before they have made many runs.

Needs: a quiet machine. Size: audits of up to 1.2 10^9 runs, four minutes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Bar, bars_table, children_seconds, table, versions, write
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.report import evidence_bytes

CLAIM = Claim(PureDP(epsilon=30))
REPEATS = 3
SECONDS = 3.0
"""What 10,000,000 runs may take."""

FASTER = 1.8
"""How much faster two processes have to be in an audit that takes one of them about a minute: an efficiency of 90 %."""


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
        before = children_seconds()
        subprocess.run([sys.executable, __file__, "--one-audit", "--runs", str(runs)], check=True)
        after = children_seconds()
        found.append(after - before)
    return min(found)


@dataclass(frozen=True)
class Gain:
    """One audit in this process and in two: wall and processor seconds, and whether the evidence is the same.

    `driver` are the processor seconds of this process while two others worked, `workers` are those of the two together.
    """

    alone: float
    together: float
    processor_alone: float
    driver: float
    workers: float
    same: bool

    @property
    def times(self) -> float:
        """Wall time in this process over that in two."""
        return self.alone / self.together

    @property
    def promised(self) -> float:
        """What `times` would be on a free machine if this process never worked while the others do; it is more where it does."""
        return self.processor_alone / (self.driver + self.workers / 2)


def gain(target: Target, runs: int, repeats: int = 1, processes: int = 2) -> Gain:
    """An audit here and in two processes, in turn; the least seconds of a few repeats."""
    with ProcessPoolExecutor(processes) as pool:
        audit(target, runs=50_000, executor=pool)  # the workers start and import
        alone, together = (list(sides) for sides in zip(*(_turn(target, runs, pool) for _ in range(repeats)), strict=True))
    (wall, here, _), (shared, driver, workers) = (np.min([seconds for seconds, _ in side], axis=0) for side in (alone, together))
    evidence = {found for _, found in (*alone, *together)}
    return Gain(float(wall), float(shared), float(here), float(driver), float(workers), len(evidence) == 1)


def _turn(target: Target, runs: int, pool: ProcessPoolExecutor) -> list[tuple[list[float], bytes]]:
    """Wall seconds, processor seconds here and in workers, and evidence: of an audit here, then of one by the workers."""
    found = []
    for executor in (None, pool):
        start = spent(pool)
        before = [time.perf_counter(), time.process_time()]
        report = audit(target, runs=runs, seed=1, executor=executor)
        after = [time.perf_counter(), time.process_time()]
        seconds = [end - begin for begin, end in zip(before, after, strict=True)]
        found.append(([*seconds, spent(pool) - start], evidence_bytes(report)))
    return found


def spent(pool: ProcessPoolExecutor) -> float:
    """Processor seconds that the workers of a pool have used so far, as each tells when it is asked."""
    return sum(dict(pool.map(_own, range(16))).values())


def _own(_: int) -> tuple[int, float]:
    """Which worker this is and its processor seconds, after a moment in which the others are asked too."""
    time.sleep(0.02)
    return os.getpid(), time.process_time()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--scalar-runs", type=int, default=1_000_000)
    parser.add_argument("--long-runs", type=int, default=1_200_000_000, help="of one call for many, for two processes")
    parser.add_argument("--long-scalar-runs", type=int, default=100_000_000)
    parser.add_argument("--one-audit", action="store_true", help="make one audit and print nothing")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    if options.one_audit:
        audit(VECTOR, runs=options.runs, seed=1)
        return
    start, warm = fresh(options.runs), processor(lambda: audit(VECTOR, runs=options.runs, seed=1))
    rate = options.scalar_runs / processor(lambda: audit(SCALAR, runs=options.scalar_runs, seed=1))
    gains = {
        f"{options.runs:,} runs, one call for many": gain(VECTOR, options.runs, REPEATS),
        f"{options.scalar_runs:,} runs, one call for each": gain(SCALAR, options.scalar_runs, REPEATS),
    }
    long = {
        f"{options.long_runs:,} runs, one call for many": gain(VECTOR, options.long_runs),
        f"{options.long_scalar_runs:,} runs, one call for each": gain(SCALAR, options.long_scalar_runs),
    }
    bars = [
        Bar(f"{options.runs:,} runs in a fresh program, seconds", start, SECONDS, most=True),
        Bar(f"{options.runs:,} runs in a program that runs, seconds", warm, SECONDS, most=True),
        Bar("runs/s of a function called for each output", rate, 1.5e5),
        *(Bar(f"two processes, {what}: times faster", one.times, FASTER) for what, one in long.items()),
        *(Bar(f"two processes, {what}: times faster by processor seconds", one.promised, FASTER) for what, one in long.items()),
        *(Bar(f"two processes, {what}: same evidence", float(one.same), 1) for what, one in {**gains, **long}.items()),
    ]
    head = ["two processes", "seconds alone", "seconds", "times faster", "processor: alone", "driver", "workers", "times promised"]
    rows = [[what, *(f"{figure:.3g}" for figure in _figures(one))] for what, one in {**gains, **long}.items()]
    record: dict[str, Any] = {
        "runs": options.runs,
        "scalar_runs": options.scalar_runs,
        "versions": versions(("dpaudit", "numpy", "scipy")),
        "two_processes": [{"what": what, **asdict(one)} for what, one in {**gains, **long}.items()],
        "bars": [bar.record() for bar in bars],
    }
    write(options.output, "throughput", "Runs a second", f"{table(head, rows)}\n{bars_table(bars)}", record)


def _figures(one: Gain) -> tuple[float, ...]:
    """The columns of the table of two processes."""
    return one.alone, one.together, one.times, one.processor_alone, one.driver, one.workers, one.promised


if __name__ == "__main__":
    main()
