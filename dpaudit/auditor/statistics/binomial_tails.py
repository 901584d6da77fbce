"""The upper tail of a binomial law, enclosed in ball arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from flint import arb

_MOST_SUMMED: Final = 2**20
_TERMS_BETWEEN_LOOKS: Final = 8


def upper_tail(successes: int, trials: int, probability: arb) -> arb:
    """P[Bin(trials, probability) >= successes] at the working precision.

    The side on which the terms fall is summed until a geometric series of them bounds the rest. That takes about the square root
    of the trials, and for so many that it would be slow the regularised incomplete beta function is asked instead.
    """
    if trials > _MOST_SUMMED:
        return probability.beta_lower(successes, trials - successes + 1, 1)
    failure = 1 - probability
    if probability * (trials - successes) < (successes + 1) * failure:
        return _falling(successes, trials, probability, failure)
    return 1 - _falling(trials - successes + 1, trials, failure, probability)


def _falling(successes: int, trials: int, probability: arb, failure: arb) -> arb:
    """The tail where each of its terms is smaller than the one before."""
    from flint import arb, ctx

    odds, negligible = probability / failure, arb(2) ** -ctx.prec
    total = term = arb(1)
    for place in range(successes, trials):
        term = term * odds * (trials - place) / (place + 1)
        total += term
        if place % _TERMS_BETWEEN_LOOKS == 0 and term < negligible:
            ratio = odds * (trials - place - 1) / (place + 2)
            total = total.union(total + term * ratio / (1 - ratio))
            break
    return arb.bin_uiui(trials, successes) * probability**successes * failure ** (trials - successes) * total
