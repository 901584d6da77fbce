"""How long certified accounting takes and how tight it is, beside dp-accounting and prv-accountant, against true values.

    python benchmarks/accounting.py [--dp-accounting PYTHON] [--prv-accountant PYTHON] [--repeats 3] [--output benchmarks/results]

The peers pin packages of their own, so each is named by the Python it is installed in; without one its rows are missing. Every
answer is computed in a new process with all imports done before the clock starts, the accountants in turn; the best time counts.

Needs: Pythons with dp-accounting and prv-accountant, both optional. Size: each job 3 times by each accountant.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from accounting_jobs import ACCOUNTANT_JOBS, DISTRIBUTION_JOBS, JOBS, Job, exact  # noqa: E402
from accounting_ours import measured_alone  # noqa: E402
from measuring import Bar, bars_table, table, versions, write  # noqa: E402

PATIENCE: Final = 120
"""Seconds after which a process is no longer waited for."""

DEFAULT: Final = "dp-accounting, grid 1e-4 (default)"
"""What times are compared with."""

REACH: Final = 1e-9
"""Relative accuracy of the true values: an interval that misses one by less is not called wrong."""


@dataclass(frozen=True)
class Tool:
    """An accountant with one setting: how it is called in tables, its Python, its name in accounting_tools.py."""

    label: str
    python: str
    name: str
    setting: Mapping[str, Any] = field(default_factory=dict)
    pessimistic: bool = True
    repeated: bool = True

    def answers(self, job: Job, truths: Mapping[str, float]) -> dict[str, Any]:
        """What it answers to every question of a job, in a process of its own."""
        setting = {**self.setting, "eps_error": job.window, "expected": next(iter(truths.values()), 0.0)}
        asked = json.dumps({"parts": job.parts, "questions": job.questions, "setting": setting})
        command = [self.python, str(ROOT / "benchmarks" / "accounting_tools.py"), self.name, asked]
        with tempfile.TemporaryFile("w+") as lines:
            with suppress(subprocess.TimeoutExpired):  # what was answered until then counts
                subprocess.run(command, check=False, stdout=lines, stderr=subprocess.DEVNULL, timeout=PATIENCE)
            lines.seek(0)
            version, *answers = [json.loads(line) for line in lines] or [""]
        late = {"ends": f"none in {PATIENCE} s", "seconds": PATIENCE}
        answers += [late] * (len(job.at) - len(answers))
        for answer in answers:  # results are strict JSON, which knows no infinity
            if not isinstance(answer["ends"], str) and not math.isfinite(answer["ends"][1]):
                answer["ends"] = str(answer["ends"][1])
        return {"version": version, "answers": answers}


def tools(distribution: str | None, prv: str | None) -> list[Tool]:
    """Ours, and every peer that there is a Python for."""
    found = [
        Tool("dpaudit", sys.executable, "dpaudit"),
        Tool("dpaudit, lattice alone", sys.executable, "dpaudit", {"lattice": True}),
    ]
    if distribution:
        found += [
            Tool(DEFAULT, distribution, "distribution", {"grid": 1e-4}),
            Tool("dp-accounting, grid 1e-3", distribution, "distribution", {"grid": 1e-3}),
            Tool("dp-accounting, RDP", distribution, "accountant", {"moments": True}),
            Tool(
                "dp-accounting, optimistic",
                distribution,
                "distribution",
                {"grid": 1e-4, "pessimistic": False},
                pessimistic=False,
                repeated=False,
            ),
        ]
    if prv:
        found.append(Tool("prv-accountant", prv, "prv", repeated=False))
    return found


def timed(job: Job, competing: Sequence[Tool], repeats: int) -> dict[str, Any]:
    """True values, and of every tool its answers, its best time to the first answer and to all of them."""
    truths: dict[str, float] = {}
    rows: dict[str, dict[str, Any]] = {}
    for repeat in range(repeats):
        for tool in competing if repeat == 0 else (tool for tool in competing if tool.repeated):
            found = tool.answers(job, truths)
            truths = truths or true_values(job, found)
            row = rows.setdefault(
                tool.label,
                {
                    "tool": tool.label,
                    "version": found["version"],
                    "errors": [
                        shown_error(answer["ends"], truths[at], tool) for at, answer in zip(job.at, found["answers"], strict=True)
                    ],
                    "ends": [answer["ends"] for answer in found["answers"]],
                    "seconds": [float(PATIENCE)] * len(job.at),
                },
            )
            row["seconds"] = list(map(min, row["seconds"], (answer["seconds"] for answer in found["answers"])))
    return {"job": job.name, "asked": job.asked, "at": list(job.at), "true": list(truths.values()), "rows": list(rows.values())}


def true_values(job: Job, found: Mapping[str, Any]) -> dict[str, float]:
    """The true value of every question; our own intervals, which come first, say where an epsilon is looked for."""
    failed = [answer["ends"] for answer in found["answers"] if isinstance(answer["ends"], str)]
    if failed:
        raise RuntimeError(f"dpaudit does not answer {job.name}: {failed[0]}")
    return {at: exact(job, at, answer["ends"]) for at, answer in zip(job.at, found["answers"], strict=True)}


def shown_error(ends: Any, truth: float, tool: Tool) -> str:
    """Relative errors of one answer, in bold where it is on the wrong side of the truth."""
    if isinstance(ends, str):
        return ends.split(":")[0]
    low, high = (end / truth - 1 for end in ends)
    if ends[0] == ends[1]:
        wrong = high < -REACH if tool.pessimistic else high > REACH
        return f"**{high:+.1e}**" if wrong else f"{high:+.1e}"
    if -REACH < low <= high < REACH:
        return f"width {(ends[1] - ends[0]) / ends[1]:.0e}"
    shown = f"[{low:+.1e}, {high:+.1e}]"
    return f"**{shown}**" if low > REACH or high < -REACH else shown


def answered(row: Mapping[str, Any]) -> int:
    """How many questions, in their order, a tool answers with a finite number."""
    finite = [not isinstance(ends, str) for ends in row["ends"]]
    return finite.index(False) if False in finite else len(finite)


def seconds(row: Mapping[str, Any], questions: int) -> str:
    """Time to as many answers, a dash where there are not as many."""
    return f"{row['seconds'][questions - 1]:.3f}" if 0 < questions <= answered(row) else "-"


def job_section(found: Mapping[str, Any]) -> str:
    """One job as Markdown."""
    given = "delta" if found["asked"] == "epsilon" else "epsilon"
    head = ["accountant", *(f"{given} {at}" for at in found["at"]), "s, first", "s, answered"]
    truths = ["true " + str(found["asked"]), *(f"{value:.10g}" for value in found["true"]), "", ""]
    rows = [[row["tool"], *row["errors"], seconds(row, 1), seconds(row, answered(row))] for row in found["rows"]]
    return f"## {found['job']}\n\n{table(head, [truths, *rows])}"


def compared(jobs: Sequence[Job], ours: Tool, peer: Tool | None) -> list[dict[str, Any]]:
    """For every job what is off in the answers of a peer and how wide ours are."""
    return [timed(job, [ours] if peer is None else [ours, peer], 1) for job in jobs]


def errors_section(title: str, text: str, found: Sequence[Mapping[str, Any]]) -> str:
    """Answers of the peer to several jobs, a line each."""
    head = ["job", *found[0]["at"], "dpaudit, widest", "dpaudit, s", "peer, s"]
    rows = []
    for job in found:
        ours, *others = job["rows"]
        errors, last = (others[0]["errors"], seconds(others[0], answered(others[0]))) if others else (["-"] * len(job["at"]), "-")
        widest = max((high - low) / high for low, high in ours["ends"])
        rows.append([job["job"], *errors, f"{widest:.1e}", seconds(ours, answered(ours)), last])
    return f"## {title}\n\n{text}\n\n{table(head, rows)}"


def misses(found: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many of our intervals miss the truth, of how many."""
    rows = [(job, row) for job in found for row in job["rows"] if row["tool"].startswith("dpaudit")]
    pairs = [pair for job, row in rows for pair in zip(row["ends"], job["true"], strict=True)]
    missed = sum(isinstance(ends, str) or not ends[0] * (1 - REACH) <= truth <= ends[1] * (1 + REACH) for ends, truth in pairs)
    return missed, len(pairs)


