"""What pairs promise, from counts of outputs or of cells of them; datasets that several pairs share are counted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.events.predicates import row_codes
from dpaudit.auditor.events.ranking import expected_bound
from dpaudit.auditor.reading.features import DERIVED
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.scoring.encoding import MOST_PATTERNS, encode_columns
from dpaudit.auditor.scoring.table import Codes, mix_codes
from dpaudit.auditor.statistics.binning import MOST_VALUES, Bins, Floats, Labels, assign_bins, label_counts
from dpaudit.auditor.statistics.bounds import ClaimPoint

ROWS_TO_CUT: Final = 2**15
"""Cells are cut from so many rows of all pairs together; from more of them there would be more cells."""

_DOUBT: Final = 0.5
"""Standard errors of its counts that a set is discounted by where other runs judge it, and on those."""

_ROWS_TO_LOOK: Final = 2**12
_SWEEPS: Final = 3
_SIZES: Final = 0.005 * 2.0 ** np.arange(12)
"""Standard deviations that a log-ratio may have, each as likely as any other."""

Cells: TypeAlias = tuple[tuple[int, Floats], ...]
"""Columns with their cut points: outputs with the same bins share a cell. Without columns each output is a cell of its own."""


@dataclass(frozen=True)
class Tally:
    """Counts of cells: increasing codes, bins of shape (columns, cells), and counts of shape (cells, 2) by label."""

    codes: Codes
    bins: Bins
    counts: Floats
    cells: Cells = ()


def cells_of(features: Matrix, groups: Sequence[int]) -> Cells | None:
    """Cut outputs of exact values and numbers into cells: exact values apart, numbers in few equal shares; else return None."""
    columns = [column for column in encode_columns(features, groups) if column.group not in DERIVED]
    numeric = {bool(is_number) for column in columns for is_number in column.numeric}
    if len(columns) < 2 or len(numeric) < 2 or np.unique(_codes([column.bins for column in columns])).size > MOST_PATTERNS:
        return None
    return tuple((column.source, column.cuts) for column in columns)


def tally_of(features: Matrix, labels: Labels, cells: Cells = ()) -> Tally | None:
    """Count a pair's runs by cell, or None where there are more different outputs than can be looked at one by one."""
    if not cells and np.unique(row_codes(features[:_ROWS_TO_LOOK])).size > MOST_VALUES:
        return None
    bins = [assign_bins(features[:, column], cuts) for column, cuts in cells]
    codes, first, inverse = np.unique(_codes(bins) if cells else row_codes(features), return_index=True, return_inverse=True)
    if not cells and codes.size > MOST_VALUES:
        return None
    own = np.array([column[first] for column in bins], dtype=np.intp).reshape(len(cells), codes.size)
    return Tally(codes, own, label_counts(inverse, labels, codes.size), cells)


def _codes(bins: Sequence[Bins]) -> Codes:
    """Return the code of each row's bins."""
    codes = np.zeros(len(bins[0]), dtype=np.uint64)
    for column in bins:
        codes = mix_codes(codes, column.astype(np.uint64))
    return codes


def expected_bounds(
    tallies: Mapping[int, Tally], firsts: Sequence[int], *, point: ClaimPoint, final_runs: int, alpha: float
) -> dict[int, float]:
    """Return the bound to be expected of each pair, in nats, on its best set of cells beyond some log-ratio."""
    bound_of = partial(expected_bound, point=point, final_runs=final_runs, alpha=alpha)
    bins, (counts,) = _align([tallies], firsts)
    return {place: _best_set(counts[place], bins, bound_of, doubt=1.0).bound for place in tallies}


def held_out_bounds(
    halves: Sequence[Mapping[int, Tally]], firsts: Sequence[int], *, point: ClaimPoint, final_runs: int, alpha: float
) -> dict[int, float]:
    """Return the bound that each half of the runs of a pair leads to expect of the set of cells that the other half chose.

    These counts do not flatter, so that outputs which one dataset alone gives out count although they are rare: in a fit of all
    runs they are shrunk like lucky ones.
    """
    bound_of = partial(expected_bound, point=point, final_runs=final_runs, alpha=alpha)
    bins, (one, other) = _align(halves, firsts)

    def promise(chosen_on: Floats, fresh: Floats) -> float:
        best = _best_set(chosen_on, bins, bound_of, doubt=_DOUBT)
        hits, totals = fresh[best.cells].sum(axis=0) + 0.5, fresh.sum(axis=0) + 1
        own, others = (hits / totals)[[best.label, 1 - best.label]]
        ratio = np.array([np.log(own / others) - _DOUBT * np.sqrt((1 / hits).sum())])
        return float(bound_of(ratio, np.array([(own + others) / 2]))[0])

    return {place: (promise(one[place], other[place]) + promise(other[place], one[place])) / 2 for place in one}


