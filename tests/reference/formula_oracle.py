"""Published formulas, exact enumerations and products written out: the second of two methods behind the reference table.

It shares no code with `dpaudit` and none with `accounting_oracle.py`, whose integrals and sums are the definitions themselves.
Every function gives delta at an epsilon, unless its name says otherwise.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from math import comb

from mpmath import mp, mpf


def _number(text):
    """An exact number, from a text such as "1/3", rounded once."""
    exact = Fraction(text)
    return mpf(exact.numerator) / exact.denominator


def _tail(x):
    """Upper tail of the standard normal law."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def gaussian(epsilon, *, mu_squared):
    """Balle and Wang 2018, Theorem 8."""
    epsilon, mu = mpf(epsilon), mp.sqrt(_number(mu_squared))
    return _tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * _tail(epsilon / mu + mu / 2)


def laplace(epsilon, *, scale, sensitivity=1):
    """Balle, Barthe, Gaboardi 2018, Theorem 3, continued to negative epsilons."""
    epsilon, pure = mpf(epsilon), _number(sensitivity) / _number(scale)
    if abs(epsilon) > pure:
        return max(mpf(0), 1 - mp.exp(epsilon))
    return 1 - mp.exp((epsilon - pure) / 2)


def discrete_laplace(epsilon, *, scale, sensitivity):
    """Geometric tails of P and Q from the first integer at which the loss exceeds epsilon."""
    epsilon, scale = mpf(epsilon), _number(scale)
    ratio = mp.exp(-1 / scale)
    start = int(mp.floor((sensitivity + epsilon * scale) / 2)) + 1

    def from_on(place):
        """P(X >= place) for noise around 0."""
        return ratio**place / (1 + ratio) if place > 0 else 1 - ratio ** (1 - place) / (1 + ratio)

    return max(mpf(0), from_on(start - sensitivity) - mp.exp(epsilon) * from_on(start)) if start <= sensitivity else mpf(0)


def discrete_gaussian(epsilon, *, sigma_squared, sensitivity):
    """Upper tails from the first integer at which the loss exceeds epsilon, over the normaliser by Poisson summation."""
    epsilon, variance = mpf(epsilon), _number(sigma_squared)
    whole = mp.sqrt(2 * mp.pi * variance) * (1 + 2 * mp.nsum(lambda n: mp.exp(-2 * (mp.pi * n) ** 2 * variance), [1, mp.inf]))
    start = int(mp.floor(variance * epsilon / sensitivity + mpf(sensitivity) / 2)) + 1
    growth, gain, x = mp.exp(epsilon), mpf(0), start
    while True:
        near, far = mp.exp(-(mpf(x - sensitivity) ** 2) / (2 * variance)), mp.exp(-(mpf(x) ** 2) / (2 * variance))
        gain += near - growth * far
        x += 1
        if x > sensitivity and near < gain * mpf(10) ** -(mp.dps + 5):
            return gain / whole


def discrete_laplaces(epsilon, *, scale, count):
    """Sensitivity 1: the loss of one release is 1/scale up or down, so that of many is that of binary responses."""
    return responses(epsilon, step=1 / Fraction(scale), categories=2, count=count)


def discrete_gaussians(epsilon, *, sigma_squared, sensitivity, count):
    """The law of the sum of the noises, from which the loss follows; it has a threshold."""
    epsilon, variance = mpf(epsilon), _number(sigma_squared)
    reach = int(mp.sqrt(variance * 400)) + 10 + sensitivity
    one = {x: mp.exp(-mpf(x * x) / (2 * variance)) for x in range(-reach, reach + 1)}
    whole, law = sum(one.values()) ** count, {0: mpf(1)}
    for _ in range(count):
        following = Counter()
        for (here, mass), (move, weight) in product(law.items(), one.items()):
            following[here + move] += mass * weight
        law = following
    middle = mpf(count * sensitivity) / 2
    losses = ((sensitivity * (x + middle) / variance, mass) for x, mass in law.items())
    return sum(mass * -mp.expm1(epsilon - loss) for loss, mass in losses if loss > epsilon) / whole


def sampled_responses(epsilon, *, step, rate, count):
    """The worse of the two directions, each law convolved step by step."""
    step, rate, growth = _number(step), _number(rate), mp.exp(mpf(epsilon))
    up = mp.exp(step) / (1 + mp.exp(step))
    mixed, plain = [rate * up + (1 - rate) * (1 - up), rate * (1 - up) + (1 - rate) * up], [1 - up, up]
    laws = []
    for high, low in (mixed, plain):
        law = [mpf(1)]
        for _ in range(count):
            law = [high * a + low * b for a, b in zip([mpf(0), *law], [*law, mpf(0)], strict=True)]
        laws.append(law)
    one, other = laws
    return max(
        sum(max(mpf(0), a - growth * b) for a, b in zip(left, right, strict=True)) for left, right in ((one, other), (other, one))
    )


