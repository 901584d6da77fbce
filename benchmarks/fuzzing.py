"""Calls of the public API with hostile arguments: every one is answered or refused with a code, in time, without a private value.

python benchmarks/fuzzing.py --output benchmarks/results

Hypothesis draws the calls (benchmarks/hostile.py says how) in processes of a thousand examples each, with limited memory, in a
folder of their own; a process that ends or hangs is a fault like any other.

Needs: nothing. Size: 100,000 calls.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]  # the folder has a file of the name of the package

from hostile import Outcome, outcomes, subjects  # noqa: E402
from measuring import Bar, bars_table, table, versions, write  # noqa: E402

CALLS: Final = 100_000
EXAMPLES: Final = 1_000
"""Examples of one process, each of one or two calls."""

SECONDS: Final = 60
"""Processor time that one call may take."""

_PROCESS_SECONDS: Final = 3_600
_MEMORY: Final = 8 << 30
_COLUMNS: Final = ("answered", "refused", "unfitted", "fault")


def drawn(examples: int, root: int) -> list[Outcome]:
    """What became of drawn calls.

    Args:
      examples: how many public names are drawn, each called once, and mostly one method of what it gave.
      root: seed of the draws.
    Returns:
      An outcome for each call, in order.
    """
    called, found = subjects(), []

    @seed(root)
    @settings(max_examples=examples, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.data())
    def call(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(called)))
        found.extend(outcomes(data, name, called[name], SECONDS))

    call()
    return found


def batches(calls: int, root: int) -> Iterator[tuple[list[Outcome], float]]:
    """Outcomes by process and their processor time, until there are so many calls; three processes that end are enough."""
    made = number = ended = 0
    while made < calls and ended < 3:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(Path(__file__).resolve()), "--batch", f"{root}", f"{number}"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                ran = subprocess.run(
                    command,
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=_PROCESS_SECONDS,
                    stdin=subprocess.DEVNULL,
                )
                found = [Outcome(**entry) for entry in json.loads(ran.stdout.splitlines()[-1])]
            except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
                found, ended = [Outcome("?", "process ended", type(error).__name__, " ".join(command[2:]))], ended + 1
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        number, made = number + 1, made + len(found)
        yield found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def page(found: Sequence[Outcome], root: int, seconds: float) -> tuple[str, dict[str, object]]:
    """The table of what was found, and its record."""
    counts: dict[str, Counter[str]] = {}
    for outcome in found:
        package = outcome.name.partition("()")[0].rpartition(".")[0]
        for row in (package, "all"):
            counts.setdefault(row, Counter())["fault" if outcome.fault else outcome.kind] += 1
    rows = [
        [name, *(f"{counts[name][kind]:,}" for kind in _COLUMNS)] for name in sorted(counts, key=lambda name: (name == "all", name))
    ]
    faults = [outcome for outcome in found if outcome.fault]
    bars = [Bar("calls", len(found), CALLS), Bar("faults", len(faults), 0, most=True)]
    names = sorted({outcome.name for outcome in found})
    text = (
        f"{len(found):,} calls of {len(names):,} public functions, methods and properties, seed {root}, {seconds:,.0f} s of "
        "processor time. A call is answered, refused with a code, or, on an estimator not fitted, ends as scikit-learn asks. "
        f"Anything else is a fault: another error, a warning, more than {SECONDS} s of processor time, and digits of a private "
        f"value in a message or in the chain of errors behind it.\n\n{bars_table(bars)}\n{table(['package', *_COLUMNS], rows)}"
    )
    first = {(outcome.kind, outcome.place): outcome for outcome in reversed(faults)}
    if first:
        cells = [[one.kind, one.place, one.name, f"`{one.example}`"] for one in first.values()]
        text += "\n" + table(["fault", "at", "of", "for instance"], cells)
    record: dict[str, object] = {
        "versions": versions(("numpy", "scipy", "hypothesis", "python-flint", "scikit-learn")),
        "seed": root, "seconds": round(seconds),
        "bars": [bar.record() for bar in bars], "counts": counts, "names": names, "faults": [asdict(one) for one in first.values()],
    }  # fmt: skip
    return text, record


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the calls and print a table; 1 when there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=CALLS, help="least number of calls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, nargs=2, metavar=("SEED", "NUMBER"), help="make the calls of one process")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    if options.batch:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        root, number = options.batch
        sys.stdout.write("\n" + json.dumps([asdict(outcome) for outcome in drawn(EXAMPLES, root + 1_000_003 * number)]) + "\n")
        return 0
    found: list[Outcome] = []
    seconds, begun = 0.0, time.monotonic()
    for batch, cost in batches(options.calls, options.seed):
        found, seconds = [*found, *batch], seconds + cost
        faults = sum(outcome.fault for outcome in found)
        sys.stderr.write(f"{len(found):,} calls, {faults} faults, {time.monotonic() - begun:,.0f} s\n")
    text, record = page(found, options.seed, seconds)
    write(options.output, "fuzzing", "Hostile arguments", text, record)
    return int(any(outcome.fault for outcome in found))


if __name__ == "__main__":
    sys.exit(main())
