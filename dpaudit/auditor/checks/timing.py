"""The time that runs take, tested apart from their outputs: a statement of its own, about this machine and its load."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.events.ranking import rank_events
from dpaudit.auditor.runs.chunks import TIMING, Chunk, Labels, sample_one
from dpaudit.auditor.runs.workload import Subject
from dpaudit.auditor.statistics.binning import Floats
from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound, p_value
from dpaudit.exact import outward
from dpaudit.results import Counts, Property

TIME: Final = "elapsed time"

_MOST_RUNS: Final = 20_000
_SHARE: Final = 5
"""Part of the runs that chooses what counts as long."""

_UNUSED: Final = 64
"""First runs, which warm up caches."""


def time_runs(
    subject: Subject, pairs: Sequence[int], point: ClaimPoint, *, root: int, position: int, runs: int, alpha: Fraction
) -> Property:
    """Time runs on the datasets of some pairs in random order, and bound the epsilon that their times alone give away.

    The label of each run is drawn by itself, so that the bound holds however the pace of the machine drifts.
    """
    each = min(runs, _MOST_RUNS) // len(pairs)
    found = [_bound(*_times(subject, pair, root, position, each), point, alpha / len(pairs)) for pair in pairs]
    epsilon, broken = max(one[0] for one in found), any(one[1] for one in found)
    made = f"{each * len(pairs):,} runs in this process and under its load, which no replay repeats"
    detail = (
        f"by it alone epsilon is at least {outward(epsilon, digits=3, up=False)}, which is wrong with probability at most "
        f"{outward(alpha, digits=3, up=True)}; {made}"
    )
    return Property(TIME, "violated" if broken else "note", each * len(pairs), detail)


def _times(subject: Subject, pair: int, root: int, position: int, runs: int) -> tuple[Floats, Labels]:
    """Return microseconds and labels of runs on a pair, in their order."""
    chunk = Chunk(position, pair, TIMING, 0, runs + _UNUSED)
    labels = chunk.generator(root, 0).integers(0, 2, size=chunk.size, dtype=np.uint8)
    rng, times = chunk.generator(root, 1), np.empty(chunk.size)
    for place, label in enumerate(labels.tolist()):
        data = copy_of(subject.pairs[pair].side(label))
        began = time.perf_counter_ns()
        sample_one(subject.target, data, rng)
        times[place] = time.perf_counter_ns() - began
    return times[_UNUSED:] / 1000, labels[_UNUSED:]


def _bound(times: Floats, labels: Labels, point: ClaimPoint, alpha: Fraction) -> tuple[Fraction, bool]:
    """Return the bound on epsilon of the event that the first runs suggest, on the others, and whether it breaks the claim."""
    first = len(times) // _SHARE
    seen, rest = times[:first, None], times[first:, None]
    ranked = rank_events(seen, labels[:first], point=point, final_runs=len(rest), alpha=float(alpha), groups=(0,))
    if not ranked:
        return Fraction(0), False
    hits = labels[first:][ranked[0].event.hits(rest)]
    own = int(np.count_nonzero(hits == (0 if ranked[0].reverse else 1)))
    counts = Counts(ones=own, zeros=len(hits) - own, runs=len(rest))
    bound = epsilon_lower_bound(counts, delta=point.delta, alpha=alpha) or Fraction(0)
    return max(bound, Fraction(0)), p_value(counts, point=point) <= alpha
