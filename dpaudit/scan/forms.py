"""A scan as text, JSON, SARIF and workflow commands."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from dpaudit.report.findings import numbered
from dpaudit.report.github import workflow_command
from dpaudit.report.terminal import printable
from dpaudit.scan.reading import Unread
from dpaudit.scan.rules import RULES, Finding
from dpaudit.scan.scanning import Scan

NOT_SAFE: Final = "No finding does not mean private: a scan reads functions one by one and knows common mistakes only."


def to_text(scan: Scan) -> str:
    """Return the findings, a line each, and in the last lines what was found, read and not read."""
    lines = [f"{place(one)}: {one.code} {one.text}" for one in scan.findings]
    return "".join(f"{printable(line)}\n" for line in [*lines, *closing(scan)])


def place(finding: Finding) -> str:
    """Return where a finding is, as editors take it; in a notebook its cell."""
    if finding.cell is None:
        return f"{finding.path}:{finding.line}"
    return f"{finding.path}:{finding.line} (cell {finding.cell}, line {finding.cell_line})"


def closing(scan: Scan) -> list[str]:
    """Return the last lines: counts, suppressed findings, what was not read, and what no finding means."""
    counts = Counter(one.code for one in scan.findings)
    told = ", ".join(f"{code} {counts[code]} times" if counts[code] > 1 else code for code in sorted(counts))
    found, files = _many(len(scan.findings), "finding"), _many(scan.read, "file")
    lines = [f"{found} in {files} that use differential privacy{f': {told}' if told else ''}."]
    if scan.suppressed:
        lines.append(f"{_many(scan.suppressed, 'finding')} suppressed by comments.")
    lines += [f"Not read: {one.path}: {one.reason}." for one in scan.broken]
    for kind, text in (("sign", "without a sign of differential privacy"), ("test", "that are tests (--tests reads them)")):
        if number := sum(one.kind == kind for one in scan.unread):
            lines.append(f"Not looked at: {_many(number, 'file')} {text}.")
    return [*lines, NOT_SAFE]


def _many(number: int, word: str) -> str:
    """Return a number with its noun."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def to_document(scan: Scan) -> dict[str, Any]:
    """Return a scan as a JSON document."""
    return {
        "findings": [
            {
                "code": one.code,
                "title": RULES[one.code].title,
                "level": RULES[one.code].level,
                "path": one.path,
                "line": one.line,
                "cell": one.cell,
                "cell_line": one.cell_line,
                "text": one.text,
            }
            for one in scan.findings
        ],
        "files_read": scan.read,
        "suppressed": scan.suppressed,
        "not_read": [{"path": one.path, "kind": one.kind, "reason": one.reason} for one in scan.unread],
        "note": NOT_SAFE,
    }


def to_sarif(scan: Scan, version: str) -> str:
    """Return a scan as a SARIF log; what was not read is a notification of the run."""
    rules = [
        {
            "id": code,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.meaning},
            "help": {"text": rule.remedy},
            "defaultConfiguration": {"level": rule.level},
        }
        for code, rule in RULES.items()
    ]
    identities = numbered(f"{one.path}\n{one.code}\n{one.text}" for one in scan.findings)
    run = {
        "tool": {"driver": {"name": "dpaudit scan", "version": version, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, identity) for one, identity in zip(scan.findings, identities, strict=True)],
        "invocations": [
            {
                "executionSuccessful": not scan.broken,
                "toolExecutionNotifications": [_notification(one) for one in scan.broken]
                + [{"level": "note", "message": {"text": NOT_SAFE}}],
            }
        ],
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, sort_keys=True, indent=1) + "\n"


def _result(found: Finding, identity: str) -> dict[str, Any]:
    """Return one finding in SARIF."""
    where = f" (cell {found.cell}, line {found.cell_line})" if found.cell is not None else ""
    return {
        "ruleId": found.code,
        "ruleIndex": list(RULES).index(found.code),
        "level": RULES[found.code].level,
        "message": {"text": f"{found.text}{where} {RULES[found.code].remedy}"},
        "partialFingerprints": {"dpaudit/v1": hashlib.sha256(identity.encode()).hexdigest()},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(PurePath(found.path).as_posix()), "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": found.line},
                }
            }
        ],
    }


def _notification(unread: Unread) -> dict[str, Any]:
    """Return what was not read in SARIF."""
    return {"level": "warning", "message": {"text": f"Not read: {unread.path}: {unread.reason}."}}


def to_annotations(scan: Scan) -> str:
    """Return a workflow command of GitHub for each finding."""
    return "".join(
        workflow_command(
            "notice" if RULES[one.code].level == "note" else RULES[one.code].level,
            one.text, title=f"{one.code} {RULES[one.code].title}", path=one.path, line=one.line,
        )
        for one in scan.findings
    )  # fmt: skip
