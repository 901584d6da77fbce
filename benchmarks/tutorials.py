"""What one command says about functions of tutorials, as someone new to the matter writes them down.

    python benchmarks/tutorials.py [--runs 20000] [--only NAME ...] [--output benchmarks/results]

The functions are those of lessons/functions.py, with a table of 120 people. Each gets one line of `dpaudit audit`; beside each is
whether its claim is true, and why. Right is "consistent" for a true claim and "refuted" for a false one, wrong the other of these;
"inconclusive" leaves the question open.

Needs: pandas. Size: every function, 20,000 runs each, so that verdicts do not depend on the machine as those of ten seconds do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from measuring import Bar, bars_table, code_of, table, versions, write  # noqa: E402


@dataclass(frozen=True)
class Lesson:
    """A function, the options of its command, whether its claim is true, and why."""

    function: str
    options: str
    claim: str
    why: str


LESSONS: Final = (
    Lesson("count_of_forty", "--epsilon 1", "true", "a count and its noise"),
    Lesson("clipped_sum", "--epsilon 1", "true", "clipped to 125"),
    Lesson("sum_of_gains", "--epsilon 1", "false", "noise by the largest value of the data"),
    Lesson("average_age", "--epsilon 1", "false", "two releases of epsilon 1"),
    Lesson("average_age_halved", "--epsilon 1", "true", "two releases of epsilon 1/2"),
    Lesson("education_histogram", "--epsilon 1", "false", "categories that occur are released without noise"),
    Lesson("education_of_a_list", "--epsilon 1", "true", "categories of a public list"),
    Lesson("crosstab", "--epsilon 1", "false", "rows and columns that occur are released without noise"),
    Lesson("noisy_max", "--epsilon 1", "true", "counts change in one direction"),
    Lesson("exponential", "--epsilon 1", "true", "a public list of options"),
    Lesson("exponential_of_the_table", "--epsilon 1", "false", "options that occur alone may come out"),
    Lesson("above_threshold", "--epsilon 1", "true", "the sparse vector technique"),
    Lesson("above_threshold_one_noise", "--epsilon 1", "false", "a decade with one person in it cannot come out without them"),
    Lesson("randomized_response", "--epsilon 1.1 --adjacency replace_one --columns Answer", "true", "epsilon is ln 3"),
    Lesson("randomized_response", "--epsilon 0.9 --adjacency replace_one --columns Answer", "false", "epsilon is ln 3"),
    Lesson("unary_encoding", "--epsilon 2.2 --adjacency replace_one --columns Answer", "true", "epsilon is ln 9"),
    Lesson("unary_encoding", "--epsilon 1.1 --adjacency replace_one --columns Answer", "false", "two bits change, not one"),
    Lesson("synthetic_ages", "--epsilon 1 --columns Age", "true", "drawn from a noisy histogram of a public domain"),
    Lesson(
        "sample_and_aggregate", "--epsilon 1 --adjacency replace_one --columns Age", "true", "one record is in one of twelve parts"
    ),
    Lesson(
        "sample_and_aggregate",
        "--epsilon 1 --columns Age",
        "false",
        "a record more moves others to another part; empty parts are NaN",
    ),
    Lesson("gaussian_sums", "--epsilon 0.9 --delta 1e-4", "true", "the classical Gaussian mechanism"),
    Lesson("thresholded_histogram", "--epsilon 1 --delta 1e-4", "true", "a category of one record passes with probability delta"),
    Lesson("resized_mean", "--epsilon 1 --columns Age", "true", "a mean over a public number of values"),
    Lesson("mean_with_bounds_of_the_data", "--epsilon 1 --columns Age", "false", "noise by the range of the data"),
    Lesson("mean_of_course", "--epsilon 1 --columns Answer --adjacency replace_one", "true", "answers are 0 or 1"),
    Lesson("mean_of_course", "--epsilon 1 --columns Age --adjacency replace_one", "false", "nothing is clipped"),
    Lesson("median_like_a_mean", "--epsilon 1 --columns Age --adjacency replace_one", "false", "noise of a mean on a median"),
)


def audited(lesson: Lesson, runs: int) -> dict[str, Any]:
    """What the command says about a function."""
    named, data = f"{HERE / 'lessons' / 'functions.py'}:{lesson.function}", HERE / "lessons" / "people.csv"
    line = ["audit", named, "--data", str(data), *lesson.options.split(), "--json", "--runs", str(runs), "--stop-early"]
    done = subprocess.run([sys.executable, "-m", "dpaudit", *line], cwd=HERE.parent, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["evidence"]["results"] if done.stdout.startswith("{") else []
    if not found:
        return {"verdict": "no answer", "said": (done.stderr or done.stdout)[-300:]}
    return {"verdict": found[0]["verdict"], "said": found[0]["summary"]}


def judged(lesson: Lesson, verdict: str) -> str:
    """Whether a verdict is right, wrong or open."""
    right, wrong = ("consistent", "refuted") if lesson.claim == "true" else ("refuted", "consistent")
    return {right: "right", wrong: "wrong"}.get(verdict, "open")


def main() -> None:
    """Audit, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=sorted({lesson.function for lesson in LESSONS}))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    for lesson in LESSONS:
        if not options.only or lesson.function in options.only:
            found = audited(lesson, options.runs)
            row = {"function": lesson.function, "options": lesson.options, "claim": lesson.claim, "why": lesson.why, **found}
            rows.append({**row, "judged": judged(lesson, found["verdict"])})
            print(f"{lesson.function} {lesson.options}: {found['verdict']}, {rows[-1]['judged']}", file=sys.stderr)
    counts = {word: sum(row["judged"] == word for row in rows) for word in ("right", "open", "wrong")}
    bars = [Bar("wrong verdicts", counts["wrong"], 0, most=True), Bar("share of right verdicts", counts["right"] / len(rows), 0.8)]
    cells = [[row["function"], row["options"], f"{row['claim']}: {row['why']}", row["verdict"], row["judged"]] for row in rows]
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    how = f"{len(rows)} commands, {options.runs:,} runs each: {said}."
    head = ["function", "options", "its claim", "verdict", ""]
    record = {"versions": {**versions(["dpaudit", "numpy", "pandas"]), "code": code_of(("dpaudit",))}, "rows": rows}
    markdown = "\n".join([how, "", bars_table(bars), "", table(head, cells)])
    write(options.output, "tutorials", "Functions of tutorials, a command each", markdown, record)


if __name__ == "__main__":
    main()
