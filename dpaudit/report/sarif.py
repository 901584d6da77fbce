"""A report as SARIF 2.1.0, which code hosts show at the line of source that a finding is about."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final
from urllib.parse import quote

from dpaudit.report.findings import RULES, Finding, findings
from dpaudit.results import Report

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT: Final = "dpaudit/v1"


def to_sarif(report: Report) -> str:
    """The report as a SARIF log.

    Args:
      report: what an audit found.
    Returns:
      JSON in ASCII with one run and one result a finding. A finding keeps its fingerprint, a hash of target, kind of claim and
      rule, when its line moves or its numbers change, so that it is recognised from one run to the next.
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
    driver = {"name": "dpaudit", "version": report.version or "0", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found) for found in findings(report)],
        "invocations": [{"executionSuccessful": report.complete, "exitCode": report.exit_code}],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, sort_keys=True, indent=1, ensure_ascii=True) + "\n"


def _result(found: Finding) -> dict[str, Any]:
    """One finding."""
    text = f"{found.target}\n{found.kind}\n{found.rule}"
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": list(RULES).index(found.rule),
        "level": found.level,
        "message": {"text": found.text},
        "partialFingerprints": {_FINGERPRINT: hashlib.sha256(text.encode()).hexdigest()},
        "properties": {"target": found.target, "claim": found.kind},
    }
    if found.path is not None and found.line is not None:
        place = {"artifactLocation": {"uri": quote(found.path), "uriBaseId": "%SRCROOT%"}, "region": {"startLine": found.line}}
        result["locations"] = [{"physicalLocation": place}]
    return result
