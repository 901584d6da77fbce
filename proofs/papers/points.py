"""Points at which universal statements are looked at, and sizes of searches: no verdict depends on one, and any other would do."""

from __future__ import annotations

from typing import Any, Final

from learners.targets.choices import ONE

PLACES: Final = ((ONE, 0), (0, ONE), (-ONE, 0), (ONE // 2, -ONE // 2), (0, 0))
"""Five records: one that moves a count moves it by 1 wherever it is, and a step of 2^-20 passes no candidate."""

SETTINGS: Final[dict[str, Any]] = {"epsilon": 1, "delta": "1e-6", "feature_norm": 1}
"""Of learners that refuse a relation before they read anything."""

DATA: Final = ([[0.5], [-0.5]], [0, 1])
"""Of learners that refuse a relation before they read anything."""
