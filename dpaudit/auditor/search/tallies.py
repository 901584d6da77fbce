"""What pairs of few different outputs promise, from counts of these outputs alone; datasets that pairs share are counted once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.binning import MOST_VALUES, Floats, Labels, label_counts
from dpaudit.auditor.bounds import ClaimPoint
from dpaudit.auditor.events import expected_bound
from dpaudit.auditor.outputs import Matrix
from dpaudit.auditor.predicates import row_codes

_ROWS_TO_LOOK: Final = 2**12
_SIZES: Final = 0.005 * 2.0 ** np.arange(12)
"""Standard deviations that the log-ratio of an output may have, each as likely as any other."""


@dataclass(frozen=True)
class Tally:
    """How often each output came: increasing codes of the outputs, and counts of shape (outputs, 2) by label."""

    codes: NDArray[np.uint64]
    counts: Floats


def tally_of(features: Matrix, labels: Labels) -> Tally | None:
    """The counts of a pair's runs, or None where there are more different outputs than can be looked at one by one."""
    if np.unique(row_codes(features[:_ROWS_TO_LOOK])).size > MOST_VALUES:
        return None
    codes, outputs = np.unique(row_codes(features), return_inverse=True)
    return Tally(codes, label_counts(outputs, labels, codes.size)) if codes.size <= MOST_VALUES else None


def promises(
    tallies: Mapping[int, Tally], firsts: Sequence[int], *, point: ClaimPoint, final_runs: int, alpha: float
) -> dict[int, float]:
    """The bound to be expected of each pair, in nats.

    Each output's log-ratio is pulled towards 0: it is normal around 0 with a standard deviation of its own, which is averaged over
    a grid of sizes weighted by how well they explain the counts. So rare outputs that were lucky are not believed, while large
    ratios are not pulled down by the many small ones. An event is the set of outputs beyond some log-ratio.

    Args:
      tallies: of pairs, by their place; dropped ones too, for the sake of what they share with others.
      firsts: for each place the place of a pair that has the same first dataset.
      point: the claim under test.
      final_runs: fresh runs of the bound.
      alpha: error probability of the bound.
    Returns:
      The largest expected bound over all events, by place.
    Source: docs/auditing.md, "Which neighbours".
    """
    codes = np.unique(np.concatenate([tally.codes for tally in tallies.values()]))
    counts = {place: np.zeros((codes.size, 2)) for place in tallies}
    shared = {firsts[place]: np.zeros(codes.size) for place in tallies}
    for place, tally in tallies.items():
        counts[place][np.searchsorted(codes, tally.codes)] = tally.counts
        shared[firsts[place]] += counts[place][:, 0]

    def promise(zeros: Floats, ones: Floats) -> float:
        rates = [(side + 0.5) / (side.sum() + 0.5 * codes.size) for side in (zeros, ones)]
        ratio, mass = _believed(np.log(rates[1] / rates[0]), 1 / (zeros + 0.5) + 1 / (ones + 0.5)), (rates[0] + rates[1]) / 2
        most = 0.0
        for sign in (1, -1):
            order = np.argsort(-sign * ratio, kind="stable")[:-1]
            inside = np.cumsum(mass[order])
            hits = np.cumsum(mass[order] / (1 + np.exp(-sign * ratio[order])))
            bounds = expected_bound(np.log(hits / (inside - hits)), inside, point=point, final_runs=final_runs, alpha=alpha)
            most = max(most, float(bounds.max(initial=0.0)))
        return most

    return {place: promise(shared[firsts[place]], counts[place][:, 1]) for place in tallies}


def _believed(seen: Floats, noise: Floats) -> Floats:
    """The mean of each true log-ratio given the seen one and the variance of its noise."""
    spread = _SIZES[:, None] ** 2
    chance = -0.5 * seen**2 / (noise + spread) - 0.5 * np.log(noise + spread)
    chance = np.exp(chance - chance.max(axis=0))
    return np.asarray((chance * spread / (noise + spread)).sum(axis=0) / chance.sum(axis=0) * seen)
