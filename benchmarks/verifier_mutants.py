"""Mutants of proven programs: is every verdict on them right?

    python benchmarks/verifier_mutants.py [--most 600] [--programs NAME ...] [--workers 2] [--state FILE] [--output DIR]

Each mutant is proven or not, and then, whatever came of that, a counterexample is looked for with exact probabilities: lists of at
most four elements, epsilon 1, 1/10 and 4. A mutant that is proven and has a counterexample is a wrong verdict. Each counterexample
is computed twice. Mutants come in an order of no meaning, so that the first ones are a fair sample.

Needs: nothing. Size: more than a thousand mutants.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from measuring import Bar, bars_table, code_of, table, versions, write  # noqa: E402
from resuming import Found, Job, key_of, read_back, results  # noqa: E402

from dpaudit.verifier.proving import Proof, prove  # noqa: E402
from dpaudit.verifier.refuter.search import search  # noqa: E402
from dpaudit.verifier.refuter.witness import recheck  # noqa: E402
from tests.verifier.fuzz.mutants import Mutant, readable  # noqa: E402

CODE: Final = ("dpaudit/verifier",)
PROOF_SECONDS: Final = 20.0
SEARCH_SECONDS: Final = 10.0
LONGEST: Final = 4
EVENTS: Final = 60
"""Events that are looked at for each of up to nine choices of the scalar parameters."""


@cache
def known() -> dict[str, Mutant]:
    """The mutants by name."""
    return readable()


def judged(job: Job) -> Found:
    """What the verifier says of one mutant, and whether a counterexample says otherwise."""
    start = time.process_time()
    program = known()[job["mutant"]].program()
    try:
        found = prove(program, seconds=PROOF_SECONDS)
        proven = time.process_time()
        witness = search(program, seconds=SEARCH_SECONDS, longest=LONGEST, events=EVENTS)
    except Exception as error:  # noqa: BLE001 - what a mutant makes of the verifier is counted
        nothing = {"proven": False, "witness": False, "again": False, "loss": None}
        return {**nothing, "reason": repr(error), "crashed": True, "seconds": [round(time.process_time() - start, 2), 0.0]}
    return {
        "crashed": False,
        "proven": isinstance(found, Proof),
        "reason": "" if isinstance(found, Proof) else found.reason,
        "witness": witness is not None,
        "again": witness is not None and recheck(program, witness),
        "loss": None if witness is None or witness.lower is None else round(float(witness.lower), 4),
        "seconds": [round(proven - start, 2), round(time.process_time() - proven, 2)],
    }


def rows_of(jobs: list[Job], found: list[Found | None]) -> list[dict[str, Any]]:
    """Mutants with what came of them, where it is known."""
    rows = []
    for job, one in zip(jobs, found, strict=True):
        if one is not None:
            base, kind, _ = job["mutant"].split(": ", maxsplit=2)
            verdict = "proven" if one["proven"] else "refuted" if one["again"] else "unknown"
            wrong = (one["proven"] and one["witness"]) or one["witness"] != one["again"]
            rows.append({"mutant": job["mutant"], "base": base, "kind": kind, "verdict": verdict, "wrong": wrong, **one})
    return rows


def report(rows: list[dict[str, Any]]) -> tuple[str, list[Bar]]:
    """The rows as Markdown, and the bars."""
    verdicts = Counter(row["verdict"] for row in rows)
    bars = [
        Bar("mutants judged", len(rows), 500),
        Bar("wrong verdicts", sum(row["wrong"] for row in rows), 0, most=True),
        Bar("errors in place of a verdict", sum(row.get("crashed", False) for row in rows), 0, most=True),
        Bar("counterexamples that fail when computed again", sum(row["witness"] != row["again"] for row in rows), 0, most=True),
    ]
    seconds = [sum(row["seconds"][part] for row in rows) for part in (0, 1)]
    said = (
        f"{len(rows)} distinct mutants of {len({row['base'] for row in rows})} proven programs that the front end reads: "
        f"{verdicts['proven']} proven, {verdicts['refuted']} refuted, {verdicts['unknown']} unknown. For every one, proven ones "
        f"included, a counterexample was looked for: lists of up to {LONGEST} elements, up to {EVENTS} events for each choice of "
        f"parameters, epsilon 1, 1/10 and 4. Processor seconds of one core: {seconds[0]:.0f} for proofs, {seconds[1]:.0f} for "
        "counterexamples."
    )
    cells = []
    for name in ("kind", "base"):
        counts = {one: Counter(row["verdict"] for row in rows if row[name] == one) for one in sorted({row[name] for row in rows})}
        head = ["kind of change" if name == "kind" else "program", "mutants", "proven", "refuted", "unknown", "wrong"]
        body = [
            [
                value,
                str(count.total()),
                *(str(count[verdict]) for verdict in ("proven", "refuted", "unknown")),
                str(sum(row["wrong"] for row in rows if row[name] == value)),
            ]
            for value, count in counts.items()
        ]
        cells.append(table(head, body))
    return "\n".join([said, "", bars_table(bars), *cells]), bars


def main() -> int:
    """Judge, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, help="mutants to judge; all where it is left out")
    parser.add_argument("--programs", nargs="+", default=(), help="only mutants of these, besides those in the state file")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    code = code_of(CODE)
    chosen = [name for name in known() if not options.programs or name.split(":")[0] in options.programs][: options.most]
    done = {} if options.state is None else read_back(options.state)
    jobs: list[Job] = [{"mutant": name} for name in known() if name in chosen or key_of({"mutant": name}) in done]
    rows = rows_of(jobs, results(jobs, judged, state=options.state, workers=options.workers, title="mutants"))
    if not rows:
        return 1
    markdown, bars = report(rows)
    record = {
        "settings": {"proof_seconds": PROOF_SECONDS, "longest": LONGEST, "events": EVENTS},
        "versions": {**versions(["dpaudit", "z3-solver", "cvc5", "python-flint"]), "code": code},
        "bars": [bar.record() for bar in bars],
        "rows": rows,
    }
    write(options.output, "verifier_mutants", "Mutants of proven programs", markdown, record)
    return int(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
