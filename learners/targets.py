"""Targets that the learners offer to the auditor by name: those whose runs are cheap enough to be made by the hundred thousand."""

from __future__ import annotations

from typing import Final

from learners.audits import choices, linear, phased

_SLOW: Final = {"arrangement_choice", "linear_all_gradients", "linear_first_releases", "phased_fixed_order", "phased_secret_order"}
"""Whole fits, or sums of them, call by call; they are audited with fewer runs by their place."""

TARGETS: Final = tuple(target for target in (*linear.TARGETS, *phased.TARGETS, *choices.TARGETS) if target.name not in _SLOW)
