"""The auditor: statistical attacks and property tests of privacy claims, on any executor, replayable bit for bit."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dpaudit.auditor.auditing import audit as audit
    from dpaudit.auditor.checks.checking import check_properties as check_properties
    from dpaudit.auditor.checks.search import Finding as Finding
    from dpaudit.auditor.progress import AuditInterrupted as AuditInterrupted
    from dpaudit.auditor.progress import Progress as Progress
    from dpaudit.auditor.replaying import ReplayedTarget as ReplayedTarget
    from dpaudit.auditor.replaying import replay as replay
    from dpaudit.auditor.search.boundary import boundary_values as boundary_values
    from dpaudit.auditor.search.strategies import neighbours as neighbours

_HOMES: Final = {
    "AuditInterrupted": "dpaudit.auditor.progress",
    "Finding": "dpaudit.auditor.checks.search",
    "Progress": "dpaudit.auditor.progress",
    "ReplayedTarget": "dpaudit.auditor.replaying",
    "audit": "dpaudit.auditor.auditing",
    "boundary_values": "dpaudit.auditor.search.boundary",
    "check_properties": "dpaudit.auditor.checks.checking",
    "neighbours": "dpaudit.auditor.search.strategies",
    "replay": "dpaudit.auditor.replaying",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562), so that importing the package stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dpaudit.auditor' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, loaded or not."""
    return sorted(__all__)
