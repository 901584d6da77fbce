"""A linter for code that uses differential privacy: it reads files and needs no target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.scan.rules import RULES as RULES
    from dpaudit.scan.rules import Finding as Finding
    from dpaudit.scan.scanning import Scan as Scan
    from dpaudit.scan.scanning import scan as scan

_HOMES: Final = {"RULES": "rules", "Finding": "rules", "Scan": "scanning", "scan": "scanning"}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
