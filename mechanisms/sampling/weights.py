"""Balls around the probabilities of the integer noise laws: weights, normalisers, tails and variances, as series with bounded rest.

Every function works at the current working precision and returns a ball that holds the real number whatever that precision is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final

from flint import arb, ctx, fmpq

from dpaudit.exact import ball, working_precision

LAPLACE_CUT: Final = Fraction(30)
"""Blocks of the sampler reach this many scales; 1e-13 of the law lies beyond, in tails that are drawn exactly too."""

GAUSSIAN_CUT: Final = Fraction(19, 2)
"""Blocks of the sampler reach this many sigma; 2e-21 of the law lies beyond, in tails that are drawn exactly too."""

DIRECT_TERMS: Final = 2000
"""Gaussian tails are summed term by term up to this many terms, else by the Euler-Maclaurin formula."""


def _logarithm(value: Fraction) -> int:
    """Roughly the base-2 logarithm of a positive value, for guard bits."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def laplace_weight(scale: Fraction, k: int) -> arb:
    """exp(-|k| / scale)."""
    return arb(fmpq(-abs(k) * scale.denominator, scale.numerator)).exp()


def laplace_variance(scale: Fraction) -> arb:
    """E X^2 = 2 q / (1 - q)^2 = 1 / (2 sinh(1 / (2 scale))^2) with q = exp(-1 / scale)."""
    if scale < 1:
        ratio = laplace_weight(scale, 1)
        return 2 * ratio / (1 - ratio) ** 2
    return 1 / (2 * ball(1 / (2 * scale)).sinh() ** 2)


def gaussian_weight(variance: Fraction, k: int) -> arb:
    """exp(-k^2 / (2 variance))."""
    return arb(fmpq(-k * k * variance.denominator, 2 * variance.numerator)).exp()


def _falling_sum(term: Callable[[int], arb]) -> arb:
    """Sum of term(1), term(2), ... whose sizes at least halve each time, so that the rest is at most twice its first term."""
    total, tiny = term(1), arb((1, -ctx.prec - 8))
    for index in range(2, ctx.prec + 64):
        following = term(index)
        if abs(following) < tiny * abs(total):
            break
        total += following
    return total + arb(0, (2 * abs(following)).upper())


def _theta(exponent: arb) -> arb:
    """Sum of exp(-exponent j^2) over all integers j, for an exponent of at least 3."""
    return 1 + 2 * _falling_sum(lambda j: (-exponent * (j * j)).exp())


def _is_narrow(variance: Fraction) -> bool:
    """True if a Gaussian is so narrow that its own series falls faster than the one of its Fourier transform."""
    return variance < Fraction(1, 6)


def gaussian_total(variance: Fraction) -> arb:
    """Sum of exp(-k^2 / (2 variance)) over all integers, directly or by Poisson's summation formula."""
    if _is_narrow(variance):
        return _theta(ball(1 / (2 * variance)))
    return (2 * arb.pi() * ball(variance)).sqrt() * _theta(_dual(variance))


def _dual(variance: Fraction) -> arb:
    """2 pi^2 variance, the exponent of the Fourier series."""
    return 2 * arb.pi() ** 2 * ball(variance)


def gaussian_variance(variance: Fraction) -> arb:
    """E X^2 of the discrete Gaussian; by Poisson's formula s - 8 pi^2 s^2 sum j^2 exp(-2 pi^2 s j^2) / theta for parameter s."""
    if _is_narrow(variance):
        return 2 * _falling_sum(lambda j: j * j * gaussian_weight(variance, j)) / gaussian_total(variance)
    dual = _dual(variance)
    correction = _falling_sum(lambda j: j * j * (-dual * (j * j)).exp()) / _theta(dual)
    return ball(variance) * (1 - 4 * dual * correction)


def gaussian_tail(variance: Fraction, k: int) -> arb:
    """P[X >= k] of the discrete Gaussian for k >= 1."""
    terms = isqrt(int(k * k + 2 * variance * ctx.prec)) + 2 - k
    above = _summed_tail(variance, k, terms) if terms <= DIRECT_TERMS else _euler_maclaurin_tail(variance, k)
    return above / gaussian_total(variance)


