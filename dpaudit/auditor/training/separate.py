"""Each gradient is one example's own: the same in a batch and alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dpaudit.auditor.membership.user_arrays import result_of
from dpaudit.auditor.training.findings import LoopCheck, holds, not_judged
from dpaudit.auditor.training.observed import rows_of

SEPARATE: Final = "separate examples"

_ROUNDING: Final = 1e-3
_EXAMPLES: Final = 8


def check_separate(gradients: Callable[[Any], Any], records: Any) -> LoopCheck:
    """Check that the gradient of an example does not change with the others in its batch, as it does below batch normalisation."""
    rows = records if hasattr(records, "shape") else np.asarray(records)
    count = len(rows)
    if count < 2:
        return not_judged(SEPARATE, "two records are needed")
    together = rows_of(result_of(gradients, rows), "gradients", count)
    again = rows_of(result_of(gradients, rows), "gradients", count)
    if not np.array_equal(together, again):
        return not_judged(SEPARATE, "two calls on the same records differ. Fix what the model draws, such as dropout, by a seed.")
    for place in range(min(count, _EXAMPLES)):
        alone = rows_of(result_of(gradients, rows[place : place + 1]), "gradients", 1)[0]
        gap = float(np.linalg.norm(alone - together[place]))
        if gap > _ROUNDING * float(np.linalg.norm(alone) + np.linalg.norm(together[place])) / 2:
            detail = "the gradient of an example is another one where it is alone"
            remedy = "Replace layers that mix examples, such as batch normalisation, by group or layer normalisation."
            return LoopCheck(SEPARATE, "violated", place + 1, detail, remedy)
    return holds(SEPARATE, min(count, _EXAMPLES))