def _align(halves: Sequence[Mapping[int, Tally]], firsts: Sequence[int]) -> tuple[Bins, list[dict[int, Floats]]]:
    """Return the bins of all cells, and the counts of each pair in each half; runs of a dataset that pairs share are joined."""
    every = [tally for half in halves for tally in half.values()]
    codes = np.unique(np.concatenate([tally.codes for tally in every]))
    columns = max(1, *(len(tally.bins) for tally in every))
    bins = np.tile(np.arange(codes.size), (columns, 1))  # without columns the outputs themselves are the only one
    aligned = list[dict[int, Floats]]()
    for half in halves:
        counts = {place: np.zeros((codes.size, 2)) for place in half}
        shared = {firsts[place]: np.zeros(codes.size) for place in half}
        for place, tally in half.items():
            where = np.searchsorted(codes, tally.codes)
            bins[: len(tally.bins), where] = tally.bins
            counts[place][where] = tally.counts
            shared[firsts[place]] += counts[place][:, 0]
        aligned.append({place: np.stack([shared[firsts[place]], own[:, 1]], axis=1) for place, own in counts.items()})
    return bins, aligned


class _Set(NamedTuple):
    """Cells that are likelier under a label, and the bound to be expected on them."""

    bound: float
    label: int
    cells: NDArray[np.intp]


def _best_set(counts: Floats, bins: Bins, bound_of: Callable[[Floats, Floats], Floats], doubt: float) -> _Set:
    """Return the set of the cells beyond some log-ratio that promises most; where none promises anything, the likeliest to."""
    seen = np.flatnonzero(counts.sum(axis=1) > 0)
    zeros, ones = counts[seen].T
    share = (ones.sum() + 0.5) / (zeros.sum() + ones.sum() + 1)
    chance = _fit_label_shares(zeros, ones, bins[:, seen], share)
    rates = np.array([(zeros + ones) * (1 - chance) / (1 - share), (zeros + ones) * chance / share]) / (zeros + ones).sum()
    best, least = _Set(0.0, 0, seen[:0]), -np.inf
    for label in (0, 1):
        # The best of many sets is flattered: expect a standard deviation of its counts less than they show, or some.
        order = np.argsort(chance if label == 0 else -chance, kind="stable")[:-1]
        if not order.size:
            continue
        others, own = rates[:, order].cumsum(axis=1)[[1 - label, label]]
        noise = 1 / (zeros[order].cumsum() + 0.5) + 1 / (ones[order].cumsum() + 0.5)
        ratio, mass = np.log(own / others) - doubt * np.sqrt(noise), (own + others) / 2
        bounds = bound_of(ratio, mass)
        merits = np.where(bounds > 0, bounds, -np.exp(-ratio))
        place = int(np.argmax(merits))
        if merits[place] > least:
            best, least = _Set(float(bounds[place]), label, seen[order[: place + 1]]), merits[place]
    return best


def _fit_label_shares(zeros: Floats, ones: Floats, bins: Bins, share: float) -> Floats:
    """Fit the share of label 1 in each cell: log-odds that add up over columns, so that rare cells lean on all others."""
    total, odds = zeros + ones, np.full(zeros.size, np.log(share / (1 - share)))
    added = np.zeros(bins.shape)
    for _ in range(_SWEEPS if len(bins) > 1 else 1):
        for column, own in zip(bins, added, strict=True):
            odds -= own
            due = total / (1 + np.exp(-odds))
            hits, misses, hits_due, misses_due = (
                np.bincount(column, weights=part) + pseudo
                for part, pseudo in ((ones, share), (zeros, 1 - share), (due, share), (total - due, 1 - share))
            )
            own[:] = _shrink_log_ratios(np.log(hits / hits_due) - np.log(misses / misses_due), 1 / hits + 1 / misses)[column]
            odds += own
    return np.asarray(1 / (1 + np.exp(-odds)))


def _shrink_log_ratios(seen: Floats, noise: Floats) -> Floats:
    """Return the mean of each true log-ratio given the observed one and the variance of its noise.

    True ones are normal around 0 with a spread averaged over a grid, weighted by how well it explains the counts: so lucky rare
    outputs are shrunk, and large ratios are not pulled down by many small ones.
    """
    spread = _SIZES[:, None] ** 2
    chance = -0.5 * seen**2 / (noise + spread) - 0.5 * np.log(noise + spread)
    chance = np.exp(chance - chance.max(axis=0))
    return np.asarray((chance * spread / (noise + spread)).sum(axis=0) / chance.sum(axis=0) * seen)
