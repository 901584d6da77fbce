"""Adapters to other libraries; none of them is needed, and none is imported before its own objects are handed over."""

from __future__ import annotations

from dpaudit.interop.events import from_dp_accounting as from_dp_accounting

__all__ = ["from_dp_accounting"]
