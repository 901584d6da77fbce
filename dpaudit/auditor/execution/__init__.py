"""Executors that are renewed when their workers die, executors by name, and a check whether one can be relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.auditor.runs.renewal import RenewableExecutor as RenewableExecutor
from dpaudit.auditor.runs.renewal import executor_factory as executor_factory
from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.auditor.execution.conformance import Finding as Finding
    from dpaudit.auditor.execution.conformance import check_executor as check_executor

_HOMES: Final = {"Finding": "conformance", "check_executor": "conformance"}

__all__ = sorted([*_HOMES, RenewableExecutor.__name__, executor_factory.__name__])

__getattr__, __dir__ = lazily(__name__, _HOMES)