def bars_of(jobs: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]]) -> list[Bar]:
    """What the comparison has to show."""
    bars = [Bar(f"intervals of dpaudit that miss the truth or are missing, of {misses(every)[1]}", misses(every)[0], 0, most=True)]
    for job in jobs:
        by_label = {row["tool"]: row for row in job["rows"]}
        if DEFAULT in by_label and (both := answered(by_label[DEFAULT])):
            for name, place in {"the first answer": 0, f"the {both} it has": both - 1}.items():
                ratio = by_label[DEFAULT]["seconds"][place] / by_label["dpaudit"]["seconds"][place]
                bars.append(Bar(f"{job['job']}: times faster than dp-accounting to {name}", ratio, 1))
    gaussian, large, various = jobs[0]["rows"][0], jobs[2]["rows"][0], jobs[4]["rows"][0]
    (low, high), truth = various["ends"][0], jobs[4]["true"][0]
    return [
        *bars,
        Bar(
            "1,000 Gaussian: widest epsilon, relative", max((high - low) / high for low, high in gaussian["ends"]), 1e-6, most=True
        ),
        Bar("1,000 Gaussian: seconds, all answers", gaussian["seconds"][-1], 0.5, most=True),
        Bar("10^6 sampled Gaussian: seconds, first answer", large["seconds"][0], 2, most=True),
        Bar("50 mechanisms: seconds", various["seconds"][0], 2, most=True),
        Bar("50 mechanisms: upper end above the truth, relative", high / truth - 1, 5e-3, most=True),
        Bar("50 mechanisms: lower end below the truth, relative", 1 - low / truth, 2.5e-2, most=True),
    ]


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dp-accounting", metavar="PYTHON", help="a Python that has dp-accounting")
    parser.add_argument("--prv-accountant", metavar="PYTHON", help="a Python that has prv-accountant")
    parser.add_argument("--repeats", type=int, default=3, help="repeats in turn, of which the best counts")
    parser.add_argument("--output", type=Path, help="folder for accounting.md and accounting.json")
    options = parser.parse_args()
    competing = tools(options.dp_accounting, options.prv_accountant)
    jobs = [timed(job, competing, options.repeats) for job in JOBS]
    ours = competing[0]
    peer = options.dp_accounting
    distributions = compared(DISTRIBUTION_JOBS, ours, Tool("dp-accounting", peer, "distribution", {"grid": 1e-4}) if peer else None)
    accountants = compared(ACCOUNTANT_JOBS, ours, Tool("PLDAccountant", peer, "accountant") if peer else None)
    alone = measured_alone(options.repeats)
    bars = [*bars_of(jobs, [*jobs, *distributions, *accountants]), *alone.bars]
    found = {**versions(("numpy", "python-flint")), **{row["tool"].split(",")[0]: row["version"] for row in jobs[0]["rows"]}}
    absent = [name for name, python in (("dp-accounting", peer), ("prv-accountant", options.prv_accountant)) if not python]
    parts = [
        "Relative errors against the true value, an interval as [lower, upper]; bold where an answer is on the wrong side of the",
        "truth: a pessimistic one below, an optimistic one above, an interval that does not contain it. Seconds, the best of",
        f"{options.repeats} new processes (of one for the optimistic setting and prv-accountant): to the first answer, and to",
        "the last before one that is infinite or refused; imports are not counted. Of an interval within 1e-9 of the truth, which",
        "is about as far as the true values reach, the relative width is shown.\n",
        *([f"Absent: {', '.join(absent)}.\n"] if absent else []),
        *map(job_section, jobs),
        errors_section(
            "Gaussian releases, one distribution composed with itself",
            "dp-accounting's `PrivacyLossDistribution` with its defaults: relative error of epsilon at each delta.",
            distributions,
        ),
        errors_section(
            "Sampled Gaussian releases, the accountant",
            "dp-accounting's `PLDAccountant` with its defaults: relative error of epsilon, truth when a record is removed.",
            accountants,
        ),
        alone.markdown,
        "## Bars\n",
        bars_table(bars),
        ", ".join(f"{name} {number}" for name, number in found.items()) + "\n",
    ]
    record = {"jobs": jobs, "distributions": distributions, "accountants": accountants, **alone.record}
    record["bars"] = [bar.record() for bar in bars]
    write(options.output, "accounting", "Accounting: time and error", "\n".join(parts), {"versions": found, **record})
    return 0


if __name__ == "__main__":
    sys.exit(main())