def responses(epsilon, *, step, categories, count, delta=0, mu_squared=0):
    """The law of one response convolved with itself step by step, next to a Gaussian's closed profile or not."""
    step, delta = _number(step), _number(delta)
    whole = mp.exp(step) + categories - 1
    one = {1: mp.exp(step) / whole, -1: 1 / whole, 0: mpf(categories - 2) / whole}
    law = {0: mpf(1)}
    for _ in range(count):
        following = Counter()
        for (here, mass), (move, chance) in product(law.items(), one.items()):
            following[here + move] += mass * chance
        law = following
    if mu_squared:
        finite = sum(mass * gaussian(mpf(epsilon) - ups * step, mu_squared=mu_squared) for ups, mass in law.items())
    else:
        finite = sum(mass * max(mpf(0), -mp.expm1(mpf(epsilon) - ups * step)) for ups, mass in law.items())
    revealed = -mp.expm1(count * mp.log1p(-delta))
    return revealed + (1 - revealed) * finite


def bounded_range(epsilon, *, width):
    """The largest of the two-point profiles, at the loss half way between epsilon and the width."""
    width = _number(width)
    return (mp.exp(width / 2) - mp.exp(mpf(epsilon) / 2)) ** 2 / mp.expm1(width)


def staircase(epsilon, *, fall, step, width, sensitivity):
    """Mass of the integers that pass from one step to the next: `sensitivity` of every step, or all of the top one."""
    fall = _number(fall)
    rest = mp.exp(-fall)
    inner = 2 * width - 1
    whole = inner + 2 * step * rest / (1 - rest)
    passing = min(sensitivity, inner) + sensitivity * rest / (1 - rest)
    return passing / whole * -mp.expm1(mpf(epsilon) - fall)


def pair(epsilon, *, p, q, count):
    """Sums over how often each output came, with exact rational masses; e^epsilon is the only number that is rounded."""
    p, q = [Fraction(text) for text in p], [Fraction(text) for text in q]
    growth = mp.exp(mpf(epsilon))
    totals = [mpf(0), mpf(0)]
    for times in _partitions(count, len(p)):
        ways, left, over, under = 1, count, Fraction(1), Fraction(1)
        for number, a, b in zip(times, p, q, strict=True):
            ways, left = ways * comb(left, number), left - number
            over, under = over * a**number, under * b**number
        over, under = _number(ways * over), _number(ways * under)
        totals[0] += max(mpf(0), over - growth * under)
        totals[1] += max(mpf(0), under - growth * over)
    return max(totals)


def _partitions(count, kinds):
    """All ways to write a number as an ordered sum of `kinds` numbers."""
    if kinds == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for others in _partitions(count - first, kinds - 1):
            yield (first, *others)


def sampled(epsilon, *, rate, base, adding=False, **arguments):
    """The profile of a Poisson sample from that of the whole (Zhu, Dong, Wang 2022, Theorem 11), for a symmetric base law."""
    rate, growth, profile = _number(rate), mp.exp(mpf(epsilon)), FORMULAS[base]
    if adding:
        rest = 1 - (1 - rate) * growth
        return rest * profile(mp.log(rate * growth / rest), **arguments) if rest > 0 else mpf(0)
    inner = 1 + (growth - 1) / rate
    return rate * profile(mp.log(inner), **arguments) if inner > 0 else 1 - growth


def twice_sampled_pair(epsilon, *, p, q, rate, count):
    """Products of the mixed pair, by how often each output came."""
    share = Fraction(rate)
    mixture = [str((1 - share) * Fraction(b) + share * Fraction(a)) for a, b in zip(p, q, strict=True)]
    return pair(epsilon, p=mixture, q=q, count=count)


def allocated_pair(epsilon, *, p, q, steps):
    """One epoch of random allocation of a pair, by how often each output came: the mixture's ratio is the mean of the ratios."""
    p, q = [Fraction(text) for text in p], [Fraction(text) for text in q]
    growth, totals = mp.exp(mpf(epsilon)), [mpf(0), mpf(0)]
    for times in _partitions(steps, len(p)):
        ways, left, under = 1, steps, Fraction(1)
        for number, b in zip(times, q, strict=True):
            ways, left, under = ways * comb(left, number), left - number, under * b**number
        over = under * sum((number * a / b for number, a, b in zip(times, p, q, strict=True)), Fraction(0)) / steps
        over, under = _number(ways * over), _number(ways * under)
        totals[0] += max(mpf(0), over - growth * under)
        totals[1] += max(mpf(0), under - growth * over)
    return max(totals)


