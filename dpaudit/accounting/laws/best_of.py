"""Losses of choices: the best output of a random number of runs, permute-and-flip, noisy maximum, top-k, sparse vector."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.response import Response, pure_response
from dpaudit.accounting.model.law import FiniteLosses, Law, OnlyAbove, Symmetric, Unbounded
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball, ball_endpoints, in_range, positive, rational, shown, working_precision

LEAST_STOP: Final = 128  # The smallest probability of stopping that a mean number of runs is turned into is 2 to minus this
STOP_BITS: Final = 48  # Bits of it


@dataclass(frozen=True)
class BestOf(Symmetric, FiniteLosses, Unbounded, OnlyAbove):
    """The best output of K runs of a mechanism that is rho-zCDP, K negative binomial above 0."""

    # K has P[K = k] proportional to (1 - stop)^k times the product of (l + shape) / (l + 1) over l below k.
    rho: Fraction
    shape: Fraction
    stop: Fraction

    def describe(self) -> str:
        return f"best_of_runs(rho={shown(self.rho)}, shape={shown(self.shape)}, stop={shown(self.stop)})"

    def log_moment(self, order: Fraction) -> arb:
        """Order (1 + order) rho of one run, order times what the others add, and the logarithm of how many runs are expected."""
        return ball(order * (1 + order) * self.rho) + ball(order) * self._others() + expected_runs(self.shape, self.stop).log()

    def bracket_source(self) -> str:
        return "a bound on moments holds from above only; it covers every mechanism and every order of its outputs"

    def _others(self) -> arb:
        """(1 + shape) times the least of (a - 1) rho + log(1 / stop) / a over orders a >= 1."""
        rest, rho = -ball(self.stop).log(), ball(self.rho)
        # The order 1 gives log(1 / stop); the best, the root of log(1 / stop) / rho, is one where that is larger.
        least = 2 * (rest * rho).sqrt() - rho if bool(rest > rho) else rest
        return ball(1 + self.shape) * least


@dataclass(frozen=True)
class BestOfPoisson(Symmetric, FiniteLosses, Unbounded, OnlyAbove):
    """The best output of K runs of a mechanism that is mu-GDP, K Poisson above 0: P[K = k] proportional to mean^k / k!."""

    mu: Fraction
    mean: Fraction

    def describe(self) -> str:
        return f"best_of_poisson_runs(mu={shown(self.mu)}, mean={shown(self.mean)})"

    def log_moment(self, order: Fraction) -> arb:
        """Order (1 + order) mu^2 / 2 of one run, order mean delta for the others, and the logarithm of the expected number."""
        # Delta is that of a run at the epsilon log(1 + 1 / order).
        mu, factor = ball(self.mu), ball((1 + order) / order)
        away = factor.log() / mu
        delta = _below(mu / 2 - away) - factor * _below(-mu / 2 - away)
        expected = ball(self.mean) / -(-ball(self.mean)).expm1()
        return ball(order * (1 + order) * self.mu**2 / 2) + ball(order * self.mean) * delta + expected.log()

    def bracket_source(self) -> str:
        return "a bound on moments holds from above only; it covers every mechanism and every order of its outputs"


def _below(place: arb) -> arb:
    """Mass of the normal law below a place."""
    return (-place / arb(2).sqrt()).erfc() / 2


def expected_runs(shape: Fraction, stop: Fraction) -> arb:
    """Ball around the expected number of runs, at the current working precision (Papernot, Steinke 2022, Definition 1)."""
    left = ball((1 - stop) / stop)
    if shape == 0:
        return left / -ball(stop).log()
    return left * ball(shape) / -(ball(shape) * ball(stop).log()).expm1()


def stop_of_mean(shape: Fraction, mean: Fraction) -> Fraction:
    """A probability of stopping at which at least `mean` runs are expected, next to the largest; DPA103 where there is none."""
    # More runs are expected the smaller it is, and every bound on their best rises with them.
    least = next((power for power in range(1, LEAST_STOP) if _reaches(shape, Fraction(1, 2**power), mean)), None)
    if mean <= 1 or least is None:
        raise InvalidArgument("DPA103", f"mean must be above 1 and not beyond all runs, got {shown(mean)}.")
    low, high = Fraction(1, 2**least), Fraction(2, 2**least)
    for _ in range(STOP_BITS):
        middle = (low + high) / 2
        low, high = (middle, high) if _reaches(shape, middle, mean) else (low, middle)
    return low


def _reaches(shape: Fraction, stop: Fraction, mean: Fraction) -> bool:
    """True if so many runs are certainly expected."""
    with working_precision(256):
        return bool(expected_runs(shape, stop) >= ball(mean))


def checked_mean(mean: Exact) -> Fraction:
    """The parameter of a Poisson number of runs, refused out of its range."""
    return in_range(positive(mean, "mean"), "mean", lower=0, upper=1000)


def best_of_pure(epsilon: Fraction, shape: Fraction) -> Law:
    """The law where a run is pure: moments of every order, in the limit."""
    total = (2 + shape) * epsilon
    name = f"best_of_runs(epsilon={shown(epsilon)}, shape={shown(shape)})"
    return Between(name, Response(total, name), None, "(2 + shape) times the epsilon of a run (Papernot, Steinke 2022)")


def checked_runs(shape: Exact, stop: Exact) -> tuple[Fraction, Fraction]:
    """The parameters of a number of runs, refused out of their ranges."""
    number, end = rational(shape, "shape"), rational(stop, "stop")
    if not -1 < number <= 1 << 20:
        raise InvalidArgument("DPA103", f"shape must be above -1 and at most 2**20, got {shown(number)}.")
    if not 0 < end < 1:
        raise InvalidArgument("DPA103", f"stop must be above 0 and below 1, got {shown(end)}.")
    return number, end


def permute_and_flip_law(epsilon: Fraction) -> Law:
    """Permute-and-flip: pure; at least what it loses between two candidates whose scores are exchanged."""
    with working_precision(128):
        exchanged = ball_endpoints((2 * ball(epsilon / 2).exp() - 1).log())[0]
    name = f"permute_and_flip(epsilon={shown(epsilon)})"
    kept = Response(Fraction(exchanged), f"{name} between two exchanged scores") if exchanged > 0 else None
    ground = "pure epsilon-DP (McKenna, Sheldon 2020); exchanged scores at distance epsilon/2 have odds 2 exp(epsilon/2) - 1 to 1"
    return Between(name, pure_response(epsilon), kept, ground)


def noisy_max_law(epsilon: Fraction) -> Law:
    """Report noisy max: pure, in any order of tied candidates that does not depend on the scores."""
    ground = "noise whose tail falls by at most a factor exp(-d / scale) in d steps; docs/selection_and_queries.md"
    return Between(f"noisy_max(epsilon={shown(epsilon)})", pure_response(epsilon), None, ground)


def top_k_choice_law(epsilon: Fraction, choice: Law | None = None) -> Law:
    """One of k choices: the others see fewer candidates, and which ones is known from the choices before; pure unless stated."""
    ground = "each choice is made by a mechanism of this guarantee among the remaining candidates; docs/selection_and_queries.md"
    return Between(f"choice_of_top_k(epsilon={shown(epsilon)})", choice or pure_response(epsilon), None, ground)


def comparison_law(kind: str, epsilon: Fraction) -> Law:
    """A run of noisy comparisons with one noisy threshold."""
    ground = "a whole run is pure epsilon-DP (Lyu, Su, Li 2017; docs/selection_and_queries.md); no lower bound is known"
    return Between(f"{kind}(epsilon={shown(epsilon)})", pure_response(epsilon), None, ground)
