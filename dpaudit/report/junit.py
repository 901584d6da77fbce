"""A report as JUnit XML, which CI systems show as a list of tests: one test a claim."""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree as ET

from dpaudit.exact import instance_of
from dpaudit.report import answers, wording
from dpaudit.report.findings import told
from dpaudit.report.terminal import printable
from dpaudit.results import Report, TargetResult, Verdict

_OUTCOMES: Final = {Verdict.REFUTED: "failure", Verdict.FAILED: "error", Verdict.INCONCLUSIVE: "error"}
"""How verdicts other than survival appear; an inconclusive audit is no pass."""


def to_junit(report: Report) -> str:
    """The report as a document of JUnit XML.

    Args:
      report: what an audit found.
    Returns:
      One test suite; a claim that is refuted is a failed test, one that could not be audited or is inconclusive is a test with an
      error, any other is a passed test; bundled targets that were left out are one skipped test a package.
    Raises:
      Nothing; every report has such a document.
    Source: docs/ci.md, "JUnit".
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> to_junit(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())).splitlines()[1]
      '<testsuite name="dpaudit" tests="0" failures="0" errors="0" skipped="0" time="0.000" />'
    """
    seconds = dict(instance_of(report, Report, "report").seconds)
    outcomes = [_OUTCOMES.get(result.verdict, "") for result in report.results]
    suite = ET.Element(
        "testsuite",
        name="dpaudit",
        tests=str(len(outcomes) + len(report.left_out)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(len(report.left_out)),
        time=f"{sum(seconds.get(result.name, 0.0) for result in report.results):.3f}",
    )
    for result, outcome in zip(report.results, outcomes, strict=True):
        meaning = wording.meaning(result.verdict, report.results)
        _case(suite, result, outcome, seconds.get(result.name, 0.0), meaning)
    for said in wording.left_out(report):
        case = ET.SubElement(suite, "testcase", classname="dpaudit", name=printable(said.partition(":")[0]), time="0.000")
        ET.SubElement(case, "skipped", message=printable(said))
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _case(suite: ET.Element, result: TargetResult, outcome: str, seconds: float, meaning: str) -> None:
    """One claim as a test."""
    named = {"classname": "dpaudit", "name": printable(f"{result.name}: {result.claim.text}"), "time": f"{seconds:.3f}"}
    where = {} if result.source is None else {"file": result.source[0], "line": str(result.source[1])}
    case = ET.SubElement(suite, "testcase", {**named, **where})
    if outcome:
        entry = ET.SubElement(case, outcome, {"type": str(result.verdict), "message": printable(answers.found(result))})
        entry.text = "\n".join(printable(f"{rule} {text}") for rule, _, text in told(result))
    remarks = map(": ".join, wording.remarks(result))
    repair = f"Repair: {advice}" if (advice := answers.repair(result)) else ""
    lines = (
        answers.found(result),
        answers.seen(result),
        f"Why: {cause}" if (cause := answers.why(result)) else "",
        repair,
        meaning,
        result.summary,
        *remarks,
        f"In this report {result.values}.",
    )
    told_of = [printable(line) for line in lines if line]
    ET.SubElement(case, "system-out").text = "\n".join(told_of)
