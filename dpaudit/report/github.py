"""A report for GitHub's workflows: a line for each finding that is shown at its place in the code, and a summary of the job."""

from __future__ import annotations

from typing import Final

from dpaudit.report import wording
from dpaudit.report.findings import Finding, findings
from dpaudit.report.terminal import printable
from dpaudit.results import Report, TargetResult, Values

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
    found = findings(report)
    # Public data need no notice at every line of a job; somebody's leave to show private values does.
    shown = dict.fromkeys(result.values for result in report.results if result.values is Values.ASKED)
    notices = [workflow_command("notice", f"In this report {said}.", title="dpaudit", path=None, line=None) for said in shown]
    lacking = [workflow_command("warning", said, title="dpaudit", path=None, line=None) for said in wording.left_out(report)]
    return "".join([*map(_of_finding, found), *notices, *lacking])


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
    if report.results:
        lines += ["| target | claim | price | attack | proof | verdict |", "|---|---|---|---|---|---|"]
        lines += map(_of_result, report.results)
        lines += ["", wording.false_alarm(report), wording.power_target(report)]
        seen = [verdict for verdict in wording.ORDER if any(result.verdict is verdict for result in report.results)]
        lines += ["", *(f"* **{verdict}**: {wording.meaning(verdict, report.results)}" for verdict in seen)]
        lines += _found(report)
        lines += ["", *(printable(said).translate(_CELL) for said in wording.disclosures(report))]
    for warning in wording.warnings(report):
        lines += ["", printable(warning).translate(_CELL)]
    return "\n".join(lines) + "\n"


def _found(report: Report) -> list[str]:
    """What was found about each claim, but for those that survived with nothing to say."""
    said = [(result, label, text) for result in report.results for label, text in wording.found(result)]
    lines = [printable(f"{result.name}, {label}: {text}").translate(_CELL) for result, label, text in said]
    return ["", *(f"* {line}" for line in lines)] if lines else []


def workflow_command(level: str, text: str, *, title: str, path: str | None, line: int | None) -> str:
    """A line that shows a text at its place in the code, or with the job where it has none."""
    given = {"file": path, "line": line, "title": title}
    named = ",".join(f"{name}={printable(str(value)).translate(_PROPERTY)}" for name, value in given.items() if value is not None)
    return f"::{level} {named}::{printable(text).translate(_MESSAGE)}\n"


def row(*cells: str) -> str:
    """A row of a Markdown table, whose cells cannot end it."""
    return f"| {' | '.join(printable(cell).translate(_CELL) for cell in cells)} |"


def _of_finding(found: Finding) -> str:
    """One finding as a command."""
    level = "notice" if found.level == "note" else found.level
    return workflow_command(level, found.text, title=f"{found.rule} {found.target}", path=found.path, line=found.line)


def _of_result(result: TargetResult) -> str:
    """One claim in the table."""
    price, attack, proof = wording.priced(result.price), wording.attacked(result.attack), wording.proof_status(result.proof)
    return row(result.name, result.claim.text, price, attack, proof, f"**{result.verdict}**")
