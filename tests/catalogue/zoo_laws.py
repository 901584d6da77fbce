"""Exact laws of pairs of outputs: finite, on a line, products of Laplace shifts, normal, and unions and shares of those.

A law knows delta(epsilon) in both directions, the largest log-ratio, and the log-ratio of single outputs. Densities are
integrated by 20-point Gauss-Legendre rules on panels cut where a density or the positive part has a corner.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import brentq
from scipy.special import gammaln, ndtr

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
FAR = 60.0


def integral(function, edges):
    """Integral over consecutive panels."""
    edges = np.unique(edges)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return float((function(middle[:, None] + half[:, None] * NODES) * WEIGHTS * half[:, None]).sum())


def panels(corners, scale):
    """Panel edges from far left to far right, dense near the corners."""
    around = [corner + step * scale for corner in corners for step in np.linspace(-4, 4, 41)]
    return np.array([min(corners) - FAR * scale, *np.linspace(min(corners) - 40 * scale, max(corners) + 40 * scale, 161), *around,
                     max(corners) + FAR * scale])  # fmt: skip


def laplace_density(x, scale):
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def laplace_below(x, scale):
    tail = np.exp(-np.abs(x) / scale) / 2
    return np.where(x < 0, tail, 1 - tail)


class Law:
    """Both directions of a pair: `delta(epsilon)` is for the first dataset over the second, `delta(epsilon, back=True)` reverse."""

    how = ""

    def either(self, epsilon):
        return max(self.delta(epsilon), self.delta(epsilon, back=True))

    def least_epsilon(self, delta):
        """The least epsilon at which neither direction has more than `delta`."""
        if delta == 0:
            return max(self.largest(), self.largest(back=True))
        if self.either(700.0) > delta:
            return math.inf
        if self.either(0.0) <= delta:
            return 0.0
        return brentq(lambda epsilon: self.either(epsilon) - delta, 0.0, 700.0, xtol=1e-13, rtol=1e-14)


@dataclass
class Finite(Law):
    """Outcomes in increasing order with their probabilities; `key` turns outputs into outcomes."""

    outcomes: np.ndarray
    p: np.ndarray
    q: np.ndarray
    key: object = np.asarray
    how: str = "sum over all outcomes"

    def delta(self, epsilon, *, back=False):
        likely, unlikely = (self.q, self.p) if back else (self.p, self.q)
        return float(np.maximum(likely - np.exp(epsilon) * unlikely, 0).sum())

    def largest(self, *, back=False):
        likely, unlikely = (self.q, self.p) if back else (self.p, self.q)
        seen = likely > 0
        with np.errstate(divide="ignore"):
            return float(np.log(likely[seen] / unlikely[seen]).max())

    def log_ratio(self, outputs):
        places = np.searchsorted(self.outcomes, self.key(outputs))
        with np.errstate(divide="ignore"):
            return np.log(self.p[places]) - np.log(self.q[places])


@dataclass
class Line(Law):
    """Two densities, perhaps of mass below 1, on a line; unless given, the supremum of the log-ratio is reached at an edge."""

    p: object
    q: object
    edges: np.ndarray
    supremum: tuple[float, float] | None = None
    how: str = "quadrature"

    def delta(self, epsilon, *, back=False):
        likely, unlikely = (self.q, self.p) if back else (self.p, self.q)

        def gain(x):
            return likely(x) - np.exp(epsilon) * unlikely(x)

        grid = np.unique(self.edges)
        signs = np.sign(gain(grid))
        crossings = [brentq(gain, grid[k], grid[k + 1], xtol=1e-14) for k in np.flatnonzero(signs[1:] * signs[:-1] < 0)]
        return integral(lambda x: np.maximum(gain(x), 0), [*grid, *crossings])

    def largest(self, *, back=False):
        if self.supremum is not None:
            return self.supremum[back]
        grid = np.unique(self.edges)[1:-1]  # the very ends are too far for the densities' digits
        ratios = self.log_ratio(grid)
        return float(np.max(-ratios if back else ratios))

    def log_ratio(self, outputs):
        with np.errstate(divide="ignore"):
            return np.log(self.p(outputs)) - np.log(self.q(outputs))


@dataclass
class Shifts(Law):
    """`count` independent Laplace numbers, each moved by `step` of its scale.

    The loss of one is step with probability 1/2, -step with e^-step / 2, and else step (2 u - 1), u of density
    step/2 e^(-step (1-u)) on [0, 1]; so m of the last kind have a sum with a tilted Irwin-Hall density.
    """

    count: int
    step: float
    loss: object
    how: str = "sum over the outputs beyond either value, Irwin-Hall quadrature between"

    def delta(self, epsilon, *, back=False):
        total, a = 0.0, self.step
        for up, down in itertools.product(range(self.count + 1), repeat=2):
            between = self.count - up - down
            if between < 0:
                continue
            ways = math.exp(gammaln(self.count + 1) - gammaln(up + 1) - gammaln(down + 1) - gammaln(between + 1))
            mass, base = ways * 0.5**up * (math.exp(-a) / 2) ** down, a * (up - down)
            if between == 0:
                total += mass * max(0.0, -math.expm1(epsilon - base))
                continue
            density = BSpline.basis_element(np.arange(between + 1.0), extrapolate=False)

            def part(s, base=base, between=between, density=density):
                loss = base + a * (2 * s - between)
                weight = (a / 2) ** between * np.exp(-a * (between - s)) * np.nan_to_num(density(s))
                return weight * np.maximum(0, -np.expm1(epsilon - loss))

            crossing = ((epsilon - base) / a + between) / 2
            edges = [*np.arange(between + 1.0), min(max(crossing, 0.0), float(between))]
            total += mass * integral(part, edges)
        return total

    def largest(self, *, back=False):
        return self.count * self.step

    def log_ratio(self, outputs):
        return self.loss(np.asarray(outputs, dtype=float))


@dataclass
class Scaled(Law):
    """A law seen with probability `p` or `q`: part of a larger one."""

    law: Law
    p: float
    q: float

    def delta(self, epsilon, *, back=False):
        likely, unlikely = (self.q, self.p) if back else (self.p, self.q)
        if likely == 0:
            return 0.0
        return likely * (self.law.delta(epsilon - math.log(likely / unlikely), back=back) if unlikely else 1.0)

    def largest(self, *, back=False):
        if (self.q if back else self.p) == 0:
            return -math.inf
        with np.errstate(divide="ignore"):
            ratio = float(np.log(self.p) - np.log(self.q))
        return (-ratio if back else ratio) + self.law.largest(back=back)


@dataclass
class Union(Law):
    """Parts with disjoint outputs; `look` gives the log-ratio of outputs."""

    parts: list
    look: object
    how: str

    def delta(self, epsilon, *, back=False):
        return sum(part.delta(epsilon, back=back) for part in self.parts)

    def largest(self, *, back=False):
        return max(part.largest(back=back) for part in self.parts)

    def log_ratio(self, outputs):
        return self.look(outputs)


@dataclass
class Normal(Law):
    """Two normal laws `mu` standard deviations apart, the second `shift` above the first."""

    mu: float
    shift: float = 1.0
    how: str = "closed form in the normal distribution function"

    def delta(self, epsilon, *, back=False):
        return float(ndtr(self.mu / 2 - epsilon / self.mu) - math.exp(epsilon) * ndtr(-self.mu / 2 - epsilon / self.mu))

    def largest(self, *, back=False):
        return math.inf

    def log_ratio(self, outputs):
        return -((np.asarray(outputs) / self.shift - 0.5) * self.mu**2)