def allocated_gaussian(epsilon, *, mu, adding=False):
    """Two steps of a Gaussian: given the difference of the two outputs, the ratio rises with their sum."""
    epsilon, mu = mpf(epsilon), _number(mu)
    growth = mp.exp(epsilon)

    def given(d):
        """Gain where the difference over sqrt(2) is d; the sum over sqrt(2) is standard normal under Q."""
        even = mp.cosh(mu * d / mp.sqrt(2))
        edge = (epsilon if not adding else -epsilon) + mu**2 / 2 - mp.log(even)
        edge *= mp.sqrt(2) / mu
        tilted = edge - mu / mp.sqrt(2)
        lift = even * mp.exp(-(mu**2) / 4)
        gain = (_tail(-edge) - growth * lift * _tail(-tilted)) if adding else (lift * _tail(tilted) - growth * _tail(edge))
        return gain * mp.npdf(d)

    step, reach = mpf(1) / 64, 16
    return step * sum(given(step * (index + mpf(1) / 3)) for index in range(-64 * reach, 64 * reach))


def shuffled(epsilon, *, local, reports, binary=False):
    """Feldman, McMillan, Talwar 2021, Theorem 3.2: both laws as products of one factor for every other report."""
    local = _number(local)
    own = mp.exp(local) / (1 + mp.exp(local))
    hidden = 2 * (1 - own) if binary else mp.exp(-local)
    law = {(0, 0): mpf(1)}
    for _ in range(reports - 1):
        following = Counter()
        for (a, b), mass in law.items():
            following[a + 1, b] += mass * hidden / 2
            following[a, b + 1] += mass * hidden / 2
            following[a, b] += mass * (1 - hidden)
        law = following
    here, there = Counter(), Counter()
    for (a, b), mass in law.items():
        here[a + 1, b] += mass * own
        here[a, b + 1] += mass * (1 - own)
        there[a + 1, b] += mass * (1 - own)
        there[a, b + 1] += mass * own
    return sum(max(mpf(0), here[outcome] - mp.exp(mpf(epsilon)) * there[outcome]) for outcome in here)


def exchanged(epsilon, *, width, kind):
    """Two candidates whose scores change places, width/2 apart: delta from the probability of the better one."""
    half = mp.exp(-_number(width) / 2)
    laplace_noise = 1 - half * (2 + _number(width) / 2) / 4
    better = {"permute_and_flip": 1 - half / 2, "exponential": 1 / (1 + half), "laplace": laplace_noise}[kind]
    return max(mpf(0), better - mp.exp(mpf(epsilon)) * (1 - better))


def shown_beyond(epsilon, *, scale, threshold):
    """One round with an update: Laplace noise around 1 or 0, shown beyond a threshold of at least 1; tails in closed form."""
    epsilon, scale, threshold = mpf(epsilon), _number(scale), _number(threshold)
    edge = max(threshold, (1 + epsilon * scale) / 2)
    gain = (mp.exp(-(edge - 1) / scale) - mp.exp(epsilon - edge / scale)) / 2
    if edge < 1:
        raise ValueError("the threshold is at least 1")
    hidden = 1 - (mp.exp(-(threshold - 1) / scale) + mp.exp(-(threshold + 1) / scale)) / 2
    return max(mpf(0), gain) + max(mpf(0), hidden - mp.exp(epsilon) * (1 - mp.exp(-threshold / scale)))


def mean_of_gaussians(epsilon, *, mu, weights):
    """A Gaussian whose distance is a public fraction of mu, the mean over what the fraction may be."""
    mu = _number(mu)
    return sum(
        _number(weight) * gaussian(epsilon, mu_squared=Fraction(mp.nstr(mu, 50)) ** 2 * Fraction(fraction) ** 2)
        for fraction, weight in weights
        if Fraction(fraction)
    )


def laplaces(epsilon, *, parts, mu_squared=0):
    """Laplace compositions by residues, next to a Gaussian or not; `parts` lists the greatest loss and the count of each law.

    The moment function of one law is ((z + 1) e^(z r) + z e^(-(z + 1) r)) / (2z + 1). Products are expanded by the binomial
    theorem; each term of the inversion has its poles at -1/2 and perhaps 0, so that it ends in a finite sum.
    """
    terms = [(mpf(1), 0, mpf(0))]  # factor, power of z, exponent of e^z; the powers of z and z + 1 add up to `total`
    total = sum(count for _, count in parts)
    with mp.workdps(mp.dps + total):
        for text, count in parts:
            pure = _number(text)
            terms = [
                (factor * comb(count, j) * mp.exp(-j * pure), downs + j, exponent + (count - 2 * j) * pure)
                for factor, downs, exponent in terms
                for j in range(count + 1)
            ]
        if mu_squared:
            return _averaged(mpf(epsilon), terms, total, mu_squared)
        result, rooms = mpf(0), ((*term[:2], term[2] - mpf(epsilon)) for term in terms)
        for factor, downs, room in rooms:
            if room > 0:  # the line is closed on the right otherwise, where there is no pole
                residue = _residue(total - downs - 1, downs - 1, total, room) / mpf(2) ** (total - 1)
                result += factor * (residue if downs else residue + 1)
        return result


