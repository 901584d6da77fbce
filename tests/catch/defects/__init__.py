"""The catch list: published classes of defects, each as a small broken release beside its sound twin."""

from __future__ import annotations

from typing import Final

from defects import arithmetic, budgets, datasets, noise, selection, sums, training
from defects.defect import Defect

DEFECTS: Final[tuple[Defect, ...]] = tuple(
    defect for module in (sums, datasets, arithmetic, noise, selection, budgets, training) for defect in module.DEFECTS
)
