"""What public records promise about accuracy: upper bounds, each for what its proof covers."""

from __future__ import annotations

import math


def descent_excess(*, records: int, directions: int, steps: int, mu: float, largest_margin: float) -> float:
    """By how much the loss of `ProjectedDescent` on the images exceeds the least one in the ball, on average over the noise.

    Args:
      records: n, at least 1.
      directions: k, columns of the images.
      steps: T, how many gradients were released.
      mu: Gaussian privacy of all of them together under replace_one, positive.
      largest_margin: norm of weights times norm of images, W.
    Returns:
      An upper bound on the mean excess of the mean logistic loss on the records, roundings included.
    Raises:
      ZeroDivisionError: no record, no step or mu of 0.
    Source: Bassily, Smith, Thakurta 2014; docs/public_data_learners.md, Theorem 2.
    Example:
      >>> round(descent_excess(records=4000, directions=100, steps=400, mu=0.124, largest_margin=4), 3)
      0.273
    """
    return largest_margin * (math.sqrt(1 / steps + 4 * directions / (records * mu) ** 2) + 2.0**-8)


def choice_excess(*, records: int, epsilon: float, candidates: int, loss_range: float, beta: float) -> float:
    """By how much the mean loss of a chosen candidate exceeds that of the best candidate, with probability 1 - beta.

    Args:
      records: n, at least 1.
      epsilon: of the choice, positive.
      candidates: how many, at least 1.
      loss_range: what one record can change of a summed loss.
      beta: probability that the bound fails, above 0 and below 1.
    Returns:
      An upper bound on the excess on the records.
    Raises:
      ZeroDivisionError: no record or epsilon of 0.
    Source: McSherry and Talwar 2007; docs/public_data_learners.md, Theorem 4.
    Example:
      >>> round(choice_excess(records=10**4, epsilon=1, candidates=10**4, loss_range=2, beta=0.05), 4)
      0.0049
    """
    return 2 * loss_range * (math.log(candidates) + math.log(1 / beta)) / (records * epsilon)


def smooth_approximation(*, smoothness: float, optimum: float, distance: float) -> float:
    """By how much a smooth loss that is never negative grows when scores move by a distance, on average over records.

    Args:
      smoothness: H, largest second derivative.
      optimum: L*, the mean loss before.
      distance: a, root of the mean square of the moves.
    Returns:
      An upper bound, of order a^2 where the loss was 0 and of order a elsewhere.
    Raises:
      ValueError: a negative argument.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Theorem 7; docs/public_data_learners.md, Theorem 5.
    Example:
      >>> smooth_approximation(smoothness=1, optimum=0, distance=0.5), smooth_approximation(smoothness=2, optimum=1, distance=0.5)
      (0.125, 1.25)
    """
    return math.sqrt(2 * smoothness * optimum) * distance + smoothness * distance**2 / 2


def useful_public_records(*, records: int, epsilon: float, realisable: bool) -> int:
    """How many public records balance what a subspace misses against what noise costs, up to constants that are not known.

    Args:
      records: n, at least 1.
      epsilon: of the claim, positive.
      realisable: whether some weights have no loss, for smooth losses.
    Returns:
      (n epsilon)^(2/3) if so, else n epsilon; at least 1.
    Raises:
      ValueError: a negative argument.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Theorems 4 and 7; docs/public_data_learners.md, "Rates".
    Example:
      >>> useful_public_records(records=8000, epsilon=1, realisable=True)
      400
    """
    return max(1, round(math.pow(records * epsilon, 2 / 3 if realisable else 1)))
