"""How much one canary can show: the law of the posterior that a claim or a family of mechanisms allows, on a grid of losses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]

_TAIL: Final = 1e-13
"""Mass of a composition that may lie outside its grid; a p-value adds `SLACK`, which covers it and the rounding of floats."""

SLACK: Final = 1e-9
_CELLS: Final = 2**15
_WIDEST: Final = 600.0
"""Largest loss whose exponential is a float; a law that goes beyond counts as one that shows everything."""

_WIDE: Final = 9.0
"""Standard deviations of the noise on the grid of a step; the mass beyond is moved to where it shows more."""

_ORDERS: Final = tuple(2.0 ** (step / 2) for step in range(-6, 13))
"""Orders of the moments that bound the tails of a composition: any of them is valid, the best is taken."""


@dataclass(frozen=True)
class Experiment:
    """How sure an observer can be of a fair coin: confidences from 1 down to 1/2, and the probability of each.

    The observer who sees everything that the law allows is right with `confidence`, so that whoever sees less is right less often.
    """

    confidences: Vector
    masses: Vector

    @cached_property
    def _ends(self) -> Vector:
        """Shares of the surest cases, one more each time."""
        return np.concatenate([[0.0], np.cumsum(self.masses)])

    @cached_property
    def _sums(self) -> Vector:
        """Sums of their confidences."""
        return np.concatenate([[0.0], np.cumsum(self.masses * self.confidences)])

    def best_share(self, share: Vector) -> Vector:
        """Return the mean confidence within the surest `share` of cases, for shares in (0, 1]; rounded up."""
        found = np.interp(share, self._ends, self._sums) / np.maximum(share, 1e-300)
        # Where the share ends inside the first atom, the chord from 0 is exact.
        return np.asarray(np.minimum(1.0, found + 1e-12))

    def share_between(self, low: Vector, high: Vector) -> Vector:
        """Return the mean confidence of the cases between two shares, the first at most the second; rounded up."""
        width = high - low
        between = np.interp(high, self._ends, self._sums) - np.interp(low, self._ends, self._sums)
        found = between / np.maximum(width, 1e-300) + 1e-9
        # The quotient loses digits where the shares are close; whoever is less sure than a case is at most as sure as it.
        return np.asarray(np.minimum(self.confidence_at(low), np.where(width > 1e-4, found, 1.0)))

    def confidence_at(self, share: Vector) -> Vector:
        """Return the confidence of the case that is as sure as a share of all; rounded up."""
        found = np.searchsorted(self._ends[1:], np.asarray(share) - 1e-12)
        return np.asarray(self.confidences[np.minimum(found, len(self.confidences) - 1)])


_REVEALED: Final = Experiment(np.array([1.0]), np.array([1.0]))


def stated_experiment(epsilon: float, delta: float) -> Experiment:
    """Build the experiment of (epsilon, delta)-DP: the coin is shown with probability delta, else by randomized response."""
    sure = 1 / (1 + np.exp(-epsilon))
    return Experiment(np.array([1.0, sure]), np.array([delta, 1 - delta]))


@lru_cache(maxsize=64)  # a search asks again for the ends of its interval
def sampled_gaussian_experiment(rate: float, steps: int, noise_multiplier: float) -> Experiment:
    """Build the experiment of Gaussian noise on Poisson samples, composed over steps; it dominates the true one.

    Masses of a step are split onto the ends of cells of loss so that probabilities under both laws stay: this only adds loss.
    """
    least, most = _loss(rate, noise_multiplier, np.array([-_WIDE * noise_multiplier, 1 + _WIDE * noise_multiplier]))
    if max(abs(least), most) > _WIDEST:
        return _REVEALED
    low, high = _composed_range(rate, steps, noise_multiplier, np.linspace(least, most, 2049, dtype=np.float64))
    if max(abs(low), high) > _WIDEST:
        return _REVEALED
    size = (high - low) / (_CELLS - 2)
    first, last = int(np.floor(least / size)), int(np.ceil(most / size))
    grid = size * np.arange(first, last + 1, dtype=np.float64)
    inside, outside = _split(rate, noise_multiplier, grid)
    start = int(np.floor(low / size))
    places = start + np.arange(_CELLS)
    with_canary = _power(inside, first, steps, start)
    without = _power(outside, first, steps, start)
    loss = places * size
    fade = np.exp(-np.abs(loss))
    # Each half of the grid comes from the law under which it is likelier, since rounding would be magnified by e^loss.
    shown = np.where(loss >= 0, with_canary, without)
    masses = np.maximum(shown, 0.0) * (1 + fade) / 2
    order = np.argsort(-np.abs(loss), kind="stable")
    rest = max(0.0, 1 - float(masses.sum())) + _TAIL
    confidences = np.concatenate([[1.0], 1 / (1 + fade[order])])
    return Experiment(confidences, np.concatenate([[rest], masses[order]]))


def _loss(rate: float, noise: float, place: Vector) -> Vector:
    """Privacy loss of one step at a released value: log of the mixture's density over the noise's."""
    from scipy.special import logsumexp

    shift = (place - 0.5) / noise**2
    if rate == 1:
        return shift
    both = np.stack([np.full_like(shift, np.log1p(-rate)), np.log(rate) + shift])
    found: Vector = logsumexp(both, axis=0)
    return found


def _place(rate: float, noise: float, loss: Vector) -> Vector:
    """Released value at which a step has that loss; -inf where it has no so low a loss."""
    if rate == 1:
        return noise**2 * loss + 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        found = noise**2 * (np.log(np.maximum(np.expm1(loss) + rate, 0.0)) - np.log(rate)) + 0.5
    return np.asarray(found)


def _composed_range(rate: float, steps: int, noise: float, grid: Vector) -> tuple[float, float]:
    """Bound the losses of a composition up to `_TAIL`, by moments of the two laws of a step."""
    limit = -np.log(_TAIL)
    ends = []
    for masses, sign in zip(_split(rate, noise, grid), (1.0, -1.0), strict=True):
        tops = [(steps * _log_moment(order * sign * grid, masses) + limit) / order for order in _ORDERS]
        ends.append(max(min(tops), grid[1] - grid[0]))
    return -ends[1], ends[0]


def _log_moment(exponents: Vector, weights: Vector) -> float:
    """Log of a weighted sum of exponentials."""
    highest = float(exponents.max())
    return highest + float(np.log(np.sum(weights * np.exp(exponents - highest))))


def _split(rate: float, noise: float, grid: Vector) -> tuple[Vector, Vector]:
    """Masses of a step on a grid of losses, with the canary and without; what is missing lies at infinity."""
    from scipy.special import ndtr

    places = _place(rate, noise, grid)
    edges = np.concatenate([[-np.inf], places, [np.inf]])
    without = _differences(ndtr, edges / noise)
    shifted = _differences(ndtr, (edges - 1) / noise)
    inside = (1 - rate) * without + rate * shifted
    odds = np.exp(grid)
    size = grid[1] - grid[0]
    # Cell k lies between grid points k-1 and k; its masses are those of its two ends.
    upper = (inside[1:-1] / odds[:-1] - without[1:-1]) / np.expm1(size)
    upper = np.clip(upper, 0.0, without[1:-1])
    masses = np.zeros_like(grid)
    masses[1:] += upper
    masses[:-1] += without[1:-1] - upper
    masses[0] += min(inside[0] / odds[0], without[0])
    masses[-1] += without[-1]
    return masses * odds, masses


def _differences(distribution: np.ufunc, edges: Vector) -> Vector:
    """Probabilities between edges, each from the tail in which it loses no digits."""
    lower, upper = distribution(edges), distribution(-edges)
    return np.asarray(np.maximum(np.where(edges[1:] <= 0, np.diff(lower), -np.diff(upper)), 0.0))


def _power(masses: Vector, first: int, steps: int, start: int) -> Vector:
    """Convolve masses on places from `first` with themselves; the places of the result begin at `start`."""
    if steps == 1:
        folded = np.zeros(_CELLS)
        kept = (np.arange(len(masses)) + first - start) % _CELLS
        np.add.at(folded, kept, masses)
        return folded
    folded = np.zeros(_CELLS)
    np.add.at(folded, np.arange(len(masses)) % _CELLS, masses)
    composed = np.fft.irfft(np.fft.rfft(folded) ** steps, _CELLS)
    return np.asarray(np.roll(composed, (steps * first - start) % _CELLS))
