"""Claims of the papers, computed again with other code than the project's: mpmath, fractions, sums of floats, a linear program."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

DIGITS = 30


def gaussian_delta(epsilon, mu):
    """The delta of Gaussian differential privacy: Balle and Wang 2018, Theorem 8."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def root(function, low, high, steps=120):
    """Where a falling function passes 0."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return low


def appearances():
    """A4: how many appearances are enough at 2.5e-7/2, and how many the bound allows."""
    enough = next(k for k in range(40) if 1 - mp.fsum(mp.exp(-1) / mp.factorial(i) for i in range(k + 1)) <= mpf("1.25e-7"))
    return {"enough": mpf(enough), "allowed": mp.floor(2 * mp.log(2 / mpf("2.5e-7")))}


def _group(epsilon, delta):
    """The failure probability after as many changes as are allowed for, and what is allowed; M = log(40)."""
    share, risk = mpf(epsilon) / (2 * mp.log(40)), delta / mp.log(40)
    length = mp.log(2 / risk)
    return delta * risk / (4 * length) * mp.expm1(share) / mp.expm1(share / (2 * length)), risk / 2


def groups():
    """A5: at epsilon 1 and delta 1e-6, inside of the range."""
    spent, allowed = _group(1, mpf("1e-6"))
    return {"spent": spent, "allowed": allowed}


def groups_outside():
    """A13: at epsilon 100 and delta 1/10."""
    spent, allowed = _group(100, mpf("0.1"))
    return {"spent": spent, "allowed": allowed}


def hinge_choice():
    """A6 and A11: two candidates, losses (0, 132) and (11, 121), weights exp(-loss/4)."""
    laws = [[mp.exp(-mpf(loss) / 4) for loss in losses] for losses in ((0, 132), (11, 121))]
    laws = [[weight / sum(law) for weight in law] for law in laws]
    return {"epsilon": max(abs(mp.log(p / q)) for p, q in zip(*laws, strict=True))}


def multipliers():
    """A10: the printed noise at epsilon 1, and that of one pass in a secret order of 100,000 records."""
    epsilon, delta, rounds = 1.0, 1e-6, 4
    share = epsilon / (4 * rounds * math.log(2 * rounds / delta))
    printed = 4 * math.sqrt(math.log(4 * rounds * math.log(2 * rounds / delta) / delta**2)) / share
    from scipy.special import ndtr

    sizes = [100_000 >> phase for phase in range(1, 17)]
    places = np.concatenate([1 - np.arange(1, size + 1) / size for size in sizes])
    places = places[places > 0]

    def mean(c):
        mu = 2 * places / c
        return float(np.sum(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))) / 100_000 - delta

    one = root(mean, 1.0, 30.0, 60)
    return {"printed": mpf(printed), "one pass": mpf(one)}


def known_order():
    """A27: epsilon of the noise for one pass in a secret order, to whoever knows it."""
    one = multipliers()["one pass"]
    return {"epsilon": root(lambda e: gaussian_delta(e, 2 / one) - mpf("1e-6"), mpf("0.5"), mpf(3), 60)}


def polynomial():
    """A15: the norm of the image of a unit vector under (<x, y> + 1)^3, from the kernel itself."""
    return {"norm": mp.sqrt(mpf(1 + 1) ** 3)}


def least_hinge():
    """A22: m times the change of the least mean hinge loss, by linear programs."""
    from scipy.optimize import linprog

    margin, count, values = 0.1, 40, []
    for last in (1.0, -1.0):
        signed = np.array([margin] * (count - 1) + [last])
        # minimise the sum of slacks s >= 1 - signed w / margin, s >= 0, |w| <= 1
        matrix = np.concatenate([-(signed / margin)[:, np.newaxis], -np.eye(count)], axis=1)
        solved = linprog(
            [0.0, *[1.0] * count], A_ub=matrix, b_ub=-np.ones(count), bounds=[(-1, 1), *[(0, None)] * count], method="highs"
        )
        values.append(solved.fun)
    return {"moved": mpf(round(abs(values[0] - values[1]), 9))}


def rejection():
    """A26: mean number of draws, 100 over the sum of the probabilities with which candidates are accepted."""
    return {"first": 100 / (1 + 99 * mp.exp(-4)), "second": 100 / (1 + 99 * mp.exp(mpf("-3.8")))}


def null_record():
    """A28: two candidates with 0 and 8 errors, then 1 and 7, weights exp(-errors)."""
    laws = [[mp.exp(-count) for count in counts] for counts in ((0, 8), (1, 7))]
    laws = [[weight / sum(law) for weight in law] for law in laws]
    return {"epsilon": max(abs(mp.log(p / q)) for p, q in zip(*laws, strict=True))}


def unpaid_choice():
    """N3: a pure choice at epsilon 1 beside mu = .00733: a mixture of two Gaussian profiles, at delta 1e-6."""
    mu, likely = mpf("0.00733"), mp.e / (1 + mp.e)

    def delta(epsilon):
        # the choice's loss is 1 or -1; given it, the rest has to make up for what is left of epsilon
        return likely * gaussian_delta(epsilon - 1, mu) + (1 - likely) * gaussian_delta(epsilon + 1, mu)

    return {"epsilon": root(lambda e: delta(e) - mpf("1e-6"), mpf(1), mpf("1.2"))}


def bisector():
    """N6: error of the bisector of two halfspaces at relative distance 1/10, d = 100, margin 1/sqrt(1000 d)."""
    dimension, margin = 100, 1 / mp.sqrt(100_000)
    angle = mp.acos(mpf("0.8")) / 2
    # <w, x> = r cos t and <v, x> = r cos(t - angle) on the plane of both, whose radius r has density prop. to r (1 - r^2)^(d/2 - 2)
    power = mpf(dimension) / 2 - 1

    def kept(t):
        needed = margin / abs(mp.sin(t))
        return (1 - needed**2) ** power if needed < 1 else mpf(0)

    wrong = mp.quad(kept, mp.linspace(0, angle, 9)) / mp.pi
    near = mp.betainc(mpf(1) / 2, mpf(dimension - 1) / 2, 0, margin**2, regularized=True)
    return {"error": wrong / (1 - near)}


def span():
    """P2: sum of the sizes of the entries of the projection of (1, 0) on the line through (2, 1)."""
    image = [Fraction(2 * entry, 5) for entry in (2, 1)]
    return {"size": mpf(sum(image).numerator) / sum(image).denominator}


def centred_choice():
    """P4: largest epsilon of a choice among -16, 0 and 16 by |h - y| with sensitivity 32, for labels up to a million."""
    labels, worst = (-(10**6), -3, 0, 5, 10**6), mpf(0)
    laws = []
    for label in labels:
        weights = [mp.exp(-(mpf(abs(h - label)) - min(abs(g - label) for g in (-16, 0, 16))) / 64) for h in (-16, 0, 16)]
        laws.append([weight / sum(weights) for weight in weights])
    for first in laws:
        for second in laws:
            worst = max(worst, *(abs(mp.log(p / q)) for p, q in zip(first, second, strict=True)))
    return {"epsilon": worst}


def silence():
    """K2: the delta of silent rounds at epsilon 1.78, and what ten pure mechanisms compose to at 1e-6."""
    rate = mpf("0.06016")
    often, seldom, odds = 1 - mp.exp(-mpf("0.24") * rate) / 2, mp.exp(-mpf("0.76") * rate) / 2, mp.exp(mpf("1.78"))
    delta = mpf(0)
    for first, second in ((often, seldom), (seldom, often)):
        terms = (mp.binomial(k + 9, k) * (first**10 * (1 - first) ** k - odds * second**10 * (1 - second) ** k) for k in range(200))
        delta = max(delta, mp.fsum(max(mpf(0), term) for term in terms))
    likely = mp.exp(rate) / (1 + mp.exp(rate))

    def composed(epsilon):
        losses = [(mp.binomial(10, k) * likely**k * (1 - likely) ** (10 - k), (2 * k - 10) * rate) for k in range(11)]
        return mp.fsum(chance * max(mpf(0), -mp.expm1(epsilon - loss)) for chance, loss in losses) - mpf("1e-6")

    return {"delta of silence": delta, "updates alone": root(composed, mpf("0.1"), mpf("0.602"))}


def half_balls():
    """K7: mean sizes of a coordinate with density (1 - s^2)^2 exp(7 s), and cosh(7 s), on [0, 1]."""
    found = {}
    for name, shape in (("wanted", mp.exp), ("mixture", mp.cosh)):
        masses = [mp.quad(lambda s, k=k, shape=shape: s**k * (1 - s**2) ** 2 * shape(7 * s), [0, 1]) for k in (0, 1)]
        found[name] = masses[1] / masses[0]
    return found


def turned_record():
    """K8: log-ratio of densities where one of 100,000 records turns from (c, -s) to (-c, -s), s = 1/10, weights (0, 60)."""
    count, ridge = mpf(10**5), mpf("1e-4")
    sine, cosine, height = mpf("0.1"), mp.sqrt(mpf("0.99")), mpf(60)
    slope = 1 / (1 + mp.exp(-sine * height))
    parts = []
    for side in (1, -1):
        record = mp.matrix([side * cosine, -sine])
        term = mp.matrix([(count - 1) / 2, 0]) + slope * record - count * ridge * mp.matrix([0, height])
        curve = count * ridge * mp.eye(2) + slope * (1 - slope) * record * record.T
        curve[0, 0] += (count - 1) / 4
        parts.append((mp.norm(term), mp.log(mp.det(curve))))
    share = 1 - 2 * mp.log(1 + mpf("0.25") / (count * ridge))
    return {"ratio": share / 2 * (parts[0][0] - parts[1][0]) + abs(parts[0][1] - parts[1][1]), "allowed": share}


ITEMS = {
    "A4": appearances,
    "A5": groups,
    "A6": hinge_choice,
    "A10": multipliers,
    "A13": groups_outside,
    "A15": polynomial,
    "A22": least_hinge,
    "A26": rejection,
    "A27": known_order,
    "A28": null_record,
    "N3": unpaid_choice,
    "N6": bisector,
    "P2": span,
    "P4": centred_choice,
    "K2": silence,
    "K7": half_balls,
    "K8": turned_record,
}
"""What is computed again, by the item that it decides."""


def computed(key):
    """The numbers of an item, as texts of twelve digits."""
    with mp.workdps(DIGITS):
        return {name: mp.nstr(value, 12) for name, value in ITEMS[key]().items()}
