"""Normal losses at a distance of public chance, alone or beside one loss of bounded range: their profile in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb

from dpaudit.accounting.laws.gaussian import PROFILE_SOURCE, gaussian_profile, twice_upper_tail
from dpaudit.accounting.laws.random_order import GROUND, Chances, Ordered
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.model.law import GaussianShaped, Law
from dpaudit.exact import ball

RANGE_SOURCE = "mean over the worst loss of bounded range, whose density is an exponential (docs/sampling_schemes.md, random order)"


@dataclass(frozen=True)
class NormalMixture:
    """N(mu, 1) against N(0, 1) beside mu^2, drawn from `squares`; everything with probability `beyond`; and a loss of `ranged`."""

    squares: Chances
    beyond: Fraction
    ranged: BoundedRange | None
    sources: tuple[str, ...]

    def profile(self, epsilon: arb) -> arb:
        one = partial(gaussian_profile, epsilon=epsilon) if self.ranged is None else _beside(self.ranged, epsilon)
        return sum((ball(chance) * one(square) for square, chance in self.squares), ball(self.beyond))


def mixture_of(parts: Sequence[tuple[Law, int]]) -> tuple[NormalMixture, tuple[tuple[Law, int], ...]] | None:
    """Gaussian laws, one random order and one bounded range as far as they are there, and the rest; None without the first two."""
    mu_squared = sum((count * law.mu_squared for law, count in parts if isinstance(law, GaussianShaped)), Fraction(0))
    rest = [part for part in parts if not isinstance(part[0], GaussianShaped)]
    ordered = next((law for law, count in rest if isinstance(law, Ordered) and count == 1), None)
    if not mu_squared and ordered is None:
        return None
    ranged = next((law for law, count in rest if isinstance(law, BoundedRange) and count == 1), None)
    sources = [PROFILE_SOURCE]
    if sum(count for law, count in parts if isinstance(law, GaussianShaped)) > 1:
        sources[0] += "; mu^2 adds up (Dong, Roth, Su 2022, Corollary 3.3)"
    squares: Chances = ((Fraction(0), Fraction(1)),)
    beyond = Fraction(0)
    if ordered is not None:
        squares, beyond = tuple((ordered.mu_squared_once * square, chance) for square, chance in ordered.squares), ordered.beyond
        sources.append(GROUND)
    if ranged is not None:
        sources.append(RANGE_SOURCE)
    moved = tuple((mu_squared + square, chance) for square, chance in squares)
    left = tuple((law, count) for law, count in rest if law not in (ordered, ranged))
    return NormalMixture(moved, beyond, ranged, tuple(sources)), left


def _beside(ranged: BoundedRange, epsilon: arb) -> Callable[[Fraction], arb]:
    """Delta of a normal loss and the worst loss of range r, independent: exp(e/2) (H(e - r) - H(e + r))/(2 sinh(r/2))."""
    # H(x) = exp(-x/2) T(x/mu - mu/2) + exp(x/2) T(x/mu + mu/2) - 2 exp(-mu^2/8) T(x/mu), with T the upper tail of N(0, 1).
    width, root, nothing = ball(ranged.epsilon), arb(2).sqrt(), ranged.profile(epsilon)
    low, high = epsilon - width, epsilon + width
    fall, rise = (low / 2).exp(), (high / 2).exp()
    scale = (epsilon / 2).exp() / (width / 2).sinh() / 4

    def delta(square: Fraction) -> arb:
        if not square:
            return nothing
        spread = ball(square).sqrt() * root
        near, far, half = low / spread, high / spread, spread / 4
        middle = 2 * (-half * half).exp() * (twice_upper_tail(near) - twice_upper_tail(far))
        left = twice_upper_tail(near - half) / fall - twice_upper_tail(far - half) / rise
        right = twice_upper_tail(near + half) * fall - twice_upper_tail(far + half) * rise
        return scale * (left + right - middle)

    return delta
