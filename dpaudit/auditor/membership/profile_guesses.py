"""One run against a whole claimed curve: a linear program proposes a bound on right guesses, exact arithmetic certifies it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from dpaudit.auditor.events.points import claimed_delta, stated_point
from dpaudit.auditor.membership.experiments import SLACK, sampled_gaussian_experiment
from dpaudit.auditor.membership.guesses import CanaryGuesses, p_value_at
from dpaudit.auditor.membership.independent_guesses import independent_p_value
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.claims import GDP, Claim
from dpaudit.exact import Exact, ball, float_outward, in_range, instance_of, working_precision

POINTS: Final = 20
"""Points of the claimed curve that are used, in equal steps of epsilon."""

MOST_GUESSES: Final = 2000
"""Beyond so many guesses the linear program would take minutes, and the best single point is used."""

_BITS: Final = 128
_NEGLIGIBLE: Final = Fraction(1, 10**6)
_BISECTIONS: Final = 60
_MARGINS: Final = (1e-12, 1e-9, 1e-6)
"""How far the level that floats found is raised before it is proved. The linear program only proposes: ball arithmetic certifies
whichever level is returned, for these very guesses, so that trying several costs no error probability."""
_LARGEST_MU: Final = 16
_LARGEST_EPSILON: Final = 256
_MU_GRID: Final = 1024
_FIRST_TRY: Final = Fraction(3, 4)
"""Where the linear program is solved first, as a share of the bound for independent canaries."""

_ROUNDS: Final = 5
_CLOSE: Final = Fraction(1, 200)

Prices: TypeAlias = Sequence[float]


def guesses_p_value_under_claim(guesses: CanaryGuesses, claim: Claim) -> float:
    """Bound the probability of so many right guesses under anything that keeps a claim, curves included.

    Args:
      guesses: the outcome of the run.
      claim: any claim, for one canary put in or left out.
    Returns:
      A p-value in (0, 1], rounded up; at most that of `guesses_p_value` at any of the points of the curve that were used.
    Raises:
      InvalidArgument: no CanaryGuesses or no Claim (DPA105).
      Unsupported: the claim is a Curve of something that was not built with `dpaudit.accounting` (DPA202).
    Source: Mahloujifar, Melis, Chaudhuri 2025, for nested events; docs/membership.md, section 2, for all events at once.
    Example:
      >>> from dpaudit import Claim, GDP
      >>> guesses_p_value_under_claim(CanaryGuesses(canaries=1000, guessed=200, correct=198), Claim(GDP(mu=1))) < 0.01
      True
    """
    canaries = instance_of(guesses, CanaryGuesses, "guesses").canaries
    return p_value_on(guesses, curve_points(instance_of(claim, Claim, "claim"), canaries))


def p_value_on(guesses: CanaryGuesses, points: Sequence[ClaimPoint]) -> float:
    """Compute the p-value of `guesses_p_value_under_claim` from the points of a claim, one or many."""
    if guesses.guessed > MOST_GUESSES:
        return p_value_at(guesses, _sharpest(guesses, points))
    best = min(p_value_at(guesses, point) for point in points)
    if len(points) == 1 or guesses.correct == 0:
        return best
    return min(best, _certify_level(guesses, points, _propose_prices(guesses, points)))


def _sharpest(guesses: CanaryGuesses, points: Sequence[ClaimPoint]) -> ClaimPoint:
    """Choose the point with the smallest p-value by floats; it alone is then bounded in ball arithmetic, which is slow."""
    from scipy.special import bdtrc, gammaln, log_expit

    trials, right = guesses.guessed, guesses.correct
    places = np.array([float(point.epsilon) for point in points])
    deltas = np.array([float(point.delta) for point in points])
    tails = bdtrc(right - 1, trials, 1 / (1 + np.exp(-places))) if right else np.ones(len(points))
    ways = gammaln(trials + 1) - gammaln(right + 1) - gammaln(trials - right + 1)
    masses = np.exp(ways + right * log_expit(places) + (trials - right) * log_expit(-places))
    # Far out in the tail both underflow; the tail is then nearly a geometric sum of its terms.
    shrinking = (trials - right) / (right + 1) * np.exp(places)
    ratios = np.where(masses > 1e-280, tails / np.maximum(masses, 1e-280), 1 / np.maximum(1 - shrinking, 1e-9))
    found = tails + guesses.canaries * deltas * ratios * (1 - tails) / max(right, 1)
    return points[int(np.argmin(found))]


def canary_mu_bound(guesses: CanaryGuesses, *, alpha: Exact) -> Fraction:
    """Lower confidence bound on mu, for a mechanism whose curve is that of Gaussian noise.

    Args:
      guesses: the outcome of the run.
      alpha: error probability, in (0, 1).
    Returns:
      A number, at least 0 and below 16: if the mechanism is mu-GDP, it exceeds mu with probability at most `alpha`. Rounded down
      by at most 1/1024.
    Raises:
      InvalidArgument: alpha is no finite number (DPA101, DPA102) or out of range (DPA103), or no CanaryGuesses (DPA105).
    Source: Mahloujifar, Melis, Chaudhuri 2025; docs/membership.md, section 2.
    Example:
      >>> float(canary_mu_bound(CanaryGuesses(canaries=100, guessed=50, correct=50), alpha="0.05")) > 1
      True
    """
    level = in_range(alpha, "alpha", lower=0, upper=1, lower_open=True, upper_open=True)
    if instance_of(guesses, CanaryGuesses, "guesses").correct == 0:
        return Fraction(0)
    # Canaries that may depend on one another bound less than independent ones, which are quick to ask.
    top = _largest_mu(lambda mu: _is_refuted_if_independent(guesses, mu, level), Fraction(0), Fraction(_LARGEST_MU))
    top = min(Fraction(_LARGEST_MU), top + Fraction(2, _MU_GRID))
    if guesses.guessed > MOST_GUESSES:
        return _largest_mu(
            lambda mu: Fraction(p_value_on(guesses, curve_points(Claim(GDP(mu=mu)), guesses.canaries))) <= level, Fraction(0), top
        )
    best, at = Fraction(0), top * _FIRST_TRY
    for _ in range(_ROUNDS if at else 0):
        found = _largest_mu(_refuter(guesses, at, level), Fraction(0), top)
        best = max(best, found)
        if abs(found - at) <= _CLOSE:
            break
        at = found or at / 2
    return best


def _largest_mu(is_refuted: Callable[[Fraction], bool], low: Fraction, high: Fraction) -> Fraction:
    """Return the largest refuted mu between the ends, or `low`, on the grid of 1/1024."""
    first, last = int(low * _MU_GRID), math.ceil(high * _MU_GRID)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if is_refuted(Fraction(middle, _MU_GRID)) else (first, middle)
    return Fraction(first, _MU_GRID)


def _is_refuted_if_independent(guesses: CanaryGuesses, mu: Fraction, level: Fraction) -> bool:
    """True if independent canaries refute mu, or nearly: an upper end for canaries that may depend on one another."""
    experiment = sampled_gaussian_experiment(1.0, 1, 1 / float(mu))
    return independent_p_value(guesses.correct, guesses.guessed, guesses.canaries, experiment) - 2 * SLACK <= level


def _refuter(guesses: CanaryGuesses, at: Fraction, level: Fraction) -> Callable[[Fraction], bool]:
    """Return a test of any mu, with the places and prices that are best for one: the level they support does not depend on mu."""
    points = curve_points(Claim(GDP(mu=at)), guesses.canaries)
    prices = _propose_prices(guesses, points)
    supported = _supported_level(guesses, points, prices)

    def is_refuted(mu: Fraction) -> bool:
        delta = claimed_delta(Claim(GDP(mu=mu)))
        paid = sum((Fraction(price) * delta(point.epsilon) for price, point in zip(prices, points, strict=True)), Fraction(0))
        return Fraction(supported) + guesses.canaries * paid <= level

    return is_refuted


def curve_points(claim: Claim, canaries: int) -> tuple[ClaimPoint, ...]:
    """Return points that the claim implies: itself where it is one, else from epsilon 0 to where delta no longer matters."""
    stated = stated_point(claim)
    if stated is not None:
        return (stated,)
    delta = claimed_delta(claim)
    low, last = Fraction(0), Fraction(1, 4)
    while canaries * delta(last) > _NEGLIGIBLE and last < _LARGEST_EPSILON:
        low, last = last, 2 * last
    for _ in range(2):
        middle = (low + last) / 2
        low, last = (middle, last) if canaries * delta(middle) > _NEGLIGIBLE else (low, middle)
    places = [last * step / (POINTS - 1) for step in range(POINTS)]
    points = tuple(ClaimPoint(place, bound) for place in places if (bound := delta(place)) < 1)
    return points or (ClaimPoint(last, Fraction(1) - Fraction(1, 10**9)),)


def _propose_prices(guesses: CanaryGuesses, points: Sequence[ClaimPoint]) -> Prices:
    """Propose multipliers of the points, by the linear program in floating point; any non-negative ones give a valid bound."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    trials, count = guesses.guessed, len(points)
    right = np.arange(1, trials + 1, dtype=float)
    places, numbers, cells = np.arange(trials), trials + 1, trials * count
    rows, columns, values = [], [], []
    for number, point in enumerate(points):
        excess = number * trials + places
        odds = math.exp(float(point.epsilon))
        rows += [excess, excess, excess, np.full(trials, cells + number)]
        columns += [places + 1, places, numbers + excess, numbers + excess]
        values += [right / trials, -odds * (trials + 1 - right) / trials, -np.ones(trials), np.ones(trials)]
    budgets = [float(point.delta) * guesses.canaries / trials for point in points]
    found = linprog(  # type: ignore[call-overload] # sparse matrices are not in its stubs
        np.concatenate([np.where(np.arange(numbers) >= guesses.correct, -1.0, 0.0), np.zeros(cells)]),
        A_ub=coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))).tocsr(),
        b_ub=np.concatenate([np.zeros(cells), budgets]),
        A_eq=coo_matrix((np.ones(numbers), (np.zeros(numbers, dtype=int), np.arange(numbers))), shape=(1, numbers + cells)),
        b_eq=[1.0],
        method="highs",
    )
    if found.status != 0:
        return [0.0] * count
    return [max(0.0, -float(value)) / trials for value in found.ineqlin.marginals[cells:]]


