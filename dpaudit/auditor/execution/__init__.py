"""Execution: executors that are made anew when their workers die, executors by name, and whether one can be relied on."""

from __future__ import annotations

from dpaudit.auditor.execution.conformance import Finding, check_executor
from dpaudit.auditor.execution.renewal import RenewableExecutor, executor_factory

__all__ = ["Finding", "RenewableExecutor", "check_executor", "executor_factory"]
