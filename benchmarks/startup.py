"""What importing and starting costs, over the interpreter's own start: medians of twenty, printed against their limits.

Needs: nothing. Size: 20 starts of each.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

REPEATS = 20
PYTHON = (sys.executable, "-c")
DPAUDIT = (str(Path(sys.executable).with_name("dpaudit")),)


@dataclass(frozen=True)
class Cost:
    """A start-up that has a limit: its command, what it is compared with (nothing, where wall time counts), and the limit."""

    name: str
    command: tuple[str, ...]
    baseline: tuple[str, ...]
    limit_ms: float


COSTS = (
    Cost("import dpaudit", (*PYTHON, "import dpaudit"), (*PYTHON, "pass"), 30),
    Cost(
        "import dpaudit.pytest_plugin after pytest",
        (*PYTHON, "import pytest, dpaudit.pytest_plugin"),
        (*PYTHON, "import pytest"),
        10,
    ),
    Cost("dpaudit --help", (*DPAUDIT, "--help"), (), 150),
    Cost("dpaudit --version", (*DPAUDIT, "--version"), (), 150),
)


def milliseconds(command: tuple[str, ...]) -> float:
    """Wall time of a program, 0 for none."""
    if not command:
        return 0.0
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


def measure(cost: Cost, repeats: int = REPEATS) -> float:
    """Median cost in milliseconds; the baseline runs in turn with it, so that a busy machine slows both."""
    return statistics.median(milliseconds(cost.command) - milliseconds(cost.baseline) for _ in range(repeats))


def main() -> int:
    """Print a line for each cost; 1 when one is over its limit."""
    measured = {cost: measure(cost) for cost in COSTS}
    for cost, found in measured.items():
        print(f"{cost.name:<46}{found:7.1f} ms, limit {cost.limit_ms:g} ms, {found / cost.limit_ms:.2f} of it")
    return int(any(found > cost.limit_ms for cost, found in measured.items()))


if __name__ == "__main__":
    sys.exit(main())
