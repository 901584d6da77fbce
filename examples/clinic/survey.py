"""What the clinic publishes about visits: how many there were, and how long they took together."""

from collections.abc import Sequence

import numpy as np

from mechanisms import LaplaceMechanism, source_from

# Public: longer visits count as 90 minutes. One visit more or less moves the total by at most as much.
LONGEST = 90
COUNT = LaplaceMechanism(sensitivity=1, epsilon=1)
TOTAL = LaplaceMechanism(sensitivity=LONGEST, epsilon=1)


def visits_published(minutes: Sequence[int], count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` independent releases of the number of visits."""
    return COUNT.releases(len(minutes), count, source_from(rng))


def minutes_published(minutes: Sequence[int], count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` independent releases of the minutes of all visits together."""
    total = sum(min(max(visit, 0), LONGEST) for visit in minutes)
    return TOTAL.releases(total, count, source_from(rng))