def _certify_level(guesses: CanaryGuesses, points: Sequence[ClaimPoint], prices: Prices) -> float:
    """Add the budgets at their prices to the level that the prices support."""
    supported = _supported_level(guesses, points, prices)
    paid = sum((Fraction(price) * point.delta for price, point in zip(prices, points, strict=True)), Fraction(0))
    return min(1.0, float_outward(Fraction(supported) + guesses.canaries * paid, up=True))


def _supported_level(guesses: CanaryGuesses, points: Sequence[ClaimPoint], prices: Prices) -> float:
    """Find the least level that the prices support, proved in ball arithmetic; 1 where the proof fails."""
    odds = [math.exp(float(point.epsilon)) for point in points]
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if _is_supported(guesses, middle, prices, odds, float) else (middle, high)
    with working_precision(_BITS):
        exact = [ball(Fraction(price)) for price in prices]
        balls = [ball(point.epsilon).exp() for point in points]
        for margin in _MARGINS:
            level = min(1.0, high * (1 + margin) + 1e-15)
            if _is_supported(guesses, ball(Fraction(level)), exact, balls, lambda need: need.upper()):
                return level
    return 1.0


def _is_supported(
    guesses: CanaryGuesses, level: Any, prices: Sequence[Any], odds: Sequence[Any], rounded_up: Callable[[Any], Any]
) -> bool:
    """True if the dual of the linear program has a solution with this level and these prices (docs/membership.md, section 2).

    Works down from all guesses right to none. The multipliers of one number of right guesses must add up to `need`; the cheapest
    choice takes the points of small epsilon first, each up to its price, and charges the next number by their odds. More than is
    needed is a solution too, so that needs may be rounded up. Numbers are floats for the search and balls for the proof.
    """
    trials, charge = guesses.guessed, 0 * level
    for right in range(trials, 0, -1):
        need = rounded_up(((1 if right >= guesses.correct else 0) - level + charge * (trials - right)) / right)
        charge = 0 * level
        if need <= 0:
            continue
        for price, odd in zip(prices, odds, strict=True):
            if need <= price:
                charge, need = charge + need * odd, 0 * level
                break
            charge, need = charge + price * odd, need - price
        if not need <= 0:
            return False
    return bool(charge * trials <= level)
