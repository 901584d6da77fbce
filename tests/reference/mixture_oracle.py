"""Hockey-stick divergences of mixtures by integrating the positive part of a difference of densities, in 40 digits."""

from __future__ import annotations

from itertools import pairwise

from mpmath import binomial, exp, inf, log, mp, mpf, npdf, quad, sqrt

mp.dps = 40


def mean_density(parts, density):
    """The density of a mean of shifted laws."""
    return lambda x: sum(weight * density(x - centre) for centre, weight in parts)


def normal(sigma):
    """The density of noise, and pieces beyond which nothing is left."""
    return lambda x: npdf(x, 0, sigma)


def laplace(scale):
    """The density of Laplace noise."""
    return lambda x: exp(-abs(x) / scale) / (2 * scale)


def divergence(p, q, a, ends):
    """The integral of (p - a q)+; `ends` split the line where densities have kinks or hills."""
    total, places = mpf(0), sorted(ends)
    pieces = [left + (right - left) * i / 3 for left, right in pairwise(places) for i in range(3)]
    for left, right in zip(pieces, [*pieces[1:], places[-1]], strict=True):
        gains = p(left) > a * q(left), p(right) > a * q(right)
        if gains == (False, False):
            continue
        piece = [left, right]
        if gains[0] != gains[1]:  # the ratio rises, so there is one place where it passes a
            low, high = left, right
            for _ in range(140):
                middle = (low + high) / 2
                low, high = (low, middle) if (p(middle) > a * q(middle)) == gains[1] else (middle, high)
            piece = [high, right] if gains[1] else [left, low]
        total += quad(lambda x: p(x) - a * q(x), piece)
    return total


def of_normal_mixtures(up, down, sigma, epsilon):
    """Delta of sum p N(c, sigma^2) against sum q N(-d, sigma^2)."""
    p = mean_density([(mpf(c), mpf(w)) for c, w in up], normal(sigma))
    q = mean_density([(-mpf(d), mpf(w)) for d, w in down], normal(sigma))
    low, high = -max(d for d, _ in down) - 16 * sigma, max(c for c, _ in up) + 16 * sigma
    hills = [mpf(c) for c, _ in up] + [-mpf(d) for d, _ in down]
    return divergence(p, q, exp(mpf(epsilon)), {low, high, *hills})


def of_laplace_mixtures(up, down, scale, epsilon):
    """The same for Laplace noise."""
    p = mean_density([(mpf(c), mpf(w)) for c, w in up], laplace(scale))
    q = mean_density([(-mpf(d), mpf(w)) for d, w in down], laplace(scale))
    low, high = -max(d for d, _ in down), max(c for c, _ in up)
    a = exp(mpf(epsilon))
    inner = divergence(p, q, a, {mpf(low), mpf(high), *(mpf(c) for c, _ in up), *(-mpf(d) for d, _ in down)})
    tails = [
        quad(lambda x: max(p(x) - a * q(x), mpf(0)), piece)
        for piece in ([mpf(high), high + 100 * scale, inf], [-inf, low - 100 * scale, mpf(low)])
    ]
    return inner + sum(tails)


def of_two_releases(up, down, sigma, epsilon):
    """Delta of two such releases: one is integrated over the loss of the other, with its own divergence inside."""
    p = mean_density([(mpf(c), mpf(w)) for c, w in up], normal(sigma))
    q = mean_density([(-mpf(d), mpf(w)) for d, w in down], normal(sigma))
    low, high = -max(d for d, _ in down) - 12 * sigma, max(c for c, _ in up) + 12 * sigma
    mp.dps = 18
    try:

        def inner(x):
            return p(x) * of_normal_mixtures(up, down, sigma, mpf(epsilon) - log(p(x) / q(x)))

        step = (high - low) / 120  # the trapezoidal rule, whose error is far below that of 18 digits for entire integrands
        return step * sum(inner(low + step * i) for i in range(121))
    finally:
        mp.dps = 40


def binomial_weights(size, rate):
    """How many of a group are drawn."""
    return [(mpf(i), binomial(size, i) * mpf(rate) ** i * (1 - mpf(rate)) ** (size - i)) for i in range(size + 1)]


def of_two_slots(sigma, epsilon):
    """Delta of one of two slots, the record removed: (R1 + R2)/2 under independent standard normal outputs."""
    mu, a = 1 / mpf(sigma), exp(mpf(epsilon))

    def call(strike):
        """E(R - strike)+ of one log-normal ratio."""
        if strike <= 0:
            return 1 - strike
        place = log(strike) / mu + mu / 2
        return mp.erfc((place - mu) / sqrt(2)) / 2 - strike * mp.erfc(place / sqrt(2)) / 2

    edge = (log(2 * a) + mu**2 / 2) / mu
    low = -14 + min(0, edge)
    inner = quad(
        lambda u: npdf(edge - exp(-u)) * call(2 * a - exp(mu * (edge - exp(-u)) - mu**2 / 2)) * exp(-u),
        [-log(edge - low), -1, 0, 1, 2, 4, 8, 16, 60],
    )
    beyond = mp.erfc((edge - mu) / sqrt(2)) / 2 + (1 - 2 * a) * mp.erfc(edge / sqrt(2)) / 2
    return (inner + beyond) / 2
