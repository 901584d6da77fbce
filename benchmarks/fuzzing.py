"""Calls of the public API with hostile arguments: every one is answered or refused with a code, in time, without a private value.

    python benchmarks/fuzzing.py --workers 2 --state state.jsonl --output benchmarks/results

Every parameter of every public name gets every hostile value in turn, with usual values beside it; then Hypothesis draws calls with
several, and of methods of what they give (benchmarks/hostile.py says how). Processes have limited memory and a folder of their own;
one that ends or hangs is a fault like any other.

Needs: nothing. Size: 100,000 calls.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]  # the folder has a file of the name of the package

from hostile import Outcome, outcomes, subjects, swept  # noqa: E402
from measuring import Bar, bars_table, children_seconds, code_of, incomplete, table, versions, write  # noqa: E402
from resuming import Found, Job, results  # noqa: E402

CALLS: Final = 100_000
EXAMPLES: Final = 1_000
"""Examples of one process, each of one or two calls."""

SWEPT: Final = "swept"
DRAWN: Final = "drawn"
SWEEPS: Final = 9
"""Processes that share the calls with one hostile value each, some 80,000."""

BATCHES: Final = 25
"""Processes whose calls are drawn, enough for so many calls with the others."""

CODE: Final = ("dpaudit", "mechanisms", "learners")

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
    called, found = subjects(), list[Outcome]()

    @seed(root)
    @settings(max_examples=examples, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.data())
    def call(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(called)))
        found.extend(outcomes(data, name, called[name], SECONDS))

    call()
    return found


def batch(job: Job) -> Found:
    """What became of the calls of one process of its own, and its processor time."""
    command = [sys.executable, str(Path(__file__).resolve()), "--batch", job["kind"], f"{job['seed']}", f"{job['batch']}"]
    before = children_seconds()
    with tempfile.TemporaryDirectory() as folder:
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
            found = json.loads(ran.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError) as error:
            found = [asdict(Outcome("?", "process ended", type(error).__name__, " ".join(command[2:])))]
    return {"outcomes": found, "seconds": children_seconds() - before}


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
    parser.add_argument("--batches", type=int, default=BATCHES, help=f"processes of {EXAMPLES:,} drawn examples each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", nargs=3, metavar=("KIND", "SEED", "NUMBER"), help="make the calls of one process")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time")
    parser.add_argument("--state", type=Path, help="file to which every batch is added, and from which a later start goes on")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    if options.batch:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        kind, root, number = options.batch[0], *map(int, options.batch[1:])
        found = drawn(EXAMPLES, root + 1_000_003 * number) if kind == DRAWN else [*swept(number, SWEEPS, SECONDS)]
        sys.stdout.write("\n" + json.dumps([asdict(outcome) for outcome in found]) + "\n")
        return 0
    code = code_of(CODE)
    numbers = [*((SWEPT, number) for number in range(SWEEPS)), *((DRAWN, number) for number in range(options.batches))]
    jobs: list[Job] = [{"kind": kind, "seed": options.seed, "batch": number, "code": code} for kind, number in numbers]
    made = [one for one in results(jobs, batch, state=options.state, workers=options.workers, title="fuzzing") if one is not None]
    found = [Outcome(**entry) for one in made for entry in one["outcomes"]]
    text, record = page(found, options.seed, sum(one["seconds"] for one in made))
    write(options.output, "fuzzing", "Hostile arguments", f"{incomplete(len(made), len(jobs))}{text}", record)
    return int(any(outcome.fault for outcome in found))


if __name__ == "__main__":
    sys.exit(main())
