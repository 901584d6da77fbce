"""Moment functions M(z) = E_P[e^(z loss); finite loss] along vertical lines of the complex plane, in ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, Protocol

import numpy as np
from flint import acb, acb_mat, arb, ctx

from dpaudit.accounting.engines.float_sums import float_sums
from dpaudit.accounting.laws.distributions import Blend, DoubleExponential, Normal, Thinned, WorstOfRange
from dpaudit.accounting.laws.mixed_distribution import MixedLosses
from dpaudit.accounting.laws.mixed_quadrature import Quadrature, quadrature
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.accounting.model.transform import Reals
from dpaudit.exact import ball, working_precision

MOST_POINTS: Final = 1 << 12  # Laws with more points, and quadratures with more nodes, are left to the lattice
# Nats by which the errors of a quadrature are to be smaller than what it computes, for a law that is used once.
ACCURACY: Final = 56
SMALLEST_FLOAT: Final = 2.0**-200  # Distances and rates beyond are left to the bounds
SKIPPED: Final = 4  # A rough bound is computed on one node in so many
ACCURACY_OF_FLOATS: Final = 30  # The same where values are computed in floats
WIDEST_STRIP: Final = 8.0  # Half the width of the strip, in standard deviations, where no branch point is nearer
SHIFTS: Final = np.geomspace(1e-7, 1.0, 48)  # Shifts of the line of integration that are tried, relative to the widest


class Moments(Protocol):
    """A law by its moment function; everything is computed at the current precision."""

    @property
    def size(self) -> int:
        """The cost of a value of the function, in products of complex numbers."""

    def grid(self, theta: Fraction, step: Fraction, side: int) -> acb_mat:
        """Balls around M(theta + i (side row + column) step), a square matrix with `side` rows."""

    def at(self, order: Fraction) -> arb:
        """A ball around M(order), order >= 0."""

    def beyond(self, theta: Fraction, place: Fraction) -> arb:
        """A ball at or above |M(theta + i t)| for every t >= place."""

    def rough_beyond(self, theta: Fraction, place: Fraction) -> float:
        """Logarithm of about as much, or of less, in floats: where it is too much, the bound need not be computed."""


def moments_of(
    law: Distribution, count: int, *, greatest: Fraction, place: Fraction, tail: int, floats: bool = False
) -> tuple[Moments, arb] | None:
    """Moments for real parts up to `greatest` and imaginary parts up to `place`, and the mass of the infinite loss; else None."""
    # They are good enough for `count` uses of the law.
    match law:
        case Normal():
            return NormalMoments(law.mu_squared), arb(0)
        case Thinned(base=Normal()):
            sampled = sampled_normal(law, count, greatest=greatest, place=place, floats=floats)
            return None if sampled is None else (sampled, arb(0))
        case MixedLosses():
            rule = quadrature(law.law, count, greatest=greatest, place=place)
            return None if rule is None else (MixedMoments(rule), arb(0))
        case Blend():
            found = [
                moments_of(base, count, greatest=greatest, place=place, tail=tail, floats=floats) for base, _ in law.components
            ]
            return _blended(law, [one for one in found if one is not None])
        case DoubleExponential():
            end = ball(law.epsilon)
            return Elementary(_points(law, tail), (-end / 2).exp() / 4, end), arb(0)
        case WorstOfRange():
            end = ball(law.width)
            return Elementary((), (end / 2).exp() / (2 * end.expm1()), end), arb(0)
        case _:
            assert isinstance(law, Hashable)  # noqa: S101 - all distributions are frozen
            return _only_points(law, tail, int(ctx.prec))


def _blended(law: Blend, found: Sequence[tuple[Moments, arb]]) -> tuple[Moments, arb] | None:
    """Moments of a blend from those of its components; None where some are missing."""
    if len(found) < len(law.components):
        return None
    weights = [weight for _, weight in law.components]
    infinity = sum((ball(weight) * mass for (_, mass), weight in zip(found, weights, strict=True)), ball(law.beyond))
    return BlendMoments(tuple((moments, weight) for (moments, _), weight in zip(found, weights, strict=True))), infinity


@lru_cache(maxsize=64)
def _only_points(law: Hashable, tail: int, bits: int) -> tuple[Moments, arb] | None:
    """Moments of a law that is nothing but points; every line at one precision asks for the same."""
    assert isinstance(law, Distribution)  # noqa: S101 - typing knows no distribution that can be looked up
    with working_precision(bits):
        points = law.points(tail)
        if law.nodes().losses.size or len(points.finite) > MOST_POINTS:
            return None
        return Elementary(tuple((loss, p_mass) for loss, p_mass, _ in points.finite), arb(0), arb(0)), points.p_infinity


def _points(law: Distribution, tail: int) -> tuple[tuple[arb, arb], ...]:
    """Finite losses with their P masses."""
    return tuple((loss, p_mass) for loss, p_mass, _ in law.points(tail).finite)


@dataclass(frozen=True)
class NormalMoments:
    """The loss of N(mu, 1) against N(0, 1): M(z) = e^(z (1 + z) mu^2/2)."""

    mu_squared: Fraction

    @property
    def size(self) -> int:
        """As long as so many products of complex numbers."""
        return 100

    def grid(self, theta: Fraction, step: Fraction, side: int) -> acb_mat:
        half = ball(self.mu_squared / 2)
        return acb_mat(side, side, [(z * (1 + z) * half).exp() for z in places(theta, step, side)])

    def at(self, order: Fraction) -> arb:
        return ball(order * (1 + order) * self.mu_squared / 2).exp()

    def beyond(self, theta: Fraction, place: Fraction) -> arb:
        """The size of the closed form, which falls with t."""
        return ball((theta * (1 + theta) - place * place) * self.mu_squared / 2).exp()

    def rough_beyond(self, theta: Fraction, place: Fraction) -> float:
        return float((theta * (1 + theta) - place * place) * self.mu_squared / 2)


@dataclass(frozen=True)
class Elementary:
    """Points of mass, and a density `height` e^(loss/2) on [-end, end]; where both are there, the points are its two ends."""

    points: tuple[tuple[arb, arb], ...]
    height: arb
    end: arb

    @property
    def size(self) -> int:
        """The points, and exponentials for the density."""
        return len(self.points) + (50 if self.height.is_zero() else 250)

    def grid(self, theta: Fraction, step: Fraction, side: int) -> acb_mat:
        """Sums of exponentials, and the integral of the density."""
        found = _power_sums(self.points, theta, step, side)
        if self.height.is_zero():
            return found
        rise = (self.end / 2).exp() * self.height
        ends = (self.end, rise), (-self.end, -self.height * self.height / rise)
        exponentials = _power_sums(ends, theta, step, side).entries()
        diffuse = [value / (z + 0.5) for value, z in zip(exponentials, places(theta, step, side), strict=True)]
        return found + acb_mat(side, side, diffuse)

    def at(self, order: Fraction) -> arb:
        """The same on the real axis."""
        rate = ball(order) + 0.5
        return self._weight(order) + 2 * self.height * (rate * self.end).sinh() / rate

    def beyond(self, theta: Fraction, place: Fraction) -> arb:
        """Points do not fade, a density of total variation v has at most v/t, and two points turn against each other at first."""
        variation, weight, whole = 2 * self.height * ((ball(theta) + 0.5) * self.end).exp(), self._weight(theta), self.at(theta)
        bound = weight + variation / ball(place)
        if self.points and not self.height.is_zero() and ball(2 * place) * self.end < arb.pi():
            low, high = _tilt_masses(self.points, theta)[0], _tilt_masses(self.points, theta)[-1]
            turned = (weight * weight - 4 * low * high * (ball(place) * self.end).sin() ** 2).sqrt() + whole - weight
            bound = bound.min(turned.max(weight + variation / (arb.pi() / self.end - ball(place))))
        return bound.min(whole)

    def rough_beyond(self, theta: Fraction, place: Fraction) -> float:  # noqa: ARG002 - points do not fade
        return float(self._weight(theta).log()) if self.height.is_zero() else -math.inf

    def _weight(self, order: Fraction) -> arb:
        """Moment of the points alone, computed once."""
        if order not in self._weights:
            self._weights[order] = sum(_tilt_masses(self.points, order), arb(0))
        return self._weights[order]

    @cached_property
    def _weights(self) -> dict[Fraction, arb]:
        """Moments that were asked for: everything is asked at one precision, that for which the points are listed."""
        return {}


@dataclass(frozen=True)
class SampledNormal:
    """A Poisson-sampled normal loss by the trapezoidal rule over the output, with the error of the rule in every ball."""

    # The loss is l = log R when a record is removed and -log R when one is added, R(x) = 1 - rate + rate e^(mu x - mu^2/2), x
    # standard normal without the record. Nodes are first * step, ..., last * step; `strip` < pi/mu - pi/(4 mu).
    mu_squared: Fraction
    rate: Fraction
    removing: bool
    step: Fraction
    first: int
    last: int
    strip: Fraction
    # True where a line of many laws is computed in floats, less accurately.
    floats: bool = False

    @property
    def size(self) -> int:
        return (self.last - self.first) // 32 + 50 if self.floats else self.last - self.first + 50

    @cached_property
    def _moments(self) -> dict[Fraction, arb]:
        """Moments that were asked for: everything is asked at one precision, that of the line for which this is built."""
        return {}

    @cached_property
    def _bounds(self) -> dict[tuple[Fraction, Fraction], arb]:
        """Bounds beyond a place that were asked for."""
        return {}

    @cached_property
    def _mu(self) -> arb:
        """Distance of the two normal laws."""
        return ball(self.mu_squared).sqrt()

    @cached_property
    def _nodes(self) -> tuple[tuple[arb, arb, arb], ...]:
        """Exponent mu x - mu^2/2, logarithm of R, and weight of each node: its step times the normal density."""
        step, rate, half = ball(self.step), ball(self.rate), ball(self.mu_squared / 2)
        scale, found = step / (2 * arb.pi()).sqrt(), []
        for index in range(self.first, self.last + 1):
            place = step * index
            exponent = self._mu * place - half
            found.append((exponent, (rate * exponent.expm1()).log1p(), scale * (-place * place / 2).exp()))
        return tuple(found)

    @cached_property
    def _points(self) -> tuple[tuple[arb, arb], ...]:
        """Loss and P weight of each node."""
        if self.removing:
            return tuple((log_ratio, weight * log_ratio.exp()) for _, log_ratio, weight in self._nodes)
        return tuple((-log_ratio, weight) for _, log_ratio, weight in self._nodes)

    def grid(self, theta: Fraction, step: Fraction, side: int) -> acb_mat:
        """The rule along the line, each value with the error at its far end."""
        last = (side * side - 1) * step
        error = (self._share(theta, last, Fraction(0)) * self.at(theta) + self._tails(theta)).abs_upper()
        room = (-error).union(error)
        losses, masses = [loss for loss, _ in self._points], _tilt_masses(self._points, theta)
        sums = float_sums(masses, losses, step, side) if self.floats else None
        exact = _power_sums(self._points, theta, step, side) if sums is None else sums
        return exact + acb_mat(side, side, [acb(room, room)] * (side * side))

    def at(self, order: Fraction) -> arb:
        """The rule on the real axis: |sum + tails - M| <= share * M."""
        if order not in self._moments:
            whole, share = sum(_tilt_masses(self._points, order), arb(0)), self._share(order, Fraction(0), Fraction(0))
            most = (whole + self._tails(order)) / (1 - share) if share < 1 else arb("inf")
            self._moments[order] = (whole / (1 + share)).union(most)
        return self._moments[order]

    def beyond(self, theta: Fraction, place: Fraction) -> arb:
        """The bound at the best shift of the line, computed once."""
        if (theta, place) not in self._bounds:
            self._bounds[theta, place] = self._beyond(theta, place)
        return self._bounds[theta, place]

    def _beyond(self, theta: Fraction, place: Fraction) -> arb:
        """|M(theta + i t)| <= E[|R(x + i y)|^p e^(y^2/2 - t |arg R(x + i y)|)] for every y, which falls with t."""
        shift, power = self._shift(theta, place), ball(1 + theta if self.removing else -theta)
        turn, stay = acb(0, self._mu * ball(shift)).exp() * ball(self.rate), ball(1 - self.rate)
        height, total = ball(place), arb(0)
        apart = 2 if self.floats else 1
        for exponent, _, weight in self._nodes[::apart]:
            logarithm = (turn * exponent.exp() + stay).log()
            total += apart * weight * (power * logarithm.real - height * logarithm.imag).exp()
        whole = self.at(theta)
        rest = self._share(theta, place / 2, shift, apart) * whole + apart * self._tails(theta) * self._bulge(theta, shift)
        return (ball(shift * shift / 2).exp() * (total + rest)).min(whole)

    def _tails(self, order: Fraction) -> arb:
        """Terms beyond an end x, where their logarithm without -x^2/2 rises at most like c|x|: below last/(step (|x| - c))."""
        (first, last), (exponent, log_ratio, _) = _tilt_masses((self._points[0], self._points[-1]), order), self._nodes[0]
        left = arb(0) if self.removing else ball(order * self.rate) * self._mu * (exponent - log_ratio).exp()
        right = ball(1 + order) * self._mu if self.removing else arb(0)
        gaps = ball(-self.first * self.step) - left, ball(self.last * self.step) - right
        if not all(gap > 0 for gap in gaps):
            return arb("inf")
        return (first / gaps[0] + last / gaps[1]) / ball(self.step)

    def _share(self, order: Fraction, place: Fraction, shift: Fraction, apart: int = 1) -> arb:
        """Bound on the error of the rule on the whole line relative to M(order), at an imaginary part and a shift of the line."""
        # `apart` nodes make one step.
        strip = ball(self.strip)
        grown = (strip * strip / 2 + ball(place) * self._mu * strip).exp() * self._bulge(order, self.strip + shift)
        return 2 * grown / (2 * arb.pi() * strip / ball(apart * self.step)).expm1()

    def _bulge(self, order: Fraction, distance: Fraction) -> arb:
        """Bound how much |R|^-order may grow at this distance from the real axis; 1 where the power is positive."""
        return arb(1) if self.removing else (self._mu * ball(distance) / 2).cos() ** -ball(order)

    def rough_beyond(self, theta: Fraction, place: Fraction) -> float:
        """The same bound on every fourth node."""
        return self._best_shift(theta, place)[1]

    def _shift(self, theta: Fraction, place: Fraction) -> Fraction:
        """The best shift of the line, sought in floats."""
        return self._best_shift(theta, place)[0]

    def _best_shift(self, theta: Fraction, place: Fraction) -> tuple[Fraction, float]:
        """The best shift among few, then among those next to the best of these; and the logarithm of about the bound there."""
        near = SKIPPED * self._shifted(theta, place, SHIFTS[::SKIPPED])[0]
        return self._shifted(theta, place, SHIFTS[max(near - SKIPPED + 1, 0) : near + SKIPPED])[1:]

    def _shifted(self, theta: Fraction, place: Fraction, relative: Reals) -> tuple[int, Fraction, float]:
        """Number and size of the best of some shifts, and the logarithm of about the bound there, on a few of the nodes."""
        mu, rate, width = math.sqrt(self.mu_squared), float(self.rate), SKIPPED * float(self.step)
        x = np.arange(self.first, self.last + 1, SKIPPED) * float(self.step)
        ratio = rate * np.exp(mu * x - mu * mu / 2)
        shifts = min(math.pi / (4 * mu), WIDEST_STRIP) * relative[:, None]
        ratios = np.log(1 - rate + ratio * np.exp(1j * mu * shifts))
        power = 1 + float(theta) if self.removing else -float(theta)
        bounds, whole = (
            _log_sum(terms)
            for terms in (
                power * ratios.real - float(place) * ratios.imag + shifts * shifts / 2 - x * x / 2,
                power * np.log(1 - rate + ratio) - x * x / 2,
            )
        )
        best = int(np.argmin(bounds))
        size = min(float(bounds[best]), float(whole)) + math.log(width / math.sqrt(2 * math.pi))
        return best, Fraction(float(shifts[best, 0])), size


def _log_sum(terms: Reals) -> Reals:
    """Logarithms of sums of exponentials along the last axis."""
    peak = terms.max(axis=-1, keepdims=True)
    found: Reals = (peak + np.log(np.exp(terms - peak).sum(axis=-1, keepdims=True)))[..., 0]
    return found


def sampled_normal(law: Thinned, count: int, *, greatest: Fraction, place: Fraction, floats: bool = False) -> SampledNormal | None:
    """A quadrature for orders up to `greatest` and imaginary parts up to `place`; None where it takes too many nodes."""
    if not isinstance(law.base, Normal):
        return None
    mu, rate, order = math.sqrt(law.base.mu_squared), float(law.rate), float(greatest)
    if not (SMALLEST_FLOAT < mu < 1 / SMALLEST_FLOAT and SMALLEST_FLOAT < rate < 1):  # floats plan the nodes
        return None
    strip = min(math.pi / (2.1 * mu), WIDEST_STRIP)
    accuracy = (ACCURACY_OF_FLOATS if floats else ACCURACY) + math.log(count)
    reach = math.sqrt(2 * accuracy)
    needed = accuracy + strip * strip / 2 + float(place) * mu * strip + (0 if law.removing else order)
    step = Fraction(2 * math.pi * strip / needed).limit_denominator(1 << 12)
    right, left = (1 + order) * mu if law.removing else 0.0, 0.0
    if not law.removing:  # terms grow to the left until R is close to 1 - rate
        left = min(order * mu, max(0.0, (math.log(rate / (1 - rate)) + 7) / mu - mu / 2))
    if not step or (right + left + 2 * reach) / step > MOST_POINTS:
        return None
    first, last = -math.ceil((left + reach) / step), math.ceil((right + reach) / step)
    if floats:  # every second node is a rule as well
        last += (last - first) % 2
    return SampledNormal(law.base.mu_squared, law.rate, law.removing, step, first, last, Fraction(strip), floats)


@dataclass(frozen=True)
class MixedMoments:
    """Mixtures of normal laws by their quadrature."""

    rule: Quadrature

    @property
    def size(self) -> int:
        return self.rule.size

    def grid(self, theta: Fraction, step: Fraction, side: int) -> acb_mat:
        """The rule along the line, each value with the error at its far end."""
        error = self.rule.along(theta, (side * side - 1) * step)
        room = (-error).union(error)
        return _power_sums(self.rule.points, theta, step, side) + acb_mat(side, side, [acb(room, room)] * (side * side))

    def at(self, order: Fraction) -> arb:
        return self.rule.at(order)

    def beyond(self, theta: Fraction, place: Fraction) -> arb:
        """The least bound of all shifts of the line, sought in floats."""
        return self.rule.beyond(theta, place, self._shift(theta, place))

    def rough_beyond(self, theta: Fraction, place: Fraction) -> float:  # noqa: ARG002 - few shifts are tried, so nothing is saved
        return -math.inf

    def _shift(self, theta: Fraction, place: Fraction) -> Fraction:
        """The best shift of the line."""
        law, power, unit = self.rule.law, float(theta), math.sqrt(self.rule.law.unit_squared)
        narrow = unit * float(max(step for step, _ in law.turns))
        shifts = (min(math.pi / (4 * narrow), WIDEST_STRIP) if narrow else WIDEST_STRIP) * SHIFTS[:, None]
        x = np.arange(self.rule.first, self.rule.last + 1) * float(self.rule.step) + 1j * shifts
        logs = []
        for side, sign in ((law.up, 1), (law.down, -1)):
            least = float(side[0][0])
            terms = [math.log(weight) - (unit * float(c)) ** 2 / 2 + sign * unit * (float(c) - least) * x for c, weight in side]
            peak = np.max([term.real for term in terms], axis=0)
            whole = sum((np.exp(term - peak) for term in terms), np.zeros(x.shape))
            logs.append(np.log(whole) + peak + sign * unit * least * x)
        top, bottom = logs
        size = (1 + power) * top.real - power * bottom.real - float(place) * (top.imag - bottom.imag)
        bounds = np.logaddexp.reduce(size + shifts * shifts / 2 - x.real**2 / 2, axis=1)
        return Fraction(float(shifts[int(np.argmin(bounds)), 0]))


@dataclass(frozen=True)
class BlendMoments:
    """Means of the moments of several laws, one of which is drawn and shown."""

    parts: tuple[tuple[Moments, Fraction], ...]

    @property
    def size(self) -> int:
        return sum(law.size for law, _ in self.parts)

    def grid(self, theta: Fraction, step: Fraction, side: int) -> acb_mat:
        """The weighted sum of all grids."""
        return sum((law.grid(theta, step, side) * ball(weight) for law, weight in self.parts), acb_mat(side, side))

    def at(self, order: Fraction) -> arb:
        return sum((ball(weight) * law.at(order) for law, weight in self.parts), arb(0))

    def beyond(self, theta: Fraction, place: Fraction) -> arb:
        """At most the weighted sum of the bounds."""
        return sum((ball(weight) * law.beyond(theta, place) for law, weight in self.parts), arb(0))

    def rough_beyond(self, theta: Fraction, place: Fraction) -> float:
        return max(math.log(weight) + law.rough_beyond(theta, place) for law, weight in self.parts)


def _tilt_masses(points: Sequence[tuple[arb, arb]], order: Fraction) -> list[arb]:
    """The masses times e^(order loss)."""
    power = ball(order)
    return [mass * (power * loss).exp() for loss, mass in points]


def places(theta: Fraction, step: Fraction, side: int) -> list[acb]:
    """The nodes theta + i n step, n < side^2."""
    real, unit = ball(theta), ball(step)
    return [acb(real, unit * index) for index in range(side * side)]


def _power_sums(points: Sequence[tuple[arb, arb]], theta: Fraction, step: Fraction, side: int) -> acb_mat:
    """Sums of mass e^(z loss) over all nodes: one product of a matrix for the rows and one for the columns."""
    if not points:
        return acb_mat(side, side)
    slow, fast = ([acb(0, turn * loss).exp() for loss, _ in points] for turn in (ball(side * step), ball(step)))
    rows, columns = [[acb(value) for value in _tilt_masses(points, theta)]], [[acb(1)] * len(points)]
    for _ in range(side - 1):
        rows.append([value * turn for value, turn in zip(rows[-1], slow, strict=True)])
        columns.append([value * turn for value, turn in zip(columns[-1], fast, strict=True)])
    return acb_mat(rows) * acb_mat(columns).transpose()