def _summed_tail(variance: Fraction, k: int, terms: int) -> arb:
    """Weight at and beyond k from its first terms and a geometric bound on the rest."""
    total = sum((gaussian_weight(variance, j) for j in range(k, k + terms)), start=arb(0))
    rest = gaussian_weight(variance, k + terms) / -(-ball((k + terms) / variance)).expm1()
    return total + arb(0, rest.upper())


def _euler_maclaurin_tail(variance: Fraction, k: int) -> arb:
    """Weight at and beyond k from the integral, half the first term and the derivatives at k (Hermite polynomials).

    After p corrections the rest is at most |B_2p| / (2p)! times the integral of the absolute 2p-th derivative, which Cramer's bound
    |He_n(x)| <= 1.0865 sqrt(n!) exp(x^2 / 4) makes explicit.
    """
    sigma = ball(variance).sqrt()
    place = k / sigma
    first = gaussian_weight(variance, k)
    total = sigma * (arb.pi() / 2).sqrt() * (place / arb(2).sqrt()).erfc() + first / 2
    rest_scale = sigma * arb.pi().sqrt() * (place / 2).erfc() * 10865 / 10000
    goal = first * arb((1, -ctx.prec))
    for order, (bernoulli, hermite, factorial) in enumerate(_corrections(place), start=1):
        total += bernoulli / factorial * hermite * first / sigma ** (2 * order - 1)
        rest = abs(bernoulli) / arb(factorial).sqrt() * rest_scale / sigma ** (2 * order)
        if rest < goal or order >= ctx.prec:
            return total + arb(0, rest.upper())
    raise AssertionError("the corrections never end")


def _corrections(place: arb) -> Iterator[tuple[arb, arb, int]]:
    """For p = 1, 2, ...: the Bernoulli number B_2p, the Hermite polynomial He_(2p-1) at `place`, and (2p)!."""
    before, hermite, factorial, order = arb(1), place, 2, 1
    while True:
        yield arb.bernoulli(2 * order), hermite, factorial
        for degree in (2 * order - 1, 2 * order):
            before, hermite = hermite, place * hermite - degree * before
        order += 1
        factorial *= (2 * order - 1) * 2 * order


def rounded_weight(variance: Fraction, k: int) -> arb:
    """P[X = k] / P[X = 0] of a Gaussian rounded to the nearest integer."""
    return rounded_probability(variance, k) / _rounded_centre(variance, ctx.prec)


@lru_cache(maxsize=64)
def _rounded_centre(variance: Fraction, precision: int) -> arb:
    """P[X = 0] at a working precision, kept because every weight divides by it."""
    with working_precision(precision):
        return rounded_probability(variance, 0)


def rounded_probability(variance: Fraction, k: int) -> arb:
    """P[X = k] of a rounded Gaussian: a difference of error functions, at the precision that its cancellation costs."""
    with working_precision(ctx.prec + 16 + max(0, _logarithm(variance))):
        if k == 0:
            return (1 / _rounded_root(variance, ctx.prec)).erf()
        return _rounded_beyond(variance, abs(k), ctx.prec) - _rounded_beyond(variance, abs(k) + 1, ctx.prec)


@lru_cache(maxsize=64)
def _rounded_beyond(variance: Fraction, k: int, precision: int) -> arb:
    """P[X >= k] at a working precision, kept because the next integer's probability needs it too."""
    with working_precision(precision):
        return rounded_tail(variance, k)


@lru_cache(maxsize=64)
def _rounded_root(variance: Fraction, precision: int) -> arb:
    """Square root of 8 times the variance at a working precision, kept because every error function divides by it."""
    with working_precision(precision):
        return ball(8 * variance).sqrt()


def rounded_tail(variance: Fraction, k: int) -> arb:
    """P[X >= k] of a rounded Gaussian."""
    return ((2 * k - 1) / _rounded_root(variance, ctx.prec)).erfc() / 2


def rounded_variance(variance: Fraction) -> arb:
    """E X^2 of a rounded Gaussian: 2 sum (2k - 1) P[X >= k], or the parameter plus 1/12 with a Fourier series in j."""
    if _is_narrow(variance):
        return 2 * _falling_sum(lambda k: (2 * k - 1) * rounded_tail(variance, k))
    dual, square = _dual(variance), arb.pi() ** 2
    waves = _falling_sum(lambda j: (-1) ** j * (-dual * (j * j)).exp() * (4 * ball(variance) + 1 / (square * (j * j))))
    return ball(variance) + arb(1) / 12 + waves
