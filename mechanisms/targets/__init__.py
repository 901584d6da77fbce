"""Targets that this package offers to the auditor: its mechanisms, real questions answered with them, and broken releases."""

from __future__ import annotations

from typing import Final

from mechanisms.targets import broken, choices, noise, people, queries

TARGETS: Final = (*noise.TARGETS, *choices.TARGETS, *queries.TARGETS, *people.TARGETS, *broken.TARGETS)
