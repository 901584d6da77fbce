"""A mean as people write it, without anything of dpaudit.

Try `dpaudit audit examples/plain_mean.py:noisy_mean --epsilon 1 --adjacency replace_one --data examples/visits.csv`, and
`noisy_mean_of_known` in its place: that one divides by a number that depends on the data.
"""

import numpy as np


def noisy_mean(minutes: np.ndarray, epsilon: float, bound: float = 90) -> float:
    """Mean of lengths clipped to 0 ... bound; a missing one counts as 0."""
    lengths = np.clip(np.nan_to_num(minutes), 0, bound)
    return float(lengths.mean() + np.random.laplace(scale=bound / len(lengths) / epsilon))  # noqa: NPY002 - as people write it


def noisy_mean_of_known(minutes: np.ndarray, epsilon: float) -> float:
    """Mean of the lengths that are there, which one long visit moves by any amount."""
    known = minutes[~np.isnan(minutes)]
    return float(known.mean() + np.random.laplace(scale=90 / len(minutes) / epsilon))  # noqa: NPY002 - as above
