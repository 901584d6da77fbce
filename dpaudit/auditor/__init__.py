"""The auditor: statistical attacks and property tests of privacy claims, on any executor, replayable bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.auditor.auditing import audit as audit
    from dpaudit.auditor.checks.checking import check_properties as check_properties
    from dpaudit.auditor.checks.counterexamples import PropertyResult as PropertyResult
    from dpaudit.auditor.pairs.boundary import boundary_values as boundary_values
    from dpaudit.auditor.pairs.strategies import neighbours as neighbours
    from dpaudit.auditor.progress import AuditInterrupted as AuditInterrupted
    from dpaudit.auditor.progress import Progress as Progress
    from dpaudit.auditor.replaying import ReplayResult as ReplayResult
    from dpaudit.auditor.replaying import replay as replay
    from dpaudit.auditor.samples.auditing import audit_samples as audit_samples

_HOMES: Final = {
    "AuditInterrupted": "progress",
    "PropertyResult": "checks.counterexamples",
    "Progress": "progress",
    "ReplayResult": "replaying",
    "audit": "auditing",
    "audit_samples": "samples.auditing",
    "boundary_values": "pairs.boundary",
    "check_properties": "checks.checking",
    "neighbours": "pairs.strategies",
    "replay": "replaying",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
