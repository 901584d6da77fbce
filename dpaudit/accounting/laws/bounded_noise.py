"""Losses of bounded noise: truncated Laplace and Gaussian noise on the integers, and noise with finitely many rational odds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from flint import arb, ctx

from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.pairs import ExplicitPair
from dpaudit.accounting.model.law import Atom, Atoms, Law, LossValue, Symmetric
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, fmpq_of, shown, working_precision

MOST_OUTPUTS: Final = 1 << 14  # Truncated noise on more integers than this is not priced
MOST_PAIRS: Final = 1 << 18  # Finite noise is priced while the product of its values and shifts stays below this


@dataclass(frozen=True)
class TruncatedNoise(Symmetric):  # reflection exchanges the two sides
    """Noise of weight exp(-cost(k)) for |k| <= reach, around `sensitivity` against around 0."""

    # `power` 1 is Laplace noise, cost |k| / parameter; 2 is Gaussian, k^2 / (2 parameter). Outputs that only one side gives have a
    # probability that is no rational number: the law is mixed with a little of one that reveals everything (`infinity` above the
    # truth) or nothing (`infinity` below it), so that `infinity` is their exact mass; `reveals` says which.
    power: int
    parameter: Fraction
    reach: int
    sensitivity: int
    infinity: Fraction
    reveals: bool

    def describe(self) -> str:
        return name_of_noise(self.power, self.parameter, self.reach, self.sensitivity)

    def greatest_loss(self) -> LossValue | None:
        """The loss at the outermost output that both sides give; losses grow with the output, since the noise is log-concave."""
        return LossValue(max(self._loss(self.reach), Fraction(0)))

    def infinity_mass(self) -> Fraction:
        return self.infinity

    def _loss(self, output: int) -> Fraction:
        """Loss of an output that both sides give."""
        return cost(self.power, self.parameter, output) - cost(self.power, self.parameter, output - self.sensitivity)

    def log_moment(self, order: Fraction) -> arb:
        return sum((ball(order * atom.loss.nats).exp() * atom.p_mass for atom in self.atoms(0).atoms), arb(0)).log()

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - there is no tail
        """The finite losses, outputs of equal loss put together."""
        return _atoms(self, ctx.prec)


@lru_cache(maxsize=16)
def _atoms(law: TruncatedNoise, precision: int) -> Atoms:
    """The atoms of truncated noise at a working precision, kept because a search asks often."""
    with working_precision(precision):
        weights = _weights(law.power, law.parameter, law.reach)
        masses: defaultdict[Fraction, arb] = defaultdict(lambda: arb(0))
        for output in range(law.sensitivity - law.reach, law.reach + 1):
            masses[law._loss(output)] += weights[abs(output - law.sensitivity)]  # noqa: SLF001
        known = sum(masses.values(), arb(0))
        alone = _alone(weights, law.reach, law.sensitivity)
        if law.reveals:
            share = ball(1 - law.infinity) / known
        elif law.infinity:
            share = ball(law.infinity) / alone
            masses[Fraction(0)] += (1 / share - known - alone).nonnegative_part()
        else:  # the outputs that only one side gives, too unlikely for an exact mass, are taken for one output that both give
            share = 1 / (known + alone)
            masses[Fraction(0)] += alone
        found = [(LossValue(loss), mass * share) for loss, mass in sorted(masses.items())]
        return Atoms(tuple(Atom(loss, mass, mass * (-loss.ball()).exp()) for loss, mass in found), fmpq_of(law.infinity))


def cost(power: int, parameter: Fraction, k: int) -> Fraction:
    """Negative logarithm of the weight of a noise value."""
    return abs(k) / parameter if power == 1 else Fraction(k * k) / (2 * parameter)


def _weights(power: int, parameter: Fraction, reach: int) -> list[arb]:
    """Weights of the sizes 0 to reach."""
    return [ball(-cost(power, parameter, k)).exp() for k in range(reach + 1)]


def _alone(weights: Sequence[arb], reach: int, sensitivity: int) -> arb:
    """Weight of the noise values that put the output where the other side gives none."""
    return sum((weights[abs(k)] for k in range(reach - sensitivity + 1, reach + 1)), arb(0))


def name_of_noise(power: int, parameter: Fraction, reach: int, sensitivity: int) -> str:
    """Return the name of truncated noise."""
    kind, name = ("laplace", "scale") if power == 1 else ("gaussian", "sigma_squared")
    return f"truncated_discrete_{kind}({name}={shown(parameter)}, reach={reach}, sensitivity={sensitivity})"


def truncated_noise(power: int, parameter: Fraction, reach: int, sensitivity: int) -> Law:
    """The loss of truncated noise, between two laws whose revealing mass is rational; they differ by 2**-200 of it."""
    if not 1 <= sensitivity <= 2 * reach or 2 * reach + 1 > MOST_OUTPUTS:
        raise Unsupported(
            "DPA202",
            f"truncated noise is priced for a reach of at most {(MOST_OUTPUTS - 1) // 2} and at least half the sensitivity, in "
            f"lattice steps; got reach {reach} and sensitivity {sensitivity}. Use a coarser lattice or a wider range.",
        )
    with working_precision(256):
        weights = _weights(power, parameter, reach)
        total = weights[0] + 2 * sum(weights[1:], arb(0))
        lower, upper = ball_endpoints(_alone(weights, reach, sensitivity) / total)
    laws = [TruncatedNoise(power, parameter, reach, sensitivity, Fraction(end), end == upper) for end in (upper, lower)]
    ground = "log-concave noise loses most at the greatest shift; the mass of infinite loss is rounded outward"
    return Between(name_of_noise(power, parameter, reach, sensitivity), laws[0], laws[1], ground)


def finite_noise(values: Sequence[int], masses: Sequence[Fraction], sensitivity: int) -> Law:
    """The loss of noise with finitely many rational odds, at the worst of all shifts up to the sensitivity, both ways.

    Every shift gives a curve of (mass under Q, mass under P) of the likeliest outputs. The concave hull of all these curves is
    that of a pair which dominates them all, and it is symmetric since every shift occurs both ways.

    Source: Zhu, Dong, Wang 2022, Proposition 10.
    """
    if 2 * len(values) * sensitivity > MOST_PAIRS:
        raise Unsupported("DPA202", "finite noise on so many values, for so many shifts, is not priced. Use a coarser lattice.")
    odds = dict(zip(values, masses, strict=True))
    name = f"finite_noise({len(values)} values from {values[0]} to {values[-1]}, sensitivity={sensitivity})"
    curves = {shift: _curve(odds, shift) for shift in range(-sensitivity, sensitivity + 1) if shift}
    worst = _pair(_hull([point for curve in curves.values() for point in curve]), name)
    largest = _pair(curves[sensitivity], name)
    if worst == largest:
        return worst
    ground = "the worst shift depends on epsilon; the hull of all shifts is above, the largest shift alone below"
    return Between(name, worst, largest, ground)


def _curve(odds: dict[int, Fraction], shift: int) -> list[tuple[Fraction, Fraction]]:
    """(Q mass, P mass) of the outputs whose ratio P / Q is largest, for P the noise moved by `shift` and Q the noise."""
    gains: defaultdict[Fraction | None, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for output in {*odds, *(value + shift for value in odds)}:
        p_mass, q_mass = odds.get(output - shift, Fraction(0)), odds.get(output, Fraction(0))
        sums = gains[p_mass / q_mass if q_mass else None]
        sums[0] += q_mass
        sums[1] += p_mass
    # Ratios in decreasing order, None (only P gives the output) first.
    ordered = sorted(gains.items(), key=lambda item: (item[0] is None, item[0] or Fraction(0)), reverse=True)
    points = [(Fraction(0), Fraction(0))]
    for _, (q_mass, p_mass) in ordered:
        points.append((points[-1][0] + q_mass, points[-1][1] + p_mass))
    return points


def _hull(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The upper concave hull of the points, from left to right; steeper edges come first."""
    hull: list[tuple[Fraction, Fraction]] = []
    for q_mass, p_mass in [(Fraction(0), Fraction(0)), *sorted(set(points))]:
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], (q_mass, p_mass)):
            hull.pop()
        if not hull or hull[-1] != (q_mass, p_mass):
            hull.append((q_mass, p_mass))
    return hull


def _turns_left(first: tuple[Fraction, Fraction], middle: tuple[Fraction, Fraction], last: tuple[Fraction, Fraction]) -> bool:
    """True if the middle point lies on or below the line from the first to the last."""
    (x, y), (u, v), (a, b) = first, middle, last
    return (u - x) * (b - y) >= (v - y) * (a - x)


def _pair(curve: Sequence[tuple[Fraction, Fraction]], name: str) -> ExplicitPair:
    """The pair whose likeliest outputs trace a concave curve: one output an edge."""
    common: dict[Fraction, tuple[Fraction, Fraction]] = {}
    only_p = only_q = Fraction(0)
    for (x, y), (u, v) in pairwise(curve):
        q_mass, p_mass = u - x, v - y
        if not q_mass:
            only_p += p_mass
        elif not p_mass:
            only_q += q_mass
        else:
            known = common.get(p_mass / q_mass, (Fraction(0), Fraction(0)))
            common[p_mass / q_mass] = (known[0] + p_mass, known[1] + q_mass)
    return ExplicitPair(tuple(masses for _, masses in sorted(common.items())), only_p, only_q, name)
