"""Targets that this package offers to the auditor: its mechanisms, real questions answered with them, and broken releases."""

from __future__ import annotations

from typing import Final

from mechanisms.audits import broken, cancer, choices, noise, queries

TARGETS: Final = (*noise.TARGETS, *choices.TARGETS, *queries.TARGETS, *cancer.TARGETS, *broken.TARGETS)
