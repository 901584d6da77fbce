"""The exact laws of the sparse vector techniques: integrals over the threshold's noise, given which all answers are independent."""

from __future__ import annotations

import itertools
import math

import numpy as np
from zoo_laws import NODES, WEIGHTS, Finite, Line, Scaled, Shifts, Union, integral, laplace_below, laplace_density, panels

VARIANTS = {
    "svt1": (0.5, 2, 4), "svt2": (1, 2, 4), "svt3": (1, 2, 2), "svt4": (1, 4, 4 / 3), "svt5": (1, 2, 0), "svt6": (1, 2, 2),
    "numerical_svt": (1, 3, 12),
}  # fmt: skip
"""Threshold, and the scales of its noise and of the answers' noise in units of 1 / epsilon."""


def stopping(name, e, pair):
    """Probabilities that exactly the given answers of a row are above the threshold, as a function of patterns of 1 and 0."""
    threshold, wide, narrow = VARIANTS[name]
    edges = panels(sorted({0.0, *(answer - threshold for data in pair for answer in data)}), max(wide, narrow) / e)

    def chance(data, pattern):
        def at(r):
            mass = laplace_density(r, wide / e)
            for answer, above in zip(data, pattern, strict=False):
                gap = threshold + r - answer
                below = laplace_below(gap, narrow / e) if narrow else np.where(gap > 0, 1.0, 0.0)
                mass = mass * (1 - below if above else below)
            return mass

        return integral(at, edges)

    return chance


def first_above(rows):
    """The place of the first answer above; the number of answers where there is none."""
    above = np.asarray(rows) > -0.5 if rows.dtype.kind != "f" else rows > -900.0
    above &= rows != 0 if rows.dtype.kind != "f" else True
    return np.where(above.any(axis=1), above.argmax(axis=1), rows.shape[1])


def stopped(name, e, pair):
    """The law of the first place above."""
    chance = stopping(name, e, pair)
    patterns = [(0,) * place + (1,) for place in range(10)] + [(0,) * 10]
    laws = [np.array([chance(data, pattern) for pattern in patterns]) for data in pair]
    return Finite(np.arange(11), *laws, key=first_above, how="quadrature over the threshold's noise")


def unstopped(name, e, pair):
    """The law of how many of the first five, and of the last five, are above; within each half all answers are equal."""
    chance = stopping(name, e, pair)
    counts = list(itertools.product(range(6), repeat=2))
    ways = np.array([math.comb(5, j) * math.comb(5, k) for j, k in counts], dtype=float)
    laws = [np.array([chance(data, (1,) * j + (0,) * (5 - j) + (1,) * k + (0,) * (5 - k)) for j, k in counts]) for data in pair]
    laws = [np.where(law * ways < 1e-16, 0.0, law * ways) for law in laws]

    def key(rows):
        return 6 * (rows[:, :5] == 1).sum(axis=1) + (rows[:, 5:] == 1).sum(axis=1)

    return Finite(np.arange(36), *laws, key=key, how="quadrature over the threshold's noise")


def third(e, pair):
    """The law of SVT3: a first place above, and the noisy answer there, which is above the noisy threshold."""
    scale, threshold = 2 / e, 1.0
    edges = np.unique(panels([-1.0, 0.0, 1.0], scale))

    def before(data, place):
        """Mass of thresholds' noise up to v - threshold with all earlier answers below, as a function of v."""

        def mass(r):
            below = [laplace_below(threshold + r - answer, scale) for answer in data[:place]]
            return laplace_density(r, scale) * np.prod(below, axis=0) if below else laplace_density(r, scale)

        cut = np.cumsum([0.0, *(integral(mass, pair) for pair in itertools.pairwise(edges))])

        def upto(v):
            end = np.clip(np.asarray(v, dtype=float) - threshold, edges[0], edges[-1])
            k = np.clip(np.searchsorted(edges, end, side="right") - 1, 0, len(edges) - 1)
            half = (end - edges[k]) / 2
            return cut[k] + (mass(((end + edges[k]) / 2)[..., None] + half[..., None] * NODES) @ WEIGHTS) * half

        return upto

    parts = []
    for place in range(10):
        uptos = [before(data, place) for data in pair]
        densities = [
            lambda v, a=data[place], upto=upto: laplace_density(np.asarray(v) - a, scale) * upto(v)
            for data, upto in zip(pair, uptos, strict=True)
        ]
        parts.append(Line(*densities, edges + threshold))
    chance = stopping("svt3", e, pair)
    none = Finite(np.array([10]), *(np.array([chance(data, (0,) * 10)]) for data in pair))

    def look(rows):
        places = first_above(rows)
        ratios = np.full(len(rows), math.log(none.p[0] / none.q[0]))
        for place, part in enumerate(parts):
            here = places == place
            ratios[here] = part.log_ratio(rows[here, place])
        return ratios

    return Union([*parts, none], look, "quadrature over the threshold's noise and the answer")


def numerical(e, pair):
    """Patterns of at most two answers above, each shown with fresh noise."""
    chance = stopping("numerical_svt", e, pair)
    scale, parts, table = 6 / e, [], {}
    for first, second in itertools.combinations(range(12), 2):  # 10 and 11 stand for "none"
        above = [place for place in (first, second) if place < 10]
        if second == 11 and first < 10:
            continue
        asked = second + 1 if second < 10 else 10
        pattern = tuple(int(place in above) for place in range(asked))
        p, q = (chance(data, pattern) for data in pair)
        parts.append(Scaled(Shifts(len(above), 1 / scale, None), p, q))
        table[tuple(above)] = math.log(p / q)

    def look(rows):
        shown = rows > -900.0
        numbers = np.where(shown, rows, 0.0)
        losses = (np.abs(numbers - np.array(pair[1])) - np.abs(numbers - np.array(pair[0]))) / scale
        patterns = np.array([table[tuple(np.flatnonzero(row).tolist())] for row in shown])
        return patterns + np.where(shown, losses, 0.0).sum(axis=1)

    return Union(parts, look, "quadrature over the threshold's noise, products of Laplace laws")


def both(e, pair):
    """SVT3 and SVT4 on the same answers."""
    one, other = third(e, pair), stopped("svt4", e, pair)
    parts = [Scaled(one, p, q) for p, q in zip(other.p, other.q, strict=True)]
    return Union(
        parts,
        lambda rows: one.log_ratio(rows[:, :10]) + other.log_ratio(rows[:, 10:].astype(np.int8)),
        "quadrature over both thresholds' noise and the answer",
    )


def sparse(name, e, pair):
    if name in ("svt1", "svt2", "svt4"):
        return stopped(name, e, pair)
    if name in ("svt5", "svt6"):
        return unstopped(name, e, pair)
    return {"svt3": third, "numerical_svt": numerical, "svt34_parallel": both}[name](e, pair)
