"""Moments of mixtures of normal laws by the trapezoidal rule over the output, with the error of the rule in every ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from flint import acb, arb, ctx

from dpaudit.accounting.laws.mixed_pair import NormalMixtures
from dpaudit.exact import ball

# Nats by which the errors of a quadrature are to be smaller than what it computes, for a law that is used once.
ACCURACY: Final = 56
WIDEST_STRIP: Final = 8.0  # Half the width of the strip in which the integrand is bounded, in standard deviations
MOST_NODES: Final = 1 << 12
PLACES_TRIED: Final = 64  # Places among which the end of the integrand is sought


class Node(NamedTuple):
    """An output with its loss, its density under P, and the density of the standard normal law."""

    place: arb
    loss: arb
    density: arb
    normal: arb


@dataclass(frozen=True)
class Quadrature:
    """Nodes first * step, ..., last * step of the rule for M(z) = integral of phi A^(1 + z) B^-z, A and B the sums of the sides."""

    # A(x + iy) is a sum of terms whose arguments lie between y times its least and its greatest distance, so |A| is at most A(x)
    # and at least A(x) cos(y times half their difference); where A is a product of k sums of two terms, at least the product of k
    # such bounds, each with a difference k times smaller. B likewise. `strip` is narrow enough for the angles.
    law: NormalMixtures
    step: Fraction
    first: int
    last: int
    strip: Fraction

    @property
    def size(self) -> int:
        return self.last - self.first + 50

    @cached_property
    def lengths(self) -> tuple[arb, arb]:
        """The sum of the greatest distances of both sides, and the step in which B turns; in standard deviations."""
        unit = ball(self.law.unit_squared).sqrt()
        return unit * ball(sum(self.law.reach)), unit * ball(self.law.turns[1][0])

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes; kept, since many orders are asked."""
        return tuple(node_at(self.law, self.step, index, ctx.prec) for index in range(self.first, self.last + 1))

    @cached_property
    def points(self) -> tuple[tuple[arb, arb], ...]:
        """Loss and P weight of each node."""
        return tuple((node.loss, ball(self.step) * node.density) for node in self.nodes)

    def at(self, order: Fraction) -> arb:
        """The rule on the real axis: |sum + tails - M| <= share * M."""
        power = ball(order)
        whole = sum((mass * (power * loss).exp() for loss, mass in self.points), arb(0))
        share = self.share(order, Fraction(0), Fraction(0))
        most = (whole + self.tails(order)) / (1 - share) if share < 1 else arb("inf")
        return (whole / (1 + share)).union(most)

    def along(self, theta: Fraction, last: Fraction) -> arb:
        """A bound on the error of the rule at real part `theta` and imaginary parts up to `last`."""
        return (self.share(theta, last, Fraction(0)) * self.at(theta) + self.tails(theta)).abs_upper()

    def beyond(self, theta: Fraction, place: Fraction, shift: Fraction) -> arb:
        """|M(theta + i t)| <= E[|A|^(1 + theta) |B|^-theta e^(y^2/2 - t arg)] on the line shifted by y, for every t >= place."""
        power, height, turn, total = ball(theta), ball(place), ball(shift), arb(0)
        for node in self.nodes:
            output = acb(node.place, turn)
            top, bottom = self.law.sums().series[0].log_at(output)[0], self.law.sums().series[1].log_at(-output)[0]
            size = (1 + power) * top.real - power * bottom.real - height * (top.imag - bottom.imag)
            total += node.normal * size.exp()
        whole, step = self.at(theta), ball(self.step)
        rest = self.share(theta, place / 2, shift) * whole + self.tails(theta) * self.bulge(theta, shift)
        return ((turn * turn / 2).exp() * (step * total + rest)).min(whole)

    def tails(self, order: Fraction) -> arb:
        """Terms beyond an end x, where their logarithm without -x^2/2 rises at most like c|x|: below the last/(step (|x| - c))."""
        # To the left it falls; to the right the mean distance of P is at most its greatest, and that of Q falls.
        power, step = ball(order), ball(self.step)
        first, last = self.nodes[0], self.nodes[-1]
        terms = [step * node.density * (power * node.loss).exp() for node in (first, last)]
        rise = (1 + power) * ball(self.law.unit_squared).sqrt() * ball(self.law.reach[0]) + power * self.law.sums().series[
            1
        ].log_at(-last.place)[1]
        gaps = -first.place, last.place - rise
        return (terms[0] / gaps[0] + terms[1] / gaps[1]) / step if all(gap > 0 for gap in gaps) else arb("inf")

    def share(self, order: Fraction, place: Fraction, shift: Fraction) -> arb:
        """Bound on the error of the rule on the whole line relative to M(order), at an imaginary part and a shift of the line."""
        strip = ball(self.strip)
        grown = (strip * strip / 2 + ball(place) * self.lengths[0] * strip).exp() * self.bulge(order, self.strip + shift)
        return 2 * grown / (2 * arb.pi() * strip / ball(self.step)).expm1()

    def bulge(self, order: Fraction, distance: Fraction) -> arb:
        """Bound how much |B|^-order may grow at this distance from the real axis."""
        times = self.law.turns[1][1]
        return (self.lengths[1] * ball(distance) / 2).cos() ** -ball(times * order) if self.law.turns[1][0] else arb(1)


