"""Screening of wide outputs: counts and moments of every number by label, and the choice of the few that are worth a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.reading.wide import Couple, Lens, standardised
from dpaudit.auditor.statistics.binning import Floats, Labels

MOST_CHOSEN: Final = 16
"""Numbers that get a column of their own."""

MOST_PAIRED: Final = 1024
"""Numbers of which every two are compared; of more, those that differ most in the first runs."""

_LEVELS: Final = (0.0, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 15 / 16, 63 / 64)
_ATOMS: Final = 2
_QUOTAS: Final = {"ratio": 6, "bins": 4, "mean": 3, "spread": 3}
_NOTABLE: Final = 4.0
"""Standard errors from which an event of one number is ranked by its ratio, since pure claims bound ratios, not differences."""

_LEAST_RATIO: Final = 2.0
_CLEARER: Final = 20.0
"""What the squared statistic of a couple has to exceed those of its two numbers by."""

_COUPLES: Final = {"difference": 2, "sum": 1, "product": 2}
_SHARES: Final = (0.001, 0.01, 0.1, 0.5, 0.98)
_SIZES: Final = tuple(2.0**power for power in range(-3, 6))
_LEAST_EVIDENCE: Final = 2.0
"""Nats by which effects have to explain the differences better than chance alone for a learned score."""


@dataclass(frozen=True, eq=False)
class Gauge:
    """How numbers are counted: cut points of shape (cuts, numbers), how they are standardised, and which are paired."""

    cuts: Floats
    centre: Floats
    scale: Floats
    paired: NDArray[np.intp]

    def measure(self, values: Matrix, labels: Labels) -> Measures:
        """Count and sum up by label; missing numbers, which are NaN, are below all cuts."""
        sides = [values[labels == label] for label in (0, 1)]
        counts = np.zeros((2, *self.cuts.shape), dtype=np.int32)
        moments = np.zeros((2, 3, values.shape[1]))
        products = np.zeros((2, len(self.paired), len(self.paired)))
        for side, part in enumerate(sides):
            for place, cut in enumerate(self.cuts):
                counts[side, place] = np.count_nonzero(part >= cut, axis=0)
            numbers = standardised(part, self.centre, self.scale)
            squares = numbers * numbers
            moments[side] = numbers.sum(axis=0), squares.sum(axis=0), (squares * squares).sum(axis=0)
            paired = numbers[:, self.paired]
            products[side] = paired.T @ paired
        return Measures(np.array([len(part) for part in sides]), counts, moments, products)


@dataclass(frozen=True, eq=False)
class Measures:
    """What was measured, by label: runs, counts at or above each cut, sums of powers 1, 2 and 4, and sums of products of pairs."""

    runs: NDArray[np.int64]
    counts: NDArray[np.int32]
    moments: Floats
    products: Floats

    def __add__(self, other: Measures) -> Measures:
        """Join the measures of further runs."""
        return Measures(
            self.runs + other.runs, self.counts + other.counts, self.moments + other.moments, self.products + other.products
        )


@dataclass(frozen=True, eq=False)
class Found:
    """What one pair of datasets shows: merits of each number by statistic, couples with merits, weights with evidence in nats."""

    merits: dict[str, Floats]
    couples: tuple[tuple[float, Couple], ...]
    weights: tuple[tuple[float, Floats], tuple[float, Floats]]


def gauge_of(values: Matrix, labels: Labels) -> Gauge:
    """Choose cuts at quantiles and around repeated values of the first runs, and which numbers are paired."""
    with np.errstate(invalid="ignore"):
        increasing = np.sort(values, axis=0)  # NaN last
        rows = len(values)
        cuts = [increasing[int(level * (rows - 1))] for level in _LEVELS]
        cuts.append(np.nextafter(increasing[-1], np.inf))
        for atom in _atoms(increasing):
            cuts += [atom, np.nextafter(atom, np.inf)]
        centre, low, high = (increasing[int(level * (rows - 1))] for level in (1 / 2, 1 / 8, 7 / 8))
        scale = (high - low) / 2.3
        spread = np.nanstd(np.clip(values, -1e100, 1e100), axis=0) if rows else scale
    scale = np.where(scale > 0, scale, spread)
    gauge = Gauge(
        np.sort(np.nan_to_num(np.stack(cuts), nan=np.inf, posinf=np.inf, neginf=-np.inf), axis=0),
        np.nan_to_num(centre),
        np.where(np.isfinite(scale) & (scale > 0), scale, 1.0),
        np.empty(0, dtype=np.intp),
    )
    width = values.shape[1]
    paired = np.arange(width)
    if width > MOST_PAIRED:
        differs = _difference(gauge.measure(values, labels))[0]
        paired = np.sort(np.argsort(-np.abs(differs), kind="stable")[:MOST_PAIRED])
    return Gauge(gauge.cuts, gauge.centre, gauge.scale, paired)


def _atoms(increasing: Floats) -> list[Floats]:
    """The values that repeat most in each column of sorted values; the largest where none does."""
    found: list[Floats] = []
    for _ in range(_ATOMS):
        best, most = increasing[-1].copy(), np.ones(increasing.shape[1])
        run = np.ones(increasing.shape[1])
        for before, row in pairwise(increasing):
            run = np.where(row == before, run + 1, 1.0)
            longer = (run > most) & np.all([row != other for other in found], axis=0)
            best, most = np.where(longer, row, best), np.where(longer, run, most)
        found.append(best)
    return found


def find(measures: Measures, gauge: Gauge) -> Found:
    """Judge every number, and every two of those that are paired, on what was measured."""
    ratio, bins = _events(measures)
    mean, spread = (_difference(measures, power) for power in (1, 2))
    merits = {"ratio": ratio, "bins": bins, "mean": np.abs(mean[0]), "spread": np.abs(spread[0])}
    weights = tuple(_weights(*statistics) for statistics in (mean, spread))
    return Found(merits, tuple(_couples(measures, gauge)), (weights[0], weights[1]))


def choose(found: Sequence[Found], gauge: Gauge) -> tuple[tuple[int, ...], Lens]:
    """Choose numbers by each statistic in turn, couples, and the learned scores of the pair of datasets that shows most."""
    merits = {name: np.max([one.merits[name] for one in found], axis=0) for name in _QUOTAS}
    chosen: dict[int, None] = {}
    for name, quota in (*_QUOTAS.items(), ("bins", MOST_CHOSEN)):
        left = min(quota, MOST_CHOSEN - len(chosen))
        for place in np.argsort(-merits[name], kind="stable")[: quota + len(chosen)].tolist():
            if left and place not in chosen:
                chosen[place] = None
                left -= 1
    couples: list[Couple] = []
    ranked = sorted((entry for one in found for entry in one.couples), key=lambda entry: -entry[0])
    for kind, quota in _COUPLES.items():
        couples += list(dict.fromkeys(couple for _, couple in ranked if couple.kind == kind))[:quota]
    linear, square = (max((one.weights[power] for one in found), key=lambda entry: entry[0]) for power in (0, 1))
    weights = [best if evidence > _LEAST_EVIDENCE else None for evidence, best in (linear, square)]
    return tuple(sorted(chosen)), Lens(gauge.centre, gauge.scale, weights[0], weights[1], tuple(couples))


def _events(measures: Measures) -> tuple[Floats, Floats]:
    """Judge the tails and bins of each number: the largest sure log-ratio, and the largest difference in standard errors."""
    runs = measures.runs[:, None, None]
    above = measures.counts
    ends = np.concatenate(
        [np.broadcast_to(runs, (2, 1, above.shape[2])), above, np.zeros((2, 1, above.shape[2]), dtype=np.int64)], axis=1
    )
    ratio, bins = np.zeros(above.shape[2]), np.zeros(above.shape[2])
    share = measures.runs / max(1.0, float(measures.runs.mean()))
    for events in (above, runs - above, ends[:, :-1] - ends[:, 1:]):
        for zeros, ones in zip(events[0], events[1], strict=True):
            zero, one = zeros / max(share[0], 1e-9), ones / max(share[1], 1e-9)
            size = np.sqrt(2) * np.abs(np.sqrt(one + 0.375) - np.sqrt(zero + 0.375))
            sure = np.abs(np.log((one + 0.5) / (zero + 0.5))) - _LEAST_RATIO * np.sqrt(1 / (one + 0.5) + 1 / (zero + 0.5))
            np.maximum(bins, size, out=bins)
            np.maximum(ratio, np.where(size >= _NOTABLE, sure, 0.0), out=ratio)
    return ratio, bins


def _difference(measures: Measures, power: int = 1) -> tuple[Floats, Floats, Floats]:
    """Difference of the means of a power under both labels: in standard errors, its standard error, and the pooled variance."""
    runs = np.maximum(measures.runs, 1)[:, None]
    means, squares = measures.moments[:, power - 1] / runs, measures.moments[:, power] / runs
    variances = np.maximum(squares - means**2, 0.0)
    floor = 1e-9 * (1 + squares.max(axis=0)) / runs.min()
    error = np.sqrt((variances / runs).sum(axis=0) + floor / runs.min())
    return (means[1] - means[0]) / error, error, variances.mean(axis=0) + floor


def _weights(seen: Floats, error: Floats, variance: Floats) -> tuple[float, Floats]:
    """Weights of a score: posterior means of the differences over the variance, and the evidence that there are any, in nats.

    An effect is 0, or normal with a size that all share; share and size are chosen by likelihood. So one strong number counts
    alone, and thousands of weak ones count together.

    Source: Johnstone and Silverman 2005, with a normal in place of their heavy tail.
    """
    nothing = -0.5 * seen**2
    best, kept = 0.0, np.zeros_like(seen)
    for share, size in product(_SHARES, _SIZES):
        something = -0.5 * seen**2 / (1 + size**2) - 0.5 * np.log1p(size**2) + np.log(share)
        either = np.logaddexp(nothing + np.log1p(-share), something)
        evidence = float((either - nothing).sum())
        if evidence > best:
            best, kept = evidence, np.exp(something - either) * size**2 / (1 + size**2)
    weights = kept * seen * error / variance
    # Numbers that hardly count would take time in every run.
    return best, np.where(np.abs(weights) > 1e-3 * np.abs(weights).max(initial=0.0), weights, 0.0)


def _couples(measures: Measures, gauge: Gauge) -> list[tuple[float, Couple]]:
    """The best couples of each kind, with their merit, where they show clearly more than their two numbers."""
    places = gauge.paired
    runs = np.maximum(measures.runs, 1).astype(np.float64)
    if len(places) < 2 or runs.min() < 2:
        return []
    scale = gauge.scale[places]
    means = measures.moments[:, 0, places] / runs[:, None]
    # In the units of the output, where noise that two numbers share cancels.
    covariances = (measures.products / runs[:, None, None] - means[:, :, None] * means[:, None, :]) * np.outer(scale, scale)
    pooled, shift = covariances.mean(axis=0), (means[1] - means[0]) * scale
    # A floor beside the shift, since the square of a large one over a variance of nothing is no number.
    variance, count = np.maximum(np.diagonal(pooled), np.maximum(1e-30, 1e-12 * shift**2)), runs.mean() / 2
    alone = shift**2 / variance * count
    alone = alone[:, None] + alone[None, :]
    found: list[tuple[float, Couple]] = []
    both = variance[:, None] + variance[None, :]
    for kind, sign in (("difference", -1), ("sum", 1)):
        left = np.maximum(both + 2 * sign * pooled, 1e-9 * both)
        merit = (shift[:, None] + sign * shift[None, :]) ** 2 / left * count - alone
        found += _best(merit, kind, places)
    sizes = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 1e-300))
    correlations = np.clip(covariances / (sizes[:, :, None] * sizes[:, None, :]), -1 + 1e-9, 1 - 1e-9)
    changes = np.diff(np.arctanh(correlations), axis=0)[0] ** 2 * count
    return found + _best(changes, "product", places) + _best(changes, "difference", places)


def _best(merit: Floats, kind: str, places: NDArray[np.intp]) -> list[tuple[float, Couple]]:
    """The couples of one kind with the largest merits."""
    upper = np.where(np.triu(np.ones(merit.shape, dtype=bool), 1), merit, -np.inf).ravel()
    order = np.argpartition(-upper, min(_COUPLES[kind], upper.size - 1))[: _COUPLES[kind]]
    threshold = _CLEARER + 2 * np.log(max(1, len(places)) ** 2)
    pairs = ((float(upper[one]), *divmod(int(one), len(merit))) for one in order.tolist() if upper[one] > threshold)
    return [(value, Couple(int(places[first]), int(places[second]), kind)) for value, first, second in pairs]
