"""Second implementation of the noise laws for the sampler: mpmath's interval arithmetic in the place of python-flint's balls.

It shares no formula with `mechanisms.sampling.weights` where another one is at hand: a rounded Gaussian's probability is an
integral by Taylor's series around the integer instead of a difference of error functions, the error function is its own series of
positive terms, Gaussian totals are plain sums where those are short, and the float formula of the rounded Gaussian has another
correction and another, larger slack. Laws from here can be put under `envelope_table` and `draw`, so that the sampler runs on them.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, factorial, inf, log2

from flint import arb, ctx
from mpmath import iv

from dpaudit.exact import float_outward
from mechanisms.sampling.estimates import Estimate

GUARD = 40
LONG_SUM = 3000
SMALLEST_POWER = -10_000


@contextmanager
def interval_precision(bits):
    """Interval arithmetic at `bits` bits inside the block."""
    before, iv.prec = iv.prec, bits
    try:
        yield
    finally:
        iv.prec = before


def interval(value):
    """Interval around an exact rational."""
    value = Fraction(value)
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


def ends(value):
    """Both ends of an interval as Fractions; what is far too small to matter is moved outward."""
    low, high = value._mpi_
    return end(*low[:3], up=False), end(*high[:3], up=True)


def end(sign, man, exponent, *, up):
    """An end of an interval as a Fraction."""
    if exponent < SMALLEST_POWER:
        man, exponent = int(man) if up != bool(sign) else 0, SMALLEST_POWER
    return (-1) ** sign * int(man) * Fraction(2) ** exponent


def as_ball(value):
    """Ball of python-flint around an interval of mpmath, at flint's working precision."""
    low, high = (arb(((-1) ** sign * int(man), exponent)) for sign, man, exponent, _ in value._mpi_)
    return low.union(high)


def at_working_precision(function):
    """Run a computation with intervals at flint's working precision, with `GUARD` more bits, and give a ball."""
    with interval_precision(ctx.prec + GUARD):
        return as_ball(function())


def up_to(rest):
    """The interval [0, rest] above an interval's upper end."""
    return iv.mpf([0, 1]) * rest


def falling(value):
    """exp of minus a rational."""
    return iv.exp(-interval(value))


def geometric(first, ratio):
    """Everything from 0 to the sum of a series that starts with `first` and falls at least by `ratio` each time."""
    assert ends(ratio)[1] < 1
    return up_to(first / (1 - ratio))


def sum_of_weights(variance, start):
    """Sum of exp(-k^2 / (2 variance)) from `start` >= 1 on, term by term, with the rest below a geometric series."""
    total, k = iv.mpf(0), start
    while True:
        term, ratio = falling(k * k / (2 * variance)), falling((2 * k + 1) / (2 * variance))
        if k - start > LONG_SUM or log2_below(term, -iv.prec - GUARD):
            return total + geometric(term, ratio)
        total += term
        k += 1


def log2_below(value, power):
    """Whether an interval's upper end is below a power of two."""
    return ends(value)[1] < Fraction(2) ** power


def is_short(variance):
    """Whether the plain sum over all integers is short enough to be done."""
    return variance * 2 * (ctx.prec + 3 * GUARD) < LONG_SUM**2 / 4


def gaussian_total(variance):
    """Sum of exp(-k^2 / (2 variance)) over all integers; for wide laws by Poisson's formula, whose rest is geometric too."""
    if is_short(variance):
        return 1 + 2 * sum_of_weights(variance, 1)
    wave = iv.exp(-2 * iv.pi**2 * interval(variance))
    return iv.sqrt(2 * iv.pi * interval(variance)) * (1 + 2 * geometric(wave, wave))


def error_function(x):
    """erf at a non-negative interval: 2 x exp(-x^2) / sqrt(pi) times a series of positive terms (2 x^2)^n / (3 5 ... (2n + 1))."""
    square, term, total, n = x * x, iv.mpf(1), iv.mpf(0), 0
    while True:
        ratio = 2 * square / (2 * n + 3)
        if ends(ratio)[1] < Fraction(1, 2) and log2_below(term, -iv.prec - GUARD):
            break
        total += term
        term *= ratio
        n += 1
    series = total + geometric(term, ratio)
    return 2 * x * iv.exp(-square) * series / iv.sqrt(iv.pi)


def beyond(variance, place):
    """P[N > place] of a continuous Gaussian; `place` a rational of any sign. Half minus an error function, so with more bits."""
    size = abs(Fraction(place))
    lost = int(size**2 / (2 * variance) / Fraction(69, 100)) + 16
    with interval_precision(iv.prec + lost):
        half = error_function(interval(size) / iv.sqrt(2 * interval(variance))) / 2
        return iv.mpf("0.5") - half if place >= 0 else iv.mpf("0.5") + half