@lru_cache(maxsize=1 << 13)
def node_at(law: NormalMixtures, step: Fraction, index: int, bits: int) -> Node:  # noqa: ARG001 - nodes of their own for each precision
    """A node at the current precision."""
    place = ball(step * index)
    up, down = law.sums().series
    log_up, log_normal = up.log_at(place)[0], -place * place / 2
    root = (2 * arb.pi()).sqrt()
    return Node(place, log_up - down.log_at(-place)[0], (log_up + log_normal).exp() / root, log_normal.exp() / root)


def quadrature(law: NormalMixtures, count: int, *, greatest: Fraction, place: Fraction) -> Quadrature | None:
    """A quadrature for orders up to `greatest` and imaginary parts up to `place`; None where it takes too many nodes."""
    unit = math.sqrt(law.unit_squared)
    if not unit < 2.0**200 or greatest > 2**200:
        return None
    order, both = float(greatest), unit * float(sum(law.reach))
    narrow = unit * float(max(step for step, _ in law.turns))
    strip = min(math.pi / (2.1 * narrow), WIDEST_STRIP) if narrow else WIDEST_STRIP
    accuracy = ACCURACY + math.log(count)
    reach = math.sqrt(2 * accuracy)
    grown = order * law.turns[1][1] if law.turns[1][0] else 0.0
    needed = accuracy + strip * strip / 2 + float(place) * both * strip + grown
    step = Fraction(2) ** math.floor(math.log2(2 * math.pi * strip / needed))
    right = _last_rise(law, order) + reach
    left = unit * float(law.reach[1]) / 2 + reach
    if not (left + right) / float(step) <= MOST_NODES:
        return None
    return Quadrature(law, step, -math.ceil(left / step), math.ceil(right / step), Fraction(strip))


def _last_rise(law: NormalMixtures, order: float) -> float:
    """About the last place where the integrand rises: beyond it falls like a normal density."""
    unit = math.sqrt(law.unit_squared)
    most = (1 + order) * unit * float(law.reach[0]) + order * unit * float(law.reach[1])
    if not law.reach[1] or not math.isfinite(most):
        return most
    sides = [[(unit * float(d), math.log(w) - float(law.unit_squared * d * d) / 2) for d, w in side] for side in (law.up, law.down)]
    for part in range(PLACES_TRIED):
        place = most * (1 - part / PLACES_TRIED)
        means = []
        for side, sign in zip(sides, (1, -1), strict=True):
            logs = [weight + sign * distance * place for distance, weight in side]
            peak = max(logs)
            masses = [math.exp(log - peak) for log in logs]
            means.append(sum(mass * distance for mass, (distance, _) in zip(masses, side, strict=True)) / sum(masses))
        if (1 + order) * means[0] + order * means[1] >= place:
            return most * (1 - (part - 1) / PLACES_TRIED)
    return most / PLACES_TRIED