def _residue(ups, downs, order, room):
    """Coefficient of v^(order - 1) in (v + 1)^ups (v - 1)^downs e^(room (v - 1) / 2), by a recurrence in whole numbers."""
    before, here, powers = 0, -1 if downs % 2 else 1, [mpf(1)]
    for power in range(1, order):
        powers.append(powers[-1] * room / (2 * power))
    result = mpf(0)
    for n in range(order):
        result += here * powers[order - 1 - n]
        before, here = here, ((n - 1 - ups - downs) * before - (downs - ups) * here) // (n + 1)
    return result * mp.exp(-room / 2)


def _averaged(epsilon, terms, total, mu_squared):
    """A Gaussian's profile averaged over the atoms and the density of the Laplace losses."""
    scale = mpf(2) ** total
    atoms = sum(factor / scale * gaussian(epsilon - place, mu_squared=mu_squared) for factor, _, place in terms)
    with mp.workdps(45):

        def density(x):
            reached = [(factor, downs, place - x) for factor, downs, place in terms if place > x]
            return sum(factor * _residue(total - downs, downs, total, room) for factor, downs, room in reached) / (2 * scale)

        places = sorted({place for _, _, place in terms})
        marks = [low + (high - low) * part / 4 for low, high in pairwise(places) for part in range(4)] + [places[-1]]
        return atoms + mp.quad(lambda x: density(x) * gaussian(epsilon - x, mu_squared=mu_squared), marks)


def gaussian_tradeoff(alpha, *, mu):
    """Dong, Roth, Su 2022, section 2.2."""
    place = mp.sqrt(2) * mp.erfinv(1 - 2 * mpf(alpha))
    return _tail(-(place - _number(mu)))


def laplace_tradeoff(alpha, *, pure):
    """The likelihood ratio test by its three ranges of thresholds."""
    alpha, rest = mpf(alpha), mp.exp(-_number(pure))
    if alpha <= rest / 2:
        return 1 - alpha / rest
    return rest / (4 * alpha) if alpha <= mpf(1) / 2 else rest * (1 - alpha)


def broken_line(alpha, *, pure, delta=0):
    """Wasserman and Zhou 2010: two lines, and never below 0."""
    growth, safe, alpha = mp.exp(_number(pure)), 1 - _number(delta), mpf(alpha)
    return max(mpf(0), safe - growth * alpha, (safe - alpha) / growth)


def gaussian_divergence(order, *, mu_squared):
    """Mironov 2017, Proposition 7."""
    return mpf(order) * _number(mu_squared) / 2


def laplace_divergence(order, *, pure):
    """Mironov 2017, Proposition 6."""
    order, pure = mpf(order), _number(pure)
    moment = order * mp.exp((order - 1) * pure) + (order - 1) * mp.exp(-order * pure)
    return mp.log(moment / (2 * order - 1)) / (order - 1)


def response_divergence(order, *, step, categories):
    """Three terms."""
    order, step = mpf(order), _number(step)
    whole = mp.exp(step) + categories - 1
    moment = (mp.exp(order * step) + mp.exp((1 - order) * step) + categories - 2) / whole
    return mp.log(moment) / (order - 1)


def sampled_gaussian_divergence(order, *, mu, rate):
    """Mironov, Talwar, Zhang 2019: the binomial sum at a whole order."""
    mu, rate, whole = _number(mu), _number(rate), int(order)
    terms = (comb(whole, j) * rate**j * (1 - rate) ** (whole - j) * mp.exp(mu**2 * j * (j - 1) / 2) for j in range(whole + 1))
    return mp.log(sum(terms)) / (whole - 1)


FORMULAS = {
    function.__name__: function
    for function in (
        gaussian,
        laplace,
        discrete_laplace,
        discrete_gaussian,
        discrete_laplaces,
        discrete_gaussians,
        responses,
        sampled_responses,
        bounded_range,
        staircase,
        pair,
        sampled,
        twice_sampled_pair,
        allocated_pair,
        allocated_gaussian,
        shuffled,
        exchanged,
        shown_beyond,
        mean_of_gaussians,
        laplaces,
        gaussian_tradeoff,
        laplace_tradeoff,
        broken_line,
        gaussian_divergence,
        laplace_divergence,
        response_divergence,
        sampled_gaussian_divergence,
    )
}