def cell_integral(variance, k):
    """Integral of exp(-t^2 / (2 variance)) over [k - 1/2, k + 1/2], by Taylor's series around k.

    With a = k / v and b = 1 / (2 v) the integrand is exp(-k^2 / (2 v)) times g(t) = exp(-a t - b t^2). On a circle of radius R
    |g| is at most exp(a R + b R^2), which bounds the n-th coefficient by that over R^n.
    """
    a, b = abs(k) / Fraction(variance), 1 / (2 * Fraction(variance))
    radius = Fraction(1)
    while a * 2 * radius + b * 4 * radius**2 <= 40:
        radius *= 2
    bound = iv.exp(interval(a * radius + b * radius**2))
    slope, curve = interval(a), interval(2 * b)
    before, coefficient, total, n = iv.mpf(0), iv.mpf(1), iv.mpf(0), 0
    shrink = 1 / (4 * interval(radius) ** 2)
    rest = bound
    while not log2_below(rest, -iv.prec - GUARD):
        total += coefficient / (4 ** (n // 2) * (n + 1))
        for _ in range(2):
            before, coefficient = coefficient, (-slope * coefficient - curve * before) / (n + 1)
            n += 1
        rest *= shrink
    whole = total + iv.mpf([-1, 1]) * (rest / (1 - shrink))
    return falling(k * k / (2 * Fraction(variance))) * whole


@dataclass(frozen=True)
class IntervalLaplace:
    """Discrete Laplace law."""

    scale: Fraction
    cut = Fraction(30)

    @property
    def width_squared(self):
        return self.scale**2

    def weight(self, k):
        return at_working_precision(lambda: falling(abs(k) / self.scale))

    def decay(self, start):
        return 1 / self.scale

    def estimate(self, shift, reach):
        return Estimate(rate=float(2**shift / self.scale), power=1)

    def pmf(self, k):
        ratio = falling(1 / self.scale)
        return (1 - ratio) / (1 + ratio) * falling(abs(k) / self.scale)

    def tail(self, k):
        return falling(k / self.scale) / (1 + falling(1 / self.scale))


@dataclass(frozen=True)
class IntervalGaussian:
    """Discrete Gaussian law."""

    variance: Fraction
    cut = Fraction(19, 2)

    @property
    def width_squared(self):
        return self.variance

    def weight(self, k):
        return at_working_precision(lambda: falling(k * k / (2 * self.variance)))

    def decay(self, start):
        return start / self.variance

    def estimate(self, shift, reach):
        return Estimate(rate=float(4**shift / (2 * self.variance)), power=2)

    def pmf(self, k):
        return falling(k * k / (2 * self.variance)) / gaussian_total(self.variance)

    def tail(self, k):
        """P[X >= k] for k >= 1; the sum of a wide law is its integral and half its first term, with an error of |f'| in all / 8."""
        if is_short(self.variance):
            return sum_of_weights(self.variance, k) / gaussian_total(self.variance)
        variance = interval(self.variance)
        first = falling(k * k / (2 * self.variance))
        slope = k / variance * first
        variation = slope if k * k > self.variance else 2 * iv.exp(iv.mpf("-0.5")) / iv.sqrt(variance)
        integral = iv.sqrt(2 * iv.pi * variance) * beyond(self.variance, k)
        return (integral + first / 2 + iv.mpf([-1, 1]) * variation / 8) / gaussian_total(self.variance)


@dataclass(frozen=True)
class IntervalRounded:
    """Rounded Gaussian law."""

    sigma: Fraction
    cut = Fraction(19, 2)

    @property
    def width_squared(self):
        return self.sigma**2

    def weight(self, k):
        return at_working_precision(lambda: cell_integral(self.sigma**2, k) / self._centre(iv.prec))

    @lru_cache(maxsize=8)  # noqa: B019 - laws are few, and values
    def _centre(self, precision):
        return cell_integral(self.sigma**2, 0)

    def decay(self, start):
        return (2 * start - 1) / (2 * self.sigma**2)

    def estimate(self, shift, reach):
        """Weight = theta exp(-k^2 / (2 v)) sinh(y) / y with y = k / (2 v), theta from exp(-1 / (8 v)) to 1, sinh cut after y^7."""
        variance = self.sigma**2
        rate, farthest = float(4**shift / (2 * variance)), reach * 2**shift / (2 * variance)
        if farthest > 1 or variance < 1:
            return Estimate(rate=rate, power=2, slack=inf)
        per_block = (2**shift / (2 * variance)) ** 2
        correction = tuple(float(per_block**i / factorial(2 * i + 1)) for i in range(4))
        slack = Fraction(exp(1 / (8 * float(variance)))) - 1 + 2 * farthest**8 / factorial(9)
        return Estimate(rate=rate, power=2, correction=correction, slack=float_outward(slack * Fraction(9, 8), up=True))

    def pmf(self, k):
        return cell_integral(self.sigma**2, k) / iv.sqrt(2 * iv.pi * interval(self.sigma**2))

    def tail(self, k):
        return beyond(self.sigma**2, k - Fraction(1, 2))


def relative_bits(value):
    """How many bits of a positive interval are known: minus the logarithm of its width over its lower end."""
    low, high = ends(value)
    return inf if low == high else -log2((high - low) / low) if low > 0 else 0
