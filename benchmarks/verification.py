"""The public suite: what the verifier says of each published program, how long that takes, and who confirms it.

    python benchmarks/verification.py [--repeats 2] [--programs NAME ...] [--output benchmarks/results]

Every program is an ordinary function without annotations (dpaudit/catalogue/programs). A proof is alignment, invariants, both
solvers on every obligation, and a kernel certificate for each; a refutation is the failed search for a proof and a counterexample,
computed twice. Seconds are of the processor, cvc5's own process and its start among them, the best of the repeats; those of the
whole suite are of the clock, on two processes. Stored certificates are checked again by the command line as anybody would call it.

Published figures are what the abstracts of the papers say of all their programs together. They were measured on other machines, by
tools that are not run here; times of single programs are not quoted.

Needs: nothing. Size: 24 programs twice.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from measuring import Bar, bars_table, children_seconds, code_of, table, versions, write  # noqa: E402
from tightness import tightness  # noqa: E402

from dpaudit.catalogue import PROGRAMS, Specimen  # noqa: E402
from dpaudit.verifier import verify  # noqa: E402
from dpaudit.verifier.certificates import text_of  # noqa: E402
from dpaudit.verifier.frontend import parse  # noqa: E402
from dpaudit.verifier.solving.child import cvc5_here  # noqa: E402

Row = dict[str, Any]
CODE: Final = ("dpaudit/verifier", "proofs")
WORKERS: Final = 2
CASES: Final = {case.program.__name__: case for case in PROGRAMS}
CHECKDP: Final = "<= 70 s"
"""Wang, Ding, Kifer, Zhang, CCS 2020, abstract: proofs and counterexamples within 70 seconds, no wrong verdict."""
SHADOWDP: Final = "<= 3 s"
"""Wang, Ding, Wang, Kifer, Zhang, PLDI 2019, abstract: types and verification in at most 3 seconds; prior work, minutes."""
IN_SHADOWDP: Final = frozenset(
    {
        "above_threshold",
        "gap_sparse_vector",
        "noisy_max",
        "numeric_above_threshold",
        "numeric_sparse_vector",
        "partial_sum",
        "prefix_sum",
        "smart_sum",
        "sparse_vector",
    }
)
"""The programs that are among the examples of ShadowDP's repository (cmla-psu/shadowdp)."""
TIGHT: Final = ("laplace_mechanism", "partial_sum", "noisy_max", "gap_sparse_vector")
"""Programs whose loss comes as near to the claim as one likes."""


