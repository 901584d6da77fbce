"""Log-odds of label 1 along one column, modelled on the whole pilot: plateaus and steps, with their uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.scoring.contrasts import Tree, posterior_contrasts, tree_of
from dpaudit.auditor.statistics.binning import MOST_VALUES, Floats, Labels, cut_points, fine_cuts

Places: TypeAlias = NDArray[np.int64]

_ADDED: Final = 0.375
"""Anscombe's 3/8, added to the counts of each label: it makes the angular transformation of small counts least biased."""

_MOST_BENT: Final = math.pi - 1e-6
_TAIL: Final = 0.02
_FEWEST_IN_TAIL: Final = 4
_LEVEL_BEYOND: Final = (0.0, 0.02, 0.1, 0.25)
_LEVEL_ENDS_NEED: Final = 4.0
"""Quantiles beyond which a score may be level, and by how many nats that must make the counts likelier."""

_SLOPES: Final = np.array([0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0])
_SLOPE_SHARES: Final = np.array([0.8, *(0.2 / 6 for _ in range(6))])
"""Standard deviations of the growth of bent log-odds for each factor e in mass towards an end, and how likely each is."""


@dataclass(frozen=True)
class Ordered:
    """A column in increasing order, without NaN, and how many rows before each place have label 1."""

    values: Floats
    ones: Places

    def counts(self, ends: Places) -> tuple[Floats, Floats]:
        """Count the labels in the bins between ends: label 0 and label 1."""
        ones = np.diff(self.ones[ends]).astype(np.float64)
        return np.diff(ends) - ones, ones

    def ends(self, cuts: Floats) -> Places:
        """Find where the bins between cuts begin and end."""
        return np.concatenate([[0], np.searchsorted(self.values, cuts, side="left"), [len(self.values)]])


def order_column(values: Floats, labels: Labels) -> Ordered:
    """Sort a column and its labels."""
    # The order of equal values changes no count, since every end is between different ones; a stable sort is slower.
    order = np.argsort(values)
    order = order[: len(values) - int(np.isnan(values).sum())]  # NaN is last
    ones = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(labels[order] == 1, out=ones[1:])
    return Ordered(values[order], ones)


@dataclass(frozen=True)
class Curve:
    """Log-odds of label 1 by bin, and their uncertainty.

    `bent` are the log-odds on a scale of even noise, where n labels have variance 4/n whatever their share; they move by `loads`
    (one row a bin) times independent unknowns with these `variances`.
    """

    cuts: Floats
    bent: Floats
    loads: Floats
    variances: Floats

    @property
    def theta(self) -> Floats:
        """Probability of label 1 in each bin."""
        return np.asarray((1 + np.sin(np.clip(self.bent, -_MOST_BENT, _MOST_BENT) / 2)) / 2)

    @property
    def odds(self) -> Floats:
        """Log-odds of label 1 in each bin."""
        return np.asarray(np.log(self.theta / (1 - self.theta)))

    def at(self, values: Floats) -> Floats:
        """The log-odds at some values."""
        return self.odds[np.searchsorted(self.cuts, values, side="right")]

    def jump(self, values: Floats, odds: Floats) -> Floats:
        """Largest distance from `odds` of the log-odds around values: in their bin and, unless bins are values, beside it."""
        place, last = np.searchsorted(self.cuts, values, side="right"), len(self.cuts)
        beside = (-1, 0, 1) if last >= MOST_VALUES else (0,)
        known = self.odds
        return np.asarray(np.max([np.abs(known[np.clip(place + step, 0, last)] - odds) for step in beside], axis=0))

    def tails(self, column: Ordered, ends: Places, *, below: bool) -> tuple[Floats, Floats]:
        """Log-odds of label 1 among the rows before (`below`) or after each end, and their deviation; bins are even inside."""
        edges = column.ends(self.cuts)
        rows, theta, total = np.diff(edges), self.theta, edges[-1]
        low = np.clip(np.searchsorted(edges, ends, side="right") - 1, 0, len(rows) - 1)
        share = (ends - edges[low]) / np.maximum(rows[low], 1)
        weight = _sums_to(rows * theta, below=below)
        pull = _sums_to((rows * np.sqrt(theta * (1 - theta)) / 2)[:, None] * self.loads, below=below)
        ones, inside = weight[low] + share * np.diff(weight)[low] + 1e-9, ends if below else total - ends
        zeros = np.maximum(inside - ones, 1e-9)
        # The variance of a mixture of two neighbouring edges, from their variances and their covariance.
        own, both = np.square(pull) @ self.variances, (pull[:-1] * pull[1:]) @ self.variances
        variance = (1 - share) ** 2 * own[low] + 2 * share * (1 - share) * both[low] + share**2 * own[low + 1]
        return np.log(ones / zeros), np.sqrt(np.maximum(variance, 0.0)) * inside / (ones * zeros)


