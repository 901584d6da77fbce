"""The public suite: what the verifier says of each published program, how long that takes, and who confirms it.

    python benchmarks/verification.py [--repeats 2] [--output benchmarks/results]

Every program is an ordinary function without annotations (dpaudit/verifier/suite). Processor seconds of one core, the best of the
repeats: a proof is alignment, invariants, both solvers on every obligation, and a kernel certificate for each; a refutation is the
failed search for a proof and a counterexample, computed twice. Published figures are those that were read in the papers themselves;
they were measured on other machines, by tools that are not run here.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from measuring import Bar, bars_table, code_of, table, versions, write  # noqa: E402

from dpaudit.verifier import verify  # noqa: E402
from dpaudit.verifier.certificates import text_of  # noqa: E402
from dpaudit.verifier.frontend import parse  # noqa: E402
from dpaudit.verifier.recheck import parsed, recheck  # noqa: E402
from dpaudit.verifier.suite import SUITE, Case  # noqa: E402

CODE: Final = ("dpaudit/verifier",)
CHECKDP: Final = "<= 70 s"
"""CheckDP's abstract: every case of its benchmark within 70 seconds; times of single programs could not be had."""


def measured(case: Case, repeats: int) -> dict[str, Any]:
    """Everything measured of one program."""
    name, best = case.function.__name__, float("inf")
    for _ in range(repeats):
        start = time.process_time()
        found = verify(case.function)
        best = min(best, time.process_time() - start)
    row = {
        "name": name,
        "wanted": case.status,
        "verdict": found.status,
        "seconds": round(best, 2),
        "published": CHECKDP if "CCS 2020" in case.source else "",
        "obligations": len(found.obligations),
        "solvers": sum(one.solvers for one in found.obligations),
        "linear": sum(one.linear for one in found.obligations),
        "kernel": sum(one.kernel for one in found.obligations),
        "linear_kernel": sum(one.kernel for one in found.obligations if one.linear),
        "cvc5_slowest": round(max((one.seconds[1] for one in found.obligations), default=0.0), 3),
        "loss": None if found.witness is None or found.witness.lower is None else round(float(found.witness.lower), 3),
    }
    if found.certificate is None:
        return row
    text = text_of(found.certificate)
    start = time.process_time()
    quick = recheck(parse(case.function), parsed(text), quick=True)
    return {**row, "bytes": len(text), "quick": quick.status, "quick_seconds": round(time.process_time() - start, 3)}


def report(rows: list[dict[str, Any]]) -> tuple[str, list[Bar]]:
    """The rows as Markdown, and the bars."""
    proofs = [row for row in rows if row["verdict"] == "proven"]
    refutations = [row for row in rows if row["verdict"] == "refuted"]
    linear = sum(row["linear"] for row in proofs)
    bars = [
        Bar("share of verdicts that are the published ones", sum(row["verdict"] == row["wanted"] for row in rows) / len(rows), 1),
        Bar("slowest proof, seconds", max(row["seconds"] for row in proofs), 3, most=True),
        Bar("slowest refutation, seconds", max(row["seconds"] for row in refutations), 10, most=True),
        Bar("the suite, seconds", sum(row["seconds"] for row in rows), 60, most=True),
        Bar("share of obligations that z3 and cvc5 confirm", _share(proofs, "solvers"), 1),
        Bar("share of linear obligations that the kernel confirms", sum(row["linear_kernel"] for row in proofs) / linear, 1),
        Bar("slowest answer of cvc5, wall seconds", max(row["cvc5_slowest"] for row in proofs), 5, most=True),
        Bar("largest certificate, bytes", max(row["bytes"] for row in proofs), 1e6, most=True),
        Bar("all proofs rechecked by the kernel alone, seconds", sum(row["quick_seconds"] for row in proofs), 5, most=True),
    ]
    total = sum(row["obligations"] for row in proofs)
    said = (
        f"{len(rows)} programs, {total} obligations, {sum(row['kernel'] for row in proofs)} of them confirmed by the kernel; "
        "processor seconds of one core. Published: CheckDP's abstract says that each of its cases takes at most 70 s and that no "
        "verdict is wrong; ShadowDP's abstract says at most 3 s in total for each of its programs, whose types are annotated."
    )
    head = [
        "program",
        "verdict",
        "seconds",
        "CheckDP",
        "obligations",
        "linear",
        "by the kernel",
        "certificate",
        "recheck",
        "loss shown",
    ]
    cells = [
        [
            row["name"],
            row["verdict"] if row["verdict"] == row["wanted"] else f"**{row['verdict']}**",
            f"{row['seconds']:.2f}",
            row["published"],
            *(str(row[name]) if row["obligations"] else "" for name in ("obligations", "linear", "kernel")),
            f"{row['bytes']:,} B" if "bytes" in row else "",
            f"{row['quick_seconds']:.2f} s" if "bytes" in row else "",
            ("infinite" if row["loss"] is None else f"{row['loss']:.3f}") if row["verdict"] == "refuted" else "",
        ]
        for row in rows
    ]
    return "\n".join([said, "", bars_table(bars), table(head, cells)]), bars


def _share(rows: list[dict[str, Any]], name: str) -> float:
    """What part of all obligations."""
    return sum(row[name] for row in rows) / sum(row["obligations"] for row in rows)


def main() -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    for case in SUITE:
        rows.append(measured(case, options.repeats))
        print(rows[-1]["name"], rows[-1]["verdict"], rows[-1]["seconds"], file=sys.stderr, flush=True)
    markdown, bars = report(rows)
    record = {
        "repeats": options.repeats,
        "versions": {**versions(["dpaudit", "z3-solver", "cvc5", "python-flint"]), "code": code_of(CODE)},
        "bars": [bar.record() for bar in bars],
        "rows": rows,
    }
    write(options.output, "verification", "The verifier on the public suite", markdown, record)


if __name__ == "__main__":
    main()
