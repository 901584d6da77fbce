"""Defining sums and integrals in mpmath: the first of two methods behind the reference table.

It shares no code and no formula with `dpaudit.accounting`: profiles of noise are integrals of the positive part of P - e^epsilon Q,
discrete ones are sums of it, compositions are sums over all outcomes. Every function gives delta at an epsilon, unless its name
says otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

from mpmath import mp, mpf


def number(text):
    """An exact number, from a text such as "1/3", rounded once."""
    exact = Fraction(text)
    return mpf(exact.numerator) / exact.denominator


def gaussian(epsilon, *, mu_squared):
    """Mean of (1 - e^(epsilon - L))_+ over the normal loss L of mean mu^2/2 and variance mu^2."""
    mu_squared, epsilon = number(mu_squared), mpf(epsilon)
    mu = mp.sqrt(mu_squared)
    start = max(epsilon, mu_squared / 2 - 30 * mu)
    scale = mu / max(mpf(1), (start - mu_squared / 2) / mu)  # the integrand falls by a factor over such a step
    marks = [start + step * scale for step in (0, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128)]
    height = mp.npdf(start, mu_squared / 2, mu)  # taken out, since mpmath measures its quadrature error absolutely
    body = mp.quad(lambda loss: (1 - mp.exp(epsilon - loss)) * mp.npdf(loss, mu_squared / 2, mu) / height, marks)
    return height * body + (mp.ncdf(start, mu_squared / 2, mu) - mp.ncdf(epsilon, mu_squared / 2, mu))


def laplace(epsilon, *, scale, sensitivity=1):
    """Integral of (p - e^epsilon q)_+ for two Laplace densities."""
    scale, sensitivity, epsilon = number(scale), number(sensitivity), mpf(epsilon)
    edge = (sensitivity + epsilon * scale) / 2
    if epsilon >= sensitivity / scale:
        return mpf(0)

    def gain(x):
        return (mp.exp(-abs(x - sensitivity) / scale) - mp.exp(epsilon - abs(x) / scale)) / (2 * scale)

    return mp.quad(gain, [edge, sensitivity, sensitivity + 5 * scale, sensitivity + 30 * scale, mp.inf])


def on_integers(epsilon, *, weight, sensitivity, reach):
    """Sum of (p - e^epsilon q)_+ over the integers, where p and q are `weight` around `sensitivity` and 0, normalised."""
    whole = sum(weight(x) for x in range(-reach, reach + 1))
    growth = mp.exp(mpf(epsilon))
    gains = (weight(x - sensitivity) - growth * weight(x) for x in range(-reach, reach + sensitivity + 1))
    return sum(max(gain, mpf(0)) for gain in gains) / whole


def discrete_gaussian(epsilon, *, sigma_squared, sensitivity):
    """Direct sum far beyond what 60 digits can see."""
    reach = int(mp.sqrt(2 * number(sigma_squared) * 1200)) + 10 + 2 * sensitivity
    return on_integers(
        epsilon, weight=lambda x: mp.exp(-mpf(x * x) / (2 * number(sigma_squared))), sensitivity=sensitivity, reach=reach
    )


def discrete_laplace(epsilon, *, scale, sensitivity):
    """Direct sum far beyond what 60 digits can see."""
    reach = int(number(scale) * 180) + 10 + sensitivity
    return on_integers(epsilon, weight=lambda x: mp.exp(-abs(mpf(x)) / number(scale)), sensitivity=sensitivity, reach=reach)


def responses(epsilon, *, step, categories, count, delta=0, mu_squared=0):
    """Multinomial sum over k-ary randomized response, `count` times, perhaps next to a Gaussian; KOV pair for k = 2 and delta."""
    step, epsilon, delta = number(step), mpf(epsilon), number(delta)
    whole = mp.exp(step) + categories - 1
    up, down, null = mp.exp(step) / whole, 1 / whole, mpf(categories - 2) / whole
    ways = {}
    for ups in range(count + 1):
        for downs in range(count + 1 - ups):
            if downs < count - ups and not null:
                continue
            nulls = count - ups - downs
            mass = mp.binomial(count, ups) * mp.binomial(count - ups, downs) * up**ups * down**downs * (null**nulls if nulls else 1)
            ways[ups - downs] = ways.get(ups - downs, mpf(0)) + mass
    if mu_squared:
        finite = sum(mass * gaussian(epsilon - excess * step, mu_squared=mu_squared) for excess, mass in ways.items())
    else:
        finite = sum(mass * max(mpf(0), 1 - mp.exp(epsilon - excess * step)) for excess, mass in ways.items())
    revealed = mp.fsum(mp.binomial(count, times) * delta**times * (1 - delta) ** (count - times) for times in range(1, count + 1))
    return revealed + (1 - delta) ** count * finite


def bounded_range(epsilon, *, width):
    """The largest of the two-point profiles with losses t and t - width, t on a grid refined around the best."""
    width, epsilon = number(width), mpf(epsilon)

    def two_points(top):
        p_top = (mp.exp(width) - mp.exp(top)) / (mp.exp(width) - 1)
        q_top = p_top * mp.exp(-top)
        growth = mp.exp(epsilon)
        return max(mpf(0), p_top - growth * q_top) + max(mpf(0), 1 - p_top - growth * (1 - q_top))

    low, high = max(epsilon, mpf(0)), width
    for _ in range(150):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if two_points(left) < two_points(right):
            low = left
        else:
            high = right
    return two_points((low + high) / 2)


def pair(epsilon, *, p, q, count):
    """Sum over all products of outcomes of `count` independent draws, the worse direction."""
    growth = mp.exp(mpf(epsilon))
    p, q = ([number(text) for text in side] for side in (p, q))
    outcomes = [(mpf(1), mpf(1))]
    for _ in range(count):
        outcomes = [(a * left, b * right) for a, b in outcomes for left, right in zip(p, q, strict=True)]
    return max(sum(max(mpf(0), a - growth * b) for a, b in outcomes), sum(max(mpf(0), b - growth * a) for a, b in outcomes))


def staircase(epsilon, *, fall, step, width, sensitivity):
    """Direct sum over the integers, the level of each counted from the middle."""
    fall = number(fall)

    def weight(x):
        return mp.exp(-fall * (0 if abs(x) < width else 1 + (abs(x) - width) // step))

    return on_integers(epsilon, weight=weight, sensitivity=sensitivity, reach=int(step * (150 / fall + 2)))


def _positive_part(gain, low, high, marks):
    """Integral of the positive part of a function with at most one change of sign between `low` and `high`."""
    inside = [mark for mark in marks if low < mark < high]
    if (gain(low) > 0) == (gain(high) > 0):
        return mp.quad(gain, [low, *inside, high]) if gain(low) > 0 else mpf(0)
    bottom, top, rising = low, high, gain(high) > 0
    for _ in range(4 * mp.dps):
        middle = (bottom + top) / 2
        bottom, top = (bottom, middle) if (gain(middle) > 0) == rising else (middle, top)
    side = 1 if rising else -1  # the gain falls fast on the other side of the change, so pieces are short near it
    near = (bottom + side * mpf(step) / 4 for step in (0, 1, 2, 4, 6, 8, 12, 16, 24, 32))
    return mp.quad(gain, sorted({*near, *inside, low, high} - {x for x in {*inside, low, high} if side * (x - bottom) < 0}))


def sampled(epsilon, *, rate, noise, adding=False):
    """Integral of (p - e^epsilon q)_+ for a Poisson sample of Gaussian (mu) or Laplace (scale) noise, one direction."""
    rate, growth = number(rate), mp.exp(mpf(epsilon))
    (kind, size), tails = noise, 40
    if kind == "gaussian":
        distance, density, breaks = number(size), mp.npdf, []
        low, high = -mpf(tails) / 2, distance + mpf(tails) / 2
        marks = [low + (high - low) * index / 24 for index in range(1, 24)]
    else:
        scale, distance = number(size), mpf(1)
        low, high, breaks = -3 * tails * scale, 1 + 3 * tails * scale, [mpf(0), mpf(1)]
        marks = sorted(place + side * scale * 4**power for place in breaks for side in (-1, 0, 1) for power in range(-1, 4))

        def density(x):
            return mp.exp(-abs(x) / scale) / (2 * scale)

    def gain(x):
        without = density(x)
        mixture = (1 - rate) * without + rate * density(x - distance)
        return without - growth * mixture if adding else mixture - growth * without

    return _positive_part(gain, low, high, marks)


def sampled_pair(epsilon, *, p, q, rate, count):
    """All outcomes of `count` draws from the mixed pair, the worse direction."""
    share = Fraction(rate)
    mixture = [str((1 - share) * Fraction(b) + share * Fraction(a)) for a, b in zip(p, q, strict=True)]
    return pair(epsilon, p=mixture, q=[str(Fraction(b)) for b in q], count=count)


def sampled_responses(epsilon, *, step, rate, count):
    """Binomial sums over how often the likelier of two answers came, the worse direction."""
    step, rate, growth = number(step), number(rate), mp.exp(mpf(epsilon))
    one = 1 / (1 + mp.exp(-step))
    mixed = (1 - rate) * (1 - one) + rate * one
    gains = [mpf(0), mpf(0)]
    for ups in range(count + 1):
        ways = mp.binomial(count, ups)
        over = ways * mixed**ups * (1 - mixed) ** (count - ups)
        under = ways * (1 - one) ** ups * one ** (count - ups)
        gains = [gains[0] + max(mpf(0), over - growth * under), gains[1] + max(mpf(0), under - growth * over)]
    return max(gains)


def sampled_laplace_twice(epsilon, *, scale, rate):
    """Two Poisson samples of Laplace noise, removal: the profile of one sample averaged over the loss of the other."""
    scale, rate, epsilon = number(scale), number(rate), mpf(epsilon)
    pure = 1 / scale

    def base(inner):
        if abs(inner) >= pure:
            return max(mpf(0), 1 - mp.exp(inner))
        return -mp.expm1((inner - pure) / 2)

    def one(at):
        inner = 1 + (mp.exp(at) - 1) / rate
        return rate * base(mp.log(inner)) if inner > 0 else 1 - mp.exp(at)

    def loss(x):
        return mp.log(1 - rate + rate * mp.exp((abs(x) - abs(x - 1)) / scale))

    def density(x):
        return ((1 - rate) * mp.exp(-abs(x) / scale) + rate * mp.exp(-abs(x - 1) / scale)) / (2 * scale)

    sides = sum(mp.quad(density, piece) * one(epsilon - loss(place)) for piece, place in (([-mp.inf, 0], 0), ([1, mp.inf], 1)))
    edges = [mpf(0), mpf(1)]
    for edge in (loss(0), loss(1), mpf(0)):  # kinks of the profile, seen from epsilon
        mixture = (mp.exp(epsilon - edge) - 1 + rate) / rate
        if mixture > 0 and abs(mp.log(mixture)) < pure:
            edges.append((mp.log(mixture) * scale + 1) / 2)
    return sides + mp.quad(lambda x: density(x) * one(epsilon - loss(x)), sorted(edges))


def discrete_twice(epsilon, *, kind, parameter, sensitivity):
    """All pairs of outputs of two releases with discrete Laplace noise (scale) or Gaussian noise (square of sigma)."""
    value, growth = number(parameter), mp.exp(mpf(epsilon))
    if kind == "laplace":
        reach, weight = int(value * 90) + 10, lambda x: mp.exp(-abs(mpf(x)) / value)
    else:
        reach, weight = int(mp.sqrt(value * 200)) + 10, lambda x: mp.exp(-mpf(x * x) / (2 * value))
    weights = {x: weight(x) for x in range(-reach - sensitivity, reach + sensitivity + 1)}
    whole = sum(weights.values())
    near = [(weights[x - sensitivity] / whole, weights[x] / whole) for x in range(-reach, reach + sensitivity + 1)]
    return sum(max(mpf(0), a * c - growth * b * d) for (a, b), (c, d) in product(near, near))


def allocated_pair(epsilon, *, p, q, steps):
    """All outcomes of an epoch of random allocation, the worse direction."""
    growth, gains = mp.exp(mpf(epsilon)), [mpf(0), mpf(0)]
    p, q = ([number(text) for text in side] for side in (p, q))
    for outcome in product(range(len(p)), repeat=steps):
        under = mp.fprod(q[index] for index in outcome)
        over = mp.fsum(
            mp.fprod((p if place == chosen else q)[index] for place, index in enumerate(outcome)) for chosen in range(steps)
        )
        gains[0] += max(mpf(0), over / steps - growth * under)
        gains[1] += max(mpf(0), under - growth * over / steps)
    return max(gains)


def allocated_gaussian(epsilon, *, mu, adding=False):
    """Two steps of a Gaussian: integral over the first output of what is gained given it, from the threshold on the second."""
    mu, growth = number(mu), mp.exp(mpf(epsilon))

    def ratio(x):
        return mp.exp(mu * x - mu * mu / 2)

    def given(x):
        wanted = 2 * (1 / growth if adding else growth) - ratio(x)
        if wanted <= 0:
            above, lifted = mpf(1), mpf(1)
        else:
            edge = mp.log(wanted) / mu + mu / 2
            above, lifted = mp.ncdf(-edge), mp.ncdf(mu - edge)
        rest = (1 - above) - growth * (ratio(x) * (1 - above) + 1 - lifted) / 2
        return mp.npdf(x) * (rest if adding else (ratio(x) * above + lifted) / 2 - growth * above)

    turn = mp.log(2 * (1 / growth if adding else growth)) / mu + mu / 2
    return mp.quad(given, sorted({*(mpf(x) for x in range(-16, 18, 2)), turn, turn - mpf("0.1"), turn - mpf("0.01")}))


def shuffled(epsilon, *, local, reports, binary=False):
    """Sum over the hidden reports, their kinds and the own answer, all binomial, for the pair of the clones."""
    local, growth = number(local), mp.exp(mpf(epsilon))
    own = mp.exp(local) / (1 + mp.exp(local))
    hidden = 2 * (1 - own) if binary else mp.exp(-local)
    total = mpf(0)
    for others in range(reports):
        chance = mp.binomial(reports - 1, others) * hidden**others * (1 - hidden) ** (reports - 1 - others)

        coins = [mpf(0), *(mp.binomial(others, ups) / mpf(2) ** others for ups in range(others + 1)), mpf(0)]
        for with_own, without in pairwise(coins):
            here, there = own * with_own + (1 - own) * without, (1 - own) * with_own + own * without
            total += chance * max(mpf(0), here - growth * there)
    return total


def exchanged(epsilon, *, width, kind):
    """Two candidates whose scores change places, width/2 apart: the noisy race of the two, integrated."""
    half = number(width) / 2
    if kind == "permute_and_flip":  # exponential noise
        better = mp.quad(lambda x: mp.exp(-x) * (1 - mp.exp(-(x + half))), [0, 1, 4, 16, mp.inf])
    elif kind == "exponential":  # Gumbel noise
        better = mp.quad(lambda x: mp.exp(-x - mp.exp(-x) - mp.exp(-(x + half))), [-6, -2, 0, 2, 8, 32, mp.inf])
    else:  # Laplace noise
        better = mp.quad(lambda x: mp.exp(-abs(x)) / 2 * (1 - mp.exp(-(x + half)) / 2), [0, 1, 4, 16, mp.inf])
        better += mp.quad(lambda x: mp.exp(x) / 2 * (1 - mp.exp(-(x + half)) / 2), [-half, 0])
        better += mp.quad(lambda x: mp.exp(x) / 2 * mp.exp(x + half) / 2, [-mp.inf, -half - 16, -half - 4, -half])
    return max(mpf(0), better - mp.exp(mpf(epsilon)) * (1 - better))


def shown_beyond(epsilon, *, scale, threshold):
    """One round with an update: Laplace noise around 1 or 0, shown beyond a threshold; integrals of the two densities."""
    growth, scale, threshold = mp.exp(mpf(epsilon)), number(scale), number(threshold)
    beyond, far = [threshold, threshold + scale, threshold + 8 * scale, mp.inf], [-mp.inf, -8 * scale - threshold, -threshold]

    def at(x, centre):
        return mp.exp(-abs(x - centre) / scale) / (2 * scale)

    shown = sum(mp.quad(lambda x: max(mpf(0), at(x, 1) - growth * at(x, 0)), marks) for marks in (beyond, far))
    inside = [mp.quad(lambda x, centre=centre: at(x, centre), [-threshold, 0, 1, threshold]) for centre in (1, 0)]
    return shown + max(mpf(0), inside[0] - growth * inside[1])


def mean_of_gaussians(epsilon, *, mu, weights):
    """The mean of integrated Gaussian profiles over the fractions of mu that the distance may be."""
    squares = [(Fraction(mu) ** 2 * Fraction(fraction) ** 2, number(weight)) for fraction, weight in weights]
    return sum(weight * gaussian(epsilon, mu_squared=square) for square, weight in squares if square)


def tradeoff(alpha, *, profile, **arguments):
    """The convex dual of an integrated or summed profile: the largest 1 - delta(s) - e^s alpha, over both signs of s."""
    alpha, function = mpf(alpha), INTEGRALS[profile]

    def dual(s):
        if s >= 0:
            return 1 - function(s, **arguments) - mp.exp(s) * alpha
        return mp.exp(s) * (1 - function(-s, **arguments) - alpha)

    low, high, golden = -mp.log(2 / alpha), mp.log(2 / alpha), (mp.sqrt(5) - 1) / 2
    places = [high - golden * (high - low), low + golden * (high - low)]
    values = [dual(place) for place in places]
    for _ in range(64):
        if values[0] < values[1]:
            low, places, values = places[0], [places[1], None], [values[1], None]
            places[1] = low + golden * (high - low)
            values[1] = dual(places[1])
        else:
            high, places, values = places[1], [None, places[0]], [None, values[0]]
            places[0] = high - golden * (high - low)
            values[0] = dual(places[0])
    return max(values)


def divergence(order, *, noise, rate=1, adding=False):
    """Renyi divergence of an order from its integral, for Gaussian (mu) or Laplace (scale) noise, sampled or not."""
    order, rate = mpf(order), number(rate)
    kind, size = noise
    if kind == "gaussian":
        distance, density = number(size), mp.npdf
        marks = [mpf(x) for x in range(-30, 31 + int(2 * order * distance), 3)]
    else:
        scale, distance = number(size), mpf(1)
        marks = [-mp.inf, -40 * scale, -5 * scale, mpf(0), mpf(1) / 2, mpf(1), 1 + 5 * scale, 1 + 40 * scale, mp.inf]

        def density(x):
            return mp.exp(-abs(x) / scale) / (2 * scale)

    def moment(x):
        without = density(x)
        if not without:
            return mpf(0)
        ratio = (1 - rate) + rate * density(x - distance) / without
        return without * ratio ** (1 - order if adding else order)

    return mp.log(mp.quad(moment, marks)) / (order - 1)


def response_divergence(order, *, step, categories):
    """Sum over the categories of p^a q^(1-a)."""
    order, step = mpf(order), number(step)
    whole = mp.exp(step) + categories - 1
    p, q = ([mp.exp(step if here == true else 0) / whole for here in range(categories)] for true in (0, 1))
    return mp.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)


INTEGRALS = {
    function.__name__: function
    for function in (
        gaussian,
        laplace,
        discrete_gaussian,
        discrete_laplace,
        responses,
        bounded_range,
        pair,
        staircase,
        sampled,
        sampled_pair,
        sampled_responses,
        sampled_laplace_twice,
        discrete_twice,
        allocated_pair,
        allocated_gaussian,
        shuffled,
        exchanged,
        shown_beyond,
        mean_of_gaussians,
        tradeoff,
        divergence,
        response_divergence,
    )
}