def column_model(column: Ordered, *, scored: bool = False) -> Curve:
    """Model the log-odds along a column by its label counts; `scored` where the values are log-odds already.

    Scores are right up to a factor, a constant and level ends where that explains more than plateaus alone; other columns may have
    a straight line in each far tail. What is left is a tree of contrasts, most of them 0.
    """
    cuts = cut_points(column.values)
    cuts = fine_cuts(column.values, cuts) if cuts.size else cuts
    ends = column.ends(cuts)
    zeros, ones = column.counts(ends)
    seen, variance = 2 * np.arcsin((ones - zeros) / (ones + zeros + 2 * _ADDED)), 4 / (ones + zeros + 0.5)
    tree = tree_of(1 / variance)
    known = _line(seen, variance, column.values, ends, tree) if scored else np.zeros(len(seen))
    loads, variances = list[NDArray[Any]](), list[NDArray[Any]]()
    if len(seen) > MOST_VALUES and not scored:
        shares = np.diff(ends) / len(column.values)
        below = np.cumsum(shares) - shares / 2
        for depth in (below, 1 - below):
            reach = np.maximum(0.0, np.log(_TAIL / np.maximum(depth, 1 / len(column.values))))
            if np.count_nonzero(reach) >= _FEWEST_IN_TAIL:
                slope, doubt = _slope(seen - known, variance, reach)
                known = known + slope * reach
                loads.append(reach[:, None])
                variances.append(np.full(1, doubt))
    contrasts, doubts, _ = posterior_contrasts(tree, tree.contrasts(seen - known))
    units = tree.values(np.eye(len(contrasts)))
    return Curve(cuts, known + contrasts @ units, np.hstack([units.T, *loads]), np.concatenate([doubts, *variances]))


def bent(odds: Floats) -> Floats:
    """Transform log-odds to a scale of even noise: as they are near 0, at most pi.

    Source: Anscombe 1948, the angular transformation of binomial counts.
    """
    return np.asarray(2 * np.arcsin(np.tanh(odds / 2)))


def _line(seen: Floats, variance: Floats, values: Floats, ends: Places, tree: Tree) -> Floats:
    """Straight line in the mean value of each bin, level beyond some quantiles, that explains the counts best; or 0."""
    sums = np.concatenate([[0.0], np.cumsum(values)])[ends]
    means = np.diff(sums) / np.maximum(np.diff(ends), 1)
    lines: list[NDArray[Any]] = [np.zeros(len(seen))]
    for level in _LEVEL_BEYOND:
        cut = int(level * (len(values) - 1))
        design = np.stack([np.ones(len(seen)), bent(np.clip(means, values[cut], values[-1 - cut]))])
        weighed = design / variance
        lines.append(np.linalg.solve(weighed @ design.T + 1e-9 * np.eye(2), weighed @ seen) @ design)
    likelihoods = np.array([posterior_contrasts(tree, tree.contrasts(seen - line))[2] for line in lines])
    likelihoods[2:] -= _LEVEL_ENDS_NEED
    return lines[int(np.argmax(likelihoods))]


def _slope(seen: Floats, variance: Floats, reach: Floats) -> tuple[float, float]:
    """Slope of log-odds along a tail and its variance: 0, or normal of a size that is averaged over."""
    inside = reach > 0
    precision, along = 1 / variance[inside], reach[inside]
    along = along - (precision @ along) / precision.sum()
    bend = float(precision @ along**2)
    found = float((precision * along) @ seen[inside]) / bend
    spread = _SLOPES**2 + 1 / bend
    chance = np.log(_SLOPE_SHARES) - 0.5 * found**2 / spread - 0.5 * np.log(spread)
    chance = np.exp(chance - np.logaddexp.reduce(chance))
    kept = _SLOPES**2 / spread
    mean = float(chance @ kept) * found
    return mean, float(chance @ (kept / bend + (kept * found) ** 2)) - mean**2


def _sums_to(parts: Floats, *, below: bool) -> Floats:
    """Sum the parts (rows) before each edge, or those after it."""
    sums = np.concatenate([np.zeros((1, *parts.shape[1:])), np.cumsum(parts, axis=0)])
    return sums if below else np.asarray(sums[-1] - sums)
