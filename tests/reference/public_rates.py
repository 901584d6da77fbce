"""What public records promise about accuracy: upper bounds, each for what its proof covers."""

from __future__ import annotations

import math


def descent_excess(*, records: int, directions: int, steps: int, mu: float, largest_margin: float) -> float:
    """By how much the loss of `ProjectedDescent` on the images exceeds the least one in the ball, on average over the noise.

    Source: Bassily, Smith, Thakurta 2014.
    """
    return largest_margin * (math.sqrt(1 / steps + 4 * directions / (records * mu) ** 2) + 2.0**-8)


def choice_excess(*, records: int, epsilon: float, candidates: int, loss_range: float, beta: float) -> float:
    """By how much the mean loss of a chosen candidate exceeds that of the best candidate, with probability 1 - beta.

    Source: McSherry and Talwar 2007.
    """
    return 2 * loss_range * (math.log(candidates) + math.log(1 / beta)) / (records * epsilon)


def smooth_approximation(*, smoothness: float, optimum: float, distance: float) -> float:
    """By how much a smooth loss that is never negative grows when scores move by a distance, on average over records.

    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Theorem 7.
    """
    return math.sqrt(2 * smoothness * optimum) * distance + smoothness * distance**2 / 2


def useful_public_records(*, records: int, epsilon: float, realisable: bool) -> int:
    """How many public records balance what a subspace misses against what noise costs, up to constants that are not known.

    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Theorems 4 and 7.
    """
    return max(1, round(math.pow(records * epsilon, 2 / 3 if realisable else 1)))
