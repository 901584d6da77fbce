"""The noise that twin runs show: whether it is the same on both datasets, its law, and what a move of the value costs under it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, PureDP

Vector = NDArray[np.float64]

ERRORS: Final = 4
"""Standard errors within which an estimate may lie: a cause is named in fewer than one of 10,000 cases by chance."""
_ROUNDING: Final = 1e-9
_NEARLY_ALL: Final = 0.99
_FEWEST: Final = 6
_FEWEST_VALUES: Final = 12
_LAPLACE: Final = (0.67, 0.745)
_GAUSSIAN: Final = (0.765, 0.83)
"""Mean deviation over standard deviation: 0.707 for Laplace noise and 0.798 for Gaussian, known to 0.01 from 1,000 runs."""
_LARGEST_DISTANCE: Final = 1.3
"""Kolmogorov-Smirnov distance times the root of the runs; with fitted parameters 1 is passed in fewer than one of 1,000 cases."""


@dataclass(frozen=True)
class Move:
    """How far the value moves in each number, and the noise: its law, its scales, and the relative error of these."""

    moves: Vector
    law: str
    scales: Vector
    error: float

    @property
    def each(self) -> Vector:
        """What the move of each number costs alone: epsilon under Laplace noise, mu under Gaussian."""
        return np.abs(self.moves) / self.scales


def shift(first: Matrix, second: Matrix) -> Vector | None:
    """Return by how much each number moves, where that is the same in every run; None where it is not.

    Runs that end at a bound of both datasets show nothing of the move, and are left out.
    """
    tolerance = _ROUNDING * np.maximum(np.abs(first), np.abs(second)).max(axis=0, initial=1e-300)
    moves = np.zeros(first.shape[1])
    for column in range(first.shape[1]):
        x, y = first[:, column], second[:, column]
        inside = _inside(x, y)
        if np.count_nonzero(inside) < _FEWEST:
            return None
        found = (y - x)[inside]
        moves[column] = np.median(found)
        if np.mean(np.abs(found - moves[column]) <= tolerance[column]) < _NEARLY_ALL:
            return None
    return moves


def _inside(x: Vector, y: Vector) -> NDArray[np.bool_]:
    """Runs in which neither output lies at an end that none goes beyond and many reach, among values that come once."""
    inside = np.ones(len(x), dtype=bool)
    if len(np.unique(x)) <= len(x) // 8:
        return inside
    for end in (min(x.min(), y.min()), max(x.max(), y.max())):
        at_end = (x == end) | (y == end)
        if np.count_nonzero(at_end) > 2:
            inside &= ~at_end
    return inside


def stretch(first: Matrix, second: Matrix) -> float | None:
    """Return the factor by which the noise of every number is wider on the second dataset; None where there is no one factor."""
    factors = []
    for x, y in zip(first.T, second.T, strict=True):
        low, high = int(x.argmin()), int(x.argmax())
        if x[low] == x[high]:
            continue
        if len(np.unique(x)) < min(_FEWEST_VALUES, len(x) // 2):
            return None  # through two or three values there is always a line
        factor = (y[high] - y[low]) / (x[high] - x[low])
        rest = np.abs(y - y[low] - factor * (x - x[low]))
        if np.mean(rest <= 1e3 * _ROUNDING * max(np.abs(x).max(), np.abs(y).max())) < _NEARLY_ALL:
            return None
        factors.append(factor)
    if not factors or abs(abs(factors[0]) - 1) < 1e-6 or max(factors) - min(factors) > 1e3 * _ROUNDING * max(map(abs, factors)):
        return None
    return float(factors[0])


def step_of(values: Vector) -> float | None:
    """Return the step of the grid that all values of a sample lie on, if many share a place; None where they lie on none."""
    found = np.unique(values)
    if len(found) < 2 or len(found) > len(values) // 2:
        return None
    gaps = np.diff(found)
    step = float(gaps.min())
    off = np.abs(gaps / step - np.round(gaps / step))
    return step if off.max() < 1e-6 and step > 1e-9 * np.abs(found).max() else None


def fit(moves: Vector, outputs: Matrix) -> Move | None:
    """Fit a law to the noise of the numbers that move; None where neither Laplace nor Gaussian noise fits, or little is known."""
    columns = outputs[:, moves != 0]
    if columns.shape[1] == 0 or len(outputs) < 50:
        return None
    fits = [_fit_one(column) for column in columns.T]
    laws = {law for law, _ in fits}
    if len(laws) != 1 or "" in laws or _are_dependent(columns):
        return None
    return Move(moves[moves != 0], laws.pop(), np.array([scale for _, scale in fits]), ERRORS / math.sqrt(len(outputs)))


def _fit_one(values: Vector) -> tuple[str, float]:
    """Law and scale of the noise of one number; no law where none fits."""
    rest = values - np.median(values)
    mean, deviation = float(np.abs(rest).mean()), float(np.sqrt((rest**2).mean()))
    if mean == 0:
        return "", 0.0
    if (step := step_of(values)) is not None:
        return _fit_steps(mean, deviation, step, 2 / math.sqrt(len(values)))
    spare = 1.2 / math.sqrt(len(values))  # two standard errors of the ratio
    ratio = mean / deviation
    if _LAPLACE[0] - spare < ratio < _LAPLACE[1] and _fits(rest / mean, _laplace):
        return "laplace", mean
    if _GAUSSIAN[0] < ratio < _GAUSSIAN[1] + spare and _fits(rest / deviation, _gaussian):
        return "gaussian", deviation
    return "", 0.0


def _fit_steps(mean: float, deviation: float, step: float, spare: float) -> tuple[str, float]:
    """The same for noise on a grid: of discrete Laplace noise E|Z| = 2 q / (1 - q^2) steps with q = exp(-step / scale)."""
    steps = mean / step
    q = (math.sqrt(1 + steps**2) - 1) / steps
    # Its standard deviation is sqrt(2 q) / (1 - q) steps.
    return ("laplace", step / -math.log(q)) if abs(mean / deviation - math.sqrt(2 * q) / (1 + q)) < spare else ("", 0.0)


def _fits(rest: Vector, law: object) -> bool:
    """True if a sample agrees with a law by the Kolmogorov-Smirnov distance."""
    shares = law(np.sort(rest))  # type: ignore[operator]
    places = np.arange(len(rest) + 1) / len(rest)
    distance = max(float((places[1:] - shares).max()), float((shares - places[:-1]).max()))
    return distance * math.sqrt(len(rest)) < _LARGEST_DISTANCE


def _laplace(z: Vector) -> Vector:
    """Distribution function of Laplace noise of scale 1."""
    tails: Vector = np.exp(-np.abs(z)) / 2
    return np.where(z < 0, tails, 1 - tails)


def _gaussian(z: Vector) -> Vector:
    """Distribution function of Gaussian noise of deviation 1."""
    return np.array([(1 + math.erf(one / math.sqrt(2))) / 2 for one in z.tolist()])


def _are_dependent(columns: Matrix) -> bool:
    """True if the noise of two numbers is correlated."""
    if columns.shape[1] < 2:
        return False
    found = np.abs(np.corrcoef(columns.T) - np.eye(columns.shape[1]))
    return bool(found.max() > (ERRORS + 1) / math.sqrt(len(columns)))


def tails(values: Vector) -> tuple[float, float]:
    """Mean excess of a sample below its first and above its last tenth: the scale, where a tail is exponential."""
    low, high = np.quantile(values, [0.1, 0.9])
    return max(float((low - values[values < low]).mean()), 1e-300), max(float((values[values > high] - high).mean()), 1e-300)


def ends_on_both_sides(values: Vector, chance: float = 1e-5) -> bool:
    """True if exponential tails of the mean excess that a sample shows would have reached further, but for such a chance each.

    Gaussian tails fall off faster than exponential ones, and still reach twice as far as this asks.
    """
    low, high = np.quantile(values, [0.1, 0.9])
    below, above = tails(values)
    reaches = (low - values.min()) / below, (values.max() - high) / above
    return all(len(values) / 10 * math.log1p(-math.exp(-reach)) < math.log(chance) for reach in reaches if reach > 0)


def is_cut(values: Vector, scale: float) -> bool:
    """True if Laplace noise of this scale would have reached further in so many runs, but for one case in 10^6."""
    reach = float(np.abs(values - np.median(values)).max()) / scale
    return len(values) * math.log1p(-math.exp(-reach)) < math.log(1e-6)


def allowed(claim: Claim, law: str, count: int) -> float | None:
    """Return what a claim allows a move to cost under a law of noise, in the units of `Move.each`, None where no formula says."""
    guarantee = claim.guarantee
    if law == "laplace":
        if isinstance(guarantee, PureDP):
            return float(guarantee.epsilon)
        if isinstance(guarantee, ApproxDP) and count == 1:
            # Laplace noise of epsilon c has delta 1 - exp((epsilon - c) / 2).
            return float(guarantee.epsilon) - 2 * math.log1p(-float(guarantee.delta))
        return None
    match guarantee:
        case GDP(mu=mu):
            return float(mu)
        case ZCDP(rho=rho):
            return math.sqrt(2 * float(rho))
        case ApproxDP(epsilon=epsilon, delta=delta) if delta:
            return _mu_of(float(epsilon), float(delta))
        case RDP(orders=orders):
            return math.sqrt(min(2 * float(bound / order) for order, bound in orders))
        case _:
            return None


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Delta at epsilon of Gaussian noise on a move of `mu` deviations."""

    def below(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - math.exp(min(epsilon, 700)) * below(-mu / 2 - epsilon / mu)


def _mu_of(epsilon: float, delta: float) -> float:
    """The distance in deviations at which Gaussian noise has this delta at epsilon, by bisection."""
    low, high = 1e-6, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, epsilon) < delta else (low, middle)
    return low


def together(move: Move) -> float:
    """What the moves of all numbers cost together."""
    return float(move.each.sum()) if move.law == "laplace" else float(np.sqrt((move.each**2).sum()))
