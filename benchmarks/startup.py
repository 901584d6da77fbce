"""What importing and starting costs, over the interpreter's own start: medians of twenty, printed against their limits."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

REPEATS = 20


@dataclass(frozen=True)
class Cost:
    """A start-up that has a limit: the statements it runs, its limit, and whether the interpreter's own start counts."""

    name: str
    code: str
    limit_ms: float
    over_interpreter: bool


COSTS = (
    Cost("import dpaudit", "import dpaudit", 30, over_interpreter=True),
    Cost("import dpaudit.pytest_plugin, pytest loaded", "import pytest; import dpaudit.pytest_plugin", 10, over_interpreter=True),
    Cost(
        "dpaudit --help",
        "import sys; sys.argv = ['dpaudit', '--help']; from dpaudit.cli import main; main()",
        150,
        over_interpreter=False,
    ),
    Cost(
        "dpaudit --version",
        "import sys; sys.argv = ['dpaudit', '--version']; from dpaudit.cli import main; main()",
        150,
        over_interpreter=False,
    ),
)


def milliseconds(code: str) -> float:
    """Wall time of a new interpreter that runs `code`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


def measure(cost: Cost, repeats: int = REPEATS) -> float:
    """Median cost in milliseconds; the baseline runs in turn with it, so that a busy machine slows both."""
    baseline = "import pytest" if "pytest" in cost.code else "pass"
    pairs = [(milliseconds(cost.code), milliseconds(baseline)) for _ in range(repeats)]
    return statistics.median(one - (other if cost.over_interpreter else 0) for one, other in pairs)


def main() -> int:
    """Print a line for each cost; 1 when one is over its limit."""
    measured = {cost: measure(cost) for cost in COSTS}
    for cost, found in measured.items():
        print(f"{cost.name:<46}{found:7.1f} ms, limit {cost.limit_ms:g} ms, {found / cost.limit_ms:.2f} of it")
    return int(any(found > cost.limit_ms for cost, found in measured.items()))


if __name__ == "__main__":
    sys.exit(main())
