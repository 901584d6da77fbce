"""Verdicts of proofs at their lines of source: SARIF 2.1.0, and workflow commands of GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dpaudit import __version__
from dpaudit.report.github import workflow_command


def proof_sarif(findings: Iterable[Mapping[str, Any]]) -> str:
    """Findings as a SARIF log.

    Args:
      findings: for each its level (error, warning or note), rule, text, file and line.
    Returns:
      The log as JSON.
    Source: docs/ci.md, "SARIF"; the format is version 2.1.0 of OASIS.
    Example:
      >>> import json
      >>> json.loads(proof_sarif([]))["version"]
      '2.1.0'
    """
    found = list(findings)
    rules = [{"id": one} for one in dict.fromkeys(str(each["rule"]) for each in found)]
    results = [
        {
            "ruleId": one["rule"],
            "level": one["level"],
            "message": {"text": one["text"]},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": one["file"]}, "region": {"startLine": one["line"]}}}],
        }
        for one in found
    ]
    driver = {"name": "dpaudit", "version": __version__, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=2) + "\n"


def proof_annotations(findings: Iterable[Mapping[str, Any]]) -> str:
    r"""Findings as workflow commands, which a GitHub job shows at their lines.

    Args:
      findings: for each its level (error, warning or note), rule, text, file and line.
    Returns:
      A command a line.
    Source: docs/ci.md, "GitHub Actions".
    Example:
      >>> proof_annotations([{"level": "error", "rule": "prove-refuted", "text": "f: refuted", "file": "f.py", "line": 3}])
      '::error file=f.py,line=3,title=prove-refuted::f: refuted\n'
    """
    words = {"error": "error", "warning": "warning", "note": "notice"}
    return "".join(
        workflow_command(words[one["level"]], one["text"], title=one["rule"], path=one["file"], line=one["line"])
        for one in findings
    )
