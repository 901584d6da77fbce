"""A report in its forms: JSON, the source of truth; terminal, page, JUnit, SARIF and annotations are functions of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.report.document import SCHEMA_VERSION as SCHEMA_VERSION
    from dpaudit.report.document import evidence_bytes as evidence_bytes
    from dpaudit.report.document import from_json as from_json
    from dpaudit.report.document import to_json as to_json
    from dpaudit.report.files import read_report as read_report
    from dpaudit.report.files import write_html as write_html
    from dpaudit.report.files import write_json as write_json
    from dpaudit.report.files import write_text as write_text
    from dpaudit.report.github import to_annotations as to_annotations
    from dpaudit.report.github import to_summary as to_summary
    from dpaudit.report.junit import to_junit as to_junit
    from dpaudit.report.page import to_html as to_html
    from dpaudit.report.proof_findings import proof_annotations as proof_annotations
    from dpaudit.report.proof_findings import proof_sarif as proof_sarif
    from dpaudit.report.sarif import to_sarif as to_sarif
    from dpaudit.report.terminal import to_text as to_text

_HOMES: Final = {
    **dict.fromkeys(("SCHEMA_VERSION", "evidence_bytes", "from_json", "to_json"), "document"),
    **dict.fromkeys(("read_report", "write_html", "write_json", "write_text"), "files"),
    **dict.fromkeys(("to_annotations", "to_summary"), "github"),
    **dict.fromkeys(("proof_annotations", "proof_sarif"), "proof_findings"),
    "to_junit": "junit",
    "to_sarif": "sarif",
    "to_html": "page",
    "to_text": "terminal",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
