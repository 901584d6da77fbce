"""A report as SARIF 2.1.0, which code hosts show at the line of source that a finding is about."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final
from urllib.parse import quote

from dpaudit.exact import instance_of
from dpaudit.report import wording
from dpaudit.report.findings import RULES, Finding, findings, numbered
from dpaudit.results import Report

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT: Final = "dpaudit/v1"


def to_sarif(report: Report) -> str:
    """The report as a SARIF log.

    Args:
      report: what an audit found.
    Returns:
      JSON in ASCII with one run and one result a finding. A finding keeps its fingerprint, a hash of target, kind of claim and
      rule (and its number, where there are several), when its line moves or its figures change, so that it is recognised from
      one run to the next.
    Raises:
      Nothing; every report has such a log.
    Source: docs/ci.md, "SARIF"; the format is version 2.1.0 of OASIS.
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> json.loads(to_sarif(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())))["version"]
      '2.1.0'
    """
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    driver = {"name": "dpaudit", "version": instance_of(report, Report, "report").version or "0", "rules": rules}
    found = list(findings(report))
    identities = numbered(f"{one.target}\n{one.kind}\n{one.rule}" for one in found)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, identity) for one, identity in zip(found, identities, strict=True)],
        "properties": {
            "values": wording.disclosures(report),
            "verdicts": [{"target": one.name, "verdict": str(one.verdict), "summary": one.summary} for one in report.results],
        },
        "invocations": [_invocation(report)],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, sort_keys=True, indent=1, ensure_ascii=True) + "\n"


def _invocation(report: Report) -> dict[str, Any]:
    """How the audit ended, and what it did not cover."""
    notes = [{"level": "warning", "message": {"text": warning}} for warning in wording.left_out(report)]
    told = {"toolExecutionNotifications": notes} if notes else {}
    return {"executionSuccessful": report.complete, "exitCode": report.exit_code, **told}


def _result(found: Finding, identity: str) -> dict[str, Any]:
    """One finding."""
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": list(RULES).index(found.rule),
        "level": found.level,
        "message": {"text": found.text},
        "partialFingerprints": {_FINGERPRINT: hashlib.sha256(identity.encode()).hexdigest()},
        "properties": {"target": found.target, "claim": found.kind},
    }
    if found.path is not None and found.line is not None:
        place = {"artifactLocation": {"uri": quote(found.path), "uriBaseId": "%SRCROOT%"}, "region": {"startLine": found.line}}
        result["locations"] = [{"physicalLocation": place}]
    return result