def processor(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and the processor time of this process and of those that it ended."""
    start = _spent()
    found = work()
    cvc5_here().stop()
    return found, _spent() - start


def _spent() -> float:
    """Processor time of this process and of its children that have ended."""
    return time.process_time() + children_seconds()


def measured(name: str) -> Row:
    """Everything measured of one program."""
    case = CASES[name]
    found, seconds = processor(lambda: verify(case.program))
    return {
        "name": name,
        "wanted": case.verdict,
        "verdict": found.status,
        "seconds": round(seconds, 2),
        "published": published(case),
        "obligations": len(found.obligations),
        "solvers": sum(one.solvers for one in found.obligations),
        "linear": sum(one.linear for one in found.obligations),
        "kernel": sum(one.kernel for one in found.obligations),
        "linear_kernel": sum(one.kernel for one in found.obligations if one.linear),
        "cvc5_slowest": round(max((one.seconds[1] for one in found.obligations), default=0.0), 3),
        "loss": None if found.witness is None or found.witness.lower is None else round(float(found.witness.lower), 3),
        "bytes": None if found.certificate is None else len(text_of(found.certificate)),
    }


def published(case: Specimen) -> dict[str, str]:
    """What others say of their time for this program."""
    return {
        "CheckDP": CHECKDP if "CCS 2020" in case.source else "",
        "ShadowDP": SHADOWDP if case.program.__name__ in IN_SHADOWDP else "",
    }


def suite(names: list[str], repeats: int) -> tuple[list[Row], float]:
    """The rows of the programs with their best times, and the best time of all of them on two processes, by the clock."""
    best: dict[str, Row] = {}
    clock = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
            for row in pool.map(measured, names):
                known = best.setdefault(row["name"], row)
                known["seconds"] = min(known["seconds"], row["seconds"])
                sys.stderr.write(f"{row['name']} {row['verdict']} {row['seconds']}\n")
        clock = min(clock, time.perf_counter() - start)
    return list(best.values()), clock


def rechecked(*arguments: str) -> Row:
    """Processor and wall time of `dpaudit prove --recheck`, as a command, and whether it confirms everything."""
    command = [sys.executable, "-m", "dpaudit", "prove", "--recheck", *arguments]
    before, start = _spent(), time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return {
        "command": f"dpaudit {' '.join(command[3:])}",
        "confirmed": done.returncode == 0,
        "said": (done.stdout.strip().splitlines() or [""])[-1],
        "seconds": round(_spent() - before, 2),
        "clock": round(time.perf_counter() - start, 2),
    }


def tight(name: str) -> Row:
    """How much of a claim is needed: the smallest multiple that is proven, the largest loss that is certified."""
    found = tightness(parse(CASES[name].program), seconds=5)
    proven, refuted = found.proven, found.refuted
    return {
        "name": name,
        "proven": None if proven is None else round(float(proven), 4),
        "certified": None if refuted is None else round(float(refuted), 4),
    }


def bars_of(rows: list[Row], clock: float, checks: list[Row], claims: list[Row]) -> list[Bar]:
    """Every figure that has a limit, and the limit."""
    proofs = [row for row in rows if row["verdict"] == "proven"]
    refutations = [row for row in rows if row["verdict"] == "refuted"]
    bars = [
        Bar("share of verdicts that are the published ones", sum(row["verdict"] == row["wanted"] for row in rows) / len(rows), 1)
    ]
    if proofs:
        bars += [
            Bar("slowest proof, seconds", max(row["seconds"] for row in proofs), 3, most=True),
            Bar("share of obligations that z3 and cvc5 confirm", _share(proofs, "solvers", "obligations"), 1),
            Bar("share of linear obligations that the kernel confirms", _share(proofs, "linear_kernel", "linear"), 1),
            Bar("slowest answer of cvc5, wall seconds", max(row["cvc5_slowest"] for row in proofs), 5, most=True),
            Bar("largest certificate, bytes", max(row["bytes"] for row in proofs), 1e6, most=True),
        ]
    if refutations:
        bars.append(Bar("slowest refutation, seconds", max(row["seconds"] for row in refutations), 10, most=True))
    bars.append(Bar("these programs on two processes, seconds of the clock", clock, 60, most=True))
    for check, limit in zip(checks, (120, 5), strict=True):
        bars.append(Bar(f"`{check['command']}` confirms everything", float(check["confirmed"]), 1))
        bars.append(Bar(f"`{check['command']}`, seconds", check["seconds"], limit, most=True))
    bars += [Bar(f"part of the claim of {row['name']} that is shown to be needed", row["certified"] or 0, 0.99) for row in claims]
    return bars


def _share(rows: list[Row], part: str, whole: str) -> float:
    """What part of all of them."""
    return float(sum(row[part] for row in rows) / sum(row[whole] for row in rows))


def report(rows: list[Row], clock: float, checks: list[Row], claims: list[Row]) -> tuple[str, list[Bar]]:
    """The figures as Markdown, and the bars."""
    bars = bars_of(rows, clock, checks, claims)
    proofs = [row for row in rows if row["obligations"]]
    said = (
        f"{len(rows)} programs, {sum(row['obligations'] for row in proofs)} obligations, {sum(row['kernel'] for row in proofs)} of "
        f"them confirmed by the kernel; {sum(row['seconds'] for row in rows):.1f} processor seconds in all.\n\n"
        "Published, each for all programs of its paper together and on its own machine: CheckDP (Wang, Ding, Kifer, Zhang, CCS "
        "2020) gives its proofs and counterexamples within 70 seconds, without a wrong verdict; ShadowDP (Wang, Ding, Wang, Kifer, "
        "Zhang, PLDI 2019) checks its programs, whose types are annotated, in at most 3 seconds, and says that prior work takes "
        "minutes. A proof here holds for every length and every epsilon, from source without annotations."
    )
    head = [
        "program",
        "verdict",
        "seconds",
        "CheckDP",
        "ShadowDP",
        "obligations",
        "linear",
        "by the kernel",
        "certificate",
        "loss shown",
    ]
    cells = [
        [
            row["name"],
            row["verdict"] if row["verdict"] == row["wanted"] else f"**{row['verdict']}**",
            f"{row['seconds']:.2f}",
            *row["published"].values(),
            *(str(row[name]) if row["obligations"] else "" for name in ("obligations", "linear", "kernel")),
            f"{row['bytes']:,} B" if row["bytes"] else "",
            ("infinite" if row["loss"] is None else f"{row['loss']:.3f}") if row["verdict"] == "refuted" else "",
        ]
        for row in rows
    ]
    again = [[f"`{one['command']}`", one["said"], f"{one['seconds']:.2f}", f"{one['clock']:.2f}"] for one in checks]
    needed = [[row["name"], _multiple(row["proven"]), _multiple(row["certified"])] for row in claims]
    parts = [
        said,
        bars_table(bars),
        table(head, cells),
        "Stored certificates, checked again:\n",
        table(["command", "says", "processor seconds", "clock"], again),
        "How much of a claim is needed, as a multiple of it:\n",
        table(["program", "smallest proven", "largest loss certified"], needed),
    ]
    return "\n".join(parts), bars


def _multiple(value: float | None) -> str:
    """A multiple of a claim."""
    return "none" if value is None else f"{value:.4g}"


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--programs", nargs="+", choices=CASES, default=list(CASES), metavar="NAME")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    rows, clock = suite(options.programs, options.repeats)
    checks = [rechecked(), rechecked("--quick", "suite")]
    claims = [tight(name) for name in TIGHT if name in options.programs]
    markdown, bars = report(rows, clock, checks, claims)
    record = {
        "repeats": options.repeats,
        "versions": {**versions(["dpaudit", "z3-solver", "cvc5", "python-flint"]), "code": code_of(CODE)},
        "bars": [bar.record() for bar in bars],
        "rows": rows,
        "rechecks": checks,
        "claims": claims,
    }
    write(options.output, "verification", "The verifier on the public suite", markdown, record)


if __name__ == "__main__":
    main()
