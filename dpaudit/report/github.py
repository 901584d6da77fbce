"""A report for GitHub's workflows: a line for each finding that is shown at its place in the code, and a summary of the job."""

from __future__ import annotations

from typing import Final

from dpaudit.report import reading, wording
from dpaudit.report.answers import answers, found
from dpaudit.report.findings import Finding, findings
from dpaudit.report.terminal import printable
from dpaudit.results import Report, TargetResult, Values, Verdict

_MESSAGE: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})
_CELL: Final = str.maketrans({"|": "\\|", "\n": " ", "<": "&lt;", "`": "'"})


def to_annotations(report: Report) -> str:
    """The findings of a report as workflow commands.

    Args:
      report: what an audit found.
    Returns:
      A line `::error file=...,line=...,title=...::text`, `::warning ...` or `::notice ...` for each finding; nothing without one.
    Raises:
      Nothing; every report has such lines.
    Source: GitHub, "Workflow commands for GitHub Actions"; docs/ci.md, "GitHub".
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> to_annotations(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=()))
      ''
    """
    lines = map(_of_finding, findings(report))
    # Public data need no notice at every line of a job; somebody's leave to show private values does.
    shown = dict.fromkeys(result.values for result in report.results if result.values is Values.ASKED)
    notices = [workflow_command("notice", f"In this report {said}.", title="dpaudit", path=None, line=None) for said in shown]
    lacking = [workflow_command("warning", said, title="dpaudit", path=None, line=None) for said in wording.left_out(report)]
    return "".join([*lines, *notices, *lacking])


def to_summary(report: Report) -> str:
    """The report as Markdown for the summary of a job.

    Args:
      report: what an audit found.
    Returns:
      A heading, a table with a row for each claim, and what the verdicts mean.
    Raises:
      Nothing; every report has a summary.
    Source: docs/ci.md, "GitHub".
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> to_summary(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())).splitlines()[0]
      '## No claim was audited'
    """
    lines = [f"## {wording.headline(report)}", ""]
    results = wording.by_urgency(report.results)
    if results:
        lines += [
            "| target | verdict | claim | found | price | proof |",
            "|---|---|---|---|---|---|",
            *map(_of_result, results),
            "",
        ]
        for result in results:
            lines += [
                f"* **{printable(result.name).translate(_CELL)}** {printable(text).translate(_CELL)}"
                for text in _told(report, result)
            ]
        told = [(f"{term}:", text) for term, text in reading.terms(report).items()] + list(reading.closing(report).items())
        lines += ["", *(f"* **{label}** {text}" for label, text in told)]
        lines += ["", *(printable(said).translate(_CELL) for said in wording.disclosures(report))]
    for warning in wording.warnings(report):
        lines += ["", printable(warning).translate(_CELL)]
    return "\n".join(lines) + "\n"


def _told(report: Report, result: TargetResult) -> list[str]:
    """What is said below the table: of a refuted or undecided claim everything, of others what checks say."""
    answer = answers(report, result)
    repair = [f"{word}: {text}" for word, text in (("Why", answer.why), ("Repair", answer.repair)) if text]
    told = [answer.seen, *repair] if result.verdict not in (Verdict.CONSISTENT, Verdict.PROVEN) else []
    checks = [wording.sentence(f"{status}: {text}") for status, text in wording.remarks(result)]
    return [" ".join(filter(None, told))] * any(told) + checks


def workflow_command(level: str, text: str, *, title: str, path: str | None, line: int | None) -> str:
    """A line that shows a text at its place in the code, or with the job where it has none."""
    given = {"file": path, "line": line, "title": title}
    named = ",".join(f"{name}={printable(str(value)).translate(_PROPERTY)}" for name, value in given.items() if value is not None)
    return f"::{level} {named}::{printable(text).translate(_MESSAGE)}\n"


def row(*cells: str) -> str:
    """A row of a Markdown table, whose cells cannot end it."""
    return f"| {' | '.join(printable(cell).translate(_CELL) for cell in cells)} |"


def _of_finding(one: Finding) -> str:
    """One finding as a command."""
    level = "notice" if one.level == "note" else one.level
    return workflow_command(level, one.text, title=f"{one.rule} {one.target}", path=one.path, line=one.line)


def _of_result(result: TargetResult) -> str:
    """One claim in the table."""
    price, proof = wording.priced(result.price), wording.proof_status(result.proof)
    return row(
        result.name,
        f"**{result.verdict}**",
        f"{wording.promised(result)} under {result.claim.adjacency}",
        found(result),
        price,
        proof,
    )
